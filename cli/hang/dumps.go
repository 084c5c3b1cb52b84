package hang

import (
	"slices"
	"strings"

	"slackline/analyze/hang"
	"slackline/model/trace/nccl"
)

// dumpReport is what dumps say: who has not come to a collective that others are in. Whether they would have come is not known.
func dumpReport(d *nccl.Dumps) *report {
	v := &hang.Verdict{Outcome: hang.Running}
	r := &report{verdict: v, Document: Document{
		Summary: "In no group a rank had not come to a collective that others were in when the dumps were written.",
		Command: []string{}, Ranks: d.Ranks, Findings: []findingJSON{}, Stuck: []int{}, Moved: []int{}, Waits: []hang.Edge{},
		States: []stateJSON{},
	}}
	var sentences []string
	for _, m := range d.Missing {
		sentences = append(sentences, "In "+m.String()+".")
		v.Outcome = hang.Unknown
		v.Roots, v.Blocked = append(v.Roots, m.Late...), append(v.Blocked, m.Waiting...)
		for _, from := range m.Waiting {
			for _, to := range m.Late {
				r.Waits = append(r.Waits, hang.Edge{From: from, To: to, For: m.Operation})
			}
		}
	}
	unique := func(ranks []int) []int {
		slices.Sort(ranks)
		return list(slices.Compact(ranks))
	}
	switch {
	case len(sentences) > 0:
		r.Summary = strings.Join(sentences, " ") + " Look at what these ranks did before: the dumps do not say it."
	case d.Entries == 0:
		v.Outcome = hang.Unknown
		r.Summary = "The dumps have no entries: who waits for whom is not known."
	case len(d.Partial) > 0:
		v.Outcome = hang.Unknown
		r.Summary = "No wait for others was found, but the dumps of some ranks are not complete: " + hang.Ranks(d.Partial) + "."
	}
	r.Outcome, r.Roots, r.Blocked = v.Outcome, unique(v.Roots), unique(v.Blocked)
	return r
}
