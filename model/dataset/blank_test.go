package dataset

import (
	"bytes"
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

// TestPlan: a series without a value at a point that was planned has blanks there, which stay in every form that is written.
func TestPlan(t *testing.T) {
	const table = "callpath,metric,p,n,q,value\nf,time,1,10,5,1\nf,time,2,10,5,2\nf,time,2,20,5,3\ng,time,1,10,5,9\n"
	read := func(data []byte) *Dataset {
		d, _, err := Read("x", data, "")
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	wanted := map[string][][]float64{"f": {{4, 10}, {4, 20}}, "g": {{2, 10}, {4, 10}}}
	check := func(name string, d *Dataset) {
		for path, want := range wanted {
			if got := d.Blanks(d.Get(path, "time")); !slices.EqualFunc(got, want, slices.Equal) {
				t.Errorf("%s: %s has no value at %v, want %v", name, path, got, want)
			}
		}
	}
	d := read([]byte(table))
	d.Plan([]string{"q", "p", "absent"}, [][]float64{{5, 1, 0}, {5, 2, 0}, {5, 4, 0}})
	if dropped := d.DropConstant(); !slices.Equal(dropped, []string{"q"}) {
		t.Errorf("dropped %q, want q", dropped)
	}
	check("as it is", d)
	for _, f := range formats {
		if f.Write == nil || f.Name == extraPTextFormat.Name { // in which all series have the points of all
			continue
		}
		var b bytes.Buffer
		if err := f.Write(d, &b, nil); err != nil {
			t.Fatal(err)
		}
		check(f.Name, read(b.Bytes()))
	}
	var b bytes.Buffer
	if err := d.WriteExtraPText(&b); err != nil {
		t.Fatal(err)
	}
	text := read(b.Bytes())
	if got := text.Blanks(text.Get("f", "time")); len(got) != 2 {
		t.Errorf("Extra-P text: f has no value at %v", got)
	}

	one := read([]byte("callpath,p,n,value\nf,1,10,1\nf,1,20,2\n")) // all else failed
	one.Plan([]string{"p", "n"}, [][]float64{{1, 10}, {1, 20}, {2, 10}, {2, 20}})
	if dropped := one.DropConstant(); len(dropped) > 0 {
		t.Errorf("dropped %q, which was planned to vary", dropped)
	}
}
