package tables

import (
	"slices"

	"slackline/internal/table"
	"slackline/model/dataset"
)

// Measurements has a row for each value of a dataset, with the same columns as its form as CSV.
func Measurements(d *dataset.Dataset) *table.Table {
	units := slices.ContainsFunc(d.Series, func(s *dataset.Series) bool { return s.Unit != "" })
	columns := table.Columns("callpath", "metric")
	if units {
		columns = append(columns, table.Column{Key: "unit"})
	}
	for _, name := range d.Parameters {
		columns = append(columns, table.Column{Key: name})
	}
	t := table.New(append(columns, table.Columns("repetition", "value")...)...)
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
