package timeline

import (
	"fmt"
	"strings"
)

// PathName returns the names of a call path, outermost first, joined by "/"; the root has none.
func (t *Timeline) PathName(p PathID) string {
	return strings.Join(t.PathNames(p), "/")
}

// PathNames returns the names of a call path, outermost first.
func (t *Timeline) PathNames(p PathID) []string {
	names := make([]string, t.Paths[p].Depth)
	for i := len(names) - 1; i >= 0; i-- {
		names[i] = t.Regions[t.Paths[p].Region].Name
		p = t.Paths[p].Parent
	}
	return names
}

// maxNames is how long the names of all call paths may be together, in bytes: far longer than those of programs, which do not call
// themselves ten thousand times.
const maxNames = 512 << 20

// CheckPaths refuses call paths whose names are too long together. Such a recursion takes memory and time that grow with its square.
func (t *Timeline) CheckPaths() error {
	length := make([]int64, len(t.Paths))
	sum, deepest := int64(0), int32(0)
	for id := 1; id < len(t.Paths); id++ {
		p := t.Paths[id]
		length[id] = length[p.Parent] + 1 + int64(len(t.Regions[p.Region].Name))
		deepest = max(deepest, p.Depth)
		if sum += length[id]; sum > maxNames {
			return fmt.Errorf("the names of the call paths are longer than %d MiB together (a recursion of %d calls?); record with fewer functions",
				maxNames>>20, deepest)
		}
	}
	return nil
}

// RegionOf returns the region that a call path ends in; nil for the root.
func (t *Timeline) RegionOf(p PathID) *Region {
	if p == 0 {
		return nil
	}
	return &t.Regions[t.Paths[p].Region]
}

// Len is the number of calls.
func (c *Calls) Len() int { return len(c.Enter) }

// Precedes reports whether call a was left before call b was entered.
func (c *Calls) Precedes(a, b int32) bool { return c.Skip[a] <= b }
