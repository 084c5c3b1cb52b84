package waits

import (
	"cmp"
	"fmt"
	"slices"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// devicePlayer plays random programs whose ranks have devices: host threads launch kernels, copies and graphs on streams, streams wait for
// events, hosts for streams; kernels communicate; and between all that ranks use MPI.
type devicePlayer struct {
	*machine
	threads [][]*hostThread // by rank; the first one is the master
	streams []*playedStream // by rank, device, number
	refs    []playedReference
	groups  []timeline.Comm
	meets   []playedCollective
	sends   []playedMessage
}

// hostThread is a thread that launches.
type hostThread struct {
	rank, number int
	l            *timeline.LocationBuilder
	now          *unit.Duration
}

// playedStream is a stream and what has run on it.
type playedStream struct {
	index, rank, device, number int
	acts                        []playedAct
	free                        unit.Duration // when the last one ended
	gate                        unit.Duration // when events let the next one begin
}

type playedAct struct {
	begin, end unit.Duration // in ticks
	name       string
	kind       timeline.ActivityKind
	by         *hostThread // nil: the launch is not known
	call       int32
}

type playedReference struct {
	by *hostThread
	timeline.Reference
}

// kernel is one on a stream, by its place there.
type kernel struct{ stream, act int }

type playedCollective struct {
	op      timeline.Op
	comm    int
	root    int32
	members []kernel
	sizes   [][2]int64
	seqs    []int32
}

type playedMessage struct {
	comm         int
	from, to     kernel
	sendN, recvN int32
}

// newDevicePlayer makes ranks with threads and streams; some have none.
func newDevicePlayer(seed uint64) *devicePlayer {
	ranks := 1 + int(seed%4)
	p := &devicePlayer{machine: newMachine(seed, ranks, 1)}
	p.tickIs = unit.Microsecond
	p.longest = 30
	if seed%16 == 7 { // clocks that are wrong
		for i := range p.skew {
			p.skew[i] = p.tick(50)
		}
	}
	for r, proc := range p.procs {
		threads := []*hostThread{{r, 0, proc.on(), &proc.now}}
		for n := 1; n <= p.rnd.IntN(3); n++ {
			now := proc.now + p.tick(30)
			l := p.b.Location(r, n, fmt.Sprintf("rank %d thread %d", r, n), "")
			threads = append(threads, &hostThread{r, n, l, &now})
		}
		p.threads = append(p.threads, threads)
		devices := 1 + p.rnd.IntN(2)
		if ranks > 1 && p.rnd.IntN(6) == 0 {
			devices = 0
		}
		for d := range devices {
			for n := range 1 + p.rnd.IntN(3) {
				p.streams = append(p.streams, &playedStream{index: len(p.streams), rank: r, device: d, number: n})
			}
		}
	}
	if len(p.streams) == 0 {
		p.streams = append(p.streams, &playedStream{})
	}
	world := make([]int32, 0, ranks)
	for r := range ranks {
		if slices.ContainsFunc(p.streams, func(s *playedStream) bool { return s.rank == r }) {
			world = append(world, int32(r))
		}
	}
	p.groups = []timeline.Comm{{Name: "world", Members: world}}
	if n := len(world); n > 2 {
		p.groups = append(p.groups, timeline.Comm{Name: "some", Members: slices.Clone(world[:2+p.rnd.IntN(n-1)])})
		p.rnd.Shuffle(len(p.groups[1].Members), func(i, j int) {
			m := p.groups[1].Members
			m[i], m[j] = m[j], m[i]
		})
	}
	return p
}

// play plays a program and returns its timeline.
func (p *devicePlayer) play(steps int) *timeline.Timeline {
	for r, proc := range p.procs {
		if p.rnd.IntN(8) > 0 {
			p.enter(proc.on(), r, proc.now, "main")
		}
	}
	whole := p.rnd.IntN(2) == 0
	if whole {
		p.everyone("MPI_Init")
	}
	for range steps {
		if p.rnd.IntN(5) == 0 {
			p.step()
		} else {
			p.deviceStep()
		}
	}
	p.end()
	if whole {
		p.everyone("MPI_Finalize")
	}
	for _, proc := range p.procs {
		for proc.on().Depth() > 0 {
			proc.on().Leave(p.at(proc.rank, proc.now))
		}
	}
	return p.finish()
}

// streamsOf are the streams of a rank.
func (p *devicePlayer) streamsOf(rank int) []*playedStream {
	return slices.DeleteFunc(slices.Clone(p.streams), func(s *playedStream) bool { return s.rank != rank })
}

// hostCall makes a call of a thread; what gives its end. It returns the number of the call.
func (p *devicePlayer) hostCall(h *hostThread, name string, what func(enter unit.Duration) unit.Duration) int32 {
	enter := *h.now
	call := p.enter(h.l, h.rank, enter, name)
	*h.now = max(what(enter), enter+1)
	h.l.Leave(p.at(h.rank, *h.now))
	return call
}

// refer notes what the trace says about a call, or part of it, or nothing.
func (p *devicePlayer) refer(h *hostThread, call int32, stream, device, event int, recorded unit.Duration) {
	r := timeline.Reference{Call: call, Stream: int32(stream), Device: int32(device), Event: int32(event),
		Recorded: p.at(h.rank, recorded)}
	switch p.rnd.IntN(4) {
	case 0:
		return
	case 1:
		r.Event = -1
	}
	p.refs = append(p.refs, playedReference{h, r})
}

// run puts an activity on a stream; until gives its end.
func (p *devicePlayer) run(s *playedStream, h *hostThread, enter unit.Duration, name string, kind timeline.ActivityKind) *playedAct {
	begin := max(enter+p.tick(9), s.free, s.gate)
	switch p.rnd.IntN(24) {
	case 0: // the clocks of host and device are not quite the same
		begin = max(enter-p.tick(4), s.free)
	case 1: // activities that overlap
		begin = max(begin-p.tick(6), 0)
	case 2: // held back for a reason that the trace does not have
		begin += p.tick(60)
	}
	length := p.tick(40)
	if p.rnd.IntN(8) == 0 {
		length += 100
	}
	s.acts = append(s.acts, playedAct{begin: begin, end: begin + length, name: name, kind: kind, by: h})
	s.free, s.gate = max(s.free, begin+length), 0
	return &s.acts[len(s.acts)-1]
}

// launch lets a thread launch something.
func (p *devicePlayer) launch(h *hostThread, s *playedStream, call string, list ...playedAct) {
	var made []int
	n := p.hostCall(h, call, func(enter unit.Duration) unit.Duration {
		for _, a := range list {
			made = append(made, len(s.acts))
			p.run(s, h, enter, a.name, a.kind)
		}
		return enter + 1 + p.tick(4)
	})
	unknown := p.rnd.IntN(16) == 0
	for _, i := range made {
		if s.acts[i].call = n; unknown {
			s.acts[i].by = nil
		}
	}
}

var kernelNames = []string{"gemm", "add", "norm"}

func (p *devicePlayer) compute1() playedAct {
	return playedAct{name: kernelNames[p.rnd.IntN(len(kernelNames))], kind: timeline.ComputeKernel}
}

// deviceStep lets a thread, or several ranks, do something with their devices.
func (p *devicePlayer) deviceStep() {
	rank := p.rnd.IntN(len(p.procs))
	h := p.threads[rank][p.rnd.IntN(len(p.threads[rank]))]
	mine := p.streamsOf(rank)
	if len(mine) == 0 {
		*h.now = p.compute(h.l, rank, *h.now, 1)
		return
	}
	s, other := mine[p.rnd.IntN(len(mine))], mine[p.rnd.IntN(len(mine))]
	switch k := p.rnd.IntN(24); {
	case k < 4:
		*h.now = p.compute(h.l, rank, *h.now, 2)
	case k < 9:
		p.launch(h, s, "cudaLaunchKernel", p.compute1())
	case k < 10:
		p.launch(h, s, "cudaGraphLaunch", p.compute1(), playedAct{name: "Memset", kind: timeline.Memset}, p.compute1())
	case k < 11:
		p.launch(h, s, "cudaMemsetAsync", playedAct{name: "Memset", kind: timeline.Memset})
	case k < 13:
		p.copy(h, s)
	case k < 16:
		p.event(h, s, other)
	case k < 19:
		p.synchronize(h, s)
	case k < 22:
		p.collect()
	default:
		p.exchange()
	}
}

// copy lets a thread copy, blocking or not, sometimes in a call inside another one.
func (p *devicePlayer) copy(h *hostThread, s *playedStream) {
	name := []string{"cudaMemcpy", "cudaMemcpyAsync", "cuMemcpyHtoD_v2", "hipMemcpyWithStream"}[p.rnd.IntN(4)]
	blocks := p.rnd.IntN(2) == 0 || name != "cudaMemcpyAsync"
	nested := p.rnd.IntN(6) == 0
	act := len(s.acts)
	call := p.hostCall(h, name, func(enter unit.Duration) unit.Duration {
		p.run(s, h, enter, "Memcpy HtoD", timeline.Copy)
		end := enter + 1 + p.tick(3)
		if blocks {
			end = max(end, s.acts[act].end+p.tick(3))
		}
		if nested {
			inner := p.enter(h.l, h.rank, enter+1, "cuStreamSynchronize")
			h.l.Leave(p.at(h.rank, max(end-1, enter+1)))
			p.refer(h, inner, s.index, -1, -1, 0)
		}
		return end
	})
	s.acts[act].call = call
}

// event lets a stream wait for what was launched on another one.
func (p *devicePlayer) event(h *hostThread, s, other *playedStream) {
	recorded, known := *h.now, p.rnd.IntN(3) > 0
	p.hostCall(h, "cudaEventRecord", func(enter unit.Duration) unit.Duration { return enter + 1 + p.tick(2) })
	end := unit.Duration(0)
	if n := len(other.acts); n > 0 {
		end = other.acts[n-1].end
	}
	if p.rnd.IntN(3) == 0 {
		*h.now = p.compute(h.l, h.rank, *h.now, 1)
	}
	if p.rnd.IntN(3) == 0 { // the host waits for it
		call := p.hostCall(h, "cudaEventSynchronize", func(enter unit.Duration) unit.Duration { return max(enter, end) + p.tick(3) })
		p.refer(h, call, -1, -1, other.index, recorded)
		return
	}
	if !known {
		recorded = *h.now
	}
	call := p.hostCall(h, "cudaStreamWaitEvent", func(enter unit.Duration) unit.Duration { return enter + 1 + p.tick(2) })
	p.refer(h, call, s.index, -1, other.index, recorded)
	s.gate = max(s.gate, end)
}

// synchronize lets a thread wait for a stream, a device, or something that the trace does not name.
func (p *devicePlayer) synchronize(h *hostThread, s *playedStream) {
	name, device := "cudaStreamSynchronize", -1
	stream := s.index
	end := s.free
	if p.rnd.IntN(3) == 0 {
		name, stream = "hipDeviceSynchronize", -1
		if p.rnd.IntN(2) == 0 {
			device = s.device
		}
		for _, o := range p.streamsOf(h.rank) {
			if device < 0 || o.device == device {
				end = max(end, o.free)
			}
		}
	} else if p.rnd.IntN(12) == 0 {
		stream = timeline.NoStream
	}
	nested := p.rnd.IntN(5) == 0
	call := p.hostCall(h, name, func(enter unit.Duration) unit.Duration {
		leave := max(enter, end) + 1 + p.tick(3)
		if p.rnd.IntN(8) == 0 { // the trace says otherwise than what was awaited
			leave = enter + 1 + p.tick(20)
		}
		if nested {
			inner := p.enter(h.l, h.rank, enter+1, []string{"cuStreamSynchronize", "poll"}[p.rnd.IntN(2)])
			h.l.Leave(p.at(h.rank, max(leave-1, enter+1)))
			p.refer(h, inner, stream, device, -1, 0)
		}
		return leave
	})
	p.refer(h, call, stream, device, -1, 0)
}

// starts launches a communication kernel of a rank and returns it.
func (p *devicePlayer) starts(rank int32, name string) kernel {
	list := p.streamsOf(int(rank))
	s := list[p.rnd.IntN(len(list))]
	h := p.threads[rank][p.rnd.IntN(len(p.threads[rank]))]
	p.launch(h, s, "cudaLaunchKernelExC", playedAct{name: name, kind: timeline.CommunicationKernel})
	return kernel{s.index, len(s.acts) - 1}
}

// ends sets the end of a kernel.
func (p *devicePlayer) ends(k kernel, at unit.Duration) {
	s := p.streams[k.stream]
	s.acts[k.act].end = max(at, s.acts[k.act].begin)
	s.free = max(s.acts[k.act].end, s.acts[k.act].begin)
}

func (p *devicePlayer) begin(k kernel) unit.Duration { return p.streams[k.stream].acts[k.act].begin }

// collect lets the kernels of a group carry out a collective; sometimes two of them in one kernel.
func (p *devicePlayer) collect() {
	comm := p.rnd.IntN(len(p.groups))
	members := p.groups[comm].Members
	if len(members) < 2 {
		return
	}
	var kernels []kernel
	var enters []unit.Duration
	for _, r := range members {
		kernels = append(kernels, p.starts(r, "ncclDevKernel_Generic"))
		enters = append(enters, p.begin(kernels[len(kernels)-1]))
	}
	ends := slices.Clone(enters)
	for n := range 1 + p.rnd.IntN(5)/4 {
		ops := []timeline.Op{timeline.OpAllreduce, timeline.OpAllgather, timeline.OpReduceScatter, timeline.OpAlltoall, timeline.OpBarrier,
			timeline.OpBcast, timeline.OpScatter, timeline.OpReduce, timeline.OpGather}
		c := playedCollective{op: ops[p.rnd.IntN(len(ops))], comm: comm, root: -1, members: kernels}
		if c.op.Rooted() {
			c.root = int32(p.rnd.IntN(len(members)))
		}
		for i := range members {
			c.sizes = append(c.sizes, [2]int64{int64(p.rnd.IntN(5)), int64(p.rnd.IntN(5))})
			c.seqs = append(c.seqs, int32(n))
			ends[i] = max(ends[i], p.readyAt(c.op, int(c.root), i, enters, slices.Max(enters)))
		}
		p.meets = append(p.meets, c)
	}
	for i, k := range kernels {
		p.ends(k, ends[i]+p.tick(12))
	}
}

// exchange lets the kernels of a group send to each other: one to another one, or all in a ring, one kernel each.
func (p *devicePlayer) exchange() {
	comm := p.rnd.IntN(len(p.groups))
	members := slices.Clone(p.groups[comm].Members)
	if len(members) < 2 {
		return
	}
	p.rnd.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	pairs := len(members)
	if p.rnd.IntN(2) == 0 {
		members, pairs = members[:2], 1
	}
	var kernels []kernel
	for _, r := range members {
		kernels = append(kernels, p.starts(r, "ncclDevKernel_SendRecv"))
	}
	ends := make([]unit.Duration, len(members))
	for i := range pairs {
		to := (i + 1) % len(members)
		p.sends = append(p.sends, playedMessage{comm, kernels[i], kernels[to], 0, 1})
		both := max(p.begin(kernels[i]), p.begin(kernels[to]))
		ends[to] = max(ends[to], both)
		if p.rnd.IntN(3) > 0 {
			ends[i] = max(ends[i], both)
		}
	}
	for i, k := range kernels {
		p.ends(k, ends[i]+p.tick(8))
	}
}

// finish makes the timeline.
func (p *devicePlayer) finish() *timeline.Timeline {
	tl := p.b.Finish(1)
	locate := func(h *hostThread) int32 {
		return int32(slices.IndexFunc(tl.Locations, func(l timeline.Location) bool { return l.Rank == h.rank && l.Thread == h.number }))
	}
	b := timeline.NewDeviceBuilder(tl)
	var made []*timeline.StreamBuilder
	for _, s := range p.streams {
		to := b.Stream(s.rank, s.device, int64(s.number), fmt.Sprintf("%d:%d", s.device, s.number))
		for _, a := range s.acts {
			l := timeline.NoLaunch
			if a.by != nil {
				l = timeline.Launch{Thread: locate(a.by), Call: a.call}
			}
			to.Add(p.at(s.rank, a.begin), p.at(s.rank, a.end), b.Region(a.name), a.kind, l)
		}
		made = append(made, to)
	}
	var refs []timeline.Reference
	for _, r := range p.refs {
		r.Location = locate(r.by)
		refs = append(refs, r.Reference)
	}
	d := b.Finish(refs)
	d.Comms = p.groups
	place := func(k kernel) int32 { return made[k.stream].Places[k.act] }
	for _, c := range p.meets {
		d.Collectives = append(d.Collectives, timeline.Collective{Op: c.op, Comm: int32(c.comm), Root: c.root, First: len(d.Members)})
		for i, k := range c.members {
			d.Members = append(d.Members, timeline.Member{Location: int32(k.stream), Issue: place(k), Complete: place(k), Seq: c.seqs[i],
				Sent: c.sizes[i][0], Received: c.sizes[i][1], Counts: -1})
		}
	}
	for _, m := range p.sends {
		s, r := place(m.from), place(m.to)
		d.Messages = append(d.Messages, timeline.Message{From: int32(m.from.stream), To: int32(m.to.stream), Send: s, SendDone: s, Post: r,
			Recv: r, SendDoneSeq: m.sendN, RecvSeq: m.recvN, Comm: int32(m.comm), Size: 8, Sent: d.Streams[m.from.stream].Begin[s],
			Received: d.Streams[m.to.stream].End[r]})
	}
	slices.SortStableFunc(d.Messages, func(x, y timeline.Message) int {
		return cmp.Or(cmp.Compare(x.To, y.To), cmp.Compare(x.Recv, y.Recv), cmp.Compare(x.RecvSeq, y.RecvSeq))
	})
	return tl
}
