package timeline

// awayDone is the completion of a request that another thread of the rank may have begun.
type awayDone struct {
	key   requestKey
	index int32 // of the receive or collective that was made of it; of a send: none
}

// matchRequests finds what one thread of a rank began and another one completed. A receive belongs to the thread that completes
// it, in the order of its posting; a send to the one that began it. Only recorders that know the lifetimes of threads number the
// requests of all threads of a process in one sequence.
func (f *finisher) matchRequests() {
	f.each(f.t.Ranks, func(rank int) {
		away := 0
		for _, i := range f.byRank[rank] {
			away += len(f.locations[i].away)
		}
		if away == 0 {
			return
		}
		begun := map[requestKey]int32{} // locations
		for _, i := range f.byRank[rank] {
			for _, s := range f.locations[i].requests.slots {
				if s.key.kind != 0 {
					begun[s.key] = i
				}
			}
		}
		for _, i := range f.byRank[rank] {
			l := f.locations[i]
			for _, d := range l.away {
				from, ok := begun[d.key]
				if !ok || l.alive == nil && f.locations[from].alive == nil || !l.takeOver(f.locations[from], d) {
					l.unstarted++
				}
			}
			l.away = nil
		}
	})
}

// takeOver gives a completion what another thread began.
func (l *LocationBuilder) takeOver(by *LocationBuilder, d awayDone) bool {
	i, ok := by.requests.take(d.key)
	if !ok {
		return false
	}
	switch d.key.kind {
	case receiveRequest:
		begun := by.receives.at(i)
		begun.state = dropped
		r := l.receives.at(d.index)
		r.posted, r.away = min(begun.posted, r.posted), true
	case collectiveRequest:
		begun := &by.collectives[i]
		begun.state = dropped
		m := &l.collectives[d.index]
		m.issued = min(begun.issued, m.issued)
	}
	return true
}
