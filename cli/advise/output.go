package advise

import (
	"fmt"
	"io"
	"strings"

	"slackline/analyze/advise"
	"slackline/cli/env"
	"slackline/internal/phrase"
	"slackline/internal/table"
	"slackline/model/unit"
	"slackline/show/tables"
)

func (r *report) JSON(a *env.Env) (any, error) {
	r.Provenance = a.Record(r.records...)
	return &r.document, nil
}

func (r *report) Rows(*env.Env) env.Rows {
	return tables.Advice(append(append([]advise.Advice{}, r.Advice...), r.Upgrades...), 0)
}

// Text writes the ranking, sentences to act on, and the commands that prove them.
func (r *report) Text(a *env.Env, w io.Writer) {
	top := r.top
	fmt.Fprintf(w, "%s, %s on %s\n%s\n", r.Run, phrase.Plural(r.Ranks, "rank"), r.Machine, baseline(&r.Result))
	if r.Estimate != "" {
		fmt.Fprintf(w, "the machine: %s\n", r.Estimate)
	}
	a.WriteWrapped(w, fmt.Sprintf("changes that gain %s or more are ranked (%s)", phrase.Percent(r.Noise.Share, 1),
		strings.Join(r.Noise.Basis, "; ")))
	fmt.Fprintln(w)
	if text := r.Nothing(); text != "" {
		fmt.Fprintln(w, text)
	} else {
		a.WriteCut(w, tables.Advice(r.Advice, top).Pick("gain", "interval", "run time", "kind", "change", "callpath"))
	}
	for i := range r.Advice[:limited(len(r.Advice), top)] {
		fmt.Fprintln(w)
		writeAdvice(a, w, i+1, &r.Advice[i])
	}
	if t := r.Together; t != nil {
		fmt.Fprintln(w)
		a.WriteWrapped(w, fmt.Sprintf("Together, %s save %s (the sum of their gains is %s): %s instead of %s.", phrase.List(t.Changes),
			phrase.Percent(t.Gain, 1), phrase.Percent(t.Sum, 1), t.RunTime.Short(), r.RunTime.Short()))
		fmt.Fprintf(w, "  %s\n", t.Command)
	}
	fmt.Fprintln(w)
	a.WriteCut(w, tables.Ceilings(r.Ceilings))
	if len(r.Upgrades) > 0 {
		fmt.Fprintf(w, "\nwith faster code or a faster network:\n")
		a.WriteCut(w, tables.Advice(r.Upgrades, top).Pick("gain", "interval", "run time", "kind", "change", "pays from",
			"callpath"))
	}
	if r.After != nil {
		r.writeVerdict(a, w)
	}
}

// baseline says how long the run takes, simulated and measured.
func baseline(r *advise.Result) string {
	text := "simulated run time " + r.RunTime.Short()
	if r.Measured == nil {
		return text
	}
	return fmt.Sprintf("%s, measured %s (%+.1f %%)", text, r.Measured.Short(), 100**r.Difference)
}

// writeAdvice writes a sentence and its proof.
func writeAdvice(a *env.Env, w io.Writer, number int, x *advise.Advice) {
	for i, line := range table.Wrap(fmt.Sprintf("%d. %s", number, x.Say()), env.WidthOf(a.Stdout)-3) {
		if i > 0 {
			line = "   " + line
		}
		fmt.Fprintln(w, line)
	}
	fmt.Fprintf(w, "   %s\n", x.Command)
}

func limited(n, top int) int {
	if top == 0 {
		return n
	}
	return min(n, top)
}

func (r *report) writeVerdict(a *env.Env, w io.Writer) {
	v := r.After
	fmt.Fprintln(w)
	a.WriteWrapped(w, fmt.Sprintf("after the change: run time %s instead of %s. %s", unit.Duration(v.After).Short(),
		unit.Duration(v.Before).Short(), v.Sentence))
	if len(v.Changes) == 0 {
		return
	}
	t := table.Of(">predicted", ">still to gain", "state", "change")
	for _, f := range v.Changes {
		t.Add(phrase.Percent(f.Predicted, 1), phrase.Percent(max(f.Left, 0), 1), f.State, f.Text)
	}
	a.WriteCut(w, t)
}
