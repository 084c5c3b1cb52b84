package tables

import (
	"slices"

	"slackline/internal/phrase"
	"slackline/internal/table"
	"slackline/model/dataset"
)

// Measurements has a row for each value of a dataset, with the same columns as its form as CSV.
func Measurements(d *dataset.Dataset) *table.Table {
	units := slices.ContainsFunc(d.Series, func(s *dataset.Series) bool { return s.Unit != "" })
	keys := []string{"callpath", "metric"}
	if units {
		keys = append(keys, "unit")
	}
	t := table.New(phrase.Columns(append(append(keys, d.Parameters...), "repetition", "value")...)...)
	for _, s := range d.Series {
		for _, p := range s.Points {
			for i, v := range p.Values {
				row := []any{s.CallPath, s.Metric}
				if units {
					row = append(row, s.Unit)
				}
				for _, x := range p.At {
					row = append(row, x)
				}
				t.Add(append(row, i, v)...)
			}
		}
	}
	return t
}
