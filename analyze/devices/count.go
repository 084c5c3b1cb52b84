package devices

import (
	"cmp"
	"slices"
	"sort"

	"slackline/internal/parallel"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// device is some streams of a rank.
type device struct {
	rank, number int
	from, to     int32 // streams
	use          Use
	idle         []Idle
	held         []Held
}

// Idle is a wait of a device on which nothing runs for the launch of the activity that it runs next.
type Idle struct {
	Of     Op
	From   unit.Duration // end of the last activity
	Amount unit.Duration
}

// Held is a wait of the compute kernels of a device for copies, communication or another device.
type Held struct {
	Of, For Op
	Spans   []timeline.Span
}

// KernelWait is the wait of a communication kernel for another process, from its start on.
type KernelWait struct {
	Of    Op
	Full  unit.Duration
	State int32 // number that it has for the caller
	// Spans are the parts in which the device did nothing else: what counts. Set by Count.
	Spans []timeline.Span
}

// Use is what a device did with its time. Span is the sum of Computing, Exposed, Waiting, Idle and Latency.
type Use struct {
	Rank      int           `json:"rank"`
	Device    int           `json:"device"`
	Streams   []string      `json:"streams"`
	Span      unit.Duration `json:"span_s"`      // from the first start to the last end
	Computing unit.Duration `json:"computing_s"` // a compute kernel runs
	Exposed   unit.Duration `json:"exposed_s"`   // none does, but a copy, a memset or communication works
	Waiting   unit.Duration `json:"waiting_s"`   // communication kernels wait for another process, and nothing else runs
	Idle      unit.Duration `json:"idle_s"`      // nothing runs before the next launch
	Latency   unit.Duration `json:"latency_s"`   // nothing runs after it
	Busy      unit.Duration `json:"busy_s"`      // something runs
	Hidden    unit.Sum      `json:"hidden_s"`    // waiting of communication kernels while something else works, or while another one waits already
	Overlap   unit.Duration `json:"overlap_s"`   // copies and communication while a compute kernel runs
	Queue     unit.Sum      `json:"queue_s"`     // sum of the times from the launches to the starts of the activities
	Kernels   int64         `json:"kernels"`
	Copies    int64         `json:"copies"`
}

// Count finds what the waits of communication kernels cost their devices, and the other waits of devices. It is called once.
func (r *Run) Count(waits []KernelWait) {
	byStream := make([][]int, len(r.streams))
	for i := range waits {
		w := &waits[i]
		s := &r.streams[w.Of.At]
		if s.full == nil {
			s.full, s.state = make([]unit.Duration, s.Len()), make([]int32, s.Len())
		}
		s.full[w.Of.Index], s.state[w.Of.Index] = w.Full, w.State
		byStream[w.Of.At] = append(byStream[w.Of.At], i)
	}
	parallel.Each(len(r.devices), r.threads, func(i int) { r.countDevice(&r.devices[i], waits, byStream) })
}

// Uses returns what the devices did, by rank and device; after Count.
func (r *Run) Uses() []Use {
	list := make([]Use, 0, len(r.devices))
	for i := range r.devices {
		list = append(list, r.devices[i].use)
	}
	return list
}

// Idles and Helds return the waits of devices inside their process, by device; after Count.
func (r *Run) Idles() (list []Idle) {
	for i := range r.devices {
		list = append(list, r.devices[i].idle...)
	}
	return list
}

func (r *Run) Helds() (list []Held) {
	for i := range r.devices {
		list = append(list, r.devices[i].held...)
	}
	return list
}

// fullOf is how long an activity waited for another process.
func (s *stream) fullOf(i int32) unit.Duration {
	if s.full == nil {
		return 0
	}
	return s.full[i]
}

// inOrder lists the activities of a device by start, then stream.
func (r *Run) inOrder(d *device) []Op {
	var list []Op
	for k := d.from; k < d.to; k++ {
		for i := range r.streams[k].Len() {
			list = append(list, Op{k, int32(i)})
		}
	}
	begin := func(o Op) unit.Duration { return r.streams[o.At].Begin[o.Index] }
	slices.SortFunc(list, func(x, y Op) int {
		return cmp.Or(cmp.Compare(begin(x), begin(y)), cmp.Compare(x.At, y.At), cmp.Compare(x.Index, y.Index))
	})
	return list
}

// countDevice counts the waits of a device.
func (r *Run) countDevice(d *device, waits []KernelWait, byStream [][]int) {
	u := &d.use
	u.Rank, u.Device = d.rank, d.number
	for k := d.from; k < d.to; k++ {
		u.Streams = append(u.Streams, r.streams[k].Name)
	}
	list := r.inOrder(d)
	if len(list) == 0 {
		return
	}
	var busy, work, compute, rest []timeline.Span
	first, last := r.streams[list[0].At].Begin[list[0].Index], unit.Duration(0)
	last = first
	for _, o := range list {
		s, i := &r.streams[o.At], o.Index
		b, e := s.Begin[i], s.End[i]
		if b > last {
			d.gap(s, o, last)
		}
		last = max(last, e)
		busy = append(busy, timeline.Span{From: b, To: e})
		work = append(work, timeline.Span{From: b + s.fullOf(i), To: e})
		if s.Kind[i] == timeline.ComputeKernel {
			compute = append(compute, timeline.Span{From: b, To: e})
		} else {
			rest = append(rest, timeline.Span{From: b + s.fullOf(i), To: e})
		}
		if s.Launch[i].Known() {
			u.Queue.Add(b - s.launch(i))
		}
		if s.Kind[i] <= timeline.CommunicationKernel {
			u.Kernels++
		} else {
			u.Copies++
		}
	}
	busy, work, compute, rest = unite(busy), unite(work), unite(compute), unite(rest)
	counted := r.countKernels(d, waits, byStream, work)
	r.countHeld(d, list, unite(slices.Concat(counted, compute, d.idleSpans())))
	u.Span, u.Busy, u.Computing = last-first, length(busy), length(compute)
	u.Exposed, u.Waiting = length(work)-u.Computing, length(unite(counted))
	for _, w := range d.idle {
		u.Idle += w.Amount
	}
	u.Latency = u.Span - u.Busy - u.Idle
	u.Overlap = length(rest) + u.Computing - length(unite(append(slices.Clone(rest), compute...)))
	for k := d.from; k < d.to; k++ {
		for _, i := range byStream[k] {
			u.Hidden.Add(waits[i].Full)
		}
	}
	u.Hidden.Add(-u.Waiting)
}

// gap is the end of a time in which nothing ran: what was launched late.
func (d *device) gap(s *stream, o Op, from unit.Duration) {
	if s.Launch[o.Index].Known() && s.launch(o.Index) > from {
		d.idle = append(d.idle, Idle{o, from, s.launch(o.Index) - from})
	}
}

func (d *device) idleSpans() []timeline.Span {
	var list []timeline.Span
	for _, w := range d.idle {
		list = append(list, timeline.Span{From: w.From, To: w.From + w.Amount})
	}
	return list
}

// countKernels counts the waits of communication kernels: where nothing works, each instant for the first of them. It returns all that
// counts.
func (r *Run) countKernels(d *device, waits []KernelWait, byStream [][]int, work []timeline.Span) []timeline.Span {
	var order []int
	for k := d.from; k < d.to; k++ {
		order = append(order, byStream[k]...)
	}
	begin := func(i int) unit.Duration { return r.streams[waits[i].Of.At].Begin[waits[i].Of.Index] }
	slices.SortFunc(order, func(x, y int) int {
		return cmp.Or(cmp.Compare(begin(x), begin(y)), cmp.Compare(waits[x].Of.At, waits[y].Of.At), cmp.Compare(waits[x].Of.Index,
			waits[y].Of.Index))
	})
	var all []timeline.Span
	done := unit.Duration(0)
	for n, i := range order {
		w := &waits[i]
		b := begin(i)
		from, to := b, b+w.Full
		if n > 0 {
			from = max(from, done)
		}
		w.Spans = without(timeline.Span{From: from, To: to}, work)
		all = append(all, w.Spans...)
		if n == 0 || to > done { // up to then all that is free counts for those so far
			done = to
		}
	}
	return all
}

// countHeld finds the compute kernels that were held back by something else than computation.
func (r *Run) countHeld(d *device, list []Op, taken []timeline.Span) {
	type candidate struct {
		of    Op
		ready unit.Duration
	}
	var order []candidate
	for _, o := range list {
		s := &r.streams[o.At]
		if s.Kind[o.Index] != timeline.ComputeKernel || s.event[o.Index] == None {
			continue
		}
		if ready, ok := s.ready(o.Index); ok {
			order = append(order, candidate{o, ready})
		}
	}
	slices.SortFunc(order, func(x, y candidate) int {
		return cmp.Or(cmp.Compare(x.ready, y.ready), cmp.Compare(x.of.At, y.of.At), cmp.Compare(x.of.Index, y.of.Index))
	})
	done := unit.Duration(0)
	for n, c := range order {
		s := &r.streams[c.of.At]
		on := s.event[c.of.Index]
		from, to := c.ready, min(r.end(on), s.Begin[c.of.Index])
		if n > 0 {
			from = max(from, done)
		}
		if spans := without(timeline.Span{From: from, To: to}, taken); len(spans) > 0 {
			d.held = append(d.held, Held{c.of, on, spans})
		}
		if n == 0 || to > done {
			done = to
		}
	}
}

// unite returns the union of spans as disjoint ones in order.
func unite(list []timeline.Span) []timeline.Span {
	byStart := func(x, y timeline.Span) int { return cmp.Compare(x.From, y.From) }
	if !slices.IsSortedFunc(list, byStart) {
		slices.SortFunc(list, byStart)
	}
	n := 0
	for _, s := range list {
		switch {
		case s.To <= s.From:
		case n > 0 && s.From <= list[n-1].To:
			list[n-1].To = max(list[n-1].To, s.To)
		default:
			list[n] = s
			n++
		}
	}
	return list[:n]
}

// without returns what is left of a span outside of disjoint ones in order.
func without(s timeline.Span, others []timeline.Span) []timeline.Span {
	var left []timeline.Span
	i := sort.Search(len(others), func(i int) bool { return others[i].To > s.From })
	for ; i < len(others) && others[i].From < s.To; i++ {
		if others[i].From > s.From {
			left = append(left, timeline.Span{From: s.From, To: others[i].From})
		}
		s.From = max(s.From, others[i].To)
	}
	if s.From < s.To {
		left = append(left, s)
	}
	return left
}

// length is the sum of spans.
func length(list []timeline.Span) unit.Duration {
	sum := unit.Duration(0)
	for _, s := range list {
		sum += s.To - s.From
	}
	return sum
}
