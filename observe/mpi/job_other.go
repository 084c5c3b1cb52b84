//go:build !linux

package mpi

import (
	"context"
	"errors"
	"syscall"

	"slackline/internal/cluster"
)

var errNoJobs = errors.New("this system has no bridge to MPI; only Linux has one")

// Become fails: the bridge needs Linux.
func (s Start) Become(context.Context, string, string, []string) error { return errNoJobs }

// doOnce just does it: no other process does the same.
func doOnce(_ context.Context, _ string, do func() error) error { return do() }

// endWithThread is nothing: a process goes on when the one that has started it ends.
func endWithThread() *syscall.SysProcAttr { return nil }

// endLeft does nothing: which processes a launcher has left is not known.
func endLeft([]Variable) {}

// noExec is false: it is not known.
func noExec(string) bool { return false }

// Job is this process among those of an MPI job; there is none here.
type Job struct{ cluster.Group }

// Join fails: the bridge needs Linux.
func Join() (*Job, error) { return nil, errNoJobs }

// Host is the name of the machine on which this process runs.
func (j *Job) Host() string { return "" }

// Fail reports to the job that this process fails.
func (j *Job) Fail(int, string) {}

// Cores returns nil: which cores this process may use is not known.
func Cores() []uint64 { return nil }
