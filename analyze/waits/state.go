package waits

import (
	"sort"

	"slackline/model/unit"
)

// state is a wait state: its location sat idle from the enter of the call for the amount.
type state struct {
	enter, amount    unit.Duration
	first            unit.Duration // how much of the amount, from its start, belongs to the kind before the metric's
	subPart          unit.Duration // how much of it belongs to the sub-state
	since            unit.Duration // when waiting and causing location last synchronized; never: not before
	long             int64         // what later wait states cost that this one is responsible for
	indirect         int64         // how much of the amount is due to wait states of the cause
	propagating      int64         // the most that it contributes to a later wait state
	location, call   int32
	cause, causeCall int32
	reference        int32 // number of the message, synchronization point or exposure epoch; -1: none
	pending          int32 // later wait states that are not accounted for yet
	order            int32 // when it was accounted for, from 1 on; 0: not yet
	before           int32 // number of the cause's wait states that begin before the operation that was late; if that is elsewhere, its number among those sent there
	metric           Metric
	sub              Metric // the sub-state that it belongs to; None if it has none
	uncertain        bool   // shorter than the error of the clocks
	circular         bool   // part of a circle that process 0 accounted for
}

func (s *state) end() unit.Duration { return s.enter + s.amount }

func (a *analysis) newState(c *candidate) state {
	return state{
		enter: a.calls(c.location).Enter[c.call], amount: c.amount, first: c.before, since: never, sub: None,
		location: c.location, call: c.call, cause: c.cause, causeCall: c.causeCall,
		reference: c.reference, metric: c.metric,
		uncertain: c.amount < a.clockError(c.location, c.cause),
	}
}

// clockError is how wrong the difference of two locations' times may be; 0 if that is not known.
func (a *analysis) clockError(x, y int32) unit.Duration {
	lx, ly := &a.tl.Locations[x], &a.tl.Locations[y]
	if lx.Rank == ly.Rank {
		return 0
	}
	return max(lx.ClockError, 0) + max(ly.ClockError, 0)
}

// ends helps to find the wait states of a location in a window. It is empty if they end in the order in which
// they begin, as they do unless calls that wait contain others.
type ends []unit.Duration // by state: the latest end up to it

func endsOf(states []state) ends {
	ordered := true
	for i := 1; i < len(states); i++ {
		ordered = ordered && states[i-1].end() <= states[i].end()
	}
	if ordered {
		return nil
	}
	latest := make(ends, len(states))
	for i := range states {
		latest[i] = states[i].end()
		if i > 0 {
			latest[i] = max(latest[i], latest[i-1])
		}
	}
	return latest
}

// propagation is a wait state and how much of it lies in a window.
type propagation struct {
	state int
	part  unit.Duration
}

// statesBefore is the number of wait states of a location in calls before number before.
func (a *analysis) statesBefore(location, before int32) int {
	all := a.states[a.first[location]:a.first[location+1]]
	return sort.Search(len(all), func(i int) bool { return all[i].call >= before })
}

// statesIn appends the wait states of a location that lie between from and to at least partly, of the first high
// ones; in their order.
func (a *analysis) statesIn(list []propagation, location int32, from, to unit.Duration, high int) []propagation {
	base := a.first[location]
	all := a.states[base:a.first[location+1]]
	latest := a.ends[location]
	begin := high
	for begin > 0 {
		end := all[begin-1].end()
		if latest != nil {
			end = latest[begin-1]
		}
		if end <= from {
			break
		}
		begin--
	}
	for i := begin; i < high; i++ {
		s := &all[i]
		if part := min(s.end(), to) - max(s.enter, from); part > 0 && !a.isInner(base+i) {
			list = append(list, propagation{base + i, part})
		}
	}
	return list
}
