//go:build quiet

package record

import (
	"testing"

	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// TestCallsAreCheap wants every kind of call to cost less than 200 ns, writing of full buffers included, in the best of three runs: in
// single runs one or the other kind takes twice its time on a virtual machine.
func TestCallsAreCheap(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		const most = 200
		program := build(t, l, "cost.c", "-O1", mpitest.Spinning)
		least := map[string]float64{}
		for range 3 {
			for _, c := range costs(t, l, program, "full") {
				if before, known := least[c.kind]; !known || c.ns < before {
					least[c.kind] = c.ns
				}
			}
		}
		if len(least) < 40 {
			t.Fatalf("costs of %d kinds of calls", len(least))
		}
		for kind, ns := range least {
			if kind != "buffer" && ns+least["buffer"] > most {
				t.Errorf("%s costs %.0f ns per call, writing included, want at most %d", kind, ns+least["buffer"], most)
			}
		}
	})
}
