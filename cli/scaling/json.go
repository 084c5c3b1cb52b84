package scaling

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"slackline/analyze/scaling"
	"slackline/cli/env"
	"slackline/cli/phrase"
)

// modelJSON is a model in the JSON output. The names and meanings of its members
// stay as they are: other programs rely on them.
type modelJSON struct {
	CallPath   string                  `json:"callpath"`
	Metric     string                  `json:"metric"`
	Lead       *scaling.Term           `json:"lead,omitempty"`
	Leads      map[string]scaling.Term `json:"leads,omitempty"`
	Form       string                  `json:"form,omitempty"`
	Formula    string                  `json:"formula"`
	AdjustedR2 *float64                `json:"adjusted_r2"`
	SMAPE      *float64                `json:"smape"`
	Confidence *float64                `json:"confidence"`
	Noise      string                  `json:"noise"`
	NoiseLevel *float64                `json:"noise_relative,omitempty"`
	Points     int                     `json:"points"`

	Verdict    string                  `json:"verdict,omitempty"` // inconclusive
	Reason     string                  `json:"reason,omitempty"`
	Rank       string                  `json:"rank,omitempty"`
	Delta      map[string]scaling.Term `json:"delta,omitempty"`
	Prediction *predictionJSON         `json:"prediction,omitempty"`
	Wall       *float64                `json:"wall,omitempty"`
	Segments   *segmentsJSON           `json:"segments,omitempty"`
	Outliers   []outlierJSON           `json:"outliers,omitempty"`
	Suggested  []suggestionJSON        `json:"suggestions,omitempty"`
	Others     []alternativeJSON       `json:"alternatives,omitempty"`
	Bootstrap  *bootstrapJSON          `json:"bootstrap,omitempty"`
}

type predictionJSON struct {
	At           map[string]float64 `json:"at"`
	Value        *float64           `json:"value"`
	Low          *float64           `json:"low"`
	High         *float64           `json:"high"`
	MeasuredLow  *float64           `json:"measured_low"`
	MeasuredHigh *float64           `json:"measured_high"`
}

type segmentsJSON struct {
	Ratio *float64      `json:"evidence_ratio"`
	Parts []segmentJSON `json:"parts"`
}

type segmentJSON struct {
	From    float64      `json:"from"`
	To      float64      `json:"to"`
	Lead    scaling.Term `json:"lead"`
	Formula string       `json:"formula"`
}

type outlierJSON struct {
	At    map[string]float64 `json:"at"`
	Value float64            `json:"value"`
	Sigma float64            `json:"sigma"`
	Of    string             `json:"of"` // point or repetition
}

type suggestionJSON struct {
	At        map[string]float64 `json:"at"`
	Gain      float64            `json:"gain_bits"`
	Spread    float64            `json:"relative_spread"`
	Predicted float64            `json:"predicted"`
	Repeat    bool               `json:"measured_before"`
}

type alternativeJSON struct {
	Leads  map[string]scaling.Term `json:"leads"`
	Form   string                  `json:"form"`
	Weight float64                 `json:"weight"`
}

type skippedJSON struct {
	CallPath string `json:"callpath"`
	Metric   string `json:"metric"`
	Reason   string `json:"reason"`
}

type rankedJSON struct {
	CallPath string   `json:"callpath"`
	Metric   string   `json:"metric"`
	Value    *float64 `json:"value"`
	Share    *float64 `json:"share"`
}

// mostAlternatives is how many other leads the JSON names.
const mostAlternatives = 3

// writeJSON writes one object with a line for each model: of thousands, indenting
// would take longer than finding them.
func (r *scalingReport) writeJSON(a *env.Env, w io.Writer) error {
	var models, skipped, ranking []any
	for i := range r.models {
		m := &r.models[i]
		if m.Err != nil {
			skipped = append(skipped, skippedJSON{m.Series.CallPath, m.Series.Metric, m.Err.Error()})
			continue
		}
		models = append(models, r.modelJSON(i))
	}
	if r.place != nil {
		for _, x := range scaling.Dominating(r.models, r.place) {
			ranking = append(ranking, rankedJSON{x.Fit.CallPath, x.Fit.Metric, phrase.Finite(x.Prediction.Value), phrase.Finite(x.Share)})
		}
	}
	var b bytes.Buffer
	b.WriteString("{\n")
	var err error
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // call paths have -> in them
	list := func(name string, entries []any) {
		fmt.Fprintf(&b, "  %q: [", name)
		for i, e := range entries {
			if i > 0 {
				b.Truncate(b.Len() - 1) // the end of line of the entry before
				b.WriteByte(',')
			}
			b.WriteString("\n    ")
			err = errors.Join(err, encoder.Encode(e))
		}
		b.WriteString("  ],\n")
	}
	list("models", models)
	if len(skipped) > 0 {
		list("skipped", skipped)
	}
	if len(ranking) > 0 {
		list("ranking", ranking)
	}
	if err != nil {
		return err
	}
	tail, err := json.MarshalIndent(r.provenance(a), "  ", "  ")
	if err != nil {
		return err
	}
	fmt.Fprintf(&b, "  \"provenance\": %s\n}\n", tail)
	_, err = b.WriteTo(w)
	return err
}

func (r *scalingReport) modelJSON(i int) modelJSON {
	m := &r.models[i]
	f := m.Fit
	j := modelJSON{
		CallPath: f.CallPath, Metric: f.Metric, Formula: f.Model.String(),
		AdjustedR2: phrase.Finite(f.AdjustedR2), SMAPE: phrase.Finite(f.SMAPE), Confidence: phrase.Finite(f.Confidence),
		Noise: f.Noise.Kind, Points: len(f.Values),
	}
	if f.Noise.Sigma > 0 {
		j.NoiseLevel = phrase.Finite(f.Noise.Sigma)
	}
	if len(f.Parameters) == 1 {
		j.Lead = &f.Leads[0]
	} else {
		j.Leads, j.Form = phrase.ByName(f.Parameters, f.Leads), f.Form.String()
	}
	if f.Doubt != "" {
		j.Verdict, j.Reason, j.Confidence = scaling.Inconclusive.String(), f.Doubt, nil
	}
	if r.expect != nil {
		rank, delta := r.compare(f)
		j.Rank, j.Delta = rank.String(), phrase.ByName(f.Parameters, delta)
	}
	if r.place != nil {
		j.Prediction = newPredictionJSON(f, r.place)
	}
	if r.options.budget.Given {
		j.Wall = phrase.Finite(r.wall(f))
	}
	if s := m.Segments; s != nil {
		j.Segments = &segmentsJSON{Ratio: phrase.Finite(s.Ratio)}
		for _, part := range []scaling.Segment{s.Lower, s.Upper} {
			j.Segments.Parts = append(j.Segments.Parts, segmentJSON{part.From, part.To, part.Lead, part.Model.String()})
		}
	}
	for _, o := range m.Outliers {
		of := "repetition"
		if o.Point {
			of = "point"
		}
		j.Outliers = append(j.Outliers, outlierJSON{phrase.ByName(f.Parameters, o.At), o.Value, o.Sigma, of})
	}
	if r.options.suggest {
		for _, s := range f.Suggest() {
			j.Suggested = append(j.Suggested, suggestionJSON{phrase.ByName(f.Parameters, s.At), s.Gain, s.Spread, s.Value, s.Repeat})
		}
	}
	j.Others = alternatives(f)
	if r.resampled != nil && r.resampled[i] != nil {
		j.Bootstrap = r.bootstrapJSON(f, r.resampled[i])
	}
	return j
}

// alternatives are the leads that the evidence leaves beside the chosen one.
func alternatives(f *scaling.Fit) []alternativeJSON {
	var list []alternativeJSON
	for _, g := range f.OtherLeads(mostAlternatives) {
		list = append(list, alternativeJSON{phrase.ByName(f.Parameters, g.Leads), g.Form.String(), g.Weight})
	}
	return list
}

func newPredictionJSON(f *scaling.Fit, at []float64) *predictionJSON {
	p := f.Predict(at...)
	return &predictionJSON{
		At: phrase.ByName(f.Parameters, at), Value: phrase.Finite(p.Value), Low: phrase.Finite(p.Low), High: phrase.Finite(p.High),
		MeasuredLow: phrase.Finite(p.MeasuredLow), MeasuredHigh: phrase.Finite(p.MeasuredHigh),
	}
}
