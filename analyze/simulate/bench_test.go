package simulate_test

import (
	"context"
	"fmt"
	"testing"

	"slackline/analyze/simulate"
	"slackline/model/collective"
	"slackline/model/machine"
	"slackline/model/noise"
	"slackline/model/pattern"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// benchmarkProgram simulates a program and reports messages per second.
func benchmarkProgram(b *testing.B, p schedule.Program, m *machine.Machine, o simulate.Options) {
	b.Helper()
	b.ReportAllocs()
	messages := int64(0)
	for b.Loop() {
		r, err := simulate.Run(context.Background(), p, m, o)
		if err != nil {
			b.Fatal(err)
		}
		messages += r.Messages
	}
	b.ReportMetric(float64(messages)/b.Elapsed().Seconds()/1e6, "Mmsg/s")
}

func benchmarkPattern(b *testing.B, name string, p pattern.Params, on string, o simulate.Options) {
	b.Helper()
	benchmarkProgram(b, newPattern(b, name, p), newMachine(b, on), o)
}

func newPattern(b *testing.B, name string, p pattern.Params) schedule.Program {
	b.Helper()
	program, err := pattern.New(name, p)
	if err != nil {
		b.Fatal(err)
	}
	return program
}

func newMachine(b *testing.B, name string) *machine.Machine {
	b.Helper()
	m, err := machine.Named(name)
	if err != nil {
		b.Fatal(err)
	}
	return m
}

func BenchmarkDissemination(b *testing.B) {
	for _, threads := range []int{1, 2} {
		for _, ranks := range []int{16384, 65536, 1048576} {
			b.Run(fmt.Sprintf("ranks=%d/threads=%d", ranks, threads), func(b *testing.B) {
				benchmarkPattern(b, "dissemination", pattern.Params{Ranks: ranks, Size: 1}, "cnl", simulate.Options{Threads: threads})
			})
		}
	}
}

// BenchmarkDisseminationNoise has a detour of 100 us every millisecond, at an offset of its own on
// each rank.
func BenchmarkDisseminationNoise(b *testing.B) {
	for _, ranks := range []int{4096, 32768, 1048576} {
		b.Run(fmt.Sprintf("ranks=%d/threads=1", ranks), func(b *testing.B) {
			trace, err := noise.NewDetours(int64(unit.Millisecond), []noise.Detour{{Start: 0, Length: int64(100 * unit.Microsecond)}})
			if err != nil {
				b.Fatal(err)
			}
			offsets := make([]int64, ranks)
			for r := range offsets {
				offsets[r] = int64(r) * 617293 % 1000000 * 1000
			}
			in, err := noise.NewInjection(trace, offsets)
			if err != nil {
				b.Fatal(err)
			}
			benchmarkPattern(b, "dissemination", pattern.Params{Ranks: ranks, Size: 1}, "cnl", simulate.Options{Threads: 1, Noise: in})
		})
	}
}

// BenchmarkLinear has all messages of a root, or of all ranks, at once. The large messages
// rendezvous.
func BenchmarkLinear(b *testing.B) {
	for _, tc := range []struct {
		name  string
		ranks int
	}{{"gather", 16384}, {"scatter", 16384}, {"alltoall", 1024}} {
		for _, size := range []int64{1, 66 * 1024} {
			b.Run(fmt.Sprintf("pattern=%s/ranks=%d/size=%d/threads=1", tc.name, tc.ranks, size), func(b *testing.B) {
				benchmarkPattern(b, tc.name, pattern.Params{Ranks: tc.ranks, Size: size, Algorithm: "linear"},
					"cnl", simulate.Options{Threads: 1})
			})
		}
	}
}

// BenchmarkTree has few messages per rank.
func BenchmarkTree(b *testing.B) {
	b.Run("pattern=bcast/ranks=1048576/threads=1", func(b *testing.B) {
		benchmarkPattern(b, "bcast", pattern.Params{Ranks: 1 << 20, Size: 1, Algorithm: "binomial"}, "cnl", simulate.Options{Threads: 1})
	})
}

// BenchmarkSkeleton is an application: per iteration compute with jitter, a halo of 1 KiB and an
// allreduce. With 340 iterations it has 100 million messages.
func BenchmarkSkeleton(b *testing.B) {
	for _, threads := range []int{1, 2} {
		for _, iterations := range []int{20, 340} {
			b.Run(fmt.Sprintf("ranks=16384/iterations=%d/threads=%d", iterations, threads), func(b *testing.B) {
				benchmarkPattern(b, "skeleton", pattern.Params{Ranks: 16384, Iterations: iterations}, "cnl", simulate.Options{Threads: threads})
			})
		}
	}
}

// BenchmarkSparse has few ranks active at a time: a token on a ring, and a wavefront.
func BenchmarkSparse(b *testing.B) {
	b.Run("pattern=ring/ranks=65536/threads=2", func(b *testing.B) {
		benchmarkPattern(b, "ring", pattern.Params{Ranks: 65536, Size: 8, Iterations: 4}, "cnl", simulate.Options{Threads: 2})
	})
	b.Run("pattern=sweep/ranks=16384/threads=2", func(b *testing.B) {
		benchmarkPattern(b, "sweep", pattern.Params{Ranks: 16384, Size: 1024, Iterations: 8}, "cnl", simulate.Options{Threads: 2})
	})
}

// BenchmarkFile is a program of compute and halo exchanges as it comes from a file: one graph per
// rank with explicit dependencies.
func BenchmarkFile(b *testing.B) {
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("pattern=halo/messages=1M/threads=%d", threads), func(b *testing.B) {
			p := newPattern(b, "skeleton", pattern.Params{Ranks: 4096, Size: 1024, Iterations: 61, Without: []string{pattern.Collectives}})
			g, err := schedule.Flatten(schedule.Materialize(collective.Expand(p, nil, 0)))
			if err != nil {
				b.Fatal(err)
			}
			benchmarkProgram(b, schedule.Pack(g), newMachine(b, "cnl"), simulate.Options{Threads: threads})
		})
	}
}

// BenchmarkClasses has link classes, nodes that share a NIC, or both engines' general cases.
func BenchmarkClasses(b *testing.B) {
	for _, shared := range []bool{false, true} {
		b.Run(fmt.Sprintf("pattern=skeleton/ranks=4096/shared=%t/threads=1", shared), func(b *testing.B) {
			m := *newMachine(b, "cnl")
			m.RanksPerNode = 16
			m.SharedNIC = shared
			near := m.Classes[machine.Node]
			near.Latency /= 4
			m.Classes[machine.Node] = near
			benchmarkProgram(b, newPattern(b, "skeleton", pattern.Params{Ranks: 4096, Iterations: 10}), &m, simulate.Options{Threads: 1})
		})
	}
}

// BenchmarkGraph is a halo exchange with early receives as it comes from a file: in each iteration a
// rank posts its receives, computes, and sends when it has computed.
func BenchmarkGraph(b *testing.B) {
	const side, iterations = 64, 61
	build := schedule.NewBuilder(side * side)
	for rank := range side * side {
		x, y := rank%side, rank/side
		peers := []int{
			y*side + (x+side-1)%side, y*side + (x+1)%side,
			(y+side-1)%side*side + x, (y+1)%side*side + x,
		}
		var block schedule.Block
		for i := range iterations {
			block.Reset()
			compute := block.Calc(int64(100+(rank*7919+i*104729)%20) * int64(unit.Microsecond))
			for _, peer := range peers {
				block.Recv(peer, 1024, 0)
			}
			for _, peer := range peers {
				block.Require(block.Send(peer, 1024, 0), compute)
			}
			block.Link()
			build.Add(rank, &block)
		}
	}
	g, err := schedule.Flatten(build.Graph())
	if err != nil {
		b.Fatal(err)
	}
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("pattern=halo/messages=1M/threads=%d", threads), func(b *testing.B) {
			benchmarkProgram(b, schedule.Pack(g), newMachine(b, "cnl"), simulate.Options{Threads: threads})
		})
	}
}
