package waits

import (
	"slackline/analyze/profile"
	"slackline/analyze/waits"
	"slackline/cli/scenario"
	"slackline/internal/provenance"
	"slackline/internal/table"
	"slackline/show/tables"
)

// document is the JSON output of waits.
type document struct {
	waits.Document
	Run    profile.RunDocument  `json:"run"`
	WhatIf *scenario.WhatIfJSON `json:"what_if,omitempty"`
	waits.Details
	Provenance *provenance.Record `json:"provenance,omitempty"`
}

func (r *waitsReport) json() *document {
	return &document{
		Document: r.result.Document(), Run: profile.DescribeRun(r.run.Timeline, r.run.Machine), WhatIf: r.run.Change.JSON(),
		Details: r.result.Details(r.critical, r.explanations), Provenance: r.provenance,
	}
}

func (r *waitsReport) name(path int32) string { return r.result.Paths.Names[path] }

// table is the CSV output: one row for each wait and each delay.
func (r *waitsReport) table() *table.Table {
	t := table.New(
		table.Column{Key: "kind"}, table.Column{Key: "metric"}, table.Column{Key: "rank"}, table.Column{Key: "callpath"}, table.Column{Key: "seconds"},
		table.Column{Key: "direct_s"}, table.Column{Key: "indirect_s"}, table.Column{Key: "propagating_s"}, table.Column{Key: "terminal_s"},
		table.Column{Key: "short_s"}, table.Column{Key: "long_s"},
	)
	none := table.Cell{}
	for i := range r.result.Waits {
		w := &r.result.Waits[i]
		t.Add("wait", w.Metric.String(), w.Rank, r.name(w.Path), tables.Seconds(w.Amount), tables.Seconds(w.Direct), tables.Seconds(w.Indirect),
			tables.Seconds(w.Propagating), tables.Seconds(w.Terminal), none, none)
	}
	for i := range r.result.Delays {
		d := &r.result.Delays[i]
		t.Add("delay", none, d.Rank, r.name(d.Path), tables.Seconds(d.Sum()), none, none, none, none, tables.Seconds(d.Short), tables.Seconds(d.Long))
	}
	return t
}
