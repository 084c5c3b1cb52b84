package tolerance

import (
	"fmt"
	"math/big"
	"slices"

	"slackline/model/unit"
)

// Question is what is asked about a schedule on a network: how T depends on a variable. All of it
// is optional but the variable.
type Question struct {
	Variable Variable
	Percents []Percent      // tolerances
	Limit    *unit.Duration // of T
	Range    *[2]int64      // in which the whole curve is wanted; what lies below Graph.Lowest is left out
	Around   bool           // without a Range, take one that shows the given value and the tolerances
	Memory   int64          // bytes that the search for breakpoints may take; 0: no limit
	// Points is at how many values, evenly over the range, T is computed for the curve instead of finding its breakpoints, which takes many
	// bytes for each operation; 0: breakpoints.
	Points int `json:",omitzero"`
	// Progress is called when so many of all points are computed; nil: not at all. An error that it returns ends the search.
	Progress func(done, all int) error `json:"-"`
}

// Answers are the answers to a Question. Answers of different schedules, networks or mappings to one
// question can be compared.
type Answers struct {
	Question Question
	Size     Size
	T        unit.Duration // at the given parameters
	Lambda   Lambda
	Path     *CriticalPath
	Given    Point // T and slopes at the given value of the variable, in the units of Point

	Tolerance   []Largest // by percentage
	Limit       *Largest
	ValidFrom   int64 // around the given value the slope to its right holds from here ...
	ValidTo     Largest
	Breakpoints []Breakpoint // inside the range
	Curve       []CurvePoint // of the range, with both ends; nil without. With Question.Points T is convex between them, else linear
}

// CurvePoint is a point of T as a function of the variable: an end of the range or a breakpoint.
type CurvePoint struct {
	X, T          *big.Rat // in the units of Point
	Before, After int64    // slopes; equal at the ends of a range
}

// Floor returns a point of the curve rounded down: the value of the variable, and T.
func (a *Answers) Floor(c CurvePoint) (x int64, t unit.Duration) {
	floor := func(r *big.Rat) int64 { return new(big.Int).Div(r.Num(), r.Denom()).Int64() }
	x, t = floor(c.X), unit.Duration(floor(c.T))
	if a.Question.Variable.Parameter == G {
		t /= femtosPerPico
	}
	return x, t
}

// Ask evaluates the schedule and answers a question.
func (s *Schedule) Ask(n Network, q Question) (*Answers, error) {
	e, err := s.Evaluate(n, q.Variable)
	if err != nil {
		return nil, err
	}
	return e.Ask(q)
}

// Ask answers a question about a schedule that was evaluated.
func (e *Evaluation) Ask(q Question) (*Answers, error) {
	a := &Answers{Question: q, Size: e.Size, T: e.T, Lambda: e.Lambda}
	var err error
	if a.Path, err = e.criticalPath(); err != nil {
		return nil, err
	}
	g, err := e.Graph(q.Variable)
	if err != nil {
		return nil, err
	}
	search := g.Search()
	x := g.Given()
	if v := q.Variable; v.Parameter == L && len(v.Classes) == 0 {
		search.know(Point{x, int64(e.T), e.Lambda.LLeft, e.Lambda.L})
	}
	if a.Given, err = search.At(x); err != nil {
		return nil, err
	}
	if err := a.search(search); err != nil {
		return nil, err
	}
	switch {
	case q.Range != nil:
		err = a.drawCurve(g, q.Range[0], q.Range[1])
	case q.Around:
		err = a.drawCurve(g, g.Lowest(), a.end())
	}
	return a, err
}

// drawCurve finds the curve of a range, as far as the variable can have its values.
func (a *Answers) drawCurve(g *Graph, from, to int64) error {
	if from = max(from, g.Lowest()); from >= to {
		return fmt.Errorf("the range ends at %d, but the smallest value of %s is %d: the parameters of all classes move together "+
			"and cannot be negative",
			to, g.axis.v.Parameter, from)
	}
	if a.Question.Points > 0 {
		return a.sampleCurve(g, from, to)
	}
	return a.traceCurve(g, from, to)
}

// search finds the tolerances, the limit, and where the slope at the given value holds.
func (a *Answers) search(s *Search) error {
	var valid validity
	quests := s.valid(a.Given, &valid)
	a.Tolerance = make([]Largest, len(a.Question.Percents))
	for i := range a.Question.Percents {
		bound, ok := a.Bound(i)
		if !ok {
			return errTooLarge
		}
		quests = append(quests, s.within(bound, &a.Tolerance[i]))
	}
	if a.Question.Limit != nil {
		bound, err := s.g.inUnits(*a.Question.Limit)
		if err != nil {
			return err
		}
		a.Limit = new(Largest)
		quests = append(quests, s.within(bound, a.Limit))
	}
	if err := s.pursue(quests...); err != nil {
		return err
	}
	a.ValidFrom, a.ValidTo = valid.lower, valid.upper
	return nil
}

// end returns the upper end of a range that shows the given value and all tolerances.
func (a *Answers) end() int64 {
	const share = 4 // of the range is left beyond them
	largest := a.Given.X
	for _, t := range a.Tolerance {
		if !t.Unbounded && !t.Infeasible {
			largest = max(largest, t.X)
		}
	}
	if largest == 0 {
		return int64(unit.Microsecond)
	}
	return largest + max(largest/share, 1)
}

// traceCurve finds the breakpoints in a range, and T at each of them.
func (a *Answers) traceCurve(g *Graph, from, to int64) error {
	ends, err := g.AtAll([]int64{from, to})
	if err != nil {
		return err
	}
	if need := g.leastBytes(); a.Question.Memory > 0 && need > a.Question.Memory {
		return &MemoryError{Needed: need, Limit: a.Question.Memory}
	}
	if a.Breakpoints, err = g.breakpointsWithin(from, to, a.Question.Memory); err != nil {
		return err
	}
	first, last := ends[0], ends[1]
	at := CurvePoint{big.NewRat(first.X, 1), big.NewRat(first.T, 1), first.Right, first.Right}
	a.Curve = []CurvePoint{at}
	for _, b := range a.Breakpoints {
		x := b.X.rat()
		t := new(big.Rat).Sub(x, at.X)
		t.Mul(t, big.NewRat(b.Before, 1)).Add(t, at.T)
		at = CurvePoint{x, t, b.Before, b.After}
		a.Curve = append(a.Curve, at)
	}
	a.Curve = append(a.Curve, CurvePoint{big.NewRat(last.X, 1), big.NewRat(last.T, 1), last.Left, last.Left})
	return nil
}

// sampleCurve computes T at some values of a range, among them both ends, the given value and the tolerances.
func (a *Answers) sampleCurve(g *Graph, from, to int64) error {
	xs := []int64{from, to}
	for i := range a.Question.Points {
		xs = append(xs, from+int64(float64(to-from)*float64(i)/float64(a.Question.Points)))
	}
	for _, t := range a.Tolerance {
		xs = append(xs, t.X)
	}
	xs = append(xs, a.Given.X)
	slices.Sort(xs)
	xs = slices.Compact(xs)
	xs = slices.DeleteFunc(xs, func(x int64) bool { return x < from || x > to })
	for some := range slices.Chunk(xs, 2*lanes) {
		if a.Question.Progress != nil {
			if err := a.Question.Progress(len(a.Curve), len(xs)); err != nil {
				return err
			}
		}
		points, err := g.AtAll(some)
		if err != nil {
			return err
		}
		for _, p := range points {
			a.Curve = append(a.Curve, CurvePoint{big.NewRat(p.X, 1), big.NewRat(p.T, 1), p.Left, p.Right})
		}
	}
	return nil
}

// rat returns the number.
func (f Fraction) rat() *big.Rat {
	r := big.NewRat(f.Num, f.Den)
	return r.Add(r, big.NewRat(f.Whole, 1))
}

// Share returns which part of T the critical path spends on latencies, in millionths, rounded half
// up: L*lambda_L/T, where there is one L.
func (a *Answers) Share() int64 {
	if a.T == 0 {
		return 0
	}
	millionths, _ := timesRatio(1_000_000, int64(a.Path.Profile.Latency), int64(a.T))
	return millionths
}

// Bound returns the largest T that a percentage of the question allows, in the unit of Point.T, and
// whether it fits.
func (a *Answers) Bound(percent int) (int64, bool) {
	return a.Question.Percents[percent].above(a.Given.T)
}
