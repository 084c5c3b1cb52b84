package replay

import (
	"slackline/model/schedule"
	"slackline/model/unit"
)

// A run may have been recorded in part: time when recording was off is not computation. What was off at all ranks at the same
// time is left out of the schedule. What was off at a rank while others were recorded becomes a delay, so that the ranks
// go on where they were with respect to each other.

// offSpan is a time when recording was off.
type offSpan struct{ from, to unit.Duration }

// findUnrecorded finds when recording was off at all ranks.
func (c *converter) findUnrecorded() {
	first := true
	for _, location := range c.master {
		if location < 0 {
			continue
		}
		var own []offSpan
		calls := &c.t.Locations[location].Calls
		for i, path := range calls.Path {
			if c.kinds[path] == offCall {
				own = append(own, offSpan{calls.Enter[i], calls.Leave[i]})
			}
		}
		if first {
			c.off, first = own, false
		} else {
			c.off = both(c.off, own)
		}
	}
}

// both is the time that two lists have in common.
func both(a, b []offSpan) []offSpan {
	var list []offSpan
	for i, j := 0, 0; i < len(a) && j < len(b); {
		if from, to := max(a[i].from, b[j].from), min(a[i].to, b[j].to); from < to {
			list = append(list, offSpan{from, to})
		}
		if a[i].to < b[j].to {
			i++
		} else {
			j++
		}
	}
	return list
}

// unrecorded takes a time when recording was off. At the end of a rank nothing follows that could be delayed.
func (w *walker) unrecorded(call int32) {
	enter, leave := w.calls.Enter[call], w.calls.Leave[call]
	w.flush(0)
	w.last = lastCall{}
	if int(w.calls.Skip[call]) == w.calls.Len() {
		w.omitted += leave - enter
		return
	}
	delay := leave - enter
	for _, s := range both(w.off, []offSpan{{enter, leave}}) {
		delay -= s.to - s.from
		w.omitted += s.to - s.from
	}
	if delay > 0 {
		w.block.reach(enter)
		w.block.compute(schedule.Op{Kind: schedule.Calc, Size: int64(delay), Origin: uint32(w.calls.Path[call])})
		w.block.cut()
	}
}
