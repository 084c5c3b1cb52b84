package timeline

// awayDone is the completion of a request that another thread of the rank may have begun.
type awayDone struct {
	key       requestKey // kind 0: whatever it was, it was cancelled
	index     int32      // of the receive or collective that was made of it
	call, seq int32      // of a send
}

// matchRequests finds what one thread of a rank began and another one completed. A receive and a collective belong to the thread that
// completes them, in the order of posting and of issue; a send to the one that began it. Each keeps who did the other half. Only recorders
// that know the lifetimes of threads number the requests of all threads of a process in one sequence.
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
				if !f.takeOver(i, d, begun) {
					l.unstarted++
				}
			}
			l.away = nil
		}
	})
}

// takeOver gives a completion at a location what another thread began; false if none did.
func (f *finisher) takeOver(location int32, d awayDone, begun map[requestKey]int32) bool {
	l := f.locations[location]
	kinds := []requestKind{d.key.kind}
	if d.key.kind == 0 {
		kinds = cancellable
	}
	for _, kind := range kinds {
		key := requestKey{d.key.id, kind}
		from, ok := begun[key]
		if !ok || from == location || l.alive == nil && f.locations[from].alive == nil || from-location != int32(int16(from-location)) {
			continue
		}
		by := f.locations[from]
		i, ok := by.requests.take(key)
		switch {
		case !ok:
			continue
		case d.key.kind == 0:
			by.drop(kind, i)
		case kind == sendRequest:
			s := by.sends.at(i)
			s.done, s.doneSeq, s.by = d.call, d.seq, int16(location-from)
		case kind == receiveRequest:
			r, begun := l.receives.at(d.index), by.receives.at(i)
			begun.state = dropped
			r.posted, r.post, r.by = min(begun.posted, r.posted), begun.post, int16(from-location)
		case kind == collectiveRequest:
			m, begun := &l.collectives[d.index], &by.collectives[i]
			begun.state = dropped
			m.issued, m.issue, m.by = min(begun.issued, m.issued), begun.issue, int16(from-location)
		}
		return true
	}
	return false
}

// cancellable are the kinds of requests that can be cancelled, in the order in which they are looked for.
var cancellable = []requestKind{receiveRequest, sendRequest, collectiveRequest}

// drop states that what a request was about did not take place.
func (l *LocationBuilder) drop(kind requestKind, index int32) {
	switch kind {
	case receiveRequest:
		l.receives.at(index).state = dropped
	case sendRequest:
		l.sends.at(index).state = dropped
	case collectiveRequest:
		l.collectives[index].state = dropped
	}
}
