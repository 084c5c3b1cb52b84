//go:build !linux

package measure

import (
	"context"
	"errors"
	"io"
)

var errLinux = errors.New("noise is measured on Linux only")

// NoiseChild measures on Linux only.
func NoiseChild(io.Reader, io.Writer) error { return errLinux }

// MeasureNoise measures on Linux only.
func MeasureNoise(context.Context, NoiseOptions) (*Noise, error) { return nil, errLinux }

// CPUs are the CPUs that this process may use.
func CPUs() []int { return nil }
