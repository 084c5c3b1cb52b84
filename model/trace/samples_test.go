package trace

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// sampled is a program that is recorded by sampling. Its functions are called with call; what it really did is
// in truth.
type sampled struct {
	random  *rand.Rand
	period  int64
	next    int64 // time of the next sample
	now     int64
	open    []string
	truth   map[string]int64 // exclusive time by path
	names   []string
	stacks  []Stack
	numbers map[string]uint32 // stacks by path
	events  []Event
	paths   string // off, caller, full
}

func newSampled(seed uint64, period int64) *sampled {
	s := &sampled{random: rand.New(rand.NewPCG(seed, 11)), period: period, truth: map[string]int64{}, numbers: map[string]uint32{"": 0},
		paths: "full"}
	s.next = s.random.Int64N(period)
	return s
}

func (s *sampled) region(name string) uint32 {
	i := slices.Index(s.names, name)
	if i < 0 {
		i = len(s.names)
		s.names = append(s.names, name)
	}
	return uint32(i)
}

// stack returns the number of the open stack.
func (s *sampled) stack(open []string) uint32 {
	path := strings.Join(open, "/")
	if n, ok := s.numbers[path]; ok {
		return n
	}
	parent := s.stack(open[:len(open)-1])
	s.stacks = append(s.stacks, Stack{parent, s.region(open[len(open)-1])})
	s.numbers[path] = uint32(len(s.stacks))
	return s.numbers[path]
}

// work passes time in the open function; samples are taken.
func (s *sampled) work(d int64) {
	s.truth[strings.Join(s.open, "/")] += d
	for end := s.now + d; ; {
		if s.next >= end {
			s.now = end
			return
		}
		s.now = s.next
		s.events = append(s.events, Event{Time: s.now, Kind: Sample, Stack: s.stack(s.open)})
		s.next += s.period/2 + s.random.Int64N(s.period)
	}
}

// call calls a function of the program.
func (s *sampled) call(name string, body func()) {
	s.open = append(s.open, name)
	body()
	s.open = s.open[:len(s.open)-1]
}

// mpi calls MPI. No samples are kept in it.
func (s *sampled) mpi(name string, d int64) {
	e := Event{Time: s.now, Kind: Enter, Region: s.region(name)}
	switch s.paths {
	case "full":
		e.Stack = s.stack(s.open)
	case "caller":
		e.Stack = s.stack(s.open[len(s.open)-1:])
	}
	s.events = append(s.events, e)
	s.now += d
	s.truth[strings.Join(append(s.open, name), "/")] += d
	for s.next < s.now {
		s.next += s.period/2 + s.random.Int64N(s.period)
	}
	s.events = append(s.events, Event{Time: s.now, Kind: Leave, Region: e.Region})
}

// record records a call of a function as instrumentation does.
func (s *sampled) record(name string, body func()) {
	s.events = append(s.events, Event{Time: s.now, Kind: Enter, Region: s.region(name)})
	s.call(name, body)
	s.events = append(s.events, Event{Time: s.now, Kind: Leave, Region: s.region(name)})
}

func (s *sampled) trace() *Trace {
	events := slices.Insert(s.events, 0, Event{Kind: ProgramBegin})
	events = append(events, Event{Time: s.now, Kind: ProgramEnd})
	tr := memoryTrace(s.names, s.stacks, events)
	tr.CallPaths, tr.SamplePeriod = s.paths, s.period
	return tr
}

// exclusive is the time of each path without that of the calls inside.
func exclusive(tl *timeline.Timeline, location int) map[string]int64 {
	sums := map[string]int64{}
	c := &tl.Locations[location].Calls
	for i := range int32(c.Len()) {
		d := c.Leave[i] - c.Enter[i]
		for j := i + 1; j < c.Skip[i]; j = c.Skip[j] {
			d -= c.Leave[j] - c.Enter[j]
		}
		sums[tl.PathName(c.Path[i])] += int64(d)
	}
	return sums
}

const (
	usPs = int64(unit.Microsecond)
	msPs = int64(unit.Millisecond)
)

// The shapes of programs that samples must tell the truth of.
var sampledPrograms = map[string]func(s *sampled){
	"long gaps": func(s *sampled) {
		for range 40 {
			s.call("solve", func() {
				s.call("compute", func() { s.work(12*msPs + s.random.Int64N(msPs)) })
				s.call("fixup", func() { s.work(3 * msPs) })
				s.mpi("MPI_Allreduce", msPs)
			})
		}
	},
	"gaps much shorter than the time between samples": func(s *sampled) {
		for range 6000 {
			s.call("solve", func() {
				s.call("compute", func() { s.work(60 * usPs) })
				s.call("fixup", func() { s.work(20 * usPs) })
				s.call("halo", func() { s.work(5 * usPs); s.mpi("MPI_Sendrecv", 10*usPs) })
			})
		}
	},
	"something rare and long among much that is short": func(s *sampled) {
		for i := range 3000 {
			s.call("solve", func() {
				s.call("compute", func() { s.work(100 * usPs) })
				if i%100 == 7 {
					s.call("fixup", func() { s.work(9 * msPs) })
				}
				s.mpi("MPI_Allreduce", 30*usPs)
			})
		}
	},
	"short work at the edges of gaps": func(s *sampled) {
		for range 500 {
			s.call("unpack", func() { s.work(100 * usPs) })
			s.call("compute", func() { s.work(1500*usPs + s.random.Int64N(500*usPs)) })
			s.call("pack", func() { s.work(200 * usPs) })
			s.mpi("MPI_Sendrecv", 50*usPs)
		}
	},
	"several calls in a loop": func(s *sampled) {
		for range 1500 {
			s.mpi("MPI_Irecv", 2*usPs)
			s.call("pack", func() { s.work(40 * usPs) })
			s.mpi("MPI_Isend", 3*usPs)
			s.call("inner", func() { s.work(250*usPs + s.random.Int64N(200*usPs)) })
			s.mpi("MPI_Waitall", 20*usPs)
			s.call("outer", func() { s.work(80 * usPs) })
		}
	},
	"recursion": func(s *sampled) {
		for range 300 {
			s.call("walk", func() {
				s.work(200 * usPs)
				s.call("walk", func() {
					s.work(300 * usPs)
					s.call("walk", func() { s.work(500 * usPs) })
				})
			})
			s.mpi("MPI_Allreduce", 30*usPs)
		}
	},
}

// Every function gets its share of the time, on average over many runs, and in each of them within the error that
// so many samples have.
func TestSamplesTellTheTruth(t *testing.T) {
	const runs = 30
	for name, body := range sampledPrograms {
		t.Run(name, func(t *testing.T) {
			sums, truth := map[string]float64{}, map[string]int64{}
			deviations := map[string]float64{}
			for seed := range uint64(runs) {
				s := newSampled(seed, msPs)
				s.call("main", func() { body(s) })
				tl := toTimeline(t, s.trace(), TimelineOptions{Strict: true})
				got := exclusive(tl, 0)
				total := int64(0)
				for path, want := range s.truth {
					truth[path] += want
					sums[path] += float64(got[path] - want)
					// Of n samples k see the function: n*p*(1-p) is the variance of k if they are independent.
					// Samples at regular times do better.
					share := float64(want) / float64(s.now)
					deviations[path] = math.Sqrt(float64(s.now/s.period)*share*(1-share)) * float64(s.period)
					if strings.Contains(path, "MPI_") {
						deviations[path] = 0
					}
					if off := math.Abs(float64(got[path] - want)); off > 4*deviations[path] {
						t.Errorf("seed %d: %s has %v, want %v within %v",
							seed, path, unit.Duration(got[path]), unit.Duration(want), unit.Duration(4*deviations[path]))
					}
				}
				for path, d := range got {
					total += d
					if _, ok := s.truth[path]; !ok && d > s.now/100 {
						t.Errorf("seed %d: %s has %v, but was never called", seed, path, unit.Duration(d))
					}
				}
				if total != s.now {
					t.Errorf("seed %d: all together %d, want %d", seed, total, s.now)
				}
				if diff := gocmp.Diff(timeline.Problems{}, tl.Problems); diff != "" {
					t.Fatalf("seed %d: problems (-want +got):\n%s", seed, diff)
				}
			}
			for path := range truth {
				if off := math.Abs(sums[path]) / runs; off > 3*deviations[path]/math.Sqrt(runs)+float64(truth[path])/runs/200 {
					t.Errorf("%s: wrong by %v on average, of %v; one run differs by about %v",
						path, unit.Duration(sums[path]/runs), unit.Duration(truth[path]/runs), unit.Duration(deviations[path]))
				}
			}
		})
	}
}

func TestSamplesWithoutCallPaths(t *testing.T) {
	for _, paths := range []string{"off", "caller"} {
		s := newSampled(3, msPs)
		s.paths = paths
		s.call("main", func() { sampledPrograms["several calls in a loop"](s) })
		tl := toTimeline(t, s.trace(), TimelineOptions{})
		got := exclusive(tl, 0)
		for _, path := range []string{"main/pack", "main/inner", "main/outer", "main/MPI_Isend"} {
			want := s.truth[path]
			if off := got[path] - want; off > want/5 || off < -want/5 {
				t.Errorf("%s: %s has %v, want %v", paths, path, unit.Duration(got[path]), unit.Duration(want))
			}
		}
	}
}

// A program whose functions were recorded keeps them; samples tell what goes on inside.
func TestSamplesInsideOfRecordedFunctions(t *testing.T) {
	s := newSampled(5, msPs)
	s.record("main", func() {
		for range 200 {
			s.record("solve", func() {
				s.work(100 * usPs)
				s.call("library", func() {
					s.work(700 * usPs)
					s.call("kernel", func() { s.work(1100 * usPs) })
				})
				s.mpi("MPI_Allreduce", 50*usPs)
			})
		}
	})
	tl := toTimeline(t, s.trace(), TimelineOptions{Strict: true})
	got := exclusive(tl, 0)
	for path, want := range s.truth {
		if off := got[path] - want; off > want/10+5*msPs || off < -want/10-5*msPs {
			t.Errorf("%s has %v, want %v", path, unit.Duration(got[path]), unit.Duration(want))
		}
	}
	visits := 0
	c := &tl.Locations[0].Calls
	for i := range c.Path {
		if tl.PathName(c.Path[i]) == "main/solve" {
			visits++
		}
	}
	if visits != 200 {
		t.Errorf("main/solve was called %d times, want 200", visits)
	}
	without := exclusive(toTimeline(t, s.trace(), TimelineOptions{NoSamples: true}), 0)
	if got, want := without["main/solve"], s.truth["main/solve"]+s.truth["main/solve/library"]+
		s.truth["main/solve/library/kernel"]; got != want {
		t.Errorf("without samples main/solve has %d, want %d", got, want)
	}
}

// A region that is no function, begun by hand somewhere in the program.
func TestSamplesInsideOfPhases(t *testing.T) {
	s := newSampled(6, msPs)
	s.call("main", func() {
		for range 50 {
			s.call("setup", func() { s.work(2 * msPs) })
			s.events = append(s.events, Event{Time: s.now, Kind: Enter, Region: s.region("phase")})
			s.call("kernel", func() { s.work(8 * msPs) })
			s.events = append(s.events, Event{Time: s.now, Kind: Leave, Region: s.region("phase")})
			s.mpi("MPI_Barrier", usPs)
		}
	})
	got := exclusive(toTimeline(t, s.trace(), TimelineOptions{Strict: true}), 0)
	if d := got["main/phase/kernel"]; d < 380*msPs || d > 400*msPs {
		t.Errorf("main/phase/kernel has %v, want about 400 ms; all: %v", unit.Duration(d), got)
	}
}

// One gap by hand: what is open when, exactly.
func TestStacksOfOneGap(t *testing.T) {
	regions := []string{"main", "a", "b", "MPI_Send", "MPI_Recv"}
	stacks := []Stack{{0, 0}, {1, 1}, {1, 2}, {3, 1}, {1, 1}} // main, main/a, main/b, main/b/a, main/a once more
	tr := memoryTrace(regions, stacks, []Event{
		{Time: 0, Kind: ProgramBegin},
		{Time: 100, Kind: Enter, Region: 3, Stack: 2},
		{Time: 200, Kind: Leave, Region: 3},
		{Time: 300, Kind: Sample, Stack: 5},
		{Time: 400, Kind: Sample, Stack: 4},
		{Time: 700, Kind: Enter, Region: 4, Stack: 3},
		{Time: 800, Kind: Leave, Region: 4},
		{Time: 1000, Kind: ProgramEnd},
	})
	want := []string{
		"main 0 1us", // until the end of the run
		"main/a 0 350",
		"main/a/MPI_Send 100 200",
		"main/b 350 1us",
		"main/b/a 350 700",
		"main/b/MPI_Recv 700 800",
	}
	got := callsOf(toTimeline(t, tr, TimelineOptions{Strict: true}), 0)
	for i := range want {
		want[i] = strings.Replace(want[i], "1us", "1ns", 1)
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// Without samples the stacks of the calls say what is open; between two of them it changes half way.
func TestStacksOfCallsAlone(t *testing.T) {
	regions := []string{"main", "a", "b", "MPI_Send"}
	stacks := []Stack{{0, 0}, {1, 1}, {1, 2}}
	tr := memoryTrace(regions, stacks, []Event{
		{Time: 100, Kind: Enter, Region: 3, Stack: 2},
		{Time: 200, Kind: Leave, Region: 3},
		{Time: 300, Kind: Enter, Region: 3, Stack: 2},
		{Time: 400, Kind: Leave, Region: 3},
		{Time: 600, Kind: Enter, Region: 3, Stack: 3},
		{Time: 700, Kind: Leave, Region: 3},
	})
	want := []string{"main 100 700", "main/a 100 500", "main/a/MPI_Send 100 200", "main/a/MPI_Send 300 400", "main/b 500 700",
		"main/b/MPI_Send 600 700"}
	if diff := gocmp.Diff(want, callsOf(toTimeline(t, tr, TimelineOptions{Strict: true}), 0)); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// A parallel region: the stacks of both threads begin with what starts threads; idle threads have no functions.
func TestSamplesInTeams(t *testing.T) {
	regions := []string{"main", "solve", "GOMP_parallel", "solve._omp_fn.0", "kernel", "clone", "gomp_thread_start", "futex_wait", "MPI_Init"}
	stacks := []Stack{
		{0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 4}, // main/solve/GOMP_parallel/solve._omp_fn.0/kernel
		{0, 5}, {6, 6}, {7, 3}, {8, 4}, {7, 7}, // clone/gomp_thread_start/...
	}
	var master, worker []Event
	add := func(list *[]Event, time int64, e Event) {
		e.Time = time
		*list = append(*list, e)
	}
	add(&master, 0, Event{Kind: Enter, Region: 8, Stack: 1})
	add(&master, 100, Event{Kind: Leave, Region: 8})
	for i := range int64(20) {
		at := 1000 + i*1000
		add(&master, at, Event{Kind: Sample, Stack: 2})
		add(&master, at+100, Event{Kind: Fork, Size: 2})
		add(&master, at+110, Event{Kind: TeamBegin})
		add(&master, at+110, Event{Kind: Enter, Region: 3})
		add(&master, at+400, Event{Kind: Sample, Stack: 5})
		add(&master, at+600, Event{Kind: Leave, Region: 3})
		add(&master, at+600, Event{Kind: TeamEnd})
		add(&master, at+610, Event{Kind: Join})
		add(&worker, at, Event{Kind: Sample, Stack: 10})
		add(&worker, at+120, Event{Kind: TeamBegin})
		add(&worker, at+120, Event{Kind: Enter, Region: 3})
		add(&worker, at+300, Event{Kind: Sample, Stack: 9})
		add(&worker, at+590, Event{Kind: Leave, Region: 3})
		add(&worker, at+590, Event{Kind: TeamEnd})
	}
	tr := memoryTrace(regions, stacks, master, worker)
	tr.Ranks, tr.Comms = 1, nil
	tr.Locations[1].Rank, tr.Locations[1].Thread = 0, 1
	tl := toTimeline(t, tr, TimelineOptions{Strict: true})
	if len(tl.Teams) != 20 || len(tl.Teams[3].Members) != 2 {
		t.Fatalf("%d teams, want 20 of 2", len(tl.Teams))
	}
	for i, team := range tl.Teams {
		if got := tl.PathName(team.Base); got != "main/solve" {
			t.Errorf("team %d begins in %q, want main/solve", i, got)
		}
	}
	want := []map[string]int64{
		{"main/solve/solve._omp_fn.0/kernel": 20 * 490},
		{"main/solve/solve._omp_fn.0": 0, "main/solve/solve._omp_fn.0/kernel": 20 * 470},
	}
	if diff := gocmp.Diff(want[1], exclusive(tl, 1)); diff != "" {
		t.Errorf("worker (-want +got):\n%s", diff)
	}
	if got := exclusive(tl, 0); got["main/solve/solve._omp_fn.0/kernel"] != 20*490 {
		t.Errorf("master: %v", got)
	}
	if diff := gocmp.Diff(timeline.Problems{}, tl.Problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// The same, as our recorder gives it: the parallel region is no function of the stacks, which begin below what starts
// threads, and the master may be seen while the threads start.
func TestSamplesInTeamsOfTheRecorder(t *testing.T) {
	regions := []string{"main", "solve", "serial", "kernel", "!$omp parallel @solve", "MPI_Barrier", "!$omp implicit barrier"}
	stacks := []Stack{{0, 0}, {1, 1}, {2, 2}, {2, 3}, {0, 3}} // main, main/solve, .../serial, .../kernel, kernel
	var master, worker []Event
	add := func(list *[]Event, time int64, e Event) {
		e.Time = time
		*list = append(*list, e)
	}
	for i := range int64(20) {
		at := i * 1000
		add(&master, at, Event{Kind: Enter, Region: 5, Stack: 2})
		add(&master, at+10, Event{Kind: Leave, Region: 5})
		add(&master, at+100, Event{Kind: Sample, Stack: 3})
		add(&master, at+200, Event{Kind: Fork, Size: 2})
		if i%2 == 0 {
			add(&master, at+210, Event{Kind: Sample, Stack: 2})
		}
		add(&master, at+220, Event{Kind: TeamBegin})
		add(&master, at+220, Event{Kind: Enter, Region: 4})
		add(&master, at+400, Event{Kind: Sample, Stack: 4})
		add(&master, at+600, Event{Kind: Leave, Region: 4})
		add(&master, at+600, Event{Kind: TeamEnd})
		add(&master, at+610, Event{Kind: Join})
		add(&worker, at+230, Event{Kind: TeamBegin})
		add(&worker, at+230, Event{Kind: Enter, Region: 4})
		add(&worker, at+300, Event{Kind: Sample, Stack: 5})
		add(&worker, at+600, Event{Kind: Enter, Region: 6})
		add(&worker, at+610, Event{Kind: Leave, Region: 6})
		add(&worker, at+610, Event{Kind: Leave, Region: 4})
		add(&worker, at+610, Event{Kind: TeamEnd})
	}
	tr := memoryTrace(regions, stacks, master, worker)
	tr.Ranks, tr.Comms = 1, nil
	tr.Locations[1].Rank, tr.Locations[1].Thread = 0, 1
	tl := toTimeline(t, tr, TimelineOptions{Strict: true})
	if got := exclusive(tl, 1)["main/solve/!$omp parallel @solve/!$omp implicit barrier"]; got != 20*10 {
		t.Errorf("the barrier of the worker has %d, want 200; %v", got, exclusive(tl, 1))
	}
	for i, team := range tl.Teams {
		if got := tl.PathName(team.Base); got != "main/solve" {
			t.Errorf("team %d begins in %q, want main/solve", i, got)
		}
	}
	const kernel = "main/solve/!$omp parallel @solve/kernel"
	if got := []int64{exclusive(tl, 0)[kernel], exclusive(tl, 1)[kernel]}; !slices.Equal(got, []int64{20 * 380, 20 * 370}) {
		t.Errorf("kernel has %v, want %v; %v, %v", got, []int64{20 * 380, 20 * 370}, exclusive(tl, 0), exclusive(tl, 1))
	}
}

// Recorded functions that are called from many places, and from themselves.
func TestSamplesInsideOfRecordedFunctionsFromManyPlaces(t *testing.T) {
	s := newSampled(8, msPs)
	s.record("main", func() {
		for range 100 {
			for _, name := range []string{"compute", "fixup"} {
				s.record(name, func() {
					s.record("spin", func() { s.work(900 * usPs) })
				})
			}
			s.record("walk", func() {
				s.record("walk", func() { s.work(700 * usPs) })
				s.work(300 * usPs)
			})
			s.mpi("MPI_Barrier", 100*usPs)
		}
	})
	tl := toTimeline(t, s.trace(), TimelineOptions{Strict: true})
	if diff := gocmp.Diff(s.truth["main/compute/spin"], exclusive(tl, 0)["main/compute/spin"]); diff != "" {
		t.Errorf("main/compute/spin (-want +got):\n%s", diff)
	}
	got := exclusive(tl, 0)
	for path, d := range got {
		if d != s.truth[path] {
			t.Errorf("%s has %d, want %d", path, d, s.truth[path])
		}
	}
}
