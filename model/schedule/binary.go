package schedule

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
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
	Name: "bin", Noun: "the binary form of LogGOPSim", Info: "binary form of GOAL, as LogGOPSim's txt2bin writes it",
	Suffixes: []string{".bin"},
	Sniff:    sniffBinary, Read: readBinary, Pack: packBinary, Write: writeBinary,
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

var binaryKinds = [...]Kind{1: Send, 2: Recv, binaryCalc: Calc}

const binaryCalc = 3

func sniffBinary(head []byte) bool {
	if len(head) < 8 {
		return false
	}
	cookie := binary.LittleEndian.Uint64(head)
	return cookie == binaryCookie || cookie == spoiledCookie
}

// readBinary reads the binary form of GOAL. Errors name the rank and the byte of the file.
func readBinary(name string, data []byte) (*Graph, error) {
	f, err := openBinary(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, binaryError(name, err)
	}
	build := NewBuilder(f.ranks)
	r := binaryReader{binaryFile: f}
	for rank := range f.ranks {
		if err := r.load(rank); err != nil {
			return nil, binaryError(name, err)
		}
		if err := r.readRank(); err != nil {
			return nil, binaryError(name, err)
		}
		if b := (Block{Ops: r.ops, First: r.first, Dependents: r.dependents}); len(b.Ops) > 0 {
			build.Add(rank, &b)
		}
	}
	if err := f.checkEnd(); err != nil {
		return nil, binaryError(name, err)
	}
	g := build.Graph()
	g.Names = &Names{File: name}
	return g, nil
}

// packBinary is readBinary for a program that is only run. It reads the data of one rank at a time, on each thread.
func packBinary(name string, file io.ReaderAt, size int64, o PackOptions) (*Packed, error) {
	f, err := openBinary(file, size)
	if err != nil {
		return nil, binaryError(name, err)
	}
	f.most = o.Memory
	packers, err := o.pack(f.ranks, f.cut(o.parts()), func(k *packer, from, to int) error {
		r := binaryReader{binaryFile: f}
		for rank := from; rank < to; rank++ {
			if err := r.load(rank); err != nil {
				return binaryError(name, err)
			}
			if !r.likeBefore(k) {
				if err := r.readRank(); err != nil {
					return binaryError(name, err)
				}
				k.begin(rank)
				if len(r.ops) > 0 {
					k.add(r.ops, r.first, r.dependents)
				}
				r.keep(k)
			}
			if err := o.check(name, k); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		if wrong := f.checkEnd(); wrong != nil {
			err = binaryError(name, wrong)
		}
	}
	if err != nil {
		return nil, err
	}
	p := &Packed{file: name}
	p.take(f.ranks, packers)
	return p, nil
}

func binaryError(name string, err error) error {
	return &FileError{File: name, What: "binary form: " + err.Error()}
}

// binaryFile is a file of which the header and the jump table have been read.
type binaryFile struct {
	file  io.ReaderAt
	size  int64
	ranks int
	jumps []byte
	most  int64 // bytes of memory; 0: no limit
}

func openBinary(file io.ReaderAt, size int64) (*binaryFile, error) {
	f := &binaryFile{file: file, size: size}
	if size < binaryHeader {
		return nil, fmt.Errorf("cut off: the file has %d bytes, its header alone has %d", size, binaryHeader)
	}
	var head [binaryHeader]byte
	if err := readFull(file, head[:], 0); err != nil {
		return nil, err
	}
	switch cookie := binary.LittleEndian.Uint64(head[:]); cookie {
	case binaryCookie:
	case spoiledCookie:
		return nil, fmt.Errorf("cookie %d: LogGOPSim has used this file with its memory-saving option (--save-mem), "+
			"which destroys the counters in it; make it anew with txt2bin", cookie)
	default:
		return nil, fmt.Errorf("cookie %d instead of %d", cookie, binaryCookie)
	}
	ranks := uint64(binary.LittleEndian.Uint32(head[8:]))
	switch {
	case ranks == 0 || ranks > math.MaxInt32:
		return nil, fmt.Errorf("byte 8: %d ranks are out of range (1 to %d)", ranks, math.MaxInt32)
	case ranks > maxRanks:
		return nil, fmt.Errorf("byte 8: %d ranks need too much memory; at most %d can be read", ranks, maxRanks)
	}
	f.ranks = int(ranks)
	if end := f.end(); end > size {
		return nil, fmt.Errorf("cut off: the jump table of %d ranks ends at byte %d, the file at byte %d", f.ranks, end, size)
	}
	f.jumps = make([]byte, binaryJump*f.ranks)
	return f, readFull(file, f.jumps, binaryHeader)
}

// readFull fills b from a place in a file.
func readFull(file io.ReaderAt, b []byte, at int64) error {
	n, err := file.ReadAt(b, at)
	switch {
	case n == len(b):
		return nil
	case err == nil || err == io.EOF:
		return fmt.Errorf("cut off: the file has become shorter than %d bytes while it was read", at+int64(len(b)))
	}
	return err
}

// end is where the jump table ends.
func (f *binaryFile) end() int64 { return binaryHeader + binaryJump*int64(f.ranks) }

// jump returns where the data of a rank begin and end, as the table has it.
func (f *binaryFile) jump(rank int) (begin, end uint64) {
	entry := f.jumps[binaryJump*rank:]
	return binary.LittleEndian.Uint64(entry), binary.LittleEndian.Uint64(entry[8:])
}

// before is where the data of a rank must begin, if what comes before it is right.
func (f *binaryFile) before(rank int) int64 {
	if rank == 0 {
		return f.end()
	}
	_, end := f.jump(rank - 1)
	return int64(end) + binaryBase
}

// place returns the bytes of the data of a rank, which must begin where those of the rank before ended. Ranks
// that share data would let a small file become a huge schedule.
func (f *binaryFile) place(rank int) (from, to int64, err error) {
	entry, before := binaryHeader+binaryJump*rank, f.before(rank)
	begin, end := f.jump(rank)
	size := uint64(f.size)
	switch {
	case begin > size-binaryBase:
		return 0, 0, fmt.Errorf("byte %d: the start of rank %d in the jump table lies beyond the end of the file (at %d of %d bytes)",
			entry, rank, begin, size)
	case end > size-binaryBase:
		return 0, 0, fmt.Errorf("cut off: the data of rank %d end at byte %d of the file, before the end given in the jump table (%d)",
			rank, size, end)
	case begin > end:
		return 0, 0, fmt.Errorf("byte %d: the data of rank %d begin after their end (%d, %d)", entry, rank, begin, end)
	case begin+binaryBase != uint64(before):
		return 0, 0, fmt.Errorf("byte %d: the data of rank %d begin at byte %d instead of %d, where what comes before them ends",
			entry, rank, begin+binaryBase, before)
	}
	return before, int64(end) + binaryBase, nil
}

// checkEnd checks that nothing follows the data of the last rank.
func (f *binaryFile) checkEnd() error {
	if end := f.before(f.ranks); end != f.size {
		return fmt.Errorf("byte %d: %d bytes follow the data of the last rank", end, f.size-end)
	}
	return nil
}

// cut cuts the ranks into so many parts of about the same number of bytes, and returns their ends.
func (f *binaryFile) cut(parts int) []int {
	var ends []int
	for rank := range f.ranks {
		// A table with nonsense in it gives parts of any size.
		if done := f.before(rank + 1); done >= f.size/int64(parts)*int64(len(ends)+1) && len(ends) < parts-1 {
			ends = append(ends, rank+1)
		}
	}
	if n := len(ends); n == 0 || ends[n-1] < f.ranks {
		ends = append(ends, f.ranks)
	}
	return ends
}
