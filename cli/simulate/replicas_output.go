package simulate

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"slackline/analyze/whatif"
	"slackline/cli/env"
	"slackline/cli/phrase"
	"slackline/cli/scenario"
	"slackline/internal/provenance"
	"slackline/internal/table"
	"slackline/model/unit"
	"slackline/show/figures"
)

// seriesReport is the result of a series with everything that its output names.
type seriesReport struct {
	run        *seriesRun
	points     []whatif.Point
	complete   bool
	search     *searchResult      // nil: nothing was searched for
	provenance *provenance.Record // only in JSON
}

// output draws and prints the series.
func (s *seriesReport) output(a *env.Env) error {
	r := s.run
	if r.figure.path != "" {
		if err := s.draw(a); err != nil {
			return err
		}
	}
	if r.format.Value == env.FormatJSON {
		record, err := r.scenario.Provenance(r.input)
		if err != nil {
			return err
		}
		record.Seed = &r.Program.Seed
		s.provenance = record
	}
	return a.WriteOut(r.out, r.inputs, func(w io.Writer) error {
		switch r.format.Value {
		case env.FormatJSON:
			return s.writeJSON(w)
		case env.FormatCSV:
			if s.search != nil { // the table has no place for the answer
				for _, sentence := range s.search.sentences() {
					a.Note("%s", strings.TrimSpace(sentence))
				}
			}
			return s.table().WriteCSV(w)
		}
		fmt.Fprintf(w, "%s\n\n", s.title())
		if err := a.WriteText(w, s.textTable(), true); err != nil {
			return err
		}
		if s.search != nil {
			s.search.writeText(w, env.WidthOf(a.Stdout))
		}
		return nil
	})
}

// title says what was simulated.
func (s *seriesReport) title() string {
	r := s.run
	words := []string{fmt.Sprintf("%s on %s", r.input.Name, r.machine.Name), "model " + r.model.Value}
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

// alignment says who shares offsets, if it is not the usual thing.
func (r *seriesRun) alignment() string {
	text := ""
	switch r.Noise.Align.Value {
	case scenario.AlignNode:
		text = " shared by the ranks of a node"
	case scenario.AlignCoscheduled:
		text = " co-scheduled"
	}
	if only := r.Noise.Only.String(); only != "" {
		text += " on ranks " + only
	}
	return text
}

// textTable is the table for people. Whiskers are left to the other forms: the
// screen is narrow.
func (s *seriesReport) textTable() *table.Table {
	right := func(key string) table.Column { return table.Column{Key: key, Align: table.Right} }
	if s.run.series.Replicas == 1 {
		if s.run.series.Noise.IsZero() {
			t := table.New(right("ranks"), right("makespan"))
			for _, p := range s.points {
				t.Add(phrase.Grouped(p.Ranks), p.Noiseless.Short())
			}
			return t
		}
		t := table.New(right("ranks"), right("noiseless"), right("noisy"), right("slowdown"))
		for _, p := range s.points {
			d := p.Distribution()
			t.Add(phrase.Grouped(p.Ranks), p.Noiseless.Short(), d.Median.Short(), shortFactor(d.MedianSlowdown))
		}
		return t
	}
	columns := []table.Column{
		right("ranks"), right("noiseless"), right("min"), right("q1"), right("median"), right("q3"), right("max"),
		right("mean"), right("outliers"), right("slowdown"), right("worst"),
	}
	if !s.complete {
		columns = append(columns, right("replicas"))
	}
	t := table.New(columns...)
	for _, p := range s.points {
		d := p.Distribution()
		cells := []any{
			phrase.Grouped(d.Ranks), d.Noiseless.Short(), d.Min.Short(), d.Q1.Short(), d.Median.Short(), d.Q3.Short(), d.Max.Short(),
			d.Mean.Short(), phrase.Grouped(len(d.Outliers)), shortFactor(d.MedianSlowdown), shortFactor(d.MaxSlowdown),
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
	ns := func(d unit.Duration) json.Number { return phrase.Number(d.NS()) }
	if s.run.replicas.samples {
		t := table.New(table.Column{Key: "ranks"}, table.Column{Key: "replica"}, table.Column{Key: "noiseless_ns"}, table.Column{Key: "makespan_ns"})
		for _, p := range s.points {
			for i, m := range p.Samples {
				t.Add(p.Ranks, i, ns(p.Noiseless), ns(m))
			}
		}
		return t
	}
	var columns []table.Column
	for _, key := range []string{
		"ranks", "replicas", "noiseless_ns", "min_ns", "q1_ns", "median_ns", "q3_ns", "max_ns", "mean_ns",
		"low_whisker_ns", "high_whisker_ns", "outliers", "median_slowdown", "max_slowdown",
	} {
		columns = append(columns, table.Column{Key: key})
	}
	t := table.New(columns...)
	for _, p := range s.points {
		d := p.Distribution()
		t.Add(d.Ranks, d.Replicas, ns(d.Noiseless), ns(d.Min), ns(d.Q1), ns(d.Median), ns(d.Q3), ns(d.Max), ns(d.Mean),
			ns(d.LowWhisker), ns(d.HighWhisker), len(d.Outliers), d.MedianSlowdown, d.MaxSlowdown)
	}
	return t
}

// draw draws box plots over the number of ranks, with the time without noise.
func (s *seriesReport) draw(a *env.Env) error {
	r := s.run
	noisy := !r.series.Noise.IsZero()
	subtitle := fmt.Sprintf("%s, seed %d", phrase.Plural(r.series.Replicas, "replica"), r.Program.Seed)
	switch {
	case !noisy:
		subtitle = "without noise"
	case r.Noise.Name() != "":
		subtitle = "noise " + r.Noise.Name() + r.alignment() + ", " + subtitle
	}
	return a.Draw(r.figure.path, r.inputs, figures.Series(s.points, noisy), r.input.Name+" on "+r.machine.Name, subtitle)
}
