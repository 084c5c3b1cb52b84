//go:build quiet

package record

import (
	"slices"
	"testing"

	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// TestCallsAreCheap wants every kind of call to cost less than 200 ns, writing of full buffers included.
func TestCallsAreCheap(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		const most = 200
		list := costs(t, l, build(t, l, "cost.c", "-O1", mpitest.Spinning), "full")
		if len(list) < 40 {
			t.Fatalf("costs of %d kinds of calls", len(list))
		}
		buffer := list[slices.IndexFunc(list, func(c callCost) bool { return c.kind == "buffer" })]
		for _, c := range list {
			if c != buffer && c.ns+buffer.ns > most {
				t.Errorf("%s costs %.0f ns per call, writing included, want at most %d", c.kind, c.ns+buffer.ns, most)
			}
		}
	})
}
