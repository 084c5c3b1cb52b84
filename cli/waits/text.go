package waits

import (
	"fmt"
	"io"
	"strings"

	"slackline/analyze/waits"
	"slackline/cli/env"
	"slackline/internal/phrase"
	"slackline/internal/table"
	"slackline/model/unit"
)

// writeText writes a ranked summary that fits a screen, and what else was asked for.
func (r *waitsReport) writeText(a *env.Env, w io.Writer) error {
	tl, t := r.run.Timeline, &r.result.Totals
	_, all := tl.WithoutCPU()
	all -= tl.Unrecorded()
	fmt.Fprintf(w, "%s\n\n", r.run.Headline())
	if r.run.Change != nil {
		fmt.Fprintf(w, "%s\n\n", strings.Join(r.run.Change.Sentences(), "\n"))
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
func (r *waitsReport) rows(n int) int {
	if top := r.options.top; top > 0 {
		return min(top, n)
	}
	return n
}

// list starts a table of times, their shares and other columns, with the call path last.
func list(first []table.Column, path string, right ...string) *table.Table {
	columns := first
	for _, key := range right {
		columns = append(columns, table.Column{Key: key, Align: table.Right})
	}
	return table.New(append(columns, table.Column{Key: "callpath", Title: path})...)
}

// worst names the rank that has most of a time.
func worst(rank int, most unit.Duration) string { return fmt.Sprintf("%d: %s", rank, most.Short()) }

// writeWaits lists who waits where.
func (r *waitsReport) writeWaits(a *env.Env, w io.Writer) error {
	sums := r.result.WaitsByPath()
	t := list([]table.Column{{Key: "metric", Title: "wait"}}, "in", "time", "share", "direct", "ranks", "worst rank")
	for _, s := range sums[:r.rows(len(sums))] {
		t.Add(s.Metric.String(), s.Amount.Short(), phrase.Percent(s.Amount, r.result.Totals.Waiting.Amount), phrase.Percent(s.Direct, s.Amount),
			phrase.Grouped(s.Ranks), worst(s.Worst, s.Most), phrase.InCallPath(r.name(s.Path)))
	}
	fmt.Fprintln(w)
	if err := r.writeList(a, w, t, len(sums)); err != nil {
		return err
	}
	for _, m := range waits.Metrics() {
		if part := r.result.Totals.ByMetric[m].Amount; m.IsPart() && part > 0 {
			fmt.Fprintf(w, "of %s, %s %s\n", m.Parent(), part.Short(), m.Info().Within)
		}
	}
	return nil
}

// writeList writes a list and how many of its rows are not shown.
func (r *waitsReport) writeList(a *env.Env, w io.Writer, t *table.Table, rows int) error {
	if err := a.WriteText(w, t, true); err != nil {
		return err
	}
	if hidden := rows - r.rows(rows); hidden > 0 {
		fmt.Fprintf(w, "(%s more; --top 0 shows all)\n", phrase.Plural(hidden, "line"))
	}
	return nil
}

// writeDelays lists what made others wait.
func (r *waitsReport) writeDelays(a *env.Env, w io.Writer) error {
	sums := r.result.DelaysByPath()
	t := list(nil, "caused by", "cost", "share", "short", "long", "ranks", "worst rank")
	for _, s := range sums[:r.rows(len(sums))] {
		t.Add(s.Sum().Short(), phrase.Percent(s.Sum(), r.result.Totals.Waiting.Amount), s.Short.Short(), s.Long.Short(), phrase.Grouped(s.Ranks),
			worst(s.Worst, s.Most), phrase.InCallPath(r.name(s.Path)))
	}
	fmt.Fprintln(w)
	return r.writeList(a, w, t, len(sums))
}

// writeCritical shows the critical path, if it was asked for.
func (r *waitsReport) writeCritical(a *env.Env, w io.Writer) error {
	c := r.critical
	if c == nil {
		return nil
	}
	fmt.Fprintf(w, "\ncritical path of the run: %s in %s\n", c.Length.Short(), phrase.Plural(len(c.Segments), "segment"))
	paths := c.Longest()
	t := list(nil, "in", "time", "share", "average", "imbalance", "mostly on")
	for _, p := range paths[:r.rows(len(paths))] {
		t.Add(p.Time.Short(), phrase.Percent(p.Time, c.Length), p.Average.Short(), p.Imbalance.Short(), worst(p.Worst, p.Most),
			phrase.InCallPath(r.name(p.Path)))
	}
	return r.writeList(a, w, t, len(paths))
}

// writeExplanations says why the largest waits happened.
func (r *waitsReport) writeExplanations(a *env.Env, w io.Writer) {
	width := env.WidthOf(a.Stdout)
	for _, e := range r.explanations {
		fmt.Fprintln(w)
		for _, s := range e.Sentences() {
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
