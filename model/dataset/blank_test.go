package dataset

import (
	"slices"
	"testing"
)

// TestBlanks: a place where a series was measured without a value stays known, whatever is done to the parameters.
func TestBlanks(t *testing.T) {
	const table = "callpath,n,p,value\nf,1,2,4\nf,1,4,nan\nf,1,4,\nf,2,2,7\nf,2,8,NaN\nf,2,8,3\nf,2,16,\ng,1,2,1\n"
	const metric = DefaultMetric
	read := func() *Dataset {
		d, _, err := Read("x", []byte(table), "")
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for name, tc := range map[string]struct {
		change func(d *Dataset) error
		want   [][]float64
	}{
		"as it is":       {func(*Dataset) error { return nil }, [][]float64{{1, 4}, {2, 16}}},
		"one n":          {func(d *Dataset) error { return d.Select("n", 2) }, [][]float64{{16}}},
		"the other":      {func(d *Dataset) error { return d.Select("n", 1) }, [][]float64{{4}}},
		"one more":       {func(d *Dataset) error { return d.SetParameter("q", 9) }, [][]float64{{9, 1, 4}, {9, 2, 16}}},
		"of two":         {func(d *Dataset) error { d.Merge(read()); return nil }, [][]float64{{1, 4}, {2, 16}}},
		"filled":         {func(d *Dataset) error { d.Get("f", metric).Add([]float64{2, 16}, 5); return nil }, [][]float64{{1, 4}}},
		"not comparable": {func(d *Dataset) error { d.Merge(New("q")); return nil }, nil},
	} {
		d := read()
		if err := tc.change(d); err != nil {
			t.Fatal(err)
		}
		if got := d.Blanks(d.Get("f", metric)); !slices.EqualFunc(got, tc.want, slices.Equal) {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
		if got := d.Blanks(d.Get("g", metric)); len(got) > 0 {
			t.Errorf("%s: g has no value at %v", name, got)
		}
	}
}
