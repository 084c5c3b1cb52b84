// Package curves stands for show/figures until internal/cli imports that.
package curves

import "slackline/show/figures"

// Model is figures.Model.
type Model = figures.Model

// Runtime is figures.Runtime.
type Runtime = figures.Runtime

// The functions of show/figures.
var (
	NewModel   = figures.NewModel
	Reach      = figures.Reach
	NewRuntime = figures.NewRuntime
)
