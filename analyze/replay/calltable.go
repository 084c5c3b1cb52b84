package replay

import (
	"slices"

	"slackline/model/schedule"
)

// callTable holds the calls of all ranks, equal ones once.
type callTable struct {
	list  []schedule.Call
	known map[callKey]int32
	sizes map[uint64][][]int64 // lists of sizes by their hash, equal ones once
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

// add returns the place of a call in the table.
func (t *callTable) add(call *schedule.Call) int32 {
	key := callKey{op: call.Op, group: call.Group, root: call.Root, size: call.Size, tag: call.Tag}
	if len(call.Sizes) > 0 {
		call.Sizes = t.keep(call.Sizes)
		key.sizes = &call.Sizes[0]
	}
	if i, ok := t.known[key]; ok {
		return i
	}
	t.list = append(t.list, *call)
	t.known[key] = int32(len(t.list) - 1)
	return int32(len(t.list) - 1)
}

// keep returns the one list with these sizes.
func (t *callTable) keep(sizes []int64) []int64 {
	hash := hashOf(sizes)
	for _, list := range t.sizes[hash] {
		if slices.Equal(list, sizes) {
			return list
		}
	}
	t.sizes[hash] = append(t.sizes[hash], sizes)
	return sizes
}

// hashOf is FNV-1a over numbers instead of bytes.
func hashOf(sizes []int64) uint64 {
	h := uint64(14695981039346656037)
	for _, s := range sizes {
		h = (h ^ uint64(s)) * 1099511628211
	}
	return h
}
