package whatif

import (
	"slackline/analyze/simulate"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// place is where an influence ends; 0: nowhere yet. The places are, for step i of n, its end
// (1 + 2i) and, of a receive, its start, where its message found the CPU or the NIC busy (2 + 2i),
// and the finish of rank r (1 + 2n + r).
type place uint32

func endOf(step int) place     { return place(1 + 2*step) }
func arrivalAt(step int) place { return place(2 + 2*step) }

func (w *attributionWork) finishOf(rank int) place { return place(1 + 2*w.causes.Len() + rank) }

// find returns the rank and the time of a place.
func (w *attributionWork) find(p place) (rank int, at unit.Duration) {
	if p >= w.finishOf(0) {
		rank = int(p - w.finishOf(0))
		return rank, w.run.Finish[rank]
	}
	s := w.causes.Step(int(p-1) / 2)
	if p&1 == 1 {
		return int(s.Rank), s.End
	}
	return int(s.Rank), s.Start
}

// latest returns the later of two places, the first in number of equally late ones.
func (w *attributionWork) latest(a, b place) place {
	if a == b || b == 0 {
		return a
	}
	if a == 0 {
		return b
	}
	_, x := w.find(a)
	_, y := w.find(b)
	if x > y || x == y && a < b {
		return a
	}
	return b
}

// settle accounts for all noise. It goes through the steps from the last one to the first, so that all
// that a step has caused is known before the step itself.
func (w *attributionWork) settle() {
	if w.noise == nil {
		return
	}
	n := w.causes.Len()
	w.ofEnd, w.ofMessage, w.ofStart = make([]place, n), make([]place, n), make([]place, n)
	w.ways = make([]way, 1+2*n+len(w.run.Finish))
	for i := range n {
		w.cpus = max(w.cpus, int(w.causes.Step(i).CPU)+1)
	}
	w.next = make([]unit.Duration, len(w.run.Finish)*w.cpus)
	for i := range w.next {
		w.next[i] = -1
	}
	for rank, p := range w.causes.Finish {
		end := w.finishOf(rank)
		w.ways[end] = untilFinish
		if w.run.Finish[rank] == w.run.Makespan {
			w.ways[end] = besideTie
		}
		w.reach(p, end)
	}
	for i := n - 1; i >= 0; i-- {
		w.settleStep(i)
	}
}

// reach notes that the influence of a point goes as far as a place.
func (w *attributionWork) reach(p simulate.Point, end place) {
	list := w.ofStart
	switch p.Edge {
	case simulate.FromRunStart:
		return
	case simulate.FromEnd:
		list = w.ofEnd
	case simulate.FromMessage:
		list = w.ofMessage
	}
	list[p.Step] = w.latest(list[p.Step], end)
}

func (w *attributionWork) settleStep(i int) {
	s := w.causes.Step(i)
	next := &w.next[int(s.Rank)*w.cpus+int(s.CPU)]
	if w.ofEnd[i] == 0 {
		w.ofEnd[i] = endOf(i)
		w.ways[endOf(i)] = inWait
		if *next == s.End {
			w.ways[endOf(i)] = besideTie
		}
	}
	*next = s.Start
	if s.Kind == timeline.Receive && s.Edge != simulate.FromMessage {
		w.lost(i, s)
	}
	early := w.latest(w.ofEnd[i], w.ofMessage[i])

	parts := w.parts(i)
	byEnd := w.left[i]&leftByEnd != 0
	w.enterPart(s, &parts[0], early, byEnd || w.left[i]&leftByMessage != 0)
	w.enterPart(s, &parts[1], w.ofEnd[i], byEnd)
	w.reach(s.Because(), w.latest(early, w.ofStart[i]))
}

// lost ends the influence of a message whose arrival did not determine when it was taken in.
func (w *attributionWork) lost(i int, s *simulate.Step) {
	send := w.causes.Step(int(s.Of))
	c := w.causes.Cost(send)
	w.ways[arrivalAt(i)] = atBusy
	if left, _ := w.finish(int(s.Of), c.Overhead); left+c.Latency == int64(s.Start) {
		w.ways[arrivalAt(i)] = besideTie
	}
	w.reach(simulate.Point{Step: s.Of, Edge: simulate.FromMessage}, arrivalAt(i))
}

// enterPart accounts for a part of the noise of a step whose influence ends at a place.
func (w *attributionWork) enterPart(s *simulate.Step, p *noisePart, end place, critical bool) {
	if critical {
		w.enter(int(s.Rank), p, onPath, int(s.Rank))
		return
	}
	rank, _ := w.find(end)
	w.enter(int(s.Rank), p, w.ways[end], rank)
}
