package explore

import (
	"slices"

	"slackline/analyze/profile"
	"slackline/analyze/waits"
	"slackline/internal/stat"
)

// Units of metrics.
const (
	unitTime  = "ps"
	unitBytes = "bytes"
	unitCount = "count"
)

// treeMetric is a metric of call paths. Every call path has, on every rank, an amount of its own; each passes them on.
type treeMetric struct {
	TreeMetric
	// each calls add for the amounts of call paths on ranks.
	each func(*findings, func(rank int, path int32, amount int64))
}

// waitingPrefix is before the names of the wait states.
const waitingPrefix = "waiting:"

// treeMetrics are the metrics of a run.
func (f *findings) treeMetrics() []treeMetric {
	entry := func(value func(*profile.Entry) int64) func(*findings, func(int, int32, int64)) {
		return func(f *findings, add func(int, int32, int64)) {
			for i := range f.profile.Entries {
				e := &f.profile.Entries[i]
				add(e.Rank, e.Path, value(e))
			}
		}
	}
	list := []treeMetric{
		{TreeMetric{Metric: "time", Title: "Time", Unit: unitTime}, entry(func(e *profile.Entry) int64 { return ps(e.Exclusive) })},
		{TreeMetric{Metric: "visits", Title: "Calls", Unit: unitCount}, entry(func(e *profile.Entry) int64 {
			if !f.profile.Counted(e) {
				return 0
			}
			return e.Visits
		})},
		{TreeMetric{Metric: "samples", Title: "Samples", Unit: unitCount}, entry(func(e *profile.Entry) int64 { return e.Samples })},
		{TreeMetric{Metric: "sent", Title: "Bytes sent in messages", Unit: unitBytes},
			entry(func(e *profile.Entry) int64 { return e.Sent.Bytes })},
		{TreeMetric{Metric: "received", Title: "Bytes received in messages", Unit: unitBytes},
			entry(func(e *profile.Entry) int64 { return e.Received.Bytes })},
		{TreeMetric{Metric: "collective", Title: "Bytes of collectives", Unit: unitBytes},
			entry(func(e *profile.Entry) int64 { return e.Collective.Bytes })},
		{TreeMetric{Metric: "delay", Title: "Waiting that it caused", Unit: unitTime}, eachDelay},
		{TreeMetric{Metric: "critical", Title: "Time on the critical path", Unit: unitTime}, eachCritical},
		{TreeMetric{Metric: "waiting", Title: "Waiting", Unit: unitTime}, eachWait(waits.None)},
	}
	for m := range waits.None {
		if f.result.Totals.ByMetric[m].Amount.Sign() == 0 {
			continue
		}
		metric := TreeMetric{Metric: waitingPrefix + m.String(), Title: m.Info().Title, Unit: unitTime, Parent: "waiting"}
		if m.IsPart() {
			metric.Parent = waitingPrefix + m.Parent().String()
		}
		list = append(list, treeMetric{metric, eachWait(m)})
	}
	return list
}

func eachDelay(f *findings, add func(int, int32, int64)) {
	for i := range f.result.Delays {
		d := &f.result.Delays[i]
		add(d.Rank, d.Path, ps(d.Sum()))
	}
}

func eachCritical(f *findings, add func(int, int32, int64)) {
	for _, s := range f.critical.Shares {
		add(s.Rank, s.Path, int64(s.Time))
	}
}

// eachWait goes through waits of a metric; None: of all, without those that are parts of others.
func eachWait(m waits.Metric) func(*findings, func(int, int32, int64)) {
	return func(f *findings, add func(int, int32, int64)) {
		for i := range f.result.Waits {
			w := &f.result.Waits[i]
			if w.Metric == m || m == waits.None && !w.Metric.IsPart() {
				add(w.Rank, w.Path, ps(w.Amount))
			}
		}
	}
}

// answerTree gives the call tree with its metrics.
func answerTree(_ *view, f *findings, _ *query) (any, error) { return f.tree(), nil }

// mostNodes is how many call paths a tree has at most.
const mostNodes = 50_000

// makeTree sums all metrics up. Parents are before their children, because names are in order.
func (v *view) makeTree(f *findings) *Tree {
	metrics := f.treeMetrics()
	n := v.paths.Len()
	t := &Tree{Total: ps(f.composition.Total), Nodes: make([]TreeNode, n)}
	for path := range t.Nodes {
		region := &v.paths.Region[path]
		t.Nodes[path] = TreeNode{
			Path: path, Parent: int(v.paths.Parent[path]), Name: region.Name, Kind: v.kindOfPath(path).String(), File: region.File,
			Line:      region.Line,
			Exclusive: make([]int64, len(metrics)), Inclusive: make([]int64, len(metrics)),
		}
	}
	t.Nodes[0].Parent = -1
	for k := range metrics {
		metrics[k].each(f, func(_ int, path int32, amount int64) {
			t.Nodes[path].Exclusive[k] += amount
			metrics[k].Total += amount
		})
		for path := n - 1; path >= 0; path-- {
			node := &t.Nodes[path]
			node.Inclusive[k] += node.Exclusive[k]
			if node.Parent >= 0 {
				t.Nodes[node.Parent].Inclusive[k] += node.Inclusive[k]
			}
		}
		t.Metrics = append(t.Metrics, metrics[k].TreeMetric)
	}
	t.Cut = n > mostNodes
	t.Nodes = t.Nodes[:min(n, mostNodes)]
	return t
}

// answerDistribution gives a metric of a call path by rank.
func answerDistribution(v *view, f *findings, q *query) (any, error) {
	metrics := f.treeMetrics()
	var names []string
	for i := range metrics {
		names = append(names, metrics[i].Metric)
	}
	d := &Distribution{
		Path: int(q.number("path", 0, int64(v.paths.Len())-1, 0)), Metric: q.word("metric", names, names[0]),
		Inclusive: q.number("inclusive", 0, 1, 1) == 1, Values: make([]int64, v.tl.Ranks), Grid: gridOf(v.tl),
	}
	wanted := v.subtree(d.Path, d.Inclusive)
	metric := &metrics[slices.Index(names, d.Metric)]
	d.Unit = metric.Unit
	metric.each(f, func(rank int, path int32, amount int64) {
		if wanted[path] {
			d.Values[rank] += amount
		}
	})
	d.summarize()
	return d, nil
}

// subtree marks a call path and, if wanted, all below it. Everything is below no call, for a sum over all paths.
func (v *view) subtree(path int, below bool) []bool {
	in := make([]bool, v.paths.Len())
	in[path] = true
	for p := path + 1; below && p < len(in); p++ {
		in[p] = path == 0 || in[v.paths.Parent[p]]
	}
	return in
}

// summarize describes the values.
func (d *Distribution) summarize() {
	if len(d.Values) == 0 {
		return
	}
	samples := make([]float64, len(d.Values))
	d.Min, d.Max = d.Values[0], d.Values[0]
	for rank, x := range d.Values {
		samples[rank] = float64(x)
		d.Sum += x
		if x < d.Min {
			d.Min, d.MinRank = x, rank
		}
		if x > d.Max {
			d.Max, d.MaxRank = x, rank
		}
	}
	d.Mean = stat.Mean(samples)
	slices.Sort(samples)
	d.Q1, d.Median, d.Q3 = stat.Quantile(samples, 0.25), stat.Quantile(samples, 0.5), stat.Quantile(samples, 0.75)
}
