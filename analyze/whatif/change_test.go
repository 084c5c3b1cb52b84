package whatif_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"slackline/analyze/simulate"
	"slackline/analyze/tolerance"
	"slackline/analyze/whatif"
	"slackline/model/machine"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// unbalanced is a program in which every rank solves for 10 us, rank 2 repairs for 40 us more, and all meet
// in a barrier, three times.
type unbalanced struct{}

func (unbalanced) Ranks() int    { return 4 }
func (unbalanced) Steps(int) int { return 6 }
func (unbalanced) Shape() schedule.Shape {
	return schedule.Shape{CPUs: 1, NICs: 1, Collectives: true, Graphs: true}
}
func (unbalanced) Groups() []schedule.Group { return nil }
func (unbalanced) Origins() []schedule.Origin {
	return []schedule.Origin{{}, {Path: []string{"main", "solve"}}, {Path: []string{"main", "solve", "fixup"}},
		{Path: []string{"main"}, Call: "MPI_Barrier"}}
}

func (unbalanced) Block(rank, step int, b *schedule.Block) {
	b.Reset()
	if step%2 == 1 {
		b.Ops[b.Call(schedule.Call{Op: schedule.Barrier})].Origin = 3
		return
	}
	first := b.Calc(int64(10 * unit.Microsecond))
	b.Ops[first].Origin = 1
	if rank == 2 {
		second := b.Calc(int64(40 * unit.Microsecond))
		b.Ops[second].Origin = 2
		b.Require(second, first)
		b.Link()
	}
}

func makespan(t *testing.T, p schedule.Program) unit.Duration {
	t.Helper()
	m, err := machine.Read("free", []byte("L: 0\no: 0\ng: 0\nG: 0ns\n"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := simulate.Run(context.Background(), p, m, simulate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Makespan
}

func TestApply(t *testing.T) {
	const us = unit.Microsecond
	if got := makespan(t, unbalanced{}); got != 150*us {
		t.Fatalf("the program takes %v, want 150us", got)
	}
	neighbors, err := whatif.ParseStrategy("neighbors")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		change whatif.Change
		want   unit.Duration
		report whatif.Changed
	}{
		{whatif.Change{Path: "fixup", Balance: true, Rank: -1}, 60 * us,
			whatif.Changed{Before: unit.SumOf(120 * us), After: unit.SumOf(120 * us), Max: 120 * us, MaxAfter: 30 * us, Ranks: 1}},
		// Rank 1 does 40us along with three times 10us: each takes 23.333333us.
		{whatif.Change{Path: "fixup", Balance: true, How: neighbors, Grid: []int{4}, Rank: -1}, 70*us - 1,
			whatif.Changed{Before: unit.SumOf(120 * us), After: unit.SumOf(120 * us), Max: 120 * us, MaxAfter: 40 * us, Ranks: 1}},
		{whatif.Change{Path: "main/solve", Balance: true, Rank: -1}, 60 * us,
			whatif.Changed{Before: unit.SumOf(240 * us), After: unit.SumOf(240 * us), Min: 30 * us, Max: 150 * us, MaxAfter: 60 * us, Ranks: 4}},
		{whatif.Change{Path: "fixup", Percent: percent("50"), Rank: -1}, 90 * us,
			whatif.Changed{Before: unit.SumOf(120 * us), After: unit.SumOf(60 * us), Max: 120 * us, Ranks: 1}},
		{whatif.Change{Path: "solve/fixup", Percent: percent("100"), Rank: 2}, 30 * us,
			whatif.Changed{Before: unit.SumOf(120 * us), Max: 120 * us, Ranks: 1}},
		{whatif.Change{Path: "fixup", Percent: percent("100"), Rank: 1}, 150 * us,
			whatif.Changed{Before: unit.SumOf(120 * us), After: unit.SumOf(120 * us), Max: 120 * us, Ranks: 1}},
	} {
		p, list, err := whatif.Apply(unbalanced{}, []whatif.Change{c.change})
		if err != nil {
			t.Fatal(err)
		}
		c.report.Change = c.change
		if !reflect.DeepEqual(list[0], c.report) {
			t.Errorf("%+v: report %+v, want %+v", c.change, list[0], c.report)
		}
		if got := makespan(t, p); got != c.want {
			t.Errorf("%+v: takes %v, want %v", c.change, got, c.want)
		}
	}
}

func TestApplyRefuses(t *testing.T) {
	for _, c := range []struct {
		change whatif.Change
		want   string
	}{
		{whatif.Change{Path: "fixpu", Balance: true, Rank: -1}, "did you mean fixup"},
		{whatif.Change{Path: "main/solve/fixup", Percent: percent("101"), Rank: -1}, "up to 100 %"},
		{whatif.Change{Path: "fixup", Percent: percent("10"), Rank: 4}, "no rank 4"},
	} {
		if _, _, err := whatif.Apply(unbalanced{}, []whatif.Change{c.change}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.change, err)
		}
	}
}

func percent(text string) tolerance.Percent {
	p, err := tolerance.ParsePercent(text)
	if err != nil {
		panic(err)
	}
	return p
}

func TestParseChange(t *testing.T) {
	for text, want := range map[string]whatif.Change{
		"solve=-20%":       {Path: "solve", Percent: percent("20"), Rank: -1},
		"fixup@3=-100":     {Path: "fixup", Percent: percent("100"), Rank: 3},
		"a=b/c=-0.5%":      {Path: "a=b/c", Percent: percent("0.5"), Rank: -1},
		"main/solve@0=-1%": {Path: "main/solve", Percent: percent("1"), Rank: 0},
	} {
		got, err := whatif.ParseChange(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "solve", "solve=20%", "=-20%", "solve=-101%", "solve=-x", "solve@-1=-5%", "@3=-5%", "solve@x=-5%"} {
		if got, err := whatif.ParseChange(text); err == nil {
			t.Errorf("%q is taken for %+v", text, got)
		}
	}
}

// long is a program of four ranks that compute for 40 days each.
type long struct{ unbalanced }

func (long) Block(_, _ int, b *schedule.Block) {
	b.Reset()
	b.Calc(int64(40 * 24 * unit.Hour / 6))
}

// TestChangeOfMuch: 160 days together, which no duration holds.
func TestChangeOfMuch(t *testing.T) {
	for _, strategy := range whatif.Strategies() {
		how, err := whatif.ParseStrategy(strategy)
		if err != nil {
			t.Fatal(err)
		}
		_, list, err := whatif.Apply(long{}, []whatif.Change{{Balance: true, How: how, Grid: []int{2, 2}, Rank: -1}})
		if err != nil {
			t.Fatal(err)
		}
		rank := 40 * 24 * unit.Hour / 6 * 6
		if c := list[0]; c.Before != unit.SumOf(rank).Times(4) || c.After != c.Before || c.Max != rank || c.MaxAfter != rank {
			t.Errorf("%s: %+v, want four times %v", strategy, c, rank)
		}
	}
}
