package simulate

import (
	"slackline/model/machine"
	"slackline/model/noise"
	"slackline/model/schedule"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// Causes describes of everything that took CPU time in a run (the steps: calculations, sends, arriving
// messages) why it began when it began. What posted receives, released senders and waiting
// operations passed on without taking time is left out: a step names the step that caused them. So the
// causes are a tree, and from any step a chain leads back to time 0 without a hole.
type Causes struct {
	Costs  []machine.Cost // of the sends; see Step.Of
	Finish []Point        // by rank: what its finish time is

	chunks [][]Step
	count  int
}

// Step is something that took CPU time.
type Step struct {
	Start, End unit.Duration
	Rank       int32
	Of         int32 // of a send: its place in Causes.Costs; of a receive: its send
	Cause      int32 // step that determined the start, which comes before this one
	Edge       Edge  // how it did
	Kind       timeline.Kind
	CPU        uint8
}

// Point is a moment of a step.
type Point struct {
	Step int32
	Edge Edge
}

// Edge describes which moment of a step determines another one.
type Edge uint8

// The edges.
const (
	FromRunStart Edge = iota // of no step: the start of the run
	FromStart                // its start
	FromEnd                  // its end
	FromGap                  // the NIC is free again, g and the time of the bytes after its start
	FromMessage              // the arrival of its message, o (with noise) and L after its start
)

const stepsPerChunk = 1 << 14

// Len is the number of steps.
func (c *Causes) Len() int { return c.count }

// Step returns a step. They are in the order in which they were carried out: a cause comes before
// what it causes.
func (c *Causes) Step(i int) *Step { return &c.chunks[i/stepsPerChunk][i%stepsPerChunk] }

// Because returns what determined the start of the step.
func (s *Step) Because() Point { return Point{s.Cause, s.Edge} }

// Cost is what the message of a send or a receive costs.
func (c *Causes) Cost(s *Step) *machine.Cost {
	if s.Kind == timeline.Receive {
		s = c.Step(int(s.Of))
	}
	return &c.Costs[s.Of]
}

// Positions returns, by step, the position of its CPU in the noise at its start; nil: that is the
// simulated time. in is the noise of the run.
func (c *Causes) Positions(in *noise.Injection) []int64 {
	if in == nil || in.Clock() == noise.TimeClock {
		return nil
	}
	type place struct {
		rank int32
		cpu  uint8
	}
	now := make(map[place]int64)
	list, unused, hint := make([]int64, c.Len()), make([]int64, len(in.Labels())), int32(0)
	for i := range list {
		s := c.Step(i)
		at := place{s.Rank, s.CPU}
		p := now[at]
		list[i] = p
		if s.Kind == timeline.Receive {
			cost := c.Cost(s)
			bytes := in.Advance(int(s.Rank), int64(s.Start), cost.CPUBytes, &p, &hint)
			in.Advance(int(s.Rank), max(bytes, int64(s.Start)+cost.Bytes), cost.Overhead, &p, &hint)
		} else {
			p = in.BySource(int(s.Rank), int64(s.Start), int64(s.End), p, unused)
		}
		now[at] = p
	}
	return list
}

func (c *Causes) add(s Step) int32 {
	if c.count%stepsPerChunk == 0 {
		c.chunks = append(c.chunks, make([]Step, 0, stepsPerChunk))
	}
	last := &c.chunks[len(c.chunks)-1]
	*last = append(*last, s)
	c.count++
	return int32(c.count - 1)
}

// moment is a point and its time.
type moment struct {
	at int64
	Point
}

// later returns the later of two moments, the first one of equal ones.
func later(a, b moment) moment {
	if b.at > a.at {
		return b
	}
	return a
}

// causeRecorder finds the causes: it keeps, for everything that an operation may wait for, the
// moment that it represents.
type causeRecorder struct {
	result     Causes
	cpus, nics int

	cpu      []moment   // by rank and CPU: nexto
	sendNIC  []moment   // by host and NIC: nextgs
	recvNIC  []moment   // by host and NIC: nextgr
	ready    [][]moment // by rank and operation of its block: what it has waited for so far
	finish   []moment   // by rank: the latest finish in its block
	messages []messageCauses

	// Start and end of what the event under way does, for those that wait for it.
	start, end moment

	costs    map[machine.Cost]int32
	lastCost machine.Cost
	lastOf   int32
}

// messageCauses is a message under way, by its node.
type messageCauses struct {
	send, receive int32
	arrival       int64
	release       moment
}

func newCauseRecorder(s *generalState) *causeRecorder {
	return &causeRecorder{
		cpus: s.cpus, nics: s.nics,
		cpu:     make([]moment, len(s.nexto)),
		sendNIC: make([]moment, len(s.nextgs)),
		recvNIC: make([]moment, len(s.nextgr)),
		ready:   make([][]moment, s.ranks),
		finish:  make([]moment, s.ranks),
		costs:   make(map[machine.Cost]int32),
	}
}

// causes returns the record at the end of the run.
func (r *causeRecorder) causes() *Causes {
	r.result.Finish = make([]Point, len(r.finish))
	for rank := range r.result.Finish {
		last := moment{}
		for _, m := range r.cpu[rank*r.cpus : (rank+1)*r.cpus] {
			last = later(last, m)
		}
		r.result.Finish[rank] = last.Point
	}
	return &r.result
}

func (r *causeRecorder) cpuOf(rank int32, cpu uint8) *moment {
	return &r.cpu[int(rank)*r.cpus+int(cpu)]
}

func (r *causeRecorder) nicOf(list []moment, host int32, nic uint8) *moment {
	return &list[int(host)*r.nics+int(nic)]
}

// block: the operations of a block wait at least for the one before it.
func (r *causeRecorder) block(rank int32, ops int) {
	list := r.ready[rank][:0]
	for range ops {
		list = append(list, r.finish[rank])
	}
	r.ready[rank] = list
	r.finish[rank] = moment{}
}

func (r *causeRecorder) satisfied(rank, index int32, onStart bool) {
	m := r.end
	if onStart {
		m = r.start
	}
	r.ready[rank][index] = later(r.ready[rank][index], m)
}

// inserted: a receive is posted when the CPU is free as it is at this moment, whatever the CPU
// does until then.
func (r *causeRecorder) inserted(rank, index int32, cpu uint8) {
	r.ready[rank][index] = later(r.ready[rank][index], *r.cpuOf(rank, cpu))
}

func (r *causeRecorder) finished(rank int32) { r.finish[rank] = later(r.finish[rank], r.end) }

// step adds a step that began because of a moment, and takes the CPU until its end.
func (r *causeRecorder) step(s Step, because moment, cpu *moment) int32 {
	s.Cause, s.Edge = because.Step, because.Edge
	i := r.result.add(s)
	r.start = moment{int64(s.Start), Point{i, FromStart}}
	r.end = moment{int64(s.End), Point{i, FromEnd}}
	*cpu = r.end
	return i
}

func (r *causeRecorder) calc(rank, index int32, cpu uint8, start, end int64) {
	free := r.cpuOf(rank, cpu)
	r.step(Step{
		Start: unit.Duration(start), End: unit.Duration(end), Rank: rank, Of: -1,
		Kind: timeline.Compute, CPU: cpu,
	}, later(r.ready[rank][index], *free), free)
}

func (r *causeRecorder) send(i, host, rank, index int32, op *schedule.Op, c *machine.Cost, start, end, arrival int64) {
	free, nic := r.cpuOf(rank, op.CPU), r.nicOf(r.sendNIC, host, op.NIC)
	s := r.step(Step{
		Start: unit.Duration(start), End: unit.Duration(end), Rank: rank, Of: r.costOf(c),
		Kind: timeline.Send, CPU: op.CPU,
	}, later(later(r.ready[rank][index], *free), *nic), free)
	*nic = moment{start + c.Gap + c.Bytes, Point{s, FromGap}}
	for int(i) >= len(r.messages) {
		r.messages = append(r.messages, messageCauses{})
	}
	r.messages[i] = messageCauses{send: s, receive: -1, arrival: arrival}
}

// costOf returns the place of a cost in the list. Programs have few different ones.
func (r *causeRecorder) costOf(c *machine.Cost) int32 {
	if len(r.result.Costs) > 0 && *c == r.lastCost {
		return r.lastOf
	}
	of, known := r.costs[*c]
	if !known {
		of = int32(len(r.result.Costs))
		r.costs[*c] = of
		r.result.Costs = append(r.result.Costs, *c)
	}
	r.lastCost, r.lastOf = *c, of
	return of
}

func (r *causeRecorder) message(i, host int32, n *node, start, end int64) {
	m := &r.messages[i]
	free, nic := r.cpuOf(n.rank(), n.cpu), r.nicOf(r.recvNIC, host, n.nic)
	arrived := moment{m.arrival, Point{m.send, FromMessage}}
	m.receive = r.step(Step{
		Start: unit.Duration(start), End: unit.Duration(end), Rank: n.rank(), Of: m.send,
		Kind: timeline.Receive, CPU: n.cpu,
	}, later(later(arrived, *free), *nic), free)
	c := &r.result.Costs[r.result.Step(int(m.send)).Of]
	*nic = moment{start + c.Gap + c.Bytes, Point{m.receive, FromGap}}
}

// post: the moment in which the receive is posted is start and, if its message is there already,
// also its end.
func (r *causeRecorder) post(rank, index int32) {
	r.start = r.ready[rank][index]
	r.end = r.start
}

// match: the receive ends when the message has been taken in, if that is later than the event
// under way; in the event of the message it is. A large message releases its sender at once.
func (r *causeRecorder) match(i int32) {
	m := &r.messages[i]
	m.release = r.start
	r.end = later(moment{int64(r.result.Step(int(m.receive)).End), Point{m.receive, FromEnd}}, r.end)
}

func (r *causeRecorder) released(i, host int32, n *node) {
	m := &r.messages[i]
	free, nic := r.cpuOf(n.rank(), n.cpu), r.nicOf(r.sendNIC, host, n.nic)
	*free, *nic = later(*free, m.release), later(*nic, m.release)
	r.end = later(moment{n.own, Point{m.send, FromEnd}}, m.release)
}
