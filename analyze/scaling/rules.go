package scaling

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"slackline/model/dataset"
)

// Rule says that some functions together take no longer than others:
// "Allreduce <= Reduce + Bcast", "2 * Reduce <= 3 Bcast".
type Rule struct {
	Text        string
	Left, Right []RuleTerm
	Metric      string
	Target      *Target
	Litmus      bool
	XFail       string
	Optional    bool
	Line        int
}

// RuleTerm is a function with a factor.
type RuleTerm struct {
	Factor   float64
	Function string
}

// RuleCheck is the result of a rule.
type RuleCheck struct {
	Outcome
	Rule      *Rule
	Metric    string
	Tolerance float64
	Violated  [][]float64 // points at which the rule is violated by what was measured
	Crossover float64     // from here on it is violated by the models, up to the horizon; NaN: it is not
	Horizon   float64
}

var factorPattern = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)\s*(?:\*\s*|\s)(.+)$`)

// parse reads the text of a rule.
func (r *Rule) parse(text string) error {
	r.Text = strings.TrimSpace(text)
	left, right, ok := strings.Cut(strings.ReplaceAll(text, "≤", "<="), "<=")
	if !ok || strings.Contains(right, "<=") {
		return fmt.Errorf("%q is not a rule; write e.g. Allreduce <= Reduce + Bcast", r.Text)
	}
	var err error
	if r.Left, err = ruleTerms(left); err == nil {
		r.Right, err = ruleTerms(right)
	}
	if err != nil {
		return fmt.Errorf("%q: %w", r.Text, err)
	}
	return nil
}

func ruleTerms(side string) ([]RuleTerm, error) {
	var terms []RuleTerm
	for _, part := range strings.Split(side, "+") {
		t := RuleTerm{1, strings.TrimSpace(part)}
		if m := factorPattern.FindStringSubmatch(t.Function); m != nil {
			v, err := strconv.ParseFloat(m[1], 64)
			if err != nil || v <= 0 {
				return nil, fmt.Errorf("the factor %s is not a number above 0", m[1])
			}
			t = RuleTerm{v, strings.TrimSpace(m[2])}
		}
		if t.Function == "" {
			return nil, fmt.Errorf("a function is missing beside + or <=")
		}
		terms = append(terms, t)
	}
	return terms, nil
}

// How rules are evaluated.
const (
	leastTolerance = 0.05
	horizonFactor  = 1024 // times the largest measured value, without a target
	gridPerOctave  = 8
	maxGrid        = 1 << 14
)

// ruleSide is one side of a rule with its models.
type ruleSide struct {
	terms []RuleTerm
	fits  []*Fit
}

func (s *ruleSide) predicted(x float64) float64 {
	sum := 0.0
	for i, f := range s.fits {
		sum += s.terms[i].Factor * f.Model.Eval(x)
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
		sum += s.terms[i].Factor * f.Values[j]
	}
	return sum, true
}

func (j *judge) rule(r *Rule) (*RuleCheck, error) {
	c := &RuleCheck{Outcome: Outcome{Litmus: r.Litmus, XFail: r.XFail, Line: r.Line}, Rule: r, Metric: r.Metric, Crossover: math.NaN()}
	left, right := &ruleSide{terms: r.Left}, &ruleSide{terms: r.Right}
	for _, side := range []*ruleSide{left, right} {
		for _, t := range side.terms {
			s, err := j.find(&c.Outcome, t.Function, r.Metric, r.Optional)
			if err != nil {
				return nil, err
			}
			if s == nil {
				c.Verdict, c.Reason = Skipped, t.Function+" is not in the data"
				return c, nil
			}
			if c.Metric == "" {
				c.Metric = s.Metric
			}
			f, err := j.fit(s)
			if err != nil {
				c.Verdict, c.Reason = Inconclusive, t.Function+": "+reasonOf(err)
				return c, nil
			}
			side.fits = append(side.fits, f)
		}
	}
	return c, c.evaluate(left, right)
}

// reasonOf is the text of an error without what it wraps.
func reasonOf(err error) string {
	text := err.Error()
	if errors.Is(err, ErrUnusable) {
		text = strings.TrimPrefix(text, ErrUnusable.Error()+": ")
	}
	return text
}

// fit returns the model of a series without further candidates; rules share them.
func (j *judge) fit(s *dataset.Series) (*Fit, error) {
	if f := j.fits[s]; f != nil {
		return f, nil
	}
	f, err := j.modeler.fit(s)
	if err == nil {
		if j.fits == nil {
			j.fits = map[*dataset.Series]*Fit{}
		}
		j.fits[s] = f
	}
	return f, err
}

// evaluate compares both sides where all was measured, and beyond.
func (c *RuleCheck) evaluate(left, right *ruleSide) error {
	variance, doubt := 0.0, ""
	for _, f := range slices.Concat(left.fits, right.fits) {
		variance += f.Variance
		if f.Doubt != "" {
			doubt = f.CallPath + ": " + f.Doubt
		}
	}
	c.Tolerance = max(leastTolerance, 3*math.Sqrt(variance))
	var places [][]float64
	last := false
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
	case last && len(places) > 0:
		c.Verdict = Fail
		c.Reason = fmt.Sprintf("violated at the largest measured point, %v", places[len(places)-1])
	case doubt != "":
		c.Verdict, c.Reason = Inconclusive, doubt
	case !math.IsNaN(c.Crossover):
		c.Verdict = Inconclusive
		c.Reason = fmt.Sprintf("holds where it was measured, but the models violate it from %.4g on", c.Crossover)
		if len(c.Violated) > 0 {
			c.Reason = fmt.Sprintf("violated at %d points, and by the models from %.4g on", len(c.Violated), c.Crossover)
		}
	case len(c.Violated) > 0:
		c.Verdict, c.Reason = Inconclusive, fmt.Sprintf("violated at %d points, but not at the largest", len(c.Violated))
	}
	return nil
}

// findCrossover finds the beginning of the last stretch, up to the horizon, on
// which the models violate the rule.
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
	begin := len(grid)
	for begin > 0 && violated(grid[begin-1]) {
		begin--
	}
	if begin == len(grid) {
		return nil
	}
	c.Crossover = grid[begin]
	if begin > 0 {
		good, bad := grid[begin-1], grid[begin]
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
