package figures

import (
	"slices"
	"testing"

	"slackline/analyze/compare"
	"slackline/analyze/profile"
	"slackline/model/timeline"
	"slackline/model/unit"
	"slackline/show/plot"
)

// Rows are senders, columns are receivers.
func TestMessages(t *testing.T) {
	h := Messages(3, []profile.Link{
		{From: 0, To: 1, Traffic: profile.Traffic{Count: 4, Bytes: 4096}}, {From: 2, To: 0, Traffic: profile.Traffic{Count: 1}},
		{From: 1, To: 1, Traffic: profile.Traffic{Count: 2, Bytes: 16}},
	})
	for i, want := range [][]float64{
		{0, 4, 0, 0, 2, 0, 1, 0, 0},
		{0, 4096, 0, 0, 16, 0, 0, 0, 0},
	} {
		m := h.Maps[i]
		if !slices.Equal(m.Values, want) || m.Rows != 3 || m.Columns != 3 || m.X != "to rank" || m.Y != "from rank" {
			t.Errorf("%s: %d x %d of %v over %q and %q, want %v", m.Title, m.Rows, m.Columns, m.Values, m.X, m.Y, want)
		}
	}
	if h.Maps[0].Quantity != plot.Number || h.Maps[1].Quantity != plot.Bytes {
		t.Error("messages are numbers, and their volume is bytes")
	}
}

// Each kind of time is in exactly one activity, so that the activities of a rank add up to its time.
func TestActivities(t *testing.T) {
	var c profile.Composition
	total := unit.Duration(0)
	for k := profile.Computation; k <= profile.NotAnalyzed; k++ {
		d := unit.Duration(1) << k // tells from the sum which kinds are in it
		c.Parts = append(c.Parts, profile.Part{Kind: k, ByRank: sums(d, 0)})
		total += d
	}
	list := Activities(&c, 2)
	bits := func(kinds ...profile.Kind) (sum unit.Duration) {
		for _, k := range kinds {
			sum += 1 << k
		}
		return sum
	}
	want := map[string]unit.Duration{
		"computation": bits(profile.Computation),
		"MPI without waiting": bits(profile.PointToPoint, profile.Collective, profile.FileIO, profile.OneSided, profile.InitExit,
			profile.OtherMPI),
		"waiting": bits(profile.Waiting), "not recorded": bits(profile.NotRecorded), "without a CPU": bits(profile.NoCPU),
		"other": bits(profile.OpenMP, profile.Noise, profile.Recording, profile.Outside), "MPI not analyzed": bits(profile.NotAnalyzed),
	}
	sum := unit.Duration(0)
	for _, a := range list {
		sum += a.Times[0].Duration()
		if a.Times[0] != unit.SumOf(want[a.Name]) || a.Times[1].Sign() != 0 {
			t.Errorf("%s: kinds %b and %b, want %b and none", a.Name, a.Times[0], a.Times[1], want[a.Name])
		}
	}
	if sum != total || len(list) != len(want) {
		t.Errorf("%d activities with kinds %b, want %d with %b", len(list), sum, len(want), total)
	}
}

// Several parts of one kind, such as wait states, are one activity.
func TestActivityMaps(t *testing.T) {
	c := &profile.Composition{Parts: []profile.Part{
		{Kind: profile.Waiting, Name: "late_sender", ByRank: sums(1, 20)},
		{Kind: profile.Waiting, Name: "late_broadcast", ByRank: sums(4, 0)},
		{Kind: profile.Computation, ByRank: sums(100, 200)},
	}}
	maps := ActivityMaps(&timeline.Timeline{Ranks: 2}, c).Maps
	for i, want := range []struct {
		title  string
		values []float64
	}{{"Computation", []float64{100, 200}}, {"MPI without waiting", []float64{0, 0}}, {"Waiting", []float64{5, 20}}} {
		if maps[i].Title != want.title || !slices.Equal(maps[i].Values, want.values) {
			t.Errorf("map %d: %s %v, want %s %v", i, maps[i].Title, maps[i].Values, want.title, want.values)
		}
	}
}

// Of each iteration the duration, the most and the mean computation and the waiting are drawn.
func TestIterations(t *testing.T) {
	it := &profile.Iterations{List: []profile.Iteration{
		{Duration: 10, Computation: 6, MaxComputation: 8, Waiting: 3},
		{Duration: 11, Computation: 7, MaxComputation: 9, Waiting: 1},
	}}
	c := Iterations(it)
	want := map[string][]float64{
		"duration, mean": {10, 11}, "computation, maximum of the ranks": {8, 9}, "computation, mean": {6, 7}, "waiting, mean": {3, 1},
	}
	for _, layer := range c.Layers {
		l := layer.(*plot.Line)
		if !slices.Equal(l.X, []float64{1, 2}) || !slices.Equal(l.Y, want[l.Name]) {
			t.Errorf("%s: %v at %v, want %v at 1, 2", l.Name, l.Y, l.X, want[l.Name])
		}
	}
}

// Collectives of a part of the ranks say of how many; the parts of the run begin at 0, wherever the clock does.
func TestCollectives(t *testing.T) {
	tl := &timeline.Timeline{Ranks: 4, Start: 1000, End: 3000}
	over := make([]int64, CollectiveParts)
	over[199] = 3
	s := Collectives(tl, []profile.CollectiveUse{{Op: timeline.OpAllreduce, Ranks: 4, Over: over},
		{Op: timeline.OpBcast, Ranks: 2, Over: over}})
	for i, label := range []string{"allreduce", "bcast of 2"} {
		bars := s.Parts[i].Layers[0].(*plot.Bars)
		if s.Parts[i].Y.Label != label || len(bars.Height) != 200 || len(bars.Edges) != 201 {
			t.Errorf("%s: %d bars with %d edges, want %s with 200 and 201", s.Parts[i].Y.Label, len(bars.Height), len(bars.Edges), label)
		}
		if bars.Edges[0] != 0 || bars.Edges[1] != 10 || bars.Edges[200] != 2000 || bars.Height[199] != 3 {
			t.Errorf("%s: edges from %g by %g to %g", label, bars.Edges[0], bars.Edges[1], bars.Edges[200])
		}
	}
}

// Sizes that do not occur are bars of height 0 between those that do; empty messages have a bar of their own.
func TestSizes(t *testing.T) {
	bin := func(from, to, count int64) profile.SizeBin {
		return profile.SizeBin{From: from, To: to, Traffic: profile.Traffic{Count: count}}
	}
	for _, tc := range []struct {
		bins          []profile.SizeBin
		edges, height []float64
	}{
		{nil, nil, nil},
		{[]profile.SizeBin{bin(8, 16, 5)}, []float64{8, 16}, []float64{5}},
		{[]profile.SizeBin{bin(8, 16, 5), bin(16, 32, 6)}, []float64{8, 16, 32}, []float64{5, 6}},
		{[]profile.SizeBin{bin(8, 16, 5), bin(64, 128, 6)}, []float64{8, 16, 64, 128}, []float64{5, 0, 6}},
		{[]profile.SizeBin{bin(0, 1, 2), bin(1, 2, 3), bin(4, 8, 1)}, []float64{0.5, 1, 2, 4, 8}, []float64{2, 3, 0, 1}},
	} {
		bars := Sizes(tc.bins).Layers[0].(*plot.Bars)
		if !slices.Equal(bars.Edges, tc.edges) || !slices.Equal(bars.Height, tc.height) {
			t.Errorf("%v: bars %v between %v, want %v between %v", tc.bins, bars.Height, bars.Edges, tc.height, tc.edges)
		}
	}
}

// Efficiencies are in per cent.
func TestEfficiencies(t *testing.T) {
	s := Efficiencies([]int{4, 8}, []unit.Duration{100, 60}, []*profile.Efficiency{
		{Parallel: 0.5, LoadBalance: 0.625, Communication: 0.8}, {Parallel: 0.25, LoadBalance: 0.5, Communication: 0.5},
	})
	want := map[string][]float64{
		"run time": {100, 60}, "parallel efficiency": {50, 25}, "load balance": {62.5, 50}, "communication": {80, 50},
	}
	lines := 0
	for _, part := range s.Parts {
		for _, layer := range part.Layers {
			l := layer.(*plot.Line)
			lines++
			if !slices.Equal(l.X, []float64{4, 8}) || !slices.Equal(l.Y, want[l.Name]) {
				t.Errorf("%s: %v at %v, want %v at 4, 8", l.Name, l.Y, l.X, want[l.Name])
			}
		}
	}
	if lines != len(want) {
		t.Errorf("%d lines, want %d", lines, len(want))
	}
}

func TestComputationScaling(t *testing.T) {
	c := ComputationScaling([]int{2, 4}, []*compare.Scaling{
		{Computation: 1, Instructions: 1, IPC: 1, Frequency: 1}, {Computation: 0.72, Instructions: 0.9, IPC: 0.8, Frequency: 1},
	})
	want := [][]float64{{100, 72}, {100, 90}, {100, 80}, {100, 100}}
	for i, name := range []string{"computation", "instructions", "instructions per cycle", "frequency"} {
		l := c.Layers[i].(*plot.Line)
		if l.Name != name || !slices.Equal(l.X, []float64{2, 4}) || !slices.Equal(l.Y, want[i]) {
			t.Errorf("line %d is %s %v at %v, want %s %v", i, l.Name, l.Y, l.X, name, want[i])
		}
	}
}
