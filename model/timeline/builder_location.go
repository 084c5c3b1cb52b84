package timeline

import (
	"cmp"
	"math"
	"slices"

	"slackline/internal/spill"
	"slackline/model/unit"
)

// LocationBuilder takes what happened at one location, in order of time. A time before that of the
// last event is taken as that of the last event.
type LocationBuilder struct {
	rank, thread int
	name, host   string
	space        *spill.Space // that long lists are in; nil: they are on the heap

	calls Calls // columns of the same capacity; Path holds numbers of the location's own tree
	open  []int32
	tree  pathTree

	sends           slab[send]
	sendChannels    channelTable  // peers are ranks in the communicator
	sendEnds        []ends        // of the channels
	receives        slab[receive] // in the order of their posting
	receiveChannels channelTable
	matched         int // receives that found their sends

	collectives []member               // in the order of their issue
	completedIn []PathID               // of those of a location of another process: the paths of the calls that completed them
	alone       []int32                // calls of those that need no other rank
	fileOps     map[requestKey][]int32 // by name: those collective operations on files that are not completed; a name may come again
	epochs      []WindowRecord         // of one-sided communication, in order
	counts      []int64
	lastCounts  span
	requests    requestTable
	away        []awayDone
	records     int32
	polls       []Poll
	sampled     []SampledCall
	teams       []teamMark
	segments    []segment // of workers: their calls inside of teams, in order
	alive       []Span
	lacks       []Lack
	lack        unit.Duration // of a location of another process: all of them together
	counting    counting
	lackCalls   []int32 // by lack: the call that it is in, -1 if it is in none
	lackIn      []int   // by lack, if there are segments: the one that it is in, -1 if there is none

	first, last unit.Duration
	clockError  unit.Duration
	truncated   bool
	off         bool // recording is off
	bornOff     bool // it was off before anything was recorded
	cut         bool // it was off for a time
	offSince    unit.Duration
	offTime     unit.Duration
	offPath     PathID          // of the times when it was off; 0: it never was
	offs        []unit.Duration // when it was switched off

	unbalanced  int64 // leaves without enter, enters without leave
	disordered  int64 // events before the one before them
	pending     int64 // requests that were never completed
	unstarted   int64 // completions of requests that were never started
	tooLarge    int64 // messages larger than what was received of them
	outside     int64 // records outside of any call
	shrunk      int64 // values of metrics that are below those before
	nestedForks int64 // parallel regions inside of others
	oddTeams    int64 // parts in parallel regions without a fork
	unrecorded  int64 // messages of which a record fell into a time when recording was off
	tooMany     int64 // calls and records beyond what int32 can number
}

// never is the time of the last event before there is one.
const never = unit.Duration(math.MinInt64)

// Reserve makes room for so many calls; it is never needed, but saves time and memory.
func (l *LocationBuilder) Reserve(calls int) {
	if calls > cap(l.calls.Enter) {
		l.calls.resize(l.space, calls)
	}
}

// Enter begins a call of a region inside the innermost open call.
func (l *LocationBuilder) Enter(t unit.Duration, r RegionID) {
	t = l.at(t)
	if l.dead() { // what calls something lives
		l.unbalanced++
		l.alive = append(l.alive, Span{t, never})
	}
	i := len(l.calls.Enter)
	if i == cap(l.calls.Enter) && !l.grow() {
		l.open = append(l.open, -1)
		return
	}
	parent := PathID(0)
	if n := len(l.open); n > 0 && l.open[n-1] >= 0 {
		parent = l.calls.Path[l.open[n-1]]
	}
	c := &l.calls
	c.Enter = c.Enter[:i+1]
	c.Path = c.Path[:i+1]
	c.Enter[i] = t
	c.Path[i] = l.tree.child(parent, r)
	l.open = append(l.open, int32(i))
}

// Leave ends the innermost open call.
func (l *LocationBuilder) Leave(t unit.Duration) {
	t = l.at(t)
	n := len(l.open) - 1
	if n < 0 {
		l.unbalanced++
		return
	}
	i := l.open[n]
	l.open = l.open[:n]
	if i < 0 {
		return
	}
	c := &l.calls
	c.Leave[:cap(c.Leave)][i] = t
	c.Skip[:cap(c.Skip)][i] = int32(len(c.Enter))
}

// Event records that something happened at t that nothing else is to be known of.
func (l *LocationBuilder) Event(t unit.Duration) { l.at(t) }

// Depth is the number of open calls.
func (l *LocationBuilder) Depth() int { return len(l.open) }

// Polls records that the innermost open call stands for so many like it that found nothing.
func (l *LocationBuilder) Polls(count int64) {
	i := l.call()
	if i < 0 {
		l.outside++
		return
	}
	at, found := slices.BinarySearchFunc(l.polls, i, func(p Poll, call int32) int { return cmp.Compare(p.Call, call) })
	if !found { // at the end, unless calls inside of this one have come before
		l.polls = spill.Append(l.space, l.polls, Poll{})
		copy(l.polls[at+1:], l.polls[at:])
		l.polls[at] = Poll{Call: i}
	}
	l.polls[at].Count += count
}

// Continues states that the innermost open call is the rest of one that was left because recording was switched off. Those that were made
// out of samples are not counted anyway.
func (l *LocationBuilder) Continues() {
	if n := len(l.sampled); n == 0 || l.sampled[n-1].Call != l.call() {
		l.Polls(0)
	}
}

// Unbalanced states that so many calls were left without having been entered, or the other way round, and that
// the caller has repaired it.
func (l *LocationBuilder) Unbalanced(count int64) { l.unbalanced += count }

// SetClockError records that the times are right within so much relative to rank 0.
func (l *LocationBuilder) SetClockError(d unit.Duration) { l.clockError = d }

// SetTruncated records that the end is missing: calls that are open then are not a mistake.
func (l *LocationBuilder) SetTruncated() { l.truncated = true }

// at notes that something happened at t.
func (l *LocationBuilder) at(t unit.Duration) unit.Duration {
	if t < l.last {
		l.disordered++
		return l.last
	}
	if l.last == never {
		l.first = t
	}
	l.last = t
	return t
}

// call is the innermost open call, -1 if there is none, or if recording is off.
func (l *LocationBuilder) call() int32 {
	if n := len(l.open); n > 0 && !l.off {
		return l.open[n-1]
	}
	return -1
}

// place is the point between the calls where the location is.
func (l *LocationBuilder) place() Place {
	return Place{Next: int32(len(l.calls.Enter)), Open: l.call()}
}

// grow makes room for more calls; false if more cannot be numbered.
func (l *LocationBuilder) grow() bool {
	n := cap(l.calls.Enter)
	if n == math.MaxInt32 {
		l.tooMany++
		return false
	}
	l.calls.resize(l.space, min(max(64, n+n/2), math.MaxInt32))
	return true
}

// resize moves the columns to new ones with room for so many calls.
func (c *Calls) resize(s *spill.Space, room int) {
	n := len(c.Enter)
	c.Enter, c.Leave = moved(s, c.Enter, n, room), moved(s, c.Leave, n, room)
	c.Path, c.Skip = moved(s, c.Path, n, room), moved(s, c.Skip, n, room)
}

// moved returns the first n elements of a list in a new one with room for more; the old one is void.
func moved[T any](s *spill.Space, list []T, n, room int) []T {
	to := spill.Make[T](s, n, room)
	copy(to, list[:n])
	spill.Free(s, list)
	return to
}

// close ends what is still open and brings the columns to their length.
func (l *LocationBuilder) close() {
	for len(l.open) > 0 {
		if !l.truncated && !l.off {
			l.unbalanced++
		}
		l.Leave(l.last)
	}
	n := len(l.calls.Enter)
	l.calls.Leave, l.calls.Skip = l.calls.Leave[:n], l.calls.Skip[:n]
	if cap(l.calls.Enter) > n+n/4+64 {
		l.calls.resize(l.space, n)
	}
	l.placeLacks()
	l.findCounts()
}
