package tables

import (
	"fmt"
	"math"
	"strings"

	"slackline/analyze/changes"
	"slackline/internal/phrase"
	"slackline/internal/table"
)

// SeriesChange is a change of a series.
type SeriesChange struct {
	*changes.Series
	*changes.Change
	Suspect bool
}

// AllChanges lists all changes of a history, then what is suspect: far off, or not there.
func AllChanges(r *changes.Result) []SeriesChange {
	var list []SeriesChange
	for _, s := range r.Series {
		for i := range s.Changes {
			list = append(list, SeriesChange{s, &s.Changes[i], false})
		}
	}
	for _, s := range r.Series {
		for i := range s.Suspects {
			list = append(list, SeriesChange{s, &s.Suspects[i], true})
		}
	}
	for i := range r.Missing {
		list = append(list, SeriesChange{r.Missing[i].Series, &r.Missing[i].Change, true})
	}
	return list
}

// Verdict is the word for a change.
func (c *SeriesChange) Verdict() string {
	switch {
	case c.Suspect:
		return "suspect"
	case c.Worse:
		return "worse"
	}
	return "better"
}

// Ends are what a change leads from and to.
func (c *SeriesChange) Ends() (from, to string) {
	switch {
	case c.Kind == changes.KindNoise:
		return fmt.Sprintf("+-%.2g %%", 100*c.From), fmt.Sprintf("+-%.2g %%", 100*c.To)
	case c.Kind == changes.KindModel && c.LawFrom != "" && c.LawFrom != c.LawTo:
		return c.LawFrom, c.LawTo
	}
	return Measured(c.From, c.Unit).Text, Measured(c.To, c.Unit).Text
}

// Changes has a row for each change.
func Changes(r *changes.Result, list []SeriesChange) *table.Table {
	t := phrase.PathTable("verdict", "callpath", "metric", "kind", "from", "to", ">change", "commits")
	for i := range list {
		c := &list[i]
		from, to := c.Ends()
		mark := map[string]string{"worse": "bad", "better": "good", "suspect": "unsure"}[c.Verdict()]
		t.Add(table.Cell{Text: c.Verdict(), Value: c.Verdict(), Mark: mark}, Path(c.CallPath), c.Metric, c.Kind, from, to, c.Size(),
			r.Range(c.Change))
	}
	return t
}

// ChangeRows has a row for each change, for programs.
func ChangeRows(r *changes.Result, list []SeriesChange) *table.Table {
	t := table.Of("verdict", "callpath", "metric", "unit", "kind", "before", "after", "from", "to", "p", "law_from",
		"law_to")
	for i := range list {
		c := &list[i]
		t.Add(c.Verdict(), c.CallPath, c.Metric, c.Unit, c.Kind, r.Commits[c.Before].ID, r.Commits[c.After].ID, c.From, Number(c.To), Number(c.P),
			c.LawFrom, c.LawTo)
	}
	return t
}

// HistorySeries has a row for each series of a history: what it is now, and its changes.
func HistorySeries(r *changes.Result) *table.Table {
	t := phrase.PathTable("callpath", "metric", ">commits", ">last", "law", "changes", "course")
	for _, s := range r.Series {
		var places []string
		for i := range s.Changes {
			c := &s.Changes[i]
			places = append(places, fmt.Sprintf("%s at %s", c.Size(), r.Commits[c.After].Short()))
		}
		law := Text(s.Law)
		if s.Law == "" {
			law = Text("-")
		}
		changed := "-"
		if len(places) > 0 {
			changed = strings.Join(places, ", ")
		}
		t.Add(Path(s.CallPath), s.Metric, len(s.At), Measured(s.Values[len(s.Values)-1], s.Unit), law, changed, spark(s.Values))
	}
	return t
}

// HistoryValues has a row for each value of each series, for programs.
func HistoryValues(r *changes.Result) *table.Table {
	t := table.Of("callpath", "metric", "unit", "commit", "time", "value")
	for _, s := range r.Series {
		for i, v := range s.Values {
			c := r.Commits[s.At[i]]
			t.Add(s.CallPath, s.Metric, s.Unit, c.ID, c.Time.UTC().Format("2006-01-02T15:04:05Z"), v)
		}
	}
	return t
}

// sparkWidth is how many letters a course has.
const sparkWidth = 16

// spark draws values as a line of blocks, the last ones if there are many.
func spark(values []float64) string {
	blocks := []rune("▁▂▃▄▅▆▇█")
	values = values[max(len(values)-sparkWidth, 0):]
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	var b strings.Builder
	for _, v := range values {
		i := len(blocks) / 2
		if high > low {
			i = int((v - low) / (high - low) * float64(len(blocks)-1))
		}
		b.WriteRune(blocks[i])
	}
	return b.String()
}
