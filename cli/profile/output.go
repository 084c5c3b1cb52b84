package profile

import (
	"fmt"
	"io"
	"slices"

	"slackline/analyze/devices"
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
	Waits       []waits.Wait             `json:"waits"`                // as of the verb waits
	Delays      []waits.Delay            `json:"delays"`               // likewise
	NotAnalyzed waits.UnanalyzedDocument `json:"not_analyzed"`         // likewise
	Devices     []devices.Use            `json:"devices,omitempty"`    // of runs with accelerators
	Activities  []devices.ActivityTime   `json:"activities,omitempty"` // kernels, copies and memsets, the longest first
	Provenance  *provenance.Record       `json:"provenance,omitempty"`
}

func (r *profileReport) name(path int32) string { return r.profile.Paths.Names[path] }

func (r *profileReport) JSON(a *env.Env) (any, error) {
	waiting := r.waits.Document()
	return &document{
		Run:   profile.DescribeRun(r.run.Timeline, r.run.Machine, r.waits.Missing()),
		Waits: waiting.Waits, Delays: waiting.Delays, NotAnalyzed: waiting.NotAnalyzed,
		Devices: r.waits.Devices, Activities: devices.Times(r.run.Timeline, r.waits.Paths), Provenance: a.Record(r.run.Records...),
		Document: r.profile.Document(r.composition, r.efficiency, r.counts, r.iterations, r.options.byRank),
	}, nil
}

// Text writes a summary that fits a screen or two.
func (r *profileReport) Text(a *env.Env, w io.Writer) {
	a.WriteTitle(w, r.run.Headline())
	r.writeComposition(a, w)
	a.WriteWrapped(w, tables.NotAnalyzedWords(r.waits.NotAnalyzed(), r.options.top))
	e := r.efficiency
	fmt.Fprintf(w, "\nparallel efficiency %s = load balance %s x communication %s\n", ratio(e.Parallel), ratio(e.LoadBalance),
		ratio(e.Communication))
	unknown := ""
	if e.NotAnalyzed < 1 {
		unknown = fmt.Sprintf(" x not analyzed %s", ratio(e.NotAnalyzed))
	}
	fmt.Fprintf(w, "communication %s = serialization %s x transfer %s%s\n", ratio(e.Communication), ratio(e.Serialization), ratio(e.Transfer),
		unknown)
	estimated := ""
	if e.Estimated {
		estimated = ", estimated from the waits"
	}
	fmt.Fprintf(w, "run time on an ideal network: %s%s\n", e.Ideal.Short(), estimated)
	r.writeCounts(a, w)
	r.writePaths(a, w)
	r.writeDevices(a, w)
	r.writeTraffic(a, w)
	r.writeIterations(a, w)
}

// writeCounts says what was counted, and how fast the computation is.
func (r *profileReport) writeCounts(a *env.Env, w io.Writer) {
	c := r.counts
	if c == nil {
		return
	}
	if factors := tables.CountedFactors(c); factors != "" {
		fmt.Fprintf(w, "computation %s = %s\n", c.Useful.Short(), factors)
	}
	fmt.Fprintln(w)
	a.WriteText(w, tables.Counters(c), true)
}

func ratio(v float64) string { return phrase.Percent(v, 1) }

func (r *profileReport) writeComposition(a *env.Env, w io.Writer) {
	t := table.Of("activity", ">time", ">share", ">least=min per rank", ">most=max per rank")
	for _, p := range r.composition.Parts {
		var byRank []unit.Sum
		for _, rank := range r.run.Timeline.RanksRead() {
			byRank = append(byRank, p.ByRank[rank])
		}
		t.Add(waits.PartTitle(&p), p.Time.Short(), phrase.PercentOf(p.Time, r.composition.Total),
			slices.MinFunc(byRank, unit.Sum.Cmp).Short(), slices.MaxFunc(byRank, unit.Sum.Cmp).Short())
	}
	a.WriteText(w, t, true)
}

// writePaths lists the call paths that take the most time.
func (r *profileReport) writePaths(a *env.Env, w io.Writer) {
	t := tables.Paths(r.profile, r.profile.Longest(), r.composition.Total, r.options.top)
	fmt.Fprintln(w)
	a.WriteCut(w, t.Pick("time", "share", "visits", "most", "callpath"))
}

// writeDevices says what devices did, and which kernels were launched where.
func (r *profileReport) writeDevices(a *env.Env, w io.Writer) {
	if len(r.waits.Devices) == 0 {
		return
	}
	fmt.Fprintln(w)
	a.WriteCut(w, tables.Devices(r.waits.Devices, r.options.top))
	fmt.Fprintln(w)
	list := devices.Times(r.run.Timeline, r.waits.Paths)
	a.WriteCut(w, tables.Activities(list, r.options.top).Pick("time", "share", "count", "most", "callpath"))
}

// writeTraffic says what was communicated.
func (r *profileReport) writeTraffic(a *env.Env, w io.Writer) {
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
		t := table.Of("size=message size", ">messages", ">bytes")
		for _, s := range r.profile.Sizes() {
			t.Add(sizeRange(s.From, s.To), phrase.Grouped(s.Count), byteText(s.Bytes))
		}
		a.WriteText(w, t, true)
	}
	uses := r.profile.Collectives(profile.TimeParts)
	if len(uses) == 0 {
		return
	}
	fmt.Fprintln(w)
	a.WriteText(w, tables.Collectives(uses), true)
}

// byteText prints a number of bytes for people.
func byteText(n int64) string { return unit.Size(n).Short() }

func sizeRange(from, to int64) string {
	if from == to {
		return byteText(from)
	}
	return byteText(from) + " to " + byteText(to+1)
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
	which := "one with each %s"
	if !it.Covers {
		which = "one from each %s to the next (the last one has no known end and is left out)"
	}
	text := fmt.Sprintf("%s, %s: shortest %s, median %s, longest %s (number %d)", phrase.Plural(len(it.List), "iteration"),
		fmt.Sprintf(which, phrase.ShortPath(r.name(it.Path), 60)),
		unit.Duration(sorted[0]).Short(), median.Short(), unit.Duration(sorted[len(sorted)-1]).Short(), slowest+1)
	fmt.Fprintln(w)
	a.WriteWrapped(w, text)
}
