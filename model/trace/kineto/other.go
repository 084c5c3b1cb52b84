package kineto

import (
	"math"

	"slackline/model/trace/damage"
	"slackline/model/trace/device"
)

// Rank takes what the trace of another profiler holds of a rank. Times are in ns and count from the same moment for all ranks.
type Rank struct{ file *rankFile }

// NewRank returns an empty rank. Messages call its file what show says.
func NewRank(rank int, show string) *Rank {
	f := newRankFile(rank, show)
	f.begun = true
	return &Rank{f}
}

// MaxTime is the longest time in ns.
const MaxTime = math.MaxInt64 / 4 / 1000

// valid reports whether times can be kept.
func (r *Rank) valid(begin, end int64) bool {
	if begin < 0 || end < begin || end > MaxTime {
		r.file.skipped++
		return false
	}
	r.file.events++
	return true
}

// Cut says that not everything of the rank could be read.
func (r *Rank) Cut() { r.file.cut = true }

func (r *Rank) name(name string) uint32 {
	id, ok := r.file.byName[name]
	if !ok {
		id = uint32(len(r.file.names))
		r.file.byName[name] = id
		r.file.names = append(r.file.names, name)
	}
	return id
}

// Call adds a call of a thread; the correlation is that of what it launches, 0: of nothing.
func (r *Rank) Call(pid, tid, begin, end int64, name string, correlation int64) {
	if r.valid(begin, end) {
		_, err := r.file.addCall(threadID{pid, tid}, begin*1000, end*1000, r.name(name), correlated(correlation))
		r.note(err)
	}
}

// note remembers why not everything could be taken.
func (r *Rank) note(err error) {
	if err != nil && r.file.damage == nil {
		r.file.damage = damage.At(r.file.show, -1, "%v", err)
	}
}

// correlated is a correlation, 0 if there is none.
func correlated(n int64) uint32 {
	if n <= 0 || n >= math.MaxUint32 {
		return 0
	}
	return uint32(n)
}

// Kernel, Copy and Memset add an activity of a stream. Of a kernel that communicates, operation says what it does; empty: it is not known.
func (r *Rank) Kernel(dev, stream, begin, end int64, name string, correlation int64, operation string) {
	r.activity(kindKernel, dev, stream, begin, end, name, correlation, operation)
}

func (r *Rank) Copy(dev, stream, begin, end int64, name string, correlation int64) {
	r.activity(kindCopy, dev, stream, begin, end, name, correlation, "")
}

func (r *Rank) Memset(dev, stream, begin, end int64, name string, correlation int64) {
	r.activity(kindMemset, dev, stream, begin, end, name, correlation, "")
}

func (r *Rank) activity(kind eventKind, dev, stream, begin, end int64, name string, correlation int64, operation string) {
	if !r.valid(begin, end) {
		return
	}
	f := r.file
	a := activity{begin: begin * 1000, end: end * 1000, name: r.name(name), correlation: correlated(correlation), args: -1, kind: kind}
	if operation != "" {
		a.args = int32(len(f.args))
		args := noArgs
		args.collective = device.OperationName(operation)
		f.args = append(f.args, args)
	}
	r.note(f.addActivity(streamID{dev, stream}, a))
}

// Communication is what a kernel carries out. Numbers are -1 if they are not known.
type Communication struct {
	Operation string
	Group     string
	Ranks     string // of the group, such as [0, 1, 2]
	Root      int64  // ranks in the group
	Peer      int64
	Sequence  int64
	In, Out   int64 // bytes
}

// Communicate adds a kernel that communicates and whose launch is not known: it is matched by when it began.
func (r *Rank) Communicate(dev, stream, begin, end int64, name string, c Communication) {
	if !r.valid(begin, end) {
		return
	}
	f := r.file
	args := noArgs
	args.collective, args.group, args.ranks = device.OperationName(c.Operation), c.Group, c.Ranks
	args.root, args.source, args.destination, args.sequence, args.in, args.out = c.Root, c.Peer, c.Peer, c.Sequence, c.In, c.Out
	args.alone = true
	a := activity{begin: begin * 1000, end: end * 1000, name: r.name(name), args: int32(len(f.args)), kind: kindKernel}
	f.args = append(f.args, args)
	r.note(f.addActivity(streamID{dev, stream}, a))
}

// The kinds of synchronization, as Kineto names them.
const (
	StreamSync  = "Stream Sync"
	ContextSync = "Context Sync"
	EventSync   = "Event Sync"
	StreamWait  = "Stream Wait Event"
)

// Sync adds what the call with a correlation waits for, or lets a stream wait for: waitOn is the stream of the event, -1 if it is not
// known, record the correlation of the call that recorded it.
func (r *Rank) Sync(kind string, dev, stream, waitOn, correlation, record int64) {
	if c := correlated(correlation); c != 0 {
		r.file.syncs = append(r.file.syncs, syncRecord{kind, c, correlated(record), dev, stream, waitOn})
	}
}

// NewProfile makes a profile of ranks.
func NewProfile(ranks []*Rank, oneClock bool) (*Profile, error) {
	k := &Profile{oneClock: oneClock}
	for _, r := range ranks {
		k.files = append(k.files, r.file)
		k.Ranks = max(k.Ranks, r.file.rank+1)
	}
	return k, k.check()
}
