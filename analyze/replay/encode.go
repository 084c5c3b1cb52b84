package replay

import (
	"bufio"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"slackline/internal/chunk"
	"slackline/model/schedule"
)

// encodedHead is what comes before the operations of the ranks when a program goes to another process.
type encodedHead struct {
	Recorded, Ranks int
	Calls           []schedule.Call // those of the recorded ranks, without their sizes
	SizesOf         []int32         // by call: its list of sizes, counted from 1; 0: none
	Sizes           [][]int64       // equal ones once
	Members         [][]int32       // see groupTable
	Global          int
	Origins         []schedule.Origin
	Shape           schedule.Shape
	Report          Report
	Tales           Tales
}

// errEncoded is the error of Decode for bytes that Encode did not write.
var errEncoded = errors.New("a program of another process makes no sense; do all of them run the same version?")

// Encode writes the program for Decode on another process, piece by piece. Nothing else is promised of the form.
func (p *Program) Encode(w io.Writer) error {
	e := &encoder{to: w}
	e.head(p)
	for rank := range p.programs {
		e.rank(&p.programs[rank])
	}
	e.flush()
	return e.err
}

// encoder writes numbers; an error ends that.
type encoder struct {
	to     io.Writer
	buffer []byte
	err    error
}

// encoderBuffer is how many bytes an encoder gathers before it writes them.
const encoderBuffer = 1 << 16

func (e *encoder) flush() {
	if e.err == nil {
		_, e.err = e.to.Write(e.buffer)
	}
	e.buffer = e.buffer[:0]
}

func (e *encoder) uint(v uint64) {
	if len(e.buffer) >= encoderBuffer {
		e.flush()
	}
	e.buffer = binary.AppendUvarint(e.buffer, v)
}

// Write implements io.Writer.
func (e *encoder) Write(b []byte) (int, error) {
	e.buffer = append(e.buffer, b...)
	e.flush()
	return len(b), e.err
}

func (e *encoder) head(p *Program) {
	h := encodedHead{
		Recorded: p.recorded, Ranks: p.Ranks(), Calls: slices.Clone(p.recordedCalls), SizesOf: make([]int32, len(p.recordedCalls)),
		Members: p.table.members[1:], Global: p.table.global, Origins: p.origins, Shape: p.shape, Report: p.report, Tales: p.tales,
	}
	known := map[*int64]int32{}
	for i := range h.Calls {
		sizes := h.Calls[i].Sizes
		h.Calls[i].Sizes = nil
		if len(sizes) == 0 {
			continue
		}
		if known[&sizes[0]] == 0 {
			h.Sizes = append(h.Sizes, sizes)
			known[&sizes[0]] = int32(len(h.Sizes))
		}
		h.SizesOf[i] = known[&sizes[0]]
	}
	if err := gob.NewEncoder(e).Encode(h); e.err == nil {
		e.err = err
	}
}

func (e *encoder) rank(r *rankProgram) {
	e.uint(uint64(len(r.blocks)))
	var last place
	for _, b := range r.blocks {
		e.uint(uint64(b.ops - last.ops))
		e.uint(uint64(b.first - last.first))
		e.uint(uint64(b.dependents - last.dependents))
		last = b
	}
	e.uint(uint64(len(r.ops)))
	for i := range r.ops {
		op := &r.ops[i]
		e.uint(uint64(op.Kind) | uint64(op.CPU)<<8 | uint64(op.NIC)<<16 | uint64(op.Context)<<24)
		e.uint(chunk.Zigzag(op.Size))
		e.uint(chunk.Zigzag(int64(op.Peer)))
		e.uint(uint64(op.Tag))
		e.uint(uint64(op.Origin))
	}
	e.uint(uint64(len(r.first)))
	for _, v := range r.first {
		e.uint(uint64(v))
	}
	e.uint(uint64(len(r.dependents)))
	for _, v := range r.dependents {
		e.uint(uint64(v))
	}
}

// Decode reads what Encode wrote. It yields the same operations, also with other numbers of ranks.
func Decode(r io.Reader) (*Program, error) {
	d := &decoder{from: bufio.NewReaderSize(r, encoderBuffer)}
	var h encodedHead
	if err := gob.NewDecoder(d.from).Decode(&h); err != nil { // it reads no more than it needs
		return nil, fmt.Errorf("%w (%w)", errEncoded, err)
	}
	p, err := h.program()
	if err != nil {
		return nil, err
	}
	for range h.Recorded {
		p.programs = append(p.programs, d.rank(&h))
		if d.err != nil {
			return nil, d.err
		}
	}
	return p.WithRanks(h.Ranks)
}

// program is the program without the operations.
func (h *encodedHead) program() (*Program, error) {
	if h.Recorded < 1 || h.Recorded > math.MaxInt32 || h.Global < 1 || h.Global > len(h.Members)+1 || len(h.SizesOf) != len(h.Calls) {
		return nil, errEncoded
	}
	for _, members := range h.Members {
		if len(members) < 2 {
			return nil, errEncoded
		}
	}
	for i, list := range h.SizesOf {
		switch {
		case list < 0 || int(list) > len(h.Sizes) || int(h.Calls[i].Group) > len(h.Members):
			return nil, errEncoded
		case list > 0:
			h.Calls[i].Sizes = h.Sizes[list-1]
		}
	}
	table := &groupTable{members: append([][]int32{nil}, h.Members...), global: h.Global}
	return &Program{
		recorded: h.Recorded, copies: 1, recordedCalls: h.Calls, table: table,
		origins: h.Origins, shape: h.Shape, report: h.Report, tales: h.Tales,
	}, nil
}

// decoder reads numbers; the first error stays.
type decoder struct {
	from *bufio.Reader
	err  error
}

func (d *decoder) uint(most uint64) uint64 {
	if d.err != nil {
		return 0
	}
	v, err := binary.ReadUvarint(d.from)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), err == nil && v > most:
		d.err = errEncoded
		return 0
	case err != nil:
		d.err = err
		return 0
	}
	return v
}

// decodedRoom bounds the memory that is taken before there is something to put into it.
const decodedRoom = 1 << 16

// list reads a list of at most so many things.
func list[T any](d *decoder, next func() T) []T {
	n := d.uint(maxPerRank)
	things := make([]T, 0, min(n, decodedRoom))
	for ; n > 0 && d.err == nil; n-- {
		things = append(things, next())
	}
	return slices.Clip(things)
}

// rank reads the operations of a rank.
func (d *decoder) rank(h *encodedHead) rankProgram {
	var r rankProgram
	var at place
	r.blocks = list(d, func() place {
		at.ops += uint32(d.uint(maxPerRank))
		at.first += uint32(d.uint(maxPerRank))
		at.dependents += uint32(d.uint(maxPerRank))
		return at
	})
	r.ops = list(d, func() schedule.Op { return d.op(h) })
	number := func() uint32 { return uint32(d.uint(math.MaxUint32)) }
	r.first = list(d, number)
	r.dependents = list(d, func() schedule.Dependent { return schedule.Dependent(number()) })
	last := place{}
	for _, b := range r.blocks {
		if b.ops < last.ops || b.first < last.first || b.dependents < last.dependents {
			d.err = errEncoded
			return r
		}
		last = b
	}
	if int64(last.ops) > int64(len(r.ops)) || int64(last.first) > int64(len(r.first)) || int64(last.dependents) > int64(len(r.dependents)) {
		d.err = errEncoded
	}
	return r
}

func (d *decoder) op(h *encodedHead) schedule.Op {
	kinds := d.uint(math.MaxUint32)
	op := schedule.Op{Kind: schedule.Kind(kinds), CPU: uint8(kinds >> 8), NIC: uint8(kinds >> 16), Context: uint8(kinds >> 24)}
	op.Size = chunk.Unzigzag(d.uint(math.MaxUint64))
	op.Peer = int32(chunk.Unzigzag(d.uint(math.MaxUint32)))
	op.Tag, op.Origin = uint32(d.uint(math.MaxUint32)), uint32(d.uint(math.MaxUint32))
	if op.Kind == schedule.Collective && (op.Size < 0 || op.Size >= int64(len(h.Calls))) {
		d.err = errEncoded
	}
	return op
}
