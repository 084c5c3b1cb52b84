package record

import (
	"maps"
	"slices"
	"strings"

	"slackline/model/state"
	"slackline/observe/mpi"
)

// callKind is what must be known of a function to tell what a call of it waits for.
type callKind struct {
	name  string // with MPI_
	class string // of its wrapper
	kind  state.Kind
	tests bool // it may find nothing
	file  fileCall
}

// kindsOfClasses are the calls that wait, by class; the other ones are local or unknown.
var kindsOfClasses = map[string]state.Kind{
	"send": state.Send, "recv": state.Receive, "mrecv": state.Receive, "sendrecv": state.Exchange, "sendrecv_replace": state.Exchange,
	"probe": state.Probe, "mprobe": state.Probe, "iprobe": state.Probe, "improbe": state.Probe,
	"wait": state.WaitAll, "waitall": state.WaitAll, "waitany": state.WaitAny, "waitsome": state.WaitAny,
	"test": state.WaitAll, "testall": state.WaitAny, "testany": state.WaitAny, "testsome": state.WaitAny, // what the others test is not listed
	"newcomm": state.Together, "comm_free": state.Together, "file_open": state.Together, "win_new": state.Together,
	"win_free": state.OnWindow, "file_close": state.OnFile,
	"win_lock": state.Locking, "win_all": state.Locking, "win_at": state.Locking,
	"isend": state.Local, "irecv": state.Local, "send_init": state.Local, "recv_init": state.Local,
	"start": state.Local, "startall": state.Local, "cancel": state.Local, "request_free": state.Local, "status": state.Local,
	"local":  state.Local,
	"imrecv": state.Local, "parrived": state.Local,
	"win_test": state.Wait,
}

// callKinds is the functions by number.
func callKinds(list []mpi.Function) []callKind {
	classes := map[string]string{}
	for _, f := range list {
		classes[f.Name] = mpiFunction{Function: f}.class()
	}
	var kinds []callKind
	for _, name := range functionNames(list) {
		name = strings.TrimSuffix(name, "_c")
		k := callKind{name: "MPI_" + name, class: classes[name]}
		k.kind = kindsOfClasses[k.class]
		k.file, _, _ = fileCallOf(name)
		k.tests = strings.HasPrefix(k.class, "test") || slices.Contains([]string{"iprobe", "improbe", "win_test", "parrived"}, k.class)
		if _, after, ok := collectiveClass(k.class); ok {
			k.kind = state.Local
			if after == "AFTER_collective" {
				k.kind = state.Together
			}
		}
		switch {
		case k.file == wholeFileOp || k.file == endsFileOp:
			k.kind = state.OnFile
		case name == "Win_fence":
			k.kind = state.OnWindow
		case name == "Win_start" || name == "Win_complete":
			k.kind = state.Start
		case name == "Win_wait":
			k.kind = state.Wait
		case name == "Finalize":
			k.kind = state.Finalize
		case name == "Abort":
			k.kind = state.Abort
		}
		kinds = append(kinds, k)
	}
	return kinds
}

// history is what a rank did until now, with its own numbers of communicators, windows and files, and ranks in them.
type history struct {
	kinds                       []callKind
	sent, received              messageCounts
	open                        map[uint64]state.Request
	collectives, windows, files map[uint32]*state.Series
	locks                       []state.Lock
	postGroups, startGroups     map[uint32][]int32
	epochs                      map[state.Epoch]*state.Exposure
	made                        map[uint32]uint32 // the communicators of windows and files
	partial                     bool
}

// messageCounts counts messages by channel.
type messageCounts struct {
	of   map[state.Channel]*int64
	last *int64 // of the channel that was used last
	at   state.Channel
}

// add counts a message with a peer; a negative peer is none.
func (m *messageCounts) add(peer, tag int32, comm uint32) {
	c := state.Channel{Peer: peer, Tag: tag, Comm: comm}
	if m.last == nil || c != m.at {
		if m.last, m.at = m.of[c], c; m.last == nil {
			m.last = new(int64)
			m.of[c] = m.last
		}
	}
	*m.last++
}

func newHistory(kinds []callKind, objects []rawObject) *history {
	made := map[uint32]uint32{}
	for _, o := range objects {
		made[o.id] = o.comm
	}
	return &history{
		kinds: kinds, made: made, open: map[uint64]state.Request{},
		sent: messageCounts{of: map[state.Channel]*int64{}}, received: messageCounts{of: map[state.Channel]*int64{}},
		collectives: map[uint32]*state.Series{}, windows: map[uint32]*state.Series{}, files: map[uint32]*state.Series{},
		postGroups: map[uint32][]int32{}, startGroups: map[uint32][]int32{}, epochs: map[state.Epoch]*state.Exposure{},
	}
}

// begins notes a request, if there is one.
func (h *history) begins(r state.Request) {
	if r.ID != 0 {
		h.open[r.ID] = r
	}
}

// add counts a record. One that is open has begun and not ended: what it sends is sent, what it receives is not there.
func (h *history) add(rec *rawRecord) {
	if int(rec.function) >= len(h.kinds) {
		return
	}
	k := &h.kinds[rec.function]
	switch rec.kind {
	case rawSend:
		h.sends(rec, k)
	case rawRecv:
		if !rec.open {
			h.received.add(rec.high(1), rec.low(1), uint32(rec.word(2)))
		}
	case rawPost:
		h.begins(state.Request{ID: rec.word(3), Kind: state.Receive, Name: k.name, Peer: rec.high(1), Tag: rec.low(1), Comm: uint32(rec.word(2)),
			Bytes: int64(rec.word(0))})
	case rawSendrecv:
		h.exchanges(rec, k)
	case rawComplete:
		for i := 1; !rec.open && i+doneWords <= rec.words(); i += doneWords {
			h.completed(rec, i)
		}
	case rawStart:
		for i := 1; i+doneWords <= rec.words(); i += doneWords {
			h.started(rec, i)
		}
	case rawCollective:
		c := state.Collective{Name: k.name, Root: rec.high(2), Sent: int64(rec.word(0)), Received: int64(rec.word(1))}
		number := series(h.collectives, uint32(rec.low(2)), c)
		h.begins(state.Request{ID: rec.word(3), Kind: state.Together, Name: k.name, Comm: uint32(rec.low(2)), Number: number})
	case rawNewComm:
		if parent := rec.high(0); parent >= 0 {
			series(h.collectives, uint32(parent), state.Collective{Name: k.name, Root: state.NoRoot})
		}
	case rawFreeComm:
		series(h.collectives, uint32(rec.word(0)), state.Collective{Name: k.name, Root: state.NoRoot})
	case rawWindow:
		h.onWindow(rec, k)
	case rawFileOp:
		h.onFile(rec, k)
	case rawOff, rawSkips:
		h.partial = true
	}
}

// series adds a collective call and returns its number.
func series(of map[uint32]*state.Series, object uint32, c state.Collective) int64 {
	if c.Root < 0 {
		c.Root = state.NoRoot
	}
	s := of[object]
	if s == nil {
		s = &state.Series{}
		of[object] = s
	}
	s.Add(c)
	return s.Count - 1
}

func (h *history) sends(rec *rawRecord, k *callKind) {
	if rec.word(4) != 0 { // a partitioned message, of which its own request tells
		return
	}
	peer, tag, comm := rec.high(1), rec.low(1), uint32(rec.word(2))
	h.sent.add(peer, tag, comm)
	h.begins(state.Request{ID: rec.word(3), Kind: state.Send, Name: k.name, Peer: peer, Tag: tag, Comm: comm, Bytes: int64(rec.word(0))})
}

func (h *history) exchanges(rec *rawRecord, k *callKind) {
	comm := uint32(rec.word(2))
	h.sent.add(rec.high(1), rec.low(1), comm)
	if rec.words() <= requestOfBoth {
		if !rec.open {
			h.received.add(rec.high(4), rec.low(4), comm)
		}
		return
	}
	h.begins(state.Request{ID: rec.word(requestOfBoth), Kind: state.Receive, Name: k.name, Peer: rec.high(4), Tag: rec.low(4), Comm: comm,
		Bytes: int64(rec.word(3))})
}

func (h *history) completed(rec *rawRecord, i int) {
	id, what := rec.word(i), rec.word(i+1)
	if what&requestHalf == 0 {
		delete(h.open, id)
	}
	parts := rec.word(i+3) != 0
	if what&0xff == requestRecv && what&requestCancelled == 0 && !parts {
		h.received.add(rec.high(i+2), rec.low(i+2), uint32(what>>32))
	}
}

func (h *history) started(rec *rawRecord, i int) {
	id, what := rec.word(i), rec.word(i+1)
	function, comm := int(what>>16&0xffff), uint32(what>>32)
	if function >= len(h.kinds) {
		return
	}
	r := state.Request{ID: id, Name: h.kinds[function].name, Comm: comm, Peer: rec.high(i + 2), Tag: rec.low(i + 2)}
	switch what & 0xff {
	case requestSend:
		r.Kind, r.Bytes = state.Send, int64(rec.word(i+3))
		h.sent.add(r.Peer, r.Tag, comm)
	case requestRecv:
		r.Kind, r.Bytes, r.Parts = state.Receive, int64(rec.word(i+4)), rec.word(i+3) != 0
	case requestCollective:
		c := state.Collective{Name: r.Name, Root: r.Peer, Sent: int64(rec.word(i + 3)), Received: int64(rec.word(i + 4))}
		r.Kind, r.Number = state.Together, series(h.collectives, comm, c)
	}
	h.open[id] = r
}

func (h *history) onFile(rec *rawRecord, k *callKind) {
	switch k.file {
	case opensFile:
		h.makes(rec, k, uint32(rec.word(0)))
		return
	case endsFileOp:
		return
	}
	number := series(h.files, uint32(rec.word(0)), state.Collective{Name: k.name, Root: state.NoRoot})
	h.begins(state.Request{ID: rec.word(2), Kind: state.OnFile, Name: k.name, Comm: uint32(rec.word(0)), Number: number})
}

func (h *history) onWindow(rec *rawRecord, k *callKind) {
	window, target := uint32(rec.low(0)), rec.high(0)
	at := target
	if target == rawAllTargets {
		at = state.All
	}
	switch k.name {
	case "MPI_Win_lock", "MPI_Win_lock_all":
		if !rec.open {
			h.locks = append(h.locks, state.Lock{Window: window, Target: at, Shared: at == state.All || rec.word(3) != 0})
		}
	case "MPI_Win_unlock", "MPI_Win_unlock_all":
		if i := slices.IndexFunc(h.locks, func(l state.Lock) bool { return l.Window == window && l.Target == at }); i >= 0 && !rec.open {
			h.locks = slices.Delete(h.locks, i, i+1)
		}
	case "MPI_Win_post":
		h.postGroups[window] = group(rec)
		h.eachEpoch(window, h.postGroups, func(e *state.Exposure) { e.Posted++ })
	case "MPI_Win_start":
		h.startGroups[window] = group(rec)
		h.eachEpoch(window, h.startGroups, func(e *state.Exposure) { e.Started++ })
	case "MPI_Win_complete":
		if !rec.open {
			h.eachEpoch(window, h.startGroups, func(e *state.Exposure) { e.Completed++ })
		}
	case "MPI_Win_wait", "MPI_Win_test":
		if !rec.open && (k.name == "MPI_Win_wait" || rec.word(3) != 0) {
			h.eachEpoch(window, h.postGroups, func(e *state.Exposure) { e.Waited++ })
		}
	case "MPI_Win_fence", "MPI_Win_free":
		series(h.windows, window, state.Collective{Name: k.name, Root: state.NoRoot})
	default:
		if k.class == "win_new" {
			h.makes(rec, k, window)
		} else if k.kind != state.Locking {
			h.begins(state.Request{ID: rec.word(3), Kind: state.OnWindow, Name: k.name, Comm: window, Peer: target})
		}
	}
}

// makes counts a call that makes a window or a file among the collective ones on its communicator, which stands in the record until
// the call comes back, and then in the definition of what it made.
func (h *history) makes(rec *rawRecord, k *callKind, object uint32) {
	comm, known := h.made[object]
	if rec.open {
		comm, known = uint32(rec.word(1)), true
	}
	if known {
		series(h.collectives, comm, state.Collective{Name: k.name, Root: state.NoRoot})
	}
}

func (h *history) eachEpoch(window uint32, groups map[uint32][]int32, do func(*state.Exposure)) {
	for _, rank := range groups[window] {
		key := state.Epoch{Window: window, Peer: rank}
		if h.epochs[key] == nil {
			h.epochs[key] = &state.Exposure{}
		}
		do(h.epochs[key])
	}
}

func group(rec *rawRecord) []int32 {
	var list []int32
	for _, r := range rec.ranks(4, int(rec.word(3))) {
		list = append(list, int32(r))
	}
	return list
}

// requests are the open ones in the order in which they began.
func (h *history) requests() []state.Request {
	list := make([]state.Request, 0, len(h.open))
	for _, id := range slices.Sorted(maps.Keys(h.open)) {
		list = append(list, h.open[id])
	}
	return list
}
