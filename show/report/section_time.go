package report

import (
	"cmp"
	"fmt"
	"slices"

	"slackline/analyze/profile"
	"slackline/analyze/waits"
	"slackline/internal/phrase"
	"slackline/internal/table"
	"slackline/model/unit"
	"slackline/show/figures"
	"slackline/show/plot"
	"slackline/show/tables"
)

// tellTime reports how the time is composed and how efficient it is.
func (s *story) tellTime(section *Section) *Missing {
	a := s.main()
	if a == nil {
		return &Missing{"measurements do not show it; a recorded run does", command("report", "app.slt", s.from)}
	}
	if a.empty() {
		return emptyRun
	}
	section.Blocks = append(section.Blocks, Block{Shares: a.shares()})
	section.figure(a.timelineFigure())
	section.say(a.efficiencyWords())
	section.Blocks = append(section.Blocks, Block{Meters: a.meters()})
	a.tellCounts(section)
	section.figure(a.rankFigure())
	busy := slices.DeleteFunc(a.profile.Longest(), func(p profile.PathTime) bool { return p.Exclusive.Sign() == 0 })
	section.titled("Call paths that take the most time (without what they call)", command("profile", a.words, "--top", "0"),
		tables.Paths(a.profile, busy, a.composition.Total, shownPaths).
			Pick("callpath=call path", "time", "share", "visits", "most on rank", "its time="))
	section.figure(a.iterationFigure())
	section.titled("Collectives", command("profile", a.words), tables.Collectives(profile.Collectives(a.timeline, 1)).
		Pick("collective=operation", "ranks", "calls", "bytes", "time=time of all ranks"))
	return nil
}

// tellCounts reports what was counted, and how fast the computation is.
func (a *analyzed) tellCounts(section *Section) {
	if a.counts == nil {
		return
	}
	if factors := tables.CountedFactors(a.counts); factors != "" {
		section.say(fmt.Sprintf("The computation of %s takes %s = %s.", a.crowd(), a.counts.Useful.Short(), factors))
	}
	section.titled("Counters", command("profile", a.words), tables.Counters(a.counts).
		Pick("counter=counter", "useful=in computation", "total=in all calls", "unit=unit"))
}

// empty reports whether no time passes in the run, or in the part that the report is about.
func (a *analyzed) empty() bool { return a.composition.Total.Sign() == 0 }

// emptyRun is the reason for missing sections of a run in which no time passes.
var emptyRun = &Missing{"no time passes in the run, or in the part of it that was asked for", ""}

// shares is the composition as one bar.
func (a *analyzed) shares() *Shares {
	sh := &Shares{Title: "Time of " + a.crowd(), Command: command("profile", a.words)}
	for _, p := range a.composition.Parts {
		if p.Time.Sign() > 0 {
			sh.Parts = append(sh.Parts, Share{
				Name: waits.PartTitle(&p), Kind: colorOf(p.Kind), Text: p.Time.Short(), Share: p.Time.Over(a.composition.Total),
				color: shareColor(&p),
			})
		}
	}
	return sh
}

// crowd is all that the run has.
func (a *analyzed) crowd() string {
	if len(a.timeline.Locations) != a.timeline.Ranks {
		return "all " + phrase.Plural(len(a.timeline.Locations), "thread")
	}
	if a.timeline.Ranks == 1 {
		return "the only rank"
	}
	return "all " + phrase.Plural(a.timeline.Ranks, "rank")
}

// colorOf is the word that gives a kind of activity its color.
func colorOf(k profile.Kind) string {
	switch k {
	case profile.Computation:
		return "compute"
	case profile.Waiting:
		return "waiting"
	case profile.OpenMP:
		return "openmp"
	case profile.Noise, profile.Recording, profile.NoCPU:
		return "noise"
	case profile.Outside, profile.NotRecorded:
		return "outside"
	}
	return "mpi"
}

// shareColor is the color of a part of the composition, the same as in the explorer and in the timeline.
func shareColor(p *profile.Part) waits.Color {
	if m := waits.ByName(p.Name); p.Kind == profile.Waiting && m != waits.None {
		return m.Info().Color
	}
	return figures.KindColor(p.Kind)
}

// timelineRows and timelineColumns are how finely a report shows what ranks do over time.
const (
	timelineRows    = 48
	timelineColumns = 240
)

// timelineFigure shows what ranks do over time.
func (a *analyzed) timelineFigure() *Figure {
	l := figures.Timeline(a.waits, timelineRows, timelineColumns)
	data := newTable("", "", left("row"))
	for _, k := range l.Kinds {
		data.Columns = append(data.Columns, right(k.Name))
	}
	for row, name := range l.Rows {
		counts := make([]int, len(l.Kinds))
		for _, k := range l.Cells[row*l.Columns:][:l.Columns] {
			counts[k]++
		}
		cells := []any{tables.Text(name)}
		for _, n := range counts {
			cells = append(cells, tables.Count(n))
		}
		data.Add(cells...)
	}
	caption := "Each piece of a row shows what takes most of its time; colors as in the explorer. The table counts the pieces."
	if n := len(a.timeline.WithStreams().Locations); n > len(l.Rows) {
		caption += fmt.Sprintf(" %d of %d rows are shown, evenly spread.", len(l.Rows), n)
	}
	return &Figure{
		ID: "timeline", Title: "What ranks do over time", Caption: caption, Command: command("explore", a.words), Data: data,
		draw: func(float64) plot.Figure { copied := *l; return &copied },
	}
}

// efficiencyWords is what the efficiencies mean here.
func (a *analyzed) efficiencyWords() string {
	e := a.efficiency
	text := fmt.Sprintf("%s of the time of all ranks is useful computation. ", phrase.Percent(e.Parallel, 1))
	type loss struct {
		factor float64
		text   string
	}
	losses := []loss{
		{e.LoadBalance, fmt.Sprintf("Most of the rest is lost because work is spread unevenly: the busiest rank computes %s, the average is %s.",
			e.MaxUseful.Short(), e.AverageUseful.Short())},
		{e.Serialization, "Most of the rest is lost because ranks wait for each other in turn, although all have about the same amount of work."},
		{e.Transfer, "Most of the rest is lost in the transfer of data and in MPI itself."},
		{e.NotAnalyzed, "Most of the rest is MPI time that was not analyzed."},
	}
	worst := slices.MinFunc(losses, func(x, y loss) int { return cmp.Compare(x.factor, y.factor) })
	if e.Parallel >= 0.95 {
		return text + "There is little to gain from a better balance or a faster network."
	}
	return text + worst.text
}

// meters are the efficiencies as a tree.
func (a *analyzed) meters() []Meter {
	e, known := a.efficiency, phrase.FiniteOr0
	estimated := ""
	if e.Estimated {
		estimated = fmt.Sprintf("; the run time on an ideal network, %s, is estimated from the waits", e.Ideal.Short())
	}
	factors := "serialization × transfer"
	if e.NotAnalyzed < 1 {
		factors += " × not analyzed"
	}
	meters := []Meter{
		{"Parallel efficiency", known(e.Parallel), "share of the time of all ranks that is useful computation: load balance × communication", 0},
		{"Load balance", known(e.LoadBalance), "mean over maximum computation time of a rank: 1 if all ranks have the same amount of work", 1},
		{"Communication", known(e.Communication), "maximum computation time of a rank over the run time: " + factors, 1},
		{"Serialization", known(e.Serialization), "cost of dependencies between ranks, even on an ideal network" + estimated, 2},
		{"Transfer", known(e.Transfer), "cost of data transfer and of MPI itself", 2},
	}
	if e.NotAnalyzed < 1 {
		meters = append(meters, Meter{"Not analyzed", known(e.NotAnalyzed), "MPI time that is neither known to be waiting nor transfer", 2})
	}
	return meters
}

// rankFigure shows what each rank does with its time.
func (a *analyzed) rankFigure() *Figure {
	if a.timeline.Ranks < 2 {
		return nil
	}
	shown := slices.DeleteFunc(figures.Activities(a.composition, a.timeline.Ranks), func(t figures.RankTimes) bool {
		return slices.MaxFunc(t.Times, unit.Sum.Cmp).Sign() == 0
	})
	if len(shown) == 0 {
		return nil
	}
	return &Figure{
		ID: "ranks", Title: "What each rank does with its time", Caption: "Parts of the time of each rank, one above the other.",
		Command: command("profile", a.words, "--plot", "ranks.svg", "--plot-kind", "ranks"), Data: rankTable(shown),
		draw: func(float64) plot.Figure { return figures.StackedRanks(shown) },
	}
}

// rankTable lists times by rank.
func rankTable(series []figures.RankTimes) *table.Table {
	t := newTable("", "", right("rank"))
	for _, s := range series {
		t.Columns = append(t.Columns, right(phrase.Lower(s.Name)))
	}
	for rank := range series[0].Times {
		row := []any{tables.Count(rank)}
		for _, s := range series {
			row = append(row, tables.Time(s.Times[rank]))
		}
		t.Add(row...)
	}
	return t
}

// shownPaths is how many call paths a table shows.
const shownPaths = 12

// iterationFigure shows the times of each iteration.
func (a *analyzed) iterationFigure() *Figure {
	it := a.iterations
	if it == nil || len(it.List) < 2 {
		return nil
	}
	f := &Figure{
		ID: "iterations", Title: "Times of the iterations", Caption: fmt.Sprintf("An iteration starts with each %s.", code(a.name(it.Path))),
		Command: command("profile", a.words, "--plot", "iterations.svg", "--plot-kind", "iterations"),
		Data: newTable("", "", right("iteration"), right("duration, mean"), right("computation, most"), right("computation, mean"),
			right("waiting, mean")),
		draw: func(float64) plot.Figure { return figures.Iterations(it) },
	}
	for k, i := range it.List {
		f.Data.Add(tables.Count(k+1), tables.Time(i.Duration), tables.Time(i.MaxComputation), tables.Time(i.Computation), tables.Time(i.Waiting))
	}
	return f
}
