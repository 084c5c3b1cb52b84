package replay

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"weak"

	"slackline/analyze/simulate"
	"slackline/model/collective"
	"slackline/model/machine"
	"slackline/model/timeline"
)

// casesDir has recorded runs of all kinds.
const casesDir = "../../testdata/waits/cases"

// readCase reads the timeline of a recorded run.
func readCase(t testing.TB, name string) *timeline.Timeline {
	t.Helper()
	return readTrace(t, casesDir, name+"/traces.otf2")
}

// Every recorded run is replayed, with any algorithms and on more ranks. Without a network it takes no
// longer than it took, or a little: inside the tree of a broadcast ranks wait for others that they did
// not wait for in the run.
func TestCases(t *testing.T) {
	entries, err := os.ReadDir(casesDir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) < 20 {
		t.Fatalf("only %d cases in %s", len(entries), casesDir)
	}
	for _, e := range entries {
		t.Run(filepath.Base(e.Name()), func(t *testing.T) {
			tl := readCase(t, e.Name())
			p, err := New(tl, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if r := p.Report(); r.Messages+r.ToItself+r.OtherThreads+r.OutsideMPI != int64(len(tl.Messages)) {
				t.Errorf("%d messages became operations and %+v, of %d", r.Messages, r, len(tl.Messages))
			}
			checkEncoded(t, p)
			for _, name := range collective.MappingNames() {
				mapping, err := collective.FindMapping(name)
				if err != nil {
					t.Fatal(err)
				}
				for _, ranks := range []int{p.Ranks(), 5 * p.Ranks()} {
					q, err := p.WithRanks(ranks)
					if err != nil {
						t.Fatal(err)
					}
					if got := simulated(t, q, free(), mapping); got.Makespan > p.Report().Span*5/4 || got.Makespan < p.Report().Span/5 {
						t.Errorf("%d ranks, mapping %s: without network %s, but the run took %s", ranks, name, got.Makespan, p.Report().Span)
					}
					simulated(t, q, cluster(machine.NoLimit), mapping)
				}
			}
			// What is simulated is a run again, which can be replayed.
			r, err := simulate.Run(t.Context(), p, free(), simulate.Options{Calls: true})
			if err != nil {
				t.Fatal(err)
			}
			again, err := New(r.Calls, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := simulated(t, again, free(), nil); got.Makespan != r.Makespan {
				t.Errorf("the simulated run takes %s when it is replayed, want %s", got.Makespan, r.Makespan)
			}
		})
	}
}

// TestProgramLetsGo wants the recorded run to be free when its program is made: both together need twice the memory.
func TestProgramLetsGo(t *testing.T) {
	run := readCase(t, "01-figure3")
	held := weak.Make(run)
	p, err := New(run, Options{})
	if err != nil {
		t.Fatal(err)
	}
	run = nil
	runtime.GC()
	if held.Value() != nil {
		t.Error("the program holds the recorded run")
	}
	runtime.KeepAlive(p)
}
