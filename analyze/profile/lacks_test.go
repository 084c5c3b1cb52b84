package profile

import (
	"math/rand/v2"
	"slices"
	"testing"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// TestLacksOfWorkers: without a CPU between two teams, a worker is in no call; inside of one, in the call path of the fork.
func TestLacksOfWorkers(t *testing.T) {
	p := runOf(t, `
region par name "!$omp parallel" openmp parallel
rank 0
0 main {
  10 par {
    @10 fork 2
    @10 team-begin
    @30 team-end
    @30 join
  } 30
  50 par {
    @50 fork 2
    @50 team-begin
    @90 team-end
    @90 join
  } 90
} 100
rank 0 thread 1
@10 team-begin
12..20 f
@30 team-end
@42 no-cpu 6
@50 team-begin
@56 no-cpu 10
60 f {
@65 no-cpu 3
} 70
@90 team-end
@94 no-cpu 8
95..96 g
`)
	got := map[string]unit.Duration{}
	for _, e := range p.ByPath {
		got[p.Paths.Names[e.Path]] = e.Exclusive.Duration()
	}
	// The worker lacks a CPU from 36 to 42 and from 46 to 50 between the teams, 50 to 56 and 86 to 90 in the team, 62 to 65 in f, and
	// 90 to 94 after it.
	const par = "main/!$omp parallel"
	for path, want := range map[string]unit.Duration{
		"main":             100 - 20 - 40,
		par:                20 + 40 + (20 - 8) + (40 - 10 - 6 - 4),
		par + "/f":         8 + 10 - 3,
		par + "/f/no CPU":  3,
		par + "/no CPU":    6 + 4,
		timeline.NoCPUName: 6 + 4 + 4,
		"g":                1,
	} {
		if got[path] != want {
			t.Errorf("%s: %d, want %d; of %v", path, got[path], want, got)
		}
	}
}

// TestWaited: of times without a CPU those count in which the location did not wait, for random times and waits.
func TestWaited(t *testing.T) {
	const end = 200
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 5))
		spans := func() (list []timeline.Span) {
			for at := unit.Duration(random.IntN(20)); at < end-20; {
				next := at + 1 + unit.Duration(random.IntN(19))
				list = append(list, timeline.Span{From: at, To: next})
				at = next + unit.Duration(random.IntN(20))
			}
			return list
		}
		b := timeline.NewBuilder(1)
		l := b.Location(0, 0, "", "")
		l.Enter(0, b.Region(timeline.Region{Name: "main"}))
		for _, s := range spans() {
			l.NoCPU(s.To, s.To-s.From)
		}
		l.Leave(end)
		tl, waits := b.Finish(1), spans()
		paths, err := NewPaths(tl)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]bool, end)
		for _, s := range tl.Locations[0].NoCPU {
			for k := s.From; k < s.To; k++ {
				want[k] = true
			}
		}
		for _, s := range waits {
			for k := s.From; k < s.To; k++ {
				want[k] = false
			}
		}
		w := NewWindows(tl, paths, 1)
		w.Waited(0, waits)
		got := make([]bool, end)
		for _, s := range w.lacks[0] {
			if s.From >= s.To {
				t.Errorf("seed %d: nothing from %v to %v", seed, s.From, s.To)
			}
			for k := s.From; k < s.To; k++ {
				got[k] = true
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("seed %d: waits %v leave %v of %v", seed, waits, w.lacks[0], tl.Locations[0].NoCPU)
		}
	}
}
