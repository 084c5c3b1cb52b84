package timeline

import "strings"

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
