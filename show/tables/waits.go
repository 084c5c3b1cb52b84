package tables

import (
	"fmt"

	"slackline/analyze/waits"
	"slackline/internal/phrase"
	"slackline/internal/table"
	"slackline/model/unit"
)

// worst names the rank that has most of a time.
func worst(rank int, most amount) table.Cell {
	return Text(fmt.Sprintf("%d: %s", rank, most.Short()))
}

// Waits lists which wait states occur where, the longest first, up to a limit (0: all).
func Waits(r *waits.Result, limit int) *table.Table {
	t := phrase.PathTable("wait", "callpath=in", ">time", ">share", ">direct", ">ranks", ">worst=worst rank", ">worst rank", ">its time")
	t.Limit = limit
	for _, w := range r.WaitsByPath() {
		direct := Share(w.Direct.Over(w.Amount))
		direct.Share = 0 // no bar
		t.Add(Text(w.Metric.Info().Title), Path(r.Paths.Names[w.Path]), Time(w.Amount), Share(w.Share), direct,
			Count(w.Ranks), worst(w.Worst, w.Most), Count(w.Worst), Time(w.Most))
	}
	return t
}

// Delays lists what made others wait, the costliest first, up to a limit (0: all).
func Delays(r *waits.Result, limit int) *table.Table {
	t := phrase.PathTable("callpath=caused by", ">cost", ">share", ">short", ">long", ">ranks", ">worst=worst rank", ">worst rank",
		">its cost")
	t.Limit = limit
	for _, d := range r.DelaysByPath() {
		t.Add(Path(r.Paths.Names[d.Path]), Time(d.Sum()), Share(r.Share(d.Sum())), Time(d.Short), Time(d.Long),
			Count(d.Ranks), worst(d.Worst, d.Most), Count(d.Worst), Time(d.Most))
	}
	return t
}

// Critical lists what the critical path consists of, the longest first, up to a limit (0: all).
func Critical(r *waits.Result, c *waits.CriticalPath, limit int) *table.Table {
	t := phrase.PathTable("callpath=in", ">time", ">share", ">average", ">imbalance", ">mostly on")
	t.Limit = limit
	for _, p := range c.Longest() {
		t.Add(Path(r.Paths.Names[p.Path]), Time(p.Time), Share(unit.SumOf(p.Time).Over(unit.SumOf(c.Length))), Time(p.Average), Time(p.Imbalance),
			worst(p.Worst, p.Most))
	}
	return t
}

// EachWait has a row for each wait, each delay and each time that was not analyzed of a rank, with all digits.
func EachWait(r *waits.Result) *table.Table {
	t := table.Of("kind", "metric", "rank", "callpath", "seconds", "direct_s", "indirect_s", "propagating_s",
		"terminal_s", "short_s", "long_s")
	none := table.Cell{}
	for i := range r.Waits {
		w := &r.Waits[i]
		class := func(d unit.Sum) any {
			if r.Forward {
				return none // not known
			}
			return seconds(d)
		}
		t.Add("wait", w.Metric.String(), w.Rank, r.Paths.Names[w.Path], seconds(w.Amount), class(w.Direct), class(w.Indirect),
			class(w.Propagating), class(w.Terminal), none, none)
	}
	for i := range r.Delays {
		d := &r.Delays[i]
		t.Add("delay", none, d.Rank, r.Paths.Names[d.Path], seconds(d.Sum()), none, none, none, none, seconds(d.Short), seconds(d.Long))
	}
	for i := range r.Unanalyzed {
		u := &r.Unanalyzed[i]
		t.Add("not_analyzed", none, u.Rank, r.Paths.Names[u.Path], seconds(u.Time), none, none, none, none, none, none)
	}
	return t
}

// NotAnalyzed lists the calls of MPI whose time was not analyzed, the longest first, up to a limit (0: all).
func NotAnalyzed(d waits.UnanalyzedDocument, limit int) *table.Table {
	t := table.Of("call", ">time", ">share", ">calls")
	t.Limit = limit
	for _, c := range d.Calls {
		t.Add(Text(c.Call), Time(c.Time), Share(c.Time.Over(d.Time)), Count(c.Count))
	}
	return t
}

// NotAnalyzedWords says how much MPI time was not analyzed and names the calls that have most of it, up to a limit (0: all).
func NotAnalyzedWords(d waits.UnanalyzedDocument, limit int) string {
	if len(d.Calls) == 0 {
		return "MPI time that was not analyzed: none"
	}
	text := fmt.Sprintf("MPI time that was not analyzed: %s, %s of the time of all threads", d.Time.Short(), phrase.Percent(d.Share, 1))
	for i, c := range d.Calls {
		if limit > 0 && i == limit {
			return text + fmt.Sprintf(" and %s", phrase.Plural(len(d.Calls)-limit, "other call"))
		}
		text += []string{": ", ", "}[min(i, 1)] + c.Call + " " + c.Time.Short()
	}
	return text
}
