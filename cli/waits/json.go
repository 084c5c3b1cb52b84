package waits

import (
	"slackline/analyze/profile"
	"slackline/analyze/waits"
	"slackline/cli/env"
	"slackline/cli/scenario"
	"slackline/internal/provenance"
)

// document is the JSON output of waits.
type document struct {
	waits.Document
	Run    profile.RunDocument  `json:"run"`
	WhatIf *scenario.WhatIfJSON `json:"what_if,omitempty"`
	// All of them, also those that nobody waits in: what compares two results tells a wait of 0 from a call path that is not there.
	CallPaths []profile.TimeDocument `json:"callpaths"`
	Counts    *profile.Counts        `json:"computation,omitempty"` // of runs with counters
	waits.Details
	Provenance *provenance.Record `json:"provenance,omitempty"`
}

func (r *waitsReport) JSON(a *env.Env) (any, error) {
	return &document{
		Document: r.result.Document(), Run: profile.DescribeRun(r.run.Timeline, r.run.Machine, r.result.Missing()),
		WhatIf: r.run.Change.JSON(), Details: r.result.Details(r.critical, r.explanations), Provenance: a.Record(r.run.Records...),
		CallPaths: r.profile.Times(), Counts: r.profile.Counts(r.result.WaitTimes()),
	}, nil
}
