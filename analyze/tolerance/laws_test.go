package tolerance

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"slackline/model/machine"
	"slackline/model/pattern"
	"slackline/model/unit"
)

// moved returns the network at which a variable has another value: that of every class that is varied
// is changed by as much.
func moved(t *rapid.T, n Network, v Variable, by int64) Network {
	m := *n.Layout.Machine
	for c := range m.Classes {
		p := &m.Classes[c]
		if !v.varies(machine.Class(c)) {
			continue
		}
		switch v.Parameter {
		case L:
			p.Latency = max(p.Latency+unit.Duration(by), 0) // a class without messages may be below 0
		case O:
			pieces := make(machine.Pieces[unit.Duration], len(p.Overhead))
			for i, piece := range p.Overhead {
				piece.Value = max(piece.Value+unit.Duration(by), 0)
				pieces[i] = piece
			}
			p.Overhead = pieces
		}
	}
	layout, err := m.Layout(n.Layout.Ranks)
	if err != nil {
		t.Fatal(err)
	}
	n.Layout = layout
	if n.Table != nil && v.Parameter == L {
		table := *n.Table
		table.L += unit.Duration(by)
		n.Table = &table
	}
	return n
}

// TestLaws checks, on machines with other parameters, that T over L and over o does not fall, is
// convex, and that slopes are its differences.
func TestLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t)
		v := Variable{Parameter: []Parameter{L, O}[rapid.IntRange(0, 1).Draw(t, "parameter")]}
		s, _, ok := c.prepared(t, 1)
		if !ok {
			return
		}
		g, err := s.Build(c.net, v)
		if err != nil {
			t.Fatal(err)
		}
		from := g.Lowest() + int64(rapid.IntRange(0, 40).Draw(t, "from"))
		const values = 5
		var points [values]Point
		var times [values]int64
		for i := range points {
			x := from + int64(i)
			if points[i], err = g.At(x); err != nil {
				t.Fatal(err)
			}
			e, err := s.Evaluate(moved(t, c.net, v, x-g.Given()))
			if err != nil {
				t.Fatal(err)
			}
			times[i] = int64(e.T)
			if points[i].T != times[i] {
				t.Fatalf("T(%d) = %d, but %d if it is given", x, points[i].T, times[i])
			}
			if v.Parameter == L && x > g.Lowest() && (e.Lambda.L != points[i].Right || e.Lambda.LLeft != points[i].Left) {
				t.Fatalf("slopes at %d are %d and %d, but %+v if it is given", x, points[i].Left, points[i].Right, e.Lambda)
			}
		}
		for i := 1; i < values; i++ {
			rise := times[i] - times[i-1]
			if rise < points[i-1].Right || rise > points[i].Left || rise < 0 {
				t.Fatalf("T rises by %d from %+v to %+v", rise, points[i-1], points[i])
			}
			if i > 1 && rise < times[i-1]-times[i-2] {
				t.Fatalf("T is not convex: %v", times)
			}
		}
	})
}

// TestFinish compares the finish times with those of the evaluation, of the curve and of the oracle.
func TestFinish(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t)
		s, o, ok := c.prepared(t, 1)
		if !ok {
			return
		}
		checkFinish(t, s, o, c.net)
	})
}

// patternOn prepares a pattern for a machine.
func patternOn(t *testing.T, m *machine.Machine, name string, params pattern.Params) (*Schedule, Network) {
	t.Helper()
	p, err := pattern.New(name, params)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Prepare(p, nil, m.Gamma)
	if err != nil {
		t.Fatal(err)
	}
	layout, err := m.Layout(p.Ranks())
	if err != nil {
		t.Fatal(err)
	}
	return s, Network{Layout: layout}
}

// TestFinishOfPatterns does the same on programs with collectives and real machines.
func TestFinishOfPatterns(t *testing.T) {
	for _, name := range machine.Names() {
		m, err := machine.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, words := range []string{"allreduce", "halo2d", "alltoall", "sweep3d"} {
			t.Run(name+"/"+words, func(t *testing.T) {
				s, n := patternOn(t, m, words, pattern.Params{Ranks: 16, Iterations: 1})
				graph, err := s.operations()
				if err != nil {
					t.Fatal(err)
				}
				o, err := newOracle(graph, n, 1)
				if err != nil {
					t.Fatal(err)
				}
				checkFinish(t, s, o, n)
			})
		}
	}
}

type failer interface{ Fatalf(string, ...any) }

func checkFinish(t failer, s *Schedule, o *oracle, n Network) {
	e, err := s.Evaluate(n)
	if err != nil {
		t.Fatalf("Evaluate: %v", err)
	}
	g, err := e.Graph(Variable{})
	if err != nil {
		t.Fatalf("Graph: %v", err)
	}
	at, err := g.At(g.Given())
	if err != nil {
		t.Fatalf("At: %v", err)
	}
	finish, err := s.Finish(n)
	if err != nil {
		t.Fatalf("Finish: %v", err)
	}
	times := o.times(-1, 0)
	want := make([]unit.Duration, s.ranks)
	for i := range o.g.Ops() {
		rank, _ := o.g.Find(i)
		want[rank] = max(want[rank], unit.Duration(times[2*i+1]))
	}
	if !slices.Equal(finish.Ranks, want) {
		t.Fatalf("the ranks finish at %d, want %d", finish.Ranks, want)
	}
	if last := slices.Max(want); e.T != last || at.T != int64(last) {
		t.Fatalf("T = %d, as a function %d, but the last rank finishes at %d", e.T, at.T, last)
	}
}
