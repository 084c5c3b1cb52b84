package report

import (
	"fmt"
	"slices"

	"slackline/analyze/waits"
	"slackline/model/unit"
)

// How much of the waits a report shows.
const (
	shownWaits     = 8
	shownCauses    = 8
	shownStories   = 3
	storySentences = 12
)

// tellWaits says who waits and why.
func (s *story) tellWaits() *Section {
	section := &Section{ID: "waits", Title: "Who waits, and why", Question: "Where do ranks wait for others, and whose fault is it?"}
	a := s.main()
	if a != nil && a.empty() {
		section.Missing = emptyRun
		return section
	}
	if a == nil {
		section.Missing = &Missing{"measurements do not say it; a recorded run does", command("record", "--", "mpirun", "-n", "8", "./app")}
		return section
	}
	t := &a.waits.Totals
	if t.Waiting.Amount == 0 {
		section.say("Nobody waits.")
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
func (a *analysed) waitWords(causes []waits.DelaySum) string {
	t := &a.waits.Totals
	text := fmt.Sprintf("Ranks wait for %s in all, %s of the time of %s. ", t.Waiting.Amount.Short(), percent(part(t.Waiting.Amount, a.total())), a.crowd())
	if len(causes) == 0 {
		return text + "No cause was found: those that waited had not met those that came late before."
	}
	c := causes[0]
	text += fmt.Sprintf("%s of that is caused by %s", percent(a.waits.Share(c.Sum())), code(a.name(c.Path)))
	switch {
	case c.Ranks == 1:
		text += fmt.Sprintf(" on rank %d", c.Worst)
	case c.Ranks < a.timeline.Ranks:
		text += fmt.Sprintf(" on %s, most of it on rank %d", count(c.Ranks, "rank"), c.Worst)
	}
	if c.Long > 0 {
		text += fmt.Sprintf("; %s of its cost reaches others only through further waits, so that they seem to wait for somebody innocent", percent(part(c.Long, c.Sum())))
	}
	return text + "."
}

// causeTable ranks what made others wait.
func (a *analysed) causeTable(causes []waits.DelaySum) *Table {
	t := &Table{
		Title: "Root causes of waiting", Command: command("waits", a.words, "--top", "0"),
		Columns: []Column{left("caused by"), right("cost"), right("share"), right("direct"), right("through others"), right("ranks"), right("worst rank"), right("its cost")},
	}
	for i, c := range causes {
		if i == shownCauses {
			t.Left = len(causes) - i
			break
		}
		t.add(named(a.name(c.Path)), span(c.Sum()), shareOf(a.waits.Share(c.Sum())), span(c.Short), span(c.Long),
			whole(c.Ranks), whole(c.Worst), span(c.Most))
	}
	return t
}

// waitTable lists who waits where.
func (a *analysed) waitTable() *Table {
	t := &Table{
		Title: "Where they wait", Command: command("waits", a.words, "--top", "0"),
		Columns: []Column{left("wait"), left("in"), right("time"), right("share"), right("direct"), right("ranks"), right("worst rank"), right("its time")},
	}
	list := a.waits.WaitsByPath()
	for i, w := range list {
		if i == shownWaits {
			t.Left = len(list) - i
			break
		}
		t.add(text(w.Metric.Info().Title), named(a.name(w.Path)), span(w.Amount), shareOf(w.Share),
			Cell{Text: percent(part(w.Direct, w.Amount)), Value: part(w.Direct, w.Amount)}, whole(w.Ranks), whole(w.Worst), span(w.Most))
	}
	return t
}

// The maps of waits, in their order.
var waitMaps = []string{"Waiting", "Delay costs: made others wait", "Direct waits", "Indirect waits"}

// waitFigure maps waits and their causes onto the ranks.
func (a *analysed) waitFigure() *Figure {
	ranks := a.timeline.Ranks
	sums := make([][]unit.Duration, len(waitMaps))
	for i := range sums {
		sums[i] = make([]unit.Duration, ranks)
	}
	for rank, s := range a.waits.ByRank() {
		for i, d := range []unit.Duration{s.Amount, s.Delay, s.Direct, s.Indirect} {
			sums[i][rank] = d
		}
	}
	f := &Figure{
		ID: "waitmap", Title: "Who waits and who causes it, by rank",
		Caption: "Ranks on their process grid, if there is one. The stronger the colour, the more: those that wait on the first map are rarely those that cause it on the second.",
		Command: command("waits", a.words, "--plot", "waits.svg"), Data: &Table{Columns: []Column{right("rank")}},
		draw: func(width float64) figure { return mapsByRank(a.timeline, waitMaps, sums, width) },
	}
	for _, name := range waitMaps {
		f.Data.Columns = append(f.Data.Columns, right(lower(name)))
	}
	for rank := range ranks {
		row := []Cell{whole(rank)}
		for _, s := range sums {
			row = append(row, span(s[rank]))
		}
		f.Data.add(row...)
	}
	return f
}

// stories explain the longest waits in words. Explanations that say the same about another rank are left out.
func (a *analysed) stories() [][]Sentence {
	var all [][]Sentence
	type place struct {
		metric waits.Metric
		path   int32
	}
	var told []place
	for _, w := range a.waits.LongestWaits(nil) {
		if slices.Contains(told, place{w.Metric, w.Path}) {
			continue
		}
		told = append(told, place{w.Metric, w.Path})
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
func (a *analysed) criticalTable() *Table {
	c := a.critical
	if c == nil || c.Length == 0 {
		return &Table{}
	}
	paths := c.Longest()
	t := &Table{
		Title: fmt.Sprintf("Critical path: what the run time consists of (%s in %s)", c.Length.Short(), count(len(c.Segments), "segment")), Command: command("waits", a.words, "--critical-path", "--top", "0"),
		Columns: []Column{left("in"), right("time"), right("share"), right("average of a rank"), right("imbalance")},
	}
	for i, p := range paths {
		if i == shownCauses {
			t.Left = len(paths) - i
			break
		}
		t.add(named(a.name(p.Path)), span(p.Time), shareOf(part(p.Time, c.Length)), span(p.Average), span(p.Imbalance))
	}
	return t
}

// metricTable says what the kinds of waiting that occur mean, and what usually helps.
func (a *analysed) metricTable() *Table {
	t := &Table{Title: "What the waits mean, and what usually helps", Command: command("explain"), Columns: []Column{left("wait"), right("time"), left("meaning"), left("what usually helps")}}
	for _, m := range a.waits.Occurring() {
		t.add(text(m.Info().Title), span(a.waits.Totals.ByMetric[m].Amount), text(m.Info().Meaning), text(m.Info().Advice))
	}
	return t
}
