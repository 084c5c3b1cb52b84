package whatif

import (
	"slackline/analyze/simulate"
	"slackline/model/noise"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// way is what became of noise.
type way uint8

const (
	onPath way = iota
	inWait
	atBusy
	behindBytes
	besideTie
	untilFinish
	numWays
)

// ledger is noise by what became of it.
type ledger [numWays]int64

func (l *ledger) account() Account {
	a := Account{
		Critical: unit.Nanoseconds(l[onPath]),
		Waiting:  unit.Nanoseconds(l[inWait]),
		Busy:     unit.Nanoseconds(l[atBusy]),
		Transfer: unit.Nanoseconds(l[behindBytes]),
		Tied:     unit.Nanoseconds(l[besideTie]),
		Finish:   unit.Nanoseconds(l[untilFinish]),
	}
	a.Absorbed = a.Waiting + a.Busy + a.Transfer + a.Tied + a.Finish
	a.Injected = a.Critical + a.Absorbed
	return a
}

// attributionWork is the state of an attribution.
type attributionWork struct {
	run    *simulate.Result
	causes *simulate.Causes
	noise  *noise.Injection // nil: none
	left   []uint8          // by step: how the critical path leaves it
	// positions of the steps in the noise at their starts; nil: that is the simulated time.
	positions []int64

	// By step: where the influence of its end, of its message, and of its start alone ends last.
	// The influence of the start includes the other two when a step is done.
	ofEnd, ofMessage, ofStart []place
	ways                      []way // by place: how it absorbs
	cpus                      int
	next                      []unit.Duration // by rank and CPU: start of the step after, -1: none

	labels   []string // of the sources, each once
	merged   []int    // by label of the injection: its place in labels
	sums     []int64  // noise of an interval by label of the injection
	total    ledger
	byRank   []ledger
	bySource []ledger
	here     []int64 // by rank: noise whose influence ended there
	overflow bool
}

func newAttributionWork(r *simulate.Result, in *noise.Injection) *attributionWork {
	w := &attributionWork{run: r, causes: r.Causes, noise: in, positions: r.Causes.Positions(in)}
	steps, ranks := r.Causes.Len(), len(r.Finish)
	w.left = make([]uint8, steps)
	w.byRank, w.here = make([]ledger, ranks), make([]int64, ranks)
	if in == nil {
		return w
	}
	known := make(map[string]int)
	for _, label := range in.Labels() {
		i, ok := known[label]
		if !ok {
			i = len(w.labels)
			known[label] = i
			w.labels = append(w.labels, label)
		}
		w.merged = append(w.merged, i)
	}
	w.sums = make([]int64, len(w.merged))
	w.bySource = make([]ledger, len(w.labels))
	return w
}

// noisePart is the noise in a span of time in which a step had work.
type noisePart struct {
	from, to int64
	position int64 // in the noise, at from
	noise    int64
	hidden   int64 // of the noise, its first part, that bytes on their way in hid
}

// parts returns the noise of a step: of a send that before its message leaves and that after, of a
// receive that in the CPU work for its bytes and that in its overhead.
func (w *attributionWork) parts(step int) (p [2]noisePart) {
	if w.noise == nil {
		return p
	}
	s := w.causes.Step(step)
	start, end := int64(s.Start), int64(s.End)
	p[0] = noisePart{from: start, to: end, position: w.position(step)}
	switch s.Kind {
	case timeline.Compute:
		p[0].noise, _ = w.between(int(s.Rank), &p[0], end)
	case timeline.Send:
		c := w.causes.Cost(s)
		leaves, at := w.finish(step, c.Overhead)
		p[0].to, p[0].noise = leaves, leaves-start-c.Overhead
		p[1] = noisePart{from: leaves, to: end, position: at, noise: end - leaves - c.CPUBytes}
	case timeline.Receive:
		c := w.causes.Cost(s)
		bytes, at := w.finish(step, c.CPUBytes)
		p[0].to, p[0].noise = bytes, bytes-start-c.CPUBytes
		p[0].hidden = min(p[0].noise, max(c.Bytes-c.CPUBytes, 0))
		in := max(bytes, start+c.Bytes)
		if w.positions == nil {
			at = in
		}
		p[1] = noisePart{from: in, to: end, position: at, noise: end - in - c.Overhead}
	}
	return p
}

// position returns where the CPU of a step is in the noise when the step starts.
func (w *attributionWork) position(step int) int64 {
	if w.positions == nil {
		return int64(w.causes.Step(step).Start)
	}
	return w.positions[step]
}

// finish returns when work ends that begins with a step, and at which position in the noise.
func (w *attributionWork) finish(step int, work int64) (end, position int64) {
	s, hint := w.causes.Step(step), int32(0)
	switch {
	case w.noise == nil:
		end = int64(s.Start) + work
	case w.positions == nil:
		end = w.noise.Finish(int(s.Rank), int64(s.Start), work, &hint)
	default:
		position = w.positions[step]
		end = w.noise.Advance(int(s.Rank), int64(s.Start), work, &position, &hint)
		return end, position
	}
	return end, end
}

// between returns the noise on a rank from the start of a part to a later time, and the position in the
// noise then. It leaves the noise by source in sums.
func (w *attributionWork) between(rank int, p *noisePart, to int64) (sum, position int64) {
	clear(w.sums)
	position = w.noise.BySource(rank, p.from, to, p.position, w.sums)
	for _, n := range w.sums {
		sum += n
	}
	return sum, position
}

// enter accounts for a part: what bytes hid, and the rest by what became of it at a rank.
func (w *attributionWork) enter(rank int, p *noisePart, by way, at int) {
	if p.noise == 0 {
		return
	}
	middle := p.from
	switch p.hidden {
	case 0:
	case p.noise:
		middle = p.to
	default:
		// The first moment before which there is as much noise as was hidden.
		low, high := p.from, p.to
		for low < high {
			m := low + (high-low)/2
			if noise, _ := w.between(rank, p, m); noise < p.hidden {
				low = m + 1
			} else {
				high = m
			}
		}
		middle = low
	}
	rest := *p
	rest.from = middle
	rest.position = w.book(rank, p, middle, behindBytes, rank)
	w.book(rank, &rest, p.to, by, at)
}

// book accounts for the noise on a rank from the start of a part to a later time, and returns the position in
// the noise then.
func (w *attributionWork) book(rank int, p *noisePart, to int64, by way, at int) int64 {
	if p.from >= to {
		return p.position
	}
	noise, position := w.between(rank, p, to)
	w.add(&w.total[by], noise)
	w.add(&w.byRank[rank][by], noise)
	for i, n := range w.sums {
		w.add(&w.bySource[w.merged[i]][by], n)
	}
	if by != onPath {
		w.add(&w.here[at], noise)
	}
	return position
}

// ledgerBound bounds every entry of a ledger, so that their sum fits too.
const ledgerBound = (1<<63 - 1) / int64(numWays)

func (w *attributionWork) add(sum *int64, n int64) {
	if n > ledgerBound-*sum {
		w.overflow = true
		return
	}
	*sum += n
}
