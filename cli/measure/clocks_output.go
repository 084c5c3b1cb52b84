package measure

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"slackline/cli/env"
	"slackline/internal/phrase"
	"slackline/internal/stat"
	"slackline/internal/table"
	"slackline/model/clock"
	"slackline/model/unit"
	"slackline/observe/measure"
)

func (r *measuredClocks) Text(a *env.Env, w io.Writer) {
	c := r.clocks
	fmt.Fprintf(w, "clocks: %s, %d ranks on %s\n", r.over, c.Ranks, hostsText(c.Hosts))
	for _, part := range []struct {
		title string
		table *table.Table
	}{
		{"Sources of time", r.sources()},
		{"Round trips of ranks 0 and 1", r.trips()},
		{"Stopping after N pings that were not shorter", r.choice()},
		{"Time of both schemes", r.schemes()},
		{"Ranks against rank 0", r.ranks()},
		{fmt.Sprintf("Largest errors over all ranks, at the last comparison and %s later", r.wait), r.worst()},
	} {
		fmt.Fprintf(w, "\n%s\n", a.Bold(part.title))
		a.WriteText(w, part.table, true)
	}
	for _, remark := range c.Remarks {
		fmt.Fprintln(w, "remark: "+remark)
	}
}

func (r *measuredClocks) sources() *table.Table {
	t := table.Of("host", "source", ">read", ">resolution", ">backwards", ">moves", ">moved back", ">speed")
	for _, h := range r.clocks.Sources {
		for _, s := range h.Sources {
			speed := ""
			if s.Name == "processor counter" {
				speed = fmt.Sprintf("%.6g MHz within %.1f ppm", h.CounterHertz/1e6, h.CounterSpread)
				if h.Invariant != nil && *h.Invariant {
					speed += ", invariant"
				}
			}
			t.Add(h.Host, s.Name, nsText(s.Read), nsText(s.Resolution), s.Backwards, s.Moves, s.MovedBack, speed)
		}
	}
	return t
}

func (r *measuredClocks) trips() *table.Table {
	sorted := stat.Sorted(tripTimes(r.clocks.RoundTrips))
	t := table.Of(">pings", ">min", ">median", ">p90", ">p99", ">max")
	at := func(q float64) string { return unit.Duration(stat.Quantile(sorted, q)).Short() }
	t.Add(phrase.Grouped(len(sorted)), at(0), at(0.5), at(0.9), at(0.99), at(1))
	return t
}

func tripTimes(pings []clock.Ping) []float64 {
	list := make([]float64, len(pings))
	for i, p := range pings {
		list[i] = float64(p.RoundTrip())
	}
	return list
}

func (r *measuredClocks) choice() *table.Table {
	t := table.Of(">N", ">pings", ">above the shortest", ">lowest quarter of as many")
	for _, c := range r.clocks.Choice {
		t.Add(c.Patience, fmt.Sprintf("%.1f", c.Pings), phrase.PercentCell(c.Excess).Text, phrase.PercentCell(c.Quarter).Text)
	}
	return t
}

func (r *measuredClocks) schemes() *table.Table {
	t := table.Of(">ranks", ">rounds of the tree", ">tree", ">linear", ">ratio")
	for _, s := range r.clocks.Times {
		t.Add(s.Ranks, len(clock.TreeRounds(s.Ranks)), nsText(float64(s.Tree.Nanoseconds())), nsText(float64(s.Linear.Nanoseconds())),
			fmt.Sprintf("%.2f", float64(s.Linear)/float64(s.Tree)))
	}
	return t
}

func (r *measuredClocks) ranks() *table.Table {
	t := table.Of(">rank", ">hops", ">offset", ">fitted drift", ">proven drift", ">bound", ">bound later")
	for i := range r.clocks.Ends {
		e := &r.clocks.Ends[i]
		drifts, bound, later := "-", "-", "-"
		if !e.Uneven {
			drifts = fmt.Sprintf("%.3f .. %.3f ppm", 1e6*e.Drifts[0], 1e6*e.Drifts[1])
			bound, later = modelOf(e.End, measure.Proven).Bound.Short(), modelOf(e.Later, measure.Proven).Bound.Short()
		}
		t.Add(e.Rank, e.Hops, e.Offset.Short(), fmt.Sprintf("%.3f ppm", 1e6*e.Drift), drifts, bound, later)
	}
	return t
}

// modelOf is the entry of a model, or nothing known.
func modelOf(list []measure.ModelError, model measure.ClockModel) measure.ModelError {
	for _, m := range list {
		if m.Model == model {
			return m
		}
	}
	return measure.ModelError{Model: model, Bound: -1}
}

// worst has the largest figures of each model over all ranks.
func (r *measuredClocks) worst() *table.Table {
	t := table.Of("model", ">true error", ">bound", ">true error later", ">bound later", ">against new pings")
	for _, model := range measure.ClockModels {
		var end, later measure.ModelError
		known, found := true, false
		for i := range r.clocks.Ends {
			e := &r.clocks.Ends[i]
			known = known && e.Known
			for k, m := range e.End {
				if m.Model == model {
					found, end, later = true, larger(end, m), larger(later, e.Later[k])
				}
			}
		}
		if !found {
			continue
		}
		text := func(d unit.Duration, show bool) string {
			if !show || d < 0 {
				return "-"
			}
			return d.Short()
		}
		t.Add(string(model), text(end.True, known), text(end.Bound, true), text(later.True, known), text(later.Bound, true),
			text(later.Seen, true))
	}
	return t
}

// larger takes the largest magnitudes of both; a bound that is missing stays missing.
func larger(a, b measure.ModelError) measure.ModelError {
	size := func(d unit.Duration) unit.Duration { return max(d, -d) }
	out := measure.ModelError{True: max(size(a.True), size(b.True)), Seen: max(size(a.Seen), size(b.Seen)), Bound: max(a.Bound, b.Bound)}
	if b.Bound < 0 {
		out.Bound = -1
	}
	return out
}

// Rows has a line for each model of each rank, for programs.
func (r *measuredClocks) Rows(*env.Env) env.Rows {
	t := table.Of(">rank", ">hops", ">offset_ns", ">drift_ppm", ">drift_low_ppm", ">drift_high_ppm", "model",
		">bound_ns", ">error_ns", ">later_bound_ns", ">later_error_ns", ">later_outside_ns")
	for i := range r.clocks.Ends {
		e := &r.clocks.Ends[i]
		for k, m := range e.End {
			l := e.Later[k]
			t.Add(e.Rank, e.Hops, nsCell(e.Offset, true), 1e6*e.Drift, ppmCell(e.Drifts[0], !e.Uneven), ppmCell(e.Drifts[1], !e.Uneven),
				string(m.Model),
				nsCell(m.Bound, m.Bound >= 0), nsCell(m.True, e.Known), nsCell(l.Bound, l.Bound >= 0), nsCell(l.True, e.Known), nsCell(l.Seen, true))
		}
	}
	return t
}

// nsCell is a time in ns, or nothing.
func nsCell(d unit.Duration, known bool) table.Cell {
	if !known {
		return table.Cell{}
	}
	return table.Cell{Text: d.NS(), Value: json.Number(d.NS())}
}

func ppmCell(drift float64, known bool) table.Cell {
	if !known {
		return table.Cell{}
	}
	return table.Cell{Text: strconv.FormatFloat(1e6*drift, 'g', -1, 64), Value: 1e6 * drift}
}

// writeRaw writes all pings; times count from the beginning, on the clock of each rank.
func (r *measuredClocks) writeRaw(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, "scheme,moment,round,asker,answerer,sent_ns,answered_ns,back_ns")
	put := func(scheme string, moment int, c *measure.Comparison) {
		for _, e := range c.Edges {
			for _, p := range e.Pings {
				fmt.Fprintf(b, "%s,%d,%d,%d,%d,%s,%s,%s\n", scheme, moment, e.Round, e.Asker, e.Answerer, p.Sent.NS(), p.Answered.NS(), p.Back.NS())
			}
		}
	}
	put("pair", 0, &measure.Comparison{Edges: []measure.Edge{{Asker: 0, Answerer: 1, Round: 1, Pings: r.clocks.RoundTrips}}})
	for i, c := range r.clocks.Moments {
		put("tree", i, c)
	}
	for i, c := range r.clocks.Linear {
		put("linear", i, c)
	}
	put("later", len(r.clocks.Moments), r.clocks.Later)
	return b.Flush()
}
