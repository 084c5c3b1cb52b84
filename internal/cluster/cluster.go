// Package cluster is how several processes share one piece of work. Engines see
// a Group and nothing of what carries it: one process alone (Alone), goroutines
// that take the place of processes in tests (Local), or an MPI job (in observe/mpi).
//
// It moves bytes and counts them. It knows no domain, starts no process and
// prints nothing.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Group is this process among those that work together. Its methods are called
// by one goroutine at a time, except that Send may be called while another
// goroutine is in Receive.
//
// Exchange is for engines that go in lockstep, Send and Receive for work that is
// given out piece by piece; one job uses both only one after the other.
type Group interface {
	// Rank is the number of this process, 0 .. Size()-1.
	Rank() int
	// Size is the number of processes.
	Size() int
	// Exchange gives out[p] to process p and returns what every process gave to
	// this one; out has Size() elements, any of which may be empty. All
	// processes call it equally often. What it returns is valid until the next
	// call; out is free again when it returns.
	Exchange(ctx context.Context, out [][]byte) (in [][]byte, err error)
	// Send gives data to process to and does not wait for its Receive. Messages
	// from one process to another arrive in their order. Data is free again when
	// it returns.
	Send(ctx context.Context, to int, data []byte) error
	// Receive waits for the next message of any process. The data belongs to the
	// caller.
	Receive(ctx context.Context) (from int, data []byte, err error)
	// Traffic is what has been exchanged so far.
	Traffic() Traffic
}

// Traffic is what a process has exchanged with others.
type Traffic struct {
	Exchanges int64 `json:"exchanges"` // calls of Exchange
	Messages  int64 `json:"messages"`  // calls of Send
	Sent      int64 `json:"sent"`      // bytes to other processes
	Received  int64 `json:"received"`  // bytes from other processes
}

// ErrBroken is what a Group returns after one of its processes has failed or
// gone away.
var ErrBroken = errors.New("another process of the job has failed")

// Alone returns the group of one process.
func Alone() Group { return Local(1)[0] }

// AllGather gives data to all processes and returns what each of them gave.
func AllGather(ctx context.Context, g Group, data []byte) ([][]byte, error) {
	return g.Exchange(ctx, slices.Repeat([][]byte{data}, g.Size()))
}

// Gather gives data to process 0, which gets what each of them gave; the others
// get nil.
func Gather(ctx context.Context, g Group, data []byte) ([][]byte, error) {
	out := make([][]byte, g.Size())
	out[0] = data
	in, err := g.Exchange(ctx, out)
	if err != nil || g.Rank() != 0 {
		return nil, err
	}
	return in, nil
}

// Share returns the part [first, last) of n things that belongs to process p of
// size: contiguous, in order, of sizes that differ by at most one.
func Share(n, p, size int) (first, last int) {
	return share(n, p, size), share(n, p+1, size)
}

func share(n, p, size int) int { return n/size*p + min(p, n%size) }

// Owner returns the process whose share of n things thing i is.
func Owner(n, i, size int) int {
	small, rest := n/size, n%size
	if large := rest * (small + 1); i >= large {
		return rest + (i-large)/small
	}
	return i / (small + 1)
}

// checkExchange reports an argument of Exchange that has not one part per process.
func checkExchange(out [][]byte, size int) error {
	if len(out) != size {
		return fmt.Errorf("exchange of %d parts among %d processes", len(out), size)
	}
	return nil
}
