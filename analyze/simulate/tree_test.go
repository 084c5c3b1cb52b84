package simulate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"slackline/model/machine"
	"slackline/model/pattern"
	"slackline/model/schedule"
)

// A tree gives the finish times of the engines, for any tree, root, machine and noise.
func TestTreeAgrees(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for i := range 300 {
		ranks := 1 + r.IntN(40)
		algorithms := []string{"binomial", "knomial", "binary", "linear"}
		name := "bcast"
		if i%3 == 0 {
			name, algorithms = "scatter", []string{"binomial", "linear"}
		}
		p, err := pattern.New(name, pattern.Params{
			Ranks: ranks, Size: int64(r.IntN(50)), Root: r.IntN(ranks), Algorithm: algorithms[r.IntN(len(algorithms))],
		})
		if err != nil {
			t.Fatal(err)
		}
		m := drawMachine(r.IntN, kindCollectives, ranks, 1)
		for c := range m.machine.Classes {
			m.machine.Classes[c].Eager = machine.NoLimit
		}
		m.machine.SharedNIC = false
		in, err := m.noise.injection()
		if err != nil {
			t.Fatal(err)
		}
		run, err := newRun(p, m.machine, Options{Noise: in})
		if err != nil {
			t.Fatal(err)
		}
		tree := newTree(run.problem)
		if tree == nil {
			if ranks > 1 {
				t.Fatalf("case %d: %s on %d ranks is no tree", i, name, ranks)
			}
			continue
		}
		got, err := tree.evaluate(run.noise, &treeMemory{})
		if err != nil {
			t.Fatal(err)
		}
		want, err := run.choose(context.Background(), engineEvent)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Finish, want.Finish) || got.Messages != want.Messages || got.Ops != want.Ops {
			t.Errorf("case %d: %s on %d ranks finishes at %v, want %v\n%s", i, name, ranks, got.Finish, want.Finish, m.String())
		}
	}
}

func TestTreeRefuses(t *testing.T) {
	m, err := machine.Named("cnl")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		pattern string
		params  pattern.Params
	}{
		{"dissemination", pattern.Params{Ranks: 8, Size: 1}},
		{"reduce", pattern.Params{Ranks: 8, Size: 1, Algorithm: "binomial"}},
		{"gather", pattern.Params{Ranks: 8, Size: 1, Algorithm: "linear"}},
		{"bcast", pattern.Params{Ranks: 8, Size: 1 << 20, Algorithm: "binomial"}}, // rendezvous
		{"bcast", pattern.Params{Ranks: 8, Size: 1 << 15, Algorithm: "chain:segment=4KiB"}},
		{"skeleton", pattern.Params{Ranks: 8, Iterations: 2}},
		{"halo2d", pattern.Params{Ranks: 9, Iterations: 2}},
	} {
		t.Run(fmt.Sprintf("%s-%s-%d", tc.pattern, tc.params.Algorithm, tc.params.Size), func(t *testing.T) {
			p, err := pattern.New(tc.pattern, tc.params)
			if err != nil {
				t.Fatal(err)
			}
			run, err := newRun(p, m, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if newTree(run.problem) != nil {
				t.Error("newTree takes it for a tree")
			}
		})
	}
}

// A message with another tag than its receive is no tree but an error of the program.
func TestTreeChecksTags(t *testing.T) {
	build := schedule.NewBuilder(2)
	var b schedule.Block
	b.Send(1, 1, 1)
	build.Add(0, &b)
	b.Reset()
	b.Recv(0, 1, 2)
	build.Add(1, &b)
	m, err := machine.Named("cnl")
	if err != nil {
		t.Fatal(err)
	}
	run, err := newRun(build.Graph(), m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if newTree(run.problem) != nil {
		t.Error("newTree takes unmatched tags for a tree")
	}
}

func BenchmarkTreeReplicas(b *testing.B) {
	const ranks = 1 << 20
	p, err := pattern.New("bcast", pattern.Params{Ranks: ranks, Size: 1, Algorithm: "binomial"})
	if err != nil {
		b.Fatal(err)
	}
	m, err := machine.Named("cnl")
	if err != nil {
		b.Fatal(err)
	}
	run, err := newRun(p, m, Options{})
	if err != nil {
		b.Fatal(err)
	}
	in, err := replicaNoise(b, ranks)(1)
	if err != nil {
		b.Fatal(err)
	}
	tree := newTree(run.problem)
	memory := &treeMemory{}
	messages := int64(0)
	for b.Loop() {
		r, err := tree.evaluate(in, memory)
		if err != nil {
			b.Fatal(err)
		}
		messages += r.Messages
	}
	b.ReportMetric(float64(messages)/b.Elapsed().Seconds()/1e6, "Mmsg/s")
}
