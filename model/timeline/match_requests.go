package timeline

import (
	"cmp"
	"slices"

	"slackline/model/unit"
)

// awayDone is the completion of a request that another thread of the rank may have begun.
type awayDone struct {
	time      unit.Duration
	key       requestKey // kind 0: whatever it was, it was cancelled
	index     int32      // of the receive or collective that was made of it
	call, seq int32      // of a send
}

// beginning is a request that a location began and did not complete.
type beginning struct {
	time            unit.Duration
	location, index int32
	again           bool // it began another one by the same name since then
}

// matchRequests finds what one thread of a rank began and another one completed. A receive and a collective belong to the thread that
// completes them, in the order of posting and of issue; a send to the one that began it. Each keeps who did the other half. Only recorders
// that know the lifetimes of threads number the requests of all threads of a process in one sequence. A number may come again, as that of a
// persistent request does: what is completed is the last one that began before.
func (f *finisher) matchRequests() {
	f.each(f.t.Ranks, func(rank int) {
		type completion struct {
			awayDone
			location int32
		}
		var away []completion
		for _, i := range f.byRank[rank] {
			for _, d := range f.locations[i].away {
				away = append(away, completion{d, i})
			}
			f.locations[i].away = nil
		}
		if len(away) == 0 {
			return
		}
		begun := map[requestKey][]beginning{}
		for _, i := range f.byRank[rank] {
			l := f.locations[i]
			for _, s := range l.requests.again {
				begun[s.key] = append(begun[s.key], beginning{l.begun(s), i, s.index, true})
			}
			for key, list := range l.fileOps {
				for _, index := range list {
					begun[key] = append(begun[key], beginning{l.collectives[index].issued, i, index, false})
				}
			}
			for _, s := range l.requests.slots {
				if s.key.kind != 0 {
					begun[s.key] = append(begun[s.key], beginning{l.begun(s), i, s.index, false})
				}
			}
		}
		for _, list := range begun {
			slices.SortStableFunc(list, func(a, b beginning) int { return cmp.Compare(a.time, b.time) })
		}
		slices.SortStableFunc(away, func(a, b completion) int { return cmp.Compare(a.time, b.time) })
		for _, d := range away {
			if !f.takeOver(d.location, d.awayDone, begun) && d.key.kind != fileRequest { // such an operation ends in the call that begins it
				f.locations[d.location].unstarted++
			}
		}
	})
}

// begun is when a request began, at the earliest.
func (l *LocationBuilder) begun(s requestSlot) unit.Duration {
	switch s.key.kind {
	case sendRequest:
		return l.sends.at(s.index).time
	case receiveRequest:
		r := l.receives.at(s.index)
		if n, _ := slices.BinarySearch(l.offs, r.posted+1); r.post == unseen && n > 0 {
			return l.offs[n-1]
		}
		return r.posted
	}
	return l.collectives[s.index].issued
}

// takeOver gives a completion at a location what another thread began; false if none did.
func (f *finisher) takeOver(location int32, d awayDone, begun map[requestKey][]beginning) bool {
	l := f.locations[location]
	kinds := []requestKind{d.key.kind}
	if d.key.kind == 0 {
		kinds = cancellable
	}
	for _, kind := range kinds {
		key := requestKey{d.key.id, kind}
		list := begun[key]
		for len(list) > 1 && list[1].time < d.time {
			list = list[1:]
		}
		if len(list) == 0 || list[0].time > d.time {
			continue
		}
		from, i := list[0].location, list[0].index
		if from == location || l.alive == nil && f.locations[from].alive == nil || from-location != int32(int16(from-location)) {
			continue
		}
		by := f.locations[from]
		if list[0].again {
			by.requests.lost--
		} else {
			by.requests.take(key)
		}
		begun[key] = list[1:]
		switch {
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
		case kind == fileRequest:
			m, begun := &l.collectives[d.index], &by.collectives[i]
			complete, seq := m.complete, m.seq
			*m, begun.state = *begun, dropped
			m.complete, m.seq, m.by = complete, seq, int16(from-location)
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
