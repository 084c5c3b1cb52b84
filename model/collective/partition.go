package collective

import (
	"fmt"
	"math/bits"

	"slackline/model/schedule"
)

// partition describes how the data of a collective is cut into the parts that messages carry: blocks
// by rank, blocks of a vector, or segments of a message. Part i is [cut(i), cut(i+1)).
type partition struct {
	parts int
	// Without ends: cut(i) = min(i*each + min(i, longer), limit), that is, all parts have each
	// bytes, the first ones one byte more, and the last one what is left.
	each, longer, limit int64
	ends                []int64 // ends[i] = cut(i), for parts of different sizes
}

// maxBytes bounds what a collective moves altogether, so that no sum of sizes overflows.
const maxBytes = 1 << 61

// cut returns the number of bytes before part i.
func (p *partition) cut(i int) int64 {
	if p.ends != nil {
		return p.ends[i]
	}
	return min(int64(i)*p.each+min(int64(i), p.longer), p.limit)
}

// bytes returns the size of the parts from .. to-1.
func (p *partition) bytes(from, to int) int64 { return p.cut(to) - p.cut(from) }

// part returns the size of part i.
func (p *partition) part(i int) int64 { return p.cut(i+1) - p.cut(i) }

// around returns the size of n parts from part on; after the last part follows the first one.
func (p *partition) around(from, n int) int64 {
	if to := from + n; to > p.parts {
		return p.bytes(from, p.parts) + p.bytes(0, to-p.parts)
	}
	return p.bytes(from, from+n)
}

// all returns the size of all parts together.
func (p *partition) all() int64 { return p.cut(p.parts) }

// pair returns what rank from sends to rank to in an all-to-all.
func (in *Instance) pair(from, to int) int64 {
	if in.Sizes != nil {
		return in.Sizes[from*in.Ranks+to]
	}
	return in.Size
}

// byRank states that the data of an operation consists of one block per rank.
func byRank(op schedule.Operation) bool {
	switch op {
	case schedule.Gather, schedule.Scatter, schedule.Allgather, schedule.ReduceScatter:
		return true
	}
	return false
}

// makePartition cuts the data of the instance as its algorithm wants it.
func (in *Instance) makePartition() {
	switch {
	case byRank(in.Op) && in.paths > 1:
		in.partition = in.blocksByChannel()
	case byRank(in.Op) && in.Sizes != nil:
		ends := make([]int64, in.Ranks+1)
		for i, size := range in.Sizes {
			ends[i+1] = ends[i] + size
		}
		in.partition = partition{parts: in.Ranks, ends: ends}
	case byRank(in.Op):
		in.partition = partition{parts: in.Ranks, each: in.Size, limit: maxBytes}
	default:
		parts := 1
		if in.Algorithm.parts != nil {
			parts = in.Algorithm.parts(in)
		}
		n := int64(parts)
		in.partition = partition{parts: parts, each: in.Size / n, longer: in.Size % n, limit: in.Size}
		if in.Algorithm.Segmented && !in.Algorithm.even && in.Segment > 0 {
			in.partition = partition{parts: parts, each: in.Segment, limit: in.Size}
		}
	}
}

// blocksByChannel cuts the block of each rank into one part for each channel.
func (in *Instance) blocksByChannel() partition {
	k := int64(in.paths)
	ends := make([]int64, 1, in.Ranks*in.paths+1)
	for r := range in.Ranks {
		size := in.Size
		if in.Sizes != nil {
			size = in.Sizes[r]
		}
		for c := range k {
			part := size / k
			if c < size%k {
				part++
			}
			ends = append(ends, ends[len(ends)-1]+part)
		}
	}
	return partition{parts: len(ends) - 1, ends: ends}
}

// block returns the size of what a channel moves of a block.
func (in *Instance) block(i, channel int) int64 { return in.part(i*in.paths + channel) }

// onePerRank cuts a vector into one block per rank.
func onePerRank(in *Instance) int { return in.Ranks }

// onePerCoreRank cuts a vector into one block per rank of the core (see fold).
func onePerCoreRank(in *Instance) int { return coreSize(in.Ranks) }

// segments cuts a message into segments; at least one, also if it has no bytes.
func segments(in *Instance) int {
	if in.Segment <= 0 || in.Segment >= in.Size {
		return 1
	}
	return int((in.Size + in.Segment - 1) / in.Segment)
}

// checkBytes returns an error if a collective of n blocks of size bytes is too large.
func checkBytes(op schedule.Operation, n int, size int64) error {
	if hi, lo := bits.Mul64(uint64(n), uint64(size)); hi != 0 || lo > maxBytes {
		return fmt.Errorf("%s: %d times %d bytes are too many; a collective can move 2^61 bytes", op, n, size)
	}
	return nil
}
