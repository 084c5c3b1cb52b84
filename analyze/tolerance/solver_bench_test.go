package tolerance

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"slackline/internal/memory"
	"slackline/internal/needed"
	"slackline/model/schedule"
)

// solverTime is how long a solver may take for one linear program.
const solverTime = 2 * time.Minute

// BenchmarkSolvers is the race of figure 7 of the LLAMP paper on the same graphs: T, and the tolerance of 5 %, by our evaluation (with
// building the graph), by Clp (with reading its file) and by HiGHS (its own time;
// the simplex method, and interior points as in the paper). All find the same.
//
//	go test -run - -bench Solvers -benchtime 1x ./analyze/tolerance
func BenchmarkSolvers(b *testing.B) {
	solvers := []struct {
		name  string
		solve func(*race, *testing.B) (optimum float64, cpu time.Duration, err error)
	}{{"slackline", (*race).ours}, {"clp", (*race).clp}, {"highs-simplex", (*race).simplex}, {"highs-ipm", (*race).interior}}
	for _, bs := range []struct {
		name string
		make func() *schedule.Graph
	}{
		{"halo/side=4/steps=30", func() *schedule.Graph { return haloGraph(4, 30) }},
		{"halo/side=4/steps=90", func() *schedule.Graph { return haloGraph(4, 90) }},
		{"ring/ranks=16/steps=30", func() *schedule.Graph { return ringGraph(16, 30) }},
		{"ring/ranks=16/steps=90", func() *schedule.Graph { return ringGraph(16, 90) }},
	} {
		for _, goal := range []string{"T", "tolerance"} {
			for _, solver := range solvers {
				b.Run(fmt.Sprintf("schedule=%s/goal=%s/solver=%s", bs.name, goal, solver.name), func(b *testing.B) {
					r := newRace(b, bs.make(), goal == "tolerance")
					best := time.Duration(math.MaxInt64)
					for b.Loop() {
						optimum, cpu, err := solver.solve(r, b)
						if errors.Is(err, context.DeadlineExceeded) {
							b.Skipf("%s has not solved %d rows in %v", solver.name, r.program.Rows(), solverTime)
						}
						if err != nil || math.Abs(optimum-r.want) > 1+1e-6*r.want {
							b.Fatalf("%s finds %.3f, %v, want %.0f", solver.name, optimum, err, r.want)
						}
						best = min(best, cpu)
					}
					b.ReportMetric(float64(best.Microseconds())/1000, "best-cpu-ms")
					b.ReportMetric(float64(r.prepared.Size().Ops), "ops")
					b.ReportMetric(float64(r.program.Rows()), "rows")
				})
			}
		}
	}
}

// race is a question that all solvers are asked.
type race struct {
	prepared *Schedule
	network  Network
	program  *LinearProgram
	goal     Goal
	want     float64
}

func newRace(b *testing.B, g *schedule.Graph, within bool) *race {
	s, err := Prepare(g, nil, 0)
	if err != nil {
		b.Fatal(err)
	}
	r := &race{prepared: s, network: network(b, s, benchParams()), goal: Goal{Within: within}}
	e, err := s.Evaluate(r.network)
	if err != nil {
		b.Fatal(err)
	}
	if r.program, err = e.LinearProgram(Variable{Parameter: L}); err != nil {
		b.Fatal(err)
	}
	r.want = float64(e.T)
	if within {
		var ok bool
		if r.goal.Bound, ok = (Percent{value: 5}).above(int64(e.T)); !ok {
			b.Fatal("5 % more is too much")
		}
		r.want, _, err = r.ours(b)
		if err != nil {
			b.Fatal(err)
		}
	}
	return r
}

// ours builds the graph and evaluates it.
func (r *race) ours(*testing.B) (float64, time.Duration, error) {
	before := memory.CPU()
	g, err := r.prepared.Build(r.network, Variable{Parameter: L})
	if err != nil {
		return 0, 0, err
	}
	if !r.goal.Within {
		p, err := g.At(r.program.given)
		return float64(p.T), memory.CPU() - before, err
	}
	p, err := g.Search().largest(r.goal.Bound)
	return float64(p.X), memory.CPU() - before, err
}

// clp is the CPU time of Clp, as solve calls it first.
func (r *race) clp(b *testing.B) (float64, time.Duration, error) {
	clp := needed.Tool(b, "clp", "of Debian's coinor-clp")
	dir := b.TempDir()
	file, solution := filepath.Join(dir, "p.lp"), filepath.Join(dir, "solution")
	var text bytes.Buffer
	if err := r.program.WriteLP(&text, r.goal); err != nil {
		return 0, 0, err
	}
	if err := os.WriteFile(file, text.Bytes(), 0o666); err != nil {
		return 0, 0, err
	}
	out, cpu, err := solverRun(clp, file, "-solve", "-saveSolution", solution)
	if err != nil {
		return 0, 0, err
	}
	data, err := os.ReadFile(solution)
	if err != nil || len(data) < 16 || !strings.Contains(out, "Optimal objective") {
		return 0, 0, fmt.Errorf("%d bytes of solution, %v\n%s", len(data), err, out)
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(data[8:])), cpu, nil
}

// solverRun runs a solver, and returns what it printed and its CPU time.
func solverRun(name string, args ...string) (string, time.Duration, error) {
	ctx, cancel := context.WithTimeout(context.Background(), solverTime)
	defer cancel()
	c := exec.CommandContext(ctx, name, args...)
	out, err := c.CombinedOutput()
	if ctx.Err() != nil {
		return "", 0, ctx.Err()
	}
	if err != nil {
		return "", 0, fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	u := c.ProcessState.SysUsage().(*syscall.Rusage)
	return string(out), time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}

// highsScript lets HiGHS, as it is in SciPy, solve the rows of a file, and prints the optimum and the CPU seconds of the solver.
const highsScript = `
import sys, time
import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_matrix
data = np.fromfile(sys.argv[1], dtype=np.int64)
columns, t, x, within, bound, given, lowest = data[:7]
head, tail, a, c = data[7:].reshape(-1, 4).T
rows = np.arange(len(head))
matrix = csr_matrix((np.concatenate([-np.ones(len(rows)), np.ones(len(rows)), a.astype(float)]),
    (np.concatenate([rows, rows, rows]), np.concatenate([head, tail, np.full(len(rows), x)]))), shape=(len(rows), columns))
cost = np.zeros(columns)
low, high = np.zeros(columns), np.full(columns, np.inf)
if within:
    cost[x], high[t], low[x] = -1, bound, lowest
else:
    cost[t], low[x], high[x] = 1, given, given
start = time.process_time()
r = linprog(cost, A_ub=matrix, b_ub=-c.astype(float), bounds=np.stack([low, high], axis=1), method=sys.argv[2])
print(r.fun * (-1 if within else 1) if r.status == 0 else r.message, time.process_time() - start)
`

func (r *race) simplex(b *testing.B) (float64, time.Duration, error)  { return r.highs(b, "highs-ds") }
func (r *race) interior(b *testing.B) (float64, time.Duration, error) { return r.highs(b, "highs-ipm") }

// highs is the CPU time of HiGHS by a method, without reading the program.
func (r *race) highs(b *testing.B, method string) (float64, time.Duration, error) {
	python := ""
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(name, "-c", "import scipy.optimize").Run() == nil {
			python = name
			break
		}
	}
	needed.That(b, python != "", "HiGHS, which a python3 with SciPy has (Debian's python3-scipy),")
	p, flag := r.program, int64(0)
	if r.goal.Within {
		flag = 1
	}
	values := []int64{int64(p.Columns()), int64(p.timeColumn()), int64(p.variableColumn()), flag, r.goal.Bound, p.given, p.lowest}
	for _, row := range p.rows {
		values = append(values, int64(row.head), int64(row.tail), row.a, row.c)
	}
	var data bytes.Buffer
	if err := binary.Write(&data, binary.NativeEndian, values); err != nil {
		return 0, 0, err
	}
	file := filepath.Join(b.TempDir(), "rows")
	if err := os.WriteFile(file, data.Bytes(), 0o666); err != nil {
		return 0, 0, err
	}
	out, _, err := solverRun(python, "-c", highsScript, file, method)
	if err != nil {
		return 0, 0, err
	}
	var optimum, seconds float64
	if _, err := fmt.Sscan(out, &optimum, &seconds); err != nil {
		return 0, 0, fmt.Errorf("HiGHS: %s", out)
	}
	return optimum, time.Duration(seconds * float64(time.Second)), nil
}
