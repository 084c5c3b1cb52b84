package tolerance

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	files "slackline/internal/source"
	"slackline/model/machine"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// topologyCase is an entry of the list topology of extras.json.
type topologyCase struct {
	referenceCase
	Topology     string
	Switch       unit.Nanoseconds `json:"switch_latency_ns"`
	RanksPerNode int              `json:"ranks_per_node"`
	Intra        unit.Nanoseconds `json:"intra_latency_ns"`
}

func topologyCases(t *testing.T) []topologyCase {
	var extras struct{ Topology []topologyCase }
	readReference(t, "extras.json", &extras)
	if len(extras.Topology) < 8 {
		t.Fatalf("%d cases with topologies, want 8 or more", len(extras.Topology))
	}
	return extras.Topology
}

// wiring puts the ranks of a case on its topology.
func (c *topologyCase) wiring(t *testing.T, s *Schedule) *Wiring {
	t.Helper()
	top, err := machine.ParseTopology(files.Disk, c.Topology)
	if err != nil {
		t.Fatal(err)
	}
	m := machine.FromParams("test", c.params())
	m.RanksPerNode = c.RanksPerNode
	layout, err := m.Layout(s.Ranks())
	if err != nil {
		t.Fatal(err)
	}
	w := &Wiring{Topology: top, Layout: layout, Wire: unit.Duration(c.L), Switch: unit.Duration(c.Switch), Intra: unit.Duration(c.Intra)}
	if err := w.Check(); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *Wiring) evaluate(t *testing.T, s *Schedule, table *Table) *Evaluation {
	t.Helper()
	e, err := s.Evaluate(Network{Layout: w.Layout, Table: table})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestReferenceTopologies(t *testing.T) {
	for _, c := range topologyCases(t) {
		t.Run(c.File+" on "+c.Topology, func(t *testing.T) {
			s := c.prepared(t)
			w := c.wiring(t, s)
			c.checkEvaluation(t, w.evaluate(t, s, w.AllWires()))
		})
	}
}

// T is the same whichever part of the latency is the variable, and the derivatives of the parts fit
// together with the canonical path.
func TestPartsOfTheLatency(t *testing.T) {
	for _, c := range topologyCases(t) {
		t.Run(c.File+" on "+c.Topology, func(t *testing.T) {
			s := c.prepared(t)
			w := c.wiring(t, s)
			all := w.evaluate(t, s, w.AllWires())
			path, err := all.criticalPath()
			if err != nil {
				t.Fatal(err)
			}
			sum := int64(0)
			for class, lambda := range w.LambdaByWireClass(path) {
				e := w.evaluate(t, s, w.WireClass(class))
				if e.T != all.T || e.Lambda.L < lambda || e.Lambda.LLeft > lambda {
					t.Errorf("class %s: T = %s, slopes %d to %d; want %s, and %d between them",
						w.Topology.WireClasses()[class], e.T, e.Lambda.LLeft, e.Lambda.L, all.T, lambda)
				}
				sum += lambda
			}
			if sum != all.Lambda.L {
				t.Errorf("the classes have %d latencies of %d", sum, all.Lambda.L)
			}
			e := w.evaluate(t, s, w.AllSwitches())
			if own := unit.Duration(e.Lambda.LLeft) * w.Switch; e.T != all.T || own > path.Profile.Switch {
				t.Errorf("switches: T = %s, %s of it for switches; want %s, at least %s", e.T, own, all.T, path.Profile.Switch)
			}
			checkWires(t, s, w, path, all)
		})
	}
}

func checkWires(t *testing.T, s *Schedule, w *Wiring, path *CriticalPath, all *Evaluation) {
	wires := w.CriticalWires(path)
	used := usedWires(w, s)
	if !w.Topology.Routed() {
		if len(wires)+len(used) != 0 {
			t.Errorf("wires %v and %v of a topology without", wires, used)
		}
		return
	}
	sum := int64(0)
	for _, use := range wires {
		sum += use.Lambda
		if !slices.Contains(used, use.Wire) {
			t.Errorf("the wire %s is critical, but not used", use.Ends)
		}
		e := w.evaluate(t, s, w.OneWire(use.Wire))
		if e.T != all.T || e.Lambda.L < use.Lambda || e.Lambda.LLeft > use.Lambda {
			t.Errorf("wire %s: T = %s, slopes %d to %d; want %s, and %d between them", use.Ends, e.T, e.Lambda.LLeft, e.Lambda.L, all.T, use.Lambda)
		}
	}
	if sum != all.Lambda.L {
		t.Errorf("the wires have %d latencies of %d", sum, all.Lambda.L)
	}
}

// The derivative for one pair of ranks is that of HLogGP: on a canonical path that is the only
// critical one, its counts by pair.
func TestPairTable(t *testing.T) {
	var extras struct {
		CriticalPath []referenceCase `json:"critical_path"`
	}
	readReference(t, "extras.json", &extras)
	for _, c := range extras.CriticalPath {
		s := c.prepared(t)
		n := network(t, s, c.params())
		plain, err := s.Evaluate(n)
		if err != nil {
			t.Fatal(err)
		}
		for _, pair := range c.Want.Pairs {
			n.Table = PairTable(n.Layout, pair.A, pair.B)
			e, err := s.Evaluate(n)
			if err != nil {
				t.Fatal(err)
			}
			if e.T != plain.T || e.Lambda.L < pair.L || e.Lambda.LLeft > pair.L {
				t.Errorf("%s, pair %d-%d: T = %s, slopes %d to %d; want %s and %d between them",
					c.File, pair.A, pair.B, e.T, e.Lambda.LLeft, e.Lambda.L, plain.T, pair.L)
			}
		}
	}
}

func TestWiringErrors(t *testing.T) {
	c := topologyCases(t)[0]
	s := c.prepared(t)
	w := c.wiring(t, s)
	var err error
	w.Topology, err = machine.ParseTopology(files.Disk, "torus:3x5")
	if err != nil {
		t.Fatal(err)
	}
	var few *TooFewNodesError
	if err := w.Check(); !errors.As(err, &few) || few.Needed != 16 || !strings.Contains(err.Error(), "has 15 nodes, but the ranks need 16") {
		t.Errorf("15 nodes for 16 ranks: error %v", err)
	}
	w = c.wiring(t, s)
	if w.Switch = 100_000 * unit.Second; w.Check() == nil {
		t.Error("a switch of a day is taken")
	}
}

// usedWires lists all wires that messages of the schedule go through, ascending. It is empty if the
// topology is not routed.
func usedWires(w *Wiring, s *Schedule) []machine.Wire {
	used := map[machine.Wire]bool{}
	seen := map[[2]int]bool{}
	var way []machine.Wire
	s.each(func(rank int, op *schedule.Op) {
		if op.Kind != schedule.Send {
			return
		}
		a, b := w.Layout.Node(rank), w.Layout.Node(int(op.Peer))
		if key := [2]int{min(a, b), max(a, b)}; !seen[key] {
			seen[key] = true
			way = w.Topology.Route(a, b, way[:0])
			for _, wire := range way {
				used[wire] = true
			}
		}
	})
	return slices.Sorted(maps.Keys(used))
}
