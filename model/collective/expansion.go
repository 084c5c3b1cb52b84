package collective

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"slackline/model/schedule"
	"slackline/model/unit"
)

// Expansion is a program whose collectives are carried out with messages: the stream that an
// engine runs. Collectives are expanded step by step when a rank reaches them and are not stored.
type Expansion struct {
	program schedule.Program
	spmd    schedule.SPMD // nil: the program is none
	mapping *Mapping
	gamma   unit.PerByte
	groups  []schedule.Group
	shape   schedule.Shape

	instances sync.Map // callKey and shapeKey to *Instance, for calls without lists
	failure   atomic.Pointer[error]
}

// Expand returns the stream of a program under a mapping; gamma is the CPU time per reduced byte.
// A nil mapping is the default mapping.
func Expand(p schedule.Program, mapping *Mapping, gamma unit.PerByte) *Expansion {
	if mapping == nil {
		mapping = DefaultMapping()
	}
	x := &Expansion{program: p, mapping: mapping, gamma: gamma, groups: p.Groups(), shape: p.Shape()}
	if len(x.groups) == 0 {
		x.groups = []schedule.Group{schedule.World(p.Ranks())}
	}
	x.shape.Collectives = false
	x.spmd, _ = p.(schedule.SPMD)
	return x
}

// Ranks implements schedule.Stream.
func (x *Expansion) Ranks() int { return x.program.Ranks() }

// Shape implements schedule.Stream.
func (x *Expansion) Shape() schedule.Shape { return x.shape }

// Err returns the first error that ended a rank before its time: a call that names an unknown
// algorithm, or a rank outside the group of its call.
func (x *Expansion) Err() error {
	if e := x.failure.Load(); e != nil {
		return *e
	}
	return nil
}

// Next implements schedule.Stream.
func (x *Expansion) Next(rank int, at schedule.Cursor, b *schedule.Block) (schedule.Cursor, bool) {
	if m, ok := b.Memo.(*memo); ok && m.owner == x && m.same && m.step == at.Step {
		// All ranks call this collective: no need to ask the program again.
		for {
			b.Reset()
			b.Origin, b.Context = m.origin, schedule.CollectiveContext
			if !m.in.Algorithm.Step(m.in, m.me(rank), int(at.Sub), b) {
				at = schedule.Cursor{Step: at.Step + 1}
				break
			}
			x.finish(b, m)
			at.Sub++
			if len(b.Ops) > 0 {
				return at, true
			}
		}
	}
	for steps := x.program.Steps(rank); int(at.Step) < steps; {
		b.Origin, b.Context = 0, schedule.UserContext
		x.program.Block(rank, int(at.Step), b)
		switch {
		case len(b.Calls) == 0 || !hasCollective(b.Ops):
			at = schedule.Cursor{Step: at.Step + 1}
		case len(b.Ops) == 1:
			var err error
			if at, err = x.step(rank, at, b); err != nil {
				return x.fail(rank, at, err)
			}
		default:
			if err := x.splice(rank, int(at.Step), b); err != nil {
				return x.fail(rank, at, err)
			}
			at = schedule.Cursor{Step: at.Step + 1}
		}
		if len(b.Ops) > 0 {
			return at, true
		}
	}
	return at, false
}

// NextExchange implements schedule.Exchanger.
func (x *Expansion) NextExchange(rank int, at schedule.Cursor, b *schedule.Block) (schedule.Exchange, schedule.Cursor, bool) {
	m, _ := b.Memo.(*memo)
	if m == nil || !m.same || m.step != at.Step || m.owner != x || !m.plain || m.in.Algorithm.Exchange == nil {
		return schedule.Exchange{}, at, false
	}
	to, from, size, ok := m.in.Algorithm.Exchange(m.in, rank, int(at.Sub))
	at.Sub++
	return schedule.Exchange{Size: size, To: to, From: from, Context: schedule.CollectiveContext}, at, ok
}

// Spliced reports a block that Next has filled from a step of the program with collectives beside other
// operations: by operation, the one of the program that it is or is a part of. Of other blocks it
// returns nil. The list is valid until the block is filled again.
func (x *Expansion) Spliced(rank, step int, b *schedule.Block) []int32 {
	m, ok := b.Memo.(*memo)
	if !ok || m.owner != x || m.spliced.rank != rank || m.spliced.step != step {
		return nil
	}
	return m.spliced.of
}

func hasCollective(ops []schedule.Op) bool {
	for i := range ops {
		if ops[i].Kind == schedule.Collective {
			return true
		}
	}
	return false
}

// fail remembers an error and ends the rank.
func (x *Expansion) fail(rank int, at schedule.Cursor, err error) (schedule.Cursor, bool) {
	err = fmt.Errorf("rank %d, step %d: %w", rank, at.Step, err)
	x.failure.CompareAndSwap(nil, &err)
	return at, false
}

// step replaces the lone collective in b by the step of its algorithm that the cursor names, and
// returns the cursor after it. Beyond the last step b is left empty.
func (x *Expansion) step(rank int, at schedule.Cursor, b *schedule.Block) (schedule.Cursor, error) {
	m, err := x.instance(&b.Calls[b.Ops[0].Size], b)
	if err != nil {
		return at, err
	}
	m.origin = b.Ops[0].Origin
	m.step, m.same = at.Step, x.spmd != nil && x.spmd.SameCall(int(at.Step))
	me := m.me(rank)
	if me < 0 || me >= m.group.Len() {
		return at, fmt.Errorf("%s: the rank is not in group %d of the call", m.in.Op, m.key.group)
	}
	b.Reset()
	b.Origin, b.Context = m.origin, schedule.CollectiveContext
	if !m.in.Algorithm.Step(m.in, me, int(at.Sub), b) {
		b.Reset()
		return schedule.Cursor{Step: at.Step + 1}, nil
	}
	x.finish(b, m)
	return schedule.Cursor{Step: at.Step, Sub: at.Sub + 1}, nil
}

// finish turns the operations that an algorithm added to b into those of the program: world
// ranks, the tag, reductions as calculations. Origin and context they have already.
func (x *Expansion) finish(b *schedule.Block, m *memo) {
	if m.plain {
		return
	}
	ops := b.Ops
	for i := range ops {
		op := &ops[i]
		if op.Kind == schedule.Calc {
			x.finishReductions(b, m, i)
			return
		}
		op.Tag = m.tag
		if !m.world {
			op.Peer = int32(m.group.Rank(int(op.Peer)))
		}
	}
}

// finishReductions is finish for the operations from position i on, of which the first is a
// calculation. Reductions that cost nothing are left out.
func (x *Expansion) finishReductions(b *schedule.Block, m *memo, i int) {
	keep := i
	for ; i < len(b.Ops); i++ {
		op := b.Ops[i]
		op.Origin = m.origin
		if op.Kind == schedule.Calc {
			if op.Tag == reduceTag {
				d, _ := x.gamma.Times(op.Size)
				if d == 0 {
					continue
				}
				op.Size = int64(d)
			}
			op.Tag = 0
		} else {
			op.Tag = m.tag
			if !m.world {
				op.Peer = int32(m.group.Rank(int(op.Peer)))
			}
		}
		b.Ops[keep] = op
		keep++
	}
	b.Keep(keep)
}

// callKey is a call without the parts that differ between ranks or do not matter for the choice.
type callKey struct {
	op        schedule.Operation
	group     int32
	root      int32
	size      int64
	algorithm string
}

// shapeKey is a call without its group, but with what matters of that: its size and how many of its ranks follow one another on a node.
type shapeKey struct {
	callKey
	ranks, local int
}

// memo remembers the last call that a block was asked for. Ranks that follow one another are
// mostly in the same collective.
type memo struct {
	owner *Expansion
	key   callKey
	sizes []int64
	lists bool // of neighbors: the call differs by rank
	in    *Instance
	group *schedule.Group
	world bool
	tag   uint32

	plain  bool // messages need no change, and there are no reductions
	origin uint32
	step   int32 // of the program
	same   bool  // the step is this call for all ranks

	parts   schedule.Block // for splice
	spliced splice
}

// splice names the block of the program from which a spliced one was made: by operation, the one there.
type splice struct {
	rank, step int
	of         []int32
}

// me returns the rank in the group of a rank.
func (m *memo) me(rank int) int {
	if m.world {
		return rank
	}
	return m.group.Index(rank)
}

// instance puts the instance of a call into the memo of a block. It is made once for all equal
// calls.
func (x *Expansion) instance(call *schedule.Call, b *schedule.Block) (*memo, error) {
	if call.Group < 0 || int(call.Group) >= len(x.groups) {
		return nil, fmt.Errorf("%s on group %d, but the program has %d groups", call.Op, call.Group, len(x.groups))
	}
	m := x.memo(b)
	m.tag = call.Tag
	key := callKey{call.Op, call.Group, call.Root, call.Size, call.Algorithm}
	lists := len(call.Sources)+len(call.Destinations) > 0
	if m.in != nil && m.key == key && !m.lists && !lists && sameSlice(m.sizes, call.Sizes) {
		m.plain = m.world && m.tag == 0 && m.in.FreeReduce
		return m, nil
	}
	in, err := x.choose(call, key, !lists && call.Sizes == nil)
	if err != nil {
		return nil, err
	}
	m.key, m.sizes, m.lists, m.in = key, call.Sizes, lists, in
	m.group = &x.groups[call.Group]
	m.world = m.group.IsWorld()
	m.plain = m.world && m.tag == 0 && in.FreeReduce
	return m, nil
}

// choose asks the mapping, or remembers what it said of an equal plain call.
func (x *Expansion) choose(call *schedule.Call, key callKey, plain bool) (*Instance, error) {
	if plain {
		if in, ok := x.instances.Load(key); ok {
			return in.(*Instance), nil
		}
	}
	group := &x.groups[call.Group]
	shape := shapeKey{key, group.Len(), 1}
	if shape.group = 0; x.mapping.network != nil {
		shape.local = localRanks(x.mapping.network, group)
	}
	if plain { // groups of one shape, as the rows of a grid, share an instance
		if in, ok := x.instances.Load(shape); ok {
			x.instances.Store(key, in)
			return in.(*Instance), nil
		}
	}
	c := *call
	in, err := x.mapping.instance(&c, group)
	if err != nil {
		return nil, err
	}
	in.FreeReduce = x.gamma == 0
	if plain {
		x.instances.Store(key, in)
		x.instances.Store(shape, in)
	}
	return in, nil
}

func (x *Expansion) memo(b *schedule.Block) *memo {
	if m, ok := b.Memo.(*memo); ok && m.owner == x {
		return m
	}
	m := &memo{owner: x}
	b.Memo = m
	return m
}

// sameSlice reports whether a and b are the same memory.
func sameSlice(a, b []int64) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// splice replaces the collectives of a block with several operations: each becomes the chain of
// its steps, between the operations it waits for and those that wait for it. This is how a
// non-blocking collective overlaps with computation.
func (x *Expansion) splice(rank, step int, b *schedule.Block) error {
	ops := slices.Clone(b.Ops)
	calls := slices.Clone(b.Calls)
	first, dependents := slices.Clone(b.First), slices.Clone(b.Dependents)
	parts, spliced := &x.memo(b).parts, &x.memo(b).spliced
	*spliced = splice{rank, step, spliced.of[:0]}

	// entry and exit of each old operation: ranges of new operations.
	type span struct{ from, to int }
	entry, exit := make([]span, len(ops)), make([]span, len(ops))
	var all []schedule.Op
	type dependency struct {
		op, on  int
		onStart bool
	}
	var edges []dependency
	for i := range ops {
		if ops[i].Kind != schedule.Collective {
			all = append(all, ops[i])
			spliced.of = append(spliced.of, int32(i))
			entry[i] = span{len(all) - 1, len(all)}
			exit[i] = entry[i]
			continue
		}
		last := span{}
		steps := 0
		for sub := int32(0); ; sub++ {
			parts.Reset()
			call := calls[ops[i].Size]
			parts.Call(call)
			parts.Ops[0].Origin = ops[i].Origin
			next, err := x.step(rank, schedule.Cursor{Sub: sub}, parts)
			if err != nil {
				return err
			}
			if next.Step > 0 {
				break
			}
			if len(parts.Ops) == 0 {
				continue
			}
			now := span{len(all), len(all) + len(parts.Ops)}
			for j := range parts.Ops {
				parts.Ops[j].CPU = ops[i].CPU
			}
			all = append(all, parts.Ops...)
			if steps == 0 {
				entry[i] = now
			} else {
				for op := now.from; op < now.to; op++ {
					for on := last.from; on < last.to; on++ {
						edges = append(edges, dependency{op, on, false})
					}
				}
			}
			last = now
			steps++
		}
		if steps == 0 { // nothing to do, as on one rank: a point that others can wait for
			all = append(all, schedule.Op{Kind: schedule.Calc, Origin: ops[i].Origin})
			entry[i] = span{len(all) - 1, len(all)}
			last = entry[i]
		}
		for len(spliced.of) < len(all) {
			spliced.of = append(spliced.of, int32(i))
		}
		exit[i] = last
	}
	b.Reset()
	b.Origin, b.Context = 0, schedule.UserContext
	for _, op := range all {
		b.Add(op)
	}
	for i := range ops {
		if len(first) == 0 {
			break
		}
		for _, d := range dependents[first[i]:first[i+1]] {
			to := entry[d.Index()]
			for op := to.from; op < to.to; op++ {
				if d.OnStart() {
					b.RequireStart(op, entry[i].from)
					continue
				}
				for on := exit[i].from; on < exit[i].to; on++ {
					b.Require(op, on)
				}
			}
		}
	}
	for _, e := range edges {
		b.Require(e.op, e.on)
	}
	b.Link()
	if !b.IsPhase() && !x.shape.Graphs {
		return fmt.Errorf("a collective beside other operations, but the program's shape says that it has no graphs")
	}
	return nil
}
