package simulate

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"slackline/analyze/simulate"
	"slackline/analyze/whatif"
	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/input"
	"slackline/internal/phrase"
	"slackline/internal/table"
	"slackline/model/machine"
	"slackline/model/unit"
)

// checkAttribute finds flags that --attribute does not go with.
func (o *simulateOptions) checkAttribute(many bool) error {
	switch {
	case !o.attribute:
		return nil
	case many:
		return exit.Usagef("--attribute explains one run; leave --replicas, --bottleneck and all but one number of --ranks out")
	case o.result.IsTable():
		return exit.Usagef("--attribute has no form as a table; take --format text or json")
	case o.Machine.Model() == simulate.LogGPS:
		return exit.Usagef("--attribute: the model %s knows no noise; take --model %s", simulate.LogGPS, simulate.LogGOPS)
	}
	return nil
}

// attributionOf explains what the noise did to a run; nil: that is not wanted.
func (o *simulateOptions) attributionOf(a *env.Env, c *cobra.Command, in *input.Input, m *machine.Machine,
	so simulate.Options) (*whatif.Attribution, error) {
	if !o.attribute {
		return nil, nil
	}
	if so.Noise == nil {
		a.Warn("--attribute has nothing to explain: there is no noise; give --noise, --noise-file or --delay")
	}
	line := a.StartProgress()
	if line != nil {
		so.Progress = func(now unit.Duration, messages int64) {
			line.Report(func() string {
				return fmt.Sprintf("%s: attributing, simulated %s, %s messages", in.Name, now.Short(), phrase.Grouped(messages))
			})
		}
	}
	attribution, err := whatif.Attribute(c.Context(), in.Program, m, so)
	line.Clear()
	if err != nil {
		return nil, fmt.Errorf("--attribute: %w", err)
	}
	return attribution, nil
}

// maxAttributed is the largest number of sources, ranks and steps that the text
// lists.
const maxAttributed = 10

// writeAttribution writes the attribution for people.
func writeAttribution(a *env.Env, w io.Writer, r *whatif.Attribution) {
	if r == nil {
		return
	}
	tables := []*table.Table{attributionTable(r), pathTable(&r.Path)}
	if len(r.Sources) > 0 {
		tables = append(tables, sourceTable(r))
	}
	if r.Total.Injected > 0 {
		tables = append(tables, attributedRanks(r))
	}
	if len(r.Path.Held) > 0 {
		tables = append(tables, heldTable(&r.Path))
	}
	for _, t := range tables {
		fmt.Fprintln(w)
		a.WriteText(w, t, true)
	}
	if len(r.Ranks) > maxAttributed || len(r.Sources) > maxAttributed || len(r.Path.Held) > maxAttributed {
		fmt.Fprintf(w, "\nAll sources, ranks and steps: --format json.\n")
	}
}

func attributionTable(r *whatif.Attribution) *table.Table {
	t := table.Of("noise", ">time", ">share", "remark")
	total := &r.Total
	add := func(what string, n unit.Nanoseconds, remark string) {
		t.Add(what, n.Short(), phrase.Percent(n, total.Injected), remark)
	}
	add("injected", total.Injected, "CPU time taken from work, all ranks together")
	add("on the critical path", total.Critical, "it delayed the last finish")
	add("absorbed", total.Absorbed, "it did not:")
	for _, part := range []struct {
		what, remark string
		noise        unit.Nanoseconds
	}{
		{"  in waits", "the CPU waited for something later anyway", total.Waiting},
		{"  at busy receivers", "its message would have had to wait", total.Busy},
		{"  behind bytes", "the bytes of a message were still on their way in", total.Transfer},
		{"  beside equals", "something else was just as late", total.Tied},
		{"  until a finish", "of a rank that was not the last one", total.Finish},
	} {
		if part.noise > 0 {
			add(part.what, part.noise, part.remark)
		}
	}
	t.Add("growth of the makespan", r.Growth.Short(), "",
		fmt.Sprintf("from %s to %s: %s of noise on the path, %s by a change of the path",
			r.Noiseless.Short(), r.Makespan.Short(), r.Path.Noise.Short(), r.PathChange.Short()))
	t.Add("growth of all finishes", r.FinishGrowth.Short(), "",
		fmt.Sprintf("%.4g times the injected noise (amplification)", r.Amplification))
	return t
}

// pathTable is what the critical path consists of.
func pathTable(p *whatif.CriticalPath) *table.Table {
	t := table.Of("critical path", ">time", ">share", "remark")
	length := unit.Nanoseconds(p.Length())
	for _, part := range []struct {
		what string
		time unit.Nanoseconds
	}{
		{"compute", p.Compute}, {"overhead", p.Overhead}, {"latency", p.Latency},
		{"bytes", p.Bytes}, {"gap", p.Gap}, {"noise", p.Noise},
	} {
		t.Add(part.what, part.time.Short(), phrase.Percent(part.time, length), "")
	}
	t.Add("length", length.Short(), "", fmt.Sprintf("to the finish of rank %d, through %s on %s, with %s",
		p.LastRank, phrase.Plural(p.Steps, "step"), phrase.Plural(p.Ranks, "rank"), phrase.Plural(p.Messages, "message")))
	return t
}

func sourceTable(r *whatif.Attribution) *table.Table {
	t := accountTable("source")
	for _, s := range r.Sources[:min(len(r.Sources), maxAttributed)] {
		t.Add(append([]any{s.Source}, accountCells(&s.Account, &r.Total)...)...)
	}
	return t
}

// attributedRanks lists ranks that have to do with the noise.
func attributedRanks(r *whatif.Attribution) *table.Table {
	t := accountTable(">rank", ">absorbed here")
	for i := range r.Ranks {
		rank := &r.Ranks[i]
		if t.Len() == maxAttributed {
			break
		}
		if rank.Injected == 0 && rank.AbsorbedHere == 0 {
			continue
		}
		cells := append([]any{strconv.Itoa(rank.Rank)}, accountCells(&rank.Account, &r.Total)...)
		t.Add(append(cells, rank.AbsorbedHere.Short())...)
	}
	return t
}

func accountTable(of string, further ...string) *table.Table {
	return table.Of(append([]string{of, ">injected", ">on the path", ">share of the path's noise", ">absorbed"}, further...)...)
}

func accountCells(a, total *whatif.Account) []any {
	return []any{a.Injected.Short(), a.Critical.Short(), phrase.Percent(a.Critical, total.Critical), a.Absorbed.Short()}
}

// heldTable lists the steps of the path with the most noise.
func heldTable(p *whatif.CriticalPath) *table.Table {
	t := table.Of(">path held up at", ">rank", "during", ">noise")
	held := slices.Clone(p.Held)
	slices.SortStableFunc(held, func(x, y whatif.Hold) int { return cmp.Compare(y.Noise, x.Noise) })
	for _, h := range held[:min(len(held), maxAttributed)] {
		t.Add(h.Start.Short(), strconv.Itoa(h.Rank), h.During, h.Noise.Short())
	}
	return t
}
