package report_test

import (
	"reflect"
	"testing"

	"slackline/internal/table"
	"slackline/model/trace/tracetest"
)

// Every block holds exactly one thing, so that each form of the report shows all of it; figures and tables carry their
// command, and rows have a cell for each column.
func TestBlocks(t *testing.T) {
	in := inputOf(t, tracetest.LateSender)
	in.Data, in.Words = dataOf(func(p float64) float64 { return p }).Data, []string{"data.json"}
	for _, s := range documentOf(t, in).Sections {
		for i, b := range s.Blocks {
			members := 0
			v := reflect.ValueOf(b)
			for k := range v.NumField() {
				if !v.Field(k).IsZero() {
					members++
				}
			}
			if members != 1 {
				t.Errorf("block %d of section %s has %d members, want 1", i, s.ID, members)
			}
			var tables []*table.Table
			if b.Table != nil {
				tables = append(tables, b.Table)
			}
			if f := b.Figure; f != nil {
				tables = append(tables, f.Data)
				if f.ID == "" || f.Title == "" || f.Command == "" {
					t.Errorf("figure %q of section %s has no ID, title or command", f.ID, s.ID)
				}
			}
			for _, list := range tables {
				for _, row := range list.Rows {
					if len(row) != len(list.Columns) {
						t.Errorf("table %q of section %s has %d cells in a row, and %d columns", list.Title, s.ID, len(row), len(list.Columns))
					}
				}
			}
		}
	}
}
