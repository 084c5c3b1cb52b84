// Package cube reads and writes Cube 4 files (.cubex), the profiles of Score-P, Scalasca and
// TAU: metrics, call paths and locations, with a value for each three of them.
//
// A file is a tar archive with a description in XML and, for each metric, an index
// and the values. The package says what the file holds and computes exclusive
// values; what that means for a program is for others. What cannot be read - a
// metric with a formula, an unknown type - is left out with a warning.
package cube

import (
	"fmt"
	"math"
)

// File is a profile.
type File struct {
	Attributes map[string]string
	Metrics    []*Metric   // all, parents before their children
	Nodes      []*CallNode // all, in the order of the file, parents before their children
	Locations  []Location  // in the order of the values
	Warnings   []string
}

// Metric is a quantity.
type Metric struct {
	ID     int
	Name   string // unique name
	Title  string
	Unit   string
	Type   string // of its values, in capitals
	Kind   string // INCLUSIVE, EXCLUSIVE, ...
	Parent *Metric

	rows map[int][]float64 // by number of the node in the metric's enumeration; missing rows are 0
}

// CallNode is a place in the call tree.
type CallNode struct {
	ID       int
	Region   string
	Parent   *CallNode
	Children []*CallNode

	preorder int // its number in the enumeration of exclusive metrics
	breadth  int // and of inclusive ones
}

// Location is a thread or another place that measures.
type Location struct {
	ID   int
	Name string
	Rank int // of the process it belongs to
}

// Path returns the names of the regions from the root.
func (n *CallNode) Path() []string {
	var names []string
	for ; n != nil; n = n.Parent {
		names = append([]string{n.Region}, names...)
	}
	return names
}

// HasData reports whether the file has values of the metric; without them all are 0.
func (m *Metric) HasData() bool { return m.rows != nil }

// isExtreme reports whether values are minima or maxima, which are never added up.
func (m *Metric) isExtreme() bool { return m.Type == "MINDOUBLE" || m.Type == "MAXDOUBLE" }

// row returns the values of a node as the file has them, nil for zeros.
func (m *Metric) row(n *CallNode) []float64 {
	if m.Kind == kindInclusive {
		return m.rows[n.breadth]
	}
	return m.rows[n.preorder]
}

// Exclusive returns the values of a node without those of its children, one for
// each location.
func (f *File) Exclusive(m *Metric, n *CallNode) []float64 {
	values := make([]float64, len(f.Locations))
	copy(values, m.row(n))
	if m.Kind != kindInclusive || m.isExtreme() {
		return values
	}
	for _, child := range n.Children {
		for i, v := range m.row(child) {
			values[i] -= v
		}
	}
	for i, v := range values {
		// What rounding leaves of a difference of nearly equal numbers is 0.
		if own := m.row(n); own != nil && math.Abs(v) < 1e-12*math.Abs(own[i]) {
			values[i] = 0
		}
	}
	return values
}

// The kinds of metrics that have values of their own.
const (
	kindInclusive = "INCLUSIVE"
	kindExclusive = "EXCLUSIVE"
)

// number gives the nodes their numbers in the two enumerations: exclusive metrics
// count depth first; inclusive ones number a root, and then all children of a node
// together, continuing with the first child.
func (f *File) number() {
	var roots []*CallNode
	for _, n := range f.Nodes {
		if n.Parent == nil {
			roots = append(roots, n)
		}
	}
	next := 0
	for _, root := range roots {
		stack := []*CallNode{root}
		for len(stack) > 0 {
			n := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			n.preorder = next
			next++
			stack = pushChildren(stack, n)
		}
	}
	next = 0
	for _, root := range roots {
		root.breadth = next
		next++
		stack := []*CallNode{root}
		for len(stack) > 0 {
			n := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for _, child := range n.Children {
				child.breadth = next
				next++
			}
			stack = pushChildren(stack, n)
		}
	}
}

// pushChildren puts the children on a stack so that the first is taken first.
func pushChildren(stack []*CallNode, n *CallNode) []*CallNode {
	for i := len(n.Children) - 1; i >= 0; i-- {
		stack = append(stack, n.Children[i])
	}
	return stack
}

func (f *File) warnf(format string, args ...any) {
	const most = 50
	if len(f.Warnings) < most {
		f.Warnings = append(f.Warnings, fmt.Sprintf(format, args...))
	}
}
