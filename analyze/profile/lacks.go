package profile

import (
	"sort"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// Time without a CPU does not count for the call path that it is in, but for a path below it. What a thread had no CPU
// for while it would have waited anyway is waiting.

// addLacks takes the times without a CPU between from and to out of the call paths that they are in.
func (w *Windows) addLacks(s *Sums, location int32, from, to unit.Duration) {
	all := w.lacks[location]
	for i := sort.Search(len(all), func(i int) bool { return all[i].To > from }); i < len(all) && all[i].From < to; i++ {
		begin, end := max(all[i].From, from), min(all[i].To, to)
		s.add(w.paths.Of[all[i].Path], end-begin)
		if caller := w.tl.Paths[all[i].Path].Parent; caller != 0 {
			s.add(w.paths.Of[caller], begin-end)
			continue
		}
		for _, t := range w.spans(location, begin, end) { // of a worker that is in no call of its own
			s.add(t.base, max(t.fork, begin)-min(t.join, end))
		}
	}
}

// Waited sets when a location waited, in order of time: what it had no CPU for then is left out.
func (w *Windows) Waited(location int32, waits []timeline.Span) {
	if len(w.lacks[location]) == 0 || len(waits) == 0 {
		return
	}
	var kept []timeline.Lack
	for _, l := range w.lacks[location] {
		for i := sort.Search(len(waits), func(i int) bool { return waits[i].To > l.From }); i < len(waits) && waits[i].From < l.To; i++ {
			if waits[i].From > l.From {
				before := l
				before.To = waits[i].From
				kept = append(kept, before)
			}
			l.From = min(waits[i].To, l.To)
		}
		if l.From < l.To {
			kept = append(kept, l)
		}
	}
	w.lacks[location] = kept
}
