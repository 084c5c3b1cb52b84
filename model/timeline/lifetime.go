package timeline

import "slackline/model/unit"

// Span is the time from one moment to another.
type Span struct{ From, To unit.Duration }

// ThreadBegin states that a thread begins here. A location without one has a thread for the whole run.
func (l *LocationBuilder) ThreadBegin(t unit.Duration) {
	switch {
	case l.alive != nil || l.calls.Len() == 0:
	case l.bornOff && !l.off && l.calls.Len() == 1: // there was none that could have been recorded
		l.calls.Enter, l.calls.Path = l.calls.Enter[:0], l.calls.Path[:0]
		l.bornOff, l.offTime = false, 0
	default: // there was one before whose start is not known
		l.alive = append(l.alive, Span{l.first, never})
	}
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

// dead reports whether a thread has ended here and no other one has begun.
func (l *LocationBuilder) dead() bool {
	n := len(l.alive)
	return n > 0 && l.alive[n-1].To != never
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
	return t.Locations[location].Lived(t.Start, t.End)
}

// Lived is how long threads lived at a location between two moments.
func (l *Location) Lived(from, to unit.Duration) unit.Duration {
	if l.Alive == nil {
		return to - from
	}
	sum := unit.Duration(0)
	for _, s := range l.Alive {
		sum += max(min(s.To, to)-max(s.From, from), 0)
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
	if life, ok := lifeAt(l.Alive, at); ok {
		return life.From
	}
	return l.First
}

// lifeAt is the last life that begins no later than at.
func lifeAt(alive []Span, at unit.Duration) (life Span, ok bool) {
	for _, s := range alive {
		if s.From > at {
			break
		}
		life, ok = s, true
	}
	return life, ok
}

// During is the time from the fork to the join of a team that the thread was there which began its part at a moment. Outside of calls of
// its own a worker is then where its master was at the fork.
func (l *Location) During(t *Team, begin unit.Duration) Span { return teamTime(l.Alive, t, begin) }

func teamTime(alive []Span, t *Team, begin unit.Duration) Span {
	if alive == nil {
		return Span{t.Fork, t.Join}
	}
	life, _ := lifeAt(alive, begin) // it may have been started for this team
	if life.To == never {
		life.To = t.Join
	}
	from := max(t.Fork, life.From)
	return Span{from, max(from, min(t.Join, life.To))}
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
