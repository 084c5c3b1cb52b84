package devices

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// literal is the local path of METRICS-ACC.md 4, microsecond by microsecond.
type literal struct {
	*small
	waits []HostWait
	owner map[int]string // by the end of a microsecond
	steps int
}

func (l *literal) own(t int, who string) {
	if l.owner[t] != "" {
		panic("an instant has two owners")
	}
	l.owner[t] = who
}

func (l *literal) pathOf(o Op) string {
	if c := l.act(o).launch; c >= 0 {
		return l.calls[c].name + "/k"
	}
	return "k"
}

// tooLong ends a path of activities that wait for each other.
func (l *literal) tooLong() bool {
	l.steps++
	return l.steps > 2000
}

func (l *literal) start(o Op, t, until int) {
	a := l.act(o)
	if t <= until || l.tooLong() {
		return
	}
	type way struct {
		at   int
		name string
		on   func(t int)
	}
	var ways []way
	if o.Index > 0 {
		before := Op{o.At, o.Index - 1}
		ways = append(ways, way{l.act(before).end, l.pathOf(o), func(t int) { l.inside(before, t, until) }})
	}
	if x := l.awaited(o); x != None {
		ways = append(ways, way{min(l.act(x).end, a.begin), l.pathOf(o), func(t int) { l.inside(x, t, until) }})
	}
	if launch, ok := l.launch(a); ok {
		c := l.calls[a.launch]
		ways = append(ways, way{launch, c.name, func(t int) { l.thread(c.thread, t, until) }})
	}
	if len(ways) == 0 {
		return
	}
	latest := ways[0]
	for _, w := range ways {
		if w.at > latest.at {
			latest = w
		}
	}
	latest.at = min(latest.at, t)
	for ; t > latest.at && t > until; t-- {
		l.own(t, latest.name)
	}
	latest.on(latest.at)
}

func (l *literal) inside(o Op, t, until int) {
	a := l.act(o)
	for ; t > a.begin && t > until; t-- {
		if t > a.begin+a.full {
			l.own(t, l.pathOf(o))
		} else {
			l.own(t, fmt.Sprint("wait of ", o))
		}
	}
	l.start(o, t, until)
}

// callAt is the call of a thread just before t, -1: none.
func (l *literal) callAt(thread int32, t int) int {
	return slices.IndexFunc(l.calls, func(c smallCall) bool { return c.thread == thread && c.enter < t && t <= c.last })
}

func (l *literal) thread(thread int32, t, until int) {
	for ; t > until; t-- {
		if l.tooLong() {
			return
		}
		i := l.callAt(thread, t)
		if i < 0 {
			i = l.callAt(0, t)
		}
		if i < 0 {
			continue
		}
		c := l.calls[i]
		for _, w := range l.waits {
			if w.Thread == c.thread && w.Call == c.number && at(c.enter)+w.Amount == at(t) {
				l.inside(w.For, t, until)
				return
			}
		}
		if t <= c.enter+c.wait {
			l.own(t, fmt.Sprint("wait in call ", i))
		} else {
			l.own(t, c.name)
		}
	}
}

// owned keeps the owners of instants that a walk finds.
type owned struct {
	*Run
	owner map[int]string
	last  unit.Duration
	first bool
	err   string
}

func (o *owned) take(who string, from, to unit.Duration) bool {
	if from >= to || o.first && to > o.last {
		o.err = fmt.Sprintf("from %v to %v after %v", from, to, o.last)
	}
	o.first, o.last = true, from
	for t := from; t < to; t += us {
		o.owner[int(t/us)+1] = who
	}
	return true
}

func (o *owned) Path(path int32, from, to unit.Duration) bool {
	return o.take(o.paths.Names[path], from, to)
}

func (o *owned) Wait(state int32, from, to unit.Duration) bool {
	if state >= 1000 {
		return o.take(fmt.Sprint("wait in call ", state-1000), from, to)
	}
	return o.take(fmt.Sprint("wait of ", Op{state / 100, state % 100}), from, to)
}

// TestRandomWalks compares local paths with their definition, from every kind of place.
func TestRandomWalks(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	met := map[string]int{}
	for n := range 100 {
		s := newSmall(t, rnd)
		r := s.run
		hosts := r.HostWaits()
		var kernels []KernelWait
		for _, o := range s.all() {
			if full := s.act(o).full; full > 0 {
				kernels = append(kernels, KernelWait{Of: o, Full: at(full), State: -1})
			}
		}
		r.Count(kernels)
		for i := range kernels {
			kernels[i].State = 100*kernels[i].Of.At + kernels[i].Of.Index
		}
		r.Number(kernels)
		for i, c := range s.calls { // in the order of starts
			for _, w := range hosts {
				if w.Thread == c.thread && w.Call == c.number {
					r.HostState(c.thread, at(c.enter), w.Amount, -1, w.For)
				}
			}
			if c.wait > 0 {
				r.HostState(c.thread, at(c.enter), at(c.wait), int32(1000+i), None)
			}
		}
		for _, o := range s.all() {
			until := rnd.IntN(s.act(o).end)
			for _, from := range []string{"start", "inside", "call"} {
				want := &literal{small: s, waits: hosts, owner: map[int]string{}}
				got := &owned{Run: r, owner: map[int]string{}}
				switch a := s.act(o); from {
				case "start":
					want.start(o, a.begin, until)
					r.FromStart(o, at(a.begin)).Back(at(until), got)
				case "inside":
					want.inside(o, a.end, until)
					r.FromInside(o, at(a.end)).Back(at(until), got)
				case "call":
					want.thread(int32(n%2), a.end, until)
					r.FromCall(int32(n%2), at(a.end)).Back(at(until), got)
				}
				if want.steps > 2000 {
					continue // activities that wait for each other
				}
				if !maps.Equal(want.owner, got.owner) || got.err != "" {
					t.Fatalf("run %d, from %s of %v back to %d: %s (-want +got):\n%s", n, from, o, until, got.err, cmp.Diff(want.owner, got.owner))
				}
				for _, who := range want.owner {
					met[who]++
				}
			}
		}
	}
	for _, who := range []string{"k", "prepare", "cudaLaunchKernel/k", "wait of {0 0}", "wait in call 20"} {
		if met[who] < 20 {
			t.Errorf("only %d instants of %q were met", met[who], who)
		}
	}
}

// TestClip: of a walk counts what lies in the spans.
func TestClip(t *testing.T) {
	span := func(from, to unit.Duration) timeline.Span { return timeline.Span{From: from * us, To: to * us} }
	r := launchBound(t)
	got := &shares{r.paths, map[string]unit.Duration{}}
	c := Clip{got, []timeline.Span{span(1, 3), span(5, 6), span(9, 20)}}
	c.Wait(0, 2*us, 10*us) // 1 of the first, 1 of the second, 1 of the third
	if got.sums["wait"] != 3*us {
		t.Errorf("[2,10] counts %v, want 3us", got.sums["wait"])
	}
	c.Path(0, 3*us, 5*us)
	c.Path(0, 20*us, 30*us)
	if len(got.sums) != 1 {
		t.Errorf("what lies outside counts: %v", got.sums)
	}
}

// TestTimes: the times of activities by call path, the longest first, with the rank that has most of each.
func TestTimes(t *testing.T) {
	r := launchBound(t)
	want := []ActivityTime{{
		CallPath: "ProfilerStep/cudaLaunchKernel/add_kernel", Kind: "compute kernel", Count: 3, Time: unit.SumOf(30 * us),
		Most: unit.SumOf(30 * us),
	}}
	got := Times(r.tl, r.paths)
	want[0].Path = got[0].Path
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("times (-want +got):\n%s", diff)
	}
}
