package timeline

import (
	"testing"
)

// TestPaths names call paths; the root is no region.
func TestPaths(t *testing.T) {
	b := NewBuilder(1)
	main, work := b.Region(Region{Name: "main"}), b.Region(Region{Name: "work"})
	l := b.Location(0, 0, "", "")
	l.Reserve(3)
	l.Enter(0, main)
	l.Enter(1, work)
	l.Leave(2)
	l.Enter(3, work)
	l.Leave(4)
	l.Leave(5)
	tl := b.Finish(1)
	if tl.PathName(0) != "" || tl.RegionOf(0) != nil || len(tl.PathNames(0)) != 0 {
		t.Errorf("the root is %q, %v", tl.PathName(0), tl.RegionOf(0))
	}
	c := &tl.Locations[0].Calls
	if c.Path[1] != c.Path[2] || tl.PathName(c.Path[1]) != "main/work" || tl.RegionOf(c.Path[1]).Name != "work" {
		t.Errorf("both calls of work have the paths %q and %q", tl.PathName(c.Path[1]), tl.PathName(c.Path[2]))
	}
	for _, p := range []struct {
		a, b int32
		want bool
	}{{0, 1, false}, {0, 2, false}, {1, 2, true}, {1, 1, false}} {
		if got := c.Precedes(p.a, p.b); got != p.want {
			t.Errorf("call %d precedes call %d: %t", p.a, p.b, got)
		}
	}
}
