package whatif

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slackline/analyze/simulate"
	"slackline/model/machine"
	"slackline/model/noise"
	"slackline/model/pattern"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// patternOf returns the maker of a pattern.
func patternOf(name string, p pattern.Params) func(int) (schedule.Program, error) {
	return func(ranks int) (schedule.Program, error) {
		p.Ranks = ranks
		return pattern.New(name, p)
	}
}

// seriesOf returns a series of 1-byte messages on the machine cnl.
func seriesOf(t *testing.T, name, spec string, replicas int, counts ...int) *Series {
	t.Helper()
	m, err := machine.Named("cnl")
	if err != nil {
		t.Fatal(err)
	}
	profile, err := noise.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return &Series{
		Counts: counts, Program: patternOf(name, pattern.Params{Size: 1}), Machine: m,
		Noise: Noise{Profile: profile, Seed: 1}, Replicas: replicas,
	}
}

func runSeries(t *testing.T, s *Series) []Point {
	t.Helper()
	points, err := s.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return points
}

// TestReplicasAreSingleRuns: whatever the noise is made of, a replica is the run with its injection.
func TestReplicasAreSingleRuns(t *testing.T) {
	changes := map[string]func(*Series){
		"independent":  func(*Series) {},
		"node":         func(s *Series) { s.Machine.RanksPerNode, s.Noise.Alignment = 4, noise.ByNode },
		"co-scheduled": func(s *Series) { s.Noise.Alignment = noise.CoScheduled },
		"noisy ranks":  func(s *Series) { s.Noise.Only = []int{0, 3} },
		"delay":        func(s *Series) { s.Noise.Delays = []Delay{{1, 5 * unit.Microsecond, unit.Millisecond}} },
		"only a delay": func(s *Series) { s.Noise.Profile, s.Noise.Delays = nil, []Delay{{1, 0, unit.Millisecond}} },
		"at zero":      func(s *Series) { s.Noise.AtZero = true },
		"tree":         func(s *Series) { s.Program = patternOf("bcast", pattern.Params{Size: 1, Algorithm: "binomial"}) },
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			s := seriesOf(t, "dissemination", "1000Hz:100us+poisson:5kHz:exp:10us", 6, 7, 16)
			change(s)
			s.Options.Threads = 3
			points := runSeries(t, s)
			trace, err := s.Noise.Trace()
			if err != nil {
				t.Fatal(err)
			}
			if len(points) != 2 {
				t.Fatalf("%d points, want 2", len(points))
			}
			for _, p := range points {
				program, err := s.Program(p.Ranks)
				if err != nil {
					t.Fatal(err)
				}
				layout, err := s.Machine.Layout(p.Ranks)
				if err != nil {
					t.Fatal(err)
				}
				quiet, err := simulate.Run(t.Context(), program, s.Machine, simulate.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if p.Noiseless != quiet.Makespan {
					t.Errorf("%d ranks: noiseless = %v, want %v", p.Ranks, p.Noiseless, quiet.Makespan)
				}
				for i, got := range p.Samples {
					in, err := s.Noise.injection(trace, layout, i, make([]int64, p.Ranks))
					if err != nil {
						t.Fatal(err)
					}
					single, err := simulate.Run(t.Context(), program, s.Machine, simulate.Options{Noise: in, Threads: 1})
					if err != nil {
						t.Fatal(err)
					}
					if got != single.Makespan {
						t.Errorf("%d ranks, replica %d: %v, the single run %v", p.Ranks, i, got, single.Makespan)
					}
				}
			}
		})
	}
}

func TestSeriesDoesNotDependOnThreads(t *testing.T) {
	var first []Point
	for _, threads := range []int{1, 2, 5} {
		s := seriesOf(t, "dissemination", "1000Hz:100us", 9, 2, 33)
		s.Options.Threads = threads
		points := runSeries(t, s)
		if first == nil {
			first = points
		}
		if diff := cmp.Diff(first, points); diff != "" {
			t.Errorf("%d threads: %s", threads, diff)
		}
	}
	if first[0].Samples[0] == first[1].Samples[0] {
		t.Errorf("both points have the same first sample: %v", first)
	}
}

// TestOffsetsOfManyRanks: offsets depend neither on the number of ranks nor on other replicas.
func TestOffsetsOfManyRanks(t *testing.T) {
	s := seriesOf(t, "dissemination", "1000Hz:100us", 1, 8)
	trace, err := s.Noise.Trace()
	if err != nil {
		t.Fatal(err)
	}
	draw := func(ranks, replica int) []int64 {
		layout, err := s.Machine.Layout(ranks)
		if err != nil {
			t.Fatal(err)
		}
		return s.Noise.OffsetsOf(trace, layout, replica, make([]int64, ranks))
	}
	few, many := draw(8, 3), draw(100, 3)
	if !slices.Equal(few, many[:8]) {
		t.Errorf("offsets of 8 ranks %v, of the first 8 of 100 %v", few, many[:8])
	}
	if slices.Equal(few, draw(8, 4)) {
		t.Error("two replicas have the same offsets")
	}
	for _, o := range many {
		if o < 0 || o >= trace.Period() || o%1000 != 0 {
			t.Errorf("offset %d ps is not a whole nanosecond below %d", o, trace.Period())
		}
	}
}

func TestQuietSeries(t *testing.T) {
	for _, spec := range []string{"", "1000Hz:0"} {
		s := seriesOf(t, "dissemination", "1000Hz:0", 5, 16)
		if spec == "" {
			s.Noise = Noise{}
		}
		p := runSeries(t, s)[0]
		d := p.Distribution()
		if d.Min != p.Noiseless || d.Max != p.Noiseless || d.Slowdown.Max != 1 || d.Replicas != 5 || p.Noiseless == 0 {
			t.Errorf("noise %q: %+v", spec, d)
		}
	}
}

// TestInterrupt: what an interrupted series returns is what a smaller one would have returned, and
// it goes on to the same end.
func TestInterrupt(t *testing.T) {
	want := runSeries(t, seriesOf(t, "dissemination", "1000Hz:100us", 20, 8, 16))
	properties := []Property{{"seed", "1"}, {"machine", "name: cnl\nL: 1us"}}
	for _, tc := range []struct{ stop, threads int }{{1, 1}, {7, 1}, {25, 1}, {1, 2}, {7, 2}, {25, 2}} {
		stop := tc.stop
		ctx, cancel := context.WithCancel(context.Background())
		s := seriesOf(t, "dissemination", "1000Hz:100us", 20, 8, 16)
		s.Known = NewCheckpoint(properties)
		s.Options.Threads = tc.threads
		runs := 0
		s.Progress = func(p Progress) {
			if runs++; runs == stop {
				cancel()
			}
			if p.Share < 0 || p.Share > 1 {
				t.Errorf("share = %g", p.Share)
			}
		}
		points, err := s.Run(ctx)
		if !Interrupted(err) {
			t.Fatalf("stopped after %d runs: error %v", stop, err)
		}
		for i, p := range points {
			if n := len(p.Samples); n == 0 || !slices.Equal(p.Samples, want[i].Samples[:n]) || p.Noiseless != want[i].Noiseless {
				t.Errorf("stopped after %d runs: %d samples that are not the first ones", stop, n)
			}
		}
		// With two threads the first replica of the second point may be the last one to finish, and
		// then there is no second point.
		if stop == 25 && (len(points) < 1 || len(points[0].Samples) != 20 || tc.threads == 1 && len(points) != 2) {
			t.Errorf("stopped after %d runs on %d threads: %d points", stop, tc.threads, len(points))
		}
		var file bytes.Buffer
		if err := s.Known.Write(&file); err != nil {
			t.Fatal(err)
		}
		known, err := ReadCheckpoint("file", &file, properties)
		if err != nil {
			t.Fatal(err)
		}
		if known.Replicas() != s.Known.Replicas() || stop > 1 && known.Replicas() == 0 {
			t.Errorf("stopped after %d runs: %d replicas are kept, %d were finished", stop, known.Replicas(), s.Known.Replicas())
		}
		before := known.Replicas()
		again := seriesOf(t, "dissemination", "1000Hz:100us", 20, 8, 16)
		again.Known = known
		fresh := -1 // the first report of a process count comes before its first replica
		again.Progress = func(p Progress) { fresh++ }
		if diff := cmp.Diff(want, runSeries(t, again)); diff != "" {
			t.Errorf("resumed after %d runs: %s", stop, diff)
		}
		if fresh > 40-before+1 {
			t.Errorf("resumed after %d runs: %d replicas were kept and %d more were run", stop, before, fresh)
		}
	}
}

func TestSeriesErrors(t *testing.T) {
	for name, change := range map[string]func(*Series){
		"0 replicas":            func(s *Series) { s.Replicas = 0 },
		"rank 9":                func(s *Series) { s.Noise.Only = []int{9} },
		"delay of rank 9":       func(s *Series) { s.Noise.Delays = []Delay{{9, 0, 1}} },
		"loggps":                func(s *Series) { s.Options.Model = simulate.LogGPS },
		"2 offsets for 8 ranks": func(s *Series) { s.Noise.Offsets = []int64{0, 0} },
		"length": func(s *Series) {
			s.Noise.Profile = &noise.Profile{Parts: []noise.Part{{Every: 1, Kind: noise.KindPeriodic}}}
		},
	} {
		s := seriesOf(t, "dissemination", "1000Hz:100us", 2, 8)
		change(s)
		if points, err := s.Run(context.Background()); err == nil || !strings.Contains(err.Error(), name) || len(points) > 0 {
			t.Errorf("%s: %d points, error %v", name, len(points), err)
		}
	}
}

// TestWorkload: once two process counts are known, the rest follows.
func TestWorkload(t *testing.T) {
	w := newWorkload([]int{2, 4, 8}, 10)
	if w.share() != 0 {
		t.Errorf("share of the begin = %g", w.share())
	}
	w.begin(0, 4, 10)
	w.begin(1, 16, 5) // the square: 8 ranks have 64 operations
	if got, want := w.share(), (4*10+16*5)/(10*(4.0+16+64)); got < want*0.999 || got > want*1.001 {
		t.Errorf("share = %g, want %g", got, want)
	}
	w.begin(2, 64, 10)
	w.begin(1, 16, 10)
	if w.share() != 1 {
		t.Errorf("share of the end = %g", w.share())
	}
}

func TestDistribution(t *testing.T) {
	for _, tc := range []struct {
		samples []unit.Duration
		want    Distribution
	}{
		{[]unit.Duration{5}, Distribution{Min: 5, Q1: 5, Median: 5, Q3: 5, Max: 5, Mean: 5, Whiskers: [2]unit.Duration{5, 5},
			Slowdown: Slowdown{2.5, 2.5}}},
		{[]unit.Duration{3, 2}, Distribution{Min: 2, Q1: 2, Median: 3, Q3: 3, Max: 3, Mean: 3, Whiskers: [2]unit.Duration{2, 3},
			Slowdown: Slowdown{1.5, 1.5}}},
		{
			[]unit.Duration{100, 14, 10, 12, 16, 18, 2, 13, 15},
			Distribution{
				Min: 2, Q1: 12, Median: 14, Q3: 16, Max: 100, Mean: 22, Whiskers: [2]unit.Duration{10, 18},
				Outliers: []unit.Duration{2, 100}, MedianInterval: &[2]unit.Duration{10, 18}, Slowdown: Slowdown{7, 50},
			},
		},
	} {
		before := slices.Clone(tc.samples)
		got := (&Point{Ranks: 3, Noiseless: 2, Samples: tc.samples}).Distribution()
		tc.want.Ranks, tc.want.Replicas, tc.want.Noiseless = 3, len(tc.samples), 2
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%v: %s", tc.samples, diff)
		}
		if !slices.Equal(before, tc.samples) {
			t.Error("the samples were changed")
		}
	}
	if d := (&Point{Samples: []unit.Duration{0}}).Distribution(); d.Slowdown.Median != 1 {
		t.Errorf("slowdown of nothing = %g, want 1", d.Slowdown.Median)
	}
	large := unit.Duration(1<<63 - 1)
	if got := mean([]unit.Duration{large, large, large - 2}); got != large-1 {
		t.Errorf("mean of large numbers = %d, want %d", got, large-1)
	}
}
