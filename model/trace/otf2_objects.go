package trace

import (
	"fmt"
	"slices"

	"slackline/model/timeline"
)

// Windows of one-sided communication and files of collective I/O in OTF2.

// otf2Object is a window or an I/O handle.
type otf2Object struct{ id, name, comm uint32 }

// Events of windows and files.
const (
	evtWinCreate        = 35
	evtWinDestroy       = 36
	evtWinBegin         = 37
	evtWinCollective    = 38
	evtGroupSync        = 39
	evtRequestLock      = 40
	evtReleaseLock      = 43
	evtPut              = 46
	evtGet              = 47
	evtAtomic           = 48
	evtCompleteBlocking = 49
	evtCompleteLocal    = 50
	evtCompleteRemote   = 52
	evtFileOpen         = 69
	evtFileClose        = 70
	evtFileBegin        = 75
	evtFileEnd          = 78
)

const (
	defIoParadigm    = 8
	defRmaWin        = 24
	defIoRegularFile = 38
	defIoHandle      = 40

	mapGroup    = 4
	mapRmaWin   = 8
	mapIoHandle = 13

	ioCollective = 2 // a flag of operations
	lockShared   = 1
)

// setObjects translates windows and files. Handles without communicator belong to one process.
func (a *otf2Archive) setObjects() {
	set := func(ids *idTable, to *[]timeline.Object, list []otf2Object) {
		for _, o := range list {
			comm, ok := a.comms.get(o.comm)
			if !ok || a.self[comm] {
				continue
			}
			ids.set(o.id, uint32(len(*to)))
			*to = append(*to, timeline.Object{Name: a.defs.strings[o.name], Comm: int32(comm)})
		}
	}
	set(&a.windows, &a.trace.Windows, a.defs.windows)
	set(&a.files, &a.trace.Files, a.defs.handles)
	if len(a.trace.Windows) > 0 {
		a.groups = map[uint32][]int32{}
		for id, g := range a.defs.groups {
			if g.paradigm == paradigmMPI {
				a.groups[id], _ = a.ranksOf(&g)
			}
		}
	}
}

// otf2Objects is what a reader knows of windows and files.
type otf2Objects struct {
	windows, files idTable
	groups         otf2Map
	archive        *otf2Archive
	targets        map[[2]uint64]int32 // of one-sided operations, by window and matching id
	open           []uint32            // regions of the open calls, if there are windows
}

func (a *otf2Archive) objectsOf(local *otf2Local) otf2Objects {
	return otf2Objects{
		windows: a.windows.mapped(&local.maps[mapRmaWin]), files: a.files.mapped(&local.maps[mapIoHandle]),
		groups: local.maps[mapGroup], archive: a, targets: map[[2]uint64]int32{},
	}
}

// call notes that a call begins or ends: what a record means depends on its call.
func (o *otf2Objects) call(e *Event) {
	if len(o.archive.trace.Windows) == 0 {
		return
	}
	if e.Kind == Enter {
		o.open = append(o.open, e.Region)
	} else if n := len(o.open); n > 0 {
		o.open = o.open[:n-1]
	}
}

// translateObject fills an event from a record about a window or a file. What has no counterpart is Other.
func (r *otf2Reader) translateObject(e *Event) error {
	e.Kind = Other
	o, b := &r.objects, &r.record.body
	switch r.record.id {
	case evtWinCreate, evtWinDestroy:
		r.partial = true // the collective that follows has it
	case evtWinBegin:
		e.Kind = CollectiveBegin
	case evtWinCollective:
		op := b.u8()
		b.u32() // level of synchronization
		if o.window(e, WinCollective, b.u32()) && op < otf2Ops {
			e.Op = timeline.Op(op)
		} else {
			e.Kind = Other
		}
	case evtGroupSync:
		level := b.u32()
		window, group := b.u32(), b.u32()
		return o.groupSync(e, level, window, group)
	case evtRequestLock:
		if o.window(e, WinLock, b.u32()) {
			e.Peer = int32(b.u32())
			b.u64() // id of the lock
			e.Flag = b.u8() == lockShared
		}
	case evtReleaseLock:
		if o.window(e, WinUnlock, b.u32()) {
			e.Peer = int32(b.u32())
		}
	case evtPut, evtGet:
		window := b.u32()
		if o.window(e, Put+Kind(r.record.id-evtPut), window) {
			e.Peer, e.Size = int32(b.u32()), int64(b.u64())
			o.targets[[2]uint64{uint64(e.Object), b.u64()}] = e.Peer
		}
	case evtAtomic:
		if o.window(e, Atomic, b.u32()) {
			e.Peer = int32(b.u32())
			b.u8() // which operation
			e.Sent, e.Received = int64(b.u64()), int64(b.u64())
			o.targets[[2]uint64{uint64(e.Object), b.u64()}] = e.Peer
		}
	case evtCompleteBlocking, evtCompleteLocal, evtCompleteRemote:
		if o.window(e, WinFlush, b.u32()) {
			target, known := o.targets[[2]uint64{uint64(e.Object), b.u64()}]
			if e.Peer, e.Flag = target, r.record.id != evtCompleteRemote; !known {
				*e = Event{Time: e.Time, Kind: Other}
			}
		}
	default:
		r.translateFile(e)
	}
	return nil
}

// translateFile fills an event from a record about a file.
func (r *otf2Reader) translateFile(e *Event) {
	o, b := &r.objects, &r.record.body
	file, known := o.files.get(b.u32())
	kind := map[uint8]Kind{evtFileOpen: FileOpen, evtFileClose: FileClose, evtFileBegin: FileBegin, evtFileEnd: FileEnd}[r.record.id]
	if !known || kind == 0 {
		return
	}
	switch kind {
	case FileBegin:
		b.u8() // mode
		if b.u32()&ioCollective == 0 {
			return
		}
		e.Size, e.Request = int64(b.u64()), b.u64()
	case FileEnd:
		b.u64() // bytes
		e.Request = b.u64()
	}
	e.Kind, e.Object = kind, file
}

// window makes a record one about a window; false if that is not known.
func (o *otf2Objects) window(e *Event, kind Kind, id uint32) bool {
	index, ok := o.windows.get(id)
	if ok {
		e.Kind, e.Object = kind, index
	}
	return ok
}

// groupSync is the start or end of an epoch, as its call says.
func (o *otf2Objects) groupSync(e *Event, level, window, group uint32) error {
	n := len(o.open)
	if n == 0 {
		return nil
	}
	kind, known := map[string]Kind{
		"MPI_Win_post": WinPost, "MPI_Win_start": WinStart, "MPI_Win_complete": WinComplete, "MPI_Win_wait": WinWait, "MPI_Win_test": WinWait,
	}[o.archive.trace.Regions[o.open[n-1]].Name]
	if !known || level == 0 || !o.window(e, kind, window) || kind != WinPost && kind != WinStart {
		return nil
	}
	id := uint32(o.groups.global(uint64(group)))
	ranks, ok := o.archive.groups[id]
	if !ok {
		return fmt.Errorf("group %d is not defined", id)
	}
	members := o.archive.trace.Comms[o.archive.trace.Windows[e.Object].Comm].Members
	for _, world := range ranks {
		e.Counts = append(e.Counts, int64(slices.Index(members, world)))
	}
	return nil
}
