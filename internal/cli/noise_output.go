package cli

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"slackline/internal/provenance"
	"slackline/internal/table"
	"slackline/model/noise"
	"slackline/model/unit"
	"slackline/show/plot"
)

// noiseReport is what is known of noise, with everything that its output names.
type noiseReport struct {
	input   *noiseInput
	seed    uint64
	detours *noise.Detours
	stats   noise.Statistics
}

func (r *noiseReport) write(a *app, w io.Writer, format string) error {
	switch format {
	case formatJSON:
		return writeJSONObject(w, r.json(a))
	case formatCSV:
		return r.table().WriteCSV(w)
	}
	return r.writeText(a, w)
}

// title says what was measured.
func (r *noiseReport) title() string {
	return fmt.Sprintf("%s: %s in %s%s", r.input.title(), plural(r.detours.Len(), "detour"), r.stats.Period.Short(), r.input.seeded(r.seed))
}

func (r *noiseReport) writeText(a *app, w io.Writer) error {
	s := &r.stats
	if _, err := fmt.Fprintf(w, "%s\n\n", r.title()); err != nil {
		return err
	}
	if s.Count == 0 {
		_, err := fmt.Fprintln(w, "no noise")
		return err
	}
	tables := []*table.Table{r.lengthTable()}
	if largest := r.largestTable(); largest.Len() > 0 {
		tables = append(tables, largest)
	}
	tables = append(tables, r.sourceTable())
	if err := a.writeText(w, r.summary(), false); err != nil {
		return err
	}
	for _, t := range tables {
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
		if err := a.writeText(w, t, true); err != nil {
			return err
		}
	}
	return nil
}

// summary are the figures of the whole trace.
func (r *noiseReport) summary() *table.Table {
	s := &r.stats
	t := table.New(table.Column{Key: "what"}, table.Column{Key: "value", Align: table.Right}, table.Column{Key: "remark"})
	t.Add("serial overhead", percentCell(s.OverheadPercent).Text, fmt.Sprintf("%s of %s are noise", s.Noise.Short(), s.Period.Short()))
	stretches := grouped(s.Count) + " stretches"
	if s.Count == 1 {
		stretches = "1 stretch"
	}
	t.Add("rate", rateCell(s.RatePerSecond).Text, stretches+" of noise in a period")
	return t
}

func rightColumns(keys ...string) []table.Column {
	columns := make([]table.Column, len(keys))
	for i, key := range keys {
		columns[i] = table.Column{Key: key, Align: table.Right}
	}
	return columns
}

// mean is the mean length, rounded to picoseconds.
func (r *noiseReport) mean() unit.Duration { return unit.Duration(math.Round(r.stats.Mean)) }

func (r *noiseReport) lengthTable() *table.Table {
	s := &r.stats
	t := table.New(append([]table.Column{{Key: "stretch"}}, rightColumns("min", "q1", "median", "q3", "p99", "max", "mean")...)...)
	t.Add("length", s.Min.Short(), s.Q1.Short(), s.Median.Short(), s.Q3.Short(), s.P99.Short(), s.Max.Short(), r.mean().Short())
	return t
}

// largestTable says what the longest stretches carry. Shares that are less than one
// stretch are left to the other forms.
func (r *noiseReport) largestTable() *table.Table {
	t := table.New(append([]table.Column{{Key: "the longest"}}, rightColumns("stretches", "at least", "of the noise")...)...)
	for _, l := range r.stats.Largest {
		if float64(r.stats.Count)*l.Percent < 100 {
			continue
		}
		t.Add(shareName(l), grouped(l.Count), l.AtLeast.Short(), percentCell(l.NoisePercent).Text)
	}
	return t
}

// shareName names the longest stretches by how many of all they are.
func shareName(l noise.Share) string { return strconv.FormatFloat(l.Percent, 'g', -1, 64) + " %" }

func (r *noiseReport) sourceTable() *table.Table {
	t := table.New(append([]table.Column{{Key: "source"}}, rightColumns("detours", "rate", "longest", "overhead", "of the noise")...)...)
	for _, s := range r.stats.Sources {
		t.Add(s.Label, grouped(s.Count), rateCell(r.rate(s.Count)).Text, s.Longest.Short(),
			percentCell(s.OverheadPercent).Text, percentCell(s.NoisePercent).Text)
	}
	return t
}

// rate is how many there are in a second if there are this many in a period.
func (r *noiseReport) rate(count int) float64 {
	return float64(count) / (float64(r.stats.Period) / float64(unit.Second))
}

// table is the table for programs: a line for the whole, one for each share of the
// longest stretches, one for each source.
func (r *noiseReport) table() *table.Table {
	var columns []table.Column
	for _, key := range []string{
		"kind", "name", "count", "rate_per_second", "noise_ns", "overhead_percent", "noise_percent",
		"min_ns", "q1_ns", "median_ns", "q3_ns", "p99_ns", "max_ns", "mean_ns",
	} {
		columns = append(columns, table.Column{Key: key})
	}
	t := table.New(columns...)
	s := &r.stats
	ns := func(d unit.Duration) any { return number(d.NS()) }
	all := 0
	if s.Count > 0 {
		all = 100
	}
	t.Add("total", r.input.title(), s.Count, s.RatePerSecond, ns(s.Noise), s.OverheadPercent, all,
		ns(s.Min), ns(s.Q1), ns(s.Median), ns(s.Q3), ns(s.P99), ns(s.Max), ns(r.mean()))
	for _, l := range s.Largest {
		t.Add("longest", shareName(l), l.Count, nil, nil, nil, l.NoisePercent, ns(l.AtLeast), nil, nil, nil, nil, ns(s.Max), nil)
	}
	for _, x := range s.Sources {
		t.Add("source", x.Label, x.Count, r.rate(x.Count), ns(x.Noise), x.OverheadPercent, x.NoisePercent, nil, nil, nil, nil, nil, ns(x.Longest), nil)
	}
	return t
}

// noiseJSON are the members of the JSON output.
type noiseJSON struct {
	Noise           string             `json:"noise"`
	Name            string             `json:"name"`
	Note            string             `json:"note,omitempty"`
	Parts           []string           `json:"parts"`
	Detours         int                `json:"detours"`
	Period          unit.Nanoseconds   `json:"period_ns"`
	NoiseTime       unit.Nanoseconds   `json:"noise_ns"`
	OverheadPercent float64            `json:"overhead_percent"`
	Count           int                `json:"stretches"`
	RatePerSecond   float64            `json:"rate_per_second"`
	Lengths         *lengthsJSON       `json:"lengths,omitempty"` // missing: there are none
	Largest         []largestJSON      `json:"longest"`
	Sources         []noiseSourceJSON  `json:"sources"`
	Provenance      *provenance.Record `json:"provenance"`
}

type lengthsJSON struct {
	Min    unit.Nanoseconds `json:"min_ns"`
	Q1     unit.Nanoseconds `json:"q1_ns"`
	Median unit.Nanoseconds `json:"median_ns"`
	Q3     unit.Nanoseconds `json:"q3_ns"`
	P99    unit.Nanoseconds `json:"p99_ns"`
	Max    unit.Nanoseconds `json:"max_ns"`
	Mean   unit.Nanoseconds `json:"mean_ns"`
}

type largestJSON struct {
	Percent      float64          `json:"percent"`
	Count        int              `json:"stretches"`
	AtLeast      unit.Nanoseconds `json:"at_least_ns"`
	NoisePercent float64          `json:"noise_percent"`
}

type noiseSourceJSON struct {
	Label           string           `json:"label"`
	Count           int              `json:"detours"`
	RatePerSecond   float64          `json:"rate_per_second"`
	Noise           unit.Nanoseconds `json:"noise_ns"`
	OverheadPercent float64          `json:"overhead_percent"`
	NoisePercent    float64          `json:"noise_percent"`
	Longest         unit.Nanoseconds `json:"longest_ns"`
}

func (r *noiseReport) json(a *app) *noiseJSON {
	s := &r.stats
	ns := func(d unit.Duration) unit.Nanoseconds { return unit.Nanoseconds(d) }
	record := provenance.New(a.args)
	record.Inputs = append(record.Inputs, r.input.records...)
	record.Warnings = append(record.Warnings, a.warnings...)
	if r.input.random() {
		record.Seed = &r.seed
	}
	p := r.input.profile
	j := &noiseJSON{
		Noise: r.input.word, Name: p.Name, Note: p.Note, Parts: []string{}, Detours: r.detours.Len(),
		Period: ns(s.Period), NoiseTime: ns(s.Noise), OverheadPercent: s.OverheadPercent,
		Count: s.Count, RatePerSecond: s.RatePerSecond,
		Largest: []largestJSON{}, Sources: []noiseSourceJSON{}, Provenance: record,
	}
	for i := range p.Parts {
		j.Parts = append(j.Parts, p.Parts[i].Spec())
	}
	if s.Count > 0 {
		j.Lengths = &lengthsJSON{ns(s.Min), ns(s.Q1), ns(s.Median), ns(s.Q3), ns(s.P99), ns(s.Max), ns(r.mean())}
	}
	for _, l := range s.Largest {
		j.Largest = append(j.Largest, largestJSON{l.Percent, l.Count, ns(l.AtLeast), l.NoisePercent})
	}
	for _, x := range s.Sources {
		j.Sources = append(j.Sources, noiseSourceJSON{
			x.Label, x.Count, r.rate(x.Count), ns(x.Noise), x.OverheadPercent, x.NoisePercent, ns(x.Longest),
		})
	}
	return j
}

const (
	maxScatter     = 1 << 20 // detours in a scatter plot; more would only hide each other
	fewDetours     = 50      // a trace with fewer is drawn several times, one period after the other
	coloursOfNoise = 5       // sources with a colour of their own; the others share one
)

// draw draws the length of each detour over its time, as figure 1 of the noise
// paper does: of the given time, or, if that is 0, of as many periods as show
// something.
func (r *noiseReport) draw(a *app, path string, span unit.Duration) error {
	if r.detours.Empty() {
		return fmt.Errorf("--plot: %s has no detours: there is nothing to draw", r.input.title())
	}
	if span == 0 {
		periods := max((fewDetours+r.detours.Len()-1)/r.detours.Len(), 1)
		span = r.stats.Period * unit.Duration(min(periods, int(math.MaxInt64/r.stats.Period)))
	}
	layers := r.layers()
	if err := r.fill(layers, span); err != nil {
		return err
	}
	chart := &plot.Chart{
		Title:    "Detours of " + r.input.title(),
		Subtitle: r.subtitle(span),
		Caption:  toolName + " " + strings.Join(a.args, " "),
		X:        plot.Axis{Label: "time", Quantity: plot.Time, Max: float64(span)},
		Y:        plot.Axis{Label: "length of the detour", Quantity: plot.Time, Scale: plot.Log10},
		Layers:   drawn(layers),
	}
	err := a.writeOut(path, r.input.files, func(w io.Writer) error { return plot.Write(w, chart, path, plot.Options{}) })
	if err != nil {
		return err
	}
	a.note("drew %s", path)
	return nil
}

// fill gives the layers the detours of a span of time from the begin of the trace,
// which may be several periods.
func (r *noiseReport) fill(layers []*plot.Points, span unit.Duration) error {
	points := r.detours.Points(maxScatter)
	if shown := float64(len(points)) * float64(span) / float64(r.stats.Period); shown > 2*maxScatter {
		return fmt.Errorf("--plot-time: %s hold about %.2g detours, too many to be told apart; give less time", span.Short(), shown)
	}
	labels := make([]int, len(points))
	next := 0
	for i, at := range points { // these are some of the detours, in the same order
		for found := false; !found; next++ {
			var d noise.Detour
			d, labels[i] = r.detours.At(next)
			found = d == at
		}
	}
	empty := true
	for from := unit.Duration(0); from < span; from += r.stats.Period {
		for i, at := range points {
			if unit.Duration(at.Start) >= span-from {
				break
			}
			l := layers[labels[i]]
			l.X, l.Y = append(l.X, float64(from)+float64(at.Start)), append(l.Y, float64(at.Length))
			empty = false
		}
		if from > math.MaxInt64-r.stats.Period {
			break
		}
	}
	if empty {
		return fmt.Errorf("--plot-time: the first %s of %s hold no detour; give more time", span.Short(), r.input.title())
	}
	return nil
}

func (r *noiseReport) subtitle(span unit.Duration) string {
	text := fmt.Sprintf("serial overhead %s, %s%s", percentCell(r.stats.OverheadPercent).Text, rateCell(r.stats.RatePerSecond).Text, r.input.seeded(r.seed))
	switch {
	case span < r.stats.Period:
		text += fmt.Sprintf(", the first %s of %s", span.Short(), r.stats.Period.Short())
	case span > r.stats.Period:
		text += fmt.Sprintf(", period %s", r.stats.Period.Short())
	}
	return text
}

// layers are the layers of the sources, by label: those that take most have one of
// their own, the others share one.
func (r *noiseReport) layers() []*plot.Points {
	sources := r.stats.Sources
	order := make([]int, len(sources))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sources[b].Noise, sources[a].Noise) })
	own := coloursOfNoise
	if len(sources) == own+1 {
		own++ // one alone needs no company
	}
	rest := &plot.Points{Name: "other sources", Slot: plot.Neutral}
	layers := make([]*plot.Points, len(sources))
	for i, label := range order {
		layers[label] = rest
		if i < own {
			layers[label] = &plot.Points{}
			if len(sources) > 1 {
				layers[label].Name = sources[label].Label
			}
		}
	}
	return layers
}

// drawn are the layers that have points, each once, the rarest on top.
func drawn(layers []*plot.Points) []plot.Layer {
	var list []*plot.Points
	for _, l := range layers {
		if len(l.X) > 0 && !slices.Contains(list, l) {
			list = append(list, l)
		}
	}
	slices.SortStableFunc(list, func(a, b *plot.Points) int { return cmp.Compare(len(b.X), len(a.X)) })
	result := make([]plot.Layer, len(list))
	for i, l := range list {
		result[i] = l
	}
	return result
}
