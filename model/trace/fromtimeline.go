package trace

import (
	"cmp"
	"math"
	"slices"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// FromTimeline returns the trace of a timeline, so that a simulated run can be written like a recorded one.
// Its events are made when they are read. All times are on one clock. What the timeline does not keep has
// the time of its call: a receive is posted when its call begins, a send is complete when the call that waits
// for it ends, as late as the order of the records allows. Sends and receives without partner are
// not in a timeline, and so not in the trace. Streams of accelerators are further threads, for formats that do not keep streams.
func FromTimeline(tl *timeline.Timeline) *Trace {
	if tl.Devices != nil {
		t := FromTimeline(tl.StreamsAsThreads())
		t.hosts = func() (*Trace, *timeline.Timeline) {
			threads := *tl
			threads.Devices = nil
			hosts := FromTimeline(&threads)
			hosts.Tool = t.Tool
			return hosts, tl
		}
		return t
	}
	f := newTimelineSource(tl)
	regions, numbers := recordedRegions(tl)
	t := &Trace{Definitions: Definitions{Ranks: tl.Ranks, Regions: regions, Comms: tl.Comms, Windows: tl.Windows, Files: tl.Files,
		Stacks: []Stack{{}}}}
	t.Tool, t.Resolution = "slackline", second
	t.setMissing(tl)
	if tl.Simulated {
		t.Tool = simulator
	}
	for i := range tl.Locations {
		l := &tl.Locations[i]
		t.Locations = append(t.Locations, Location{
			ID: uint64(l.Thread)<<32 | uint64(l.Rank), Rank: l.Rank, Thread: l.Thread, Name: l.Name, Host: l.Host,
			Truncated: l.Truncated, Events: f.count(i),
		})
	}
	if cart, ok := cartOf(tl); ok {
		t.Carts = []Cart{cart}
	}
	t.Open = func(i int) (EventReader, error) {
		return newTimelineReader(tl, i, f.records(i), numbers), nil
	}
	return t
}

// simulator is the tool of traces of simulated runs.
const simulator = "slackline simulate"

// noRegion is the number of the time when recording was off: there are events for it.
const noRegion = math.MaxUint32

// recordedRegions are the regions of a timeline that a trace has, and by region of the timeline its number among them. That of the time
// when recording was off, and that of times without a CPU, are in timelines only; those of accelerators may come after them.
func recordedRegions(tl *timeline.Timeline) (regions []timeline.Region, numbers []uint32) {
	for _, r := range tl.Regions {
		if r == timeline.NotRecorded || r.Paradigm == timeline.NoCPU {
			numbers = append(numbers, noRegion)
			continue
		}
		numbers = append(numbers, uint32(len(regions)))
		regions = append(regions, r)
	}
	return regions, numbers
}

// cartOf returns the process grid of a timeline, on a communicator of all ranks, on one with neighbors if there is one.
func cartOf(tl *timeline.Timeline) (Cart, bool) {
	if tl.Grid == nil {
		return Cart{}, false
	}
	whole := func(c timeline.Comm) bool { return len(c.Members) == tl.Ranks && c.Remote == nil }
	at := slices.IndexFunc(tl.Comms, func(c timeline.Comm) bool { return whole(c) && c.In != nil })
	if at < 0 {
		at = slices.IndexFunc(tl.Comms, whole)
	}
	if at < 0 {
		return Cart{}, false
	}
	members := tl.Comms[at].Members
	c := Cart{Comm: uint32(at), Dims: tl.Grid.Dims, Periodic: tl.Grid.Periodic, Coords: make([][]int, len(members))}
	for place, rank := range members {
		if int(rank) < len(tl.Grid.Coords) {
			c.Coords[place] = tl.Grid.Coords[rank]
		}
	}
	return c, true
}

// timelineSource finds what belongs to a location.
type timelineSource struct {
	tl       *timeline.Timeline
	sends    byLocation         // messages that it sends
	receives byLocation         // and receives
	members  byLocation         // its parts in collectives
	handed   [][]timelineRecord // by location: what it did to requests that another one began or completed
	windows  byLocation         // its records about windows
	marks    [][]timelineRecord
	op       []int32 // collective of a member
}

// byLocation are numbers of things, those of location i from first[i] on.
type byLocation struct {
	first []int
	list  []int32
}

// groupBy sorts the numbers 0 to n-1 by location, otherwise in order.
func groupBy(locations, n int, location func(i int) int32) byLocation {
	g := byLocation{first: make([]int, locations+1), list: make([]int32, n)}
	for i := range n {
		g.first[location(i)+1]++
	}
	for l := range locations {
		g.first[l+1] += g.first[l]
	}
	next := slices.Clone(g.first)
	for i := range n {
		l := location(i)
		g.list[next[l]] = int32(i)
		next[l]++
	}
	return g
}

func (g *byLocation) of(location int) []int32 { return g.list[g.first[location]:g.first[location+1]] }

func newTimelineSource(tl *timeline.Timeline) *timelineSource {
	n := len(tl.Locations)
	f := &timelineSource{
		tl:       tl,
		sends:    groupBy(n, len(tl.Messages), func(i int) int32 { return tl.Messages[i].From }),
		receives: groupBy(n, len(tl.Messages), func(i int) int32 { return tl.Messages[i].To }),
		members:  groupBy(n, len(tl.Members), func(i int) int32 { return tl.Members[i].Location }),
		windows:  groupBy(n, len(tl.Epochs.Records), func(i int) int32 { return tl.Epochs.Records[i].Location }),
		handed:   make([][]timelineRecord, n),
		marks:    make([][]timelineRecord, n),
		op:       make([]int32, len(tl.Members)),
	}
	for i := range tl.Collectives {
		c := &tl.Collectives[i]
		for k := range tl.MembersOf(c) {
			f.op[c.First+k] = int32(i)
		}
	}
	f.findHanded()
	for i := range tl.Teams {
		t := &tl.Teams[i]
		f.mark(t.Master, t.Fork, t.ForkPlace, Event{Kind: Fork, Size: int64(len(t.Members))})
		for k := range t.Members {
			m := &t.Members[k]
			f.mark(m.Location, m.Begin, m.BeginPlace, Event{Kind: TeamBegin})
			f.mark(m.Location, m.End, m.EndPlace, Event{Kind: TeamEnd})
		}
		f.mark(t.Master, t.Join, t.JoinPlace, Event{Kind: Join})
	}
	return f
}

// mark adds a record about a team to a location.
func (f *timelineSource) mark(location int32, time unit.Duration, place timeline.Place, e Event) {
	e.Time = int64(time)
	f.marks[location] = append(f.marks[location], timelineRecord{call: place.Open, next: place.Next, e: e})
}

// timelineRecord is an event inside of a call.
type timelineRecord struct {
	call int32 // in which it is, -1: none
	next int32 // call before which it is, if that is known; else -1
	seq  int32 // among the completions of the location, -1: it is none
	late bool  // its time is not known, but as late as possible
	e    Event
}

// handedRequests is from where on requests that one thread hands to another one are numbered, by their messages and members.
const handedRequests = 1 << 32

// findHanded gives locations the records of what they did to the requests of others: completed a send, posted a receive, issued a
// collective.
func (f *timelineSource) findHanded() {
	add := func(location int32, r timelineRecord) { f.handed[location] = append(f.handed[location], r) }
	for i := range f.tl.Messages {
		m := &f.tl.Messages[i]
		if m.DoneBy != 0 {
			add(m.Completer(), sendDone(m, handedRequests+uint64(i)))
		}
		if m.PostedBy != 0 {
			add(m.Poster(), f.begin(m.Poster(), m.Post, Event{Kind: IrecvPost, Request: handedRequests + uint64(i)}))
		}
	}
	for i := range f.tl.Members {
		if m := &f.tl.Members[i]; m.IssuedBy != 0 {
			e := Event{Kind: CollectiveIssue}
			if c := &f.tl.Collectives[f.op[i]]; c.Scope == timeline.ByFile {
				e = Event{Kind: FileBegin, Object: uint32(c.Object), Size: m.Sent}
			}
			e.Request = handedRequests + uint64(i)
			add(m.Issuer(), f.begin(m.Issuer(), m.Issue, e))
		}
	}
}

// begin is a record at the start of a call.
func (f *timelineSource) begin(location, call int32, e Event) timelineRecord {
	e.Time = enterOf(&f.tl.Locations[location].Calls, call)
	return timelineRecord{call: call, next: -1, seq: -1, e: e}
}

// sendDone is the record of the completion of a send.
func sendDone(m *timeline.Message, request uint64) timelineRecord {
	return timelineRecord{call: m.SendDone, next: -1, seq: m.SendDoneSeq, late: true, e: Event{Kind: IsendDone, Request: request}}
}

// records returns the records of a location, in order of their calls and in the order in which they come there.
func (f *timelineSource) records(location int) []timelineRecord {
	calls := &f.tl.Locations[location].Calls
	list := f.lives(location)
	for _, r := range f.marks[location] {
		r.seq = -1
		list = append(list, r)
	}
	list = append(list, f.handed[location]...)
	own := uint64(0)
	request := func(by int16, number int32) func() uint64 { // of a message or a member, in which another thread may have a part
		return func() uint64 {
			if by != 0 {
				return handedRequests + uint64(number)
			}
			own++
			return own
		}
	}
	for _, i := range f.sends.of(location) {
		m := &f.tl.Messages[i]
		list = f.appendSend(list, m, request(m.DoneBy, i))
	}
	for _, i := range f.receives.of(location) {
		m := &f.tl.Messages[i]
		list = f.appendReceive(list, m, request(m.PostedBy, i))
	}
	for _, i := range f.members.of(location) {
		list = f.appendMember(list, calls, i, request(f.tl.Members[i].IssuedBy, i))
	}
	for _, i := range f.windows.of(location) {
		list = appendWindowRecord(list, calls, &f.tl.Epochs.Records[i])
	}
	for _, p := range f.tl.Locations[location].Polls {
		e := Event{Time: int64(calls.Enter[p.Call]), Kind: Polls, Size: p.Count}
		list = append(list, timelineRecord{call: p.Call, next: -1, seq: -1, e: e})
	}
	setLateTimes(list, calls)
	slices.SortStableFunc(list, func(a, b timelineRecord) int {
		if order := cmp.Or(cmp.Compare(a.call, b.call), cmp.Compare(a.e.Time, b.e.Time)); order != 0 || a.seq < 0 || b.seq < 0 {
			return order
		}
		return cmp.Compare(a.seq, b.seq)
	})
	return list
}

// lives returns the records of the threads of a location. What a thread calls at its very end, without length, comes before that.
func (f *timelineSource) lives(location int) []timelineRecord {
	var list []timelineRecord
	l := &f.tl.Locations[location]
	for i, s := range l.Alive {
		last := s.To
		if i+1 < len(l.Alive) && l.Alive[i+1].From == s.To { // it is the next one that calls it
			last--
		}
		next, _ := slices.BinarySearch(l.Calls.Enter, last+1)
		list = append(list, timelineRecord{call: -1, next: -1, seq: -1, e: Event{Time: int64(s.From), Kind: ThreadBegin}},
			timelineRecord{call: -1, next: int32(next), seq: -1, e: Event{Time: int64(s.To), Kind: ThreadEnd}})
	}
	return list
}

// count returns the number of events of a location.
func (f *timelineSource) count(location int) uint64 {
	l := &f.tl.Locations[location]
	n := 2*l.Calls.Len() + 2*len(l.Alive) + len(f.marks[location]) + len(f.windows.of(location)) + len(l.Polls) + len(f.handed[location])
	for _, i := range f.members.of(location) {
		if n++; f.tl.Members[i].IssuedBy == 0 {
			n += recordsOfMember(&f.tl.Collectives[f.op[i]]) - 1
		}
	}
	for _, i := range f.sends.of(location) {
		n++
		if m := &f.tl.Messages[i]; m.SendDone >= 0 && m.DoneBy == 0 && !m.SendBlocks() {
			n++
		}
	}
	for _, i := range f.receives.of(location) {
		n++
		if m := &f.tl.Messages[i]; m.PostedBy == 0 && !m.RecvBlocks() {
			n++
		}
	}
	return uint64(n)
}

// appendSend appends the records of a sender.
func (f *timelineSource) appendSend(list []timelineRecord, m *timeline.Message, request func() uint64) []timelineRecord {
	e := Event{
		Time: int64(m.Sent), Kind: Send, Peer: f.peer(m.Comm, m.To, m.From), Comm: uint32(m.Comm), Tag: m.Tag, Size: m.Size,
	}
	if m.SendBlocks() {
		return append(list, timelineRecord{call: m.Send, next: -1, seq: -1, e: e})
	}
	e.Kind, e.Request = Isend, request()
	if m.Channel != 0 {
		e.Kind, e.Object = PartitionedSend, uint32(m.Channel)
	}
	list = append(list, timelineRecord{call: m.Send, next: -1, seq: -1, e: e})
	if m.SendDone >= 0 && m.DoneBy == 0 {
		list = append(list, sendDone(m, e.Request))
	}
	return list
}

// appendReceive appends the records of a receiver.
func (f *timelineSource) appendReceive(list []timelineRecord, m *timeline.Message, request func() uint64) []timelineRecord {
	e := Event{
		Time: int64(m.Received), Kind: Recv, Peer: f.peer(m.Comm, m.From, m.To), Comm: uint32(m.Comm), Tag: m.Tag, Size: m.Size,
	}
	if !m.RecvBlocks() {
		e.Kind, e.Request = IrecvDone, request()
		if m.Channel != 0 {
			e.Kind, e.Object = PartitionedDone, uint32(m.Channel)
		}
		if m.PostedBy == 0 {
			list = append(list, f.begin(m.To, m.Post, Event{Kind: IrecvPost, Request: e.Request}))
		}
	}
	return append(list, timelineRecord{call: m.Recv, next: -1, seq: m.RecvSeq, e: e})
}

// appendMember appends the records of a member of a collective.
func (f *timelineSource) appendMember(list []timelineRecord, calls *timeline.Calls, member int32, request func() uint64) []timelineRecord {
	m := &f.tl.Members[member]
	c := &f.tl.Collectives[f.op[member]]
	if c.Scope != timeline.ByComm {
		return f.appendOnObject(list, m, c, request)
	}
	begin := Event{Kind: CollectiveBegin}
	end := Event{
		Kind: CollectiveEnd, Op: c.Op, Comm: uint32(c.Comm), Root: f.tl.RootWord(c, int(member)-c.First), Sent: m.Sent, Received: m.Received,
		Counts: f.tl.CountsOf(m),
	}
	if !m.Blocks() {
		begin.Kind, begin.Request = CollectiveIssue, request()
		end.Kind, end.Request = CollectiveDone, begin.Request
	}
	if m.IssuedBy == 0 {
		list = append(list, f.begin(m.Location, m.Issue, begin))
	}
	return append(list, timelineRecord{call: m.Complete, next: -1, seq: m.Seq, late: true, e: end})
}

// appendOnObject appends the records of a member of a collective on a window or a file, or of the making of an intercommunicator.
func (f *timelineSource) appendOnObject(list []timelineRecord, m *timeline.Member, c *timeline.Collective,
	request func() uint64) []timelineRecord {
	e := Event{Object: uint32(c.Object)}
	switch {
	case c.Scope == timeline.ByConnection:
		e = Event{Kind: CommCreate, Comm: uint32(c.Comm)}
	case c.Scope == timeline.ByWindow:
		e.Kind, e.Op = WinCollective, c.Op
	case c.Op == timeline.OpCreateHandle:
		e.Kind = FileOpen
	case c.Op == timeline.OpDestroyHandle:
		e.Kind = FileClose
	default:
		e.Kind, e.Request = FileEnd, request()
		if m.IssuedBy == 0 {
			list = append(list, f.begin(m.Location, m.Issue, Event{Kind: FileBegin, Object: e.Object, Request: e.Request, Size: m.Sent}))
		}
	}
	return append(list, timelineRecord{call: m.Complete, next: -1, seq: m.Seq, late: true, e: e})
}

// recordsOfMember is how many records a member of a collective has.
func recordsOfMember(c *timeline.Collective) int {
	if c.Scope == timeline.ByComm || c.Scope == timeline.ByFile && c.Op == timeline.OpBarrier {
		return 2
	}
	return 1
}

// appendWindowRecord appends what a call did to a window. Accesses and locks are where their call begins, all others where it ends.
func appendWindowRecord(list []timelineRecord, calls *timeline.Calls, r *timeline.WindowRecord) []timelineRecord {
	e := Event{Kind: windowKinds[r.Kind], Object: uint32(r.Window)}
	switch r.Kind {
	case timeline.WinPost, timeline.WinStart:
		e.Counts = make([]int64, len(r.Group))
		for i, rank := range r.Group {
			e.Counts[i] = int64(rank)
		}
	case timeline.WinLock:
		e.Peer, e.Flag = r.Target, !r.Flag
	case timeline.WinUnlock:
		e.Peer = r.Target
	case timeline.WinFlush:
		e.Peer, e.Flag = r.Target, r.Flag
	case timeline.WinAccess:
		e.Peer = r.Target
		switch {
		case r.Received == 0:
			e.Kind, e.Size = Put, r.Sent
		case r.Sent == 0:
			e.Kind, e.Size = Get, r.Received
		default:
			e.Sent, e.Received = r.Sent, r.Received
		}
	}
	if r.Kind == timeline.WinLock || r.Kind == timeline.WinAccess {
		e.Time = enterOf(calls, r.Call)
		return append(list, timelineRecord{call: r.Call, next: -1, seq: -1, e: e})
	}
	return append(list, timelineRecord{call: r.Call, next: -1, seq: r.Seq, late: true, e: e})
}

// windowKinds are the kinds of events of records about windows.
var windowKinds = [...]Kind{
	timeline.WinPost: WinPost, timeline.WinStart: WinStart, timeline.WinComplete: WinComplete, timeline.WinWait: WinWait,
	timeline.WinLock: WinLock, timeline.WinUnlock: WinUnlock, timeline.WinFlush: WinFlush, timeline.WinAccess: Atomic,
}

// peer returns the rank in a communicator of a location, as seen by another one.
func (f *timelineSource) peer(comm, location, by int32) int32 {
	c := &f.tl.Comms[comm]
	rank, own := f.tl.Locations[location].Rank, f.tl.Locations[by].Rank
	members := c.Members
	if c.Remote != nil && rankIn(c.Members, own) >= 0 {
		members = c.Remote
	}
	return rankIn(members, rank)
}

// enterOf returns when a call begins; 0 if there is none.
func enterOf(calls *timeline.Calls, call int32) int64 {
	if call < 0 {
		return 0
	}
	return int64(calls.Enter[call])
}

// setLateTimes gives times to completions that have none: that of the completion after them in the same
// call, or the end of the call.
func setLateTimes(list []timelineRecord, calls *timeline.Calls) {
	var order []int
	for i := range list {
		if list[i].seq >= 0 {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(list[a].seq, list[b].seq) })
	call, time := int32(-2), int64(0)
	for _, i := range slices.Backward(order) {
		r := &list[i]
		if r.call != call && r.call >= 0 {
			time = int64(calls.Leave[r.call])
		}
		call = r.call
		if r.late {
			r.e.Time = time
		}
		time = r.e.Time
	}
}
