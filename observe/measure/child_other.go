//go:build !linux

package measure

import (
	"context"
	"errors"
	"io"
	"net"
)

var errLinux = errors.New("this is measured on Linux only")

// NoiseChild measures on Linux only.
func NoiseChild(io.Reader, io.Writer) error { return errLinux }

// MeasureNoise measures on Linux only.
func MeasureNoise(context.Context, NoiseOptions) (*Noise, error) { return nil, errLinux }

// CPUs are the CPUs that this process may use.
func CPUs() []int { return nil }

// TCPLink is a link over TCP, on Linux only.
type TCPLink struct{ Link }

// DialTCP works on Linux only.
func DialTCP(context.Context, string) (*TCPLink, error) { return nil, errLinux }

// Close does nothing.
func (*TCPLink) Close() error { return nil }

// ServeTCP works on Linux only.
func ServeTCP(context.Context, net.Listener) error { return errLinux }

// Surroundings are known on Linux only.
func Surroundings(int) []string { return nil }
