package pattern

import (
	"strings"
	"testing"

	"slackline/model/schedule"
	"slackline/model/unit"
)

// calls are the collectives of a program, by rank 0, with what they are for.
func calls(p schedule.Program) string {
	var list []string
	var b schedule.Block
	for step := range p.Steps(0) {
		p.Block(0, step, &b)
		for i, c := range b.Calls {
			list = append(list, c.Op.String()+":"+p.Origins()[b.Ops[i].Origin].Path[1])
		}
	}
	return strings.Join(list, " ")
}

// TestSchemes holds every scheme against its listing.
func TestSchemes(t *testing.T) {
	for _, tc := range []struct{ name, want string }{
		{"scheme-mpptest", "scan:warm-up barrier:synchronise scan:timed scan:timed barrier:end"},
		{"scheme-mpbench", "scan:timed scan:timed barrier:end"},
		{"scheme-imb", "barrier:synchronise scan:timed scan:timed"},
		{"scheme-window", "scan:timed"},
	} {
		p := mustNew(t, tc.name, Params{Ranks: 5, Operation: "MPI_Scan", Iterations: 2})
		if got := calls(p); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
		execute(t, p, true)
	}
	if _, err := New("scheme-imb", Params{Ranks: 4, Operation: "allreduc"}); err == nil ||
		!strings.Contains(err.Error(), "did you mean allreduce?") {
		t.Error(err)
	}
	if _, err := New("scheme-imb", Params{Ranks: 4, Operation: "neighbor_alltoall"}); err == nil {
		t.Error("a scheme of a neighborhood collective was accepted")
	}
}

func TestLate(t *testing.T) {
	p := Late(mustNew(t, "bcast", Params{Ranks: 3}), []unit.Duration{0, 5, 7})
	for rank, want := range []int64{0, 5, 7} {
		blocks := collect(p, rank)
		if len(blocks) != 2 || blocks[0][0].Kind != schedule.Calc || blocks[0][0].Size != want || blocks[1][0].Kind != schedule.Collective {
			t.Errorf("rank %d: %+v", rank, blocks)
		}
	}
	if s := p.(schedule.SPMD); s.SameCall(0) || !s.SameCall(1) {
		t.Error("the steps of a late program are not those of the program, one later")
	}
}
