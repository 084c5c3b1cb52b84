package pattern

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"slackline/model/unit"
)

// Every stage does every pass once, forward before backward; between two stages messages of one tag leave in the order in which
// they are received.
func TestPlan(t *testing.T) {
	for stages := 1; stages <= 6; stages++ {
		for chunks := 1; chunks <= 4; chunks++ {
			for microbatches := 1; microbatches <= 13; microbatches++ {
				if chunks > 1 && (stages < 2 || microbatches%stages != 0) {
					continue
				}
				p := plan{stages, chunks, microbatches}
				checkPlan(t, &p)
			}
		}
	}
}

func checkPlan(t *testing.T, p *plan) {
	t.Helper()
	type channel struct{ from, to, tag int }
	sent, received := map[channel][]int{}, map[channel][]int{}
	for stage := range p.stages {
		seen := map[pass]bool{}
		for k := range p.passes() {
			of := p.at(stage, k)
			forward := of
			forward.backward = false
			if seen[of] || of.chunk < 0 || of.chunk >= p.chunks || of.microbatch < 0 || of.microbatch >= p.microbatches ||
				of.backward && !seen[forward] {
				t.Fatalf("%+v, stage %d: pass %d is %+v, after %d others", *p, stage, k, of, len(seen))
			}
			seen[of] = true
			if from, _, ok := p.before(stage, of); ok {
				c := channel{from, stage, int(of.tag(of.chunk))}
				received[c] = append(received[c], of.microbatch)
			}
			if to, chunk, ok := p.next(stage, of); ok {
				c := channel{stage, to, int(of.tag(chunk))}
				sent[c] = append(sent[c], of.microbatch)
			}
		}
	}
	if len(sent) != len(received) {
		t.Fatalf("%+v: %d channels sent to, %d received from", *p, len(sent), len(received))
	}
	for c, list := range sent {
		if !slices.Equal(list, received[c]) {
			t.Fatalf("%+v, %+v: sent %v, received %v", *p, c, list, received[c])
		}
	}
}

// All forms of the pattern run to their end, messages match, and Count knows their number.
func TestLLMRunsToItsEnd(t *testing.T) {
	for _, p := range []Params{
		{Ranks: 8, Tensor: 2, Pipeline: 4, Virtual: 2, Layers: 2, Microbatches: 4},
		{Ranks: 8, Tensor: 2, Pipeline: 4, Virtual: 3, Layers: 6, Microbatches: 12},
		{Ranks: 6, Tensor: 1, Pipeline: 3, Virtual: 4, Layers: 4, Microbatches: 6},
		{Ranks: 24, Tensor: 2, Pipeline: 3, Layers: 2, Microbatches: 5, Overlap: true},
		{Ranks: 12, Tensor: 1, Pipeline: 4, Virtual: 2, Layers: 4, Microbatches: 8, Overlap: true, Iterations: 2},
		{Ranks: 5, Tensor: 5, Pipeline: 1, Layers: 1, Microbatches: 1},
	} {
		checkExecution(t, llmPattern.Info, p)
	}
}

func TestLLMErrors(t *testing.T) {
	for _, tc := range []struct {
		p    Params
		want string
	}{
		{Params{Ranks: 12, Tensor: 5}, "12 ranks are not copies of 5 * "},
		{Params{Ranks: 12, Tensor: 4, Pipeline: 2}, "12 ranks are not copies of 4 * 2"},
		{Params{Ranks: 12, Tensor: -2}, "give at least 1 each"},
		{Params{Ranks: 16, Pipeline: 2, Virtual: 3}, "4 layers of a stage are not 3 equal chunks"},
		{Params{Ranks: 8, Pipeline: 1, Virtual: 2}, "a pipeline of one stage is not interleaved"},
		{Params{Ranks: 16, Pipeline: 2, Virtual: 2, Microbatches: 3}, "3 is not a multiple of the 2 stages"},
		{Params{Ranks: 8, Microbatches: 1 << 20}, "are not both in 1..65536"},
		{Params{Ranks: 8, Microbatches: 1 << 16, Layers: 1 << 10}, "steps is too long"},
		{Params{Ranks: 8, Gradients: -7}, "gradients: -7 is negative"},
		{Params{Ranks: 8, Stragglers: []Straggler{{8, 0.1}}}, "straggler: rank 8 does not exist; give a rank in 0..7"},
		{Params{Ranks: 8, Stragglers: []Straggler{{1, -0.1}}}, "straggler: rank 1 slower by -0.1"},
	} {
		if _, err := New("llm", tc.p); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("New(llm, %+v): error %v, want one with %q", tc.p, err, tc.want)
		}
	}
}

// Groups: a rank is in its tensor group and in its data group, and both have the sizes asked for.
func TestLLMGroups(t *testing.T) {
	prog := mustNew(t, "llm", Params{Ranks: 48, Tensor: 4, Pipeline: 3, Compute: unit.Millisecond})
	groups := prog.Groups()
	l := &llm{plan: plan{stages: 3, chunks: 1}, tensor: 4, data: 4}
	for rank := range 48 {
		tensor, data := &groups[l.tensorGroup(rank)], &groups[l.dataGroup(rank)]
		if tensor.Len() != 4 || tensor.Index(rank) != rank%4 || data.Len() != 4 || data.Index(rank) != rank/4%4 {
			t.Errorf("rank %d: tensor group %s, data group %s", rank, fmt.Sprintf("%+v", *tensor), fmt.Sprintf("%+v", *data))
		}
	}
}
