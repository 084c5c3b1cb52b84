package schedule

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// binaryReader reads the data of one rank after the other. It keeps its memory for the next rank.
type binaryReader struct {
	*binaryFile
	rank int
	data []byte
	from int64 // where they begin in the file

	ops        []Op
	first      []uint32 // empty without dependencies
	dependents []Dependent

	waits  []uint32 // by operation: dependencies found
	cycles cycleFinder
	models []*binaryModel // the last one used first
}

// load reads the data of a rank from the file.
func (r *binaryReader) load(rank int) error {
	from, to, err := r.place(rank)
	if err != nil {
		return err
	}
	if r.most > 0 && to-from > r.most/2 {
		return fmt.Errorf("the data of rank %d have %d MiB, for which the memory is not enough", rank, (to-from)>>20)
	}
	r.rank, r.from = rank, from
	r.data = slices.Grow(r.data[:0], int(to-from))[:to-from]
	return readFull(r.file, r.data, from)
}

// fault is an error in the data of the present rank.
func (r *binaryReader) fault(at int, format string, args ...any) error {
	return fmt.Errorf("byte %d: rank %d: %s", r.from+int64(at), r.rank, fmt.Sprintf(format, args...))
}

// readRank reads the operations from the data of a rank.
func (r *binaryReader) readRank() error {
	end := len(r.data)
	if end < 8 {
		return r.fault(0, "%d bytes of data, at least 8 are needed", end)
	}
	ops := int(binary.LittleEndian.Uint32(r.data))
	roots := int(binary.LittleEndian.Uint32(r.data[4:]))
	at := 8 + 4*roots
	appendix := at + binaryOp*ops
	switch {
	case appendix > end:
		return r.fault(0, "%d operations and %d roots need %d bytes, but the data have %d", ops, roots, appendix, end)
	case (end-appendix)%4 != 0:
		return r.fault(appendix, "the appendix has %d bytes, which is not a multiple of 4", end-appendix)
	case ops > MaxBlockOps:
		return r.fault(0, "%d operations; the limit is %d", ops, MaxBlockOps)
	}
	r.ops, r.first = slices.Grow(r.ops[:0], ops)[:ops], slices.Grow(r.first[:0], ops+1)[:ops+1]
	r.dependents = r.dependents[:0]
	r.waits = slices.Grow(r.waits[:0], ops)[:ops]
	clear(r.waits)
	backward, err := r.readOps(at, appendix)
	if err != nil {
		return err
	}
	for i, n := range r.waits {
		if want := binary.LittleEndian.Uint32(r.data[at+binaryOp*i:]); n != want {
			return r.fault(at+binaryOp*i, "operation %d waits for %d operations, but the lists of dependent operations name it %d times", i, want, n)
		}
	}
	if len(r.dependents) == 0 {
		r.first = r.first[:0]
		return nil
	}
	r.first[ops] = uint32(len(r.dependents))
	if backward {
		if cycle := r.cycles.find(ops, r.first, r.dependents); cycle != nil {
			return fmt.Errorf("%s", cycleText(r.rank, cycle, func(i int) string { return fmt.Sprintf("#%d", i) }))
		}
	}
	return nil
}

// readOps reads the operations, which begin at a byte of the data, with what depends on them. It reports whether an
// operation waits for itself or for a later one.
func (r *binaryReader) readOps(at, appendix int) (backward bool, err error) {
	entries := (len(r.data) - appendix) / 4
	left := entries // each entry may be used once, so that the dependencies are not more than the file has bytes
	for i := range r.ops {
		raw := r.data[at+binaryOp*i:][:binaryOp]
		if err := r.readOp(raw, at+binaryOp*i, i); err != nil {
			return false, err
		}
		r.first[i] = uint32(len(r.dependents))
		for side := range 2 {
			count := int(binary.LittleEndian.Uint32(raw[23+8*side:]))
			if count == 0 {
				continue
			}
			position := int(binary.LittleEndian.Uint32(raw[27+8*side:]))
			where := at + binaryOp*i + 23 + 8*side
			if position+count > entries {
				return false, r.fault(where, "operation %d: entries %d to %d of the appendix, which has %d", i, position, position+count-1, entries)
			}
			if left -= count; left < 0 {
				return false, r.fault(where, "operation %d: the lists of dependent operations overlap in the appendix", i)
			}
			before, err := r.readList(i, appendix+4*position, count, side == 1)
			if err != nil {
				return false, err
			}
			backward = backward || before
		}
	}
	return backward, nil
}

// readList reads a list of operations that wait for operation on, and reports whether one of them does not come after it.
func (r *binaryReader) readList(on, at, count int, start bool) (backward bool, err error) {
	list, waits, dependents := r.data[at:at+4*count], r.waits, r.dependents
	for i := 0; i < len(list); i += 4 {
		index := int(binary.LittleEndian.Uint32(list[i:]))
		if index >= len(waits) {
			return false, r.fault(at+i, "operation %d is named in the appendix, but there are %d", index, len(waits))
		}
		waits[index]++
		backward = backward || index <= on
		dependents = append(dependents, NewDependent(index, start))
	}
	r.dependents = dependents
	return backward, nil
}

// readOp reads one operation, which is at a byte of the data.
func (r *binaryReader) readOp(raw []byte, at, index int) error {
	peer := binary.LittleEndian.Uint32(raw[5:])
	size := binary.LittleEndian.Uint64(raw[9:])
	tag := binary.LittleEndian.Uint32(raw[17:])
	cpu, nic, kind := raw[21], raw[22], raw[4]
	op := &r.ops[index]
	if kind < 1 || kind > 3 {
		return r.fault(at+4, "operation %d has the type %d (1 send, 2 recv, 3 calc)", index, kind)
	}
	if cpu > maxUnit || nic > maxUnit {
		return r.fault(at+21, "operation %d: cpu %d, nic %d is out of range (0 to %d)", index, cpu, nic, maxUnit)
	}
	// Field by field: a copy of the whole would wait for narrow stores.
	op.Peer, op.Size, op.Tag, op.Origin = int32(peer), int64(size), tag, 0
	op.Kind, op.CPU, op.NIC, op.Context = binaryKinds[kind], cpu, nic, 0
	if op.Kind == Calc {
		if size > maxCalcNs {
			return r.fault(at+9, "operation %d: a time of %d ns does not fit into 63 bits (times are kept in ps)", index, size)
		}
		if peer != 0 || tag != 0 {
			return r.fault(at+5, "operation %d is a calc with peer %d and tag %d, which must be 0", index, peer, tag)
		}
		op.Size *= psPerNs
		op.NIC = 0
		return nil
	}
	anySource := peer == anyInBinary && op.Kind == Recv
	switch {
	case size > maxSize:
		return r.fault(at+9, "operation %d: the size %d does not fit into 63 bits", index, size)
	case peer >= uint32(r.ranks) && !anySource:
		return r.fault(at+5, "operation %d: %s with rank %d as partner, but there are %d ranks", index, op.Kind, peer, r.ranks)
	case tag == anyInBinary && op.Kind == Send:
		return r.fault(at+17, "operation %d: any tag is allowed for recv only", index)
	}
	return nil
}
