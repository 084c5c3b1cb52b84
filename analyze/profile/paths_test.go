package profile

import (
	"slices"
	"strings"
	"testing"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// nested is a run of one rank, each of whose lists of names is called from outside to inside, one after the other.
func nested(calls ...[]string) *timeline.Timeline {
	b := timeline.NewBuilder(1)
	l := b.Location(0, 0, "", "")
	for i, names := range calls {
		for _, name := range names {
			l.Enter(unit.Duration(i), b.Region(timeline.Region{Name: name}))
		}
		for range names {
			l.Leave(unit.Duration(i + 1))
		}
	}
	return b.Finish(1)
}

// TestPaths: paths are numbered by name, callers before what they call, and equal names are one path, whatever their regions.
func TestPaths(t *testing.T) {
	dot := []string{"main", "solve", "dot"}
	tl := nested(dot, []string{"main", "a"}, dot, []string{"Main"}, []string{"main!"})
	p, err := NewPaths(tl)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"", "Main", "main", "main!", "main/a", "main/solve", "main/solve/dot"} // ! comes before / in ASCII
	if !slices.Equal(p.Names, want) || p.Len() != len(want) {
		t.Fatalf("names %q, want %q", p.Names, want)
	}
	for i, parent := range []string{"", "", "", "", "main", "main", "main/solve"} {
		if got := p.Names[p.Parent[i]]; got != parent {
			t.Errorf("%s is called from %q, want %q", p.Names[i], got, parent)
		}
		if i > 0 && int(p.Parent[i]) >= i {
			t.Errorf("%s has the number %d, its caller %d", p.Names[i], i, p.Parent[i])
		}
	}
	for id := 1; id < len(tl.Paths); id++ {
		if name := p.Names[p.Of[id]]; !strings.HasSuffix(name, tl.Regions[tl.Paths[id].Region].Name) || p.Of[id] == 0 {
			t.Errorf("path %d is %q", id, name)
		}
	}
	if p.Say(0) != "no call" || p.Say(1) != "Main" || p.Of[0] != 0 {
		t.Errorf("said %q and %q", p.Say(0), p.Say(1))
	}
	place := p.Place(3, 5)
	if place != (Place{3, 5, "main/solve"}) || place.Say() != "main/solve" {
		t.Errorf("%+v", place)
	}
	if place.Path = 0; place.Say() != "no call" {
		t.Errorf("%+v is said as %q", place, place.Say())
	}
	if place.Name(p); place.CallPath != "" {
		t.Errorf("%+v", place)
	}
}

// TestPathsTooLong: the names of a recursion of 65536 calls have 2^32 bytes together; that is refused before any is made.
func TestPathsTooLong(t *testing.T) {
	b := timeline.NewBuilder(1)
	f := b.Region(timeline.Region{Name: "f"})
	l := b.Location(0, 0, "", "")
	for i := range 65536 {
		l.Enter(unit.Duration(i), f)
	}
	for i := range 65536 {
		l.Leave(unit.Duration(65536 + i))
	}
	_, err := New(b.Finish(1), Options{})
	if err == nil || !strings.Contains(err.Error(), "longer than 512 MiB") || !strings.Contains(err.Error(), "recursion of ") {
		t.Errorf("%v", err)
	}
}
