package measure

import (
	"slackline/cli/env"
	"slackline/internal/provenance"
	"slackline/internal/stat"
	"slackline/model/unit"
)

// measuredClocksJSON is the result of measure clocks; times are ns, drifts parts per million.
type measuredClocksJSON struct {
	MPI        string             `json:"mpi"`
	Version    string             `json:"mpi_library_version"`
	Ranks      int                `json:"ranks"`
	Hosts      []string           `json:"hosts"`
	OneClock   bool               `json:"one_clock"`
	Injected   []injectedJSON     `json:"injected"`
	Sources    []hostClockJSON    `json:"sources"`
	RoundTrips tripsJSON          `json:"round_trips"`
	Choice     []choiceJSON       `json:"choice"`
	Moments    []momentJSON       `json:"moments"`
	Schemes    []schemeJSON       `json:"schemes"`
	Wait       float64            `json:"wait_s"`
	Clocks     []rankClockJSON    `json:"clocks"`
	Remarks    []string           `json:"remarks"`
	Provenance *provenance.Record `json:"provenance"`
}

type injectedJSON struct {
	Offset int64   `json:"offset_ns"`
	Drift  float64 `json:"drift_ppm"`
}

type hostClockJSON struct {
	Host          string           `json:"host"`
	CounterHertz  float64          `json:"counter_hz"`
	CounterSpread float64          `json:"counter_spread_ppm"`
	Invariant     *bool            `json:"counter_invariant"` // null: not known
	Sources       []timeSourceJSON `json:"sources"`
}

type timeSourceJSON struct {
	Name       string  `json:"name"`
	Read       float64 `json:"read_ns"`
	Resolution float64 `json:"resolution_ns"`
	Backwards  int     `json:"backwards"`
	Moves      int     `json:"moves"`
	MovedBack  int     `json:"moved_back"`
}

type tripsJSON struct {
	Count  int              `json:"count"`
	Min    unit.Nanoseconds `json:"min_ns"`
	Median unit.Nanoseconds `json:"median_ns"`
	P90    unit.Nanoseconds `json:"p90_ns"`
	P99    unit.Nanoseconds `json:"p99_ns"`
	Max    unit.Nanoseconds `json:"max_ns"`
}

type choiceJSON struct {
	Patience int     `json:"n"`
	Pings    float64 `json:"pings"`
	Excess   float64 `json:"above_shortest_percent"`
	Quarter  float64 `json:"lowest_quarter_percent"`
}

// momentJSON is one comparison by the tree, and the one by the linear scheme beside it.
type momentJSON struct {
	Rounds      int   `json:"rounds"`
	Tree        int64 `json:"tree_ns"`
	TreePings   int   `json:"tree_pings"`
	Linear      int64 `json:"linear_ns,omitempty"`
	LinearPings int   `json:"linear_pings,omitempty"`
}

type schemeJSON struct {
	Ranks  int   `json:"ranks"`
	Tree   int64 `json:"tree_ns"`
	Linear int64 `json:"linear_ns"`
}

type rankClockJSON struct {
	Rank     int              `json:"rank"`
	Hops     int              `json:"hops"`
	Offset   unit.Nanoseconds `json:"offset_ns"`
	Drift    float64          `json:"drift_ppm"`
	DriftLow *float64         `json:"drift_low_ppm"`
	DriftTop *float64         `json:"drift_high_ppm"`
	Uneven   bool             `json:"uneven"`
	Models   []modelErrorJSON `json:"models"`
}

// modelErrorJSON is a model of a rank: at the last comparison, and later; null is not known.
type modelErrorJSON struct {
	Model      string            `json:"model"`
	Bound      *unit.Nanoseconds `json:"bound_ns"`
	True       *unit.Nanoseconds `json:"error_ns"`
	LaterBound *unit.Nanoseconds `json:"later_bound_ns"`
	LaterTrue  *unit.Nanoseconds `json:"later_error_ns"`
	LaterSeen  unit.Nanoseconds  `json:"later_outside_ns"`
}

func (r *measuredClocks) json(a *env.Env) *measuredClocksJSON {
	record := provenance.New(a.Args)
	record.Warnings = append(record.Warnings, a.Warnings...)
	record.Seed = r.seed
	c := r.clocks
	sorted := stat.Sorted(tripTimes(c.RoundTrips))
	at := func(q float64) unit.Nanoseconds { return unit.Nanoseconds(stat.Quantile(sorted, q)) }
	j := &measuredClocksJSON{
		MPI: r.over, Version: r.version, Ranks: c.Ranks, Hosts: c.Hosts, OneClock: c.OneClock, Injected: []injectedJSON{}, Sources: []hostClockJSON{},
		RoundTrips: tripsJSON{len(sorted), at(0), at(0.5), at(0.9), at(0.99), at(1)}, Choice: []choiceJSON{}, Moments: []momentJSON{},
		Schemes: []schemeJSON{}, Wait: r.wait.Seconds(), Clocks: []rankClockJSON{}, Remarks: append([]string{}, c.Remarks...), Provenance: record,
	}
	for _, i := range c.Injected {
		j.Injected = append(j.Injected, injectedJSON{i.Offset.Nanoseconds(), 1e6 * i.Drift})
	}
	for _, h := range c.Sources {
		x := hostClockJSON{Host: h.Host, CounterHertz: h.CounterHertz, CounterSpread: 1e6 * h.CounterSpread, Sources: []timeSourceJSON{}}
		if h.Invariant >= 0 {
			yes := h.Invariant == 1
			x.Invariant = &yes
		}
		for _, s := range h.Sources {
			x.Sources = append(x.Sources, timeSourceJSON(s))
		}
		j.Sources = append(j.Sources, x)
	}
	for _, x := range c.Choice {
		j.Choice = append(j.Choice, choiceJSON{x.Patience, x.Pings, 100 * x.Excess, 100 * x.Quarter})
	}
	for i, m := range c.Moments {
		x := momentJSON{Rounds: m.Rounds(), Tree: m.Took.Nanoseconds(), TreePings: m.Pings()}
		if i < len(c.Linear) {
			x.Linear, x.LinearPings = c.Linear[i].Took.Nanoseconds(), c.Linear[i].Pings()
		}
		j.Moments = append(j.Moments, x)
	}
	for _, s := range c.Times {
		j.Schemes = append(j.Schemes, schemeJSON{s.Ranks, s.Tree.Nanoseconds(), s.Linear.Nanoseconds()})
	}
	for i := range c.Ends {
		j.Clocks = append(j.Clocks, r.rankJSON(i))
	}
	return j
}

func (r *measuredClocks) rankJSON(i int) rankClockJSON {
	e := &r.clocks.Ends[i]
	x := rankClockJSON{Rank: e.Rank, Hops: e.Hops, Offset: unit.Nanoseconds(e.Offset), Drift: 1e6 * e.Drift, Uneven: e.Uneven, Models: []modelErrorJSON{}}
	if !e.Uneven {
		low, high := 1e6*e.Drifts[0], 1e6*e.Drifts[1]
		x.DriftLow, x.DriftTop = &low, &high
	}
	some := func(d unit.Duration, known bool) *unit.Nanoseconds {
		if !known {
			return nil
		}
		return (*unit.Nanoseconds)(&d)
	}
	for k, m := range e.End {
		l := e.Later[k]
		x.Models = append(x.Models, modelErrorJSON{
			Model: string(m.Model), Bound: some(m.Bound, m.Bound >= 0), True: some(m.True, e.Known),
			LaterBound: some(l.Bound, l.Bound >= 0), LaterTrue: some(l.True, e.Known), LaterSeen: unit.Nanoseconds(l.Seen),
		})
	}
	return x
}
