package waits

import "sync/atomic"

// messagesDone is the part of an analysis that reading messages is, about; the rest is the backward pass.
const messagesDone = 0.4

// meter reports how much of an analysis is done.
type meter struct {
	report   func(done float64) // nil: nothing is reported
	from, to float64            // parts of the whole that are done when a step begins and ends
	all      int                // items of the step
	done     atomic.Int64
}

// begin begins a step with so many items.
func (p *meter) begin(from, to float64, all int) {
	p.from, p.to, p.all = from, to, max(all, 1)
	p.done.Store(0)
}

// did reports that so many items of the step are done.
func (p *meter) did(n int) {
	if p.report != nil {
		p.report(p.from + (p.to-p.from)*min(float64(p.done.Add(int64(n)))/float64(p.all), 1))
	}
}
