package report_test

import (
	"encoding/json"
	"slices"
	"testing"

	"slackline/analyze/advise"
	"slackline/analyze/replay"
	"slackline/internal/table"
	"slackline/model/collective"
	"slackline/model/dataset"
	"slackline/model/machine"
	"slackline/model/trace/tracetest"
	"slackline/model/unit"
	"slackline/show/report"
)

// inputOf is the input of a report about one run, which is simulated on a network without cost.
func inputOf(t *testing.T, text string) *report.Input {
	t.Helper()
	tl := tracetest.Timeline(t, text)
	p, err := replay.New(tl, replay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := machine.FromParams("free", machine.Params{
		Overhead: machine.One(unit.Duration(0)), PerByte: machine.One(unit.PerByte(0)), Eager: machine.NoLimit,
	})
	words := []string{"run.slt"}
	mapping := collective.DefaultMapping()
	return &report.Input{
		Advise: &advise.Question{
			Scenario: advise.Scenario{Program: p, Machine: m, Mapping: mapping},
			Words:    []string{"slackline", "waits", "run.slt"},
		},
		Title: "A run", Runs: []*report.Run{{Name: "run.slt", Words: words, Simulate: words, Format: "slt", Timeline: tl, Program: p}},
		Machine: &report.Machine{Machine: m, Assumed: true}, Mapping: &report.Mapping{Mapping: mapping}, Threads: 2,
	}
}

// dataOf is the input of a report about measurements: a function over 4 to 512 processes.
func dataOf(value func(p float64) float64) *report.Input {
	d := dataset.New("p")
	for p := 4.0; p <= 512; p *= 2 {
		d.Get("main->solve", "time").Add([]float64{p}, value(p))
	}
	return &report.Input{Title: "Data", Data: d, Words: []string{"data.json"}}
}

func documentOf(t *testing.T, in *report.Input) *report.Document {
	t.Helper()
	d, err := report.Make(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// sectionOf returns a section by its ID; nil: there is none.
func sectionOf(d *report.Document, id string) *report.Section {
	for _, s := range d.Sections {
		if s.ID == id {
			return s
		}
	}
	return nil
}

// rowsOf are the rows of all tables and of the data of all figures of a section, each as the values of its cells in JSON.
func rowsOf(t *testing.T, s *report.Section) [][]string {
	t.Helper()
	var rows [][]string
	add := func(table *table.Table) {
		for _, row := range table.Rows {
			var values []string
			for _, c := range row {
				switch v := c.Value.(type) {
				case nil:
					values = append(values, c.Text)
				case string:
					values = append(values, v)
				default:
					number, err := json.Marshal(v)
					if err != nil {
						t.Fatal(err)
					}
					values = append(values, string(number))
				}
			}
			rows = append(rows, values)
		}
	}
	for _, b := range s.Blocks {
		if b.Table != nil {
			add(b.Table)
		}
		if b.Figure != nil {
			add(b.Figure.Data)
		}
	}
	return rows
}

// wantRow fails unless a row of the section starts with the first value and holds the others.
func wantRow(t *testing.T, s *report.Section, first string, others ...string) {
	t.Helper()
	if s == nil {
		t.Fatal("the section is missing")
	}
	rows := rowsOf(t, s)
	for _, row := range rows {
		if row[0] == first && !slices.ContainsFunc(others, func(v string) bool { return !slices.Contains(row[1:], v) }) {
			return
		}
	}
	t.Errorf("section %s has no row %s with %q; its rows are\n%q", s.ID, first, others, rows)
}

// figureOf returns a figure of a section; nil: there is none.
func figureOf(s *report.Section, id string) *report.Figure {
	for _, b := range s.Blocks {
		if b.Figure != nil && b.Figure.ID == id {
			return b.Figure
		}
	}
	return nil
}

// The sections come in the order in which an engineer asks; what the input does not allow gives a reason.
func TestSections(t *testing.T) {
	all := []string{"run", "time", "waits", "gain", "tolerance", "scale", "expectations", "doubts"}
	two := inputOf(t, tracetest.LateSender)
	two.Runs = append(two.Runs, inputOf(t, tracetest.LateSender).Runs...)
	for _, tc := range []struct {
		name          string
		in            *report.Input
		want, missing []string
	}{
		{"one run", inputOf(t, tracetest.LateSender), all, []string{"scale", "expectations"}},
		{"two runs", two, slices.Insert(slices.Clone(all), 1, "compared"), []string{"scale", "expectations"}},
		{"measurements", dataOf(func(p float64) float64 { return p }), all, []string{"time", "waits", "gain", "tolerance", "expectations"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var ids, missing []string
			for _, s := range documentOf(t, tc.in).Sections {
				ids = append(ids, s.ID)
				if s.Missing != nil {
					missing = append(missing, s.ID)
					if s.Missing.Why == "" || len(s.Blocks) > 0 {
						t.Errorf("section %s has no reason, or content although it is missing", s.ID)
					}
				}
			}
			if !slices.Equal(ids, tc.want) || !slices.Equal(missing, tc.missing) {
				t.Errorf("sections %v, of which %v are missing; want %v and %v", ids, missing, tc.want, tc.missing)
			}
		})
	}
}

// The number of threads has no influence.
func TestThreadsAgree(t *testing.T) {
	one, four := inputOf(t, tracetest.LateSender), inputOf(t, tracetest.LateSender)
	one.Threads, four.Threads = 1, 4
	a, err := json.Marshal(documentOf(t, one))
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(documentOf(t, four))
	if err != nil {
		t.Fatal(err)
	}
	if string(a) != string(b) {
		t.Error("reports with one thread and with four differ")
	}
}
