package timeline

import "slackline/model/unit"

// Span is the time from one moment to another.
type Span struct{ From, To unit.Duration }

// ThreadBegin states that a thread begins here. A location without one has a thread for the whole run.
func (l *LocationBuilder) ThreadBegin(t unit.Duration) {
	t = l.at(t)
	l.endThread(t)
	l.MissCounts() // its counters are others
	l.alive = append(l.alive, Span{t, never})
}

// ThreadEnd states that the thread ends; another one may follow.
func (l *LocationBuilder) ThreadEnd(t unit.Duration) {
	l.endThread(l.at(t))
}

func (l *LocationBuilder) endThread(t unit.Duration) {
	for len(l.open) > 0 {
		l.unbalanced++
		l.Leave(t)
	}
	if n := len(l.alive); n > 0 && l.alive[n-1].To == never {
		l.alive[n-1].To = t
	}
}

// endThreads lets threads that were never seen to end live as long as the run.
func (t *Timeline) endThreads() {
	for i := range t.Locations {
		if n := len(t.Locations[i].Alive); n > 0 && t.Locations[i].Alive[n-1].To == never {
			t.Locations[i].Alive[n-1].To = t.End
		}
	}
}

// Lifetime is how long threads lived at a location.
func (t *Timeline) Lifetime(location int32) unit.Duration {
	l := &t.Locations[location]
	if l.Alive == nil {
		return t.End - t.Start
	}
	sum := unit.Duration(0)
	for _, s := range l.Alive {
		sum += s.To - s.From
	}
	return sum
}

// Lifetimes is how long all threads lived.
func (t *Timeline) Lifetimes() (sum unit.Sum) {
	for i := range t.Locations {
		sum.Add(t.Lifetime(int32(i)))
	}
	return sum
}

// Born is when the thread began that lives at a location at a moment.
func (l *Location) Born(at unit.Duration) unit.Duration {
	born := l.First
	for _, s := range l.Alive {
		if s.From > at {
			break
		}
		born = s.From
	}
	return born
}

// cutSpans returns what lies between start and end.
func cutSpans(list []Span, begin, end unit.Duration) []Span {
	if list == nil {
		return nil
	}
	out := []Span{}
	for _, s := range list {
		if s.From < end && s.To > begin {
			out = append(out, Span{max(s.From, begin), min(s.To, end)})
		}
	}
	return out
}
