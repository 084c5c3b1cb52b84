package report

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"slackline/analyze/changes"
	"slackline/analyze/profile"
	"slackline/analyze/scaling"
	"slackline/analyze/tolerance"
	"slackline/analyze/whatif"
	"slackline/model/clock"
	"slackline/model/schedule"
	"slackline/model/timeline"
	"slackline/model/trace"
	"slackline/model/unit"
)

// TestPerRow: maps of ranks without a grid have no more rows than columns, and narrow pages half as many.
func TestPerRow(t *testing.T) {
	for _, tc := range []struct{ ranks, width, want int }{
		{1, 760, 32}, {1024, 760, 32}, {1025, 760, 64}, {4097, 760, 128}, {256, 350, 16}, {257, 350, 32}, {4, 499, 16}, {4, 500, 32},
	} {
		if got := perRow(tc.ranks, float64(tc.width)); got != tc.want {
			t.Errorf("%d ranks on a width of %d: %d in a row, want %d", tc.ranks, tc.width, got, tc.want)
		}
	}
}

func TestPatternWords(t *testing.T) {
	r := &Run{Simulate: []string{"sweep", "--ranks", "8", "--compute", "5us", "--grid", "2x4", "--corners", "2"}}
	if got, want := r.patternWords(), []string{"--compute", "5us", "--corners", "2"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// evenProgram has so many operations on each rank.
type evenProgram struct {
	schedule.Program
	ranks, ops int
}

func (p evenProgram) Ranks() int    { return p.ranks }
func (p evenProgram) Steps(int) int { return min(p.ops, 1) }
func (p evenProgram) Block(_, _ int, b *schedule.Block) {
	b.Ops = make([]schedule.Op, p.ops)
}

// TestDefaultScales: each number of ranks is four times the one before, up to five of them, two million operations and a
// million ranks.
func TestDefaultScales(t *testing.T) {
	for _, tc := range []struct {
		ranks, ops int
		want       []int
	}{
		{4, 10, []int{4, 16, 64, 256, 1024}},
		{4, 40_000, []int{4, 16}}, // 160,000, 640,000, then 2,560,000
		{1, 500_000, []int{1, 4}}, // exactly 2,000,000
		{1, 500_001, []int{1}},
		{1 << 18, 0, []int{1 << 18, 1 << 20}},
	} {
		if got := defaultScales(evenProgram{ranks: tc.ranks, ops: tc.ops}); !slices.Equal(got, tc.want) {
			t.Errorf("%d ranks with %d operations: %v, want %v", tc.ranks, tc.ops, got, tc.want)
		}
	}
}

func TestHighest(t *testing.T) {
	f := &scaling.Fit{Unit: "s"}
	for high, bounded := range map[float64]bool{2: true, 2000: true, 2000.5: false, math.Inf(1): false, math.NaN(): false} {
		got := highest(scaling.Prediction{Value: 2, High: high}, f).Text
		if (got == "no bound") == bounded {
			t.Errorf("%g above a prediction of 2: %s", high, got)
		}
	}
}

func TestValueWords(t *testing.T) {
	for _, tc := range []struct {
		p    tolerance.Parameter
		v    int64
		want string
	}{{tolerance.G, 18_000, "0.018 ns/B"}, {tolerance.L, 3_000_000, "3us"}, {tolerance.O, 1_500, "1.5ns"}} {
		if got := valueWords(tc.p, tc.v); got != tc.want {
			t.Errorf("%v of %d: %s, want %s", tc.p, tc.v, got, tc.want)
		}
	}
}

// TestEfficiencyWords: the smallest factor is what most is lost by, unless little is lost at all.
func TestEfficiencyWords(t *testing.T) {
	even := profile.Efficiency{Parallel: 0.5, LoadBalance: 0.9, Serialization: 0.9, Transfer: 0.9, NotAnalyzed: 0.9,
		MaxUseful: 2 * unit.Second, AverageUseful: 3 * unit.Second / 2}
	const start = "50.0 % of the time of all ranks is useful computation. Most of the rest is "
	for _, tc := range []struct {
		change func(*profile.Efficiency)
		want   string
	}{
		{func(e *profile.Efficiency) { e.LoadBalance = 0.6 },
			start + "lost because work is spread unevenly: the busiest rank computes 2s, the average is 1.5s."},
		{func(e *profile.Efficiency) { e.Serialization = 0.6 },
			start + "lost because ranks wait for each other in turn, although all have about the same amount of work."},
		{func(e *profile.Efficiency) { e.Transfer = 0.6 }, start + "lost in the transfer of data and in MPI itself."},
		{func(e *profile.Efficiency) { e.NotAnalyzed = 0.6 }, start + "MPI time that was not analyzed."},
		{func(e *profile.Efficiency) { e.Parallel = 0.95 }, "95.0 % of the time of all ranks is useful computation. There is little to gain " +
			"from a better balance or a faster network."},
	} {
		e := even
		tc.change(&e)
		if got := (&analyzed{efficiency: &e}).efficiencyWords(); got != tc.want {
			t.Errorf("%s\nwant %s", got, tc.want)
		}
	}
}

func TestHostsAndPrograms(t *testing.T) {
	for n, want := range []string{"", "h0", "h0, h1", "h0, h1, h2", "h0, h1, h2, h3", "5 hosts: h0, h1, h2, h3, ..."} {
		tl := &timeline.Timeline{Locations: []timeline.Location{{}}} // one whose host is not known
		for i := range 2 * n {
			tl.Locations = append(tl.Locations, timeline.Location{Host: fmt.Sprint("h", i%n)})
		}
		if got := hostsOf(tl); got != want {
			t.Errorf("%d hosts: %q, want %q", n, got, want)
		}
	}
	for n, want := range []string{"", "starts in f0", "starts in f0 and f1", "starts in f0, f1 and f2", ""} {
		tl := &timeline.Timeline{Regions: []timeline.Region{{Name: "MPI_Init", Paradigm: timeline.MPI}}, Paths: []timeline.Path{{}, {Depth: 1}}}
		for i := range n {
			tl.Regions = append(tl.Regions, timeline.Region{Name: fmt.Sprint("f", i), Paradigm: timeline.User})
			region := timeline.RegionID(i + 1)
			tl.Paths = append(tl.Paths, timeline.Path{Region: region, Depth: 1}, timeline.Path{Region: region, Depth: 2})
		}
		if got := programsOf(tl); got != want {
			t.Errorf("%d functions: %q, want %q", n, got, want)
		}
	}
}

func TestCrowd(t *testing.T) {
	for want, tc := range map[string][2]int{"the only rank": {1, 1}, "all 2 ranks": {2, 2}, "all 4 threads": {2, 4}} {
		a := &analyzed{timeline: &timeline.Timeline{Ranks: tc[0], Locations: make([]timeline.Location, tc[1])}}
		if got := a.crowd(); got != want {
			t.Errorf("%d ranks, %d threads: %s, want %s", tc[0], tc[1], got, want)
		}
	}
}

// TestClockWords: the error of the times is the largest of all locations, as far as it is known.
func TestClockWords(t *testing.T) {
	const none = "none"
	for _, tc := range []struct {
		errors []unit.Duration // -1: not known
		report trace.ClockReport
		want   string
	}{
		{[]unit.Duration{0, 0}, trace.ClockReport{Source: none}, "one clock for all ranks"},
		{[]unit.Duration{-1, -1}, trace.ClockReport{Source: none}, "error unknown; times as recorded"},
		{[]unit.Duration{0, 5000, 2000}, trace.ClockReport{Source: "offsets"}, "accurate to 5ns; compared by offsets"},
		{[]unit.Duration{5000, -1}, trace.ClockReport{Source: "offsets"}, "error up to 5ns where it is known; compared by offsets"},
		{[]unit.Duration{0, 5000},
			trace.ClockReport{Source: "offsets", Before: clock.Violations{Messages: 2, Groups: 1, Worst: 6000}, Furthest: 7000},
			"accurate to 5ns; compared by offsets; 2 messages arrived before they were sent and 1 collective ended before it could, by up to 6ns: " +
				"corrected, by up to 7ns"},
	} {
		tl := &timeline.Timeline{}
		for _, e := range tc.errors {
			tl.Locations = append(tl.Locations, timeline.Location{ClockError: e})
		}
		if got := (&analyzed{run: &Run{Timeline: tl, Clocks: &tc.report}}).clockWords(); got != tc.want {
			t.Errorf("%s\nwant %s", got, tc.want)
		}
	}
	for _, r := range []*Run{{Timeline: &timeline.Timeline{}}, {Timeline: &timeline.Timeline{Simulated: true}, Clocks: &trace.ClockReport{}}} {
		if got := (&analyzed{run: r}).clockWords(); got != "exact, as of a simulation" {
			t.Errorf("%+v: %s", r, got)
		}
	}
}

// TestSeriesOrder: series that became worse are drawn first, then others that changed, then those that are suspect.
func TestSeriesOrder(t *testing.T) {
	one := []changes.Change{{}}
	for want, s := range []changes.Series{
		{}, {Suspects: one}, {Changes: []changes.Change{{}}, Suspects: one}, {Changes: []changes.Change{{}, {Worse: true}}},
	} {
		if got := weight(&s); got != want {
			t.Errorf("%+v: %d, want %d", s, got, want)
		}
	}
}

// TestFutureSentence: growth below a twentieth is none, and the judgment of expectations precedes it if they are not met.
func TestFutureSentence(t *testing.T) {
	grown := func(to unit.Duration) answer[*scaled] {
		return answer[*scaled]{asked: true, value: &scaled{points: []whatif.Point{
			{Ranks: 4, Noiseless: 1, Samples: []unit.Duration{1000}}, {Ranks: 64, Noiseless: 1, Samples: []unit.Duration{to}},
		}}}
	}
	judged := func(v scaling.Verdict) answer[*scaling.Report] {
		return answer[*scaling.Report]{asked: true, value: &scaling.Report{Verdict: v}}
	}
	for _, tc := range []struct {
		s    story
		want string
	}{
		{story{scale: grown(1049)}, "With the same work per process it would take about as long on 64 processes."},
		{story{scale: grown(1050)}, "With the same work per process it would take 5.0 % longer on 64 processes."},
		{story{scale: grown(3000), judged: judged(scaling.Pass)}, "With the same work per process it would take 200.0 % longer on 64 processes."},
		{story{scale: grown(3000), judged: judged(scaling.Fail)}, "It does not scale as expected: an expectation is not met."},
		{story{judged: judged(scaling.Pass)}, "It scales as expected."},
		{story{judged: judged(scaling.Inconclusive)}, "Whether it scales as expected cannot be decided yet."},
		{story{}, "How it does at larger scale is not part of this report, or could not be answered."},
	} {
		if got := tc.s.futureSentence(); got != tc.want {
			t.Errorf("%s\nwant %s", got, tc.want)
		}
	}
}
