package waits

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"slackline/analyze/waits"
	"slackline/cli/env"
	"slackline/internal/phrase"
	"slackline/internal/table"
	"slackline/show/tables"
)

// writeText writes a ranked summary that fits a screen, and what else was asked for.
func (r *waitsReport) Text(a *env.Env, w io.Writer) {
	tl, t := r.run.Timeline, &r.result.Totals
	who := "threads"
	if len(r.result.Devices) > 0 {
		who = "threads and devices"
	}
	a.WriteTitle(w, r.run.Headline())
	if r.run.Change != nil {
		fmt.Fprintf(w, "%s\n\n", strings.Join(r.run.Change.Sentences(), "\n"))
	}
	of := "time"
	if tl.Unrecorded().Sign() > 0 {
		of = "recorded time"
	}
	fmt.Fprintf(w, "waiting %s, %s of the %s of all %s\n", t.Waiting.Amount.Short(),
		phrase.PercentOf(t.Waiting.Amount, r.result.Time()), of, who)
	if !r.result.Forward {
		fmt.Fprintf(w, "  direct %s, indirect %s; propagating %s, terminal %s\n", phrase.PercentOf(t.Waiting.Direct, t.Waiting.Amount),
			phrase.PercentOf(t.Waiting.Indirect, t.Waiting.Amount),
			phrase.PercentOf(t.Waiting.Propagating, t.Waiting.Amount), phrase.PercentOf(t.Waiting.Terminal, t.Waiting.Amount))
	}
	if t.Unattributed.Sign() > 0 {
		fmt.Fprintf(w, "without cause: %s (%s)\n", t.Unattributed.Short(), phrase.PercentOf(t.Unattributed, t.Waiting.Amount))
	}
	if t.Uncertain.Sign() > 0 {
		fmt.Fprintf(w, "uncertain, in waits shorter than the error of the clocks: %s (%s)\n", t.Uncertain.Short(), phrase.PercentOf(t.Uncertain,
			t.Waiting.Amount))
	}
	a.WriteWrapped(w, tables.NotAnalyzedWords(r.result.NotAnalyzed(), r.options.top))
	if t.Waiting.Amount.Sign() > 0 {
		r.writeWaits(a, w)
		if !r.result.Forward {
			r.writeDelays(a, w)
		}
	}
	r.writeCritical(a, w)
	r.writeExplanations(a, w)
}

// writeWaits lists who waits where.
func (r *waitsReport) writeWaits(a *env.Env, w io.Writer) {
	fmt.Fprintln(w)
	t := tables.Waits(r.result, r.options.top)
	columns := []string{"wait", "time", "share", "direct", "ranks", "worst", "callpath"}
	if r.result.Forward {
		columns = slices.DeleteFunc(columns, func(key string) bool { return key == "direct" })
	}
	a.WriteCut(w, t.Pick(columns...))
	for _, m := range waits.Metrics() {
		if part := r.result.Totals.ByMetric[m].Amount; m.IsPart() && part.Sign() > 0 {
			fmt.Fprintf(w, "of %s, %s %s\n", m.Parent().Say(), part.Short(), m.Info().Within)
		}
	}
}

// writeDelays lists what made others wait.
func (r *waitsReport) writeDelays(a *env.Env, w io.Writer) {
	fmt.Fprintln(w)
	a.WriteCut(w, tables.Delays(r.result, r.options.top).Pick("cost", "share", "short", "long", "ranks", "worst", "callpath"))
}

// writeCritical shows the critical path, if it was asked for.
func (r *waitsReport) writeCritical(a *env.Env, w io.Writer) {
	c := r.critical
	if c == nil {
		return
	}
	fmt.Fprintf(w, "\ncritical path of the run: %s in %s\n", c.Length.Short(), phrase.Plural(len(c.Segments), "segment"))
	t := tables.Critical(r.result, c, r.options.top)
	a.WriteCut(w, t.Pick("time", "share", "average", "imbalance", "mostly on", "callpath"))
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
