package explore

import (
	"cmp"
	"slices"
	"sort"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// choice keeps, of any number of messages, a few that matter most: those with the longest waits, as far as
// the analysis has come, then those that were longest on their way.
type choice struct {
	v     *view
	found *findings // nil: nothing is known about waits yet
	limit int
	list  []weighed
	least weighed // of no use are messages that come after it, if full
	full  bool
}

// weighed is a message with what it means.
type weighed struct {
	message *timeline.Message
	wait    unit.Duration // of its receiver or its sender
}

func newChoice(v *view, limit int) *choice {
	c := &choice{v: v, limit: limit}
	if state, _ := v.analysisState(); state == analysisReady {
		c.found = v.analysis.found
	}
	return c
}

// order puts what matters more first.
func (a weighed) order(b weighed) int {
	x, y := a.message, b.message
	return cmp.Or(cmp.Compare(b.wait, a.wait), cmp.Compare(y.Received-y.Sent, x.Received-x.Sent), cmp.Compare(x.Sent, y.Sent),
		cmp.Compare(x.From, y.From), cmp.Compare(x.To, y.To), cmp.Compare(x.Send, y.Send), cmp.Compare(x.Recv, y.Recv))
}

// add takes a message into account.
func (c *choice) add(m *timeline.Message) {
	c.weigh(weighed{m, max(c.waitOf(m.To, m.Recv), c.waitOf(m.From, m.Send))})
}

// weigh is add for a message of which it is known how long it was waited for.
func (c *choice) weigh(w weighed) {
	if c.full && w.order(c.least) >= 0 {
		return
	}
	if c.list = append(c.list, w); len(c.list) >= 2*c.limit {
		c.cut()
	}
}

// cut leaves those that matter most.
func (c *choice) cut() {
	slices.SortFunc(c.list, weighed.order)
	c.list = slices.CompactFunc(c.list, func(a, b weighed) bool { return a.message == b.message })
	if len(c.list) >= c.limit {
		c.list, c.full = c.list[:c.limit], true
		c.least = c.list[c.limit-1]
	}
}

// result is what was chosen, what matters most first.
func (c *choice) result() []weighed {
	c.cut()
	return c.list
}

// waitOf is how long a call waited: the longest of its wait states.
func (c *choice) waitOf(location, call int32) unit.Duration {
	calls := &c.v.tl.Locations[location].Calls
	if c.found == nil || call < 0 || int(call) >= calls.Len() {
		return 0
	}
	longest := unit.Duration(0)
	number, _ := c.found.spans.firstIn(int(location), calls.Enter[call])
	_, end := c.found.result.StatesOf(location)
	for ; number < end; number++ {
		_, from, to := c.found.result.SpanOf(number)
		if from >= calls.Leave[call] {
			break
		}
		if waiting, _, _ := c.found.result.CallsOf(number); waiting == call {
			longest = max(longest, to-from)
		}
	}
	return longest
}

// addWaited takes the messages that the longest waits of the run waited for into account: where not all messages are
// looked at, these are not to be missed.
func (c *choice) addWaited(x *arrowIndex, w messageWindow) {
	if c.found == nil {
		return
	}
	for _, m := range c.found.longestWaited(c, x) {
		if w.has(m.message) {
			c.weigh(m)
		}
	}
}

// longestWaited are the messages that the longest waits of the run waited for; they are found once.
func (f *findings) longestWaited(c *choice, x *arrowIndex) []weighed {
	f.waitedOnce.Do(func() {
		tl := c.v.tl
		for _, s := range f.largestStates(MaxList) {
			location := c.v.locationOf(s.Rank, s.Thread)
			call, _, _ := f.result.CallsOf(s.Number())
			calls := &tl.Locations[location].Calls
			n := x.first[location+1] - x.first[location]
			i := sort.Search(n, func(i int) bool { return x.at(tl, location, i).Received >= calls.Enter[call] })
			for ; i < n; i++ {
				m := x.at(tl, location, i)
				if m.Received > calls.Leave[call] {
					break
				}
				if m.Recv == call {
					f.longest = append(f.longest, weighed{m, max(c.waitOf(m.To, m.Recv), c.waitOf(m.From, m.Send))})
				}
			}
		}
	})
	return f.longest
}
