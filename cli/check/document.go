package check

import (
	"math"

	"slackline/analyze/scaling"
	"slackline/cli/env"
	"slackline/internal/phrase"
	"slackline/internal/provenance"
)

// document is the result for programs. The names and meanings of its members stay as they are: other programs rely on them.
type document struct {
	Verdict    scaling.Verdict    `json:"verdict"`
	Checks     []checked          `json:"checks"`
	Rules      []checkedRule      `json:"rules"`
	Baseline   []checkedBaseline  `json:"baseline,omitempty"`
	Datasets   []labeled          `json:"datasets,omitempty"` // with labels, instead of the members above
	Provenance *provenance.Record `json:"provenance,omitempty"`
}

type labeled struct {
	Label string `json:"label"`
	document
}

type checked struct {
	Function   string                  `json:"function"`
	CallPath   string                  `json:"callpath,omitempty"` // that was checked
	Metric     string                  `json:"metric"`
	Expect     string                  `json:"expect"`
	Formula    *scaling.Model          `json:"formula"`
	Rank       *scaling.Rank           `json:"rank"`
	Verdict    scaling.Verdict         `json:"verdict"`
	Status     string                  `json:"status"`
	Over       float64                 `json:"over"`
	Under      float64                 `json:"under"`
	Delta      map[string]scaling.Term `json:"delta"`
	Floor      float64                 `json:"floor" nan:"null"`
	Prediction *float64                `json:"prediction"`
	Interval   []*float64              `json:"interval,omitempty"`
	Wall       float64                 `json:"wall" nan:"null"`
	Confidence float64                 `json:"confidence" nan:"null"`
	AdjustedR2 float64                 `json:"adjusted_r2" nan:"null"`
	scaling.Outcome
	Bootstrap *stability `json:"bootstrap,omitempty"`
}

// stability are the shares of resamples by verdict.
type stability struct {
	Resamples    int     `json:"resamples"`
	Same         float64 `json:"same_verdict"`
	Pass         float64 `json:"pass"`
	Inconclusive float64 `json:"inconclusive"`
	Fail         float64 `json:"fail"`
}

type checkedRule struct {
	Rule      string          `json:"rule"`
	Verdict   scaling.Verdict `json:"verdict"`
	Status    string          `json:"status"`
	Crossover float64         `json:"crossover" nan:"null"`
	Tolerance float64         `json:"tolerance" nan:"null"`
	Violated  []any           `json:"violated_at"` // values of the parameter, or lists of them
	Horizon   float64         `json:"horizon,omitempty"`
	scaling.Outcome
}

type checkedBaseline struct {
	checked
	Law    scaling.Verdict `json:"law_verdict"`
	Before string          `json:"baseline_formula"`
	Ratio  float64         `json:"ratio" nan:"null"`
	Low    float64         `json:"ratio_low" nan:"null"`
	High   float64         `json:"ratio_high" nan:"null"`
	Common int             `json:"common_points"`
}

func (r *Report) JSON(a *env.Env) (any, error) {
	d := &document{}
	if len(r.columns) == 1 && r.columns[0].label == "" {
		*d = newDocument(&r.columns[0])
	} else {
		for i := range r.columns {
			d.Datasets = append(d.Datasets, labeled{r.columns[i].label, newDocument(&r.columns[i])})
		}
	}
	d.Verdict, d.Provenance = r.verdict(), a.Record(r.Records...)
	if r.options.bootstrap.Times > 0 {
		d.Provenance.Seed = &r.options.bootstrap.Seed
	}
	return d, nil
}

func newDocument(c *checkColumn) document {
	d := document{Verdict: c.report.Verdict}
	for _, x := range c.report.Checks {
		d.Checks = append(d.Checks, newChecked(x))
	}
	for _, x := range c.report.Rules {
		d.Rules = append(d.Rules, newCheckedRule(x))
	}
	if c.baseline != nil {
		d.Verdict = max(d.Verdict, c.baseline.Verdict)
		for _, x := range c.baseline.Rows {
			d.Baseline = append(d.Baseline, checkedBaseline{newChecked(&x.Check), x.Law, x.Before, x.Ratio, x.Low, x.High, x.Common})
		}
	}
	return d
}

func newChecked(c *scaling.Check) checked {
	j := checked{
		Function: c.Function, CallPath: c.CallPath, Metric: c.Metric, Expect: c.Expectation.Expect.Text, Verdict: c.Verdict, Status: c.Status(),
		Over: c.Over, Under: c.Under, Floor: c.Floor, Wall: c.Wall, Confidence: math.NaN(), AdjustedR2: math.NaN(), Outcome: c.Outcome,
	}
	if s := c.Stability; s != nil {
		j.Bootstrap = &stability{s.Resamples, s.Share(c.Verdict), s.Share(scaling.Pass), s.Share(scaling.Inconclusive), s.Share(scaling.Fail)}
	}
	if f := c.Fit; f != nil {
		j.Formula, j.Rank, j.Delta = &f.Model, &c.Rank, phrase.ByName(f.Parameters, c.Delta)
		j.Confidence, j.AdjustedR2 = f.Confidence, f.AdjustedR2
	}
	if c.Prediction != nil {
		j.Prediction = phrase.Finite(c.Prediction.Value)
		j.Interval = []*float64{phrase.Finite(c.Prediction.Low), phrase.Finite(c.Prediction.High)}
	}
	return j
}

func newCheckedRule(c *scaling.RuleCheck) checkedRule {
	j := checkedRule{Rule: c.Rule.Text, Verdict: c.Verdict, Status: c.Status(), Crossover: c.Crossover, Tolerance: c.Tolerance,
		Outcome: c.Outcome}
	if c.Horizon > 0 && !math.IsInf(c.Horizon, 1) {
		j.Horizon = c.Horizon
	}
	for _, at := range c.Violated {
		if len(at) == 1 {
			j.Violated = append(j.Violated, at[0])
		} else {
			j.Violated = append(j.Violated, at)
		}
	}
	return j
}
