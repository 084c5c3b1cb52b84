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
