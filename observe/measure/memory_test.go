package measure

import (
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// TestObjectMemory: the first call of each rank is apart; of the later ones the median counts, of the rank with the most.
func TestObjectMemory(t *testing.T) {
	for _, c := range []struct {
		name    string
		values  []int64 // by rank and call
		objects int
		want    ObjectMemory
	}{
		{"one rank", []int64{1000, 10, 10}, 3, ObjectMemory{Steady: 10, Least: 10, First: 1000, Bytes: [][]int64{{1000, 10, 10}}}},
		{"two ranks", []int64{100, 10, 20, 30, 500, 40, 50, 60}, 4,
			ObjectMemory{Steady: 50, Least: 20, First: 500, Bytes: [][]int64{{100, 10, 20, 30}, {500, 40, 50, 60}}}},
		{"a pool grew in one call of each", []int64{0, 10, 10, 21, 0, 10, 10, 20}, 4,
			ObjectMemory{Steady: 10, Least: 10, Odd: 1, Bytes: [][]int64{{0, 10, 10, 21}, {0, 10, 10, 20}}}},
		{"memory that is given back: no pool grew", []int64{5, -10, -10}, 3,
			ObjectMemory{Steady: -10, Least: -10, First: 5, Bytes: [][]int64{{5, -10, -10}}}},
		{"given back, but once", []int64{5, -10, 1, -10}, 4,
			ObjectMemory{Steady: -10, Least: -10, First: 5, Odd: 1, Bytes: [][]int64{{5, -10, 1, -10}}}},
	} {
		c.want.Kind = "MPI_Comm_dup"
		if diff := gocmp.Diff(c.want, objectMemory("MPI_Comm_dup", c.values, c.objects)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestMemoryDataset: the library takes what its largest rank got more until the end than before MPI_Init.
func TestMemoryDataset(t *testing.T) {
	rank := func(before, end int64) RankMemory {
		return RankMemory{Before: Usage{PSS: before}, End: Usage{PSS: end}}
	}
	d := MemoryDataset([]*JobMemory{
		{Ranks: 2, Objects: []ObjectMemory{{Kind: "MPI_Comm_dup", Steady: 100}}, Process: []RankMemory{rank(10, 50), rank(20, 80)}},
		{Ranks: 4, Objects: []ObjectMemory{{Kind: "MPI_Comm_dup", Steady: 300}}, Process: []RankMemory{rank(50, 40)}}, // less than before
	})
	for kind, want := range map[string][]float64{"MPI_Comm_dup": {100, 300}, libraryMemory: {60, -10}} {
		s := d.Find(kind, "bytes")
		if s == nil || s.Unit != "B" || len(s.Points) != 2 {
			t.Fatalf("%s: %+v", kind, s)
		}
		if got := []float64{s.Points[0].Values[0], s.Points[1].Values[0]}; !slices.Equal(got, want) || s.Points[1].At[0] != 4 {
			t.Errorf("%s: %v, want %v", kind, got, want)
		}
	}
	m := RankMemory{Before: Usage{1, 2, 3}, After: Usage{9, 9, 9}, End: Usage{11, 22, 33}}
	if got := m.Added(); got != (Usage{10, 20, 30}) {
		t.Errorf("MPI added %+v", got)
	}
}

func TestMemoryOptions(t *testing.T) {
	for _, c := range []struct {
		ranks   []int
		objects int
		want    string // empty: they are fine
	}{
		{[]int{2, 65536}, 2, ""}, {[]int{2}, 500, ""},
		{nil, 10, "one at least"}, {[]int{1}, 10, "not of 1"}, {[]int{4, 65537}, 10, "not of 65537"},
		{[]int{2}, 1, "not 1"}, {[]int{2}, 501, "not 501"},
	} {
		err := (&MemoryOptions{Ranks: c.ranks, Objects: c.objects}).Check()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v ranks, %d objects: %v, want %q", c.ranks, c.objects, err, c.want)
		}
	}
}
