package explore

import (
	"cmp"
	"slices"

	"slackline/analyze/waits"
)

// answerWaits gives the wait states and their causes.
func answerWaits(v *view, f *findings, q *query) (any, error) {
	limit := q.limit(200)
	t := &f.result.Totals
	a := &Waits{
		Waiting: ps(t.Waiting.Amount), Unattributed: ps(t.Unattributed), Uncertain: ps(t.Uncertain), States: f.result.States,
		Metrics: waitMetrics(f.result), Causes: []WaitCause{}, ByPath: []WaitCause{},
	}
	for i := range f.ranked[:min(limit, len(f.ranked))] {
		a.Causes = append(a.Causes, f.waitCause(&f.ranked[i]))
	}
	byPath := f.result.DelaysByPath()
	for i := range byPath[:min(limit, len(byPath))] {
		a.ByPath = append(a.ByPath, f.waitCause(&byPath[i].Delay))
	}
	byRank := f.delaysByRank()
	a.ByRank = byRank[:min(limit, len(byRank))]
	a.AllCauses, a.AllPaths, a.AllRanks = len(f.ranked), len(byPath), len(byRank)
	a.Cut = len(f.ranked) > limit || len(byPath) > limit || len(byRank) > limit
	return a, nil
}

// waitMetrics are the wait states that occur, the longest first.
func waitMetrics(r *waits.Result) []WaitMetric {
	list := []WaitMetric{}
	for _, m := range r.Occurring() {
		s, info := &r.Totals.ByMetric[m], m.Info()
		metric := WaitMetric{
			Metric: m.String(), Title: info.Title, Meaning: info.Meaning, Advice: info.Advice, Category: firstWait + int(m),
			Amount: ps(s.Amount), Direct: ps(s.Direct), Indirect: ps(s.Indirect),
			Propagating: ps(s.Propagating), Terminal: ps(s.Terminal),
		}
		if m.IsPart() {
			metric.PartOf, metric.Category = m.Parent().String(), firstWait+int(m.Parent())
		}
		list = append(list, metric)
	}
	return list
}

func (f *findings) waitCause(d *waits.Delay) WaitCause {
	c := WaitCause{
		Rank: d.Rank, Path: int(d.Path), Cost: ps(d.Sum()), Short: ps(d.Short), Long: ps(d.Long),
		Share: f.result.Share(d.Sum()), ByMetric: map[string]int64{}, Category: otherCause,
	}
	for _, cost := range d.ByWait {
		c.ByMetric[cost.Metric.String()] = ps(cost.Sum())
	}
	if category, ok := f.causes[waits.Origin{Rank: int32(d.Rank), Path: d.Path}]; ok {
		c.Category = category
	}
	return c
}

// delaysByRank are the costs of all that each rank does, the costliest first.
func (f *findings) delaysByRank() []WaitCause {
	at := map[int]int{}
	list := []WaitCause{}
	for i := range f.ranked {
		one := f.waitCause(&f.ranked[i])
		k, known := at[one.Rank]
		if !known {
			k = len(list)
			at[one.Rank] = k
			list = append(list, WaitCause{Rank: one.Rank, Path: -1, ByMetric: map[string]int64{}, Category: one.Category})
		}
		c := &list[k]
		c.Cost, c.Short, c.Long, c.Share = c.Cost+one.Cost, c.Short+one.Short, c.Long+one.Long, c.Share+one.Share
		for metric, cost := range one.ByMetric {
			c.ByMetric[metric] += cost
		}
	}
	slices.SortStableFunc(list, func(x, y WaitCause) int { return cmp.Compare(y.Cost, x.Cost) })
	return list
}
