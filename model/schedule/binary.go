package schedule

import (
	"encoding/binary"
	"fmt"
	"math"
)

// The binary form of GOAL, as LogGOPSim's txt2bin writes it. All numbers are little-endian:
//
//	u64 cookie, u32 ranks, u8 largest cpu, u8 largest nic, per rank (u64 begin, u64 end)
//
// where start and end are offsets in the file, minus 8. The data of a rank are
//
//	u32 operations m, u32 roots k, k x u32 root, m x operation (39 bytes), u32 appendix ...
//
// and an operation is
//
//	u32 dependencies, u8 kind, u32 peer, u64 size, u32 tag, u8 cpu, u8 nic,
//	u32 count, u32 position of those that wait for its finish, the same for its start
//
// where positions count the entries of the appendix, which are indices of operations. The roots
// are redundant and ignored.
var binaryFormat = Format{
	Name: "bin", Noun: "the binary form of LogGOPSim", Info: "binary form of GOAL, as LogGOPSim's txt2bin writes it", Suffixes: []string{".bin"},
	Sniff: sniffBinary, Read: readBinary, Write: writeBinary,
}

const (
	binaryCookie  = 4223
	spoiledCookie = 2342

	binaryHeader = 14 // cookie, ranks, largest cpu and nic
	binaryJump   = 16 // start and end of a rank
	binaryOp     = 39
	binaryBase   = 8 // what is to be added to the offsets in the jump table

	anyInBinary = 1<<32 - 1 // any source, any tag
)

var binaryKinds = [...]Kind{1: Send, 2: Recv, 3: Calc}

func sniffBinary(head []byte) bool {
	if len(head) < 8 {
		return false
	}
	cookie := binary.LittleEndian.Uint64(head)
	return cookie == binaryCookie || cookie == spoiledCookie
}

// readBinary reads the binary form of GOAL. Errors name the rank and the byte of the file.
func readBinary(name string, data []byte) (*Graph, error) {
	r := binaryReader{data: data}
	g, err := r.read()
	if err != nil {
		return nil, &FileError{File: name, What: "binary form: " + err.Error()}
	}
	g.Names = &Names{File: name}
	return g, nil
}

type binaryReader struct {
	data   []byte
	ranks  int
	rank   int
	block  Block
	waits  []uint32 // by operation: dependencies found
	cycles cycleFinder
}

func (r *binaryReader) read() (*Graph, error) {
	if len(r.data) < binaryHeader {
		return nil, fmt.Errorf("cut off: the file has %d bytes, its header alone has %d", len(r.data), binaryHeader)
	}
	switch cookie := binary.LittleEndian.Uint64(r.data); cookie {
	case binaryCookie:
	case spoiledCookie:
		return nil, fmt.Errorf("cookie %d: LogGOPSim has used this file with its memory-saving option (--save-mem), "+
			"which destroys the counters in it; make it anew with txt2bin", cookie)
	default:
		return nil, fmt.Errorf("cookie %d instead of %d", cookie, binaryCookie)
	}
	ranks := uint64(binary.LittleEndian.Uint32(r.data[8:]))
	switch {
	case ranks == 0 || ranks > math.MaxInt32:
		return nil, fmt.Errorf("byte 8: %d ranks are out of range (1 to %d)", ranks, math.MaxInt32)
	case ranks > maxRanks:
		return nil, fmt.Errorf("byte 8: %d ranks need too much memory; at most %d can be read", ranks, maxRanks)
	}
	r.ranks = int(ranks)
	if table := binaryHeader + binaryJump*r.ranks; table > len(r.data) {
		return nil, fmt.Errorf("cut off: the jump table of %d ranks ends at byte %d, the file at byte %d", r.ranks, table, len(r.data))
	}
	build := NewBuilder(r.ranks)
	end := binaryHeader + binaryJump*r.ranks
	for r.rank = range r.ranks {
		var err error
		if end, err = r.jump(end); err != nil {
			return nil, err
		}
		if len(r.block.Ops) > 0 {
			build.Add(r.rank, &r.block)
		}
	}
	if end != len(r.data) {
		return nil, fmt.Errorf("byte %d: %d bytes follow the data of the last rank", end, len(r.data)-end)
	}
	return build.Graph(), nil
}

// jump reads the data of a rank, which must begin where those of the rank before ended, and
// returns where they end. Ranks that share data would let a small file become a huge schedule.
func (r *binaryReader) jump(before int) (int, error) {
	entry := binaryHeader + binaryJump*r.rank
	begin := binary.LittleEndian.Uint64(r.data[entry:])
	end := binary.LittleEndian.Uint64(r.data[entry+8:])
	size := uint64(len(r.data))
	switch {
	case begin > size-binaryBase:
		return 0, fmt.Errorf("byte %d: the start of rank %d in the jump table lies behind the end of the file (at %d of %d bytes)",
			entry, r.rank, begin, size)
	case end > size-binaryBase:
		return 0, fmt.Errorf("cut off: the data of rank %d end at byte %d of the file, before the end given in the jump table (%d)",
			r.rank, size, end)
	case begin > end:
		return 0, fmt.Errorf("byte %d: the data of rank %d begin after their end (%d, %d)", entry, r.rank, begin, end)
	case begin+binaryBase != uint64(before):
		return 0, fmt.Errorf("byte %d: the data of rank %d begin at byte %d instead of %d, where what comes before them ends",
			entry, r.rank, begin+binaryBase, before)
	}
	return int(end) + binaryBase, r.readRank(before, int(end)+binaryBase)
}

// fault is an error in the data of the present rank.
func (r *binaryReader) fault(at int, format string, args ...any) error {
	return fmt.Errorf("byte %d: rank %d: %s", at, r.rank, fmt.Sprintf(format, args...))
}

// readRank reads the operations between two offsets of the file into the block.
func (r *binaryReader) readRank(begin, end int) error {
	if end-begin < 8 {
		return r.fault(begin, "%d bytes of data, at least 8 are needed", end-begin)
	}
	ops := int(binary.LittleEndian.Uint32(r.data[begin:]))
	roots := int(binary.LittleEndian.Uint32(r.data[begin+4:]))
	at := begin + 8 + 4*roots
	appendix := at + binaryOp*ops
	switch {
	case appendix > end:
		return r.fault(begin, "%d operations and %d roots need %d bytes, but the data have %d", ops, roots, appendix-begin, end-begin)
	case (end-appendix)%4 != 0:
		return r.fault(appendix, "the appendix has %d bytes, which is not a multiple of 4", end-appendix)
	}
	r.block.Reset()
	r.waits = append(r.waits[:0], make([]uint32, ops)...)
	entries := (end - appendix) / 4
	left := entries // each entry may be used once, so that the dependencies are not more than the file has bytes
	for i := range ops {
		raw := r.data[at+binaryOp*i : at+binaryOp*(i+1)]
		op, err := r.readOp(raw, at+binaryOp*i, i)
		if err != nil {
			return err
		}
		r.block.Add(op)
		for side := range 2 {
			count := int(binary.LittleEndian.Uint32(raw[23+8*side:]))
			position := int(binary.LittleEndian.Uint32(raw[27+8*side:]))
			where := at + binaryOp*i + 23 + 8*side
			if count == 0 {
				continue
			}
			if position+count > entries {
				return r.fault(where, "operation %d: entries %d to %d of the appendix, which has %d", i, position, position+count-1, entries)
			}
			if left -= count; left < 0 {
				return r.fault(where, "operation %d: the lists of dependent operations overlap in the appendix", i)
			}
			if err := r.readList(i, ops, appendix+4*position, count, side == 1); err != nil {
				return err
			}
		}
	}
	for i, n := range r.waits {
		if want := binary.LittleEndian.Uint32(r.data[at+binaryOp*i:]); n != want {
			return r.fault(at+binaryOp*i, "operation %d waits for %d operations, but the lists of dependent operations name it %d times", i, want, n)
		}
	}
	r.block.Link()
	if cycle := r.cycles.find(ops, r.block.First, r.block.Dependents); cycle != nil {
		return fmt.Errorf("%s", cycleText(r.rank, cycle, func(i int) string { return fmt.Sprintf("#%d", i) }))
	}
	return nil
}

// readList reads a list of operations that wait for operation on.
func (r *binaryReader) readList(on, ops, at, count int, start bool) error {
	for i := range count {
		index := int(binary.LittleEndian.Uint32(r.data[at+4*i:]))
		if index >= ops {
			return r.fault(at+4*i, "operation %d is named in the appendix, but there are %d", index, ops)
		}
		r.waits[index]++
		if start {
			r.block.RequireStart(index, on)
		} else {
			r.block.Require(index, on)
		}
	}
	return nil
}

// readOp reads one operation, which is at a byte of the file.
func (r *binaryReader) readOp(raw []byte, at, index int) (Op, error) {
	peer := binary.LittleEndian.Uint32(raw[5:])
	size := binary.LittleEndian.Uint64(raw[9:])
	tag := binary.LittleEndian.Uint32(raw[17:])
	op := Op{Peer: int32(peer), Size: int64(size), Tag: tag, CPU: raw[21], NIC: raw[22]}
	if kind := raw[4]; kind < 1 || kind > 3 {
		return op, r.fault(at+4, "operation %d has the type %d (1 send, 2 recv, 3 calc)", index, kind)
	}
	op.Kind = binaryKinds[raw[4]]
	if op.CPU > maxUnit || op.NIC > maxUnit {
		return op, r.fault(at+21, "operation %d: cpu %d, nic %d is out of range (0 to %d)", index, op.CPU, op.NIC, maxUnit)
	}
	if op.Kind == Calc {
		if size > maxCalcNs {
			return op, r.fault(at+9, "operation %d: a time of %d ns does not fit into 63 bits (times are kept in ps)", index, size)
		}
		if peer != 0 || tag != 0 {
			return op, r.fault(at+5, "operation %d is a calc with peer %d and tag %d, which must be 0", index, peer, tag)
		}
		op.Size *= psPerNs
		op.NIC = 0
		return op, nil
	}
	anySource := peer == anyInBinary && op.Kind == Recv
	switch {
	case size > maxSize:
		return op, r.fault(at+9, "operation %d: the size %d does not fit into 63 bits", index, size)
	case peer >= uint32(r.ranks) && !anySource:
		return op, r.fault(at+5, "operation %d: %s with rank %d as partner, but there are %d ranks", index, op.Kind, peer, r.ranks)
	case tag == anyInBinary && op.Kind == Send:
		return op, r.fault(at+17, "operation %d: any tag is allowed for recv only", index)
	}
	return op, nil
}
