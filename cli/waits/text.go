package waits

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"slackline/analyze/waits"
	"slackline/cli/env"
	"slackline/cli/phrase"
	"slackline/internal/table"
	"slackline/model/unit"
)

// byCost orders delays by their cost, the greatest first.
func rankedDelays(list []waits.Delay) []waits.Delay {
	ranked := slices.Clone(list)
	slices.SortStableFunc(ranked, func(x, y waits.Delay) int { return cmp.Compare(y.Sum(), x.Sum()) })
	return ranked
}

// largestWaits returns the n largest waits of certain ranks, nil: of all; what is a part of others is left out.
func largestWaits(list []waits.Wait, ranks []int, n int) []*waits.Wait {
	var all []*waits.Wait
	for i := range list {
		if list[i].Metric != waits.WrongOrder && (ranks == nil || slices.Contains(ranks, list[i].Rank)) {
			all = append(all, &list[i])
		}
	}
	slices.SortStableFunc(all, func(x, y *waits.Wait) int { return cmp.Compare(y.Amount, x.Amount) })
	return all[:min(n, len(all))]
}

// overRanks is something summed over ranks, with the rank that has the most of it.
type overRanks struct {
	label         string
	sum           unit.Duration
	short, direct unit.Duration
	ranks         int
	worst         int
	most          unit.Duration
}

func (s *overRanks) add(rank int, d unit.Duration) {
	s.sum += d
	s.ranks++
	if d > s.most {
		s.worst, s.most = rank, d
	}
}

// sumOver sums things that have the same key over ranks and orders them by their sums.
func sumOver[T any](list []T, key func(*T) string, add func(*overRanks, *T)) []*overRanks {
	index := map[string]*overRanks{}
	var all []*overRanks
	for i := range list {
		k := key(&list[i])
		if k == "" {
			continue
		}
		s := index[k]
		if s == nil {
			s = &overRanks{label: k}
			index[k] = s
			all = append(all, s)
		}
		add(s, &list[i])
	}
	slices.SortStableFunc(all, func(x, y *overRanks) int { return cmp.Compare(y.sum, x.sum) })
	return all
}

// writeText writes a ranked summary that fits a screen, and what else was asked for.
func (r *WaitsReport) writeText(a *env.Env, w io.Writer) error {
	tl, t := r.Run.Timeline, &r.Result.Totals
	_, all := tl.WithoutCPU()
	all -= tl.Unrecorded()
	fmt.Fprintf(w, "%s\n\n", r.Run.Headline())
	if r.Run.Change != nil {
		fmt.Fprintf(w, "%s\n\n", strings.Join(r.Run.Change.Sentences(), "\n"))
	}
	of := "time"
	if tl.Unrecorded() > 0 {
		of = "recorded time"
	}
	fmt.Fprintf(w, "waiting %s, %s of the %s of all threads\n  direct %s, indirect %s; propagating %s, terminal %s\n", t.Waiting.Amount.Short(), phrase.Percent(t.Waiting.Amount, all), of,
		phrase.Percent(t.Waiting.Direct, t.Waiting.Amount), phrase.Percent(t.Waiting.Indirect, t.Waiting.Amount),
		phrase.Percent(t.Waiting.Propagating, t.Waiting.Amount), phrase.Percent(t.Waiting.Terminal, t.Waiting.Amount))
	if t.Unattributed > 0 {
		fmt.Fprintf(w, "without cause: %s (%s)\n", t.Unattributed.Short(), phrase.Percent(t.Unattributed, t.Waiting.Amount))
	}
	if t.Uncertain > 0 {
		fmt.Fprintf(w, "uncertain, in waits shorter than the error of the clocks: %s (%s)\n", t.Uncertain.Short(), phrase.Percent(t.Uncertain, t.Waiting.Amount))
	}
	if t.Waiting.Amount == 0 {
		return nil
	}
	if err := r.writeWaits(a, w); err != nil {
		return err
	}
	if err := r.writeDelays(a, w); err != nil {
		return err
	}
	if err := r.writeCritical(a, w); err != nil {
		return err
	}
	r.writeExplanations(a, w)
	return nil
}

// rows is how many rows of a list are shown.
func (r *WaitsReport) rows(n int) int {
	if top := r.options.top; top > 0 {
		return min(top, n)
	}
	return n
}

// more says how many rows are not shown.
func (r *WaitsReport) more(w io.Writer, n int, what string) {
	if hidden := n - r.rows(n); hidden > 0 {
		fmt.Fprintf(w, "(%s more; --top 0 shows all)\n", phrase.Plural(hidden, what))
	}
}

// writeWaits lists who waits where.
func (r *WaitsReport) writeWaits(a *env.Env, w io.Writer) error {
	list := sumOver(r.Result.Waits, func(x *waits.Wait) string {
		if x.Metric == waits.WrongOrder {
			return ""
		}
		return x.Metric.String() + "\x00" + r.name(x.Path)
	}, func(s *overRanks, x *waits.Wait) {
		s.add(x.Rank, x.Amount)
		s.direct += x.Direct
	})
	right := table.Right
	t := table.New(table.Column{Key: "metric", Title: "wait"}, table.Column{Key: "time", Align: right}, table.Column{Key: "share", Align: right},
		table.Column{Key: "direct", Align: right}, table.Column{Key: "ranks", Align: right}, table.Column{Key: "worst rank", Align: right},
		table.Column{Key: "callpath", Title: "in"})
	for _, s := range list[:r.rows(len(list))] {
		metric, path, _ := strings.Cut(s.label, "\x00")
		t.Add(metric, s.sum.Short(), phrase.Percent(s.sum, r.Result.Totals.Waiting.Amount), phrase.Percent(s.direct, s.sum), phrase.Grouped(s.ranks),
			fmt.Sprintf("%d: %s", s.worst, s.most.Short()), phrase.InCallPath(path))
	}
	fmt.Fprintln(w)
	if err := a.WriteText(w, t, true); err != nil {
		return err
	}
	r.more(w, len(list), "line")
	if wrong := r.Result.Totals.ByMetric[waits.WrongOrder].Amount; wrong > 0 {
		fmt.Fprintf(w, "of late_sender, %s with messages in the wrong order\n", wrong.Short())
	}
	return nil
}

// writeDelays lists what made others wait.
func (r *WaitsReport) writeDelays(a *env.Env, w io.Writer) error {
	list := sumOver(r.Result.Delays, func(d *waits.Delay) string { return r.name(d.Path) }, func(s *overRanks, d *waits.Delay) {
		s.add(d.Rank, d.Sum())
		s.short += d.Short
	})
	right := table.Right
	t := table.New(table.Column{Key: "cost", Align: right}, table.Column{Key: "share", Align: right}, table.Column{Key: "short", Align: right},
		table.Column{Key: "long", Align: right}, table.Column{Key: "ranks", Align: right}, table.Column{Key: "worst rank", Align: right},
		table.Column{Key: "callpath", Title: "caused by"})
	for _, s := range list[:r.rows(len(list))] {
		t.Add(s.sum.Short(), phrase.Percent(s.sum, r.Result.Totals.Waiting.Amount), s.short.Short(), (s.sum - s.short).Short(), phrase.Grouped(s.ranks),
			fmt.Sprintf("%d: %s", s.worst, s.most.Short()), phrase.InCallPath(s.label))
	}
	fmt.Fprintln(w)
	if err := a.WriteText(w, t, true); err != nil {
		return err
	}
	r.more(w, len(list), "line")
	return nil
}

// writeCritical shows the critical path, if it was asked for.
func (r *WaitsReport) writeCritical(a *env.Env, w io.Writer) error {
	c := r.critical
	if c == nil {
		return nil
	}
	fmt.Fprintf(w, "\ncritical path of the run: %s in %s\n", c.Length.Short(), phrase.Plural(len(c.Segments), "segment"))
	paths := slices.Clone(c.Paths)
	slices.SortStableFunc(paths, func(x, y waits.CriticalTime) int { return cmp.Compare(y.Time, x.Time) })
	worst := map[int32]waits.CriticalShare{}
	for _, s := range c.Shares {
		if s.Time > worst[s.Path].Time {
			worst[s.Path] = s
		}
	}
	right := table.Right
	t := table.New(table.Column{Key: "time", Align: right}, table.Column{Key: "share", Align: right}, table.Column{Key: "average", Align: right},
		table.Column{Key: "imbalance", Align: right}, table.Column{Key: "mostly on", Align: right}, table.Column{Key: "callpath", Title: "in"})
	for _, p := range paths[:r.rows(len(paths))] {
		t.Add(p.Time.Short(), phrase.Percent(p.Time, c.Length), p.Average.Short(), p.Imbalance.Short(),
			fmt.Sprintf("%d: %s", worst[p.Path].Rank, worst[p.Path].Time.Short()), phrase.InCallPath(r.name(p.Path)))
	}
	if err := a.WriteText(w, t, true); err != nil {
		return err
	}
	r.more(w, len(paths), "line")
	return nil
}

// writeExplanations says why the largest waits happened.
func (r *WaitsReport) writeExplanations(a *env.Env, w io.Writer) {
	width := env.WidthOf(a.Stdout)
	for _, e := range r.explanations {
		fmt.Fprintln(w)
		for _, s := range e.Sentences(r.Result.Paths) {
			indent := strings.Repeat("  ", s.Depth)
			for i, line := range table.Wrap(s.Text, width-len(indent)-2) {
				if i > 0 {
					line = "  " + line
				}
				fmt.Fprintln(w, indent+line)
			}
		}
	}
}
