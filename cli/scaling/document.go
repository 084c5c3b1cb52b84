package scaling

import (
	"math"

	"slackline/analyze/scaling"
	"slackline/cli/env"
	"slackline/internal/phrase"
	"slackline/internal/provenance"
)

type document struct {
	Models     []model            `json:"models"`
	Skipped    []skipped          `json:"skipped,omitempty"`
	Ranking    []ranked           `json:"ranking,omitempty"` // what dominates at the target
	Provenance *provenance.Record `json:"provenance"`
}

// model is a model. The names and meanings of its members stay as they are: other programs rely on them.
type model struct {
	CallPath   string          `json:"callpath"`
	Metric     string          `json:"metric"`
	Lead       *scaling.Term   `json:"lead,omitempty"`  // with one parameter
	Leads      byParameter     `json:"leads,omitempty"` // with several
	Form       string          `json:"form,omitempty"`
	Formula    *scaling.Model  `json:"formula"`
	AdjustedR2 float64         `json:"adjusted_r2" nan:"null"`
	SMAPE      float64         `json:"smape" nan:"null"`
	Confidence float64         `json:"confidence" nan:"null"`
	Noise      string          `json:"noise"`
	NoiseLevel *float64        `json:"noise_relative,omitempty"`
	Points     int             `json:"points"`
	Verdict    string          `json:"verdict,omitempty"` // inconclusive
	Reason     string          `json:"reason,omitempty"`
	Rank       string          `json:"rank,omitempty"`
	Delta      byParameter     `json:"delta,omitempty"`
	Prediction *prediction     `json:"prediction,omitempty"`
	Wall       *float64        `json:"wall,omitempty"`
	Segments   *segments       `json:"segments,omitempty"`
	Outliers   []outlier       `json:"outliers,omitempty"`
	Suggested  []suggestion    `json:"suggestions,omitempty"`
	Others     []alternative   `json:"alternatives,omitempty"`
	Bootstrap  *bootstrapModel `json:"bootstrap,omitempty"`
}

// byParameter are terms by the names of the parameters.
type byParameter = map[string]scaling.Term

// place is where in the space of parameters something is.
type place struct {
	At map[string]float64 `json:"at"`
}

type prediction struct {
	place
	scaling.Prediction
}

type segments struct {
	Ratio float64           `json:"evidence_ratio" nan:"null"`
	Parts []scaling.Segment `json:"parts"`
}

type outlier struct {
	place
	scaling.Outlier
	Of string `json:"of"` // point or repetition
}

type suggestion struct {
	place
	scaling.Suggestion
}

type alternative struct {
	Leads byParameter `json:"leads"`
	scaling.Weighted
}

type skipped struct {
	CallPath string `json:"callpath"`
	Metric   string `json:"metric"`
	Reason   string `json:"reason"`
}

type ranked struct {
	CallPath string  `json:"callpath"`
	Metric   string  `json:"metric"`
	Value    float64 `json:"value" nan:"null"`
	Share    float64 `json:"share" nan:"null"`
}

// bootstrapModel is what resampling finds about a model.
type bootstrapModel struct {
	Resamples   int         `json:"resamples"`
	Failed      int         `json:"failed,omitempty"`
	Drawn       string      `json:"drawn"`
	Same        float64     `json:"same_lead"`
	Leads       []leadShare `json:"leads"`
	LeadLow     byParameter `json:"lead_low"`
	LeadHigh    byParameter `json:"lead_high"`
	Coefficient interval    `json:"coefficient"`
	Prediction  *interval   `json:"prediction,omitempty"`
}

type leadShare struct {
	Leads byParameter `json:"leads"`
	scaling.LeadShare
}

// interval is a value with where 95 % of the resamples are.
type interval struct {
	Value float64 `json:"value" nan:"null"`
	scaling.Interval
}

// mostAlternatives is how many other leads the document names.
const mostAlternatives = 3

func (r *scalingReport) JSON(a *env.Env) (any, error) {
	d := &document{Provenance: r.provenance(a)}
	for i := range r.models {
		m := &r.models[i]
		if m.Err != nil {
			d.Skipped = append(d.Skipped, skipped{m.Series.CallPath, m.Series.Metric, m.Err.Error()})
			continue
		}
		d.Models = append(d.Models, r.modelOf(i))
	}
	if r.place != nil {
		for _, x := range scaling.Dominating(r.models, r.place) {
			d.Ranking = append(d.Ranking, ranked{x.Fit.CallPath, x.Fit.Metric, x.Prediction.Value, x.Share})
		}
	}
	return d, nil
}

func (r *scalingReport) modelOf(i int) model {
	m := &r.models[i]
	f := m.Fit
	named := func(terms []scaling.Term) byParameter { return phrase.ByName(f.Parameters, terms) }
	at := func(values []float64) place { return place{phrase.ByName(f.Parameters, values)} }
	j := model{
		CallPath: f.CallPath, Metric: f.Metric, Formula: &f.Model, AdjustedR2: f.AdjustedR2, SMAPE: f.SMAPE, Confidence: f.Confidence,
		Noise: f.Noise.Kind, Points: len(f.Values),
	}
	if f.Noise.Sigma > 0 {
		j.NoiseLevel = phrase.Finite(f.Noise.Sigma)
	}
	if len(f.Parameters) == 1 {
		j.Lead = &f.Leads[0]
	} else {
		j.Leads, j.Form = named(f.Leads), f.Form.String()
	}
	if f.Doubt != "" {
		j.Verdict, j.Reason, j.Confidence = scaling.Inconclusive.String(), f.Doubt, math.NaN()
	}
	if r.expect != nil {
		rank, delta := r.compare(f)
		j.Rank, j.Delta = rank.String(), named(delta)
	}
	if r.place != nil {
		j.Prediction = &prediction{at(r.place), f.Predict(r.place...)}
	}
	if r.options.budget.Given {
		j.Wall = phrase.Finite(r.wall(f))
	}
	if s := m.Segments; s != nil {
		j.Segments = &segments{s.Ratio, []scaling.Segment{s.Lower, s.Upper}}
	}
	for _, o := range m.Outliers {
		of := "repetition"
		if o.Point {
			of = "point"
		}
		j.Outliers = append(j.Outliers, outlier{at(o.At), o, of})
	}
	if r.options.suggest {
		for _, s := range f.Suggest() {
			j.Suggested = append(j.Suggested, suggestion{at(s.At), s})
		}
	}
	for _, g := range f.OtherLeads(mostAlternatives) {
		j.Others = append(j.Others, alternative{named(g.Leads), g})
	}
	if r.resampled == nil || r.resampled[i] == nil {
		return j
	}
	b := r.resampled[i]
	j.Bootstrap = &bootstrapModel{
		Resamples: b.Resamples, Failed: b.Failed, Drawn: b.Drawn, Same: b.Same,
		LeadLow: named(b.LeadLow), LeadHigh: named(b.LeadHigh), Coefficient: interval{b.Coefficient, b.Interval},
	}
	for _, l := range b.Leads {
		j.Bootstrap.Leads = append(j.Bootstrap.Leads, leadShare{named(l.Leads), l})
	}
	if r.place != nil {
		j.Bootstrap.Prediction = &interval{f.Model.Eval(r.place...), b.Predict(r.place...)}
	}
	return j
}
