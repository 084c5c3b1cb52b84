package tolerance

import (
	"math"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"slackline/internal/memory"
	"slackline/model/machine"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// benchSchedules are the large schedules of the benchmarks, by name.
var benchSchedules = []struct {
	name string
	make func() *schedule.Graph
}{
	{"ring", func() *schedule.Graph { return ringGraph(64, 2000) }},
	{"halo", func() *schedule.Graph { return haloGraph(16, 390) }},
	{"random", func() *schedule.Graph { return randomGraph(64, 1_000_000) }},
	{"ring5", func() *schedule.Graph { return ringGraph(64, 10_000) }},
	{"halo5", func() *schedule.Graph { return haloGraph(16, 1950) }},
}

// benchParams are the parameters of the benchmarks.
func benchParams() machine.Params {
	return machine.Params{
		Latency: 3 * unit.Microsecond, Overhead: machine.One(400 * unit.Nanosecond),
		PerByte: machine.One(unit.PerByte(18_000)), Eager: machine.NoLimit,
	}
}

func BenchmarkBuild(b *testing.B) {
	for _, bs := range benchSchedules {
		b.Run("schedule="+bs.name, func(b *testing.B) {
			g := bs.make()
			var ops, nodes, edges int
			measure(b, func() {
				s, err := Prepare(g, nil, 0)
				if err != nil {
					b.Fatal(err)
				}
				graph, err := s.Build(network(b, s, benchParams()), Variable{})
				if err != nil {
					b.Fatal(err)
				}
				ops, nodes, edges = s.Size().Ops, graph.tape.nodes, graph.tape.edges
			})
			b.ReportMetric(float64(ops), "ops")
			b.ReportMetric(float64(nodes), "nodes")
			b.ReportMetric(float64(edges), "edges")
		})
	}
}

// measure runs a function as often as the benchmark wants and reports the smallest CPU time, which
// other work on the machine changes least.
func measure(b *testing.B, f func()) {
	best := time.Duration(math.MaxInt64)
	for b.Loop() {
		before := memory.CPU()
		f()
		best = min(best, memory.CPU()-before)
	}
	b.ReportMetric(float64(best.Microseconds())/1000, "best-cpu-ms")
}

// benchGraph builds the graph of a benchmark.
func benchGraph(b *testing.B, make func() *schedule.Graph) *Graph {
	s, err := Prepare(make(), nil, 0)
	if err != nil {
		b.Fatal(err)
	}
	g, err := s.Build(network(b, s, benchParams()), Variable{})
	if err != nil {
		b.Fatal(err)
	}
	return g
}

func BenchmarkAt(b *testing.B) {
	for _, bs := range benchSchedules {
		b.Run("schedule="+bs.name, func(b *testing.B) {
			g := benchGraph(b, bs.make)
			b.Run("latencies=1", func(b *testing.B) {
				measure(b, func() {
					if _, err := g.At(3_000_000); err != nil {
						b.Fatal(err)
					}
				})
			})
			b.Run("latencies=8", func(b *testing.B) {
				xs := []int64{1e6, 2e6, 3e6, 4e6, 5e6, 6e6, 7e6, 8e6}
				measure(b, func() {
					if _, err := g.AtAll(xs); err != nil {
						b.Fatal(err)
					}
				})
			})
		})
	}
}

// BenchmarkEvaluate measures passes over the full graph.
func BenchmarkEvaluate(b *testing.B) {
	for _, bs := range benchSchedules {
		b.Run("schedule="+bs.name, func(b *testing.B) {
			s, err := Prepare(bs.make(), nil, 0)
			if err != nil {
				b.Fatal(err)
			}
			n := network(b, s, benchParams())
			e, err := s.Evaluate(n)
			if err != nil {
				b.Fatal(err)
			}
			for _, part := range []struct {
				name string
				run  func() error
			}{
				{"evaluate", func() error { _, err := s.Evaluate(n); return err }},
				{"evaluate and graph", func() error { _, err := s.Evaluate(n, Variable{}); return err }},
				{"path", func() error { _, err := e.criticalPath(); return err }},
				{"slack", func() error { _, err := e.Slack(); return err }},
			} {
				b.Run(part.name, func(b *testing.B) {
					measure(b, func() {
						if err := part.run(); err != nil {
							b.Fatal(err)
						}
					})
				})
			}
		})
	}
}

// BenchmarkMemory measures what is allocated per operation if nothing is ever collected: an upper bound
// of what is needed at any time. The schedule itself is not counted.
func BenchmarkMemory(b *testing.B) {
	for _, bs := range benchSchedules {
		b.Run("schedule="+bs.name, func(b *testing.B) {
			graph := bs.make()
			ops := float64(graph.NumOps())
			defer debug.SetGCPercent(debug.SetGCPercent(-1))
			var before, built, after runtime.MemStats
			for b.Loop() {
				runtime.GC()
				scratches = sync.Pool{New: scratches.New}
				runtime.ReadMemStats(&before)
				g := benchGraph(b, func() *schedule.Graph { return graph })
				if _, err := g.Search().Tolerance(3_000_000, Percent{value: 1}); err != nil {
					b.Fatal(err)
				}
				runtime.ReadMemStats(&built)
				if _, err := g.breakpointsWithin(0, 100_000_000, 0); err != nil {
					b.Fatal(err)
				}
				runtime.ReadMemStats(&after)
			}
			b.ReportMetric(float64(before.HeapAlloc)/ops, "schedule-B")
			b.ReportMetric(float64(built.TotalAlloc-before.TotalAlloc)/ops, "tolerance-B")
			b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/ops, "breakpoints-B")
		})
	}
}

func BenchmarkBreakpoints(b *testing.B) {
	for _, bs := range benchSchedules {
		b.Run("schedule="+bs.name, func(b *testing.B) {
			g := benchGraph(b, bs.make)
			found := 0
			measure(b, func() {
				list, err := g.breakpointsWithin(0, 100_000_000, 0)
				if err != nil {
					b.Fatal(err)
				}
				found = len(list)
			})
			b.ReportMetric(float64(found), "breakpoints")
		})
	}
}

func BenchmarkTolerance(b *testing.B) {
	for _, bs := range benchSchedules {
		b.Run("schedule="+bs.name, func(b *testing.B) {
			g := benchGraph(b, bs.make)
			passes := 0
			measure(b, func() {
				s := g.Search()
				for _, percent := range []int64{1, 2, 5} {
					if _, err := s.Tolerance(3_000_000, Percent{value: percent}); err != nil {
						b.Fatal(err)
					}
				}
				passes = len(s.points)
			})
			b.ReportMetric(float64(passes), "passes")
		})
	}
}
