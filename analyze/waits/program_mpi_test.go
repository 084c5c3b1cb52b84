package waits

import (
	"fmt"
	"math/rand/v2"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// widePlayer plays programs of one-sided communication, files, neighborhoods and intercommunicators. Times are random: the rules decide
// by them alone.
type widePlayer struct {
	*machine
	windows   []int32 // their communicators
	files     []int32
	graph     int32
	inter     int32 // -1: there is none
	local     int   // ranks of its first group
	operation uint64
}

// widely makes a random run that uses much of MPI.
func widely(seed uint64) *timeline.Builder {
	rnd := rand.New(rand.NewPCG(seed, 7))
	ranks := 2 + rnd.IntN(4)
	w := &widePlayer{machine: newMachine(seed, ranks, 1+int(seed)%2), inter: -1}
	for range 2 {
		comm := int32(w.rnd.IntN(len(w.comms)))
		w.b.Window(timeline.Object{Name: "w", Comm: comm})
		w.windows = append(w.windows, comm)
		w.b.File(timeline.Object{Name: "f", Comm: 0})
		w.files = append(w.files, 0)
	}
	graph := timeline.Comm{Name: "graph", Members: w.comms[0], In: make([][]int32, ranks), Out: make([][]int32, ranks)}
	for i := range ranks {
		for range w.rnd.IntN(4) {
			graph.In[i] = append(graph.In[i], int32(w.rnd.IntN(ranks+1)-1))
		}
		for range w.rnd.IntN(3) {
			graph.Out[i] = append(graph.Out[i], int32(w.rnd.IntN(ranks)))
		}
	}
	w.graph = w.b.Comm(graph)
	if ranks > 2 {
		cut := 1 + w.rnd.IntN(ranks-1)
		w.local = cut
		w.inter = w.b.Comm(timeline.Comm{Name: "inter", Members: w.comms[0][:cut], Remote: w.comms[0][cut:]})
	}
	for _, p := range w.procs {
		for _, l := range p.threads[1:] {
			l.ThreadBegin(w.at(p.rank, p.now))
		}
		p.on().Enter(w.at(p.rank, p.now), w.mpi("main"))
	}
	for range 60 {
		w.wideStep()
	}
	final := []string{"MPI_Finalize", "MPI_Session_finalize"}[w.rnd.IntN(2)]
	for _, p := range w.procs {
		w.record(p, final, func(unit.Duration, *timeline.LocationBuilder) {})
		p.on().Leave(w.at(p.rank, p.now))
	}
	return w.b
}

// mpi is a region with the role that its name has.
func (w *widePlayer) mpi(name string) timeline.RegionID {
	id, ok := w.regions[name]
	if !ok {
		id = w.b.Region(timeline.RegionNamed(name))
		w.regions[name] = id
	}
	return id
}

// record lets a rank make a call with a record at its end.
func (w *widePlayer) record(p *proc, name string, what func(t unit.Duration, l *timeline.LocationBuilder)) {
	l := p.on()
	p.now += w.tick(20) * w.tick(2)
	l.Enter(w.at(p.rank, p.now), w.mpi(name))
	p.now += 1 + w.tick(6) + w.tick(60)*w.tick(2)
	what(w.at(p.rank, p.now), l)
	l.Leave(w.at(p.rank, p.now))
}

// together lets the members of a communicator make a collective, from about the same time on.
func (w *widePlayer) together(comm *timeline.Comm, name string, what func(i int, t unit.Duration, l *timeline.LocationBuilder)) {
	last := unit.Duration(0)
	for i := range comm.Size() {
		last = max(last, w.procs[comm.Rank(i)].now)
	}
	near := w.rnd.IntN(4) > 0
	for i := range comm.Size() {
		p := w.procs[comm.Rank(i)]
		l := p.on()
		l.Enter(w.at(p.rank, p.now), w.mpi(name))
		if near {
			p.now = max(p.now, last)
		}
		p.now += w.tick(8)
		what(i, w.at(p.rank, p.now), l)
		l.Leave(w.at(p.rank, p.now))
	}
}

func (w *widePlayer) wideStep() {
	p := w.procs[w.rnd.IntN(len(w.procs))]
	window := int32(w.rnd.IntN(len(w.windows)))
	members := w.comms[w.windows[window]]
	comm := &timeline.Comm{Members: members}
	switch w.rnd.IntN(14) {
	case 0, 1:
		p.now = w.compute(p.on(), p.rank, p.now, 2)
	case 2:
		op := []timeline.Op{timeline.OpBarrier, timeline.OpCreateHandle, timeline.OpCreateHandleAllocate, timeline.OpDestroyHandle}[w.rnd.IntN(4)]
		w.together(comm, fmt.Sprintf("MPI_Win_%s", op), func(_ int, t unit.Duration,
			l *timeline.LocationBuilder) {
			l.WinCollective(t, op, window)
		})
	case 3, 4:
		w.epochs(window, members)
	case 5, 6, 7, 8:
		w.lock(window, members)
	case 9:
		w.file()
	case 10:
		w.sparse()
	case 11:
		all := &timeline.Comm{Members: w.comms[0]}
		w.together(all, "MPI_Comm_dup", func(_ int, t unit.Duration, l *timeline.LocationBuilder) {
			l.Collective(t, timeline.OpCreateHandle, 0, -1, 0, 0, nil)
		})
	case 12:
		if w.inter >= 0 {
			w.between()
		}
	default:
		w.record(p, "MPI_Probe", func(unit.Duration, *timeline.LocationBuilder) {})
	}
}

// some are some ranks of a window.
func (w *widePlayer) some(n int) []int32 {
	var list []int32
	for _, i := range w.rnd.Perm(n)[:1+w.rnd.IntN(n)] {
		list = append(list, int32(i))
	}
	return list
}

// epochs lets a target expose its window to some origins.
func (w *widePlayer) epochs(window int32, members []int32) {
	target := w.rnd.IntN(len(members))
	origins := w.some(len(members))
	t := w.procs[members[target]]
	w.record(t, "MPI_Win_post", func(at unit.Duration, l *timeline.LocationBuilder) {
		l.OneSided(at, timeline.WindowRecord{Kind: timeline.WinPost, Window: window, Group: origins})
	})
	for _, origin := range origins {
		if int(origin) == target && w.rnd.IntN(2) == 0 {
			continue
		}
		o := w.procs[members[origin]]
		if w.rnd.IntN(3) > 0 {
			o.now = max(o.now, t.now-w.tick(30))
		}
		w.record(o, "MPI_Win_start", func(at unit.Duration, l *timeline.LocationBuilder) {
			l.OneSided(at, timeline.WindowRecord{Kind: timeline.WinStart, Window: window, Group: []int32{int32(target)}})
		})
		for range w.rnd.IntN(3) {
			w.record(o, "MPI_Put", func(at unit.Duration, l *timeline.LocationBuilder) {
				l.OneSided(at, timeline.WindowRecord{Kind: timeline.WinAccess, Window: window, Target: int32(target), Sent: int64(w.rnd.IntN(3))})
			})
		}
		w.record(o, "MPI_Win_complete", func(at unit.Duration, l *timeline.LocationBuilder) {
			l.OneSided(at, timeline.WindowRecord{Kind: timeline.WinComplete, Window: window})
		})
	}
	name := []string{"MPI_Win_wait", "MPI_Win_wait", "MPI_Win_wait", "MPI_Win_test"}[w.rnd.IntN(4)]
	w.record(t, name, func(at unit.Duration, l *timeline.LocationBuilder) {
		l.OneSided(at, timeline.WindowRecord{Kind: timeline.WinWait, Window: window})
	})
}

// lock lets an origin lock a target, or all.
func (w *widePlayer) lock(window int32, members []int32) {
	o := w.procs[members[w.rnd.IntN(len(members))]]
	target := int32(w.rnd.IntN(len(members)))
	peer, exclusive := target, w.rnd.IntN(2) == 0
	if w.rnd.IntN(5) == 0 {
		peer = timeline.AllTargets
	}
	w.record(o, "MPI_Win_lock", func(at unit.Duration, l *timeline.LocationBuilder) {
		l.OneSided(at, timeline.WindowRecord{Kind: timeline.WinLock, Window: window, Target: peer, Flag: exclusive})
	})
	for range w.rnd.IntN(4) {
		if w.rnd.IntN(3) == 0 {
			w.record(o, "MPI_Win_flush", func(at unit.Duration, l *timeline.LocationBuilder) {
				l.OneSided(at, timeline.WindowRecord{Kind: timeline.WinFlush, Window: window, Target: target, Flag: w.rnd.IntN(2) == 0})
			})
			continue
		}
		w.record(o, "MPI_Get", func(at unit.Duration, l *timeline.LocationBuilder) {
			l.OneSided(at, timeline.WindowRecord{Kind: timeline.WinAccess, Window: window, Target: target, Received: int64(w.rnd.IntN(3))})
		})
	}
	if w.rnd.IntN(8) > 0 {
		w.record(o, "MPI_Win_unlock", func(at unit.Duration, l *timeline.LocationBuilder) {
			l.OneSided(at, timeline.WindowRecord{Kind: timeline.WinUnlock, Window: window, Target: peer})
		})
	}
}

// file lets all ranks make a collective operation on a file, in one call or in two.
func (w *widePlayer) file() {
	file, all := int32(w.rnd.IntN(len(w.files))), &timeline.Comm{Members: w.comms[0]}
	w.operation++
	split, kind := w.rnd.IntN(2) == 0, w.rnd.IntN(4)
	w.together(all, "MPI_File_write_all", func(_ int, t unit.Duration, l *timeline.LocationBuilder) {
		switch kind {
		case 0:
			l.FileOpen(t, file)
		case 1:
			l.FileClose(t, file)
		default:
			if l.FileBegin(t, file, w.operation, 8); !split {
				l.FileEnd(t, file, w.operation)
			}
		}
	})
	if split && kind > 1 {
		for _, p := range w.procs {
			p.talks = w.rnd.IntN(len(p.threads))
			w.record(p, "MPI_File_write_all_end", func(t unit.Duration, l *timeline.LocationBuilder) { l.FileEnd(t, file, w.operation) })
			p.talks = 0
		}
	}
}

// sparse lets all ranks exchange data with some.
func (w *widePlayer) sparse() {
	all, n := &timeline.Comm{Members: w.comms[0]}, len(w.comms[0])
	counts := func(size int) []int64 {
		list := make([]int64, size)
		for i := range list {
			list[i] = int64(w.rnd.IntN(2))
		}
		return list
	}
	if w.rnd.IntN(2) == 0 {
		size := 2 * n
		if w.rnd.IntN(6) == 0 {
			size = n
		}
		w.together(all, "MPI_Alltoallv", func(_ int, t unit.Duration, l *timeline.LocationBuilder) {
			l.Collective(t, timeline.OpAlltoallv, 0, -1, 8, 8, counts(size))
		})
		return
	}
	op := timeline.OpNeighborAllgather + timeline.Op(w.rnd.IntN(5))
	w.together(all, "MPI_Neighbor_alltoall", func(_ int, t unit.Duration, l *timeline.LocationBuilder) {
		l.Collective(t, op, w.graph, -1, 8, int64(w.rnd.IntN(2)), counts(w.rnd.IntN(6)))
	})
}

// between lets both groups of the intercommunicator make a collective.
func (w *widePlayer) between() {
	all := &timeline.Comm{Members: w.comms[0]}
	ops := []timeline.Op{timeline.OpBarrier, timeline.OpAllreduce, timeline.OpBcast, timeline.OpReduce, timeline.OpCreateHandle}
	op, root := ops[w.rnd.IntN(len(ops))], w.rnd.IntN(len(w.comms[0]))
	local := w.local
	w.together(all, "MPI_Between", func(i int, t unit.Duration, l *timeline.LocationBuilder) {
		r := int32(-1)
		if op == timeline.OpBcast || op == timeline.OpReduce {
			switch same := (i < local) == (root < local); {
			case i == root:
				r = timeline.RootSelf
			case same:
				r = timeline.RootGroup
			case root < local:
				r = int32(root)
			default:
				r = int32(root - local)
			}
		}
		if w.rnd.IntN(8) == 0 {
			l.CommCreate(t, w.inter)
		}
		l.Collective(t, op, w.inter, r, int64(w.rnd.IntN(2)), int64(w.rnd.IntN(3)), nil)
	})
}
