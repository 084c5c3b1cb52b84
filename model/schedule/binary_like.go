package schedule

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// This file reads a rank of the binary form that does the same as one before it: ranks of most programs do, each with its
// neighbors, for durations of its own. Then there is nothing to check and to cut that was not checked and cut before.

// binaryModel is a rank that others are compared with.
type binaryModel struct {
	rank  int32
	begun int // its place among the ranks of the packer
	data  []byte
	calcs []uint32 // the operations that are blocks of their own and computations
}

// A reader keeps so many of these, with so many bytes: in a grid those inside, at each side and at each corner are different.
const (
	maxModels     = 64
	maxModelBytes = 64 << 20
)

// likeBefore packs the present rank if it does the same as a model, and reports whether it does.
func (r *binaryReader) likeBefore(k *packer) bool {
	for i, m := range r.models {
		if len(m.data) != len(r.data) || !r.like(k, m) {
			continue
		}
		// The next rank is likely to be like this one.
		copy(r.models[1:i+1], r.models[:i])
		r.models[0] = m
		return true
	}
	return false
}

// like packs the present rank if it does the same as a model.
func (r *binaryReader) like(k *packer, m *binaryModel) bool {
	data, model := r.data, m.data
	if len(data) < 8 || !bytes.Equal(data[:8], model[:8]) {
		return false
	}
	n := int(binary.LittleEndian.Uint32(data))
	at := 8 + 4*int(binary.LittleEndian.Uint32(data[4:]))
	if end := at + binaryOp*n; !bytes.Equal(data[end:], model[end:]) {
		return false
	}
	before := len(k.calcs)
	next, calcs := 0, m.calcs
	ranks, shift := uint32(r.ranks), uint32(r.rank)-uint32(m.rank)
	if r.rank < int(m.rank) {
		shift += ranks
	}
	for i := range n {
		a, b := data[at+binaryOp*i:][:binaryOp], model[at+binaryOp*i:][:binaryOp]
		// Everything but the peer (bytes 5 to 8) and the size (9 to 16).
		const front, back = 1<<40 - 1, ^uint64(0xFF)
		differs := (word(a, 0)^word(b, 0))&front | (word(a, 16)^word(b, 16))&back | (word(a, 24) ^ word(b, 24)) | (word(a, 31) ^ word(b, 31))
		size, peer, wanted := word(a, 9), binary.LittleEndian.Uint32(a[5:]), binary.LittleEndian.Uint32(b[5:])
		if next < len(calcs) && int(calcs[next]) == i {
			next++
			k.calcs = append(k.calcs, int64(size*psPerNs))
			if differs != 0 || peer != 0 || size > maxCalcNs {
				k.calcs = k.calcs[:before]
				return false
			}
			continue
		}
		if a[4] != binaryCalc && wanted != anyInBinary {
			if wanted += shift; wanted >= ranks {
				wanted -= ranks
			}
		}
		if differs != 0 || size != word(b, 9) || peer != wanted {
			k.calcs = k.calcs[:before]
			return false
		}
	}
	k.repeat(r.rank, m.begun, before)
	return true
}

func word(b []byte, at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }

// lastIsRelative reports whether the last rank has distances in place of all peers, so that others can have its steps.
func (k *packer) lastIsRelative() bool {
	for _, step := range k.steps[k.ranks[len(k.ranks)-1].at:] {
		if step >= loneCalc || k.ops[step].Peer == asDistance {
			continue
		}
		for _, op := range k.ops[step+1:][:k.ops[step].Tag] {
			if op.Kind <= Recv && op.Peer != AnySource {
				return false // the block is too long for distances
			}
		}
	}
	return true
}

// keep makes the present rank, which was packed last, a model for those that follow.
func (r *binaryReader) keep(k *packer) {
	if len(r.ops) == 0 || len(r.data) > maxModelBytes || !k.lastIsRelative() {
		return
	}
	m := &binaryModel{}
	for n := len(r.models); n == maxModels || (n+1)*len(r.data) > maxModelBytes; n-- {
		m, r.models = r.models[n-1], r.models[:n-1]
	}
	r.models = slices.Insert(r.models, 0, m)
	m.rank, m.begun, m.calcs = int32(r.rank), len(k.ranks)-1, m.calcs[:0]
	m.data, r.data = r.data, m.data
	op := 0
	for _, step := range k.steps[k.ranks[m.begun].at:] {
		if step >= loneCalc {
			m.calcs = append(m.calcs, uint32(op))
			op++
		} else {
			op += int(k.ops[step].Tag)
		}
	}
}
