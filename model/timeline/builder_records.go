package timeline

import (
	"math"
	"slices"

	"slackline/internal/spill"
	"slackline/model/unit"
)

// send is a record of sending.
type send struct {
	time          unit.Duration
	size          int64
	channel       int32 // of the location's sends
	next          int32 // number of the next send on the channel, -1: none
	call          int32
	done, doneSeq int32 // call and number of the record of completion, -1: none
	state         state
	by            int16 // thread that completed it: its location relative to this one
}

// receive is a receive, at the place where it was posted.
type receive struct {
	posted, time unit.Duration
	channel      int32 // of the location's receives
	post, call   int32
	seq          int32
	from, send   int32 // location and number of the send that it matches
	size         int64 // of the largest message that it takes; of a skipped one: how many it stands for
	state        state
	took         bool  // it matches one, even if it was left out then
	by           int16 // thread that posted it: its location relative to this one
}

// member is the part of a location in a collective, at the place of its issue.
type member struct {
	issued          unit.Duration
	sent, received  int64
	comm, root      int32 // comm: or another object of the scope
	issue, complete int32
	seq             int32
	counts          int32
	op              Op
	scope           Scope
	state           state
	by              int16 // thread that issued it: its location relative to this one
}

// state is how far a message or collective has come.
type state uint8

const (
	begun   state = iota
	done          // the record that says what it is has come
	matched       // it has found its partner
	dropped       // cancelled
	skipped       // some that were not recorded
)

// span is a part of a slice.
type span struct{ from, to int }

// teamMark is a record of forking, joining, or of the beginning and end of a thread in a team.
type teamMark struct {
	time  unit.Duration
	place Place
	kind  teamKind
}

type teamKind uint8

const (
	fork teamKind = iota
	join
	teamBegin
	teamEnd
	teamsOff // recording stops: when what has begun ends is not known
)

// record notes that a record came at t; it returns its time, number and call, false if there are too
// many to number.
func (l *LocationBuilder) record(t unit.Duration) (time unit.Duration, seq, call int32, ok bool) {
	time = l.at(t)
	if l.records == math.MaxInt32 {
		l.tooMany++
		return time, 0, 0, false
	}
	seq = l.records
	l.records++
	return time, seq, l.call(), true
}

// Send is a blocking send. Peer is the rank in the communicator, in the remote group of an
// intercommunicator.
func (l *LocationBuilder) Send(t unit.Duration, peer, comm, tag int32, size int64) {
	t, seq, call, ok := l.record(t)
	if !ok {
		return
	}
	s := l.addSend(channel{peer: peer, comm: comm, tag: tag})
	s.time, s.size, s.call = t, size, call
	s.done, s.doneSeq = call, seq
}

// Isend is the beginning of a send that IsendDone completes.
func (l *LocationBuilder) Isend(t unit.Duration, peer, comm, tag int32, size int64, request uint64) {
	l.PartitionedSend(t, peer, comm, tag, 0, size, request)
}

// PartitionedSend is an Isend of a partitioned message: it begins when its last partition is ready. Those of a channel are received by
// PartitionedDone of the same channel.
func (l *LocationBuilder) PartitionedSend(t unit.Duration, peer, comm, tag, number int32, size int64, request uint64) {
	t, _, call, ok := l.record(t)
	if !ok {
		return
	}
	l.requests.put(requestKey{request, sendRequest}, l.sends.n)
	s := l.addSend(channel{peer, comm, tag, number})
	s.time, s.size, s.call = t, size, call
	s.done, s.doneSeq = -1, -1
}

// addSend appends a send to its channel.
func (l *LocationBuilder) addSend(c channel) *send {
	no := l.sendChannels.number(c)
	if int(no) == len(l.sendEnds) {
		l.sendEnds = append(l.sendEnds, ends{l.sends.n, l.sends.n})
	} else {
		e := &l.sendEnds[no]
		l.sends.at(e.last).next = l.sends.n
		e.last = l.sends.n
	}
	s := l.sends.add(l.space)
	s.channel, s.next, s.state = no, -1, done
	return s
}

// IsendElsewhere begins the send of a message that is left out.
func (l *LocationBuilder) IsendElsewhere(t unit.Duration, request uint64) {
	t, _, _, ok := l.record(t)
	if !ok {
		return
	}
	l.requests.put(requestKey{request, sendRequest}, l.sends.n)
	s := l.sends.add(l.space)
	s.time, s.state = t, dropped
}

// ends are the first and the last send of a channel.
type ends struct{ first, last int32 }

// IsendDone completes the last Isend with its request.
func (l *LocationBuilder) IsendDone(t unit.Duration, request uint64) {
	t, seq, call, ok := l.record(t)
	if !ok {
		return
	}
	i, found := l.requests.take(requestKey{request, sendRequest})
	if !found {
		l.away = append(l.away, awayDone{time: t, key: requestKey{request, sendRequest}, call: call, seq: seq})
		return
	}
	s := l.sends.at(i)
	s.done, s.doneSeq = call, seq
}

// Post is the posting of a receive that IrecvDone completes.
func (l *LocationBuilder) Post(t unit.Duration, request uint64) {
	t, _, call, ok := l.record(t)
	if !ok {
		return
	}
	if call < 0 {
		call = l.noCall()
	}
	l.requests.put(requestKey{request, receiveRequest}, l.receives.n)
	r := l.receives.add(l.space)
	r.posted, r.post = t, call
}

// AnySize is the size of what is received if it says nothing about that of the message.
const AnySize = math.MaxInt64

// Recv is a blocking receive, at its end.
func (l *LocationBuilder) Recv(t unit.Duration, peer, comm, tag int32, size int64) {
	t, seq, call, ok := l.record(t)
	if !ok {
		return
	}
	r := l.receives.add(l.space)
	r.posted, r.post = t, call
	l.receiveDone(r, t, channel{peer: peer, comm: comm, tag: tag}, size, call, seq)
}

// IrecvDone completes the last Post with its request. Without one, the receive counts as posted here.
// The size of a message is that which was sent; the one given here must not be smaller.
func (l *LocationBuilder) IrecvDone(t unit.Duration, peer, comm, tag int32, size int64, request uint64) {
	l.requestDone(t, channel{peer: peer, comm: comm, tag: tag}, size, request)
}

// PartitionedDone is an IrecvDone of a partitioned message; see PartitionedSend.
func (l *LocationBuilder) PartitionedDone(t unit.Duration, peer, comm, tag, number int32, request uint64) {
	l.requestDone(t, channel{peer, comm, tag, number}, AnySize, request)
}

func (l *LocationBuilder) requestDone(t unit.Duration, c channel, size int64, request uint64) {
	t, seq, call, ok := l.record(t)
	if !ok {
		return
	}
	var r *receive
	if i, found := l.requests.take(requestKey{request, receiveRequest}); found {
		r = l.receives.at(i)
	} else {
		l.away = append(l.away, awayDone{time: t, key: requestKey{request, receiveRequest}, index: l.receives.n})
		r = l.receives.add(l.space)
		r.posted, r.post = t, call
	}
	l.receiveDone(r, t, c, size, call, seq)
}

func (l *LocationBuilder) receiveDone(r *receive, t unit.Duration, c channel, size int64, call, seq int32) {
	r.time, r.channel, r.size = t, l.receiveChannels.number(c), size
	r.call, r.seq, r.state = call, seq, done
}

// Cancel states that a request was cancelled: its message was never sent, its receive took none, its
// collective did not take place.
func (l *LocationBuilder) Cancel(t unit.Duration, request uint64) {
	t, _, _, ok := l.record(t)
	if !ok {
		return
	}
	for _, kind := range cancellable {
		if i, found := l.requests.take(requestKey{request, kind}); found {
			l.drop(kind, i)
			return
		}
	}
	l.away = append(l.away, awayDone{time: t, key: requestKey{id: request}})
}

// Collective is a blocking collective, at its end. Root is a rank in the communicator, -1 if there is
// none. Counts are bytes by peer, sent and then received if the operation has both; nil if they do
// not differ.
func (l *LocationBuilder) Collective(t unit.Duration, op Op, comm, root int32, sent, received int64, counts []int64) {
	t, seq, call, ok := l.record(t)
	if !ok {
		return
	}
	l.collectives = spill.Append(l.space, l.collectives, member{issued: t, op: op, comm: comm, root: root, sent: sent, received: received,
		issue: call, complete: call, seq: seq, counts: l.keepCounts(counts), state: done})
}

// Issue is the beginning of a collective that Complete completes.
func (l *LocationBuilder) Issue(t unit.Duration, request uint64) {
	t, _, call, ok := l.record(t)
	if !ok {
		return
	}
	l.requests.put(requestKey{request, collectiveRequest}, int32(len(l.collectives)))
	l.collectives = spill.Append(l.space, l.collectives, member{issued: t, issue: call})
}

// Complete completes the last Issue with its request; see Collective. Without one, the collective
// counts as issued here.
func (l *LocationBuilder) Complete(t unit.Duration, op Op, comm, root int32, sent, received int64, counts []int64, request uint64) {
	t, seq, call, ok := l.record(t)
	if !ok {
		return
	}
	i, found := l.requests.take(requestKey{request, collectiveRequest})
	if !found {
		i = int32(len(l.collectives))
		l.away = append(l.away, awayDone{time: t, key: requestKey{request, collectiveRequest}, index: i})
		l.collectives = spill.Append(l.space, l.collectives, member{issued: t, issue: call})
	}
	m := &l.collectives[i]
	m.op, m.comm, m.root, m.sent, m.received = op, comm, root, sent, received
	m.complete, m.seq, m.counts, m.state = call, seq, l.keepCounts(counts), done
}

// WinCollective is a collective operation on a window: it was created, freed or fenced (OpBarrier).
func (l *LocationBuilder) WinCollective(t unit.Duration, op Op, window int32) {
	l.collect(t, member{scope: ByWindow, op: op, comm: window})
}

// FileOpen states that a file was opened, FileClose that it was closed.
func (l *LocationBuilder) FileOpen(t unit.Duration, file int32) {
	l.collect(t, member{scope: ByFile, op: OpCreateHandle, comm: file})
}

// FileClose states that a file was closed.
func (l *LocationBuilder) FileClose(t unit.Duration, file int32) {
	l.collect(t, member{scope: ByFile, op: OpDestroyHandle, comm: file})
}

// FileBegin begins a collective operation on a file, which FileEnd with the same number completes, or the call itself.
func (l *LocationBuilder) FileBegin(t unit.Duration, file int32, number uint64, bytes int64) {
	if i, ok := l.collect(t, member{scope: ByFile, op: OpBarrier, comm: file, sent: bytes}); ok {
		if l.fileOps == nil {
			l.fileOps = map[requestKey][]int32{}
		}
		key := fileKey(file, number)
		l.fileOps[key] = append(l.fileOps[key], int32(i))
	}
}

// FileEnd completes a collective operation on a file.
func (l *LocationBuilder) FileEnd(t unit.Duration, file int32, number uint64) {
	t, seq, call, ok := l.record(t)
	if !ok || call < 0 {
		return
	}
	key := fileKey(file, number)
	i := int32(len(l.collectives))
	if begun := l.fileOps[key]; len(begun) > 0 {
		i, l.fileOps[key] = begun[len(begun)-1], begun[:len(begun)-1]
	} else { // by another thread
		l.away = append(l.away, awayDone{time: t, key: key, index: i})
		l.collectives = spill.Append(l.space, l.collectives, member{issued: t, issue: call, state: dropped})
	}
	m := &l.collectives[i]
	m.complete, m.seq = call, seq
}

// fileKey names an operation on a file.
func fileKey(file int32, number uint64) requestKey {
	return requestKey{uint64(file)<<40 ^ number, fileRequest}
}

// CommCreate states that a communicator was made. Both groups of an intercommunicator make it together, each in a call of its own.
func (l *LocationBuilder) CommCreate(t unit.Duration, comm int32) {
	l.collect(t, member{scope: ByConnection, op: OpCreateHandle, comm: comm})
}

// collect adds a blocking collective operation without data.
func (l *LocationBuilder) collect(t unit.Duration, m member) (number int, ok bool) {
	if m.issued, m.seq, m.issue, ok = l.record(t); !ok {
		return 0, false
	}
	m.root, m.counts, m.complete, m.state = -1, -1, m.issue, done
	l.collectives = spill.Append(l.space, l.collectives, m)
	return len(l.collectives) - 1, true
}

// keepCounts stores sizes by peer with their number before them and returns their index; equal ones
// that follow each other are stored once.
func (l *LocationBuilder) keepCounts(counts []int64) int32 {
	if len(counts) == 0 || len(l.counts) > math.MaxInt32-len(counts)-1 {
		return -1
	}
	if last := l.counts[l.lastCounts.from:l.lastCounts.to]; !slices.Equal(last, counts) {
		l.counts = append(l.counts, int64(len(counts)))
		l.lastCounts = span{len(l.counts), len(l.counts) + len(counts)}
		l.counts = append(l.counts, counts...)
	}
	return int32(l.lastCounts.from)
}

// Fork is the beginning of a parallel region of which this location is the master.
func (l *LocationBuilder) Fork(t unit.Duration) { l.mark(t, fork) }

// Join is the end of a parallel region of which this location is the master.
func (l *LocationBuilder) Join(t unit.Duration) { l.mark(t, join) }

// TeamBegin is the beginning of this location's part in a parallel region.
func (l *LocationBuilder) TeamBegin(t unit.Duration) { l.mark(t, teamBegin) }

// TeamEnd is the end of this location's part in a parallel region.
func (l *LocationBuilder) TeamEnd(t unit.Duration) { l.mark(t, teamEnd) }

func (l *LocationBuilder) mark(t unit.Duration, kind teamKind) {
	t, _, _, ok := l.record(t)
	if ok {
		l.teams = append(l.teams, teamMark{time: t, place: l.place(), kind: kind})
	}
}
