package replay

import (
	"slices"

	"slackline/model/schedule"
)

// callTable holds the calls of all ranks, equal ones once.
type callTable struct {
	list  []schedule.Call
	known map[callKey]int32
	sizes map[uint64][][]int64 // lists of sizes by their hash, equal ones once, repeated for the copies

	copies   int
	room     int   // numbers in the lists of sizes so far
	averaged int64 // calls that got the mean size
}

// callKey is a call that can be compared.
type callKey struct {
	op    schedule.Operation
	group int32
	root  int32
	size  int64
	tag   uint32
	sizes *int64 // the first of them
}

// maxSizes is how many numbers the lists of sizes may have together if there are copies: 256 MiB.
const maxSizes = 1 << 25

func newCallTable(copies int) callTable {
	return callTable{known: map[callKey]int32{}, sizes: map[uint64][][]int64{}, copies: copies}
}

// add returns the place of a call in the table. A global one works on the ranks of all copies, and its
// sizes are repeated for them; where that is too much, all get the mean.
func (t *callTable) add(call *schedule.Call, global bool) int32 {
	if call.Sizes != nil {
		copies := 1
		if global {
			copies = t.copies
		}
		if list := t.keep(call.Sizes, copies, call.Op); list != nil {
			call.Sizes = list
		} else {
			call.Size, call.Sizes = mean(call.Sizes), nil
			t.averaged++
		}
	}
	key := callKey{op: call.Op, group: call.Group, root: call.Root, size: call.Size, tag: call.Tag}
	if len(call.Sizes) > 0 {
		key.sizes = &call.Sizes[0]
	}
	if i, ok := t.known[key]; ok {
		return i
	}
	t.list = append(t.list, *call)
	t.known[key] = int32(len(t.list) - 1)
	return int32(len(t.list) - 1)
}

// keep returns the one list with these sizes, repeated for so many copies; nil if that is too much. An
// alltoall between copies has no sizes that were recorded.
func (t *callTable) keep(sizes []int64, copies int, op schedule.Operation) []int64 {
	if copies > 1 && op == schedule.Alltoall {
		return nil
	}
	hash := hashOf(sizes)
	for _, list := range t.sizes[hash] {
		if len(list) == copies*len(sizes) && slices.Equal(list[:len(sizes)], sizes) {
			return list
		}
	}
	if copies > 1 && len(sizes)*copies > maxSizes-t.room {
		return nil
	}
	list := slices.Repeat(sizes, copies)
	t.room += len(list)
	t.sizes[hash] = append(t.sizes[hash], list)
	return list
}

// hashOf is FNV-1a over numbers instead of bytes.
func hashOf(sizes []int64) uint64 {
	h := uint64(14695981039346656037)
	for _, s := range sizes {
		h = (h ^ uint64(s)) * 1099511628211
	}
	return h
}

// mean is the mean of some sizes, rounded up.
func mean(sizes []int64) int64 {
	n := int64(len(sizes))
	whole, rest := int64(0), int64(0)
	for _, s := range sizes {
		whole, rest = whole+s/n, rest+s%n
	}
	return whole + (rest+n-1)/n
}
