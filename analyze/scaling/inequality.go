package scaling

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"slackline/internal/phrase"
)

// inequality is the rule that some functions together take no longer than others:
// "Allreduce <= Reduce + Bcast", "2 * Reduce <= 3 Bcast".
var inequality = RuleKind{
	Name:    "rule",
	Short:   "an inequality between functions of an expectation file",
	Example: "Allreduce <= Reduce + Bcast",
	Explanation: "A rule compares sums of functions, with factors: Allreduce <= Reduce + Bcast. It fails if it is violated at the " +
		"largest measured point by more than the noise. It is inconclusive if it is violated at other points, by a value at the " +
		"largest point that is far off its model, too, or by the models later, up to the target or 1024 times the largest point; the crossover " +
		"is where that starts.",
	parse: parseSums,
}

// sums are the two sides of an inequality.
type sums struct{ left, right []ruleTerm }

// ruleTerm is a function with a factor.
type ruleTerm struct {
	factor   float64
	function string
}

var factorPattern = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)\s*(?:\*\s*|\s)(.+)$`)

func parseSums(text string) (ruleTest, error) {
	left, right, ok := strings.Cut(strings.ReplaceAll(text, "≤", "<="), "<=")
	if !ok || strings.Contains(right, "<=") {
		return nil, fmt.Errorf("%q is not a rule; write e.g. Allreduce <= Reduce + Bcast", text)
	}
	q := &sums{}
	var err error
	if q.left, err = ruleTerms(left); err == nil {
		q.right, err = ruleTerms(right)
	}
	if err != nil {
		return nil, fmt.Errorf("%q: %w", text, err)
	}
	if q.always() {
		return nil, fmt.Errorf("%q is true whatever the times are: all that stands before <= stands after it, too", text)
	}
	return q, nil
}

// always reports whether no value above 0 violates the inequality: the right side has at least as much of each function.
func (q *sums) always() bool {
	rest := map[string]float64{}
	for _, t := range q.left {
		rest[t.function] += t.factor
	}
	for _, t := range q.right {
		rest[t.function] -= t.factor
	}
	for _, more := range rest {
		if more > 0 {
			return false
		}
	}
	return true
}

func ruleTerms(side string) ([]ruleTerm, error) {
	var terms []ruleTerm
	for _, part := range strings.Split(side, "+") {
		t := ruleTerm{1, strings.TrimSpace(part)}
		if m := factorPattern.FindStringSubmatch(t.function); m != nil {
			v, err := strconv.ParseFloat(m[1], 64)
			if err != nil || v <= 0 {
				return nil, fmt.Errorf("the factor %s is not a number above 0", m[1])
			}
			t = ruleTerm{v, strings.TrimSpace(m[2])}
		}
		if t.function == "" {
			return nil, fmt.Errorf("a function is missing beside + or <=")
		}
		terms = append(terms, t)
	}
	return terms, nil
}

func (q *sums) functions() []string {
	var names []string
	for _, t := range slices.Concat(q.left, q.right) {
		names = append(names, t.function)
	}
	return names
}

// How inequalities are checked.
const (
	minTolerance  = 0.05
	horizonFactor = 1024 // times the largest measured value, without a target
	gridPerOctave = 8
	maxGrid       = 1 << 14
)

// ruleSide is one side of a rule with its models.
type ruleSide struct {
	terms []ruleTerm
	fits  []*Fit
}

func (s *ruleSide) predicted(x float64) float64 {
	sum := 0.0
	for i, f := range s.fits {
		sum += s.terms[i].factor * f.Model.Eval(x)
	}
	return sum
}

// measured returns the sum of the aggregates at a place, and whether all have one.
func (s *ruleSide) measured(at []float64) (float64, bool) {
	sum := 0.0
	for i, f := range s.fits {
		j := slices.IndexFunc(f.At, func(p []float64) bool { return slices.Equal(p, at) })
		if j < 0 {
			return 0, false
		}
		sum += s.terms[i].factor * f.Values[j]
	}
	return sum, true
}

// leaps reports whether the value of a function at a place is farther above its model (sign 1), or below (-1), than the noise explains.
func (s *ruleSide) leaps(at []float64, sign float64) bool {
	return slices.ContainsFunc(s.fits, func(f *Fit) bool {
		i := slices.IndexFunc(f.At, func(p []float64) bool { return slices.Equal(p, at) })
		return i >= 0 && sign*(f.Values[i]/f.Model.Eval(at...)-1) > outlierPoint*f.scatter()
	})
}

// check compares both sides where all was measured, and beyond.
func (q *sums) check(c *RuleCheck, fits []*Fit) error {
	left, right := &ruleSide{q.left, fits[:len(q.left)]}, &ruleSide{q.right, fits[len(q.left):]}
	variance, scatter, doubt := 0.0, 0.0, ""
	for _, f := range fits {
		variance += f.Variance
		scatter += f.scatter() * f.scatter()
		if f.Doubt != "" {
			doubt = f.CallPath + ": " + f.Doubt
		}
	}
	c.Tolerance = max(minTolerance, 3*math.Sqrt(variance))
	var places [][]float64
	last, leap := false, false
	for _, at := range left.fits[0].At {
		l, ok1 := left.measured(at)
		r, ok2 := right.measured(at)
		if !ok1 || !ok2 {
			continue
		}
		places = append(places, at)
		if last = l > (1+c.Tolerance)*r; last {
			c.Violated = append(c.Violated, at)
		}
		leap = !last && l > (1+max(minTolerance, 3*math.Sqrt(scatter)))*r && (left.leaps(at, 1) || right.leaps(at, -1))
	}
	if len(places) == 0 {
		c.Verdict, c.Reason = Inconclusive, "the functions have no point in common"
		return nil
	}
	one := len(left.fits[0].Parameters) == 1
	if one && doubt == "" {
		if err := c.findCrossover(left, right, places); err != nil {
			return err
		}
	}
	switch {
	case last:
		c.Verdict = Fail
		c.Reason = fmt.Sprintf("violated at the largest measured point, %v", places[len(places)-1])
	case leap:
		c.Verdict = Inconclusive
		c.Reason = fmt.Sprintf("violated at the largest measured point, %v, by more than the noise, but off the models, too: measure there "+
			"again, or beyond", places[len(places)-1])
	case doubt != "":
		c.Verdict, c.Reason = Inconclusive, doubt
	case !math.IsNaN(c.Crossover):
		c.Verdict = Inconclusive
		c.Reason = fmt.Sprintf("holds where it was measured, but the models violate it from %.4g on", c.Crossover)
		if len(c.Violated) > 0 {
			c.Reason = fmt.Sprintf("violated at %s, and by the models from %.4g on", phrase.Plural(len(c.Violated), "point"), c.Crossover)
		}
	case len(c.Violated) > 0:
		c.Verdict, c.Reason = Inconclusive, fmt.Sprintf("violated at %s, but not at the largest", phrase.Plural(len(c.Violated), "point"))
	}
	return nil
}

// findCrossover finds the start of the last interval, up to the horizon, in which the models violate the
// rule.
func (c *RuleCheck) findCrossover(left, right *ruleSide, places [][]float64) error {
	low, high := places[0][0], places[len(places)-1][0]
	c.Horizon = horizonFactor * high
	if c.Rule.Target != nil {
		at, err := c.Rule.Target.place(left.fits[0].Parameters, []float64{high})
		if err != nil {
			return err
		}
		c.Horizon = at[0]
	}
	violated := func(x float64) bool { return left.predicted(x)-(1+c.Tolerance)*right.predicted(x) > 0 }
	grid := []float64{}
	for k := range maxGrid {
		x := low * math.Exp2(float64(k)/gridPerOctave)
		if x >= c.Horizon {
			break
		}
		grid = append(grid, x)
	}
	grid = append(grid, c.Horizon)
	first := len(grid)
	for first > 0 && violated(grid[first-1]) {
		first--
	}
	if first == len(grid) {
		return nil
	}
	c.Crossover = grid[first]
	if first > 0 {
		good, bad := grid[first-1], grid[first]
		for range 60 {
			middle := good + (bad-good)/2
			if violated(middle) {
				bad = middle
			} else {
				good = middle
			}
		}
		c.Crossover = bad
	}
	return nil
}
