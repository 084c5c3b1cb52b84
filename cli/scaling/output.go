package scaling

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"slackline/analyze/scaling"
	"slackline/cli/env"
	"slackline/internal/phrase"
	"slackline/internal/table"
	"slackline/show/figures"
)

func (r *scalingReport) Rows(*env.Env) env.Rows { return r.table(true) }

// compare holds a model against --expect.
func (r *scalingReport) compare(f *scaling.Fit) (scaling.Rank, []scaling.Term) {
	rank := scaling.Total
	var delta []scaling.Term
	for i, name := range f.Parameters {
		expected := r.expect.Term(name)
		limit := scaling.DefaultLimit(expected)
		if r.limit != nil && r.limit.Mentions(name) {
			limit = r.limit.Term(name)
		}
		rank = min(rank, scaling.RankOf(f.Leads[i], expected, limit))
		delta = append(delta, scaling.Divergence(f.Leads[i], expected))
	}
	return rank, delta
}

// wall is where the budget ends.
func (r *scalingReport) wall(f *scaling.Fit) float64 {
	at := r.place
	if at == nil {
		at, _ = (&scaling.Target{Named: map[string]float64{}}).Place(r.data)
	}
	return f.Model.Wall(r.options.budget.Value, 0, at)
}

// table has a row for each model; exact gives all numbers for programs.
func (r *scalingReport) table(exact bool) *table.Table {
	columns := []string{"callpath=call path", "metric", "lead", ">confidence", ">adjusted_r2=adj. R2", ">smape_percent=error"}
	if exact {
		columns = append(columns, "noise")
	}
	if r.expect != nil {
		columns = append(columns, "rank", "divergence")
	}
	if r.place != nil {
		columns = append(columns, ">predicted=at "+figures.PlaceText(r.data.Parameters, r.place), "interval=90 % interval")
	}
	if r.options.budget.Given {
		title := "wall"
		if len(r.data.Parameters) > 1 {
			title += " in " + r.data.Parameters[0]
		}
		columns = append(columns, ">wall="+title)
	}
	if exact && r.resampled != nil {
		columns = append(columns, r.bootstrapColumns()...)
	}
	t := phrase.PathTable(append(columns, "model")...)
	for i := range r.models {
		if r.models[i].Err == nil {
			t.Add(r.row(i, exact)...)
		}
	}
	return t
}

// row are the cells of a model.
func (r *scalingReport) row(i int, exact bool) []any {
	f := r.models[i].Fit
	lead := f.Landau()
	confidence := phrase.NumberCell(f.Confidence, "%.2f")
	if f.Doubt != "" {
		confidence = table.Cell{Text: "-", Value: nil}
	}
	cells := []any{f.CallPath, f.Metric, lead, confidence, phrase.NumberCell(f.AdjustedR2, "%.3f"), errorCell(f.SMAPE)}
	if exact {
		cells = append(cells, f.Noise.Kind)
	}
	if r.expect != nil {
		rank, delta := r.compare(f)
		cells = append(cells, rank.String(), scaling.Landau(f.Parameters, delta, scaling.Product))
	}
	if r.place != nil {
		p := f.Predict(r.place...)
		cells = append(cells, phrase.NumberCell(p.Value, "%.4g"), phrase.Interval(p.Low, p.High))
	}
	if r.options.budget.Given {
		cells = append(cells, phrase.WallCell(r.wall(f)))
	}
	if exact && r.resampled != nil {
		cells = append(cells, r.bootstrapCells(i)...)
	}
	return append(cells, f.Model.String())
}

// errorCell is an error in per cent; what is only rounding is not shown.
func errorCell(percent float64) table.Cell {
	const rounding = 1e-9
	if percent >= 0 && percent < rounding {
		return table.Cell{Text: "0 %", Value: percent}
	}
	return phrase.NumberCell(percent, "%.2g %%")
}

// writeText writes the models as a table, and below what there is to say.
func (r *scalingReport) Text(a *env.Env, w io.Writer) {
	a.WriteText(w, r.table(false), true)
	if r.place != nil && len(r.models) > 1 {
		r.writeRanking(a, w)
	}
	if r.resampled != nil {
		r.writeBootstrap(a, w)
	}
	var lines []string
	for i := range r.models {
		if m := &r.models[i]; m.Err == nil {
			lines = append(lines, r.remarks(m)...)
		}
	}
	if len(lines) > 0 {
		fmt.Fprintf(w, "\n%s\n", strings.Join(lines, "\n"))
	}
}

// writeRanking writes what dominates at the target.
func (r *scalingReport) writeRanking(a *env.Env, w io.Writer) {
	fmt.Fprintf(w, "\n%s\n", a.Bold("What dominates at "+figures.PlaceText(r.data.Parameters, r.place)))
	t := phrase.PathTable("metric", ">share", ">predicted", "callpath=call path")
	ranked := scaling.Dominating(r.models, r.place)
	most := 10 // of a metric
	if ranked[0].Fit.Metric != ranked[len(ranked)-1].Fit.Metric {
		most = 5
	}
	shown := map[string]int{}
	for _, x := range ranked {
		if shown[x.Fit.Metric]++; shown[x.Fit.Metric] > most {
			continue
		}
		t.Add(x.Fit.Metric, phrase.NumberCell(100*x.Share, "%.1f %%"), phrase.NumberCell(x.Prediction.Value, "%.4g"), x.Fit.CallPath)
	}
	a.WriteText(w, t, true)
}

// severalMetrics reports whether call paths alone do not tell models apart.
func (r *scalingReport) severalMetrics() bool {
	return slices.ContainsFunc(r.models, func(m scaling.Modelled) bool { return m.Series.Metric != r.models[0].Series.Metric })
}

// remarks are the lines about one model.
func (r *scalingReport) remarks(m *scaling.Modelled) []string {
	f := m.Fit
	name := f.CallPath
	if r.severalMetrics() {
		name = m.Series.Name()
	}
	var lines []string
	say := func(format string, args ...any) {
		lines = append(lines, name+": "+fmt.Sprintf(format, args...))
	}
	if f.Doubt != "" {
		say("inconclusive: %s", f.Doubt)
	}
	if s := m.Segments; s != nil {
		say("two laws, evidence %.3g to 1: %s up to %s, %s from %s on", s.Ratio, s.Lower.Model.String(),
			figures.PlaceText(f.Parameters, []float64{s.Before}), s.Upper.Model.String(), figures.PlaceText(f.Parameters, []float64{s.After}))
	}
	for _, o := range m.Outliers {
		of := "a repetition"
		if o.Point {
			of = "the point"
		}
		say("outlier, not removed: %s at %s is %.6g, %.0f sigma off", of, figures.PlaceText(f.Parameters, o.At), o.Value, o.Sigma)
	}
	if r.options.suggest {
		for i, s := range f.Suggest() {
			again := ""
			if s.Repeat {
				again = " (more repetitions)"
			}
			say("worth measuring %d: %s%s: the hypotheses differ by %.2g %%, %.1f bits to learn", i+1, figures.PlaceText(f.Parameters, s.At), again,
				100*s.Spread, s.Gain)
		}
	}
	return lines
}
