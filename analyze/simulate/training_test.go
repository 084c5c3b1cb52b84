package simulate_test

import (
	"context"
	"fmt"
	"testing"

	"slackline/analyze/simulate"
	"slackline/model/collective"
	"slackline/model/machine"
	"slackline/model/pattern"
	"slackline/model/unit"
)

// flat returns a machine with o = g = 0 and the same parameters for all pairs.
func flat(latency unit.Duration, perByte unit.PerByte) *machine.Machine {
	return machine.FromParams("flat", machine.Params{
		Latency: latency, Overhead: machine.One[unit.Duration](0), PerByte: machine.One(perByte), Eager: machine.NoLimit,
	})
}

// timeOf simulates a pattern with NCCL's mapping.
func timeOf(t *testing.T, name string, p pattern.Params, m *machine.Machine) unit.Duration {
	t.Helper()
	return timeWith(t, "base: nccl\n", name, p, m)
}

// timeWith simulates a pattern with the text of a mapping.
func timeWith(t *testing.T, mapping, name string, p pattern.Params, m *machine.Machine) unit.Duration {
	t.Helper()
	prog, err := pattern.New(name, p)
	if err != nil {
		t.Fatal(err)
	}
	chosen, err := collective.ReadMapping("mapping", []byte(mapping))
	if err != nil {
		t.Fatal(err)
	}
	r, err := simulate.Run(context.Background(), prog, m, simulate.Options{Mapping: chosen})
	if err != nil {
		t.Fatal(err)
	}
	return r.Makespan
}

const us = unit.Microsecond

// Rings: an allreduce of s bytes on n ranks takes 2(n-1) rounds of s/n bytes each, an allgather and a reduce-scatter n-1, with the bytes
// that the protocol has on the wire and the delay of the protocol in each round.
func TestRingsTakeWhatTheirFormulasSay(t *testing.T) {
	const block = 1000
	for n := 2; n <= 9; n++ {
		m := flat(3*us, 2000) // 2 ps per byte
		m.NCCL.Protocols[1] = machine.Protocol{Far: 5 * us, Data: 500_000}
		round := func(wire int64, delay unit.Duration) unit.Duration { return 3*us + unit.Duration(2*(wire-1)) + delay }
		for _, tc := range []struct {
			op, algorithm string
			size          int64
			want          unit.Duration
		}{
			{"allreduce", "nccl-ring:protocol=Simple", int64(n) * block, unit.Duration(2*(n-1)) * round(block, 0)},
			{"allreduce", "nccl-ring:protocol=LL", int64(n) * block, unit.Duration(2*(n-1)) * round(2*block, 0)},
			{"allreduce", "nccl-ring:protocol=LL128", int64(n) * block, unit.Duration(2*(n-1)) * round(2*block, 5*us)},
			{"allgather", "nccl-ring:protocol=Simple", block, unit.Duration(n-1) * round(block, 0)},
			{"reduce_scatter", "nccl-ring:protocol=LL128", block, unit.Duration(n-1) * round(2*block, 5*us)},
			{"bcast", "nccl-ring:protocol=Simple", block, unit.Duration(n-1) * round(block, 0)},
			{"reduce", "nccl-ring:protocol=LL", block, unit.Duration(n-1) * round(2*block, 0)},
		} {
			p := pattern.Params{Ranks: n, Size: tc.size, Algorithm: tc.algorithm}
			if got := timeOf(t, tc.op, p, m); got != tc.want {
				t.Errorf("%s %s on %d ranks takes %s, want %s", tc.op, tc.algorithm, n, got, tc.want)
			}
		}
	}
}

// Trees: the latency of an allreduce on 2^k ranks is 2k hops.
func TestTreeTakesLogarithmicTime(t *testing.T) {
	for k := 1; k <= 10; k++ {
		p := pattern.Params{Ranks: 1 << k, Size: 2, Algorithm: "nccl-tree"}
		if got, want := timeOf(t, "allreduce", p, flat(7*us, 1000)), unit.Duration(2*k)*7*us; got != want {
			t.Errorf("%d ranks: %s, want %s", 1<<k, got, want)
		}
	}
}

// Pipelines without costs of messages: an iteration takes m + (p-1)/v microbatches, that is, the bubble is (p-1)/(m v).
func TestBubble(t *testing.T) {
	for _, tc := range []struct{ stages, chunks, microbatches int }{
		{1, 1, 5}, {2, 1, 1}, {4, 1, 4}, {4, 1, 9}, {8, 1, 3}, {2, 2, 2}, {4, 2, 4}, {4, 2, 16}, {4, 4, 8}, {3, 2, 9}, {8, 3, 16},
	} {
		t.Run(fmt.Sprintf("p=%d/v=%d/m=%d", tc.stages, tc.chunks, tc.microbatches), func(t *testing.T) {
			const pass = 7 * us // a chunk forward; backward takes twice as long
			work := unit.Duration(3*tc.microbatches*tc.chunks) * pass
			p := pattern.Params{
				Ranks: tc.stages, Tensor: 1, Pipeline: tc.stages, Virtual: tc.chunks, Layers: tc.chunks,
				Microbatches: tc.microbatches, Compute: work,
			}
			want := work + unit.Duration(3*(tc.stages-1))*pass
			if got := timeOf(t, "llm", p, flat(0, 0)); got != want {
				t.Errorf("an iteration takes %s, want %s", got, want)
			}
			p.Iterations = 3
			if got := timeOf(t, "llm", p, flat(0, 0)); got != 3*want {
				t.Errorf("3 iterations take %s, want %s", got, 3*want)
			}
		})
	}
}

// Without a pipeline an iteration is the work, the allreduces of the tensor groups, that of the gradients and that of the norm; a
// straggler prolongs it by its own delay.
func TestTrainingAddsUp(t *testing.T) {
	const layers, microbatches = 3, 4
	m := flat(2*us, 1000)
	sum := func(size int64, ranks int) unit.Duration { // a ring
		return unit.Duration(2*(ranks-1)) * (2*us + unit.Duration(size/int64(ranks)-1))
	}
	p := pattern.Params{
		Ranks: 12, Tensor: 4, Pipeline: 1, Layers: layers, Microbatches: microbatches,
		Size: 4 << 20, Gradients: 30 << 20, Compute: 72 * unit.Millisecond,
	}
	want := 72*unit.Millisecond + 4*layers*microbatches*sum(4<<20, 4) + sum(30<<20, 3) + 22*2*us // the norm
	const rings = "base: nccl\nallreduce: [{use: nccl-ring}]\n"
	if got := timeWith(t, rings, "llm", p, m); got != want {
		t.Errorf("an iteration takes %s, want %s", got, want)
	}
	p.Stragglers = []pattern.Straggler{{Rank: 5, Slower: 0.25}}
	if got := timeWith(t, rings, "llm", p, flat(0, 0)); got != 90*unit.Millisecond {
		t.Errorf("with a straggler on a machine without costs it takes %s, want 90ms", got)
	}
}

// Gradients that are summed beside the work of the last backward pass cost only what is left of them: with pieces of 4 ms, those of all
// pieces but the last of the pass fit beside the piece after theirs.
func TestOverlapHidesGradients(t *testing.T) {
	m := flat(2*us, 1000) // 1 ns for 1000 bytes
	p := pattern.Params{
		Ranks: 2, Tensor: 1, Pipeline: 1, Layers: 4, Microbatches: 1, Gradients: 4_000_000, Compute: 24 * unit.Millisecond,
		Overlap: true,
	}
	sum := func(size int64) unit.Duration {
		return timeOf(t, "allreduce", pattern.Params{Ranks: 2, Size: size, Algorithm: "nccl"}, m)
	}
	want := 24*unit.Millisecond + sum(1_000_000) + sum(8)
	if got := timeOf(t, "llm", p, m); got != want {
		t.Errorf("with overlap an iteration takes %s, want %s", got, want)
	}
	p.Overlap = false
	want = 24*unit.Millisecond + sum(4_000_000) + sum(8)
	if got := timeOf(t, "llm", p, m); got != want {
		t.Errorf("without overlap it takes %s, want %s", got, want)
	}
}

// BenchmarkTraining is an iteration of training on 1,024 ranks.
func BenchmarkTraining(b *testing.B) {
	prog, err := pattern.New("llm", pattern.Params{Ranks: 1024, Pipeline: 8, Microbatches: 8, Layers: 2})
	if err != nil {
		b.Fatal(err)
	}
	m, err := machine.Named("dgx-h100")
	if err != nil {
		b.Fatal(err)
	}
	mapping, err := collective.NamedMapping("nccl")
	if err != nil {
		b.Fatal(err)
	}
	messages := int64(0)
	for b.Loop() {
		r, err := simulate.Run(context.Background(), prog, m, simulate.Options{Mapping: mapping})
		if err != nil {
			b.Fatal(err)
		}
		messages += r.Messages
	}
	b.ReportMetric(float64(messages)/b.Elapsed().Seconds(), "messages/s")
}
