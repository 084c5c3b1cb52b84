package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"slackline/analyze/compare"
	"slackline/analyze/profile"
	"slackline/internal/phrase"
	"slackline/internal/plain"
	"slackline/internal/table"
	"slackline/model/timeline"
	"slackline/model/trace"
	"slackline/model/unit"
	"slackline/show/figures"
	"slackline/show/plot"
	"slackline/show/tables"
)

// tellRun reports what ran.
func (s *story) tellRun(section *Section) *Missing {
	if s.main() == nil {
		section.Blocks = append(section.Blocks, Block{Facts: s.dataFacts()})
		section.doubt("These are measurements without a run: which ranks wait in them is unknown. " +
			code("slackline record -- mpirun -n 8 ./app") + " records one.")
		return nil
	}
	a := s.main()
	section.Blocks = append(section.Blocks, Block{Facts: a.facts()})
	switch {
	case a.timeline.LeftOut.Any():
		section.say(fmt.Sprintf("Everything is about the %s without %s; %s includes them.", a.runTime().Short(), a.timeline.LeftOut,
			code("--whole")))
	case a.run.Begin != 0 || a.run.End != 0:
		section.say(fmt.Sprintf("Everything below is about the time from %s to %s of the run, as requested. Simulations are of the whole run.",
			a.begin.Short(), a.end.Short()))
	}
	section.figure(a.matrixFigure())
	return nil
}

// facts describe a run.
func (a *analyzed) facts() []Fact {
	tl := a.timeline
	facts := []Fact{{"Run", plain.Name(a.run.Name)}}
	p := &a.run.Properties
	if len(p.Command) > 0 {
		facts = append(facts, Fact{"Program", phrase.Command(p.Command...)})
	} else if programs := programsOf(tl); programs != "" {
		facts = append(facts, Fact{"Program", programs})
	}
	if len(p.Launch) > 0 {
		facts = append(facts, Fact{"Started by", phrase.Command(p.Launch...)})
	}
	if p.Created > 0 {
		facts = append(facts, Fact{"Recorded", time.Unix(0, p.Created).UTC().Format("2 January 2006, 15:04 UTC")})
	}
	if p.MPI != "" {
		library, _, _ := strings.Cut(p.MPI, ",")
		facts = append(facts, Fact{"MPI", library})
	}
	ranks := phrase.Plural(tl.Ranks, "rank")
	if n := len(tl.Locations); n != tl.Ranks {
		ranks += ", " + phrase.Plural(n, "thread")
	}
	if g := tl.Grid; g != nil && len(g.Dims) > 0 {
		ranks += ", process grid " + strings.Trim(strings.ReplaceAll(fmt.Sprint(g.Dims), " ", " × "), "[]")
	}
	facts = append(facts, Fact{"Processes", ranks})
	if hosts := hostsOf(tl); hosts != "" {
		facts = append(facts, Fact{"Hosts", hosts})
	}
	runTime := a.runTime().Short()
	if tl.LeftOut.Any() {
		runTime += fmt.Sprintf(" without %s", tl.LeftOut)
	}
	if off := tl.Unrecorded(); off.Sign() > 0 {
		runTime += fmt.Sprintf(", recording was off for %s of it", phrase.PercentOf(off, tl.Lifetimes()))
	}
	facts = append(facts, Fact{"Run time", runTime})
	for _, sentence := range tl.Circumstances() {
		facts = append(facts, Fact{"Circumstances", sentence})
	}
	calls, bytes := int64(0), int64(0)
	for i := range tl.Locations {
		calls += int64(tl.Locations[i].Calls.Len())
	}
	for i := range tl.Messages {
		bytes += tl.Messages[i].Size
	}
	facts = append(facts, Fact{"Calls", phrase.Grouped(calls)},
		Fact{"Communication", fmt.Sprintf("%s with %s, %s", phrase.Plural(len(tl.Messages), "message"), unit.Size(bytes).Short(),
			phrase.Plural(len(tl.Collectives), "collective"))})
	return append(facts, Fact{"Observed by", a.observer()}, Fact{"Clocks", a.clockWords()})
}

// observer is where the run comes from.
func (a *analyzed) observer() string {
	if a.run.Machine != "" {
		return "simulation on " + a.run.Machine
	}
	words := "a recorder"
	if a.run.Properties.Tool != "" {
		words = a.run.Properties.Tool
	}
	if f, err := trace.FormatNamed(a.run.Format); err == nil {
		words += ", " + f.Info
	}
	if period := a.run.Properties.SamplePeriod; period > 0 {
		words += fmt.Sprintf(", call stacks sampled every %s", unit.Duration(period).Short())
	}
	return words
}

// programsOf names the outermost functions of the run, which is all that is known about the program.
func programsOf(tl *timeline.Timeline) string {
	var names []string
	for _, p := range tl.Paths[1:] {
		if r := &tl.Regions[p.Region]; p.Depth == 1 && r.Paradigm == timeline.User && !slices.Contains(names, r.Name) {
			names = append(names, r.Name)
		}
	}
	if len(names) == 0 || len(names) > 3 {
		return ""
	}
	return "starts in " + phrase.List(names)
}

// maxHosts is how many hosts are named.
const maxHosts = 4

func hostsOf(tl *timeline.Timeline) string {
	var names []string
	for i := range tl.Locations {
		if h := tl.Locations[i].Host; h != "" && !slices.Contains(names, h) {
			names = append(names, h)
		}
	}
	switch n := len(names); {
	case n == 0:
		return ""
	case n > maxHosts:
		return fmt.Sprintf("%s: %s, ...", phrase.Plural(n, "host"), strings.Join(names[:maxHosts], ", "))
	}
	return strings.Join(names, ", ")
}

// clockWords describes how accurate the times are.
func (a *analyzed) clockWords() string {
	if a.run.Timeline.Simulated || a.run.Clocks == nil {
		return "exact, as of a simulation"
	}
	worst, unknown := unit.Duration(-1), false
	for i := range a.run.Timeline.Locations {
		e := a.run.Timeline.Locations[i].ClockError
		worst, unknown = max(worst, e), unknown || e < 0
	}
	c := a.run.Clocks
	var words []string
	switch {
	case worst == 0 && !unknown:
		words = append(words, "one clock for all ranks")
	case worst < 0:
		words = append(words, "error unknown")
	case unknown:
		words = append(words, fmt.Sprintf("error up to %s where it is known", worst.Short()))
	default:
		words = append(words, fmt.Sprintf("accurate to %s", worst.Short()))
	}
	switch {
	case worst == 0 && !unknown:
	case c.Source == "none" || c.Source == "":
		words = append(words, "times as recorded")
	default:
		words = append(words, "compared by "+c.Source)
	}
	if b := &c.Before; b.Messages+b.Groups > 0 {
		words = append(words, phrase.Early(b.Messages, b.Groups, b.Worst.Short())+": corrected, by up to "+c.Furthest.Short())
	}
	return strings.Join(words, "; ")
}

// dataFacts describe measurements.
func (s *story) dataFacts() []Fact {
	d := s.in.Data
	metrics := []string{}
	for _, series := range d.Series {
		if !slices.Contains(metrics, series.Metric) {
			metrics = append(metrics, series.Metric)
		}
	}
	if len(metrics) > 6 {
		metrics = append(metrics[:6], "...")
	}
	return []Fact{
		{"Measurements", strings.Join(s.in.Words, ", ")}, {"Parameters", strings.Join(d.Parameters, ", ")},
		{"Series", phrase.Grouped(int64(len(d.Series)))}, {"Values", phrase.Grouped(int64(d.Measurements()))},
		{"Metrics", strings.Join(metrics, ", ")},
	}
}

// maxMatrix is how many ranks a matrix of messages in a report may have.
const maxMatrix = 256

// matrixFigure shows the messages between each pair of ranks.
func (a *analyzed) matrixFigure() *Figure {
	links := profile.Matrix(a.timeline)
	if len(links) == 0 || a.timeline.Ranks > maxMatrix {
		return nil
	}
	f := &Figure{
		ID: "messages", Title: "Who sends to whom", Caption: "Messages and bytes from rank (rows) to rank (columns). Collectives are not in it.",
		Command: command("profile", a.words, "--plot", "matrix.svg", "--plot-kind", "matrix"),
		Data:    newTable("", "", right("from"), right("to"), right("messages"), right("bytes")),
		draw:    func(float64) plot.Figure { return figures.Messages(a.timeline.Ranks, links) },
	}
	for _, l := range links {
		f.Data.Add(tables.Count(l.From), tables.Count(l.To), tables.Count(l.Count), table.Cell{Text: unit.Size(l.Bytes).Short(), Value: l.Bytes})
	}
	return f
}

// tellCompared compares several runs.
func (s *story) tellCompared(section *Section) *Missing {
	if len(s.runs) < 2 {
		return nil
	}
	words := []string{}
	for _, r := range s.runs {
		words = append(words, r.run.Words[0])
	}
	t := newTable("Runs side by side", command("compare", words[:2], s.main().words[1:]),
		left("run"), right("ranks"), right("run time"), right("against the first"), right("parallel efficiency"), right("load balance"),
		right("communication"), right("waiting"), left("largest cause of waiting"))
	for _, r := range s.runs {
		change := tables.Text("")
		if first := s.runs[0].runTime(); r != s.runs[0] && first > 0 {
			ratio := float64(r.runTime())/float64(first) - 1
			change = table.Cell{Text: fmt.Sprintf("%+.1f %%", 100*ratio), Value: ratio}
		}
		largest := tables.Text("")
		if causes := r.waits.DelaysByPath(); len(causes) > 0 {
			largest = tables.Path(r.name(causes[0].Path))
		}
		t.Add(tables.Text(r.run.Name), tables.Count(r.timeline.Ranks), tables.Time(r.runTime()), change, tables.Share(r.efficiency.Parallel),
			tables.Share(r.efficiency.LoadBalance),
			tables.Share(r.efficiency.Communication), tables.Share(r.waits.Totals.Waiting.Amount.Over(r.waits.Time())), largest)
	}
	section.table(t)
	section.figure(s.seriesFigure(words))
	s.tellComputation(section, words)
	return nil
}

// tellComputation compares the computation of the runs with that of the first, where all of it was counted.
func (s *story) tellComputation(section *Section, words []string) {
	t := newTable("Scaling of the computation", command("compare", words[:2]), left("run"), right("ranks"), right("computation"),
		right("instructions"), right("instructions per cycle"), right("frequency"))
	var ranks []int
	var list []*compare.Scaling
	for _, r := range s.runs {
		factors := compare.ScalingOf(s.runs[0].counts, r.counts)
		if factors == nil {
			continue
		}
		ranks, list = append(ranks, r.timeline.Ranks), append(list, factors)
		row := []any{tables.Text(r.run.Name), tables.Count(r.timeline.Ranks)}
		for _, f := range factors.Factors() {
			row = append(row, tables.Share(f.Value))
		}
		t.Add(row...)
	}
	if len(list) < 2 {
		return
	}
	section.say("Useful computation of all threads together against that of the first run: 100 % is as good. It is the product of " +
		"three factors: fewer instructions, more of them per cycle, and a higher frequency are better.")
	if slices.Min(ranks) == slices.Max(ranks) {
		section.table(t)
		return
	}
	t.Title = ""
	section.figure(&Figure{
		ID: "computation", Title: "Scaling of the computation", Caption: "Factors of the computation against the first run.",
		Command: t.Command, Data: t, draw: func(float64) plot.Figure { return figures.ComputationScaling(ranks, list) },
	})
}

// seriesFigure shows the run time and the efficiencies over the number of ranks, if the runs differ in it.
func (s *story) seriesFigure(words []string) *Figure {
	sorted := slices.Clone(s.runs)
	slices.SortStableFunc(sorted, func(x, y *analyzed) int { return x.timeline.Ranks - y.timeline.Ranks })
	if sorted[0].timeline.Ranks == sorted[len(sorted)-1].timeline.Ranks {
		return nil
	}
	f := &Figure{
		ID: "series", Title: "Over the number of ranks", Caption: "Run time and efficiencies of the runs.", Command: command("scaling", words,
			"--metric", "run_time"),
		Data: newTable("", "", right("ranks"), right("run time"), right("parallel efficiency"), right("load balance"), right("communication")),
	}
	var ranks []int
	var times []unit.Duration
	var list []*profile.Efficiency
	f.draw = func(float64) plot.Figure { return figures.Efficiencies(ranks, times, list) }
	for _, r := range sorted {
		ranks, times, list = append(ranks, r.timeline.Ranks), append(times, r.runTime()), append(list, r.efficiency)
		f.Data.Add(tables.Count(r.timeline.Ranks), tables.Time(r.runTime()), tables.Share(r.efficiency.Parallel),
			tables.Share(r.efficiency.LoadBalance), tables.Share(r.efficiency.Communication))
	}
	return f
}
