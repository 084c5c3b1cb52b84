package record

import (
	"path/filepath"
	"slices"
	"testing"

	"slackline/model/trace"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// TestCost wants the cost of a record to be no part of a call: a send to nobody takes a few ns, its record with a call path some hundred.
func TestCost(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "cost.c", "-O1", mpitest.Spinning)
		o := sampled(append(mpitest.Launch(l, 1), program, "send")...)
		o.Sample, o.KeepRaw = 0, true
		r := recorded(t, o)
		raw, _ := filepath.Glob(filepath.Join(filepath.Dir(r.result.Out), ".*-raw-*"))
		if len(raw) != 1 {
			t.Fatalf("raw files in %q", raw)
		}
		files, faults, err := findThreads(raw[0], 0)
		if err != nil || len(faults) > 0 {
			t.Fatal(err, faults)
		}
		if cost := files[0].head.clockCost; cost <= 0 || cost > 10_000 {
			t.Errorf("two readings of the clock are %d ns apart, want what the recorder measured", cost)
		}
		var lasted []int64
		var begin int64
		for _, e := range r.events(t, 0) {
			switch {
			case e.Kind == trace.Enter && r.Regions[e.Region].Name == "MPI_Send":
				begin = e.Time
			case e.Kind == trace.Leave && r.Regions[e.Region].Name == "MPI_Send":
				lasted = append(lasted, e.Time-begin)
			}
		}
		slices.Sort(lasted)
		if len(lasted) == 0 || lasted[0] < 0 {
			t.Fatalf("%d sends, the shortest takes %v ps", len(lasted), lasted[:min(1, len(lasted))])
		}
		const most = 150_000 // ps
		if median := lasted[len(lasted)/2]; median > most {
			t.Errorf("the median of MPI_Send to nobody is %d ps, want %d or less", median, most)
		}
	})
}
