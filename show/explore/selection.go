package explore

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"strconv"
	"strings"

	"slackline/analyze/profile"
	"slackline/analyze/waits"
	"slackline/internal/parallel"
	"slackline/internal/stat"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// mostListed is how many call paths and causes of a selection are listed.
const mostListed = 200

// answerSelection gives statistics of a range of time and a set of ranks.
func answerSelection(ctx context.Context, v *view, q *query) (any, error) {
	f, err := v.analyzed(ctx)
	if err != nil {
		return nil, err
	}
	from, to := q.span(v.length())
	ranks := q.ranks("ranks", v.tl.Ranks)
	if q.err != nil {
		return nil, q.err
	}
	if _, err := v.statistics(ctx, f); err != nil { // waiting for it takes no turn
		return nil, err
	}
	end, err := v.turn(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	return v.selected(ctx, f, v.tl.Start+from, v.tl.Start+to, ranks)
}

// selector is one worker of a selection.
type selector struct {
	sums                    *profile.Sums
	times                   map[int32]unit.Duration // by path, of all threads
	device                  map[int32]unit.Duration // likewise, of all streams
	calls, states, messages *tallies
	total                   unit.Duration
}

func newSelector() *selector {
	return &selector{
		times: map[int32]unit.Duration{}, device: map[int32]unit.Duration{}, calls: &tallies{}, states: &tallies{}, messages: &tallies{},
	}
}

// selected is what ranks do between two moments; chosen is by rank, nil means all.
func (v *view) selected(ctx context.Context, f *findings, from, to unit.Duration, chosen []bool) (*Selection, error) {
	if _, err := v.statistics(ctx, f); err != nil {
		return nil, err
	}
	var locations []int
	a := &Selection{From: v.since(from), To: v.since(to), Parts: []Part{}, Functions: []SelectedPath{}, Waits: []SelectedWait{},
		Causes: []SelectedCause{}}
	ranks := map[int]bool{}
	for i := range v.tl.Locations {
		if r := v.tl.Locations[i].Rank; chosen == nil || chosen[r] {
			locations = append(locations, i)
			ranks[r] = true
			if v.isStream(i) {
				a.Streams++
				a.OnStreams += int64(min(to, v.tl.End) - from)
			} else {
				a.Locations++
			}
		}
	}
	a.Ranks = len(ranks)
	workers := make([]*selector, v.threads)
	parallel.EachWorker(len(locations), v.threads, func(worker, i int) {
		if ctx.Err() != nil {
			return
		}
		if workers[worker] == nil {
			workers[worker] = newSelector()
			workers[worker].sums = profile.NewSums(v.paths)
		}
		workers[worker].add(v, f, locations[i], from, to)
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	all := newSelector()
	for _, w := range workers {
		if w != nil {
			all.join(w)
		}
	}
	all.describe(a, v, f)
	a.Iterations = v.selectedIterations(f, from, to)
	return a, nil
}

// add adds what a location does between two moments.
func (s *selector) add(v *view, f *findings, location int, from, to unit.Duration) {
	l := &v.tl.Locations[location]
	times := s.device
	if !v.isStream(location) {
		times = s.times
		s.total += alive(v.tl, l, from, to)
	}
	begin, end := firstFrom(l.Calls.Enter, from), l.Calls.Len()
	if to < v.tl.End { // what happens at the very end is in no other range
		end = firstFrom(l.Calls.Enter, to)
	}
	s.sums.Clear()
	f.result.Windows().Add(s.sums, int32(location), from, to, int32(end))
	for _, path := range s.sums.Touched {
		times[path] += s.sums.First(path)
	}
	f.selection.value.calls[location].sum(s.calls, begin, end, v.tallyCall(location))
	first, _ := f.result.StatesOf(int32(location))
	a, b := f.between(location, from, to)
	tally := f.tallyState(v, location, from, to)
	for a < b && cutsState(f, a, from, to) { // blocks have whole states only
		tally(a-first, s.states)
		a++
	}
	for a < b && cutsState(f, b-1, from, to) {
		b--
		tally(b-first, s.states)
	}
	sums := f.selection.value.states[location]
	if f.spans.latest[location] != nil { // states inside of each other: any of them may be cut
		sums = nil
	}
	sums.sum(s.states, a-first, b-first, tally)
	idle := f.idle[location]
	a = sort.Search(len(idle), func(i int) bool { return idle[i].To > from })
	b = a + sort.Search(len(idle)-a, func(i int) bool { return idle[a+i].From >= to })
	lone := f.tallyIdle(location, from, to)
	if a < b && idle[a].From < from {
		lone(a, s.states)
		a++
	}
	if a < b && idle[b-1].To > to {
		b--
		lone(b, s.states)
	}
	f.selection.value.idle[location].sum(s.states, a, b, lone)
	arrows := v.arrows.value
	n := arrows.first[location+1] - arrows.first[location]
	received := func(t unit.Duration) int {
		if t >= v.tl.End {
			return n
		}
		return sort.Search(n, func(i int) bool { return arrows.at(v.tl, location, i).Received >= t })
	}
	f.selection.value.messages[location].sum(s.messages, received(from), received(to), v.tallyMessage(arrows, location))
}

// cutsState reports whether a wait state lies in a range only in part.
func cutsState(f *findings, state int, from, to unit.Duration) bool {
	_, begin, end := f.result.SpanOf(state)
	return begin < from || end > to
}

// firstFrom is the first call that begins at t or later.
func firstFrom(enter []unit.Duration, t unit.Duration) int {
	return sort.Search(len(enter), func(i int) bool { return enter[i] >= t })
}

// alive is how long threads lived at a location between two moments.
func alive(tl *timeline.Timeline, l *timeline.Location, from, to unit.Duration) unit.Duration {
	if l.Alive == nil {
		return min(to, tl.End) - from
	}
	sum := unit.Duration(0)
	for _, s := range l.Alive {
		sum += max(0, min(s.To, to)-max(s.From, from))
	}
	return sum
}

func (s *selector) join(w *selector) {
	s.total += w.total
	for path, t := range w.times {
		s.times[path] += t
	}
	for path, t := range w.device {
		s.device[path] += t
	}
	for _, pair := range [][2]*tallies{{s.calls, w.calls}, {s.states, w.states}, {s.messages, w.messages}} {
		for _, x := range pair[1].list {
			pair[0].add(x.key, x.count, x.sum)
		}
	}
}

// describe turns sums into the answer.
func (s *selector) describe(a *Selection, v *view, f *findings) {
	a.Total = int64(s.total)
	calls := map[int32]tally{}
	for _, x := range s.calls.list {
		calls[x.key] = x
	}
	kinds := map[profile.Kind]unit.Duration{profile.Outside: s.total}
	for path, t := range s.times {
		kinds[v.kindOfPath(int(path))] += t
		kinds[profile.Outside] -= t
	}
	for path, t := range s.device {
		s.times[path] += t
	}
	for path := range calls {
		s.times[path] += 0 // calls that take no time are calls, too
	}
	for path, t := range s.times {
		if c := calls[path]; (t != 0 || c.count+c.sum > 0) && !v.paths.Unrecorded(path) {
			a.Functions = append(a.Functions, SelectedPath{int(path), int64(t), c.count, c.sum, s.device[path] > 0})
		}
	}
	slices.SortFunc(a.Functions, func(x, y SelectedPath) int { return cmp.Or(cmp.Compare(y.Time, x.Time), cmp.Compare(x.Path, y.Path)) })
	ofThreads := s.describeWaits(a, f, kinds)
	for k := profile.Computation; k <= profile.NoCPU; k++ {
		if kinds[k] != 0 {
			a.Parts = append(a.Parts, Part{Kind: k.String(), Name: k.String(), Title: k.Title(), Time: int64(kinds[k])})
		}
	}
	for _, w := range a.Waits {
		if t := ofThreads[w.Metric]; t > 0 {
			part := profile.Part{Kind: profile.Waiting, Name: w.Metric}
			a.Parts = append(a.Parts, Part{Kind: part.Kind.String(), Name: w.Metric, Title: waits.PartTitle(&part), Time: t})
		}
	}
	a.Sizes, a.Durations = []HistogramBin{}, []HistogramBin{}
	slices.SortFunc(s.messages.list, func(x, y tally) int { return cmp.Compare(x.key, y.key) })
	for _, x := range s.messages.list {
		bin := HistogramBin{Count: x.count, Sum: x.sum}
		if b := x.key % bins; b > 0 {
			bin.From, bin.To = 1<<(b-1), 1<<b-1
		}
		if x.key < bins {
			a.Sizes = append(a.Sizes, bin)
			a.Messages, a.Bytes = a.Messages+x.count, a.Bytes+x.sum
		} else {
			a.Durations = append(a.Durations, bin)
		}
	}
	if n := len(a.Functions); n > mostListed {
		a.Functions, a.MoreFunctions = a.Functions[:mostListed], n-mostListed
	}
	if n := len(a.Causes); n > mostListed {
		a.Causes, a.MoreCauses = a.Causes[:mostListed], n-mostListed
	}
}

// describeWaits lists wait states and their origins, and takes their time out of the kinds of activity that they are part of. It returns
// those of threads, by metric.
func (s *selector) describeWaits(a *Selection, f *findings, kinds map[profile.Kind]unit.Duration) (ofThreads map[string]int64) {
	ofThreads = map[string]int64{}
	byMetric := map[waits.Metric]*SelectedWait{}
	for _, x := range s.states.list {
		switch {
		case x.key < noOrigin:
			metric, under := partsOf(x.key)
			w := byMetric[metric]
			if w == nil {
				w = &SelectedWait{Metric: metric.String(), Title: metric.Info().Title, Category: firstWait + int(metric)}
				byMetric[metric] = w
			}
			w.Amount += x.sum
			w.States += x.count
			a.Waiting += x.sum
			if under != onDevice {
				kinds[under] -= unit.Duration(x.sum)
				ofThreads[w.Metric] += x.sum
			}
		case x.key == noOrigin:
			a.Causes = append(a.Causes, SelectedCause{Rank: -1, Amount: x.sum, Category: noCause})
		default:
			o := f.originList[x.key-originsFrom]
			a.Causes = append(a.Causes, SelectedCause{int(o.Rank), int(o.Path), x.sum, int(f.originCategory(o))})
		}
	}
	for _, w := range byMetric {
		a.Waits = append(a.Waits, *w)
	}
	slices.SortFunc(a.Waits, func(x, y SelectedWait) int {
		return cmp.Or(cmp.Compare(y.Amount, x.Amount), cmp.Compare(x.Metric, y.Metric))
	})
	slices.SortFunc(a.Causes, func(x, y SelectedCause) int {
		return cmp.Or(cmp.Compare(y.Amount, x.Amount), cmp.Compare(x.Rank, y.Rank), cmp.Compare(x.Path, y.Path))
	})
	return ofThreads
}

// selectedIterations summarizes the iterations that begin between two moments.
func (v *view) selectedIterations(f *findings, from, to unit.Duration) *SelectedIterations {
	if f.iterations == nil {
		return nil
	}
	list := f.iterations.List
	first := sort.Search(len(list), func(i int) bool { return list[i].Begin >= from })
	last := sort.Search(len(list), func(i int) bool { return list[i].Begin >= to })
	if first >= last {
		return nil
	}
	a := &SelectedIterations{First: first, Count: last - first, Slowest: first}
	var durations []int64
	for i := first; i < last; i++ {
		durations = append(durations, int64(list[i].Duration))
		if list[i].Duration > list[a.Slowest].Duration {
			a.Slowest = i
		}
	}
	sorted := stat.Sorted(durations)
	a.Shortest, a.Longest, a.Median = sorted[0], sorted[len(sorted)-1], stat.QuantileInt(sorted, 1, 2)
	return a
}

// ranks reads a list of ranks (or runs), as 0-3,8; nil: all.
func (q *query) ranks(name string, all int) []bool {
	text := q.values.Get(name)
	if text == "" {
		return nil
	}
	chosen := make([]bool, all)
	for part := range strings.SplitSeq(text, ",") {
		low, high, is := strings.Cut(part, "-")
		if !is {
			high = low
		}
		first, err1 := strconv.Atoi(strings.TrimSpace(low))
		last, err2 := strconv.Atoi(strings.TrimSpace(high))
		if err1 != nil || err2 != nil || first < 0 || last < first || last >= all {
			q.refuse(name, "%s: %q is not a list of numbers from 0 to %d, as 0-3,8", name, shorten(part), all-1)
			return nil
		}
		for rank := first; rank <= last; rank++ {
			chosen[rank] = true
		}
	}
	return chosen
}
