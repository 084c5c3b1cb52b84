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
func (s *story) tellWaits() *Section {
	section := &Section{ID: "waits", Title: "Who waits, and why", Question: "Where do ranks wait for others, and what causes it?"}
	a := s.main()
	if a != nil && a.empty() {
		section.Missing = emptyRun
		return section
	}
	if a == nil {
		section.Missing = &Missing{"measurements do not show it; a recorded run does", command("record", "--", "mpirun", "-n", "8", "./app")}
		return section
	}
	t := &a.waits.Totals
	if t.Waiting.Amount == 0 {
		section.say("No rank waits.")
		return section
	}
	causes := a.waits.DelaysByPath()
	section.say(a.waitWords(causes))
	section.table(a.causeTable(causes))
	section.table(a.waitTable())
	section.figure(a.waitFigure())
	stories := a.stories()
	if len(stories) > 0 {
		section.head("The longest waits explained")
		for _, story := range stories {
			section.Blocks = append(section.Blocks, Block{Story: story})
		}
	}
	section.table(a.criticalTable())
	section.table(a.metricTable())
	return section
}

// waitWords sums the waits up.
func (a *analyzed) waitWords(causes []waits.DelaySum) string {
	t := &a.waits.Totals
	text := fmt.Sprintf("Ranks wait for %s in all, %s of the time of %s. ", t.Waiting.Amount.Short(), phrase.Percent(t.Waiting.Amount, a.total()), a.crowd())
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
	if c.Long > 0 {
		text += fmt.Sprintf("; %s of its cost reaches others only through further waits, where they seem to be caused by uninvolved ranks", phrase.Percent(c.Long, c.Sum()))
	}
	return text + "."
}

// causeTable ranks what made others wait.
func (a *analyzed) causeTable(causes []waits.DelaySum) *table.Table {
	t := newTable("Root causes of waiting", command("waits", a.words, "--top", "0"),
		left("caused by"), right("cost"), right("share"), right("direct"), right("through others"), right("ranks"), right("worst rank"), right("its cost"))
	t.Limit = shownCauses
	for _, c := range causes {
		t.Add(tables.Path(a.name(c.Path)), tables.Time(c.Sum()), tables.Share(a.waits.Share(c.Sum())), tables.Time(c.Short), tables.Time(c.Long), tables.Count(c.Ranks), tables.Count(c.Worst), tables.Time(c.Most))
	}
	return t
}

// waitTable lists who waits where.
func (a *analyzed) waitTable() *table.Table {
	t := newTable("Where they wait", command("waits", a.words, "--top", "0"),
		left("wait"), left("in"), right("time"), right("share"), right("direct"), right("ranks"), right("worst rank"), right("its time"))
	t.Limit = shownWaits
	for _, w := range a.waits.WaitsByPath() {
		t.Add(tables.Text(w.Metric.Info().Title), tables.Path(a.name(w.Path)), tables.Time(w.Amount), tables.Share(w.Share),
			table.Cell{Text: phrase.Percent(w.Direct, w.Amount), Value: tables.ShareOf(w.Direct, w.Amount)}, tables.Count(w.Ranks), tables.Count(w.Worst), tables.Time(w.Most))
	}
	return t
}

// waitFigure maps waits and their causes onto the ranks.
func (a *analyzed) waitFigure() *Figure {
	times := figures.WaitTimes(a.waits, a.timeline.Ranks)[:4]
	return &Figure{
		ID: "waitmap", Title: "Who waits and who causes it, by rank",
		Caption: "Ranks on their process grid, if there is one. Delay costs are the waiting times that a rank causes on others: the ranks that wait are rarely the ranks that cause the waits.",
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

// criticalTable shows what the run time consists of.
func (a *analyzed) criticalTable() *table.Table {
	c := a.critical
	if c == nil || c.Length == 0 {
		return &table.Table{}
	}
	t := newTable(fmt.Sprintf("Critical path: what the run time consists of (%s in %s)", c.Length.Short(), phrase.Plural(len(c.Segments), "segment")), command("waits", a.words, "--critical-path", "--top", "0"),
		left("in"), right("time"), right("share"), right("average of a rank"), right("imbalance"))
	t.Limit = shownCauses
	for _, p := range c.Longest() {
		t.Add(tables.Path(a.name(p.Path)), tables.Time(p.Time), tables.Share(tables.ShareOf(p.Time, c.Length)), tables.Time(p.Average), tables.Time(p.Imbalance))
	}
	return t
}

// metricTable explains the wait states that occur, and what usually helps.
func (a *analyzed) metricTable() *table.Table {
	t := newTable("What the waits mean, and what usually helps", command("explain"), left("wait"), right("time"), left("meaning"), left("what usually helps"))
	for _, m := range a.waits.Occurring() {
		t.Add(tables.Text(m.Info().Title), tables.Time(a.waits.Totals.ByMetric[m].Amount), tables.Text(m.Info().Meaning), tables.Text(m.Info().Advice))
	}
	return t
}
