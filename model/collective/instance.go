package collective

import (
	"fmt"

	"slackline/model/schedule"
)

// Bounds of an instance. They keep step numbers and sums in range.
const (
	maxRanks    = 1 << 28
	maxSegments = 1 << 28
)

// newInstance prepares a call on a group of the given size for an algorithm. A negative segment
// or a radix of 0 asks for the default of the algorithm. The sizes of the call are not copied.
func newInstance(call *schedule.Call, ranks int, a *Algorithm, segment int64, radix int) (*Instance, error) {
	if call.Op != a.Op {
		return nil, fmt.Errorf("%s: algorithm %s is one of %s", call.Op, a.Name, a.Op)
	}
	if err := checkCall(call, ranks); err != nil {
		return nil, err
	}
	if segment > 0 && !a.Segmented {
		return nil, fmt.Errorf("%s: algorithm %s has no segments; leave the segment size out", call.Op, a.Name)
	}
	if radix != 0 && a.Radix == 0 {
		return nil, fmt.Errorf("%s: algorithm %s has no radix; leave it out", call.Op, a.Name)
	}
	in := &Instance{Call: *call, Ranks: ranks, Algorithm: a, Segment: a.Segment, Radix: a.Radix}
	if a.Segmented && segment >= 0 {
		in.Segment = segment
	}
	if radix != 0 {
		in.Radix = radix
	}
	if a.Radix != 0 && (in.Radix < 2 || in.Radix > maxRanks) {
		return nil, fmt.Errorf("%s: radix %d of algorithm %s is not in 2..%d", call.Op, in.Radix, a.Name, maxRanks)
	}
	if in.Segment > 0 && call.Size/in.Segment >= maxSegments {
		return nil, fmt.Errorf("%s: %d bytes in segments of %d bytes are more than %d segments; use larger ones",
			call.Op, call.Size, in.Segment, maxSegments)
	}
	if a.NCCL {
		in.placed(nil, nil, Simple)
	} else {
		in.makePartition()
	}
	return in, nil
}

// checkCall checks everything that a call says of itself.
func checkCall(call *schedule.Call, ranks int) error {
	op := call.Op
	if ranks < 1 || ranks > maxRanks {
		return fmt.Errorf("%s: a group of %d ranks; between 1 and %d are possible", op, ranks, maxRanks)
	}
	if rooted(op) && (call.Root < 0 || int(call.Root) >= ranks) {
		return fmt.Errorf("%s: root %d, but the group has %d ranks (0..%d)", op, call.Root, ranks, ranks-1)
	}
	if call.Size < 0 {
		return fmt.Errorf("%s: size %d is negative", op, call.Size)
	}
	if call.Sizes != nil {
		return checkSizes(call, ranks)
	}
	blocks := ranks
	if op.IsNeighbor() {
		if err := checkNeighbors(op, "source", call.Sources, ranks); err != nil {
			return err
		}
		if err := checkNeighbors(op, "destination", call.Destinations, ranks); err != nil {
			return err
		}
		blocks = max(len(call.Sources), len(call.Destinations))
	}
	return checkBytes(op, max(blocks, 1), call.Size)
}

// checkSizes checks the sizes of a v-variant.
func checkSizes(call *schedule.Call, ranks int) error {
	op, want := call.Op, ranks
	switch {
	case op == schedule.Alltoall:
		want = ranks * ranks
	case !byRank(op):
		return fmt.Errorf("%s: there is no form with sizes by rank", op)
	}
	if len(call.Sizes) != want {
		return fmt.Errorf("%s: %d sizes given, but a group of %d ranks needs %d", op, len(call.Sizes), ranks, want)
	}
	total := int64(0)
	for i, size := range call.Sizes {
		if size < 0 {
			return fmt.Errorf("%s: size %d of block %d is negative", op, size, i)
		}
		if size > maxBytes-total {
			return fmt.Errorf("%s: the sizes add up to more than 2^61 bytes", op)
		}
		total += size
	}
	return nil
}

func checkNeighbors(op schedule.Operation, what string, list []int32, ranks int) error {
	for _, r := range list {
		if r < 0 || int(r) >= ranks {
			return fmt.Errorf("%s: %s %d, but the group has %d ranks (0..%d)", op, what, r, ranks, ranks-1)
		}
	}
	return nil
}

// rooted reports whether an operation has a root.
func rooted(op schedule.Operation) bool {
	switch op {
	case schedule.Bcast, schedule.Reduce, schedule.Gather, schedule.Scatter:
		return true
	}
	return false
}
