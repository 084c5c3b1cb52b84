package trace

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"slackline/model/clock"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// The times of calls are those that OTF2's own reader gives, to the tick.
func TestTimesAreThoseOfOTF2(t *testing.T) {
	cases, err := os.ReadDir(casesDir)
	if err != nil || len(cases) != 20 {
		t.Fatalf("%d cases, %v; want 20", len(cases), err)
	}
	for _, entry := range cases {
		t.Run(entry.Name(), func(t *testing.T) {
			anchor := filepath.Join(casesDir, entry.Name(), "traces.otf2")
			lines := otf2Print(t, anchor, true)
			tr := mustOpen(t, anchor)
			tl := toTimeline(t, tr, TimelineOptions{Strict: true})
			archive := newOTF2Printer(t, anchor)
			base, tick := archive.defs.GlobalOffset, second/archive.defs.Resolution
			for i, l := range tr.Locations {
				var want []string
				for _, line := range lines[l.ID] {
					var kind string
					var location, time uint64
					if n, _ := fmt.Sscan(line, &kind, &location, &time); n == 3 && (kind == "ENTER" || kind == "LEAVE") {
						want = append(want, fmt.Sprint(kind, (time-base)*tick))
					}
				}
				if diff := gocmp.Diff(want, entersAndLeaves(&tl.Locations[i].Calls)); diff != "" {
					t.Errorf("location %d (-otf2-print +timeline):\n%s", i, diff)
				}
			}
			if p := tl.Problems; p.Unbalanced+p.UnmatchedReceives+p.UnmatchedSends+p.PendingRequests > 0 && entry.Name() != "18-oddities" {
				t.Errorf("problems: %+v", p)
			}
		})
	}
}

// entersAndLeaves lists the begins and ends of calls in order.
func entersAndLeaves(c *timeline.Calls) []string {
	var list []string
	var open []int32
	leave := func(before int32) {
		for len(open) > 0 && c.Skip[open[len(open)-1]] <= before {
			list = append(list, fmt.Sprint("LEAVE", int64(c.Leave[open[len(open)-1]])))
			open = open[:len(open)-1]
		}
	}
	for i := range int32(c.Len()) {
		leave(i)
		list = append(list, fmt.Sprint("ENTER", int64(c.Enter[i])))
		open = append(open, i)
	}
	leave(math.MaxInt32)
	return list
}

// program is a random program whose true times are known. Regions: 0 main, 1 compute, 2 MPI_Send, 3 MPI_Recv,
// 4 MPI_Isend, 5 MPI_Irecv, 6 MPI_Waitall, 7 MPI_Allreduce, 8 MPI_Bcast.
type program struct {
	random *rand.Rand
	now    []int64
	events [][]Event
	next   uint64
}

var programRegions = strings.Fields("main compute MPI_Send MPI_Recv MPI_Isend MPI_Irecv MPI_Waitall MPI_Allreduce MPI_Bcast")

const latency = int64(unit.Microsecond)

func newProgram(random *rand.Rand, ranks, steps int) *program {
	p := &program{random: random, now: make([]int64, ranks), events: make([][]Event, ranks)}
	for r := range ranks {
		p.add(r, Event{Kind: Enter})
	}
	for range steps {
		for r := range ranks {
			p.call(r, 1, func() { p.pass(r, 200*latency) })
		}
		switch p.random.IntN(4) {
		case 0:
			p.blocking()
		case 1:
			p.ring()
		case 2:
			p.collective(7, timeline.OpAllreduce, NoRoot)
		case 3:
			p.collective(8, timeline.OpBcast, int32(p.random.IntN(ranks)))
		}
	}
	for r := range ranks {
		p.pass(r, latency)
		p.add(r, Event{Kind: Leave})
	}
	return p
}

func (p *program) add(r int, e Event) {
	e.Time = p.now[r]
	p.events[r] = append(p.events[r], e)
}

func (p *program) pass(r int, most int64) { p.now[r] += 1 + p.random.Int64N(most) }

func (p *program) call(r int, region uint32, body func()) {
	p.add(r, Event{Kind: Enter, Region: region})
	body()
	p.add(r, Event{Kind: Leave, Region: region})
	p.pass(r, latency/10)
}

func (p *program) blocking() {
	from := p.random.IntN(len(p.now))
	to := (from + 1 + p.random.IntN(len(p.now)-1)) % len(p.now)
	var sent int64
	p.call(from, 2, func() {
		sent = p.now[from]
		p.add(from, Event{Kind: Send, Peer: int32(to), Tag: 5, Size: 100})
		p.pass(from, latency)
	})
	p.call(to, 3, func() {
		p.now[to] = max(p.now[to], sent+latency) + 1
		p.add(to, Event{Kind: Recv, Peer: int32(from), Tag: 5, Size: 100})
	})
}

func (p *program) ring() {
	n := len(p.now)
	sent := make([]int64, n)
	p.next += 2
	for r := range n {
		p.call(r, 5, func() { p.add(r, Event{Kind: IrecvPost, Request: p.next}) })
		p.call(r, 4, func() {
			sent[r] = p.now[r]
			p.add(r, Event{Kind: Isend, Peer: int32((r + 1) % n), Tag: 1, Size: 8, Request: p.next + 1})
		})
	}
	for r := range n {
		p.call(r, 6, func() {
			p.now[r] = max(p.now[r], sent[(r+n-1)%n]+latency)
			p.add(r, Event{Kind: IsendDone, Request: p.next + 1})
			p.add(r, Event{Kind: IrecvDone, Peer: int32((r + n - 1) % n), Tag: 1, Size: 8, Request: p.next})
		})
	}
}

func (p *program) collective(region uint32, op timeline.Op, root int32) {
	last := int64(0)
	for r := range p.now {
		p.add(r, Event{Kind: Enter, Region: region})
		if root == NoRoot || r == int(root) {
			last = max(last, p.now[r])
		}
	}
	for r := range p.now {
		p.now[r] = max(p.now[r], last+latency) + p.random.Int64N(latency)
		p.add(r, Event{Kind: CollectiveEnd, Op: op, Root: root, Sent: 8, Received: 8})
		p.add(r, Event{Kind: Leave, Region: region})
		p.pass(r, latency/10)
	}
}

// trace is the program as it was recorded with wrong clocks: rank r's clock shows offset[r] more at first and
// runs faster by drift[r]. Clocks are compared along a binomial tree, at both ends.
func (p *program) trace(offset []int64, drift []float64) *Trace {
	show := func(r int, t int64) int64 { return t + offset[r] + int64(math.Round(drift[r]*float64(t))) }
	events := make([][]Event, len(p.events))
	for r, list := range p.events {
		events[r] = slices.Clone(list)
		for i := range events[r] {
			events[r][i].Time = show(r, events[r][i].Time)
		}
	}
	tr := memoryTrace(programRegions, nil, events...)
	end := slices.Max(p.now)
	for r := 1; r < len(p.events); r++ {
		parent := r & (r - 1) // without the lowest bit
		for _, at := range []int64{-20 * latency, end + latency} {
			there, back := 1+p.random.Int64N(3*latency), 1+p.random.Int64N(3*latency)
			tr.Locations[r].RoundTrips = append(tr.Locations[r].RoundTrips,
				RoundTrip{Partner: parent, Sent: show(r, at), Answered: show(parent, at+there), Back: show(r, at+there+back)})
		}
	}
	return tr
}

// truth is the program on one clock.
func (p *program) truth() *Trace { return memoryTrace(programRegions, nil, p.events...) }

func TestClocksOfAProgram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7))
		ranks := rapid.IntRange(2, 9).Draw(t, "ranks")
		p := newProgram(random, ranks, rapid.IntRange(1, 40).Draw(t, "steps"))
		offset, drift := make([]int64, ranks), make([]float64, ranks)
		for r := 1; r < ranks; r++ {
			offset[r] = random.Int64N(int64(unit.Second)) - int64(unit.Second)/2
			drift[r] = (random.Float64() - 0.5) * 200e-6
		}
		tr := p.trace(offset, drift)
		var report ClockReport
		tl, err := ToTimeline(tr, TimelineOptions{Clocks: &report})
		if err != nil {
			t.Fatal(err)
		}
		truth, err := ToTimeline(p.truth(), TimelineOptions{Clock: ClockNone})
		if err != nil {
			t.Fatal(err)
		}
		if tl.Problems.Violations > 0 || report.Source != "round trips" || report.After != (clock.Violations{}) {
			t.Fatalf("violations: %d; %+v", tl.Problems.Violations, report)
		}
		for i, l := range tl.Locations {
			if bound := l.ClockError; bound < 0 || bound > 100*unit.Microsecond || i == 0 && bound != 0 {
				t.Fatalf("rank %d: clock error %v", i, bound)
			}
			allowed := l.ClockError + report.Furthest
			for j := range l.Calls.Enter {
				for _, d := range []unit.Duration{l.Calls.Enter[j] - truth.Locations[i].Calls.Enter[j],
					l.Calls.Leave[j] - truth.Locations[i].Calls.Leave[j]} {
					if d < -l.ClockError || d > allowed {
						t.Fatalf("rank %d, call %d: wrong by %v, allowed %v", i, j, d, allowed)
					}
				}
			}
		}
		plain, err := ToTimeline(tr, TimelineOptions{Clock: ClockOffsets, Clocks: &report})
		if err != nil {
			t.Fatal(err)
		}
		for i, l := range plain.Locations {
			for j := range l.Calls.Enter {
				if d := l.Calls.Enter[j] - truth.Locations[i].Calls.Enter[j]; d < -l.ClockError || d > l.ClockError {
					t.Fatalf("rank %d, call %d: wrong by %v, bound %v", i, j, d, l.ClockError)
				}
			}
		}
		for r := range tr.Locations { // nothing is known, and the clocks are far apart
			tr.Locations[r].RoundTrips = nil
		}
		wild, err := ToTimeline(tr, TimelineOptions{Clock: ClockControl, Clocks: &report})
		if err != nil {
			t.Fatal(err)
		}
		if wild.Problems.Violations > 0 || report.After != (clock.Violations{}) {
			t.Fatalf("violations: %d; %+v", wild.Problems.Violations, report)
		}
		checkTimeline(t, tl)
		checkTimeline(t, wild)
		sameButTimes(t, truth, wild)
		sameButTimes(t, truth, tl)
		sameButTimes(t, truth, plain)
	})
}

// sameButTimes fails if two timelines differ in anything but times.
func sameButTimes(t *rapid.T, want, got *timeline.Timeline) {
	ignore := cmpopts.IgnoreTypes(unit.Duration(0), []unit.Duration{}, timeline.Problems{})
	if diff := gocmp.Diff(want, got, ignore); diff != "" {
		t.Fatalf("timelines differ (-truth +got):\n%s", diff)
	}
}

// Neither the number of threads nor the order of the locations changes anything.
func TestThreadsAndOrderOfLocationsDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 9))
		const ranks = 5
		p := newProgram(random, ranks, 10)
		offset := make([]int64, ranks)
		for r := range offset {
			offset[r] = int64(r) * 3 * latency
		}
		tr := p.trace(offset, make([]float64, ranks))
		o := TimelineOptions{Threads: 1, Clock: rapid.SampledFrom(Clocks()).Draw(t, "clock")}
		want, err := ToTimeline(tr, o)
		if err != nil {
			t.Fatal(err)
		}
		order := rapid.Permutation([]int{0, 1, 2, 3, 4}).Draw(t, "order")
		other := *tr
		other.Locations = make([]Location, ranks)
		for to, from := range order {
			l := tr.Locations[from]
			l.RoundTrips = slices.Clone(l.RoundTrips)
			for i := range l.RoundTrips {
				l.RoundTrips[i].Partner = slices.Index(order, l.RoundTrips[i].Partner)
			}
			other.Locations[to] = l
		}
		other.Open = func(i int) (EventReader, error) { return tr.Open(order[i]) }
		o.Threads = 4
		got, err := ToTimeline(&other, o)
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Fatalf("timelines differ (-one thread +four):\n%s", diff)
		}
	})
}

// Without comparisons of all clocks, nothing is known of some.
func TestClocksThatNobodyCompared(t *testing.T) {
	tr := memoryTrace(exchangeRegions, nil, exchange(1), exchange(0), nil)
	tr.Locations[1].RoundTrips = []RoundTrip{{Partner: 0, Sent: 1000, Answered: 1002, Back: 1004}, {Partner: 77}}
	var report ClockReport
	tl := toTimeline(t, tr, TimelineOptions{Clocks: &report})
	if got := []unit.Duration{tl.Locations[0].ClockError, tl.Locations[2].ClockError}; !slices.Equal(got, []unit.Duration{0, -1}) {
		t.Errorf("clock errors = %v, want 0 and -1", got)
	}
	if !slices.Equal(report.Unknown, []int{2}) || cmp.Compare(tl.Locations[1].ClockError, 2) < 0 {
		t.Errorf("unknown = %v, error of rank 1 = %v", report.Unknown, tl.Locations[1].ClockError)
	}
}

// Clocks returns the names of all ways to bring clocks together.
func Clocks() []Clock { return []Clock{ClockAuto, ClockOffsets, ClockControl, ClockNone} }
