package report

import (
	"fmt"
	"slices"

	"slackline/analyze/waits"
	"slackline/internal/phrase"
	"slackline/internal/table"
	"slackline/show/figures"
	"slackline/show/plot"
	"slackline/show/tables"
)

// How much of the waits a report shows.
const (
	shownWaits     = 8
	shownCauses    = 8
	shownStories   = 3
	storySentences = 12
)

// tellWaits reports which ranks wait and why.
func (s *story) tellWaits(section *Section) *Missing {
	a := s.main()
	if a != nil && a.empty() {
		return emptyRun
	}
	if a == nil {
		return &Missing{"measurements do not show it; a recorded run does", command("record", "--", "mpirun", "-n", "8", "./app")}
	}
	t := &a.waits.Totals
	if t.Waiting.Amount.Sign() == 0 {
		section.say("No rank waits.")
		a.tellNotAnalyzed(section)
		return nil
	}
	causes := a.waits.DelaysByPath()
	section.say(a.waitWords(causes))
	all := command("waits", a.words, "--top", "0")
	section.titled("Root causes of waiting", all, tables.Delays(a.waits, shownCauses).
		Pick("callpath", "cost", "share", "short=direct", "long=through others", "ranks", "worst rank", "its cost"))
	section.titled("Where they wait", all, tables.Waits(a.waits, shownWaits).
		Pick("wait", "callpath", "time", "share", "direct", "ranks", "worst rank", "its time"))
	section.figure(a.waitFigure())
	stories := a.stories()
	if len(stories) > 0 {
		section.head("The longest waits explained")
		for _, story := range stories {
			section.Blocks = append(section.Blocks, Block{Story: story})
		}
	}
	if c := a.critical; c != nil && c.Length > 0 {
		title := fmt.Sprintf("Critical path: what the run time consists of (%s in %s)", c.Length.Short(), phrase.Plural(len(c.Segments),
			"segment"))
		section.titled(title, command("waits", a.words, "--critical-path", "--top", "0"),
			tables.Critical(a.waits, c, shownCauses).Pick("callpath", "time", "share", "average=average of a rank", "imbalance"))
	}
	a.tellNotAnalyzed(section)
	section.table(a.metricTable())
	return nil
}

// tellNotAnalyzed reports how much MPI time no rule understands.
func (a *analyzed) tellNotAnalyzed(section *Section) {
	d := a.waits.NotAnalyzed()
	if len(d.Calls) == 0 {
		section.say("All MPI time was analyzed.")
		return
	}
	section.doubt(fmt.Sprintf("%s of MPI time, %s of the time of %s, was not analyzed: it is neither waiting nor transfer.",
		d.Time.Short(), phrase.Percent(d.Share, 1), a.crowd()))
	section.titled("MPI time that was not analyzed", command("waits", a.words, "--top", "0"),
		tables.NotAnalyzed(d, shownWaits).Pick("call", "time", "share", "calls"))
}

// waitWords sums the waits up.
func (a *analyzed) waitWords(causes []waits.DelaySum) string {
	t := &a.waits.Totals
	text := fmt.Sprintf("Ranks wait for %s in all, %s of the time of %s%s. ", t.Waiting.Amount.Short(), phrase.PercentOf(t.Waiting.Amount,
		a.waits.Time()), a.crowd(), a.devices())
	if len(causes) == 0 {
		return text + "No cause was found: the ranks that waited had not synchronized with the late ranks before."
	}
	c := causes[0]
	text += fmt.Sprintf("%s of that is caused by %s", phrase.Percent(a.waits.Share(c.Sum()), 1), code(a.name(c.Path)))
	switch {
	case c.Ranks == 1:
		text += fmt.Sprintf(" on rank %d", c.Worst)
	case c.Ranks < a.timeline.Ranks:
		text += fmt.Sprintf(" on %s, most of it on rank %d", phrase.Plural(c.Ranks, "rank"), c.Worst)
	}
	if c.Long.Sign() > 0 {
		text += fmt.Sprintf("; %s of its cost reaches others only through further waits, where they seem to be caused by uninvolved ranks",
			phrase.PercentOf(c.Long, c.Sum()))
	}
	return text + "."
}

// waitFigure maps waits and their causes onto the ranks.
func (a *analyzed) waitFigure() *Figure {
	times := figures.WaitTimes(a.waits, a.timeline.Ranks)[:4]
	return &Figure{
		ID: "waitmap", Title: "Who waits and who causes it, by rank",
		Caption: "Ranks on their process grid, if there is one. Delay costs are the waiting times that a rank causes on others: the ranks that " +
			"wait are rarely the ranks that cause the waits.",
		Command: command("waits", a.words, "--plot", "waits.svg"), Data: rankTable(times),
		draw: func(width float64) plot.Figure {
			return figures.RankMaps(a.timeline, times, perRow(a.timeline.Ranks, width))
		},
	}
}

// perRow is the number of ranks in a row of a map without a process grid: many enough that there are not more rows.
func perRow(ranks int, width float64) int {
	columns := 32
	if width < 500 {
		columns = 16
	}
	for columns*columns < ranks {
		columns *= 2
	}
	return columns
}

// stories explain the longest waits in words. Explanations that repeat one of another rank are left out.
func (a *analyzed) stories() [][]Sentence {
	var all [][]Sentence
	type place struct {
		metric waits.Metric
		path   int32
	}
	var explained []place
	for _, w := range a.waits.LongestWaits(nil) {
		if slices.Contains(explained, place{w.Metric, w.Path}) {
			continue
		}
		explained = append(explained, place{w.Metric, w.Path})
		var story []Sentence
		for _, s := range a.waits.Explain(w).Sentences() {
			if len(story) < storySentences {
				story = append(story, Sentence{s.Depth, s.Text})
			}
		}
		if all = append(all, story); len(all) == shownStories {
			break
		}
	}
	return all
}

// metricTable explains the wait states that occur, and what usually helps.
func (a *analyzed) metricTable() *table.Table {
	t := newTable("What the waits mean, and what usually helps", command("explain"), left("wait"), right("time"), left("meaning"),
		left("what usually helps"))
	for _, m := range a.waits.Occurring() {
		t.Add(tables.Text(m.Info().Title), tables.Time(a.waits.Totals.ByMetric[m].Amount), tables.Text(m.Info().Meaning),
			tables.Text(m.Info().Advice))
	}
	return t
}
