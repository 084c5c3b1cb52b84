package trace

import (
	"fmt"
	"slices"

	"slackline/model/timeline"
	"slackline/model/trace/otf2"
)

// Windows of one-sided communication, files of collective I/O, and metrics in OTF2.

// otf2Metric is a member of a class of metrics.
type otf2Metric struct {
	otf2.Metric
	index  uint32 // of the trace
	counts bool   // its values add up
}

// setMetrics translates the metrics that are counted where calls begin and end. Others, such as temperatures and what is recorded
// at any time, say nothing about calls.
func (a *otf2Archive) setMetrics() {
	a.metrics = map[uint32][]otf2Metric{}
	defined, members := map[uint32]otf2.Metric{}, map[uint32]otf2Metric{}
	for _, m := range a.defs.Metrics {
		defined[m.ID] = m
	}
	for _, c := range a.defs.Classes {
		if !c.Synchronous() {
			continue
		}
		var list []otf2Metric
		for _, id := range c.Members {
			m, known := members[id]
			if member, ok := defined[id]; ok && !known {
				m = otf2Metric{Metric: member, index: uint32(len(a.trace.Metrics)), counts: member.Counts()}
				if m.counts {
					a.trace.Metrics = append(a.trace.Metrics, timeline.Metric{Name: a.defs.Strings[m.Name], Unit: a.defs.Strings[m.Unit]})
				}
				members[id] = m
			}
			list = append(list, m)
		}
		a.metrics[c.ID] = list
	}
}

// count makes events of a record of metrics: one of each that is counted.
func (r *otf2Reader) count(e *Event) {
	b := &r.record.Body
	members := r.metrics[uint32(r.classes.Global(uint64(b.U32())))]
	n := int(b.U8())
	r.counts, r.given = r.counts[:0], 0
	for i := range n {
		kind, bits := b.U8(), b.U64()
		if i >= len(members) || !members[i].counts {
			continue
		}
		m := &members[i]
		value := m.Value(kind, bits)
		if m.Relative() {
			if r.totals == nil {
				r.totals = map[uint32]uint64{}
			}
			value += r.totals[m.index]
			r.totals[m.index] = value
		}
		r.counts = append(r.counts, Event{Time: e.Time, Kind: Count, Object: m.index, Request: value})
	}
	if e.Kind = Other; len(r.counts) > 0 {
		*e, r.given = r.counts[0], 1
	}
}

// setObjects translates windows and files. Handles without communicator belong to one process.
func (a *otf2Archive) setObjects() {
	set := func(ids *otf2.Indices, to *[]timeline.Object, list []otf2.Object) {
		for _, o := range list {
			comm, ok := a.comms.Get(o.Comm)
			if !ok || a.self[comm] {
				continue
			}
			ids.Set(o.ID, uint32(len(*to)))
			*to = append(*to, timeline.Object{Name: a.defs.Strings[o.Name], Comm: int32(comm)})
		}
	}
	set(&a.windows, &a.trace.Windows, a.defs.Windows)
	set(&a.files, &a.trace.Files, a.defs.Handles)
	if len(a.trace.Windows) > 0 {
		a.groups = map[uint32][]int32{}
		for id, g := range a.defs.Groups {
			if g.Paradigm == otf2.ParadigmMPI {
				a.groups[id], _ = a.ranksOf(&g)
			}
		}
	}
}

// otf2Objects is what a reader knows of windows and files.
type otf2Objects struct {
	windows, files otf2.Indices
	groups         otf2.Map
	archive        *otf2Archive
	targets        map[[2]uint64]int32 // of one-sided operations, by window and matching id
	open           []uint32            // regions of the open calls, if there are windows
}

func (a *otf2Archive) objectsOf(local *otf2.Local) otf2Objects {
	return otf2Objects{
		windows: a.windows.Mapped(&local.Maps[otf2.MapRmaWin]), files: a.files.Mapped(&local.Maps[otf2.MapIoHandle]),
		groups: local.Maps[otf2.MapGroup], archive: a, targets: map[[2]uint64]int32{},
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
	o, b := &r.objects, &r.record.Body
	switch r.record.ID {
	case otf2.EvtWinCreate, otf2.EvtWinDestroy:
		r.partial = true // the collective that follows has it
	case otf2.EvtWinBegin:
		e.Kind = CollectiveBegin
	case otf2.EvtWinCollective:
		op := b.U8()
		b.U32() // level of synchronization
		if o.window(e, WinCollective, b.U32()) && op < otf2Ops {
			e.Op = timeline.Op(op)
		} else {
			e.Kind = Other
		}
	case otf2.EvtGroupSync:
		level := b.U32()
		window, group := b.U32(), b.U32()
		return o.groupSync(e, level, window, group)
	case otf2.EvtRequestLock:
		if o.window(e, WinLock, b.U32()) {
			e.Peer = int32(b.U32())
			b.U64() // id of the lock
			e.Flag = b.U8() == otf2.LockShared
		}
	case otf2.EvtReleaseLock:
		if o.window(e, WinUnlock, b.U32()) {
			e.Peer = int32(b.U32())
		}
	case otf2.EvtPut, otf2.EvtGet:
		window := b.U32()
		if o.window(e, Put+Kind(r.record.ID-otf2.EvtPut), window) {
			e.Peer, e.Size = int32(b.U32()), int64(b.U64())
			o.targets[[2]uint64{uint64(e.Object), b.U64()}] = e.Peer
		}
	case otf2.EvtAtomic:
		if o.window(e, Atomic, b.U32()) {
			e.Peer = int32(b.U32())
			b.U8() // which operation
			e.Sent, e.Received = int64(b.U64()), int64(b.U64())
			o.targets[[2]uint64{uint64(e.Object), b.U64()}] = e.Peer
		}
	case otf2.EvtCompleteBlocking, otf2.EvtCompleteLocal, otf2.EvtCompleteRemote:
		if r.partial = o.endsEpoch(); r.partial {
			return nil // the end of the epoch has it
		}
		if o.window(e, WinFlush, b.U32()) {
			target, known := o.targets[[2]uint64{uint64(e.Object), b.U64()}]
			if e.Peer, e.Flag = target, r.record.ID != otf2.EvtCompleteRemote; !known {
				*e = Event{Time: e.Time, Kind: Other}
			}
		}
	default:
		r.translateFile(e)
	}
	return nil
}

// endsEpoch reports whether the innermost open call ends an epoch, and so completes what is pending.
func (o *otf2Objects) endsEpoch() bool {
	if len(o.open) == 0 {
		return false
	}
	switch o.archive.trace.Regions[o.open[len(o.open)-1]].Name {
	case "MPI_Win_complete", "MPI_Win_fence", "MPI_Win_unlock", "MPI_Win_unlock_all", "MPI_Win_free":
		return true
	}
	return false
}

// translateFile fills an event from a record about a file.
func (r *otf2Reader) translateFile(e *Event) {
	o, b := &r.objects, &r.record.Body
	file, known := o.files.Get(b.U32())
	kind := map[uint8]Kind{otf2.EvtFileOpen: FileOpen, otf2.EvtFileClose: FileClose, otf2.EvtFileBegin: FileBegin,
		otf2.EvtFileEnd: FileEnd}[r.record.ID]
	if !known || kind == 0 {
		return
	}
	switch kind {
	case FileBegin:
		b.U8() // mode
		if b.U32()&otf2.IoCollective == 0 {
			return
		}
		e.Size, e.Request = int64(b.U64()), b.U64()
	case FileEnd:
		b.U64() // bytes
		e.Request = b.U64()
	}
	e.Kind, e.Object = kind, file
}

// window makes a record one about a window; false if that is not known.
func (o *otf2Objects) window(e *Event, kind Kind, id uint32) bool {
	index, ok := o.windows.Get(id)
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
	id := uint32(o.groups.Global(uint64(group)))
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
