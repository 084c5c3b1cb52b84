package replay

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

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

// encodedRank is the operations of a rank, by column.
type encodedRank struct {
	Blocks     []uint32 // by block, and at the end: its place among the operations, in First and in Dependents
	Kinds      []uint32 // with CPU, NIC and Context
	Sizes      []int64
	Peers      []int32
	Tags       []uint32
	Origins    []uint32
	First      []uint32
	Dependents []schedule.Dependent
}

// Encode writes the program for Decode on another process, rank by rank. Nothing else is promised of the form.
func (p *Program) Encode(w io.Writer) error {
	e := gob.NewEncoder(w)
	err := e.Encode(p.encodedHead())
	for rank := 0; rank < len(p.programs) && err == nil; rank++ {
		err = e.Encode(p.programs[rank].encoded())
	}
	return err
}

func (p *Program) encodedHead() *encodedHead {
	h := &encodedHead{
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
	return h
}

func (r *rankProgram) encoded() *encodedRank {
	n := len(r.ops)
	e := &encodedRank{
		Kinds: make([]uint32, n), Sizes: make([]int64, n), Peers: make([]int32, n), Tags: make([]uint32, n), Origins: make([]uint32, n),
		First: r.first, Dependents: r.dependents,
	}
	for _, b := range r.blocks {
		e.Blocks = append(e.Blocks, b.ops, b.first, b.dependents)
	}
	for i := range r.ops {
		op := &r.ops[i]
		e.Kinds[i] = uint32(op.Kind) | uint32(op.CPU)<<8 | uint32(op.NIC)<<16 | uint32(op.Context)<<24
		e.Sizes[i], e.Peers[i], e.Tags[i], e.Origins[i] = op.Size, op.Peer, op.Tag, op.Origin
	}
	return e
}

// Decode reads what Encode wrote. It yields the same operations, also with other numbers of ranks.
func Decode(r io.Reader) (*Program, error) {
	d := gob.NewDecoder(r)
	var h encodedHead
	if err := d.Decode(&h); err != nil {
		return nil, fmt.Errorf("%w (%w)", errEncoded, err)
	}
	p, err := h.program()
	if err != nil {
		return nil, err
	}
	for range h.Recorded {
		var e encodedRank
		if err := d.Decode(&e); err != nil {
			return nil, fmt.Errorf("%w (%w)", errEncoded, err)
		}
		rank, err := e.program(len(h.Calls))
		if err != nil {
			return nil, err
		}
		p.programs = append(p.programs, rank)
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

// program is the rank of a program with so many calls.
func (e *encodedRank) program(calls int) (rankProgram, error) {
	n := len(e.Kinds)
	r := rankProgram{ops: make([]schedule.Op, n), first: e.First, dependents: e.Dependents}
	if len(e.Sizes) != n || len(e.Peers) != n || len(e.Tags) != n || len(e.Origins) != n || len(e.Blocks)%3 != 0 {
		return r, errEncoded
	}
	for i, kinds := range e.Kinds {
		op := schedule.Op{
			Kind: schedule.Kind(kinds), CPU: uint8(kinds >> 8), NIC: uint8(kinds >> 16), Context: uint8(kinds >> 24),
			Size: e.Sizes[i], Peer: e.Peers[i], Tag: e.Tags[i], Origin: e.Origins[i],
		}
		if op.Kind == schedule.Collective && (op.Size < 0 || op.Size >= int64(calls)) {
			return r, errEncoded
		}
		r.ops[i] = op
	}
	var last place
	for b := range slices.Chunk(e.Blocks, 3) {
		at := place{b[0], b[1], b[2]}
		if at.ops < last.ops || at.first < last.first || at.dependents < last.dependents {
			return r, errEncoded
		}
		r.blocks, last = append(r.blocks, at), at
	}
	if int(last.ops) > n || int(last.first) > len(r.first) || int(last.dependents) > len(r.dependents) {
		return r, errEncoded
	}
	return r, nil
}
