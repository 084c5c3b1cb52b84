package tolerance

import (
	"errors"
	"math/big"
	"testing"

	"slackline/model/machine"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// The corners of the curve are where the solved cases have them, T there is what an evaluation at
// whole picoseconds says, and the answers are those of the cases.
func TestAskReference(t *testing.T) {
	var cases []referenceCase
	readReference(t, "cases.json", &cases)
	asked := 0
	for _, c := range cases {
		if c.Want.Error != "" {
			continue
		}
		asked++
		t.Run(c.Name, func(t *testing.T) {
			s := c.prepared(t)
			q := Question{Variable: Variable{Parameter: L}, Limit: (*unit.Duration)(&c.Limit),
				Range: &[2]int64{int64(c.Range[0]), int64(c.Range[1])}}
			for _, p := range c.Percents {
				percent, err := ParsePercent(p.String())
				if err != nil {
					t.Fatal(err)
				}
				q.Percents = append(q.Percents, percent)
			}
			n := network(t, s, c.params())
			a, err := s.Ask(n, q)
			if err != nil {
				t.Fatal(err)
			}
			c.checkAnswers(t, a)
			checkCurve(t, s, n, a)
		})
	}
	if asked < 20 {
		t.Errorf("only %d cases", asked)
	}
}

func (c *referenceCase) checkAnswers(t *testing.T, a *Answers) {
	if a.T != unit.Duration(c.Want.T) || a.Lambda.L != c.Want.LambdaL || a.Share() != int64(c.Want.Rho*1e6+0.5) {
		t.Errorf("T = %s, lambda_L = %d, rho_L = %d; want %v", a.T, a.Lambda.L, a.Share(), c.Want)
	}
	same := func(got Largest, want *unit.Nanoseconds) bool {
		return want == nil && (got.Unbounded || got.Infeasible) || want != nil && got == Largest{X: int64(*want)}
	}
	for i, got := range a.Tolerance {
		if !same(got, c.Want.Tolerance[i].L) {
			t.Errorf("tolerance %s = %+v, want %v", c.Percents[i], got, c.Want.Tolerance[i].L)
		}
	}
	if !same(*a.Limit, c.Want.Limit.L) || a.Limit.Infeasible != c.Want.Limit.Infeasible {
		t.Errorf("limit = %+v, want %+v", a.Limit, c.Want.Limit)
	}
	if len(a.Curve) != len(c.Want.Breakpoints)+2 {
		t.Fatalf("%d corners, want %d breakpoints between two ends", len(a.Curve), len(c.Want.Breakpoints))
	}
}

// checkCurve compares T on the curve with T of evaluations around each corner.
func checkCurve(t *testing.T, s *Schedule, n Network, a *Answers) {
	for i, corner := range a.Curve {
		below := new(big.Int).Div(corner.X.Num(), corner.X.Denom()).Int64()
		if i == 0 || below <= a.Question.Range[0] {
			continue
		}
		p := n.Layout.Machine.Classes[machine.Far]
		p.Latency = unit.Duration(below)
		e, err := s.Evaluate(network(t, s, p))
		if err != nil {
			t.Fatal(err)
		}
		// The line that ends in the corner.
		back := new(big.Rat).Sub(corner.X, big.NewRat(below, 1))
		want := new(big.Rat).Sub(corner.T, back.Mul(back, big.NewRat(corner.Before, 1)))
		if want.Cmp(big.NewRat(int64(e.T), 1)) != 0 && new(big.Rat).Sub(corner.X, a.Curve[i-1].X).Cmp(big.NewRat(1, 1)) > 0 {
			t.Errorf("T = %s at L = %d ps, but the curve has %s", e.T, below, want.FloatString(3))
		}
	}
}

// Without a range, one is taken that holds the given value and the tolerances.
func TestAskAround(t *testing.T) {
	c := referenceCase{File: "02-paper-overlap.goal", L: 500_000, PerByte: 5, S: 1 << 30}
	s := c.prepared(t)
	five, err := ParsePercent("5%")
	if err != nil {
		t.Fatal(err)
	}
	n := network(t, s, c.params())
	a, err := s.Ask(n, Question{Percents: []Percent{five}, Around: true})
	if err != nil {
		t.Fatal(err)
	}
	last := a.Curve[len(a.Curve)-1]
	if a.Curve[0].X.Sign() != 0 || last.X.Cmp(big.NewRat(725_937, 1)) != 0 || len(a.Breakpoints) != 1 {
		t.Errorf("the curve goes from %s to %s with %d breakpoints", a.Curve[0].X, last.X, len(a.Breakpoints))
	}
	if a, err = s.Ask(n, Question{}); err != nil || a.Curve != nil || a.Limit != nil {
		t.Errorf("answers that nobody asked for: %+v, %v", a, err)
	}
}

// Classes keep their distance, so a range cannot begin where one of them would be negative.
func TestAskBelowLowest(t *testing.T) {
	m := twoLevels(300*unit.Nanosecond, unit.Microsecond, 0, 0, 0)
	m.RanksPerNode = 2
	g, err := schedule.Read("x", []byte("num_ranks 3\nrank 0 {\na: send 1b to 1\nb: send 1b to 2\n}\nrank 1 {\na: recv 1b from 0\n}\n"+
		"rank 2 {\na: recv 1b from 0\n}\n"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Prepare(g, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	layout, err := m.Layout(3)
	if err != nil {
		t.Fatal(err)
	}
	for _, points := range []int{0, 5} { // corners, or T at some values
		a, err := s.Ask(Network{Layout: layout}, Question{Range: &[2]int64{0, int64(unit.Microsecond)}, Points: points})
		if err != nil {
			t.Fatalf("%d points: %v", points, err)
		}
		if lowest := big.NewRat(700_000, 1); a.Curve[0].X.Cmp(lowest) != 0 {
			t.Errorf("%d points: the curve begins at %s, want %s", points, a.Curve[0].X, lowest)
		}
		if _, err := s.Ask(Network{Layout: layout}, Question{Range: &[2]int64{0, 700_000}, Points: points}); err == nil {
			t.Errorf("%d points: a range of negative latencies is taken", points)
		}
	}
}

// The summary of slack counts every operation once, and knows the critical ones.
func TestSlackSummary(t *testing.T) {
	c := referenceCase{File: "02-paper-overlap.goal", L: 500_000, PerByte: 5, S: 1 << 30}
	_, e := c.evaluated(t)
	slack, err := e.Slack()
	if err != nil {
		t.Fatal(err)
	}
	want := []SlackSummary{
		{Kind: schedule.Calc, Ops: 4, Critical: 2, Largest: 515 * unit.Nanosecond},
		{Kind: schedule.Send, Ops: 1, Critical: 1},
		{Kind: schedule.Recv, Ops: 1, Critical: 1},
	}
	for i, got := range slack.Summary() {
		if got != want[i] {
			t.Errorf("summary %d = %+v, want %+v", i, got, want[i])
		}
	}
}

// Points on the curve lie where the curve with all breakpoints has them, and their search can be ended.
func TestAskPoints(t *testing.T) {
	s, err := Prepare(randomGraph(8, 4000), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := network(t, s, benchParams())
	percent, err := ParsePercent("5%")
	if err != nil {
		t.Fatal(err)
	}
	q := Question{Percents: []Percent{percent}, Around: true}
	all, err := s.Ask(n, q)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	q.Points, q.Progress = 100, func(done, all int) error {
		if seen++; done >= all {
			t.Errorf("%d of %d points are computed, and there are more", done, all)
		}
		return nil
	}
	some, err := s.Ask(n, q)
	if err != nil {
		t.Fatal(err)
	}
	if len(some.Curve) < 100 || seen < 10 || len(all.Curve) < 10 {
		t.Errorf("%d points, %d times progress, %d breakpoints", len(some.Curve), seen, len(all.Curve))
	}
	i, given := 0, false
	for _, p := range some.Curve {
		for all.Curve[i+1].X.Cmp(p.X) < 0 {
			i++
		}
		from := all.Curve[i]
		want := new(big.Rat).Sub(p.X, from.X)
		want.Mul(want, big.NewRat(from.After, 1)).Add(want, from.T)
		if want.Cmp(p.T) != 0 {
			t.Errorf("T(%v) = %v, want %v", p.X, p.T, want)
		}
		given = given || p.X.Cmp(big.NewRat(some.Given.X, 1)) == 0
	}
	if !given {
		t.Errorf("the given value %d is not on the curve", some.Given.X)
	}
	enough := errors.New("enough")
	q.Progress = func(int, int) error { return enough }
	if _, err := s.Ask(n, q); !errors.Is(err, enough) {
		t.Errorf("err = %v, want %v", err, enough)
	}
}
