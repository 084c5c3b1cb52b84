package timeline

import (
	"math/rand/v2"
	"testing"
)

// TestRequestTable compares the table with a map, with few ids that collide often and with ids that are far apart.
func TestRequestTable(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		var table requestTable
		want, lost := map[requestKey]int32{}, int64(0)
		ids := 1 + random.IntN(60)
		for i := range int32(2000) {
			key := requestKey{uint64(random.IntN(ids)), requestKind(1 + random.IntN(3))}
			if seed%2 == 1 {
				key.id = ^key.id << 40 // addresses
			}
			if random.IntN(2) == 0 {
				if _, open := want[key]; open {
					lost++
				}
				table.put(key, i)
				want[key] = i
			} else {
				got, ok := table.take(key)
				index, open := want[key]
				delete(want, key)
				if ok != open || got != index {
					t.Fatalf("seed %d, step %d: take(%v) = %d, %t, want %d, %t", seed, i, key, got, ok, index, open)
				}
			}
			if got := table.pending(); got != int64(len(want))+lost {
				t.Fatalf("seed %d, step %d: %d pending, want %d", seed, i, got, int64(len(want))+lost)
			}
		}
	}
}

// TestChannelTable compares the table with a map: numbers count from 0 in the order of the first use.
func TestChannelTable(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	var table channelTable
	want := map[channel]int32{}
	if table.lookup(channel{}) != -1 {
		t.Error("an empty table knows a channel")
	}
	for step := range 5000 {
		c := channel{int32(random.IntN(10)), int32(random.IntN(3)), int32(random.IntN(40) - 1), int32(random.IntN(2))}
		number, known := want[c]
		if !known {
			number = -1
		}
		if got := table.lookup(c); got != number {
			t.Fatalf("step %d: lookup(%v) = %d, want %d", step, c, got, number)
		}
		if !known {
			want[c] = int32(len(want))
		}
		if got := table.number(c); got != want[c] || table.keys[got] != c {
			t.Fatalf("step %d: number(%v) = %d, want %d", step, c, got, want[c])
		}
	}
	if len(table.keys) != len(want) {
		t.Errorf("%d channels, want %d", len(table.keys), len(want))
	}
}

// TestSlab: elements keep their places, and are found again by their numbers.
func TestSlab(t *testing.T) {
	var s slab[int32]
	var places []*int32
	for i := range int32(1000) {
		p := s.add(nil)
		*p = i
		places = append(places, p)
	}
	next := int32(0)
	s.each(func(v *int32) {
		if *v != next || s.at(next) != places[next] || v != places[next] {
			t.Fatalf("element %d = %d, moved: %t", next, *v, v != places[next])
		}
		next++
	})
	if next != 1000 || s.n != 1000 {
		t.Errorf("%d elements of %d, want 1000", next, s.n)
	}
	s.free(nil)
	if *s.add(nil) != 0 || s.n != 1 {
		t.Errorf("after free: %d elements", s.n)
	}
}
