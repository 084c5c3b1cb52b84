package explore

import (
	"fmt"
	"testing"

	"slackline/analyze/waits"
	"slackline/model/unit"
)

// Streams are rows below the threads of their rank; what they wait is what the analysis says; launches lead from calls to kernels.
func TestStreams(t *testing.T) {
	tl := trainingRun(t)
	want, err := waits.Analyze(t.Context(), tl, waits.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, h := serverOf(t, tl)
	run := get[Runs](t, s, h, "/api/runs").Runs[0]
	if run.Threads != 8 || run.Locations != 24 || run.Activities != 8*4*5 || len(run.Order) != 24 {
		t.Fatalf("run = %+v, want 8 threads, 16 streams and %d activities", run, 8*4*5)
	}
	for row, l := range get[Locations](t, s, h, "/api/locations").Locations {
		if l.Location != run.Order[row] || l.Rank != row/3 || l.Stream != (row%3 > 0) {
			t.Errorf("row %d = %+v, want one of rank %d, the thread first", row, l, row/3)
		}
	}
	states := get[States](t, s, h, "/api/states?limit=1000")
	sums := map[string]int64{}
	for i := range states.States {
		state := &states.States[i]
		sums[state.Metric] += state.Amount
		covered := state.End - state.At
		if state.Spans != nil {
			covered = 0
			for _, span := range state.Spans {
				covered += span[1] - span[0]
			}
		}
		if covered != state.Amount {
			t.Errorf("state %+v covers %d, want its amount", state, covered)
		}
	}
	selected := get[Selection](t, s, h, "/api/selection")
	for _, metric := range []string{"host_wait", "device_idle", "stream_wait", "nxn"} {
		amount := ps(want.Totals.ByMetric[waits.ByName(metric)].Amount)
		if amount == 0 || sums[metric] != amount {
			t.Errorf("%s: the states have %d, want %d", metric, sums[metric], amount)
		}
		for _, w := range selected.Waits {
			if w.Metric == metric && w.Amount != amount {
				t.Errorf("%s: the selection of all has %d, want %d", metric, w.Amount, amount)
			}
		}
	}
	if len(selected.Waits) != 4 || selected.Waiting != ps(want.Totals.Waiting.Amount) || selected.Streams != 16 || selected.Locations != 8 {
		t.Errorf("selection = %+v, want waits of 4 kinds, %d in all", selected, want.Totals.Waiting.Amount)
	}
	composition, parts := get[Composition](t, s, h, "/api/composition"), int64(0)
	for _, p := range selected.Parts {
		parts += p.Time
	}
	if parts != selected.Total || selected.Total != composition.Total || len(composition.Devices) != 8 {
		t.Errorf("the parts of the selection are %d of %d, want all of %d; %d devices", parts,
			selected.Total, composition.Total, len(composition.Devices))
	}
}

// The chain of an idle device ends at the function that caused it; that of a kernel that waits for another rank, too.
func TestChainFromDevice(t *testing.T) {
	s, h := serverOf(t, trainingRun(t))
	seen := map[string]bool{}
	tree := get[Tree](t, s, h, "/api/tree")
	for _, state := range get[States](t, s, h, "/api/states?largest=200").States {
		if seen[state.Metric] || state.Amount < slowLoad*int64(unit.Microsecond) || state.Metric != "device_idle" && state.Metric != "nxn" {
			continue
		}
		seen[state.Metric] = true
		chain := get[WaitAnswer](t, s, h, fmt.Sprint("/api/wait?state=", state.State)).Chain
		last := chain[len(chain)-1]
		name := tree.Nodes[last.Path].Name
		if last.Kind != "work" || last.Rank != slowRank || last.Location != slowRank || name != "decode_images" {
			t.Errorf("the chain of %s of rank %d ends with %+v in %s, want decode_images on rank %d", state.Metric, state.Rank, last, name, slowRank)
		}
	}
	if !seen["device_idle"] || !seen["nxn"] {
		t.Errorf("long waits are %v, want an idle device and one of a collective", seen)
	}
}

func TestLaunches(t *testing.T) {
	s, h := serverOf(t, trainingRun(t))
	all := get[Launches](t, s, h, "/api/launches")
	if all.Total != 8*4*5 || all.Chosen || len(all.Launches) != 8*4*5 {
		t.Fatalf("%d launches, %d listed, want %d", all.Total, len(all.Launches), 8*4*5)
	}
	if few := get[Launches](t, s, h, "/api/launches?limit=3&ranks=3"); few.Total != 4*5 || !few.Chosen || len(few.Launches) != 3 {
		t.Errorf("three of rank 3 = %+v", few)
	}
	for _, l := range all.Launches[:20] {
		kernel := get[Calls](t, s, h, fmt.Sprintf("/api/calls?location=%d&from=%d&to=%d", l.To, l.Begin, l.Begin+1)).Locations[0].Calls[0]
		if kernel.Launch == nil || *kernel.Launch != l || kernel.Launched != 0 || kernel.Enter != l.Begin || kernel.Leave != l.End {
			t.Errorf("the kernel of %+v is %+v", l, kernel)
		}
		calls := get[Calls](t, s, h, fmt.Sprintf("/api/calls?location=%d&from=%d&to=%d", l.From, l.Launched, l.Launched+1)).Locations[0].Calls
		if call := calls[len(calls)-1]; call.Launch == nil || *call.Launch != l || call.Launched != 1 {
			t.Errorf("the call of %+v is %+v", l, call)
		}
	}
}
