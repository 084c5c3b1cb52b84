package profile

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"slackline/analyze/profile"
	"slackline/cli/env"
	"slackline/cli/phrase"
	"slackline/cli/waits"
	"slackline/internal/provenance"
	"slackline/internal/stat"
	"slackline/internal/table"
	"slackline/model/unit"
)

// profileJSON is the JSON output of profile.
type profileJSON struct {
	Run         waits.RunJSON       `json:"run"`
	Composition []partJSON          `json:"composition"`
	Efficiency  efficiencyJSON      `json:"efficiency"`
	CallPaths   []pathProfileJSON   `json:"callpaths"`
	ByRank      []pathProfileJSON   `json:"callpaths_by_rank,omitempty"`
	Matrix      []linkJSON          `json:"messages"`
	Sizes       []sizeJSON          `json:"message_sizes"`
	Collectives []collectiveUseJSON `json:"collectives"`
	Iterations  *iterationsJSON     `json:"iterations,omitempty"`
	Waits       []waits.WaitJSON    `json:"waits"`  // as of the verb waits
	Delays      []waits.DelayJSON   `json:"delays"` // likewise
	Provenance  *provenance.Record  `json:"provenance,omitempty"`
}

type partJSON struct {
	Kind    string        `json:"kind"`
	Name    string        `json:"name"`
	Seconds json.Number   `json:"seconds"`
	Share   float64       `json:"share"`
	ByRank  []json.Number `json:"by_rank_s"`
}

type efficiencyJSON struct {
	Parallel      float64     `json:"parallel_efficiency"`
	LoadBalance   float64     `json:"load_balance"`
	Communication float64     `json:"communication_efficiency"`
	Serialisation float64     `json:"serialisation_efficiency"`
	Transfer      float64     `json:"transfer_efficiency"`
	Ideal         json.Number `json:"ideal_s"`
	Estimated     bool        `json:"ideal_is_estimate"`
	AverageUseful json.Number `json:"average_useful_s"`
	MaxUseful     json.Number `json:"max_useful_s"`
}

type pathProfileJSON struct {
	Rank            *int        `json:"rank,omitempty"`
	CallPath        string      `json:"callpath"`
	Kind            string      `json:"kind"`
	Visits          *int64      `json:"visits,omitempty"`  // of counted calls
	Samples         *int64      `json:"samples,omitempty"` // of functions that samples found
	Exclusive       json.Number `json:"exclusive_s"`
	Inclusive       json.Number `json:"inclusive_s"`
	Sent            int64       `json:"messages_sent"`
	SentBytes       int64       `json:"bytes_sent"`
	Received        int64       `json:"messages_received"`
	ReceivedBytes   int64       `json:"bytes_received"`
	CollectiveBytes int64       `json:"collective_bytes"`
}

type linkJSON struct {
	From     int   `json:"from"`
	To       int   `json:"to"`
	Messages int64 `json:"messages"`
	Bytes    int64 `json:"bytes"`
}

type sizeJSON struct {
	From     int64 `json:"from_bytes"`
	To       int64 `json:"to_bytes"`
	Messages int64 `json:"messages"`
	Bytes    int64 `json:"bytes"`
}

type collectiveUseJSON struct {
	Operation string      `json:"operation"`
	Ranks     int         `json:"ranks"`
	Calls     int64       `json:"calls"`
	Bytes     int64       `json:"bytes"`
	Seconds   json.Number `json:"seconds"`
	First     json.Number `json:"first_s"`
	Last      json.Number `json:"last_s"`
	Over      []int64     `json:"over_time"`
}

type iterationsJSON struct {
	CallPath string          `json:"callpath"`
	Covers   bool            `json:"calls_are_iterations"`
	List     []iterationJSON `json:"list"`
}

type iterationJSON struct {
	Begin          json.Number `json:"begin_s"`
	Duration       json.Number `json:"duration_s"`
	Computation    json.Number `json:"computation_s"`
	MaxComputation json.Number `json:"max_computation_s"`
	MPI            json.Number `json:"mpi_s"`
	Waiting        json.Number `json:"waiting_s"`
}

// timeParts is into how many parts the run is divided to show when collectives happen.
const timeParts = 50

func (r *profileReport) name(path int32) string { return r.profile.Paths.Names[path] }

func (r *profileReport) json() *profileJSON {
	e := r.efficiency
	j := &profileJSON{
		Run: waits.DescribeRun(r.run), Provenance: r.provenance, CallPaths: []pathProfileJSON{}, Matrix: []linkJSON{}, Sizes: []sizeJSON{}, Collectives: []collectiveUseJSON{},
		Efficiency: efficiencyJSON{
			Parallel: e.Parallel, LoadBalance: e.LoadBalance, Communication: e.Communication, Serialisation: e.Serialisation, Transfer: e.Transfer,
			Ideal: phrase.ExactSeconds(e.Ideal), Estimated: e.Estimated, AverageUseful: phrase.ExactSeconds(e.AverageUseful), MaxUseful: phrase.ExactSeconds(e.MaxUseful),
		},
	}
	waiting := (&waits.WaitsReport{Run: r.run, Result: r.waits}).JSON()
	j.Waits, j.Delays = waiting.Waits, waiting.Delays
	for i, p := range r.composition.Parts {
		part := partJSON{Kind: p.Kind.String(), Name: p.Name, Seconds: phrase.ExactSeconds(p.Time), Share: float64(p.Time) / float64(r.composition.Total)}
		for _, rank := range r.composition.ByRank {
			part.ByRank = append(part.ByRank, phrase.ExactSeconds(rank.Times[i]))
		}
		j.Composition = append(j.Composition, part)
	}
	for i := range r.profile.ByPath {
		j.CallPaths = append(j.CallPaths, r.pathJSON(&r.profile.ByPath[i]))
	}
	if r.options.byRank {
		for i := range r.profile.Entries {
			j.ByRank = append(j.ByRank, r.pathJSON(&r.profile.Entries[i]))
		}
	}
	for _, l := range r.profile.Matrix() {
		j.Matrix = append(j.Matrix, linkJSON{l.From, l.To, l.Count, l.Bytes})
	}
	for _, s := range r.profile.Sizes() {
		j.Sizes = append(j.Sizes, sizeJSON{s.From, s.To, s.Count, s.Bytes})
	}
	for _, c := range r.profile.Collectives(timeParts) {
		j.Collectives = append(j.Collectives, collectiveUseJSON{c.Op.String(), c.Ranks, c.Calls, c.Bytes, phrase.ExactSeconds(c.Time), phrase.ExactSeconds(c.First), phrase.ExactSeconds(c.Last), c.Over})
	}
	if it := r.iterations; it != nil {
		j.Iterations = &iterationsJSON{CallPath: r.name(it.Path), Covers: it.Covers}
		for _, i := range it.List {
			j.Iterations.List = append(j.Iterations.List, iterationJSON{
				phrase.ExactSeconds(i.Begin), phrase.ExactSeconds(i.Duration), phrase.ExactSeconds(i.Computation), phrase.ExactSeconds(i.MaxComputation), phrase.ExactSeconds(i.MPI), phrase.ExactSeconds(i.Waiting),
			})
		}
	}
	return j
}

func (r *profileReport) pathJSON(e *profile.Entry) pathProfileJSON {
	j := pathProfileJSON{
		CallPath: r.name(e.Path), Kind: profile.KindOf(&r.profile.Paths.Region[e.Path]).String(),
		Exclusive: phrase.ExactSeconds(e.Exclusive), Inclusive: phrase.ExactSeconds(e.Inclusive), Sent: e.Sent.Count, SentBytes: e.Sent.Bytes,
		Received: e.Received.Count, ReceivedBytes: e.Received.Bytes, CollectiveBytes: e.Collective.Bytes,
	}
	if e.Rank >= 0 {
		j.Rank = &e.Rank
	}
	switch {
	case r.profile.Counted(e):
		j.Visits = &e.Visits
	case e.Pieces > 0:
		j.Samples = &e.Samples
	}
	return j
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
		row := []any{r.name(e.Path), profile.KindOf(&r.profile.Paths.Region[e.Path]).String(), visits, phrase.ExactSeconds(e.Exclusive), phrase.ExactSeconds(e.Inclusive),
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
	fmt.Fprintf(w, "communication %s = serialisation %s x transfer %s\n", ratio(e.Communication), ratio(e.Serialisation), ratio(e.Transfer))
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

func ratio(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }

func (r *profileReport) writeComposition(a *env.Env, w io.Writer) error {
	t := table.New(table.Column{Key: "activity"}, table.Column{Key: "time", Align: table.Right}, table.Column{Key: "share", Align: table.Right},
		table.Column{Key: "least", Title: "least of a rank", Align: table.Right}, table.Column{Key: "most", Title: "most of a rank", Align: table.Right})
	for i, p := range r.composition.Parts {
		name := p.Kind.Title()
		if p.Kind == profile.Waiting {
			name = "waiting: " + p.Name
		}
		var times []unit.Duration
		for _, rank := range r.composition.ByRank {
			times = append(times, rank.Times[i])
		}
		t.Add(name, p.Time.Short(), phrase.Percent(p.Time, r.composition.Total), slices.Min(times).Short(), slices.Max(times).Short())
	}
	return a.WriteText(w, t, true)
}

// visits is how often a call path was called, or seen by samples.
func (r *profileReport) visits(e *profile.Entry) string {
	switch {
	case r.profile.Counted(e):
		return phrase.Grouped(e.Visits)
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
	uses := r.profile.Collectives(timeParts)
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
