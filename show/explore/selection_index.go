package explore

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
	"sort"
	"sync/atomic"

	"slackline/analyze/profile"
	"slackline/analyze/waits"
	"slackline/internal/parallel"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// selectionIndex answers what lies between two moments of a location from sums over blocks: of its calls, its wait states and the
// messages that it received. Times by call path are in profile.Windows, which keeps such sums itself.
type selectionIndex struct {
	calls    []blocks // by location: number of calls and of samples by path
	states   []blocks // by location: wait states by metric, and by origin behind them
	idle     []blocks // by location: idle times, likewise
	messages []blocks // by location: messages by size, and by duration behind them
}

const (
	blockCalls  = 256            // calls, wait states or messages of a block: what is looked at one by one at each end of a range
	originsFrom = int32(1) << 10 // keys below are of metrics and kinds of activity
	noOrigin    = originsFrom - 1
	bins        = 65
)

// tally is a number of things with a key, and the sum of their values.
type tally struct {
	key        int32
	count, sum int64
}

// blocks are sums over blockCalls things that follow each other, without those after the last full block.
type blocks [][]tally

// tallies are sums by key while they are being made.
type tallies struct {
	at   []int32 // by key: place in the list, plus one; 0: none
	list []tally
}

func (t *tallies) add(key int32, count, sum int64) {
	for int(key) >= len(t.at) {
		t.at = append(t.at, make([]int32, len(t.at)+64)...)
	}
	i := t.at[key]
	if i == 0 {
		t.list = append(t.list, tally{key: key})
		i = int32(len(t.list))
		t.at[key] = i
	}
	t.list[i-1].count += count
	t.list[i-1].sum += sum
}

// take returns what was added and starts anew.
func (t *tallies) take() []tally {
	list := slices.Clone(t.list)
	for _, x := range t.list {
		t.at[x.key] = 0
	}
	t.list = t.list[:0]
	return list
}

// blocksOf makes the blocks of n things.
func blocksOf(n int, t *tallies, add func(i int, t *tallies)) blocks {
	b := make(blocks, 0, n/blockCalls)
	for first := 0; first+blockCalls <= n; first += blockCalls {
		for i := first; i < first+blockCalls; i++ {
			add(i, t)
		}
		b = append(b, t.take())
	}
	return b
}

// sum adds the things from number begin to before end; each adds one.
func (b blocks) sum(t *tallies, begin, end int, each func(i int, t *tallies)) {
	for i := begin; i < end; {
		if block := i / blockCalls; i%blockCalls == 0 && i+blockCalls <= end && block < len(b) {
			for _, x := range b[block] {
				t.add(x.key, x.count, x.sum)
			}
			i += blockCalls
			continue
		}
		each(i, t)
		i++
	}
}

// statistics is the index of selections, which is made after the analysis.
func (v *view) statistics(ctx context.Context, f *findings) (*selectionIndex, error) {
	return await(ctx, v, &f.selection, func() (*selectionIndex, error) { return newSelectionIndex(v.context, v, f) },
		"the statistics of the run are still being prepared; try again in a moment")
}

// newSelectionIndex prepares the statistics of a run.
func newSelectionIndex(ctx context.Context, v *view, f *findings) (*selectionIndex, error) {
	say, end := v.works.begin(workStatistics)
	defer end()
	arrows, err := v.arrowsOf()
	if err != nil {
		return nil, err
	}
	n := len(v.tl.Locations)
	var done atomic.Int64
	x := &selectionIndex{calls: make([]blocks, n), states: make([]blocks, n), idle: make([]blocks, n), messages: make([]blocks, n)}
	workers := make([]*tallies, v.threads)
	sums := make([]*profile.Sums, v.threads)
	parallel.EachWorker(n, v.threads, func(worker, location int) {
		if ctx.Err() != nil {
			return
		}
		say("sums over calls, waits and messages", float64(done.Add(1)-1)/float64(n))
		if workers[worker] == nil {
			workers[worker], sums[worker] = &tallies{}, profile.NewSums(v.paths)
		}
		t := workers[worker]
		x.calls[location] = blocksOf(v.tl.Locations[location].Calls.Len(), t, v.tallyCall(location))
		first, end := f.result.StatesOf(int32(location))
		whole := f.tallyState(v, location, v.tl.Start, v.end())
		x.states[location] = blocksOf(end-first, t, whole)
		x.idle[location] = blocksOf(len(f.idle[location]), t, f.tallyIdle(location, v.tl.Start, v.end()))
		x.messages[location] = blocksOf(arrows.first[location+1]-arrows.first[location], t, v.tallyMessage(arrows, location))
		sums[worker].Clear() // lets the windows keep their sums
		f.result.Windows().Add(sums[worker], int32(location), v.tl.Start, v.end(), int32(v.tl.Locations[location].Calls.Len()))
	})
	return x, ctx.Err()
}

// tallyCall counts a call of a location, or all that it stands for; the sum is of the samples that calls were made out of.
func (v *view) tallyCall(location int) func(int, *tallies) {
	l := &v.tl.Locations[location]
	return func(i int, t *tallies) {
		visits, samples := int64(1), int64(0)
		if at, found := slices.BinarySearchFunc(l.Polls, int32(i), comparePoll); found {
			visits = l.Polls[at].Count
		}
		if at, found := slices.BinarySearchFunc(l.Sampled, int32(i), compareSampled); found {
			visits, samples = 0, int64(l.Sampled[at].Samples)
		}
		t.add(v.paths.Of[l.Calls.Path[i]], visits, samples)
	}
}

func compareSampled(s timeline.SampledCall, call int32) int { return cmp.Compare(s.Call, call) }

// tallyState adds a wait state of a location, as far as it lies between two moments: to its metrics together with the kind of
// activity that it is a part of, and to its origin.
func (f *findings) tallyState(v *view, location int, from, to unit.Duration) func(int, *tallies) {
	first, _ := f.result.StatesOf(int32(location))
	c := &v.tl.Locations[location].Calls
	return func(i int, t *tallies) {
		d := int64(f.waited(first+i, from, to))
		if d <= 0 {
			return
		}
		metric, _, _ := f.result.SpanOf(first + i)
		under := profile.Outside // of threads in no call
		if v.isStream(location) {
			under = onDevice
		} else if call, _, _ := f.result.CallsOf(first + i); call >= 0 {
			under = profile.Kind(v.kinds.shades.of[c.Path[call]])
		}
		t.add(f.originKey(f.origins[first+i]), 1, d)
		if before, length := f.result.FirstOf(first + i); length > 0 {
			if part := min(d, int64(length-f.waited(first+i, v.tl.Start, from))); part > 0 {
				t.add(metricKey(before, under), 1, part)
				d -= part
			}
		}
		if d > 0 {
			t.add(metricKey(metric, under), 1, d)
		}
	}
}

// tallyIdle adds an idle time of a location, as far as it lies between two moments.
func (f *findings) tallyIdle(location int, from, to unit.Duration) func(int, *tallies) {
	return func(i int, t *tallies) {
		s := &f.idle[location][i]
		if d := int64(min(s.To, to) - max(s.From, from)); d > 0 {
			t.add(metricKey(idleThreads, profile.Outside), 1, d)
			t.add(f.originKey(s.origin), 1, d)
		}
	}
}

// originKey is the key of what comes from an origin.
func (f *findings) originKey(o waits.Origin) int32 {
	if o.Rank < 0 {
		return noOrigin
	}
	return originsFrom + f.originNumber[o]
}

// onDevice stands for waits of streams, which are no part of the time of threads.
const onDevice = profile.Waiting

var idleThreads = waits.ByName("omp_idle")

// metricKey is the key of waits of a kind that are part of the time of a kind of activity; partsOf takes it apart.
func metricKey(m waits.Metric, k profile.Kind) int32 { return int32(k)<<6 | int32(m) }

func partsOf(key int32) (waits.Metric, profile.Kind) {
	return waits.Metric(key & 63), profile.Kind(key >> 6)
}

// tallyMessage adds a message that a location received: to its size, and to its duration.
func (v *view) tallyMessage(arrows *arrowIndex, location int) func(int, *tallies) {
	return func(i int, t *tallies) {
		m := arrows.at(v.tl, location, i)
		size, on := max(m.Size, 0), max(m.Received-m.Sent, 0)
		t.add(int32(bits.Len64(uint64(size))), 1, size)
		t.add(bins+int32(bits.Len64(uint64(on))), 1, int64(on))
	}
}

// between are the wait states of a location that may lie between two moments, by number.
func (f *findings) between(location int, from, to unit.Duration) (begin, end int) {
	begin, _ = f.spans.firstIn(location, from)
	_, last := f.result.StatesOf(int32(location))
	end = begin + sort.Search(last-begin, func(i int) bool {
		_, start, _ := f.result.SpanOf(begin + i)
		return start >= to
	})
	return begin, end
}

// numberOrigins gives the origins of wait states and idle times numbers, in the order in which they are met.
func (f *findings) numberOrigins() (number map[waits.Origin]int32, list []waits.Origin) {
	number = map[waits.Origin]int32{}
	add := func(o waits.Origin) {
		if _, known := number[o]; !known && o.Rank >= 0 {
			number[o] = int32(len(list))
			list = append(list, o)
		}
	}
	for _, o := range f.origins {
		add(o)
	}
	for _, spans := range f.idle {
		for i := range spans {
			add(spans[i].origin)
		}
	}
	return number, list
}
