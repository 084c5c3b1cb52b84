package simulate

import (
	"fmt"
	"io"
	"strings"

	"slackline/analyze/whatif"
	"slackline/cli/env"
	"slackline/cli/scenario"
	"slackline/internal/phrase"
	"slackline/internal/table"
	"slackline/show/figures"
	"slackline/show/plot"
)

// seriesReport is the result of a series with everything that its output names.
type seriesReport struct {
	run      *seriesRun
	points   []whatif.Point
	complete bool
	search   *searchResult // nil: nothing was searched for
}

func (s *seriesReport) Rows(a *env.Env) env.Rows {
	if s.search != nil { // the table has no place for the answer
		for _, sentence := range s.search.sentences() {
			a.Note("%s", strings.TrimSpace(sentence))
		}
	}
	return s.table()
}

func (s *seriesReport) Text(a *env.Env, w io.Writer) {
	a.WriteTitle(w, s.title())
	a.WriteText(w, s.textTable(), true)
	if s.run.replicas.samples {
		t := table.Of(">ranks", ">replica", ">makespan")
		for _, p := range s.points {
			for i, m := range p.Samples {
				t.Add(phrase.Grouped(p.Ranks), i, m.Short())
			}
		}
		fmt.Fprintln(w)
		a.WriteText(w, t, true)
	}
	if s.search != nil {
		s.search.writeText(w, env.WidthOf(a.Stdout))
	}
}

// title says what was simulated.
func (s *seriesReport) title() string {
	r := s.run
	words := []string{fmt.Sprintf("%s on %s", r.input.Name, r.scenario.Machine.Name), "model " + string(r.Machine.Model())}
	if r.Program.Mapped(r.input) {
		words = append(words, "mapping "+r.Mapping)
	}
	if r.Noise.Name() != "" {
		words = append(words, "noise "+r.Noise.Name()+r.alignment())
	}
	if r.series.Replicas > 1 {
		each := ""
		if s.search != nil {
			each = " for each number of ranks"
		}
		words = append(words, phrase.Plural(r.series.Replicas, "replica")+each)
	}
	words = append(words, fmt.Sprintf("seed %d", r.Program.Seed))
	text := strings.Join(words, ", ")
	if !s.complete {
		text += " (unfinished)"
	}
	return text
}

// alignment says who shares offsets and by which clock noise comes, if it is not the usual thing.
func (r *seriesRun) alignment() string {
	text := ""
	switch r.Noise.Align {
	case scenario.AlignNode:
		text = " shared by the ranks of a node"
	case scenario.AlignCoscheduled:
		text = " co-scheduled"
	}
	if only := r.Noise.Only.String(); only != "" {
		text += " on ranks " + only
	}
	if clock := r.Noise.OtherClock(); clock != "" {
		text += ", noise clock " + clock
	}
	return text
}

// textTable is the table for people. Whiskers are left to the other forms: the
// screen is narrow.
func (s *seriesReport) textTable() *table.Table {
	if s.run.series.Replicas == 1 {
		if s.run.series.Noise.IsZero() {
			t := table.Of(">ranks", ">makespan")
			for _, p := range s.points {
				t.Add(phrase.Grouped(p.Ranks), p.Noiseless.Short())
			}
			return t
		}
		t := table.Of(">ranks", ">noiseless", ">noisy", ">slowdown")
		for _, p := range s.points {
			d := p.Distribution()
			t.Add(phrase.Grouped(p.Ranks), p.Noiseless.Short(), d.Median.Short(), shortFactor(d.Slowdown.Median))
		}
		return t
	}
	columns := table.Columns(">ranks", ">noiseless", ">min", ">q1", ">median", ">q3", ">max", ">mean", ">outliers",
		">slowdown", ">worst")
	if !s.complete {
		columns = append(columns, table.Columns(">replicas")...)
	}
	t := table.New(columns...)
	for _, p := range s.points {
		d := p.Distribution()
		cells := []any{
			phrase.Grouped(d.Ranks), d.Noiseless.Short(), d.Min.Short(), d.Q1.Short(), d.Median.Short(), d.Q3.Short(), d.Max.Short(),
			d.Mean.Short(), phrase.Grouped(len(d.Outliers)), shortFactor(d.Slowdown.Median), shortFactor(d.Slowdown.Max),
		}
		if len(columns) > len(cells) {
			cells = append(cells, phrase.Grouped(d.Replicas))
		}
		t.Add(cells...)
	}
	return t
}

// shortFactor prints a slowdown for people.
func shortFactor(f float64) string { return fmt.Sprintf("%.4g", f) }

// table is the table for programs: a line for each number of ranks, or for each
// replica.
func (s *seriesReport) table() *table.Table {
	if s.run.replicas.samples {
		t := table.Of(">ranks", ">replica", ">noiseless_ns", ">makespan_ns")
		for _, p := range s.points {
			for i, m := range p.Samples {
				t.Add(p.Ranks, i, p.Noiseless.NS(), m.NS())
			}
		}
		return t
	}
	t := table.Of(">ranks", ">replicas", ">noiseless_ns", ">min_ns", ">q1_ns", ">median_ns", ">q3_ns", ">max_ns",
		">mean_ns", ">low_whisker_ns", ">high_whisker_ns", ">outliers", ">median_slowdown", ">max_slowdown")
	for _, p := range s.points {
		d := p.Distribution()
		t.Add(d.Ranks, d.Replicas, d.Noiseless.NS(), d.Min.NS(), d.Q1.NS(), d.Median.NS(), d.Q3.NS(), d.Max.NS(), d.Mean.NS(),
			d.Whiskers[0].NS(), d.Whiskers[1].NS(), len(d.Outliers), d.Slowdown.Median, d.Slowdown.Max)
	}
	return t
}

// Figure has box plots over the number of ranks, with the time without noise.
func (s *seriesReport) Figure(*env.Env) (fig plot.Figure, title, subtitle string, err error) {
	r := s.run
	noisy := !r.series.Noise.IsZero()
	subtitle = fmt.Sprintf("%s, seed %d", phrase.Plural(r.series.Replicas, "replica"), r.Program.Seed)
	switch {
	case !noisy:
		subtitle = "without noise"
	case r.Noise.Name() != "":
		subtitle = "noise " + r.Noise.Name() + r.alignment() + ", " + subtitle
	}
	return figures.Series(s.points, noisy), r.input.Name + " on " + r.scenario.Machine.Name, subtitle, nil
}
