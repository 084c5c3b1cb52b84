package profile

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"slackline/analyze/profile"
	"slackline/analyze/waits"
	"slackline/cli/env"
	"slackline/internal/phrase"
	"slackline/internal/provenance"
	"slackline/internal/stat"
	"slackline/internal/table"
	"slackline/model/unit"
	"slackline/show/tables"
)

// document is the JSON output of profile.
type document struct {
	Run profile.RunDocument `json:"run"`
	profile.Document
	Waits      []waits.Wait       `json:"waits"`  // as of the verb waits
	Delays     []waits.Delay      `json:"delays"` // likewise
	Provenance *provenance.Record `json:"provenance,omitempty"`
}

func (r *profileReport) name(path int32) string { return r.profile.Paths.Names[path] }

func (r *profileReport) json() *document {
	waiting := r.waits.Document()
	return &document{
		Run: profile.DescribeRun(r.run.Timeline, r.run.Machine), Waits: waiting.Waits, Delays: waiting.Delays, Provenance: r.provenance,
		Document: r.profile.Document(r.composition, r.efficiency, r.iterations, r.options.byRank),
	}
}

// table is the CSV output: call paths, by rank if that was asked for.
func (r *profileReport) table() *table.Table {
	columns := []table.Column{{Key: "callpath"}, {Key: "kind"}, {Key: "visits"}, {Key: "exclusive_s"}, {Key: "inclusive_s"},
		{Key: "messages_sent"}, {Key: "bytes_sent"}, {Key: "messages_received"}, {Key: "bytes_received"}, {Key: "collective_bytes"}, {Key: "samples"}}
	list := r.profile.ByPath
	if r.options.byRank {
		columns = append([]table.Column{{Key: "rank"}}, columns...)
		list = r.profile.Entries
	}
	t := table.New(columns...)
	for i := range list {
		e := &list[i]
		var visits, samples any = "", ""
		switch {
		case r.profile.Counted(e):
			visits = e.Visits
		case e.Pieces > 0:
			samples = e.Samples
		}
		row := []any{r.name(e.Path), profile.KindOf(&r.profile.Paths.Region[e.Path]).String(), visits, tables.Seconds(e.Exclusive), tables.Seconds(e.Inclusive),
			e.Sent.Count, e.Sent.Bytes, e.Received.Count, e.Received.Bytes, e.Collective.Bytes, samples}
		if r.options.byRank {
			row = append([]any{e.Rank}, row...)
		}
		t.Add(row...)
	}
	return t
}

// writeText writes a summary that fits a screen or two.
func (r *profileReport) writeText(a *env.Env, w io.Writer) error {
	fmt.Fprintf(w, "%s\n\n", r.run.Headline())
	if err := r.writeComposition(a, w); err != nil {
		return err
	}
	e := r.efficiency
	fmt.Fprintf(w, "\nparallel efficiency %s = load balance %s x communication %s\n", ratio(e.Parallel), ratio(e.LoadBalance), ratio(e.Communication))
	fmt.Fprintf(w, "communication %s = serialization %s x transfer %s\n", ratio(e.Communication), ratio(e.Serialization), ratio(e.Transfer))
	estimated := ""
	if e.Estimated {
		estimated = ", estimated from the waits"
	}
	fmt.Fprintf(w, "run time on an ideal network: %s%s\n", e.Ideal.Short(), estimated)
	if err := r.writePaths(a, w); err != nil {
		return err
	}
	if err := r.writeTraffic(a, w); err != nil {
		return err
	}
	r.writeIterations(a, w)
	return nil
}

func ratio(v float64) string { return phrase.Percent(v, 1) }

func (r *profileReport) writeComposition(a *env.Env, w io.Writer) error {
	t := table.New(table.Column{Key: "activity"}, table.Column{Key: "time", Align: table.Right}, table.Column{Key: "share", Align: table.Right},
		table.Column{Key: "least", Title: "min per rank", Align: table.Right}, table.Column{Key: "most", Title: "max per rank", Align: table.Right})
	for _, p := range r.composition.Parts {
		name := p.Kind.Title()
		if p.Kind == profile.Waiting {
			name = "waiting: " + p.Name
		}
		t.Add(name, p.Time.Short(), phrase.Percent(p.Time, r.composition.Total), slices.Min(p.ByRank).Short(), slices.Max(p.ByRank).Short())
	}
	return a.WriteText(w, t, true)
}

// visits is how often a call path was called, or seen by samples.
func (r *profileReport) visits(e *profile.Entry) string {
	switch {
	case r.profile.Counted(e):
		return phrase.Grouped(e.Visits)
	case e.Pieces > 0 && e.Samples == 0: // recorded before samples were counted
		return "sampled"
	case e.Pieces > 0:
		return phrase.Plural(int(e.Samples), "sample")
	}
	return "-"
}

// writePaths lists the call paths that take the most time.
func (r *profileReport) writePaths(a *env.Env, w io.Writer) error {
	list := slices.Clone(r.profile.ByPath)
	slices.SortStableFunc(list, func(x, y profile.Entry) int { return cmp.Compare(y.Exclusive, x.Exclusive) })
	most := map[int32]profile.Entry{}
	for _, e := range r.profile.Entries {
		if m, ok := most[e.Path]; !ok || e.Exclusive > m.Exclusive {
			most[e.Path] = e
		}
	}
	t := table.New(table.Column{Key: "time", Align: table.Right}, table.Column{Key: "share", Align: table.Right}, table.Column{Key: "visits", Align: table.Right},
		table.Column{Key: "most on rank", Align: table.Right}, table.Column{Key: "callpath", Title: "in (exclusive)"})
	shown := len(list)
	if r.options.top > 0 {
		shown = min(shown, r.options.top)
	}
	for _, e := range list[:shown] {
		m := most[e.Path]
		t.Add(e.Exclusive.Short(), phrase.Percent(e.Exclusive, r.composition.Total), r.visits(&e), fmt.Sprintf("%d: %s", m.Rank, m.Exclusive.Short()), phrase.InCallPath(r.name(e.Path)))
	}
	fmt.Fprintln(w)
	if err := a.WriteText(w, t, true); err != nil {
		return err
	}
	if hidden := len(list) - shown; hidden > 0 {
		fmt.Fprintf(w, "(%s more; --top 0 shows all)\n", phrase.Plural(hidden, "line"))
	}
	return nil
}

// writeTraffic says what was communicated.
func (r *profileReport) writeTraffic(a *env.Env, w io.Writer) error {
	if links := r.profile.Matrix(); len(links) > 0 {
		var sum profile.Traffic
		var top profile.Link
		for _, l := range links {
			sum.Count += l.Count
			sum.Bytes += l.Bytes
			if l.Bytes > top.Bytes {
				top = l
			}
		}
		fmt.Fprintf(w, "\n%s, %s, between %s of ranks; most from %d to %d: %s\n", phrase.Plural(sum.Count, "message"), byteText(sum.Bytes),
			phrase.Plural(len(links), "pair"), top.From, top.To, byteText(top.Bytes))
		t := table.New(table.Column{Key: "size", Title: "message size"}, table.Column{Key: "messages", Align: table.Right}, table.Column{Key: "bytes", Align: table.Right})
		for _, s := range r.profile.Sizes() {
			t.Add(sizeRange(s.From, s.To), phrase.Grouped(s.Count), byteText(s.Bytes))
		}
		if err := a.WriteText(w, t, true); err != nil {
			return err
		}
	}
	uses := r.profile.Collectives(profile.TimeParts)
	if len(uses) == 0 {
		return nil
	}
	t := table.New(table.Column{Key: "collective"}, table.Column{Key: "ranks", Align: table.Right}, table.Column{Key: "calls", Align: table.Right},
		table.Column{Key: "bytes", Align: table.Right}, table.Column{Key: "time", Align: table.Right}, table.Column{Key: "over", Title: "over the run", Fixed: true})
	for _, u := range uses {
		t.Add(u.Op.String(), phrase.Grouped(u.Ranks), phrase.Grouped(u.Calls), byteText(u.Bytes), u.Time.Short(), sparkline(u.Over))
	}
	fmt.Fprintln(w)
	return a.WriteText(w, t, true)
}

// byteText prints a number of bytes for people.
func byteText(n int64) string { return unit.Size(n).Short() }

func sizeRange(from, to int64) string {
	if from == to {
		return byteText(from)
	}
	return byteText(from) + " to " + byteText(to+1)
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

// writeIterations says how the iterations develop.
func (r *profileReport) writeIterations(a *env.Env, w io.Writer) {
	it := r.iterations
	if it == nil || len(it.List) == 0 {
		return
	}
	var durations []int64
	for _, i := range it.List {
		durations = append(durations, int64(i.Duration))
	}
	sorted := stat.Sorted(durations)
	median := unit.Duration(stat.QuantileInt(sorted, 1, 2))
	slowest := slices.Index(durations, sorted[len(sorted)-1])
	text := fmt.Sprintf("%s, one with each %s: shortest %s, median %s, longest %s (number %d)", phrase.Plural(len(it.List), "iteration"), r.name(it.Path),
		unit.Duration(sorted[0]).Short(), median.Short(), unit.Duration(sorted[len(sorted)-1]).Short(), slowest+1)
	fmt.Fprintln(w)
	for _, line := range table.Wrap(text, env.WidthOf(a.Stdout)) {
		fmt.Fprintln(w, line)
	}
}
