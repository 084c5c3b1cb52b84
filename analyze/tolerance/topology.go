package tolerance

import (
	"cmp"
	"fmt"
	"slices"

	"slackline/model/machine"
	"slackline/model/unit"
)

// Wiring is a topology with ranks on its nodes. A message between two nodes with h switches between
// them has the latency (h+1)*Wire + h*Switch, one inside a node has Intra. Its tables make one of
// these parts the variable and leave the others as they are.
type Wiring struct {
	Topology     *machine.Topology
	Layout       *machine.Layout // on which node a rank is
	Wire, Switch unit.Duration
	Intra        unit.Duration
}

// TooFewNodesError reports that a layout needs more nodes than a topology has.
type TooFewNodesError struct {
	Topology *machine.Topology
	Needed   int
}

func (e *TooFewNodesError) Error() string {
	return fmt.Sprintf("the topology %s has %d nodes, but the ranks need %d; take a larger one, or put more ranks on a node",
		e.Topology, e.Topology.Nodes(), e.Needed)
}

// maxPartLatency bounds the latency of a wire and of a switch, so that a way of maxHops switches
// does not overflow.
const maxPartLatency = unit.Duration(maxTime >> 18)

// Check returns an error if ranks have no place in the topology, or if a latency is absurd.
func (w *Wiring) Check() error {
	if needed := w.Layout.Nodes(); needed > w.Topology.Nodes() {
		return &TooFewNodesError{w.Topology, needed}
	}
	if longest := max(w.Wire, w.Switch, w.Intra); longest > maxPartLatency {
		return fmt.Errorf("a latency of %s for a wire or a switch is more than %s; is its unit right?", longest, maxPartLatency)
	}
	return nil
}

// AllWires is the table whose variable is the latency of every wire.
func (w *Wiring) AllWires() *Table {
	return w.table(w.Wire, func(a, b int) wayParts {
		h := w.Topology.Switches(a, b)
		return wayParts{variable: h + 1, switches: h}
	})
}

// AllSwitches is the table whose variable is the latency of every switch.
func (w *Wiring) AllSwitches() *Table {
	return w.table(w.Switch, func(a, b int) wayParts {
		h := w.Topology.Switches(a, b)
		return wayParts{variable: h, wires: h + 1}
	})
}

// WireClass is the table whose variable is the latency of the wires of one class.
func (w *Wiring) WireClass(class int) *Table {
	classes := len(w.Topology.WireClasses())
	return w.table(w.Wire, func(a, b int) wayParts {
		var room [40]int
		counts := room[:classes]
		w.Topology.CountWires(a, b, counts)
		h := w.Topology.Switches(a, b)
		return wayParts{variable: counts[class], wires: h + 1 - counts[class], switches: h}
	})
}

// OneWire is the table whose variable is the latency of one wire of a routed topology.
func (w *Wiring) OneWire(wire machine.Wire) *Table {
	return w.table(w.Wire, func(a, b int) wayParts {
		var room [64]machine.Wire
		way := w.Topology.Route(a, b, room[:0])
		uses := 0
		for _, other := range way {
			if other == wire {
				uses++
			}
		}
		return wayParts{variable: uses, wires: len(way) - uses, switches: len(way) - 1}
	})
}

// wayParts are the parts of a way between two nodes: those whose latency is the variable, and the
// wires and switches whose latency stays.
type wayParts struct{ variable, wires, switches int }

// table makes a table from the parts of the ways between different nodes.
func (w *Wiring) table(value unit.Duration, parts func(a, b int) wayParts) *Table {
	return &Table{L: value, Of: func(from, to int) (int64, unit.Duration) {
		a, b := w.Layout.Node(from), w.Layout.Node(to)
		if a == b {
			return 0, w.Intra
		}
		p := parts(a, b)
		return int64(p.variable), unit.Duration(p.wires)*w.Wire + unit.Duration(p.switches)*w.Switch
	}}
}

// WireUse describes how often the canonical critical path goes through a wire.
type WireUse struct {
	Wire   machine.Wire
	Class  int    // of Topology.WireClasses
	Ends   string // what it joins
	Lambda int64
}

// CriticalWires lists the wires on a critical path that was found with AllWires: by how often they
// are used, then by their number. It is empty if the topology is not routed.
func (w *Wiring) CriticalWires(path *CriticalPath) []WireUse {
	uses := map[machine.Wire]int64{}
	var way []machine.Wire
	for _, p := range path.Pairs {
		if way = w.Topology.Route(w.Layout.Node(p.A), w.Layout.Node(p.B), way[:0]); len(way) == 0 {
			continue
		}
		messages := p.L / int64(len(way))
		for _, wire := range way {
			uses[wire] += messages
		}
	}
	var list []WireUse
	for wire, n := range uses {
		if n > 0 {
			class, ends := w.Topology.DescribeWire(wire)
			list = append(list, WireUse{wire, class, ends, n})
		}
	}
	slices.SortFunc(list, func(a, b WireUse) int {
		return cmp.Or(cmp.Compare(b.Lambda, a.Lambda), cmp.Compare(a.Wire, b.Wire))
	})
	return list
}

// LambdaByWireClass splits the latencies of a critical path that was found with AllWires by class of
// wire.
func (w *Wiring) LambdaByWireClass(path *CriticalPath) []int64 {
	sums := make([]int64, len(w.Topology.WireClasses()))
	counts := make([]int, len(sums))
	for _, p := range path.Pairs {
		a, b := w.Layout.Node(p.A), w.Layout.Node(p.B)
		clear(counts)
		w.Topology.CountWires(a, b, counts)
		if a == b || p.L == 0 {
			continue
		}
		messages := p.L / int64(w.Topology.Switches(a, b)+1)
		for class, n := range counts {
			sums[class] += messages * int64(n)
		}
	}
	return sums
}

// PairTable is the table in which each pair of ranks has the latency of its class, and that of one
// pair is the variable: the HLogGP model.
func PairTable(layout *machine.Layout, a, b int) *Table {
	return &Table{L: layout.Params(a, b).Latency, Of: func(from, to int) (int64, unit.Duration) {
		if from == a && to == b || from == b && to == a {
			return 1, 0
		}
		return 0, layout.Params(from, to).Latency
	}}
}
