package tables

import (
	"fmt"
	"slices"

	"slackline/analyze/profile"
	"slackline/analyze/waits"
	"slackline/internal/phrase"
	"slackline/internal/table"
	"slackline/model/unit"
)

// Paths lists call paths by the time that they take themselves, up to a limit (0: all). The shares are those of the whole time.
func Paths(p *profile.Profile, list []profile.PathTime, whole unit.Sum, limit int) *table.Table {
	t := phrase.PathTable("callpath=in (exclusive)", ">time", ">share", ">visits", ">most=most on rank", ">most on rank", ">its time")
	t.Limit = limit
	for i := range list {
		e := &list[i]
		t.Add(Path(p.Paths.Names[e.Path]), Time(e.Exclusive), Share(e.Exclusive.Over(whole)), visits(p, &e.Entry),
			worst(e.Worst, e.Most), Count(e.Worst), Time(e.Most))
	}
	return t
}

// visits is how often a call path was called, or seen by samples.
func visits(p *profile.Profile, e *profile.Entry) table.Cell {
	switch {
	case p.Counted(e):
		return Count(e.Visits)
	case e.Pieces > 0 && e.Samples == 0: // recorded before samples were counted
		return Text("sampled")
	case e.Pieces > 0:
		return Text(phrase.Plural(e.Samples, "sample"))
	}
	return Text("-")
}

// EachPath has a row for each call path, of each rank if asked for, with all digits.
func EachPath(p *profile.Profile, unanalyzed []waits.Unanalyzed, byRank bool) *table.Table {
	columns := table.Columns("callpath", "kind", "visits", "exclusive_s", "inclusive_s", "messages_sent", "bytes_sent",
		"messages_received", "bytes_received", "collective_bytes", "samples", "not_analyzed_s")
	list := p.ByPath
	if byRank {
		columns, list = append(table.Columns("rank"), columns...), p.Entries
	}
	for i, m := range p.Timeline.Metrics {
		key := "count_" + m.Name
		if slices.ContainsFunc(columns, func(c table.Column) bool { return c.Key == key }) {
			key = fmt.Sprintf("%s_%d", key, i+1)
		}
		columns = append(columns, table.Column{Key: key})
	}
	type place struct {
		rank int
		path int32
	}
	unknown := map[place]unit.Sum{}
	for _, u := range unanalyzed {
		for _, rank := range []int{u.Rank, -1} {
			unknown[place{rank, u.Path}] = unknown[place{rank, u.Path}].Plus(u.Time)
		}
	}
	t := table.New(columns...)
	for i := range list {
		e := &list[i]
		var visits, samples any = "", ""
		switch {
		case p.Counted(e):
			visits = e.Visits
		case e.Pieces > 0:
			samples = e.Samples
		}
		row := []any{p.Paths.Names[e.Path], profile.KindOf(&p.Paths.Region[e.Path]).String(), visits, seconds(e.Exclusive), seconds(e.Inclusive),
			e.Sent.Count, e.Sent.Bytes, e.Received.Count, e.Received.Bytes, e.Collective.Bytes, samples, seconds(unknown[place{e.Rank, e.Path}])}
		for m := range p.Timeline.Metrics {
			v := int64(0)
			if e.Counts != nil {
				v = e.Counts[m]
			}
			row = append(row, v)
		}
		if byRank {
			row = append([]any{e.Rank}, row...)
		}
		t.Add(row...)
	}
	return t
}

// Counters lists what was counted in a run.
func Counters(c *profile.Counts) *table.Table {
	t := table.Of("counter", ">useful=in computation", ">total=in all calls", "unit")
	for _, x := range c.Counters {
		t.Add(Text(x.Name), Count(x.Useful), Count(x.Total), Text(x.Unit))
	}
	return t
}

// CountedFactors are the numbers that the time of the computation is made of; empty: not all of them were counted.
func CountedFactors(c *profile.Counts) string {
	if c.IPC == 0 || c.Frequency == 0 {
		return ""
	}
	return fmt.Sprintf("%s instructions / %.3g instructions per cycle / %.3g GHz", phrase.Grouped(c.Instructions), c.IPC, c.Frequency/1e9)
}

// Collectives lists the collectives of a run.
func Collectives(uses []profile.CollectiveUse) *table.Table {
	t := table.Of("collective", ">ranks", ">calls", ">bytes", ">time", "over=over the run")
	t.Columns[5].Fixed = true
	for _, u := range uses {
		t.Add(Text(u.Op.String()), Count(u.Ranks), Count(u.Calls), size(u.Bytes), Time(u.Time), Text(sparkline(u.Over)))
	}
	return t
}

// sparkline draws counts as a line of characters, each for a part of the run.
func sparkline(counts []int64) string {
	const steps = " .:-=+*#"
	most := slices.Max(counts)
	line := make([]byte, len(counts))
	for i, c := range counts {
		k := int64(0)
		if c > 0 {
			k = max(1, c*int64(len(steps)-1)/most)
		}
		line[i] = steps[k]
	}
	return "|" + string(line) + "|"
}
