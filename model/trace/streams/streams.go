// Package streams keeps what ran on the accelerators of a run beside a trace of its hosts: streams, their activities with the calls that
// launched them, what calls say about streams and events, and what kernels communicate. It is a list of records, which formats of
// traces write as text or as a file of their own, and from which the devices of a timeline are made again, exactly.
package streams

import (
	"fmt"
	"math"
	"slices"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// Word is what a record is about.
type Word uint8

// The records with their numbers. Streams, groups and activities of a stream are numbered in the order of their records; times are in ps on
// the clock of the run; -1 is what is not known.
const (
	Host       Word = iota // rank, start of its first call: by it the times are moved if those of the hosts were
	Stream                 // rank, device; name
	Activity               // kind, start, end, thread and number of the launching call; name. Of the stream before it
	Reference              // rank, thread and number of a call, stream, device, stream of the event, start of the call that recorded it
	Group                  // world ranks of its members; name
	Collective             // operation, group, root; its members follow
	Member                 // stream, activity, sent, received, place among the operations of the kernel
	Message                // stream, activity and place of the sender, of the receiver; group, tag, size, when it was sent and received
	Overlaps               // activities that began before the one before them had ended
)

// Words are the names of the records.
var Words = []string{"host", "stream", "activity", "reference", "group", "collective", "member", "message", "overlaps"}

// numbers are how many a record has; -1: any.
var numbers = []int{2, 2, 5, 7, -1, 3, 5, 11, 1}

// Named reports whether records have a name.
func (w Word) Named() bool { return w == Stream || w == Activity || w == Group }

// Record is one of the list.
type Record struct {
	Word    Word
	Numbers []int64
	Name    string
}

// Records lists what ran on the devices of a timeline. The numbers of a record are valid until the next one.
func Records(tl *timeline.Timeline, emit func(Record) error) error {
	var err error
	var list []int64
	put := func(word Word, name string, numbers ...int64) {
		if list = append(list[:0], numbers...); err == nil {
			err = emit(Record{word, list, name})
		}
	}
	starts := startsOf(tl)
	for rank := range tl.Ranks {
		if start, ok := starts[rank]; ok {
			put(Host, "", int64(rank), int64(start))
		}
	}
	d := tl.Devices
	for i := range d.Streams {
		s := &d.Streams[i]
		put(Stream, s.Name, int64(s.Rank), int64(s.Device))
		for j := range s.Len() {
			thread, call := int64(-1), int64(-1)
			if l := s.Launch[j]; l.Known() {
				thread, call = int64(tl.Locations[l.Thread].Thread), int64(l.Call)
			}
			put(Activity, tl.RegionOf(s.Path[j]).Name, int64(s.Kind[j]), int64(s.Begin[j]), int64(s.End[j]), thread, call)
		}
	}
	for i := range d.References {
		r := &d.References[i]
		l := &tl.Locations[r.Location]
		put(Reference, "", int64(l.Rank), int64(l.Thread), int64(r.Call), int64(r.Stream), int64(r.Device), int64(r.Event), int64(r.Recorded))
	}
	for i := range d.Comms {
		members := make([]int64, 0, len(d.Comms[i].Members))
		for _, m := range d.Comms[i].Members {
			members = append(members, int64(m))
		}
		put(Group, d.Comms[i].Name, members...)
	}
	for i := range d.Collectives {
		c := &d.Collectives[i]
		put(Collective, "", int64(c.Op), int64(c.Comm), int64(c.Root))
		for _, m := range d.Members[c.First:][:len(d.Comms[c.Comm].Members)] {
			put(Member, "", int64(m.Location), int64(m.Issue), m.Sent, m.Received, int64(m.Seq))
		}
	}
	for i := range d.Messages {
		m := &d.Messages[i]
		put(Message, "", int64(m.From), int64(m.Send), int64(m.SendDoneSeq), int64(m.To), int64(m.Recv), int64(m.RecvSeq), int64(m.Comm),
			int64(m.Tag), m.Size, int64(m.Sent), int64(m.Received))
	}
	if d.Overlaps > 0 {
		put(Overlaps, "", d.Overlaps)
	}
	return err
}

// startsOf are the starts of the first calls of the ranks that have one.
func startsOf(tl *timeline.Timeline) map[int]unit.Duration {
	starts := map[int]unit.Duration{}
	for i := range tl.Locations {
		l := &tl.Locations[i]
		if first, ok := starts[l.Rank]; l.Calls.Len() > 0 && (!ok || l.Calls.Enter[0] < first) {
			starts[l.Rank] = l.Calls.Enter[0]
		}
	}
	return starts
}

// Builder makes the devices of a timeline of hosts out of records.
type Builder struct {
	tl         *timeline.Timeline
	wanted     func(rank int) bool
	b          *timeline.DeviceBuilder
	starts     map[int]unit.Duration
	threads    map[[2]int64]int32 // locations by rank and thread
	moved      unit.Duration      // what is added to all times
	anchored   bool
	streams    []stream
	made       int32
	now        *timeline.StreamBuilder // of the last stream; nil: it is not wanted
	references []timeline.Reference
	d          timeline.Devices // groups, collectives and messages as they are recorded
	left       int              // members that must follow
	overlaps   int64
}

// stream is one that was recorded.
type stream struct {
	rank int64
	made int32 // number among those that are wanted, -1: it is not
	acts int64
	end  unit.Duration
}

// NewBuilder begins the devices of those ranks of a timeline that are wanted.
func NewBuilder(tl *timeline.Timeline, wanted func(rank int) bool) *Builder {
	b := &Builder{tl: tl, wanted: wanted, b: timeline.NewDeviceBuilder(tl), starts: startsOf(tl), threads: map[[2]int64]int32{}}
	for i := range tl.Locations {
		l := &tl.Locations[i]
		b.threads[[2]int64{int64(l.Rank), int64(l.Thread)}] = int32(i)
	}
	return b
}

// inRange reports whether a number is from low to high, high not included.
func inRange(v, low, high int64) bool { return v >= low && v < high }

// isTime reports whether a number can be a time.
func isTime(v int64) bool { return inRange(v, -math.MaxInt64/4, math.MaxInt64/4) }

// Add takes the next record. The error says what is wrong with it.
func (b *Builder) Add(r *Record) error {
	if int(r.Word) >= len(Words) || numbers[r.Word] >= 0 && len(r.Numbers) != numbers[r.Word] {
		return fmt.Errorf("a record of a device with %d numbers", len(r.Numbers))
	}
	if (b.left > 0) != (r.Word == Member) {
		return fmt.Errorf("%d members of a collective are missing, or there are too many", b.left)
	}
	ok := false
	switch n := r.Numbers; r.Word {
	case Host:
		start, is := b.starts[int(n[0])]
		if ok = isTime(n[1]); ok && is && !b.anchored {
			b.moved, b.anchored = start-unit.Duration(n[1]), true
		}
	case Stream:
		if ok = inRange(n[0], 0, int64(b.tl.Ranks)) && inRange(n[1], math.MinInt32, math.MaxInt32); ok {
			b.stream(int(n[0]), int(n[1]), r.Name)
		}
	case Activity:
		ok = b.activity(n, r.Name)
	case Reference:
		ok = b.reference(n)
	case Group:
		ok = b.group(n, r.Name)
	case Collective:
		ok = b.collective(n)
	case Member:
		ok = b.member(n)
	case Message:
		ok = b.message(n)
	case Overlaps:
		b.overlaps, ok = n[0], n[0] >= 0
	}
	if !ok {
		return fmt.Errorf("%s %v of a device is not possible", Words[r.Word], r.Numbers)
	}
	return nil
}

func (b *Builder) stream(rank, device int, name string) {
	s := stream{rank: int64(rank), made: -1, end: math.MinInt64}
	b.now = nil
	if b.wanted(rank) {
		b.now = b.b.Stream(rank, device, int64(len(b.streams)), name)
		s.made = b.made
		b.made++
	}
	b.streams = append(b.streams, s)
}

func (b *Builder) activity(n []int64, name string) bool {
	if len(b.streams) == 0 || !inRange(n[0], 0, int64(timeline.Memset)+1) || !isTime(n[1]) || !isTime(n[2]) || n[2] < n[1] {
		return false
	}
	s := &b.streams[len(b.streams)-1]
	begin, end := unit.Duration(n[1]), unit.Duration(n[2])
	if begin < s.end {
		return false
	}
	s.end = end
	s.acts++
	if b.now == nil {
		return true
	}
	l := timeline.NoLaunch
	if at, call := b.call(s.rank, n[3], n[4]); at >= 0 {
		l = timeline.Launch{Thread: at, Call: call}
	}
	b.now.Add(begin+b.moved, end+b.moved, b.b.Region(name), timeline.ActivityKind(n[0]), l)
	return true
}

// call finds a call by rank, thread and number; -1 if the hosts do not have it.
func (b *Builder) call(rank, thread, call int64) (location, number int32) {
	at, ok := b.threads[[2]int64{rank, thread}]
	if !ok || !inRange(call, 0, int64(b.tl.Locations[at].Calls.Len())) {
		return -1, -1
	}
	return at, int32(call)
}

func (b *Builder) reference(n []int64) bool {
	streams := int64(len(b.streams))
	if !inRange(n[3], timeline.NoStream, streams) || !inRange(n[4], -1, math.MaxInt32) || !inRange(n[5], -1, streams) || !isTime(n[6]) {
		return false
	}
	at, call := b.call(n[0], n[1], n[2])
	if at < 0 {
		return true
	}
	r := timeline.Reference{Location: at, Call: call, Stream: int32(n[3]), Device: int32(n[4]), Event: -1,
		Recorded: unit.Duration(n[6]) + b.moved}
	if n[3] >= 0 {
		r.Stream = b.streams[n[3]].made
	}
	if n[5] >= 0 {
		r.Event = b.streams[n[5]].made
	}
	b.references = append(b.references, r)
	return true
}

func (b *Builder) group(n []int64, name string) bool {
	c := timeline.Comm{Name: name}
	for _, r := range n {
		if !inRange(r, 0, int64(b.tl.Ranks)) || slices.Contains(c.Members, int32(r)) {
			return false
		}
		c.Members = append(c.Members, int32(r))
	}
	b.d.Comms = append(b.d.Comms, c)
	return true
}

func (b *Builder) collective(n []int64) bool {
	if !inRange(n[0], 0, int64(timeline.OpNeighborAlltoallw)+1) || !inRange(n[1], 0, int64(len(b.d.Comms))) ||
		!inRange(n[2], -1, int64(len(b.d.Comms[n[1]].Members))) {
		return false
	}
	c := timeline.Collective{Op: timeline.Op(n[0]), Comm: int32(n[1]), Root: int32(n[2]), First: len(b.d.Members)}
	b.left = len(b.d.Comms[c.Comm].Members)
	b.d.Collectives = append(b.d.Collectives, c)
	return true
}

// has reports whether there is an activity of a rank; -1: of any.
func (b *Builder) has(stream, act, rank int64) bool {
	return inRange(stream, 0, int64(len(b.streams))) && inRange(act, 0, b.streams[stream].acts) && (rank < 0 || b.streams[stream].rank == rank)
}

func (b *Builder) member(n []int64) bool {
	members := b.d.Comms[b.d.Collectives[len(b.d.Collectives)-1].Comm].Members
	if !b.has(n[0], n[1], int64(members[len(members)-b.left])) || !inRange(n[4], 0, math.MaxInt32) || n[2] < 0 || n[3] < 0 {
		return false
	}
	b.left--
	b.d.Members = append(b.d.Members, timeline.Member{Location: int32(n[0]), Issue: int32(n[1]), Complete: int32(n[1]), Sent: n[2],
		Received: n[3], Seq: int32(n[4]), Counts: -1})
	return true
}

func (b *Builder) message(n []int64) bool {
	if !b.has(n[0], n[1], -1) || !b.has(n[3], n[4], -1) || !inRange(n[2], -1, math.MaxInt32) || !inRange(n[5], 0, math.MaxInt32) ||
		!inRange(n[6], 0, int64(len(b.d.Comms))) || !inRange(n[7], math.MinInt32, math.MaxInt32) || n[8] < 0 || !isTime(n[9]) || !isTime(n[10]) {
		return false
	}
	send, recv := int32(n[1]), int32(n[4])
	b.d.Messages = append(b.d.Messages, timeline.Message{From: int32(n[0]), Send: send, SendDone: send, SendDoneSeq: int32(n[2]),
		To: int32(n[3]), Recv: recv, Post: recv, RecvSeq: int32(n[5]), Comm: int32(n[6]), Tag: int32(n[7]), Size: n[8],
		Sent: unit.Duration(n[9]) + b.moved, Received: unit.Duration(n[10]) + b.moved})
	return true
}

// Cut is Finish of a list that ends early.
func (b *Builder) Cut() error {
	if b.left > 0 {
		last := len(b.d.Collectives) - 1
		b.d.Members, b.d.Collectives, b.left = b.d.Members[:b.d.Collectives[last].First], b.d.Collectives[:last], 0
	}
	return b.Finish()
}

// Finish makes what came the devices of the timeline. Collectives and messages with ranks that are not wanted are left out.
func (b *Builder) Finish() error {
	if b.left > 0 {
		return fmt.Errorf("%d members of a collective are missing", b.left)
	}
	if b.made == 0 {
		return nil
	}
	d := b.b.Finish(b.references)
	d.Overlaps, d.Comms = b.overlaps, b.d.Comms
	for _, c := range b.d.Collectives {
		members := slices.Clone(b.d.Members[c.First:][:len(d.Comms[c.Comm].Members)])
		if slices.ContainsFunc(members, func(m timeline.Member) bool { return b.streams[m.Location].made < 0 }) {
			continue
		}
		for i := range members {
			members[i].Location = b.streams[members[i].Location].made
		}
		c.First = len(d.Members)
		d.Collectives, d.Members = append(d.Collectives, c), append(d.Members, members...)
	}
	for _, m := range b.d.Messages {
		if m.From, m.To = b.streams[m.From].made, b.streams[m.To].made; m.From >= 0 && m.To >= 0 {
			d.Messages = append(d.Messages, m)
		}
	}
	return nil
}
