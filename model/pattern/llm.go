package pattern

import (
	"fmt"
	"math"

	"slackline/model/schedule"
	"slackline/model/unit"
)

// The training of a large language model. The ranks are a grid of data, tensor and pipeline parallelism, in the order of
// Megatron-LM: those of a tensor group follow one another, so that they share a node, then come the copies of the model, then the
// stages of the pipeline.
//
// Defaults are those of layers with a hidden size of 8192 and sequences of 2048 tokens of 2 bytes: activations of 32 MiB,
// 2.75 ms for a layer forward on one of 8 accelerators at 150 Tflop/s, twice as much backward.
const (
	llmTensor       = 8
	llmPipeline     = 4
	llmLayers       = 4
	llmMicrobatches = 8
	llmActivations  = 32 << 20
	llmGradients    = 512 << 20
	llmCompute      = 264 * unit.Millisecond
)

var llmPattern = definition{
	Info: Info{
		Name: "llm", Kind: Application,
		Info: "training of a language model: data, tensor and pipeline parallelism",
		Details: "Each iteration sends the microbatches through a pipeline of stages, one forward and one backward pass in turn " +
			"(1F1B), interleaved if --virtual gives several chunks to a stage. A pass receives activations of --size bytes, computes (two " +
			"thirds of the time backward), with two allreduces in each layer among the ranks of a tensor group, and sends to the next " +
			"stage without waiting. Then the gradients are summed over the copies of the model, with --overlap those of all pieces of a " +
			"backward pass of the last microbatch but the last piece beside the work on the next one, on a CPU of their own, and an " +
			"allreduce of 8 bytes among all ranks gives their norm. Tensor groups follow one another, then copies, then stages; the " +
			"number of copies is ranks / (tensor * pipeline).",
		Params: []string{"ranks", "size", "iterations", "compute", "jitter", "seed", "without",
			"tensor", "pipeline", "virtual", "microbatches", "layers", "gradients", "overlap", "straggler"},
		Example: "slackline simulate llm --ranks 1024 --pipeline 8 --microbatches 32 --machine dgx-h100 --mapping nccl",
	},
	defaults: Params{
		Size: llmActivations, Compute: llmCompute, Iterations: 1,
		Microbatches: llmMicrobatches, Layers: llmLayers, Gradients: llmGradients,
	},
	build: func(s *script) error {
		l, err := s.newLLM()
		if err != nil {
			return err
		}
		l.build(s)
		return nil
	},
}

// llm is a training run.
type llm struct {
	plan
	tensor, data int // ranks of a tensor group, copies of the model
	pieces       int // of a pass, each followed by the allreduce of the tensor group if there is one
	size         int64
	work         [2]*work // of a piece, forward and backward; nil: none
	slower       map[int]float64
	send, recv   [2]uint32  // origins, forward and backward
	bucket       *groupCall // the gradients of a piece, beside the work of the next one; nil: no overlap
}

// llmGroups are the ranks of a tensor group and the stages of the pipeline.
func (p *Params) llmGroups() (tensor, pipeline int) {
	tensor, pipeline = p.Tensor, p.Pipeline
	if tensor == 0 {
		tensor = gcd(p.Ranks, llmTensor)
	}
	if pipeline == 0 {
		pipeline = gcd(p.Ranks/max(gcd(p.Ranks, tensor), 1), llmPipeline)
	}
	return tensor, pipeline
}

// newLLM checks the parameters, and fills in those that depend on the number of ranks.
func (s *script) newLLM() (*llm, error) {
	s.Tensor, s.Pipeline = s.llmGroups()
	v := max(s.Virtual, 1)
	switch {
	case s.Ranks%s.Tensor != 0 || s.Ranks/s.Tensor%s.Pipeline != 0:
		return nil, fmt.Errorf("tensor, pipeline: %d ranks are not copies of %d * %d; give divisors of the ranks",
			s.Ranks, s.Tensor, s.Pipeline)
	case s.Layers%v != 0:
		return nil, fmt.Errorf("virtual: %d layers of a stage are not %d equal chunks; give a divisor of the layers", s.Layers, v)
	case v > 1 && s.Pipeline < 2:
		return nil, fmt.Errorf("virtual: %d chunks, but a pipeline of one stage is not interleaved; give --pipeline", v)
	case v > 1 && s.Microbatches%s.Pipeline != 0:
		return nil, fmt.Errorf("microbatches: %d is not a multiple of the %d stages, which the interleaved schedule needs", s.Microbatches,
			s.Pipeline)
	}
	l := &llm{
		plan:   plan{stages: s.Pipeline, chunks: v, microbatches: s.Microbatches},
		tensor: s.Tensor, data: s.Ranks / (s.Tensor * s.Pipeline),
		pieces: 1, size: s.Size,
	}
	overlap := s.Overlap && l.data > 1 && !s.withoutColl
	switch layers := s.Layers / v; {
	case l.tensor > 1:
		l.pieces = 2 * layers
	case overlap:
		l.pieces = layers
	}
	if n := l.passes() * (2*l.pieces + 1); n > maxSteps {
		return nil, fmt.Errorf("microbatches: an iteration of %d steps is too long; give fewer microbatches or layers", n)
	}
	for _, one := range s.Stragglers {
		if one.Rank < 0 || one.Rank >= s.Ranks {
			return nil, fmt.Errorf("straggler: rank %d does not exist; give a rank in 0..%d", one.Rank, s.Ranks-1)
		}
		if l.slower == nil {
			l.slower = map[int]float64{}
		}
		l.slower[one.Rank] += one.Slower
	}
	for i, name := range []string{"forward", "backward"} {
		l.work[i] = s.work(load{int64(i + 1), 3 * int64(s.Microbatches) * int64(v) * int64(l.pieces), 100, 0}, name, "compute")
		l.send[i], l.recv[i] = s.origin("MPI_Isend", name), s.origin("MPI_Irecv", name)
	}
	return l, nil
}

// maxSteps bounds the steps of an iteration, which are kept in memory, once for all ranks.
const maxSteps = 1 << 22

// build appends the steps of an iteration.
func (l *llm) build(s *script) {
	s.prog.groups = l.groups(s.Ranks)
	gradients := s.Gradients
	tensor := l.groupCall(s.Size, l.tensorGroup, s.origin("MPI_Allreduce", "tensor"), s.prog.groups)
	if s.Overlap && l.data > 1 && l.pieces > 1 && !s.withoutColl && l.work[1] != nil {
		each := gradients / int64(l.chunks*l.pieces)
		gradients -= each * int64(l.chunks*(l.pieces-1))
		l.bucket = l.groupCall(each, l.dataGroup, s.origin("MPI_Iallreduce", "gradients"), s.prog.groups)
		l.bucket.ops[0].CPU = 1
		s.prog.shape.Graphs, s.prog.shape.CPUs = true, 2
	}
	for k := range l.passes() {
		s.p2p(&transfer{l, k})
		for i := range l.pieces {
			if l.work[0] != nil || l.work[1] != nil {
				s.add(&piece{l, k, i})
			}
			if l.tensor > 1 {
				s.collective(tensor)
			}
		}
	}
	s.p2p(&transfer{l, l.passes()})
	if l.data > 1 {
		s.collective(l.groupCall(gradients, l.dataGroup, s.origin("MPI_Allreduce", "gradients"), s.prog.groups))
	}
	s.call(schedule.Call{Op: schedule.Allreduce, Size: 8}, "norm")
}

// groups returns the world, the tensor groups and the groups of ranks with the same part of the model.
func (l *llm) groups(ranks int) []schedule.Group {
	list := []schedule.Group{schedule.World(ranks)}
	for g := range ranks / l.tensor {
		list = append(list, schedule.Group{First: g * l.tensor, Size: l.tensor})
	}
	for g := range ranks / l.data {
		first := g/l.tensor*l.tensor*l.data + g%l.tensor
		list = append(list, schedule.Group{First: first, Stride: l.tensor, Size: l.data})
	}
	return list
}

func (l *llm) tensorGroup(rank int) int { return 1 + rank/l.tensor }

func (l *llm) dataGroup(rank int) int {
	return 1 + l.stages*l.data + l.stage(rank)*l.tensor + rank%l.tensor
}

func (l *llm) stage(rank int) int { return rank / (l.tensor * l.data) }

// peer returns the rank of another stage with the same place in it.
func (l *llm) peer(rank, stage int) int { return rank + (stage-l.stage(rank))*l.tensor*l.data }

// transfer is what a rank does between pass k-1 and pass k: it sends the result of the one, without waiting for the receiver, and
// receives the input of the other.
type transfer struct {
	*llm
	k int
}

func (t *transfer) fill(rank, _ int, b *schedule.Block) {
	stage := t.stage(rank)
	if t.k > 0 {
		p := t.at(stage, t.k-1)
		if to, chunk, ok := t.next(stage, p); ok {
			b.Add(schedule.Op{Kind: schedule.Send, Peer: int32(t.peer(rank, to)), Size: t.size, Tag: p.tag(chunk),
				Origin: t.send[p.direction()], Context: schedule.UserContext | schedule.Buffered})
		}
	}
	if t.k < t.passes() {
		p := t.at(stage, t.k)
		if from, _, ok := t.before(stage, p); ok {
			b.Add(schedule.Op{Kind: schedule.Recv, Peer: int32(t.peer(rank, from)), Size: t.size, Tag: p.tag(p.chunk),
				Origin: t.recv[p.direction()]})
		}
	}
}

// direction is 0 for forward passes and 1 for backward ones.
func (p pass) direction() int {
	if p.backward {
		return 1
	}
	return 0
}

// tag distinguishes the messages between two ranks: by direction, and by the chunk of the receiver.
func (p pass) tag(chunk int) uint32 { return uint32(2*chunk + p.direction()) }

// piece is one of the pieces of work of pass k.
type piece struct {
	*llm
	k, i int
}

func (w *piece) fill(rank, step int, b *schedule.Block) {
	p := w.at(w.stage(rank), w.k)
	if w.bucket != nil && p.backward && p.microbatch == w.microbatches-1 && w.i > 0 {
		w.bucket.start(rank, b)
	}
	work := w.work[p.direction()]
	if work == nil {
		return
	}
	t := work.at(rank, step)
	if slower, ok := w.slower[rank]; ok {
		t += int64(math.Round(float64(t) * slower))
	}
	if t > 0 {
		b.Ops[b.Calc(t*nanosecond)].Origin = work.origin
	}
}

// groupCall is a collective of the groups of one kind. Blocks borrow it, as they do a call.
type groupCall struct {
	ops   [1]schedule.Op
	calls []schedule.Call // by group
	group func(rank int) int
}

func (l *llm) groupCall(size int64, group func(int) int, origin uint32, groups []schedule.Group) *groupCall {
	c := &groupCall{ops: [1]schedule.Op{{Kind: schedule.Collective, Origin: origin}}, group: group}
	for g := range groups {
		c.calls = append(c.calls, schedule.Call{Op: schedule.Allreduce, Group: int32(g), Size: size})
	}
	return c
}

func (c *groupCall) fill(rank, _ int, b *schedule.Block) {
	g := c.group(rank)
	b.Borrow(c.ops[:], c.calls[g:g+1], nil, nil)
}

func (c *groupCall) start(rank int, b *schedule.Block) {
	op := &b.Ops[b.Call(c.calls[c.group(rank)])]
	op.Origin, op.CPU = c.ops[0].Origin, c.ops[0].CPU
}

// gcd returns the greatest common divisor of two positive numbers.
func gcd(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}
