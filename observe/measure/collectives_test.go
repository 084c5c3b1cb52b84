package measure

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"slackline/model/clock"
	"slackline/model/dataset"
	"slackline/model/unit"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

func TestParseOperations(t *testing.T) {
	list, err := ParseOperations([]string{"bcast", "MPI_Iallreduce", "spin:200us", "MPI_Bcast", "barrier"})
	if err != nil || len(list) != 4 {
		t.Fatalf("%v, %v", list, err)
	}
	if list[0].Name != "MPI_Bcast" || !list[0].Sized || list[0].Reduces || !list[1].Overlaps() || !list[1].Reduces ||
		list[2].Work != 200*time.Microsecond || list[3].Sized {
		t.Errorf("%+v", list)
	}
	all, _ := ParseOperations([]string{AllOperations})
	blocking, _ := ParseOperations([]string{BlockingOperations})
	persistent, _ := ParseOperations([]string{PersistentOperations})
	oneSided, _ := ParseOperations([]string{OneSidedOperations})
	if len(all) != 80 || len(blocking) != 23 || len(persistent) != 22 || len(oneSided) != 13 {
		t.Errorf("%d operations, %d of them blocking, %d persistent, %d one-sided", len(all), len(blocking), len(persistent), len(oneSided))
	}
	usual, _ := ParseOperations([]string{UsualOperations})
	if len(usual) != len(usualNames) {
		t.Errorf("%d usual operations are known, of %d", len(usual), len(usualNames))
	}
	for _, bad := range []string{"MPI_Bcastt", "spin:", "nap:1us", "spin:2h", ""} {
		if _, err := ParseOperations([]string{bad}); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestTrueTimes(t *testing.T) {
	list, _ := ParseOperations([]string{"spin:200us"})
	for how, want := range map[Reduction]time.Duration{ByRoot: 200, ByMin: 200, ByMax: 350, BySpan: 350, ByMean: 275} {
		if got, ok := list[0].True(how, 4); !ok || got != want*time.Microsecond {
			t.Errorf("%s: %s", how, got)
		}
	}
}

func TestReductions(t *testing.T) {
	r := Repetition{Start: []int64{0, 10, 5}, End: []int64{100, 130, 65}, Flags: []int{0, 0, 0}}
	for how, want := range map[Reduction]float64{ByRoot: 100, ByMax: 120, BySpan: 130, ByMean: 280.0 / 3, ByMin: 60} {
		if got := r.time(how, 1); got != want {
			t.Errorf("%s: %g, want %g", how, got, want)
		}
		if got := r.time(how, 10); got != want/10 {
			t.Errorf("%s of 10: %g", how, got)
		}
	}
	if r.Flags[1] = Jitter; r.valid() {
		t.Error("a repetition that began late is valid")
	}
}

func TestOptionsOfCollectives(t *testing.T) {
	ops, _ := ParseOperations([]string{"allreduce"})
	for name, change := range map[string]func(*CollectiveOptions){
		"nothing":  func(o *CollectiveOptions) { o.Operations = nil },
		"ranks":    func(o *CollectiveOptions) { o.Ranks = []int{0} },
		"odd size": func(o *CollectiveOptions) { o.Sizes = []int{12} },
		"too much": func(o *CollectiveOptions) { o.Sizes = []int{1 << 30} },
		"scheme":   func(o *CollectiveOptions) { o.Scheme = "guess" },
		"repeat":   func(o *CollectiveOptions) { o.Repeat = 0 },
		"inject":   func(o *CollectiveOptions) { o.Inject = make([]Injection, 3) },
	} {
		o := DefaultCollectives()
		o.Operations = ops
		if err := o.Check(); err != nil {
			t.Fatal(err)
		}
		if change(&o); o.Check() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestRefused holds that too few valid repetitions give no figure.
func TestRefused(t *testing.T) {
	good := Repetition{Start: []int64{0, 0}, End: []int64{100, 200}, Flags: []int{0, 0}}
	bad := Repetition{Start: []int64{0, 30000}, End: []int64{100, 30200}, Flags: []int{0, StartLate | Jitter}}
	ops, _ := ParseOperations([]string{"bcast"})
	o := DefaultCollectives()
	o.Operations, o.Repeat = ops, 4
	m := &collectiveJob{o: &o}
	enough := CollectiveRun{Repetitions: []Repetition{good, bad, good, good}}
	few := CollectiveRun{Repetitions: []Repetition{good, bad, bad, good}}
	short := CollectiveRun{Repetitions: []Repetition{good}}
	if !m.enough(&enough) || m.enough(&few) || m.enough(&short) {
		t.Error("three quarters and half of what is wanted do not decide")
	}
	p := &CollectivePoint{Operation: ops[0], Ranks: 2, Size: 8, Runs: []CollectiveRun{enough}}
	c := &Collectives{Options: o, Points: []*CollectivePoint{p}}
	if s, ok := c.Summarize(p, ByMax); !ok || s.Count != 3 || s.Median != 200 || c.Verdict() != nil {
		t.Errorf("%+v", s)
	}
	few.Refused = true
	p.Runs = []CollectiveRun{few}
	if _, ok := c.Summarize(p, ByMax); ok || len(c.Dataset(ByMax).Series) != 0 {
		t.Error("a refused point has a figure")
	}
	if err := c.Verdict(); !errors.Is(err, ErrTooFewValid) || !strings.Contains(err.Error(), "in 2 a rank missed the start") {
		t.Error(err)
	}
}

// TestOffsetsOf adds up offsets along a chain of three ranks whose clocks are known.
func TestOffsetsOf(t *testing.T) {
	ping := func(sent, answered, back unit.Duration) clock.Ping {
		return clock.Ping{Sent: sent * unit.Nanosecond, Answered: answered * unit.Nanosecond, Back: back * unit.Nanosecond}
	}
	// At the begin rank 0 shows 1000, rank 1 5000, rank 2 -2000; all run alike from there, but rank 2 began 50 later.
	c := &Comparison{Edges: []Edge{
		{Asker: 1, Answerer: 2, Pings: []clock.Ping{ping(100, 60, 120), ping(200, 400, 900)}},
		{Asker: 0, Answerer: 1, Pings: []clock.Ping{ping(300, 310, 320)}},
	}}
	list, err := offsetsOf(c, []int64{1000, 5000, -2000})
	if err != nil {
		t.Fatal(err)
	}
	if list[0].more != 0 || list[1].more != 4000 || list[2].more != -3000-50 || list[2].at != -1940 || list[2].bound != 22 {
		t.Errorf("%+v", list)
	}
	if _, err := offsetsOf(&Comparison{}, []int64{0, 0}); err == nil {
		t.Error("a rank without an edge")
	}
}

func starterOf(l *mpi.Library) Starter {
	return func(ctx context.Context, ranks int) (*Job, error) { return StartJob(ctx, l, ranks, nil) }
}

// loadedCollectives are options under which a loaded machine ends soon.
func loadedCollectives(operations ...string) CollectiveOptions {
	o := DefaultCollectives()
	o.Operations, _ = ParseOperations(operations)
	o.Repeat, o.Launches, o.Seed, o.Loop = 2, 1, 1, 2
	o.Tolerance, o.Budget = time.Second, 100*time.Millisecond
	return o
}

// TestAllCollectives runs every operation under every MPI; how long they take is not looked at.
func TestAllCollectives(t *testing.T) {
	for _, l := range mpitest.Libraries(t) {
		t.Run(string(l.Kind), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
			defer cancel()
			o := loadedCollectives(AllOperations, "spin:1us", "sleep:1us")
			o.Scheme, o.Ranks, o.Repeat, o.Loop = IMB, []int{2, 3, 5}, 1, 1
			c, err := MeasureCollectives(ctx, starterOf(l), o)
			if err != nil {
				t.Fatal(err)
			}
			wanted := len(o.Ranks) * len(o.Operations)
			for _, f := range libraryFaults {
				if f.kind == l.Kind && olderThan(l.Version, f.before) {
					wanted -= len(slices.DeleteFunc(slices.Clone(o.Ranks), func(ranks int) bool { return ranks < f.ranks }))
				}
			}
			if len(o.Operations) != 82 || len(c.Points) != wanted || c.MPI != l.String() || len(c.Hosts[5]) != 5 || len(c.Placements[2]) != 2 ||
				!c.OneClock {
				t.Errorf("%d points under %s on %v", len(c.Points), c.MPI, c.Hosts)
			}
			if !strings.Contains(c.Version, l.Version) {
				t.Errorf("%s says that it is %q", l, c.Version)
			}
			checkCrowded(t, l, c)
			for _, p := range c.Points {
				s, ok := c.Summarize(p, ByMax)
				if !ok || s.Count != 1 || s.Median < 0 || len(s.LaunchMedians) != 1 {
					t.Errorf("%s: %+v", p.Operation.Name, s)
				}
				if _, ok := p.Overlap(); ok && !p.Operation.Overlaps() {
					t.Errorf("%s: has an overlap", p.Operation.Name)
				}
			}
			var b bytes.Buffer
			if err := c.Dataset(ByMax).WriteJSON(&b, nil); err != nil {
				t.Fatal(err)
			}
			d, _, err := dataset.Read("data", b.Bytes(), "")
			if err != nil || d.Find("MPI_Bcast", "time") == nil || d.Find(TreeBroadcast, "time") == nil ||
				len(d.Find("MPI_Barrier", "time").Points) != len(o.Ranks) {
				t.Errorf("%v: %v", err, d)
			}
		})
	}
}

// TestBarriers wants ranks that take turns of different lengths to start the loops of imb together after barriers, and not to wait
// for each other without.
func TestBarriers(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		defer cancel()
		ahead := func(barriers int) (n, loops int) { // loops that rank 0 begins before rank 1 has ended the one before
			o := loadedCollectives("sleep:4ms") // rank 1 sleeps 6 ms
			o.Scheme, o.Repeat, o.Loop, o.Barriers = IMB, 6, 4, barriers
			c, err := MeasureCollectives(ctx, starterOf(l), o)
			if err != nil {
				t.Fatal(err)
			}
			list := c.Points[0].Runs[0].Repetitions
			for i := 1; i < len(list); i++ {
				if list[i].Start[0] < list[i-1].End[1] {
					n++
				}
			}
			return n, len(list) - 1
		}
		for _, barriers := range []int{1, 3} {
			if n, loops := ahead(barriers); n > 0 {
				t.Errorf("%d barriers: rank 0 is ahead in %d of %d loops", barriers, n, loops)
			}
		}
		// Without barriers a rank may begin so late that the other one is ahead all the time, but not always.
		for try := 1; ; try++ {
			if n, loops := ahead(0); n > 0 {
				break
			} else if try == 20 {
				t.Fatalf("no barrier: rank 0 is never ahead, in %d times %d loops", try, loops)
			}
		}
	})
}

// checkCrowded wants ranks that share CPUs to be marked, and those of MPICH over UCX to give their CPU away by our function.
func checkCrowded(t *testing.T, l *mpi.Library, c *Collectives) {
	t.Helper()
	for _, p := range c.Options.Ranks {
		crowded := p > runtime.NumCPU()
		if c.Crowded[p] != crowded {
			t.Errorf("%s: %d ranks on %d CPUs are crowded: %v", l, p, runtime.NumCPU(), c.Crowded[p])
		}
		if hooked := crowded && strings.Contains(c.Version, "ucx"); c.Hooked[p] != hooked {
			t.Errorf("%s: %d ranks yield by our function: %v, want %v", l, p, c.Hooked[p], hooked)
		}
	}
}

// TestRawIsData: the raw data of a measurement, read again, are the data of the measurement.
func TestRawIsData(t *testing.T) {
	l := mpitest.Libraries(t)[0]
	var list []*Collectives
	for _, scheme := range []Scheme{RoundTime, MPPTest} {
		o := loadedCollectives("barrier", "bcast", "spin:5us")
		o.Scheme, o.Sizes, o.Ranks, o.Launches = scheme, []int{8, 64}, []int{2, 3}, 2
		c, err := MeasureCollectives(context.Background(), starterOf(l), o)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	list[0].Points[0].Runs[0].Refused = true // a launch that does not count
	var b bytes.Buffer
	if err := WriteRaw(&b, list); err != nil {
		t.Fatal(err)
	}
	got, f, err := dataset.Read("raw", b.Bytes(), "")
	if err != nil || f.Name != "measured" {
		t.Fatalf("%s: %v", f.Name, err)
	}
	for i, c := range list {
		for _, want := range c.Dataset(c.Options.Scheme.Own()).Series {
			metric := want.Metric
			if i > 0 {
				metric += "-" + string(c.Options.Scheme)
			}
			s := got.Find(want.CallPath, metric)
			if s == nil || len(s.Points) != len(want.Points) {
				t.Fatalf("%s %s: %+v, want %+v", want.CallPath, metric, s, want)
			}
			for _, p := range want.Points {
				if k := slices.IndexFunc(s.Points, func(q dataset.Point) bool { return slices.Equal(q.At, p.At) }); k < 0 ||
					!slices.Equal(s.Points[k].Values, p.Values) {
					t.Errorf("%s %s at %v: %+v, want %v", want.CallPath, metric, p.At, s.Points, p.Values)
				}
			}
		}
	}
}

// TestSchemes runs each scheme; the common start is also tried with clocks that are seconds apart.
func TestSchemes(t *testing.T) {
	for _, l := range mpitest.Libraries(t) {
		for _, scheme := range Schemes {
			o := loadedCollectives("bcast", "spin:20us")
			o.Scheme, o.Launches = scheme, 2
			if scheme.Single() {
				o.Inject, o.Launches = []Injection{{}, {Offset: 3 * time.Second, Drift: 1e-4}}, 1
				o.Window = 20 * time.Millisecond
			}
			c, err := MeasureCollectives(context.Background(), starterOf(l), o)
			if err != nil {
				t.Fatalf("%s, %s: %v", l, scheme, err)
			}
			if c.OneClock == scheme.Single() || scheme.Single() && c.ClockError <= 0 {
				t.Errorf("%s, %s: one clock %v, error %s", l, scheme, c.OneClock, c.ClockError)
			}
			for _, p := range c.Points {
				valid, tried := p.Counts()
				if len(p.Runs) != o.Launches || valid > tried || tried < o.Launches || p.Runs[len(p.Runs)-1].Launch != o.Launches-1 {
					t.Errorf("%s, %s, %s: %d of %d in %d launches", l, scheme, p.Operation.Name, valid, tried, len(p.Runs))
				}
			}
		}
	}
}

// TestCommonClock gives clocks known offsets and drifts: corrected, every rank's idea of the time of rank 0 lies within the
// bound of the truth, which is the clock of the host.
func TestCommonClock(t *testing.T) {
	for _, l := range mpitest.Libraries(t) {
		for _, scheme := range []Scheme{RoundTime, SKaMPI} {
			j, err := StartJob(context.Background(), l, 3, nil)
			if err != nil {
				t.Fatal(err)
			}
			o := loadedCollectives("bcast")
			o.Scheme, o.Inject = scheme, []Injection{{}, {Offset: 3 * time.Second, Drift: 1e-4}, {Offset: -7 * time.Second, Drift: -5e-5}}
			m := &collectiveJob{ctx: context.Background(), job: j, o: &o, ranks: 3}
			if err := m.start(); err != nil {
				t.Fatal(err)
			}
			if err := m.correct(); err != nil {
				t.Fatal(err)
			}
			values, err := j.stamps(-1, "globals", 0, 0, 0, 0)
			if err != nil || len(values) != 9 {
				t.Fatalf("%v, %v", values, err)
			}
			for r := range 3 {
				bound := int64(2)
				if r > 0 {
					bound += int64(m.errors[r].after(time.Since(m.errors[r].since)))
				}
				if before, common, after := values[3*r], values[3*r+1], values[3*r+2]; common < before-bound || common > after+bound {
					t.Errorf("%s, %s: rank %d is wrong by %d or %d ns, bound %d", l, scheme, r, common-before, common-after, bound)
				}
			}
			if err := j.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestCollectivesCancelled(t *testing.T) {
	l := mpitest.Libraries(t)[0]
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := MeasureCollectives(ctx, starterOf(l), loadedCollectives("bcast")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestMemory(t *testing.T) {
	for _, l := range mpitest.Libraries(t) {
		list, err := MeasureMemory(context.Background(), starterOf(l), MemoryOptions{Ranks: []int{2, 3}, Objects: 5})
		if err != nil {
			t.Fatalf("%s: %v", l, err)
		}
		for _, m := range list {
			if len(m.Objects) != len(ObjectKinds) || len(m.Process) != m.Ranks || m.library() <= 0 {
				t.Errorf("%s: %+v", l, m)
			}
			for _, o := range m.Objects {
				if o.Steady <= 0 || o.Least > o.Steady || len(o.Bytes) != m.Ranks || len(o.Bytes[0]) != 5 {
					t.Errorf("%s: %+v", l, o)
				}
			}
			for _, r := range m.Process {
				if r.Before.PSS <= 0 || r.After.PSS <= r.Before.PSS || r.End.RSS < r.End.PSS {
					t.Errorf("%s: %+v", l, r)
				}
			}
		}
		if d := MemoryDataset(list); d.Find(libraryMemory, "bytes") == nil || len(d.Find("MPI_Comm_dup", "bytes").Points) != 2 {
			t.Errorf("%s: %v", l, d)
		}
	}
	o := objectMemory("x", []int64{100, 50, 50, 500, 90, 40, 40, 40}, 4)
	if o.First != 100 || o.Steady != 50 || o.Least != 40 || o.Odd != 1 {
		t.Errorf("%+v", o)
	}
	for _, bad := range []MemoryOptions{{}, {Ranks: []int{1}, Objects: 5}, {Ranks: []int{2}, Objects: 1}} {
		if bad.Check() == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
}

// TestTooManyRanks: with more ranks than CPUs an operation of known length cannot be timed as if they had one each. Whatever the load:
// such points are marked, what counts began in time on every rank, and too few of them give no figure.
func TestTooManyRanks(t *testing.T) {
	for _, l := range mpitest.Libraries(t) {
		o := loadedCollectives("spin:200us", "sleep:200us")
		o.Ranks, o.Repeat, o.Tolerance = []int{2 * runtime.NumCPU()}, 2, 20*time.Microsecond
		c, err := MeasureCollectives(context.Background(), starterOf(l), o)
		if err != nil {
			t.Fatal(err)
		}
		checkCrowded(t, l, c)
		for _, p := range c.Points {
			for i := range p.Runs {
				run := &p.Runs[i]
				for k := range run.Repetitions {
					if r := &run.Repetitions[k]; r.valid() && slices.Max(r.Start) > o.Tolerance.Nanoseconds() {
						t.Errorf("%s, %s, %d ranks: an execution counts that began %d ns late", l, p.Operation.Name, p.Ranks, slices.Max(r.Start))
					}
				}
				if valid, tried := run.ValidCount(), len(run.Repetitions); !run.Refused && 4*valid < 3*tried {
					t.Errorf("%s, %s, %d ranks: %d of %d count and are not refused", l, p.Operation.Name, p.Ranks, valid, tried)
				}
			}
			if _, ok := c.Summarize(p, ByMax); ok == p.Refused() {
				t.Errorf("%s, %s, %d ranks: refused and with a figure, or neither", l, p.Operation.Name, p.Ranks)
			}
		}
	}
}
