package otf2

import (
	"maps"
	"slices"
)

// Indices leads from ids in a file, which may have holes, to indices.
type Indices struct {
	dense  []uint32 // index + 1; 0: none
	sparse map[uint32]uint32
}

// maxDense bounds the dense part of a table, so that a single large id does not make it large.
const maxDense = 1 << 16

func (t *Indices) Set(id, index uint32) {
	if id < uint32(len(t.dense)) {
		t.dense[id] = index + 1
		return
	}
	if id == uint32(len(t.dense)) || id < maxDense && id < 2*uint32(len(t.dense))+64 {
		t.dense = append(t.dense, make([]uint32, int(id)-len(t.dense)+1)...)
		t.dense[id] = index + 1
		return
	}
	if t.sparse == nil {
		t.sparse = map[uint32]uint32{}
	}
	t.sparse[id] = index + 1
}

// Get returns the index of an id.
func (t *Indices) Get(id uint32) (uint32, bool) {
	v := uint32(0)
	if id < uint32(len(t.dense)) {
		v = t.dense[id]
	}
	if v == 0 && t.sparse != nil {
		v = t.sparse[id]
	}
	return v - 1, v != 0
}

// Mapped returns the table that leads from local ids to indices.
func (t *Indices) Mapped(m *Map) Indices {
	if m.empty() {
		return *t
	}
	var local Indices
	for id := range max(len(m.dense), len(t.dense)) {
		if index, ok := t.Get(uint32(m.Global(uint64(id)))); ok {
			local.Set(uint32(id), index)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(m.sparse)) {
		if index, ok := t.Get(uint32(m.sparse[id])); ok && id < Undefined32 {
			local.Set(uint32(id), index)
		}
	}
	for id, v := range t.sparse {
		if _, changed := m.sparse[uint64(id)]; !changed && uint64(id) >= uint64(len(m.dense)) {
			local.Set(id, v-1)
		}
	}
	return local
}
