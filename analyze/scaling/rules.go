package scaling

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"slackline/internal/yamlfile"
	"slackline/model/dataset"
)

// RuleKind is a kind of rule between functions. A new one is a file with its parser and its check, and a
// line in ruleKinds: expectation files, messages, "explain" and all outputs follow from it.
type RuleKind struct {
	Name        string // its key in expectation files
	Short       string // what it is, in a few words
	Explanation string // when it fails, and when it is inconclusive
	Example     string // a rule of this kind

	parse func(text string) (ruleTest, error)
}

// ruleTest is a rule that was read.
type ruleTest interface {
	// functions lists the functions whose models it needs.
	functions() []string
	// check gives the verdict, from the models of the functions, in their order.
	check(c *RuleCheck, fits []*Fit) error
}

// ruleKinds are the kinds of rules. A rule that is only a text is of the first kind.
var ruleKinds = []RuleKind{
	inequality,
}

// RuleKinds returns the kinds of rules.
func RuleKinds() []RuleKind { return ruleKinds }

// Rule is a rule between functions.
type Rule struct {
	Entry
	Text string
	test ruleTest
}

// RuleCheck is the result of a rule.
type RuleCheck struct {
	Outcome
	Rule      *Rule
	Metric    string
	Tolerance float64
	Violated  [][]float64 // points at which the measured values violate the rule
	Crossover float64     // from here on, up to the horizon, the models violate it; NaN: they do not
	Horizon   float64
}

// ruleKeys are the keys of a rule in an expectation file: one of its kind, and those of all entries.
func ruleKeys() *yamlfile.Keys {
	keys := &yamlfile.Keys{Example: ruleKinds[0].Name + ": " + ruleKinds[0].Example}
	for _, k := range ruleKinds {
		keys.Names = append(keys.Names, k.Name)
	}
	keys.Names = append(keys.Names, entryKeys...)
	return keys
}

// rule reads a rule.
func (r *expectationReader) rule(n yamlfile.Node) *Rule {
	rule := &Rule{Entry: r.entry(n)}
	kind := ruleKinds[0]
	text, ok := n.Scalar()
	if !ok {
		given := 0
		for _, entry := range n.Mapping("a rule", ruleKeys()) {
			if i := slices.IndexFunc(ruleKinds, func(k RuleKind) bool { return k.Name == entry.Key }); i >= 0 {
				kind = ruleKinds[i]
				text, _ = entry.Value.Text(entry.Key)
				given++
			} else {
				rule.read(entry)
			}
		}
		if given > 1 {
			n.Errorf("an entry is one rule; split it into %d", given)
		}
	}
	rule.Text = strings.TrimSpace(text)
	var err error
	if rule.test, err = kind.parse(rule.Text); err != nil {
		n.Errorf("%v", err)
	}
	return rule
}

// rule judges a rule.
func (j *judge) rule(r *Rule) (*RuleCheck, error) {
	c := &RuleCheck{Outcome: r.outcome(), Rule: r, Metric: r.Metric, Crossover: math.NaN()}
	var fits []*Fit
	var series []*dataset.Series
	unit := ""
	for _, function := range r.test.functions() {
		s, err := j.find(&c.Outcome, function, c.Metric, r.Optional) // of the metric of the first one, if the rule names none
		if err != nil {
			return nil, err
		}
		if s == nil {
			c.Verdict, c.Reason = Skipped, function+" is not in the data"
			return c, nil
		}
		c.Metric = cmp.Or(c.Metric, s.Metric)
		if why := undecidable(s); why != "" {
			c.Verdict, c.Reason = Inconclusive, function+": "+why
			return c, nil
		}
		if unit = cmp.Or(unit, s.Unit); s.Unit != "" && s.Unit != unit {
			c.Verdict, c.Reason = Inconclusive, fmt.Sprintf("%s is in %s, another function in %s: they cannot be compared", function, s.Unit, unit)
			return c, nil
		}
		f, err := j.fit(s)
		if err != nil {
			c.Verdict, c.Reason = Inconclusive, function+": "+reasonOf(err)
			return c, nil
		}
		fits, series = append(fits, f), append(series, s)
	}
	if err := r.test.check(c, fits); err != nil {
		return nil, err
	}
	for _, s := range series {
		j.measured(&c.Outcome, s, r.Optional)
		j.everywhere(&c.Outcome, s)
	}
	return c, nil
}

// reasonOf is the text of an error without what it wraps.
func reasonOf(err error) string {
	text := err.Error()
	if errors.Is(err, ErrUnusable) {
		text = strings.TrimPrefix(text, ErrUnusable.Error()+": ")
	}
	return text
}

// keep remembers the model of a series for rules. The first one counts.
func (j *judge) keep(s *dataset.Series, f *Fit) {
	if j.fits == nil {
		j.fits = map[*dataset.Series]*Fit{}
	}
	if j.fits[s] == nil {
		j.fits[s] = f
	}
}

// fit returns the model of a series for rules, which share them: with the method evidence one without the candidates around
// an expectation, with that of the paper the one by which the expectation was judged.
func (j *judge) fit(s *dataset.Series) (*Fit, error) {
	if f := j.fits[s]; f != nil {
		return f, nil
	}
	f, err := j.modeler.fit(s)
	if err == nil {
		j.keep(s, f)
	}
	return f, err
}
