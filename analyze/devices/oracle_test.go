package devices

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"slackline/analyze/profile"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// small is a random run of one rank: what METRICS-ACC.md says of it is computed here instant by instant, in whole microseconds.
type small struct {
	calls   []smallCall // of the master, then of another thread: one after the other
	streams []smallStream
	run     *Run
}

type smallCall struct {
	thread, number int32 // in the timeline
	name           string
	enter, last    int
	ref            *timeline.Reference
	wait           int // for another process, from its start on
}

type smallStream struct {
	device int
	acts   []smallAct
}

type smallAct struct {
	begin, end int
	launch     int // call, -1: not known
	kind       timeline.ActivityKind
	full       int // how long it waits for another process
}

func at(t int) unit.Duration { return unit.Duration(t) * us }

func (s *small) act(o Op) *smallAct { return &s.streams[o.At].acts[o.Index] }

// newSmall draws a run: two streams of a device and one of another.
func newSmall(t *testing.T, rnd *rand.Rand) *small {
	t.Helper()
	s := &small{}
	b := timeline.NewBuilder(1)
	names := []string{
		"cudaLaunchKernel", "prepare", "cudaMemcpy", "cudaMemcpyAsync", "cudaDeviceSynchronize", "cudaStreamSynchronize_v3020",
		"cudaEventSynchronize", "cudaStreamWaitEvent", "MPI_Recv",
	}
	var references []timeline.Reference
	for thread := range int32(2) {
		l := b.Location(0, int(thread), fmt.Sprint(thread), "")
		now := int(thread) * rnd.IntN(20)
		for number := range int32(12) {
			now += rnd.IntN(12)
			c := smallCall{thread, number, names[rnd.IntN(len(names))], now, now + 1 + rnd.IntN(30), nil, 0}
			l.Enter(at(c.enter), b.Region(timeline.Region{Name: c.name}))
			l.Leave(at(c.last))
			now = c.last
			if rnd.IntN(2) == 0 { // of streams the index, which is as they are made
				ref := timeline.Reference{
					Location: thread, Call: number, Stream: int32(rnd.IntN(5) - 2), Device: int32(rnd.IntN(4) - 1), Event: int32(rnd.IntN(4) - 1),
					Recorded: at(rnd.IntN(c.enter + 1)),
				}
				references = append(references, ref)
				c.ref = &ref
			}
			if c.name == "MPI_Recv" {
				c.wait = 1 + rnd.IntN(c.last-c.enter)
			}
			s.calls = append(s.calls, c)
		}
	}
	tl := b.Finish(1)
	d := timeline.NewDeviceBuilder(tl)
	for k, dev := range []int{0, 0, 1} {
		on := smallStream{device: dev}
		sb := d.Stream(0, dev, int64(k), fmt.Sprint(dev, ":", k))
		end := 0
		for range rnd.IntN(6) {
			a := smallAct{launch: rnd.IntN(len(s.calls)+2) - 2, kind: timeline.ActivityKind(max(rnd.IntN(6)-2, 0))}
			a.launch = max(a.launch, -1)
			a.begin = end + rnd.IntN(50)
			a.end = a.begin + 1 + rnd.IntN(40)
			end = a.end
			launch := timeline.NoLaunch
			if a.launch >= 0 {
				launch = timeline.Launch{Thread: s.calls[a.launch].thread, Call: s.calls[a.launch].number}
			}
			if a.kind == timeline.CommunicationKernel {
				a.full = rnd.IntN(a.end - a.begin + 1)
			}
			sb.Add(at(a.begin), at(a.end), d.Region("k"), a.kind, launch)
			on.acts = append(on.acts, a)
		}
		s.streams = append(s.streams, on)
	}
	d.Finish(references)
	paths, err := profile.NewPaths(tl)
	if err != nil {
		t.Fatal(err)
	}
	s.run = New(tl, paths, profile.NewWindows(tl, paths, 1), 1+rnd.IntN(3))
	return s
}

// launched is when an activity counts as launched (section 2.2), launch when it could begin (section 1); false: it is not known.
func (s *small) launched(a *smallAct) int {
	if a.launch < 0 {
		return a.begin
	}
	return s.calls[a.launch].enter
}

func (s *small) launch(a *smallAct) (int, bool) {
	return min(s.launched(a), a.begin), a.launch >= 0
}

// ready is r0 of section 2.2.
func (s *small) ready(o Op) (int, bool) {
	t, ok := s.launch(s.act(o))
	if o.Index > 0 {
		end := s.act(Op{o.At, o.Index - 1}).end
		if !ok {
			return end, true
		}
		return max(end, t), true
	}
	return t, ok
}

// all lists the activities, stream by stream.
func (s *small) all() (list []Op) {
	for k := range s.streams {
		for i := range s.streams[k].acts {
			list = append(list, Op{int32(k), int32(i)})
		}
	}
	return list
}

// last is the last activity of a stream that was launched before a moment.
func (s *small) last(stream int32, t int) Op {
	found := None
	for i := range s.streams[stream].acts {
		if s.launched(&s.streams[stream].acts[i]) < t {
			found = Op{stream, int32(i)}
		}
	}
	return found
}

// awaited is what of E of section 2.2 ends last: what is known, else what is inferred.
func (s *small) awaited(o Op) Op {
	a := s.act(o)
	r0, ok := s.ready(o)
	best := None
	for _, c := range s.calls {
		if c.name != "cudaStreamWaitEvent" || c.ref == nil || c.ref.Stream != o.At || c.ref.Event < 0 || c.ref.Event == o.At {
			continue
		}
		first := slices.IndexFunc(s.streams[o.At].acts, func(x smallAct) bool { return x.launch >= 0 && s.launched(&x) >= c.enter })
		if x := s.last(c.ref.Event, int(c.ref.Recorded/us)); first == int(o.Index) && x != None {
			if best == None || s.act(x).end > s.act(best).end || s.act(x).end == s.act(best).end && x.At < best.At {
				best = x
			}
		}
	}
	if best != None {
		return best
	}
	if !ok || a.begin-r0 <= 20 {
		return best
	}
	for _, x := range s.all() {
		y := s.act(x)
		before := s.launched(y) < s.launched(a)
		if a.launch < 0 || y.launch < 0 {
			before = y.begin < a.begin
		}
		if x.At != o.At && before && y.end > r0 && y.end <= a.begin && (best == None || y.end > s.act(best).end) {
			best = x
		}
	}
	return best
}

// hostWaits is section 3.1.
func (s *small) hostWaits() (list []HostWait) {
	for i, c := range s.calls {
		ref := timeline.Reference{Stream: -1, Device: -1, Event: -1}
		if c.ref != nil {
			ref = *c.ref
		}
		known := slices.ContainsFunc(s.streams, func(x smallStream) bool { return x.device == int(ref.Device) })
		x := None
		for _, o := range s.all() {
			a := s.act(o)
			if x != None && a.end <= s.act(x).end {
				continue
			}
			takes := false
			switch {
			case strings.HasPrefix(c.name, "cudaMemcpy"):
				takes = a.launch == i && a.kind == timeline.Copy
			case c.name == "cudaDeviceSynchronize":
				takes = o == s.last(o.At, c.enter) && (!known || s.streams[o.At].device == int(ref.Device))
			case c.name == "cudaStreamSynchronize_v3020" && ref.Stream != -1:
				takes = ref.Stream == o.At && o == s.last(o.At, c.enter)
			case c.name == "cudaEventSynchronize" && ref.Event != -1:
				takes = ref.Event == o.At && o == s.last(o.At, int(ref.Recorded/us))
			case c.name == "cudaStreamSynchronize_v3020", c.name == "cudaEventSynchronize":
				takes = s.launched(a) < c.enter && a.end <= c.last
			}
			if takes {
				x = o
			}
		}
		if x == None || c.name == "cudaMemcpyAsync" && c.last < s.act(x).end {
			continue
		}
		if amount := min(s.act(x).end, c.last) - c.enter; amount > 0 {
			list = append(list, HostWait{c.thread, c.number, x, at(amount)})
		}
	}
	return list
}

// device computes sections 3.2 to 3.4 and 8 for a device: what every microsecond of its span belongs to.
func (s *small) device(number int) (use Use, idle, kernels, held map[Op]int) {
	idle, kernels, held = map[Op]int{}, map[Op]int{}, map[Op]int{}
	var list []Op
	for _, o := range s.all() {
		if s.streams[o.At].device == number {
			list = append(list, o)
		}
	}
	if len(list) == 0 {
		return use, idle, kernels, held
	}
	slices.SortStableFunc(list, func(x, y Op) int { return s.act(x).begin - s.act(y).begin })
	byReady := slices.DeleteFunc(slices.Clone(list), func(o Op) bool {
		return s.act(o).kind != timeline.ComputeKernel || s.awaited(o) == None
	})
	slices.SortStableFunc(byReady, func(x, y Op) int {
		a, _ := s.ready(x)
		b, _ := s.ready(y)
		return a - b
	})
	first, last := s.act(list[0]).begin, 0
	for _, o := range list {
		last = max(last, s.act(o).end)
	}
	ended := first // end of what ran last
	for t := range last {
		runs, computes, works, transfers, counts := false, false, false, false, None
		next := None // what begins next
		for _, o := range list {
			a := s.act(o)
			if a.begin > t && next == None {
				next = o
			}
			if t < a.begin || t >= a.end {
				continue
			}
			runs, ended = true, max(ended, a.end)
			switch {
			case a.kind == timeline.ComputeKernel:
				computes, works = true, true
			case t >= a.begin+a.full:
				works, transfers = true, true
			case counts == None:
				counts = o
			}
			if t < a.begin+a.full {
				use.Hidden.Add(us)
			}
		}
		counted := computes
		switch {
		case t < first:
		case computes:
			use.Computing += us
			if transfers {
				use.Overlap += us
			}
		case works:
			use.Exposed += us
		case counts != None:
			use.Waiting += us
			kernels[counts]++
			counted = true
		case runs:
			panic("it runs, but does nothing")
		default:
			if launch, ok := s.launch(s.act(next)); ok && launch > t && launch > ended {
				use.Idle += us
				idle[next]++
				counted = true
			} else {
				use.Latency += us
			}
		}
		if runs {
			use.Busy += us
		}
		for _, o := range byReady {
			r0, _ := s.ready(o)
			if !counted && t >= r0 && t < min(s.act(s.awaited(o)).end, s.act(o).begin) {
				held[o]++
				break
			}
		}
	}
	for _, o := range list {
		a := s.act(o)
		if launch, ok := s.launch(a); ok {
			use.Queue.Add(at(a.begin - launch))
		}
		if a.kind <= timeline.CommunicationKernel {
			use.Kernels++
		} else {
			use.Copies++
		}
	}
	use.Hidden.Add(-use.Waiting)
	use.Span = at(last - first)
	return use, idle, kernels, held
}

// TestRandomRuns compares what is counted with the definitions, instant by instant.
func TestRandomRuns(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	met := map[string]int{}
	for n := range 1000 {
		s := newSmall(t, rnd)
		r := s.run
		for _, o := range s.all() {
			if got, want := r.Event(o), s.awaited(o); got != want {
				t.Fatalf("run %d: activity %v waited for %v, want %v", n, o, got, want)
			} else if got != None {
				met["event"]++
			}
		}
		wantHosts := s.hostWaits()
		met["host"] += len(wantHosts)
		if diff := cmp.Diff(wantHosts, r.HostWaits(), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("run %d: waits of the host (-want +got):\n%s", n, diff)
		}
		var waits []KernelWait
		for _, o := range s.all() {
			if full := s.act(o).full; full > 0 {
				waits = append(waits, KernelWait{Of: o, Full: at(full)})
			}
		}
		rnd.Shuffle(len(waits), func(i, j int) { waits[i], waits[j] = waits[j], waits[i] })
		r.Count(waits)
		gotIdle, gotKernels, gotHeld := map[Op]int{}, map[Op]int{}, map[Op]int{}
		for _, w := range r.Idles() {
			gotIdle[w.Of] += int(w.Amount / us)
		}
		for _, w := range waits {
			if sum := length(w.Spans); sum > 0 {
				gotKernels[w.Of] += int(sum / us)
			}
		}
		for _, w := range r.Helds() {
			gotHeld[w.Of] += int(length(w.Spans) / us)
			if w.For != s.awaited(w.Of) {
				t.Fatalf("run %d: %v is held by %v, want %v", n, w.Of, w.For, s.awaited(w.Of))
			}
		}
		for _, use := range r.Uses() {
			want, idle, kernels, held := s.device(use.Device)
			if use.Span != use.Computing+use.Exposed+use.Waiting+use.Idle+use.Latency {
				t.Fatalf("run %d: the parts of %+v do not sum to the span", n, use)
			}
			wantStreams := 2 - use.Device
			if len(use.Streams) != wantStreams {
				t.Fatalf("run %d: device %d has streams %q, want %d", n, use.Device, use.Streams, wantStreams)
			}
			want.Device, use.Streams = use.Device, nil
			if diff := cmp.Diff(want, use); diff != "" {
				t.Fatalf("run %d: device %d (-want +got):\n%s", n, use.Device, diff)
			}
			for what, sums := range map[string][2]map[Op]int{"idle": {idle, gotIdle}, "kernel": {kernels, gotKernels}, "held": {held, gotHeld}} {
				for o, amount := range sums[0] {
					if sums[1][o] != amount {
						t.Fatalf("run %d: %s of %v is %d us, want %d", n, what, o, sums[1][o], amount)
					}
					delete(sums[1], o)
					met[what]++
				}
			}
		}
		if len(gotIdle)+len(gotKernels)+len(gotHeld) > 0 {
			t.Fatalf("run %d: more is counted: idle %v, kernels %v, held %v", n, gotIdle, gotKernels, gotHeld)
		}
	}
	for _, what := range []string{"event", "host", "idle", "kernel", "held"} {
		if met[what] < 100 {
			t.Errorf("only %d of %q were met", met[what], what)
		}
	}
}
