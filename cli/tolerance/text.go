package tolerance

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"slackline/analyze/tolerance"
	"slackline/cli/env"
	"slackline/internal/phrase"
	"slackline/internal/stat"
	"slackline/internal/table"
	"slackline/model/unit"
)

// title says what was evaluated.
func (t *report) title() string {
	return t.run.titleOf(t.input.Name, t.schedule.Ranks(), t.run.usedMapping(t.input))
}

func (r *run) titleOf(name string, ranks int, mapping []string) string {
	words := []string{fmt.Sprintf("%s, %s on %s", name, phrase.Plural(ranks, "rank"), r.on.Name)}
	if r.topology != nil {
		words = append(words, r.topology.String())
	}
	words = append(words, "model loggps")
	if len(mapping) > 0 {
		words = append(words, "mapping "+mapping[0])
	}
	return strings.Join(words, ", ")
}

func (t *report) Text(a *env.Env, w io.Writer) {
	a.WriteTitle(w, t.title())
	sections := []struct {
		table  *table.Table
		header bool
	}{
		{t.summary(), false}, {t.toleranceTable(), true}, {t.breakpointTable(), true}, {t.placeTable(), true},
		{t.partTable(), true}, {t.profileTable(), true}, {t.rankTable(), true}, {t.callTable(), true},
		{t.slackTable(), true}, {t.whatIfTable(), true}, {t.solverTable(), true},
	}
	for i, s := range sections {
		if s.table == nil || s.table.Len() == 0 {
			continue
		}
		if i > 0 { // the first is always there
			fmt.Fprintln(w)
		}
		a.WriteText(w, s.table, s.header)
	}
	if t.placement != nil {
		fmt.Fprintln(w)
		a.WriteWrapped(w, "nodes of the ranks: "+listOfNodes(t.placement.Nodes))
	}
	t.writePath(w)
}

func right(key string) table.Column { return table.Column{Key: key, Align: table.Right} }

// summary are T, its slopes and where they hold.
func (t *report) summary() *table.Table {
	a := t.answers
	s := table.Of("what", ">value", "remark")
	s.Add("T", a.T.Short(), fmt.Sprintf("%s ns; %s, %s", a.T.NS(),
		phrase.Plural(t.answers.Size.Ops, "operation"), phrase.Plural(t.answers.Size.Messages, "message")))
	varied := ""
	if t.set.varied != "" {
		varied = " " + t.set.varied
	}
	lambda := "latencies" + varied + " on the critical path" + t.splitRemark()
	if a.Lambda.LLeft != a.Lambda.L {
		lambda += fmt.Sprintf("; %s to the left of this L", phrase.Grouped(a.Lambda.LLeft))
	}
	s.Add("lambda_L", phrase.Grouped(a.Lambda.L), lambda)
	s.Add("lambda_G", phrase.Grouped(a.Lambda.Bytes), "bytes on the critical path")
	s.Add("lambda_o", phrase.Grouped(a.Lambda.O), "overheads on the critical path")
	s.Add("rho_L", fmt.Sprintf("%.2f %%", float64(a.Share())/10_000), "of T is latency"+varied)
	p := a.Question.Variable.Parameter
	valid := "any larger value"
	if !a.ValidTo.Unbounded {
		valid = valueOf{p, a.ValidTo.X}.exact()
	}
	s.Add(p.String(), valueOf{p, a.Given.X}.short(), fmt.Sprintf("is given; the slope of T is %s from %s to %s",
		phrase.Grouped(a.Given.Right), valueOf{p, a.ValidFrom}.exact(), valid))
	if a.Limit != nil {
		value, remark := largestWords(p, *a.Limit)
		s.Add("limit", value, fmt.Sprintf("%s is the largest %s with T at most %s", remark, p, a.Question.Limit))
	}
	return s
}

// splitRemark says in which parts of the network the latencies are.
func (t *report) splitRemark() string {
	var parts []string
	if w := t.set.wiring; w != nil && len(t.run.ask.vary) == 0 {
		for i, n := range w.LambdaByWireClass(t.answers.Path) {
			parts = append(parts, fmt.Sprintf("%s %s", phrase.Grouped(n), w.Topology.WireClasses()[i]))
		}
	} else if _, uniform := t.set.network.Layout.Uniform(); w == nil && !uniform {
		for _, c := range t.usedClasses() {
			parts = append(parts, fmt.Sprintf("%s %s", phrase.Grouped(t.answers.Path.LByClass[c]), c))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}

// largestWords says an answer in words: short for a table, and exact.
func largestWords(p tolerance.Parameter, l tolerance.Largest) (short, exact string) {
	switch {
	case l.Infeasible:
		return "none", "no value"
	case l.Unbounded:
		return "any", "every value"
	}
	return valueOf{p, l.X}.short(), valueOf{p, l.X}.exact()
}

func (t *report) toleranceTable() *table.Table {
	a := t.answers
	p := a.Question.Variable.Parameter
	s := table.Of(">T may grow by", ">largest "+p.String(), ">that is", "exactly")
	for i, l := range a.Tolerance {
		short, exact := largestWords(p, l)
		more := "-"
		if !l.Unbounded {
			more = "+" + valueOf{p, l.X - a.Given.X}.short()
		}
		s.Add(t.run.ask.percents[i].String(), short, more, exact)
	}
	return s
}

// maxListedBreakpoints is how many breakpoints the text lists; csv and json have all.
const maxListedBreakpoints = 40

func (t *report) breakpointTable() *table.Table {
	if t.run.ask.span == "" {
		return nil
	}
	p := t.answers.Question.Variable.Parameter
	title := fmt.Sprintf("slope changes at %s", p)
	s := table.New(right(title), right("from"), right("to"))
	points := t.answers.Breakpoints
	for _, b := range points[:min(len(points), maxListedBreakpoints)] {
		s.Add(valueOf{p, b.X.Whole}.exact(), phrase.Grouped(b.Before), phrase.Grouped(b.After))
	}
	if more := len(points) - maxListedBreakpoints; more > 0 {
		s.Add(fmt.Sprintf("%s more: --format csv or json", phrase.Grouped(more)), "", "")
	}
	if len(points) == 0 {
		s.Add("nowhere in the range", phrase.Grouped(t.answers.Curve[0].After), phrase.Grouped(t.answers.Curve[0].After))
	}
	return s
}

func (t *report) partTable() *table.Table {
	if len(t.parts) == 0 {
		return nil
	}
	columns := table.Columns("pair of ranks", ">on the path", ">slope")
	wires := t.run.wiring.wires > 0
	if wires {
		columns = slices.Concat(table.Columns("wire", "kind"), columns[1:])
	}
	for _, p := range t.run.ask.percents {
		columns = append(columns, right("L for "+p.String()))
	}
	s := table.New(columns...)
	for _, p := range t.parts {
		var cells []any
		if wires {
			cells = []any{p.Wire, p.Kind}
		} else {
			cells = []any{fmt.Sprintf("%d-%d", *p.A, *p.B)}
		}
		cells = append(cells, phrase.Grouped(p.Lambda), phrase.Grouped(p.Slope))
		for _, l := range p.largest {
			short, _ := largestWords(tolerance.L, l)
			cells = append(cells, short)
		}
		s.Add(cells...)
	}
	return s
}

// kinds are the kinds of time on a path, in the order of the output.
var pathKinds = []struct {
	name string
	of   func(tolerance.Profile) unit.Duration
}{
	{"compute", func(p tolerance.Profile) unit.Duration { return p.Calc }},
	{"overhead", func(p tolerance.Profile) unit.Duration { return p.Overhead }},
	{"latency", func(p tolerance.Profile) unit.Duration { return p.Latency }},
	{"bytes", func(p tolerance.Profile) unit.Duration { return p.Bandwidth }},
	{"gap", func(p tolerance.Profile) unit.Duration { return p.Gap }},
	{"switches", func(p tolerance.Profile) unit.Duration { return p.Switch }},
}

func (t *report) profileTable() *table.Table {
	if !t.run.where.critical {
		return nil
	}
	s := table.Of("critical path", ">time", ">share")
	for _, k := range pathKinds {
		d := k.of(t.answers.Path.Profile)
		s.Add(k.name, d.Short(), phrase.Percent(d, t.answers.T))
	}
	return s
}

// maxListedParts is how many ranks or call paths the text lists.
const maxListedParts = 12

// pathTable lists parts of the critical path, the longest first.
func (t *report) pathTable(title string, n int, part func(int) (string, tolerance.Profile)) *table.Table {
	columns := []table.Column{{Key: title}, right("time"), right("share")}
	for _, k := range pathKinds[:4] {
		columns = append(columns, right(k.name))
	}
	s := table.New(columns...)
	order := stat.Order(n, func(a, b int) int {
		_, p := part(a)
		_, q := part(b)
		return cmp.Compare(q.Total(), p.Total())
	})
	for _, i := range order[:min(n, maxListedParts)] {
		name, p := part(i)
		cells := []any{name, p.Total().Short(), phrase.Percent(p.Total(), t.answers.T)}
		for _, k := range pathKinds[:4] {
			cells = append(cells, k.of(p).Short())
		}
		s.Add(cells...)
	}
	return s
}

func (t *report) rankTable() *table.Table {
	if !t.run.where.critical {
		return nil
	}
	list := t.answers.Path.ByRank
	return t.pathTable("on rank", len(list), func(i int) (string, tolerance.Profile) {
		return fmt.Sprint(list[i].Rank), list[i].Profile
	})
}

func (t *report) callTable() *table.Table {
	origins := t.schedule.Origins()
	if !t.run.where.critical || len(origins) < 2 {
		return nil
	}
	list := t.answers.Path.ByOrigin
	return t.pathTable("in call path", len(list), func(i int) (string, tolerance.Profile) {
		return originName(origins, list[i].Origin), list[i].Profile
	})
}

func (t *report) slackTable() *table.Table {
	if t.slack == nil {
		return nil
	}
	s := table.Of("slack in", "of", ">operations", ">without slack", ">smallest", ">median", ">largest")
	summary := t.slack.Summary()
	for _, g := range summary[:min(len(summary), maxListedParts)] {
		s.Add(originName(t.schedule.Origins(), g.Origin), g.Kind.String(), phrase.Grouped(g.Ops), phrase.Grouped(g.Critical),
			g.Smallest.Short(), g.Median.Short(), g.Largest.Short())
	}
	return s
}

func (t *report) whatIfTable() *table.Table {
	if len(t.whatIfs) == 0 {
		return nil
	}
	s := table.Of("what if", ">takes less", ">T", ">T shrinks by", ">of T")
	for i, a := range t.whatIfs {
		s.Add(a.Path, t.run.where.whatIf[i].Percent.String(), a.T.Short(), (t.answers.T - a.T).Short(), phrase.Percent(t.answers.T-a.T,
			t.answers.T))
	}
	return s
}

// maxListedSteps is the longest critical path that the text lists.
const maxListedSteps = 64

// writePath lists the operations of a short critical path.
func (t *report) writePath(w io.Writer) {
	if !t.run.where.critical {
		return
	}
	path := t.answers.Path.Path
	if len(path) > maxListedSteps {
		fmt.Fprintf(w, "\nThe path has %s operations: --format json lists them.\n", phrase.Grouped(len(path)))
		return
	}
	s := table.Of(">path: rank", "operation", "kind")
	for i, v := range path {
		s.Add(fmt.Sprint(v.Rank), t.schedule.Name(v.Rank, v.Op), t.answers.Path.Kinds[i].String())
	}
	fmt.Fprintln(w)
	t.run.app.WriteText(w, s, true)
}
