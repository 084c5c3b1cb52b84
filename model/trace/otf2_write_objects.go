package trace

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"

	"slackline/model/timeline"
	"slackline/model/trace/otf2"
)

// otf2Epochs follows the one-sided communication of a location while it is written: which operations are pending under which
// matching id, which group an epoch has, how many bytes a file operation has.
type otf2Epochs struct {
	w       *otf2Writer
	ids     uint64
	pending map[otf2Target]*otf2Pending
	group   map[[2]uint32]string // by window, and 0 for access, 1 for exposure epochs
	bytes   map[[2]uint64]int64  // of file operations, by file and number
}

// otf2Target is a target of one-sided operations; gets are complete at the origin when they are complete at the target, others are not.
type otf2Target struct {
	window uint32
	target int32
	get    bool
}

// otf2Pending are operations under one matching id.
type otf2Pending struct {
	id    uint64
	local bool // they are complete at the origin
}

func newOTF2Epochs(w *otf2Writer) *otf2Epochs {
	return &otf2Epochs{w: w, pending: map[otf2Target]*otf2Pending{}, group: map[[2]uint32]string{}, bytes: map[[2]uint64]int64{}}
}

// Levels of synchronization.
const (
	syncProcess = 1
	syncMemory  = 2
)

// records calls emit for every record that an event about a window or a file becomes, in order.
func (o *otf2Epochs) records(e *Event, emit func(id uint8, fill func(r *otf2.Record))) {
	switch e.Kind {
	case WinCollective:
		o.collective(e, emit)
	case WinPost, WinStart:
		exposure := uint32(oneIf(e.Kind == WinPost))
		o.group[[2]uint32{e.Object, exposure}] = o.w.worldGroup(e)
		o.groupSync(e.Object, exposure, syncProcess, emit)
	case WinComplete:
		o.complete(e.Object, AllRanks, false, emit)
		o.groupSync(e.Object, 0, syncProcess|syncMemory, emit)
	case WinWait:
		o.groupSync(e.Object, 1, syncProcess|syncMemory, emit)
	case WinLock:
		emit(otf2.EvtRequestLock, func(r *otf2.Record) {
			r.U32(e.Object, uint32(e.Peer))
			r.U64(0) // one lock for each target
			r.U8(oneIf(e.Flag))
		})
	case WinUnlock:
		o.complete(e.Object, e.Peer, false, emit)
		emit(otf2.EvtReleaseLock, func(r *otf2.Record) {
			r.U32(e.Object, uint32(e.Peer))
			r.U64(0)
		})
	case WinFlush:
		o.complete(e.Object, e.Peer, e.Flag, emit)
	case Put, Get, Atomic:
		o.access(e, emit)
	default:
		o.file(e, emit)
	}
}

func (o *otf2Epochs) collective(e *Event, emit func(id uint8, fill func(r *otf2.Record))) {
	level := uint32(syncProcess)
	switch e.Op {
	case timeline.OpBarrier:
		level |= syncMemory
		o.complete(e.Object, AllRanks, false, emit)
	case timeline.OpDestroyHandle, timeline.OpDeallocate, timeline.OpDestroyHandleDeallocate:
		emit(otf2.EvtWinDestroy, func(r *otf2.Record) { r.U32(e.Object) })
	default:
		emit(otf2.EvtWinCreate, func(r *otf2.Record) { r.U32(e.Object) })
	}
	emit(otf2.EvtWinCollective, func(r *otf2.Record) {
		r.U8(uint8(e.Op))
		r.U32(level, e.Object, otf2.Undefined32)
		r.U64(0, 0)
	})
}

func (o *otf2Epochs) groupSync(window, exposure, level uint32, emit func(id uint8, fill func(r *otf2.Record))) {
	key := o.group[[2]uint32{window, exposure}]
	emit(otf2.EvtGroupSync, func(r *otf2.Record) { r.U32(level, window, o.w.groupIDs[key]) })
}

// access is an operation: it joins those that are pending.
func (o *otf2Epochs) access(e *Event, emit func(id uint8, fill func(r *otf2.Record))) {
	to := otf2Target{e.Object, e.Peer, e.Kind == Get}
	p := o.pending[to]
	if p == nil || p.local {
		o.ids++
		p = &otf2Pending{id: o.ids}
		o.pending[to] = p
	}
	emit(map[Kind]uint8{Put: otf2.EvtPut, Get: otf2.EvtGet, Atomic: otf2.EvtAtomic}[e.Kind], func(r *otf2.Record) {
		r.U32(e.Object, uint32(e.Peer))
		if e.Kind == Atomic {
			r.U8(0) // accumulate
			r.U64(uint64(e.Sent), uint64(e.Received))
		} else {
			r.U64(uint64(e.Size))
		}
		r.U64(p.id)
	})
}

// complete completes what is pending at a target, or at all of a window.
func (o *otf2Epochs) complete(window uint32, target int32, local bool, emit func(id uint8, fill func(r *otf2.Record))) {
	less := func(x, y otf2Target) int {
		return cmp.Or(cmp.Compare(x.window, y.window), cmp.Compare(x.target, y.target), cmp.Compare(oneIf(x.get), oneIf(y.get)))
	}
	for _, to := range slices.SortedFunc(maps.Keys(o.pending), less) {
		if to.window != window || target != AllRanks && to.target != target {
			continue
		}
		p := o.pending[to]
		fill := func(r *otf2.Record) {
			r.U32(window)
			r.U64(p.id)
		}
		if !p.local {
			emit(otf2.EvtCompleteLocal, fill)
			p.local = true
		}
		if !to.get && !local {
			emit(otf2.EvtCompleteRemote, fill)
		}
		if to.get || !local {
			delete(o.pending, to)
		}
	}
}

func (o *otf2Epochs) file(e *Event, emit func(id uint8, fill func(r *otf2.Record))) {
	const readWrite, modeWrite = 2, 1
	key := [2]uint64{uint64(e.Object), e.Request}
	switch e.Kind {
	case FileOpen:
		emit(otf2.EvtFileOpen, func(r *otf2.Record) {
			r.U32(e.Object)
			r.U8(readWrite)
			r.U32(0, 0) // flags
		})
	case FileClose:
		emit(otf2.EvtFileClose, func(r *otf2.Record) { r.U32(e.Object) })
	case FileBegin:
		o.bytes[key] = e.Size
		emit(otf2.EvtFileBegin, func(r *otf2.Record) {
			r.U32(e.Object)
			r.U8(modeWrite)
			r.U32(otf2.IoCollective)
			r.U64(uint64(e.Size), e.Request)
		})
	case FileEnd:
		emit(otf2.EvtFileEnd, func(r *otf2.Record) {
			r.U32(e.Object)
			r.U64(uint64(o.bytes[key]), e.Request)
		})
		delete(o.bytes, key)
	}
}

// worldGroup names the group of an epoch: its world ranks.
func (w *otf2Writer) worldGroup(e *Event) string {
	members := w.t.Comms[w.t.Windows[e.Object].Comm].Members
	var key []byte
	for _, rank := range e.Counts {
		if rank >= 0 && rank < int64(len(members)) && members[rank] >= 0 {
			key = binary.AppendUvarint(key, uint64(members[rank]))
		}
	}
	return string(key)
}

// defineObjects defines windows and files.
func (w *otf2Writer) defineObjects(d *otf2.DefinitionWriter) {
	const createDestroyEvents, classParallel = 1, 1
	for i, o := range w.t.Windows {
		name := d.Text(o.Name)
		d.Add(otf2.DefRmaWin, func(r *otf2.Record) { r.U32(uint32(i), name, uint32(o.Comm), createDestroyEvents) })
	}
	if len(w.t.Files) == 0 {
		return
	}
	paradigm := d.Text("MPI-IO")
	d.Add(otf2.DefIoParadigm, func(r *otf2.Record) {
		r.U8(0)
		r.U32(paradigm, paradigm)
		r.U8(classParallel)
		r.U32(0) // flags
		r.U8(0)  // properties
	})
	for i, o := range w.t.Files {
		name := d.Text(o.Name)
		d.Add(otf2.DefIoRegularFile, func(r *otf2.Record) { r.U32(uint32(i), name, otf2.Undefined32) })
		d.Add(otf2.DefIoHandle, func(r *otf2.Record) {
			r.U32(uint32(i), name, uint32(i))
			r.U8(0)
			r.U32(0, uint32(o.Comm), otf2.Undefined32)
		})
	}
}

// setGroups numbers the groups of epochs: after those of the communicators.
func (w *otf2Writer) setGroups() {
	all := map[string]bool{}
	for i := range w.surveys {
		maps.Copy(all, w.surveys[i].groups)
	}
	w.groupIDs = map[string]uint32{}
	next := uint32(1)
	for i := range w.t.Comms {
		next++
		if w.t.Comms[i].Remote != nil {
			next++
		}
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		w.groupIDs[key] = next
		next++
	}
}

// defineGroups defines the groups of epochs.
func (w *otf2Writer) defineGroups(group func(kind, paradigm uint8, members []uint64) uint32) {
	for _, key := range slices.Sorted(maps.Keys(w.groupIDs)) {
		var members []uint64
		for b := []byte(key); len(b) > 0; {
			rank, n := binary.Uvarint(b)
			members, b = append(members, rank), b[n:]
		}
		group(otf2.GroupCommGroup, otf2.ParadigmMPI, members)
	}
}
