package schedule

import "testing"

// Names that others wrote become visible where they are read, so that no output shows them as they are.
func TestSLKNamesAreVisible(t *testing.T) {
	const hostile, visible = "f\x1b[2J\nforged", `f\u001b[2J\nforged`
	build := NewBuilder(1)
	build.SetOrigins([]Origin{{}, {Path: []string{hostile}, Call: hostile}})
	var b Block
	b.Calc(1000)
	b.Ops[0].Origin = 1
	build.Add(0, &b)
	g := build.Graph()
	g.Names = &Names{File: hostile}
	g.Names.add([]byte(hostile), 1)
	got, err := ReadSLK("test.slk", slkBytes(t, g))
	if err != nil {
		t.Fatal(err)
	}
	if o := got.Origins()[1]; o.Path[0] != visible || o.Call != visible || got.Names.File != visible || got.Label(0, 0) != visible {
		t.Errorf("origin %q, file %q, label %q; want all names to be %q", o, got.Names.File, got.Label(0, 0), visible)
	}
}
