package waits

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// machine plays random MPI programs: it lets ranks take steps in one global order, which cannot
// deadlock, and gives every step times that causality allows. Times are small, so that ties are common.
type machine struct {
	rnd     *rand.Rand
	b       *timeline.Builder
	procs   []*proc
	comms   [][]int32
	regions map[string]timeline.RegionID
	queues  map[queueKey]*queue
	next    uint64        // request
	longest unit.Duration // of a piece of work
	tickIs  unit.Duration
	skew    []unit.Duration
	entered map[*timeline.LocationBuilder]int32 // calls so far
	hands   bool                                // threads complete what others began: their lifetimes are known

	decorate func(p *proc, l *timeline.LocationBuilder, name string, enter unit.Duration) // says more of a call before it ends; nil: nothing
}

// proc is a rank; its first thread is the master.
type proc struct {
	rank     int
	now      unit.Duration
	threads  []*timeline.LocationBuilder
	until    []unit.Duration // by thread: how far it has come, if others go on meanwhile
	talks    int             // number of the thread that calls MPI
	requests []*request
}

// request is something that a Wait completes: at ready, once its partner has come.
type request struct {
	ready   unit.Duration
	matched bool
	done    func(t unit.Duration)
}

type queueKey struct {
	from, to, comm, tag int32
}

// queue holds the ends of messages whose partner has not come: sends or receives, never both.
type queue struct{ sends, receives []*end }

// end is one end of a message: when it began, and what its partner's coming means for it.
type end struct {
	enter unit.Duration
	meet  func(partner unit.Duration)
}

func newMachine(seed uint64, ranks, threads int) *machine {
	m := &machine{
		rnd: rand.New(rand.NewPCG(seed, 5)), b: timeline.NewBuilder(ranks), regions: map[string]timeline.RegionID{},
		queues: map[queueKey]*queue{}, longest: 40, tickIs: unit.Nanosecond, skew: make([]unit.Duration, ranks),
		entered: map[*timeline.LocationBuilder]int32{},
	}
	world := make([]int32, ranks)
	for i := range world {
		world[i] = int32(i)
	}
	m.addComm(world)
	for range 3 {
		sub := m.rnd.Perm(ranks)[:1+m.rnd.IntN(ranks)]
		members := make([]int32, len(sub))
		for i, r := range sub {
			members[i] = int32(r)
		}
		m.addComm(members)
	}
	for r := range ranks {
		p := &proc{rank: r, now: unit.Duration(m.rnd.IntN(10))}
		for t := range threads {
			p.threads = append(p.threads, m.b.Location(r, t, fmt.Sprintf("rank %d thread %d", r, t), ""))
		}
		p.until = make([]unit.Duration, threads)
		m.procs = append(m.procs, p)
	}
	return m
}

func (m *machine) addComm(members []int32) {
	m.b.Comm(timeline.Comm{Members: members})
	m.comms = append(m.comms, members)
}

func (m *machine) region(name string) timeline.RegionID {
	id, ok := m.regions[name]
	if !ok {
		r := timeline.Region{Name: name}
		switch {
		case strings.HasPrefix(name, "MPI_"):
			r = timeline.RegionNamed(name)
		case name == "!$omp parallel":
			r.Paradigm, r.Role = timeline.OpenMP, timeline.Parallel
		case name == "!$omp barrier":
			r.Paradigm, r.Role = timeline.OpenMP, timeline.Barrier
		case name == "!$omp implicit barrier":
			r.Paradigm, r.Role = timeline.OpenMP, timeline.ImplicitBarrier
		}
		id = m.b.Region(r)
		m.regions[name] = id
	}
	return id
}

// at turns the time of a rank into that of its clock.
func (m *machine) at(rank int, t unit.Duration) unit.Duration { return (t + m.skew[rank]) * m.tickIs }

func (m *machine) tick(n int) unit.Duration { return unit.Duration(m.rnd.IntN(n)) }

// on returns the thread of a rank that calls MPI, most of the time the master.
func (p *proc) on() *timeline.LocationBuilder { return p.threads[p.talks] }

// enter begins a call and returns its number.
func (m *machine) enter(l *timeline.LocationBuilder, rank int, t unit.Duration, name string) int32 {
	l.Enter(m.at(rank, t), m.region(name))
	m.entered[l]++
	return m.entered[l] - 1
}

// talk lets a thread of a rank call MPI. A thread whose lifetime is known may have ended before, and another one have begun.
func (m *machine) talk(p *proc, thread int) {
	p.talks, p.now = thread, max(p.now, p.until[thread])
	if m.hands && thread > 0 && m.rnd.IntN(8) == 0 {
		p.on().ThreadEnd(m.at(p.rank, p.now))
		p.now += m.tick(4)
		p.on().ThreadBegin(m.at(p.rank, p.now))
	}
}

// call makes a call that lasts until a moment that inside returns.
func (m *machine) call(p *proc, name string, inside func(enter unit.Duration) (leave unit.Duration)) {
	enter := p.now
	m.enter(p.on(), p.rank, enter, name)
	p.now = max(inside(enter), enter)
	if m.decorate != nil {
		m.decorate(p, p.on(), name, enter)
	}
	p.on().Leave(m.at(p.rank, p.now))
}

var functions = []string{"f", "g", "h", "solve"}

// compute lets a thread work, in functions that may call others.
func (m *machine) compute(l *timeline.LocationBuilder, rank int, now unit.Duration, depth int) unit.Duration {
	m.enter(l, rank, now, functions[m.rnd.IntN(len(functions))])
	now += m.tick(int(m.longest))
	if depth > 0 && m.rnd.IntN(2) == 0 {
		now = m.compute(l, rank, now, depth-1)
		now += m.tick(5)
	}
	l.Leave(m.at(rank, now))
	return now
}

func (m *machine) newRequest(p *proc, done func(id uint64, t unit.Duration)) (*request, uint64) {
	m.next++
	id := m.next
	r := &request{done: func(t unit.Duration) { done(id, t) }}
	p.requests = append(p.requests, r)
	return r, id
}

// queue returns where the ends of a channel meet.
func (m *machine) queue(key queueKey) *queue {
	q := m.queues[key]
	if q == nil {
		q = &queue{}
		m.queues[key] = q
	}
	return q
}

// offer brings an end of a message to its queue, and its partner if there is one.
func offer(mine, theirs *[]*end, e *end) bool {
	if len(*theirs) == 0 {
		*mine = append(*mine, e)
		return false
	}
	partner := (*theirs)[0]
	*theirs = (*theirs)[1:]
	e.meet(partner.enter)
	partner.meet(e.enter)
	return true
}

// message lets a rank send something to another one, with blocking calls or without.
func (m *machine) message(from, to int) {
	comm := int32(0)
	key := queueKey{int32(from), int32(to), comm, int32(m.rnd.IntN(2))}
	blockingSend, blockingRecv := m.rnd.IntN(2) == 0, m.rnd.IntN(2) == 0
	q := m.queue(key)
	if len(q.receives) > 0 || len(q.sends) > 0 {
		blockingSend, blockingRecv = false, false // their partners come first
	}
	rendezvous := m.rnd.IntN(2) == 0
	size := int64(m.rnd.IntN(3) * 100)
	sender, receiver := m.procs[from], m.procs[to]
	sendEnter, recvEnter := sender.now, receiver.now
	if blockingSend {
		m.call(sender, "MPI_Send", func(enter unit.Duration) unit.Duration {
			sender.on().Send(m.at(from, enter), int32(to), comm, key.tag, size)
			if rendezvous {
				return max(enter, recvEnter) + m.tick(4)
			}
			return enter + m.tick(4)
		})
	} else {
		m.call(sender, "MPI_Isend", func(enter unit.Duration) unit.Duration {
			r, id := m.newRequest(sender, func(id uint64, t unit.Duration) { sender.on().IsendDone(t, id) })
			sender.on().Isend(m.at(from, enter), int32(to), comm, key.tag, size, id)
			e := &end{enter: enter, meet: func(partner unit.Duration) {
				r.matched, r.ready = true, enter
				if rendezvous {
					r.ready = max(enter, partner)
				}
			}}
			if blockingRecv {
				e.meet(recvEnter)
			} else {
				offer(&q.sends, &q.receives, e)
			}
			return enter + m.tick(3)
		})
	}
	if blockingRecv {
		if m.rnd.IntN(3) == 0 {
			m.probe(receiver, sendEnter)
		}
		m.call(receiver, "MPI_Recv", func(enter unit.Duration) unit.Duration {
			leave := max(enter, sendEnter) + m.tick(4)
			receiver.on().Recv(m.at(to, leave), int32(from), comm, key.tag, size)
			return leave
		})
		return
	}
	m.post(key, size, blockingSend, sendEnter)
}

// probe lets a rank look for a message that is sent at a certain moment, and perhaps do something else before it receives it. A sender does
// not wait for that.
func (m *machine) probe(p *proc, sent unit.Duration) {
	name := []string{"MPI_Probe", "MPI_Mprobe", "MPI_Iprobe", "MPI_Improbe"}[m.rnd.IntN(4)]
	m.call(p, name, func(enter unit.Duration) unit.Duration {
		if name == "MPI_Iprobe" && m.rnd.IntN(2) == 0 {
			p.on().Polls(2 + int64(m.rnd.IntN(9)))
		}
		return max(enter, sent) + m.tick(4)
	})
	switch m.rnd.IntN(6) {
	case 0:
		p.now = m.compute(p.on(), p.rank, p.now, 1)
	case 1:
		m.call(p, "MPI_Test", func(enter unit.Duration) unit.Duration { return enter + m.tick(3) })
	case 2:
		m.call(p, "MPI_Comm_rank", func(enter unit.Duration) unit.Duration { return enter + m.tick(3) })
	}
}

// post lets a rank post a receive; sent, if the send is a blocking one that has come, at a certain moment.
func (m *machine) post(key queueKey, size int64, sent bool, sendEnter unit.Duration) {
	receiver := m.procs[key.to]
	q := m.queue(key)
	m.call(receiver, "MPI_Irecv", func(enter unit.Duration) unit.Duration {
		r, id := m.newRequest(receiver, func(id uint64, t unit.Duration) {
			receiver.on().IrecvDone(t, key.from, key.comm, key.tag, size, id)
		})
		receiver.on().Post(m.at(int(key.to), enter), id)
		e := &end{enter: enter, meet: func(partner unit.Duration) { r.matched, r.ready = true, max(enter, partner) }}
		if sent {
			e.meet(sendEnter)
		} else {
			offer(&q.receives, &q.sends, e)
		}
		return enter + m.tick(3)
	})
}

// completeAnywhere lets any thread of a rank complete requests, while the one that calls MPI goes on.
func (m *machine) completeAnywhere(p *proc) {
	if !m.hands {
		m.complete(p, m.rnd.IntN(2) == 0)
		return
	}
	talks, now := p.talks, p.now
	m.talk(p, m.rnd.IntN(len(p.threads)))
	m.complete(p, m.rnd.IntN(2) == 0)
	if p.until[p.talks] = p.now; p.talks != talks {
		p.talks, p.now = talks, now+m.tick(3)
	}
}

// complete lets a rank complete some of the requests whose partners have come.
func (m *machine) complete(p *proc, all bool) {
	var now, later []*request
	for _, r := range p.requests {
		if r.matched && (all || m.rnd.IntN(3) > 0) {
			now = append(now, r)
		} else {
			later = append(later, r)
		}
	}
	if len(now) == 0 {
		return
	}
	p.requests = later
	m.rnd.Shuffle(len(now), func(i, j int) { now[i], now[j] = now[j], now[i] })
	ready := unit.Duration(0)
	for _, r := range now {
		ready = max(ready, r.ready)
	}
	name := "MPI_Waitall"
	if ready <= p.now && m.rnd.IntN(2) == 0 {
		name = "MPI_Testall"
	}
	m.call(p, name, func(enter unit.Duration) unit.Duration {
		leave := max(enter, ready) + m.tick(3)
		for _, r := range now {
			r.done(m.at(p.rank, leave))
		}
		return leave
	})
}

// sendrecv lets ranks exchange messages in a ring.
func (m *machine) sendrecv() {
	order := m.rnd.Perm(len(m.procs))
	for i, from := range order { // earlier messages of these channels must have met
		q := m.queue(queueKey{int32(from), int32(order[(i+1)%len(order)]), 0, 9})
		if len(q.sends)+len(q.receives) > 0 {
			return
		}
	}
	enters := make([]unit.Duration, len(order))
	for i, r := range order {
		enters[i] = m.procs[r].now
	}
	for i, r := range order {
		p := m.procs[r]
		before, after := (i+len(order)-1)%len(order), (i+1)%len(order)
		m.call(p, "MPI_Sendrecv", func(enter unit.Duration) unit.Duration {
			p.on().Send(m.at(r, enter), int32(order[after]), 0, 9, 8)
			leave := max(enter, enters[before]) + m.tick(3)
			p.on().Recv(m.at(r, leave), int32(order[before]), 0, 9, 8)
			return leave
		})
	}
}

// collective lets the members of a communicator make a collective, each blocking or not.
func (m *machine) collective() {
	comm := m.rnd.IntN(len(m.comms))
	members := m.comms[comm]
	op := timeline.Op(m.rnd.IntN(17))
	root := int32(-1)
	rooted := op == timeline.OpBcast || op == timeline.OpGather || op == timeline.OpScatter || op == timeline.OpReduce ||
		op == timeline.OpGatherv || op == timeline.OpScatterv
	if rooted {
		root = int32(m.rnd.IntN(len(members)))
	}
	enters := make([]unit.Duration, len(members))
	last := unit.Duration(0)
	for i, r := range members {
		enters[i] = m.procs[r].now
		last = max(last, enters[i])
	}
	blocking := m.rnd.IntN(3) > 0
	for i, r := range members {
		p := m.procs[r]
		ready := m.readyAt(op, int(root), i, enters, last)
		sent, received := int64(8*m.rnd.IntN(4)), int64(8*m.rnd.IntN(4))
		if blocking {
			m.call(p, fmt.Sprintf("MPI_Collective%d", op), func(enter unit.Duration) unit.Duration {
				leave := max(enter, ready) + m.tick(6)
				p.on().Collective(m.at(p.rank, leave), op, int32(comm), root, sent, received, nil)
				return leave
			})
			continue
		}
		m.call(p, fmt.Sprintf("MPI_Icollective%d", op), func(enter unit.Duration) unit.Duration {
			q, id := m.newRequest(p, func(id uint64, t unit.Duration) {
				p.on().Complete(t, op, int32(comm), root, sent, received, nil, id)
			})
			q.matched, q.ready = true, ready
			p.on().Issue(m.at(p.rank, enter), id)
			return enter + m.tick(3)
		})
	}
}

// readyAt is when member i of a collective can be done.
func (m *machine) readyAt(op timeline.Op, root, i int, enters []unit.Duration, last unit.Duration) unit.Duration {
	ready := enters[i]
	var needs func(j int) bool
	switch op {
	case timeline.OpBcast, timeline.OpScatter, timeline.OpScatterv:
		needs = func(j int) bool { return j == root }
	case timeline.OpGather, timeline.OpGatherv, timeline.OpReduce:
		needs = func(int) bool { return i == root }
	case timeline.OpScan, timeline.OpExscan:
		needs = func(j int) bool { return j < i }
	default:
		return last
	}
	for j := range enters {
		if j != i && needs(j) {
			ready = max(ready, enters[j])
		}
	}
	return ready
}

// parallel lets the threads of a rank work together.
func (m *machine) parallel(p *proc) {
	if len(p.threads) == 1 {
		return
	}
	p.now = max(p.now, slices.Max(p.until))
	fork := p.now
	p.on().Fork(m.at(p.rank, fork))
	team := p.threads[:1+m.rnd.IntN(len(p.threads))]
	now := make([]unit.Duration, len(team))
	for i, l := range team {
		now[i] = fork + m.tick(4)
		l.TeamBegin(m.at(p.rank, now[i]))
		now[i] += m.tick(2)
		m.enter(l, p.rank, now[i], "!$omp parallel")
	}
	for k := m.rnd.IntN(3); k >= 0; k-- {
		name := "!$omp barrier"
		if k == 0 {
			name = "!$omp implicit barrier"
		}
		last := unit.Duration(0)
		for i, l := range team {
			if m.rnd.IntN(4) > 0 {
				now[i] = m.compute(l, p.rank, now[i], 1)
			}
			last = max(last, now[i])
		}
		for i, l := range team {
			m.enter(l, p.rank, now[i], name)
			now[i] = last + m.tick(4)
			l.Leave(m.at(p.rank, now[i]))
		}
	}
	for i, l := range team {
		now[i] += m.tick(2)
		l.Leave(m.at(p.rank, now[i]))
		l.TeamEnd(m.at(p.rank, now[i]))
		p.now = max(p.now, now[i])
	}
	p.now += m.tick(3)
	p.on().Join(m.at(p.rank, p.now))
}

// everyone lets all ranks call MPI_Init or MPI_Finalize.
func (m *machine) everyone(name string) {
	last := unit.Duration(0)
	for _, p := range m.procs {
		last = max(last, p.now)
	}
	for _, p := range m.procs {
		m.call(p, name, func(unit.Duration) unit.Duration { return last + m.tick(5) })
	}
}

// run plays a random program of so many steps.
func (m *machine) run(steps int) *timeline.Builder {
	whole := m.rnd.IntN(4) > 0
	if m.hands = m.rnd.IntN(2) == 0; m.hands {
		for _, p := range m.procs {
			for _, l := range p.threads[1:] {
				l.ThreadBegin(m.at(p.rank, p.now))
			}
		}
	}
	for _, p := range m.procs {
		m.enter(p.on(), p.rank, p.now, "main")
	}
	if whole {
		m.everyone("MPI_Init")
	}
	for range steps {
		m.step()
	}
	m.end()
	if whole || m.rnd.IntN(2) == 0 {
		m.everyone("MPI_Finalize")
	}
	for _, p := range m.procs {
		p.on().Leave(m.at(p.rank, p.now))
	}
	return m.b
}

func (m *machine) step() {
	n := len(m.procs)
	p := m.procs[m.rnd.IntN(n)]
	switch k := m.rnd.IntN(20); {
	case k < 6:
		p.now = m.compute(p.on(), p.rank, p.now, 2)
	case k < 11 && n > 1:
		to := m.rnd.IntN(n - 1)
		if to >= p.rank {
			to++
		}
		m.message(p.rank, to)
	case k < 12 && n > 1:
		m.post(queueKey{int32((p.rank + 1) % n), int32(p.rank), 0, int32(m.rnd.IntN(2))}, 8, false, 0)
	case k < 15:
		m.completeAnywhere(p)
	case k < 17:
		m.collective()
	case k < 18 && n > 1:
		m.sendrecv()
	case k < 19:
		m.parallel(p)
	default:
		m.onOtherThreads()
	}
}

// onOtherThreads lets any threads compute and make messages and collectives, also on communicators that others use.
func (m *machine) onOtherThreads() {
	for _, p := range m.procs {
		m.talk(p, m.rnd.IntN(len(p.threads)))
	}
	for range 1 + m.rnd.IntN(3) {
		p := m.procs[m.rnd.IntN(len(m.procs))]
		p.now = m.compute(p.on(), p.rank, p.now, 1)
		m.collective()
		if len(m.procs) > 1 {
			m.message(p.rank, (p.rank+1)%len(m.procs))
		}
		m.completeAnywhere(p)
	}
	for _, p := range m.procs {
		p.until[p.talks] = p.now
		m.talk(p, 0)
	}
}

// end lets all requests find their partners, or most.
func (m *machine) end() {
	for _, p := range m.procs {
		m.complete(p, true)
	}
}

// garbage makes a run of calls and records that nobody could have made.
func garbage(seed uint64) *timeline.Builder {
	rnd := rand.New(rand.NewPCG(seed, 6))
	ranks := 1 + rnd.IntN(4)
	m := newMachine(seed, ranks, 1+rnd.IntN(3))
	names := append([]string{"MPI_Init", "MPI_Finalize", "MPI_Recv", "MPI_Test", "!$omp parallel", "!$omp barrier", "!$omp implicit barrier",
		"a/b", "a", "b"}, functions...)
	for _, p := range m.procs {
		for _, l := range p.threads {
			now, depth := unit.Duration(rnd.IntN(20)), 0
			for range 10 + rnd.IntN(80) {
				now += unit.Duration(rnd.IntN(4) * rnd.IntN(4))
				peer, comm := int32(rnd.IntN(ranks+1)), int32(rnd.IntN(len(m.comms)))
				request, tag := uint64(rnd.IntN(4)), int32(rnd.IntN(2))
				op := timeline.Op(rnd.IntN(3) * 6)
				switch rnd.IntN(24) {
				default:
					l.Enter(now, m.region(names[rnd.IntN(len(names))]))
					depth++
				case 0, 1, 2, 3, 4, 5, 6:
					if depth > 0 || rnd.IntN(20) == 0 {
						l.Leave(now)
						depth--
					}
				case 7:
					l.Send(now, peer, comm, tag, 1)
				case 8:
					l.Isend(now, peer, comm, tag, 1, request)
				case 9:
					l.IsendDone(now, request)
				case 10:
					l.Post(now, request)
				case 11:
					l.Recv(now, peer, comm, tag, 1)
				case 12:
					l.IrecvDone(now, peer, comm, tag, 1, request)
				case 13, 14:
					l.Collective(now, op, comm, int32(rnd.IntN(2)), 8, 8, nil)
				case 15:
					l.Issue(now, request)
				case 16:
					l.Complete(now, op, comm, int32(rnd.IntN(2)), 8, 8, nil, request)
				case 17:
					l.Fork(now)
				case 18:
					l.Join(now)
				case 19:
					l.TeamBegin(now)
				case 20:
					l.TeamEnd(now)
				}
			}
			if rnd.IntN(3) == 0 {
				l.SetTruncated()
			}
		}
	}
	return m.b
}
