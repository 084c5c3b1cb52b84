package scaling

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"slackline/internal/plain"
	"slackline/internal/suggest"
	"slackline/model/dataset"
)

// Verdict is what a check comes to.
type Verdict int

// The verdicts, from the best.
const (
	Pass Verdict = iota
	Inconclusive
	Fail
	Skipped // not in the data, and not needed there
)

// String returns the word of the verdict in outputs.
func (v Verdict) String() string { return [...]string{"pass", "inconclusive", "fail", "skipped"}[v] }

// MarshalText returns the word.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// The weights of the evidence at which a verdict is given.
const (
	failAt  = 0.95 // beyond the limit: fail
	passAt  = 0.5  // less than this beyond the limit: pass
	floorAt = 0.5  // share of the time that no longer shrinks
)

// Outcome is what checks and rules have in common.
type Outcome struct {
	Verdict Verdict  `json:"-"`
	Reason  string   `json:"reason,omitempty"` // for people: why
	Notes   []string `json:"notes,omitempty"`  // e.g. that the litmus test fails as well
	Litmus  bool     `json:"litmus,omitempty"`
	XFail   string   `json:"xfail,omitempty"` // why a failure is expected; empty: none is
	Line    int      `json:"line,omitempty"`  // in the expectation file
}

// Counts returns the verdict as it counts for the whole: an expected failure as a
// pass, a litmus test and what was skipped not at all.
func (o *Outcome) Counts() Verdict {
	switch {
	case o.Litmus || o.Verdict == Skipped || o.XFail != "" && o.Verdict == Fail:
		return Pass
	}
	return o.Verdict
}

// UnexpectedPass reports whether a failure was expected but did not come.
func (o *Outcome) UnexpectedPass() bool { return o.XFail != "" && o.Verdict == Pass }

// Status is the verdict in one word, with what was expected of it.
func (o *Outcome) Status() string {
	switch {
	case o.UnexpectedPass():
		return "xpass"
	case o.XFail != "" && o.Verdict == Fail:
		return "xfail"
	}
	return o.Verdict.String()
}

// Check is the result of one expectation.
type Check struct {
	Outcome
	Function, Metric string
	CallPath         string // that the function was found at; empty: it is not in the data
	Expectation      *Expectation
	Fit              *Fit // nil if there is no model

	Rank        Rank
	Over, Under float64 // weight of the evidence beyond the limits
	Delta       []Term  // divergence by parameter
	Limits      []Term  // by parameter
	Floor       float64 // share of the constant at the largest point, for decreasing expectations; NaN: none

	Target     []float64   // nil: none
	Prediction *Prediction // at the target; nil: none
	Wall       float64     // NaN: none was asked for; see Model.Wall
	Stability  *Stability  // nil: the measurements were not resampled

	further  []Term // candidates around the expectation
	twoSided bool   // better than the lower limit is a failure too
}

// Report are the results of an expectation file on a dataset.
type Report struct {
	Checks  []*Check
	Rules   []*RuleCheck
	Verdict Verdict
}

// outcomes are all results in the order of the file.
func (r *Report) outcomes() []*Outcome {
	var list []*Outcome
	for _, c := range r.Checks {
		list = append(list, &c.Outcome)
	}
	for _, c := range r.Rules {
		list = append(list, &c.Outcome)
	}
	return list
}

// UnexpectedPasses counts the failures that were expected but did not come.
func (r *Report) UnexpectedPasses() int {
	n := 0
	for _, o := range r.outcomes() {
		if o.UnexpectedPass() {
			n++
		}
	}
	return n
}

// Judge holds a dataset against expectations. An error means that they cannot be
// checked at all: a name that the data do not have.
func Judge(e *Expectations, d *dataset.Dataset, o Options) (*Report, error) {
	if o.Method == Paper && len(o.Only) == 0 {
		o.Only = o.Space.Only // of rules
	}
	m, err := newModeler(d.Parameters, o)
	if err != nil {
		return nil, err
	}
	j := &judge{modeler: m, data: d, file: e.File}
	r := &Report{}
	for _, x := range e.Checks {
		c, err := j.check(x)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", e.File, x.Line, err)
		}
		r.Checks = append(r.Checks, c)
	}
	for _, x := range e.Rules {
		c, err := j.rule(x)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", e.File, x.Line, err)
		}
		r.Rules = append(r.Rules, c)
	}
	r.conclude()
	return r, nil
}

// conclude gives the verdict of the whole and the notes that need it.
func (r *Report) conclude() {
	litmus, counted := false, false
	for _, o := range r.outcomes() {
		litmus = litmus || o.Litmus && o.Verdict != Pass && o.Verdict != Skipped
		counted = counted || o.Verdict != Skipped && !o.Litmus
		r.Verdict = max(r.Verdict, o.Counts())
	}
	if !counted {
		r.Verdict = Inconclusive // nothing was checked that counts
	}
	for _, o := range r.outcomes() {
		if litmus && !o.Litmus && o.Verdict == Fail {
			o.Notes = append(o.Notes, NotePlatform)
		}
	}
}

// NotePlatform marks failures that the litmus test shares.
const NotePlatform = "platform: the litmus test fails as well"

type judge struct {
	modeler *Modeler
	data    *dataset.Dataset
	file    string
	fits    map[*dataset.Series]*Fit // of rules
	all     []string                 // places of all series; nil: not known yet
}

// find returns the series of a function, nil if it is missing and may be. If the name fits several call paths, it is the
// first, and a note of o names it.
func (j *judge) find(o *Outcome, function, metric string, optional bool) (*dataset.Series, error) {
	all := j.data.FindAll(function, metric)
	if len(all) == 0 && optional {
		return nil, nil
	}
	if len(all) > 0 {
		s := all[0]
		if len(all) > 1 && s.CallPath != function {
			o.Notes = append(o.Notes, fmt.Sprintf("%s fits %d call paths; checked is %s", function, len(all), s.CallPath))
		}
		return s, nil
	}
	if any := j.data.Find(function, ""); any != nil && metric != "" {
		var metrics []string
		for _, s := range j.data.Series {
			if s.CallPath == any.CallPath {
				metrics = append(metrics, s.Metric)
			}
		}
		return nil, fmt.Errorf("the data have no metric %s of %s, only %s", plain.Name(metric), plain.Name(function), strings.Join(metrics, ", "))
	}
	return nil, fmt.Errorf("the data have no function %s%s (set \"optional: true\" if it may be missing)", plain.Name(function),
		suggest.Phrase(function, j.data.Functions()))
}

// undecidable says why no verdict can be given on a series; empty: it can.
func undecidable(s *dataset.Series) string {
	if why := s.Doubt(); why != "" {
		return why
	}
	if unmeasured(s) {
		return reasonUnmeasured
	}
	return ""
}

// unmeasured reports whether a time is above 0 nowhere: it would be constant, which is within every limit.
func unmeasured(s *dataset.Series) bool {
	above := func(p dataset.Point) bool {
		return slices.ContainsFunc(p.Values, func(v float64) bool { return v > 0 })
	}
	return dataset.IsDuration(s.Metric, s.Unit) && !slices.ContainsFunc(s.Points, above)
}

const reasonUnmeasured = "no value is above 0: nothing was measured"

func (j *judge) check(x *Expectation) (*Check, error) {
	c := &Check{
		Outcome: x.outcome(), Function: x.Function, Metric: x.Metric, Expectation: x,
		Floor: math.NaN(), Wall: math.NaN(), twoSided: x.Expect.Tight || j.modeler.options.TwoSided,
	}
	for _, e := range []*Expression{x.Expect, x.Limit} {
		if e != nil {
			if err := e.Check(j.data.Parameters); err != nil {
				return nil, err
			}
		}
	}
	s, err := j.find(&c.Outcome, x.Function, x.Metric, x.Optional)
	if err != nil {
		return nil, err
	}
	if s == nil {
		c.Verdict, c.Reason = Skipped, "not in the data"
		return c, nil
	}
	c.CallPath, c.Metric = s.CallPath, s.Metric
	if why := undecidable(s); why != "" {
		c.Verdict, c.Reason = Inconclusive, why
		return c, nil
	}
	if len(j.data.Parameters) == 1 {
		space := x.Space
		if space.isZero() {
			space = j.modeler.options.Space
		}
		c.further = space.Around(x.Expect.Term(j.data.Parameters[0]))
	}
	if c.Fit, err = j.modeler.fitWith(s, c.further); err != nil {
		c.Verdict, c.Reason = Inconclusive, strings.TrimPrefix(err.Error(), ErrUnusable.Error()+": ")
		return c, nil
	}
	if j.modeler.options.Method == Paper {
		j.keep(s, c.Fit)
	}
	if err := c.limits(); err != nil {
		return nil, err
	}
	c.weigh()
	if err := c.predict(); err != nil {
		return nil, err
	}
	c.judge()
	if c.Verdict == Pass && !math.IsNaN(c.Fit.Confidence) {
		why := j.turned(c, s)
		if why == "" && !x.larger && c.Under >= passAt && dataset.LargerIsBetter(s.Metric, s.Unit) {
			why = fmt.Sprintf("%.4g %% of the evidence is below the lower limit of %s, which bounds growth only, and of this metric less is worse: "+
				"expect Theta(...)", 100*c.Under, x.Expect.Text)
		}
		if why != "" {
			c.Verdict, c.Reason = Inconclusive, why
		}
	}
	j.measured(&c.Outcome, s, x.Optional)
	j.everywhere(&c.Outcome, s)
	return c, nil
}

// limits finds the deviation that is allowed for each parameter: what the file
// gives for it, else the default.
func (c *Check) limits() error {
	x := c.Expectation
	for _, name := range c.Fit.Parameters {
		limit := DefaultLimit(x.Expect.Term(name))
		if x.Limit != nil && x.Limit.Mentions(name) {
			limit = x.Limit.Term(name)
		}
		if limit.growth() < 0 {
			return fmt.Errorf("the limit %q decreases; give one that grows, or 1", x.Limit.Text)
		}
		c.Limits = append(c.Limits, limit)
	}
	return nil
}

// rank returns the rank of lead terms: the worst of the parameters.
func (c *Check) rank(leads []Term) Rank {
	ranks := make([]Rank, len(leads))
	for i, lead := range leads {
		ranks[i] = RankOf(lead, c.Expectation.Expect.Term(c.Fit.Parameters[i]), c.Limits[i])
	}
	return slices.Min(ranks)
}

// weigh finds the rank of the model, and the weight of what lies beyond the limits.
func (c *Check) weigh() {
	c.Rank = c.rank(c.Fit.Leads)
	for i, name := range c.Fit.Parameters {
		c.Delta = append(c.Delta, Divergence(c.Fit.Leads[i], c.Expectation.Expect.Term(name)))
	}
	groups := c.Fit.Groups
	if len(groups) == 0 { // the method chooses one model and weighs none
		groups = []Weighted{{Leads: c.Fit.Leads, Weight: 1}}
	}
	for _, g := range groups {
		switch c.rank(g.Leads) {
		case NoMatch:
			c.Over += g.Weight
		case Better:
			c.Under += g.Weight
		}
	}
	c.Over, c.Under = min(c.Over, 1), min(c.Under, 1)
	decreases := func(name string) bool { return c.Expectation.Expect.Term(name).growth() < 0 }
	if c.Fit.Form != Constant && slices.ContainsFunc(c.Fit.Parameters, decreases) {
		c.Floor = c.Fit.Model.constant() / c.Fit.Model.Eval(c.Fit.sample.largest()...)
	}
}

// predict looks at the target and at the budget.
func (c *Check) predict() error {
	x := c.Expectation
	at := c.Fit.sample.largest()
	if x.Target != nil {
		place, err := x.Target.place(c.Fit.Parameters, at)
		if err != nil {
			return err
		}
		p := c.Fit.Predict(place...)
		c.Target, c.Prediction, at = place, &p, place
	}
	if x.Max != nil {
		c.Wall = c.Fit.Model.Wall(*x.Max, 0, at)
	}
	return nil
}

// place returns the target as a place; parameters that it does not name have
// their largest measured value.
func (t *Target) place(parameters []string, largest []float64) ([]float64, error) {
	if len(parameters) == 0 {
		return nil, errNoParameter
	}
	place := append([]float64{}, largest...)
	if t.Named == nil {
		place[0] = t.Value
		return place, nil
	}
	used := 0
	for i, name := range parameters {
		if v, ok := t.Named[name]; ok {
			place[i] = v
			used++
		}
	}
	if used != len(t.Named) {
		return nil, fmt.Errorf("the target names a parameter that the data do not have; they have %s", strings.Join(parameters, ", "))
	}
	return place, nil
}

// judge gives the verdict.
func (c *Check) judge() {
	x := c.Expectation
	bad, beyond, below := c.Over, "beyond the limit", "below the lower limit of "+x.Expect.Text
	switch {
	case x.larger:
		bad, beyond = c.Under, below
	case c.twoSided:
		bad += c.Under
		if c.Under > c.Over {
			beyond = below
		}
	}
	percent := 100 * bad
	evidence := fmt.Sprintf("%.4g %% of the evidence is %s", percent, beyond)
	if math.IsNaN(c.Fit.Confidence) {
		evidence = "the model is " + beyond
	}
	switch {
	case c.Fit.Doubt != "":
		c.Verdict, c.Reason = Inconclusive, c.Fit.Doubt
	case c.Prediction != nil && x.Max != nil && !(c.Prediction.Value <= *x.Max):
		c.Verdict = Fail
		c.Reason = fmt.Sprintf("%.6g is predicted at the target, more than %.6g", c.Prediction.Value, *x.Max)
	case c.Floor >= floorAt && !x.floorKnown:
		c.Verdict = Fail
		c.Reason = fmt.Sprintf("%.0f %% of the value at the largest point no longer shrinks", 100*c.Floor)
	case bad >= failAt:
		c.Verdict, c.Reason = Fail, evidence
	case bad < passAt && c.fastest():
		c.Verdict = Inconclusive
		c.Reason = "the fastest growth that was looked for fits best; the data may grow faster than the limit: --space paper looks further"
	case bad < passAt:
		c.Verdict = Pass
		if math.IsNaN(c.Fit.Confidence) { // the method of the paper
			break
		}
		if why := c.Fit.leaps(c.Limits, !x.larger, x.larger || c.twoSided); why != "" {
			c.Verdict, c.Reason = Inconclusive, why
		}
	default:
		c.Verdict, c.Reason = Inconclusive, fmt.Sprintf("%.0f %% of the evidence is %s: too little to fail, too much to pass", percent, beyond)
	}
}

// fastest reports whether the one model that was chosen, by a method that weighs none, is the largest of its candidates: what the data do
// beyond it was not looked at. A model with that lead fits data that grow faster, too, better than the others do.
func (c *Check) fastest() bool {
	n := len(c.further)
	return math.IsNaN(c.Fit.Confidence) && n > 0 && c.Fit.Form != Constant && c.Fit.Leads[0] == c.further[n-1]
}
