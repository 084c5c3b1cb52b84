package explore

import (
	"cmp"
	"context"
	"slices"

	"slackline/analyze/waits"
)

// answerWaits gives the wait states and their causes.
func answerWaits(ctx context.Context, v *view, q *query) (any, error) {
	limit := q.limit(200)
	f, err := v.analysed(ctx)
	if err != nil || q.err != nil {
		return nil, cmp.Or(q.err, err)
	}
	t := &f.result.Totals
	a := &Waits{
		Waiting: int64(t.Waiting.Amount), Unattributed: int64(t.Unattributed), Uncertain: int64(t.Uncertain), States: f.result.States,
		Metrics: waitMetrics(t), Causes: []WaitCause{}, ByPath: []WaitCause{},
	}
	for i := range f.ranked[:min(limit, len(f.ranked))] {
		a.Causes = append(a.Causes, f.waitCause(&f.ranked[i]))
	}
	byPath := f.delaysByPath(v)
	for i := range byPath[:min(limit, len(byPath))] {
		a.ByPath = append(a.ByPath, f.waitCause(&byPath[i]))
	}
	a.Cut = len(f.ranked) > limit || len(byPath) > limit
	return a, nil
}

// waitMetrics are the kinds of wait states that occur, the greatest first.
func waitMetrics(t *waits.Totals) []WaitMetric {
	list := []WaitMetric{}
	for m := range waits.None {
		s := &t.ByMetric[m]
		if s.Amount == 0 {
			continue
		}
		info := m.Info()
		metric := WaitMetric{
			Metric: m.String(), Title: info.Title, Meaning: info.Meaning, Advice: info.Advice, Category: firstWait + int(m),
			Amount: int64(s.Amount), Direct: int64(s.Direct), Indirect: int64(s.Indirect),
			Propagating: int64(s.Propagating), Terminal: int64(s.Terminal),
		}
		if m == waits.WrongOrder {
			metric.PartOf, metric.Category = waits.LateSender.String(), firstWait+int(waits.LateSender)
		}
		list = append(list, metric)
	}
	slices.SortStableFunc(list, func(x, y WaitMetric) int { return cmp.Compare(y.Amount, x.Amount) })
	return list
}

func (f *findings) waitCause(d *waits.Delay) WaitCause {
	c := WaitCause{
		Rank: d.Rank, Path: int(d.Path), Cost: int64(d.Sum()), Short: int64(d.Short), Long: int64(d.Long),
		ByMetric: map[string]int64{}, Category: otherCause,
	}
	if all := f.result.Totals.Waiting.Amount; all > 0 {
		c.Share = float64(d.Sum()) / float64(all)
	}
	for m := range d.ByWait {
		if cost := d.ByWait[m].Sum(); cost > 0 {
			c.ByMetric[waits.Metric(m).String()] = int64(cost)
		}
	}
	if category, ok := f.causes[waits.Origin{Rank: int32(d.Rank), Path: d.Path}]; ok {
		c.Category = category
	}
	return c
}

// delaysByPath are the delays summed over ranks, the greatest first.
func (f *findings) delaysByPath(v *view) []waits.Delay {
	sums := make([]waits.Delay, v.paths.Len())
	for i := range f.result.Delays {
		d := &f.result.Delays[i]
		s := &sums[d.Path]
		s.Short += d.Short
		s.Long += d.Long
		for m := range d.ByWait {
			s.ByWait[m].Short += d.ByWait[m].Short
			s.ByWait[m].Long += d.ByWait[m].Long
		}
	}
	var list []waits.Delay
	for path := range sums {
		if sums[path].Sum() > 0 {
			sums[path].Rank, sums[path].Path = -1, int32(path)
			list = append(list, sums[path])
		}
	}
	slices.SortStableFunc(list, func(x, y waits.Delay) int { return cmp.Compare(y.Sum(), x.Sum()) })
	return list
}
