package tolerance

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"slackline/internal/needed"
	"slackline/model/machine"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// solve lets Clp solve a linear program and returns the optimum.
func solve(clp, dir string, p *LinearProgram, suffix string, goal Goal) (float64, error) {
	var text bytes.Buffer
	write := p.WriteLP
	if suffix == ".mps" {
		write = p.WriteMPS
	}
	if err := write(&text, goal); err != nil {
		return 0, err
	}
	file, solution := filepath.Join(dir, "p"+suffix), filepath.Join(dir, "solution")
	if err := os.WriteFile(file, text.Bytes(), 0o666); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var out []byte
	var err error
	// Presolve and scaling round: of some feasible programs they make an infeasible one. Clp then tries without.
	for _, method := range [][]string{{"-solve"}, {"-presolve", "off", "-solve"}, {"-presolve", "off", "-scaling", "off", "-primalsimplex"}} {
		out, err = exec.CommandContext(ctx, clp, slices.Concat([]string{file}, method, []string{"-saveSolution", solution})...).CombinedOutput()
		if err == nil && strings.Contains(string(out), "Optimal objective") {
			break
		}
	}
	if err != nil || !strings.Contains(string(out), "Optimal objective") {
		return 0, fmt.Errorf("%v\n%s\n%s", err, out, text.String())
	}
	data, err := os.ReadFile(solution)
	if err != nil || len(data) < 16 {
		return 0, fmt.Errorf("%d bytes of solution, %v", len(data), err)
	}
	optimum := math.Float64frombits(binary.LittleEndian.Uint64(data[8:]))
	if suffix == ".mps" && goal.Within {
		optimum = -optimum
	}
	return optimum, nil
}

// The optimum of the linear program is T, and the tolerances, of all solved cases, in both formats.
func TestLinearProgramReference(t *testing.T) {
	clp, dir := needed.Tool(t, "clp"), t.TempDir()
	var cases []referenceCase
	readReference(t, "cases.json", &cases)
	for i, c := range cases {
		if c.Want.Error != "" || c.Ops > 1000 {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			s, e := c.evaluated(t)
			p, err := e.LinearProgram(Variable{Parameter: L})
			if err != nil {
				t.Fatal(err)
			}
			suffix := []string{".lp", ".mps"}[i%2]
			if got, err := solve(clp, dir, p, suffix, Goal{}); err != nil || math.Abs(got-float64(e.T)) > 0.01 {
				t.Errorf("T = %.3f by Clp, want %d (%v)", got, e.T, err)
			}
			five, err := ParsePercent("5%")
			if err != nil {
				t.Fatal(err)
			}
			bound, _ := five.above(int64(e.T))
			g, err := s.Build(e.n, Variable{Parameter: L})
			if err != nil {
				t.Fatal(err)
			}
			want, err := g.Search().largest(bound)
			if err != nil {
				t.Fatal(err)
			}
			if want.Unbounded {
				return
			}
			if got, err := solve(clp, dir, p, suffix, Goal{Within: true, Bound: bound}); err != nil || math.Floor(got+1e-4) != float64(want.X) {
				t.Errorf("tolerance %.3f by Clp, want %d (%v)", got, want.X, err)
			}
		})
	}
}

// drawProgram makes a random program of sequential ranks that exchange messages in rounds.
func drawProgram(t *rapid.T) *schedule.Graph {
	ranks := rapid.IntRange(2, 5).Draw(t, "ranks")
	var b strings.Builder
	fmt.Fprintf(&b, "num_ranks %d\n", ranks)
	lines := make([]string, ranks)
	last := make([]string, ranks)
	add := func(rank, i int, text string) {
		label := fmt.Sprint("l", i)
		lines[rank] += fmt.Sprintf("%s: %s\n", label, text)
		word := rapid.SampledFrom([]string{"requires", "requires", "irequires", ""}).Draw(t, "dependency")
		if last[rank] != "" && word != "" {
			lines[rank] += fmt.Sprintf("%s %s %s\n", label, word, last[rank])
		}
		last[rank] = label
	}
	for i := range rapid.IntRange(1, 12).Draw(t, "steps") {
		from := rapid.IntRange(0, ranks-1).Draw(t, "from")
		if rapid.Bool().Draw(t, "calc") {
			add(from, 2*i, fmt.Sprintf("calc %d", rapid.IntRange(0, 3000).Draw(t, "cost")))
			continue
		}
		to := rapid.IntRange(0, ranks-1).Draw(t, "to")
		size := rapid.SampledFrom([]int{0, 1, 100, 5000}).Draw(t, "size")
		add(from, 2*i, fmt.Sprintf("send %db to %d tag %d", size, to, i))
		add(to, 2*i+1, fmt.Sprintf("recv %db from %d tag %d", size, from, i))
	}
	for r := range ranks {
		fmt.Fprintf(&b, "rank %d {\n%s}\n", r, lines[r])
	}
	g, err := schedule.Read("random", []byte(b.String()))
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	return g
}

// On random programs, with classes, gaps and rendezvous, for all three parameters.
func TestLinearProgramRandom(t *testing.T) {
	clp, dir := needed.Tool(t, "clp"), t.TempDir()
	solved := 0
	rapid.Check(t, func(t *rapid.T) {
		if solved >= 60 {
			return // Clp takes a while to start
		}
		s, err := Prepare(drawProgram(t), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ns := rapid.Int64Range(0, 2000)
		time := func(name string) unit.Duration { return unit.Duration(ns.Draw(t, name)) * unit.Nanosecond }
		m := twoLevels(time("node L"), time("far L"), unit.PerByte(ns.Draw(t, "node G")), unit.PerByte(ns.Draw(t, "far G")), time("o"))
		m.RanksPerNode = rapid.IntRange(1, 2).Draw(t, "ranks per node")
		for c := range m.Classes {
			m.Classes[c].Gap, m.Classes[c].Eager = time("g"), rapid.SampledFrom([]int64{50, machine.NoLimit}).Draw(t, "S")
		}
		layout, err := m.Layout(s.graph.Ranks())
		if err != nil {
			t.Fatal(err)
		}
		e, err := s.Evaluate(Network{Layout: layout})
		if err != nil {
			return // a cycle
		}
		v := Variable{Parameter: rapid.SampledFrom([]Parameter{L, G, O}).Draw(t, "parameter")}
		p, err := e.LinearProgram(v)
		if err != nil {
			t.Fatal(err)
		}
		g, err := s.Build(e.n, v)
		if err != nil {
			t.Fatal(err)
		}
		want, err := g.At(g.Given())
		if err != nil {
			t.Fatal(err)
		}
		suffix := rapid.SampledFrom([]string{".lp", ".mps"}).Draw(t, "format")
		solved++
		if got, err := solve(clp, dir, p, suffix, Goal{}); err != nil || math.Abs(got-float64(want.T)) > 0.01 {
			t.Fatalf("T = %.3f by Clp, want %d (%v)", got, want.T, err)
		}
		bound := want.T + want.T/10
		largest, err := g.Search().largest(bound)
		if err != nil {
			t.Fatal(err)
		}
		if largest.Unbounded {
			return
		}
		if got, err := solve(clp, dir, p, suffix, Goal{Within: true, Bound: bound}); err != nil || math.Floor(got+1e-4) != float64(largest.X) {
			t.Fatalf("largest %s = %.4f by Clp, want %d (%v)", v.Parameter, got, largest.X, err)
		}
	})
}
