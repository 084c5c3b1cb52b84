package report

import (
	"fmt"
	"slices"

	"slackline/analyze/changes"
	"slackline/internal/phrase"
	"slackline/internal/provenance"
	"slackline/show/figures"
	"slackline/show/plot"
	"slackline/show/tables"
)

// HistoryInput is what the page of a history is made of.
type HistoryInput struct {
	Title  string
	Words  []string // that name the history on the command line
	Found  *changes.Result
	Record *provenance.Record
	Level  float64                          // probability of a change in a series without one
	Commit func(c *changes.Change) []string // what the commits of a change are called
}

// mostFigures is how many series have a figure: those that changed, then the others.
const mostFigures = 24

// History makes the page of a history.
func History(in *HistoryInput) *Document {
	r := in.Found
	command := func(verb string) string {
		return phrase.Command(append([]string{"slackline", "history", verb}, in.Words...)...)
	}
	list := tables.AllChanges(r)
	d := &Document{Title: in.Title, Provenance: in.Record}
	if n := len(r.Commits); n > 0 {
		first, last := r.Commits[0], r.Commits[n-1]
		d.Subtitle = fmt.Sprintf("%s in %s from %s (%s) to %s (%s)", phrase.Plural(len(r.Series), "series"), phrase.Plural(n, "commit"),
			first.Short(), first.Time.Format("2006-01-02"), last.Short(), last.Time.Format("2006-01-02"))
	}
	d.Summary = historySummary(list)
	d.Sections = []*Section{
		changesSection(r, list, in, command("check")), coursesSection(r, command("show")), commitsSection(r, command("show")),
	}
	return d
}

// historySummary is what a reader in a hurry needs to know.
func historySummary(list []tables.SeriesChange) []string {
	worse, suspect := 0, 0
	var worst *tables.SeriesChange
	for i := range list {
		switch c := &list[i]; c.Verdict() {
		case "worse":
			if worse++; worst == nil || c.Ratio() > worst.Ratio() {
				worst = c
			}
		case "suspect":
			suspect++
		}
	}
	text := []string{fmt.Sprintf("%s, %s of them for the worse.", phrase.Plural(len(list)-suspect, "change"), phrase.Grouped(worse))}
	if worst != nil {
		from, to := worst.Ends()
		text = append(text, fmt.Sprintf("The largest is %s of %s: from %s to %s (%s).", code(worst.Metric),
			code(tables.Path(worst.CallPath).Text), from, to, worst.Size()))
	}
	if suspect > 0 {
		text = append(text, fmt.Sprintf("The last value of %s is far off or missing; a second measurement of the commit would tell whether it "+
			"changed.", phrase.Plural(suspect, "series")))
	}
	return text
}

// changesSection lists the changes, with the commits among which each is.
func changesSection(r *changes.Result, list []tables.SeriesChange, in *HistoryInput, command string) *Section {
	s := &Section{ID: "changes", Title: "Changes", Question: "What changed, by how much, and at which commits?"}
	if len(list) == 0 {
		s.say("Nothing changed that is larger than the noise.")
		return s
	}
	t := tables.Changes(r, list)
	t.Limit = maxRows
	s.titled("", command, t)
	s.say(fmt.Sprintf("A series without a change is reported with a probability of at most %s.", phrase.Percent(in.Level, 1)))
	if in.Commit == nil {
		return s
	}
	seen := map[string]bool{}
	commits := newTable("Commits of the changes", "", left("changed"), left("commits"))
	for i := range list {
		c := list[i].Change
		where := r.Range(c)
		if c.Kind == changes.KindDrift {
			continue // all of them
		}
		for _, line := range in.Commit(c) {
			if !seen[where] {
				commits.Add(where, line)
			}
		}
		seen[where] = true
	}
	s.table(commits)
	return s
}

// coursesSection draws the series.
func coursesSection(r *changes.Result, command string) *Section {
	s := &Section{ID: "series", Title: "Series", Question: "How did each series develop?"}
	all := tables.HistorySeries(r)
	all.Limit = maxRows
	s.titled("All series", command, all)
	drawn := slices.Clone(r.Series)
	slices.SortStableFunc(drawn, func(a, b *changes.Series) int { return weight(b) - weight(a) })
	for i, series := range drawn[:min(len(drawn), mostFigures)] {
		data := newTable("", "", left("commit"), right(series.Metric))
		for k, v := range series.Values {
			data.Add(r.Commits[series.At[k]].Short(), tables.Measured(v, series.Unit))
		}
		caption := fmt.Sprintf("%s of %s", code(series.Metric), code(tables.Path(series.CallPath).Text))
		if series.Law != "" {
			caption += fmt.Sprintf(", grows as %s", series.Law)
		}
		s.figure(&Figure{
			ID: fmt.Sprintf("series-%d", i+1), Title: fmt.Sprintf("%s, %s", tables.Path(series.CallPath).Text,
				series.Metric), Caption: caption + ".",
			Command: command, Data: data, draw: func(float64) plot.Figure { return figures.History(r, series) },
		})
	}
	if n := len(drawn) - mostFigures; n > 0 {
		s.say(fmt.Sprintf("%s without a figure.", phrase.Plural(n, "further series")))
	}
	return s
}

// weight orders series: those with changes for the worse first, then those with others, then those that are suspect.
func weight(s *changes.Series) int {
	switch {
	case slices.ContainsFunc(s.Changes, func(c changes.Change) bool { return c.Worse }):
		return 3
	case len(s.Changes) > 0:
		return 2
	case len(s.Suspects) > 0:
		return 1
	}
	return 0
}

// commitsSection lists the commits, the newest first.
func commitsSection(r *changes.Result, command string) *Section {
	s := &Section{ID: "commits", Title: "Commits", Question: "What was measured?"}
	t := newTable("", command, right("number"), left("commit"), left("time"), left("subject"))
	for i, c := range slices.Backward(r.Commits) {
		t.Add(i+1, c.Short(), c.Time.UTC().Format("2006-01-02 15:04"), c.Subject)
	}
	s.table(t)
	return s
}
