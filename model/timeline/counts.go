package timeline

import (
	"math"

	"slackline/internal/spill"
	"slackline/model/unit"
)

// Metric is something that a thread counts while it runs, such as instructions.
type Metric struct{ Name, Unit string }

// Increment is by how much a metric grew from one moment to another, in a call path and nothing that it called.
type Increment struct {
	Span
	Path   PathID // 0: in no call
	Metric int32
	Value  uint64
}

// counting are the counters of a location while it is built.
type counting struct {
	last  []uint64 // by metric
	since []unit.Duration
	known []bool // by metric: last is a value since which nothing was missed
	list  []Increment
	calls []int32 // by increment: the call in which it grew, -1: none
}

// Count records the value of a metric. That is not an event: calls that began before may still be recorded. What it grew by since the
// value before belongs to the innermost call that was open until then, as it does where values are recorded at each start and end of
// a call.
func (l *LocationBuilder) Count(t unit.Duration, metric int32, value uint64) {
	c := &l.counting
	for int(metric) >= len(c.last) {
		c.last, c.since, c.known = append(c.last, 0), append(c.since, 0), append(c.known, false)
	}
	grew := value - c.last[metric]
	known := c.known[metric] && value > c.last[metric]
	if c.known[metric] && value < c.last[metric] {
		l.shrunk++
	}
	if n := len(c.list); n > 0 {
		t = max(t, c.list[n-1].To)
	}
	from := min(c.since[metric], t)
	c.last[metric], c.since[metric], c.known[metric] = value, t, true
	if known {
		c.list = spill.Append(l.space, c.list, Increment{Span: Span{from, t}, Metric: metric, Value: grew})
	}
}

// MissCounts records that what is counted from here to the next values belongs to no call.
func (l *LocationBuilder) MissCounts() { clear(l.counting.known) }

// findCounts finds the calls in which metrics grew: those that were open until the end of the increment.
func (l *LocationBuilder) findCounts() {
	c := &l.calls
	var open []int32
	next := int32(0)
	for _, grew := range l.counting.list {
		for int(next) < c.Len() && c.Enter[next] < grew.To {
			for n := len(open); n > 0 && c.Leave[open[n-1]] <= c.Enter[next]; n-- {
				open = open[:n-1]
			}
			open = append(open, next)
			next++
		}
		for n := len(open); n > 0 && c.Leave[open[n-1]] < grew.To; n-- {
			open = open[:n-1]
		}
		call := int32(-1)
		if n := len(open); n > 0 {
			call = open[n-1]
		}
		l.counting.calls = spill.Append(l.space, l.counting.calls, call)
	}
}

// placeCounts gives the increments the paths of their calls.
func (l *LocationBuilder) placeCounts() {
	for i, call := range l.counting.calls {
		if call >= 0 {
			l.counting.list[i].Path = l.calls.Path[call]
		}
	}
	spill.Free(l.space, l.counting.calls)
	l.counting.calls = nil
}

// cutCounts returns the increments from start to end; of one across an edge its share by time.
func cutCounts(list []Increment, begin, end unit.Duration) []Increment {
	var out []Increment
	for _, c := range list {
		whole, from, to := c.To-c.From, max(c.From, begin), min(c.To, end)
		switch {
		case to < from || to == from && whole > 0:
			continue
		case to-from < whole:
			c.Value = uint64(math.Round(float64(c.Value) * float64(to-from) / float64(whole)))
		}
		c.From, c.To = from, to
		out = append(out, c)
	}
	return out
}
