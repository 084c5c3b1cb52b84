package otf2

import "testing"

// Small ids, large ids and holes.
func TestIndices(t *testing.T) {
	var x Indices
	ids := map[uint32]uint32{0: 10, 1: 11, 40: 12, 70000: 13, Undefined32: 14, 2: 15}
	for _, id := range []uint32{0, 1, 40, 70000, Undefined32, 2} {
		x.Set(id, ids[id])
	}
	x.Set(1, 21)
	ids[1] = 21
	for id, want := range ids {
		if got, ok := x.Get(id); !ok || got != want {
			t.Errorf("id %d = %d, %v; want %d", id, got, ok, want)
		}
	}
	for _, id := range []uint32{3, 41, 69999, 70001} {
		if got, ok := x.Get(id); ok {
			t.Errorf("id %d, which is not set, = %d", id, got)
		}
	}
	if len(x.dense) > maxDense {
		t.Errorf("a single large id made the table %d long", len(x.dense))
	}
}

func TestMapped(t *testing.T) {
	var global Indices
	for id := range uint32(4) {
		global.Set(id, 100+id)
	}
	global.Set(90000, 900)
	for name, tc := range map[string]struct {
		with Map
		want map[uint32]uint32
	}{
		"none":   {Map{}, map[uint32]uint32{0: 100, 3: 103, 90000: 900}},
		"dense":  {Map{dense: []uint64{3, 90000}}, map[uint32]uint32{0: 103, 1: 900, 2: 102, 90000: 900}},
		"sparse": {Map{sparse: map[uint64]uint64{2: 0, 90000: 1}}, map[uint32]uint32{0: 100, 2: 100, 90000: 101}},
		"to nothing": {Map{sparse: map[uint64]uint64{80000: 77}}, map[uint32]uint32{
			1: 101, 90000: 900}},
	} {
		local := global.Mapped(&tc.with)
		for id, want := range tc.want {
			if got, ok := local.Get(id); !ok || got != want {
				t.Errorf("%s: id %d = %d, %v; want %d", name, id, got, ok, want)
			}
		}
		if got, ok := local.Get(80000); ok {
			t.Errorf("%s: id 80000 = %d, want none", name, got)
		}
	}
}
