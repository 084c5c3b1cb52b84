package schedule

import "slices"

// Block is a piece of the program of one rank: operations and, if they are not all independent,
// the dependencies between them. All operations of a block require all operations of the block
// before it, so a block without dependencies is a phase.
//
// The operations of a block are either added with the methods below, into memory that the block
// owns and uses again, or borrowed from the program that yields it. In both cases they are valid
// until the block is filled again, and must not be changed by the one who asked for them.
type Block struct {
	Ops   []Op
	Calls []Call // what the operations of kind Collective mean

	// Dependents[First[i]:First[i+1]] wait for operation i. Both are empty in a phase.
	First      []uint32
	Dependents []Dependent

	// Memo is for whoever fills the block, to remember something from one call to the next.
	Memo any

	// Origin and Context are given to the messages that Send and Recv add.
	Origin  uint32
	Context uint8

	borrowed bool // Ops and Calls belong to the program; the block's own are below
	ownOps   []Op
	ownCalls []Call

	ownFirst      []uint32
	ownDependents []Dependent
	edges         []edge
}

// Dependent is an operation that waits for another one of its block: its index, and whether it
// waits for the start (irequires) or for the finish (requires).
type Dependent uint32

// MaxBlockOps is the largest number of operations in one block.
const MaxBlockOps = 1<<31 - 1

// NewDependent returns the dependent with this index.
func NewDependent(index int, onStart bool) Dependent {
	d := Dependent(index) << 1
	if onStart {
		d |= 1
	}
	return d
}

// Index returns the index of the waiting operation.
func (d Dependent) Index() int { return int(d >> 1) }

// OnStart reports whether the operation waits for the start only.
func (d Dependent) OnStart() bool { return d&1 != 0 }

// IsPhase reports whether all operations of the block are independent.
func (b *Block) IsPhase() bool { return len(b.Dependents) == 0 }

// Reset empties the block.
func (b *Block) Reset() {
	if b.borrowed {
		b.Ops, b.Calls, b.borrowed = b.ownOps, b.ownCalls, false
	}
	b.Ops, b.Calls = b.Ops[:0], b.Calls[:0]
	if b.First != nil || len(b.edges) > 0 {
		b.First, b.Dependents = nil, nil
		b.edges = b.edges[:0]
	}
}

// Add appends an operation to a block that borrows nothing, and returns its index.
func (b *Block) Add(op Op) int {
	b.Ops = append(b.Ops, op)
	return len(b.Ops) - 1
}

// Keep drops all operations but the first n.
func (b *Block) Keep(n int) { b.Ops = b.Ops[:n] }

// Send appends a send of size bytes to peer.
func (b *Block) Send(peer int, size int64, tag uint32) int {
	return b.message(Send, peer, size, tag)
}

// Recv appends a receive from peer.
func (b *Block) Recv(peer int, size int64, tag uint32) int {
	return b.message(Recv, peer, size, tag)
}

// message writes the fields one by one where they belong: it is called for every message of a
// generated program, and a copy of an operation that was just put together stalls the processor.
func (b *Block) message(kind Kind, peer int, size int64, tag uint32) int {
	n := len(b.Ops)
	if n == cap(b.Ops) {
		b.Ops = append(b.Ops, Op{})
	} else {
		b.Ops = b.Ops[:n+1]
	}
	op := &b.Ops[n]
	op.Size, op.Peer, op.Tag, op.Origin = size, int32(peer), tag, b.Origin
	op.Kind, op.CPU, op.NIC, op.Context = kind, 0, 0, b.Context
	return n
}

// Calc appends CPU work of the given picoseconds.
func (b *Block) Calc(picoseconds int64) int {
	return b.Add(Op{Kind: Calc, Size: picoseconds})
}

// Call appends a symbolic collective.
func (b *Block) Call(c Call) int {
	b.Calls = append(b.Calls, c)
	return b.Add(Op{Kind: Collective, Size: int64(len(b.Calls) - 1)})
}

// Require makes operation index wait for the finish of operation on. After the last dependency
// the filler of the block calls Link.
func (b *Block) Require(index, on int) {
	b.edges = append(b.edges, edge{uint32(on), NewDependent(index, false)})
}

// RequireStart makes operation index wait for the start of operation on.
func (b *Block) RequireStart(index, on int) {
	b.edges = append(b.edges, edge{uint32(on), NewDependent(index, true)})
}

type edge struct {
	on  uint32
	dep Dependent
}

// Link turns the dependencies given so far into First and Dependents. Without any it does
// nothing: the block stays a phase. The order of the dependents of an operation is the order in
// which they were given.
func (b *Block) Link() {
	if len(b.edges) == 0 {
		return
	}
	b.ownFirst = slices.Grow(b.ownFirst[:0], len(b.Ops)+1)[:len(b.Ops)+1]
	b.ownDependents = slices.Grow(b.ownDependents[:0], len(b.edges))[:len(b.edges)]
	clear(b.ownFirst)
	link(b.edges, b.ownFirst, b.ownDependents)
	b.First, b.Dependents = b.ownFirst, b.ownDependents
}

// link sorts edges by what they wait for: it fills Block.First, which is all 0 before, and Block.Dependents.
func link(edges []edge, first []uint32, dependents []Dependent) {
	for i := range edges {
		first[edges[i].on]++
	}
	sum := uint32(0)
	for i := range first {
		sum += first[i]
		first[i] = sum
	}
	for _, e := range slices.Backward(edges) {
		first[e.on]--
		dependents[first[e.on]] = e.dep
	}
}

// Borrow fills the block with operations that belong to another owner. It does not copy them.
func (b *Block) Borrow(ops []Op, calls []Call, first []uint32, dependents []Dependent) {
	b.Reset()
	b.ownOps, b.ownCalls, b.borrowed = b.Ops, b.Calls, true
	b.Ops, b.Calls, b.First, b.Dependents = ops, calls, first, dependents
}

// Borrowed reports whether the operations belong to the program and stay valid when the block is
// filled again.
func (b *Block) Borrowed() bool { return b.borrowed }

// Own makes the operations and calls of the block its own, so that they can be changed. Only the
// calls that the operations name are kept.
func (b *Block) Own() {
	if !b.borrowed {
		return
	}
	ops, calls := append(b.ownOps[:0], b.Ops...), b.ownCalls[:0]
	for i := range ops {
		if op := &ops[i]; op.Kind == Collective {
			calls = append(calls, b.Calls[op.Size])
			op.Size = int64(len(calls) - 1)
		}
	}
	b.Ops, b.Calls, b.borrowed = ops, calls, false
}
