package ledger

import (
	"maps"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"slackline/analyze/profile"
	"slackline/model/unit"
)

func TestKey(t *testing.T) {
	last := uint64(0)
	for _, k := range []struct {
		rank int
		path int32
		kind uint8
	}{{0, 0, 0}, {0, 0, 30}, {0, 1, 0}, {0, 1<<31 - 1, 30}, {1, 0, 0}, {1<<28 - 1, 1<<31 - 1, 30}} {
		e := Entry{Key: KeyOf(k.rank, k.path, k.kind)}
		if got := e.Place(); got != (profile.Place{Rank: k.rank, Path: k.path}) || e.Kind() != k.kind {
			t.Errorf("the key of %+v stands for %+v, kind %d", k, got, e.Kind())
		}
		if e.Key <= last {
			t.Errorf("the key of %+v is %d, not above %d", k, e.Key, last)
		}
		last = e.Key
	}
}

// TestTable compares two tables that are added up with a map.
func TestTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := map[uint64]Entry{}
		var tables [2]Table
		for range rapid.IntRange(0, 400).Draw(t, "n") {
			key := KeyOf(rapid.IntRange(0, 9).Draw(t, "rank"), rapid.Int32Range(0, 9).Draw(t, "path"), rapid.Uint8Range(0, 3).Draw(t, "kind"))
			short := unit.Duration(rapid.Int64Range(-9, 9).Draw(t, "short"))
			long := unit.Duration(rapid.Int64Range(0, math.MaxInt64).Draw(t, "long"))
			tables[rapid.IntRange(0, 1).Draw(t, "table")].Add(key, unit.SumOf(short), unit.SumOf(long))
			e := want[key]
			want[key] = Entry{key, e.Short.Plus(unit.SumOf(short)), e.Long.Plus(unit.SumOf(long))}
		}
		tables[0].AddAll(&tables[1])
		got := tables[0].Sorted()
		if len(got) != len(want) {
			t.Fatalf("%d entries, want %d", len(got), len(want))
		}
		for i, key := range slices.Sorted(maps.Keys(want)) {
			if got[i] != want[key] {
				t.Fatalf("entry %d = %+v, want %+v", i, got[i], want[key])
			}
		}
	})
}
