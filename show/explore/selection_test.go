package explore

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"slackline/analyze/profile"
	"slackline/analyze/waits"
	"slackline/cli/input"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// selectionOf asks for the statistics of a range of time and ranks.
func selectionOf(t *testing.T, v *view, from, to unit.Duration, ranks []bool) *Selection {
	t.Helper()
	f, err := v.analyzed(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a, err := v.selected(t.Context(), f, from, to, ranks)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// uneven is a run with samples, calls that stand for several, times without a CPU, one when recording was off, and a root that waits
// for the first and then for the last sender.
const uneven = `slackline trace 1
unit us
callpaths full
sample-period 10
stack 1 main
stack 2 solve in 1
rank 0
0..5 MPI_Init stack 1
@15 sample 2
@25 sample 2; @25 no-cpu 6
@35 sample 1
36..38 main
40..60 MPI_Test stack 1: @42 no-cpu 2; polls 700
@60 recording off
@80 recording on
80..100 MPI_Reduce stack 1: reduce root 0 received 8
rank 1
0..5 MPI_Init stack 1
@15 sample 2
20..30 MPI_Test stack 1: polls 30
30..31 MPI_Test stack 1
@60 recording off
@80 recording on
95..100 MPI_Reduce stack 1: reduce root 0 sent 8
rank 2
0..5 MPI_Init stack 1
@60 recording off
@80 recording on
88..100 MPI_Reduce stack 1: reduce root 0 sent 8
`

// selectionRuns are runs with messages, collectives, threads and noise, and an uneven one.
func selectionRuns(t *testing.T) map[string]*timeline.Timeline {
	t.Helper()
	runs := map[string]*timeline.Timeline{"halo": halo(t, 64, 40)}
	text := filepath.Join(t.TempDir(), "uneven.trace")
	if err := os.WriteFile(text, []byte(uneven), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]string{
		"late/late.slt": "../../examples/late/late.slt", "waits/seaice.slt": "../../examples/waits/seaice.slt", "uneven": text,
	} {
		in, err := input.OpenTrace(t.Context(), file, input.TraceOptions{})
		if err != nil {
			t.Fatal(err)
		}
		runs[name] = in.Timeline.Core(2, true)
	}
	return runs
}

// The statistics of the whole run are those of its profile and its waits.
func TestSelectionOfAll(t *testing.T) {
	for name, tl := range selectionRuns(t) {
		v := viewOf(t, tl, true)
		a := selectionOf(t, v, tl.Start, v.end(), nil)
		f := v.analysis.found
		want := map[string]int64{}
		for _, p := range f.composition.Parts {
			if p.Kind != profile.NotAnalyzed {
				want[p.Kind.String()+p.Name] += ps(p.Time)
			}
		}
		for i := range f.result.Unanalyzed { // part of its kind here
			u := &f.result.Unanalyzed[i]
			kind := v.kindOfPath(int(u.Path)).String()
			want[kind+kind] += ps(u.Time)
		}
		for _, p := range a.Parts {
			if p.Time != want[p.Kind+p.Name] {
				t.Errorf("%s: %s %s = %d, want %d", name, p.Kind, p.Name, p.Time, want[p.Kind+p.Name])
			}
			delete(want, p.Kind+p.Name)
		}
		for key, rest := range want {
			if rest != 0 {
				t.Errorf("%s: %s is missing, want %d", name, key, rest)
			}
		}
		if a.Total != ps(f.composition.Total) || a.Waiting != ps(f.result.Totals.Waiting.Amount) || a.Messages != int64(len(tl.Messages)) {
			t.Errorf("%s: total %d, waiting %d, %d messages, want %d, %d, %d", name, a.Total, a.Waiting, a.Messages,
				f.composition.Total, f.result.Totals.Waiting.Amount, len(tl.Messages))
		}
		byPath := map[int]*profile.Entry{}
		for i := range f.profile.ByPath {
			byPath[int(f.profile.ByPath[i].Path)] = &f.profile.ByPath[i]
		}
		tree := f.tree()
		visits := slices.IndexFunc(tree.Metrics, func(m TreeMetric) bool { return m.Metric == "visits" })
		for _, x := range a.Functions {
			e := byPath[x.Path]
			if in := tree.Nodes[x.Path].Exclusive[visits]; e != nil && (f.profile.Counted(e) && in != e.Visits || !f.profile.Counted(e) && in > 0) {
				t.Errorf("%s: %s has %d visits in the tree, want those of %+v if they were counted", name, v.paths.Names[x.Path], in, e)
			}
			if e == nil || x.Time != ps(e.Exclusive) || x.Visits != e.Visits || x.Samples != e.Samples {
				t.Errorf("%s: %s takes %d in %d visits and %d samples, want %+v", name, v.paths.Names[x.Path], x.Time, x.Visits, x.Samples, e)
			}
		}
		sizes := f.profile.Sizes()
		if len(sizes) != len(a.Sizes) {
			t.Errorf("%s: %d sizes, want %d", name, len(a.Sizes), len(sizes))
		}
		for i, s := range sizes {
			if got := a.Sizes[i]; got.From != s.From || got.To != s.To || got.Count != s.Count || got.Sum != s.Bytes {
				t.Errorf("%s: sizes %+v, want %+v", name, got, s)
			}
		}
	}
}

// Ranges that follow each other, and sets of ranks that complete each other, sum up to the whole.
func TestSelectionsSumUp(t *testing.T) {
	for name, tl := range selectionRuns(t) {
		v := viewOf(t, tl, true)
		all := selectionOf(t, v, tl.Start, v.end(), nil)
		random := rand.New(rand.NewPCG(7, 7))
		chosen, others := make([]bool, tl.Ranks), make([]bool, tl.Ranks)
		for rank := range chosen {
			chosen[rank] = random.IntN(2) == 0
			others[rank] = !chosen[rank]
		}
		cuts := []unit.Duration{tl.Start, v.end()}
		for range 20 {
			cuts = append(cuts, tl.Start+unit.Duration(random.Int64N(int64(v.length()))))
		}
		slices.Sort(cuts)
		got, want := map[string]int64{}, map[string]int64{}
		collect := func(sums map[string]int64, a *Selection) {
			sums["total"] += a.Total
			sums["messages"] += a.Messages
			sums["bytes"] += a.Bytes
			for _, p := range a.Parts {
				sums[p.Kind+p.Name] += p.Time
			}
			for _, p := range a.Functions {
				sums[fmt.Sprint("time ", p.Path)] += p.Time
				sums[fmt.Sprint("visits ", p.Path)] += p.Visits
				sums[fmt.Sprint("samples ", p.Path)] += p.Samples
			}
			for _, c := range a.Causes {
				sums[fmt.Sprint("cause ", c.Rank, c.Path)] += c.Amount
			}
			for _, b := range a.Durations {
				sums[fmt.Sprint("duration ", b.From)] += b.Count
			}
		}
		collect(want, all)
		for i := range cuts[1:] {
			if cuts[i] < cuts[i+1] {
				collect(got, selectionOf(t, v, cuts[i], cuts[i+1], chosen))
				collect(got, selectionOf(t, v, cuts[i], cuts[i+1], others))
			}
		}
		for key := range want {
			if got[key] != want[key] {
				t.Errorf("%s: %s sums up to %d, want %d", name, key, got[key], want[key])
			}
		}
	}
}

// A range that ends where all ranks synchronize has the waits that an analysis of it alone finds.
func TestSelectionOfIterations(t *testing.T) {
	tl := selectionRuns(t)["late/late.slt"]
	v := viewOf(t, tl, true)
	selectionOf(t, v, tl.Start, v.end(), nil)
	it := v.analysis.found.iterations
	if it == nil || len(it.List) < 10 {
		t.Fatal("no iterations")
	}
	from, to := it.List[3].Begin, it.List[8].Begin
	a := selectionOf(t, v, from, to, nil)
	if a.Iterations == nil || a.Iterations.First != 3 || a.Iterations.Count != 5 {
		t.Errorf("iterations %+v, want 5 from 3 on", a.Iterations)
	}
	alone, err := waits.Analyze(t.Context(), tl.Window(from, to, 2), waits.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if a.Waiting == 0 || a.Total != ps(alone.Profile().Composition(nil).Total) {
		t.Errorf("waiting %d of %d, want some of the time of all threads in the range", a.Waiting, a.Total)
	}
}
