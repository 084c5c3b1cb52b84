package timeline

import (
	"math/rand/v2"
	"testing"
)

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
