package measure

import (
	"slackline/cli/env"
	"slackline/internal/provenance"
	"slackline/internal/stat"
	"slackline/model/dataset"
	"slackline/model/unit"
	"slackline/observe/measure"
)

// noiseDocument is the result of measure noise; the figures at the top are those of all CPUs: the
// smallest t_min, all detours, the mean overhead, the longest duration.
type noiseDocument struct {
	Method          measure.Method     `json:"method"`
	Shortest        float64            `json:"t_min_ns"`
	Detours         int                `json:"detours"`
	OverheadPercent float64            `json:"overhead_percent"`
	SamplingLimit   float64            `json:"sampling_limit_hz"`               // the lowest of the CPUs
	Runs            []float64          `json:"runs_overhead_percent,omitempty"` // of --runs; the quietest was kept
	Duration        unit.Duration      `json:"duration_s"`
	CPUs            []cpuNoise         `json:"cpus"`
	Provenance      *provenance.Record `json:"provenance"`
}

type cpuNoise struct {
	measure.CPUNoise
	Detours         int      `json:"detours"`
	OverheadPercent float64  `json:"overhead_percent"`
	List            []detour `json:"list"`
	measure.HostState
	Delivered *int           `json:"delivered_signals"` // 0: all were blocked; null: not known
	Steal     *unit.Duration `json:"steal_s"`
}

type detour struct {
	Start  unit.Duration `json:"start_ns"`
	Length unit.Duration `json:"length_ns"`
	Cause  string        `json:"cause,omitempty"`
}

func (r *measuredNoise) JSON(a *env.Env) (any, error) {
	d := &noiseDocument{Method: r.noise.Method, OverheadPercent: r.noise.OverheadPercent(), SamplingLimit: r.noise.SamplingLimit(),
		Runs: r.noise.Runs, Provenance: a.Record()}
	for i := range r.noise.CPUs {
		c := newCPUNoise(&r.noise.CPUs[i])
		if i == 0 || c.Shortest < d.Shortest {
			d.Shortest = c.Shortest
		}
		d.Detours += c.Detours
		d.Duration = max(d.Duration, c.Duration)
		d.CPUs = append(d.CPUs, c)
	}
	return d, nil
}

func newCPUNoise(c *measure.CPUNoise) cpuNoise {
	j := cpuNoise{CPUNoise: *c, Detours: len(c.Detours) + len(c.Samples), OverheadPercent: c.OverheadPercent(), HostState: c.Host}
	if c.Host.SignalsBlocked {
		j.Delivered = new(int)
	}
	if c.Host.Steal >= 0 {
		j.Steal = &c.Host.Steal
	}
	for _, d := range c.Detours {
		x := detour{Start: d.Start, Length: d.Length}
		if d.Label > 0 {
			x.Cause = c.Labels[d.Label]
		}
		j.List = append(j.List, x)
	}
	for _, s := range c.Samples {
		j.List = append(j.List, detour{Start: s.Start, Length: s.Noise})
	}
	return j
}

// networkDocument is the result of measure network.
type networkDocument struct {
	Over       string             `json:"over"`
	Version    string             `json:"mpi_library_version,omitempty"`
	Hosts      []string           `json:"hosts"`
	Classes    []network          `json:"classes"`
	Provenance *provenance.Record `json:"provenance"`
}

// network is one class of pairs; all times are ns, those of G ns per byte.
type network struct {
	Class string   `json:"class"`
	Pair  [2]int   `json:"pair"`
	Pairs [][2]int `json:"pairs"`
	measure.Network
	Jumps []int `json:"jumps"`
}

func (r *measuredNetwork) JSON(a *env.Env) (any, error) {
	d := &networkDocument{Over: r.over, Version: r.version, Hosts: r.hosts, Provenance: a.Record()}
	for i := range r.classes {
		c, n := &r.classes[i].Class, r.classes[i].Network
		d.Classes = append(d.Classes, network{c.Name, c.Usual, c.Pairs, *n, n.Jumps()})
	}
	return d, nil
}

// clocksDocument is the result of measure clocks; times are ns, drifts parts per million.
type clocksDocument struct {
	MPI        string               `json:"mpi"`
	Version    string               `json:"mpi_library_version"`
	Ranks      int                  `json:"ranks"`
	Hosts      []string             `json:"hosts"`
	OneClock   bool                 `json:"one_clock"`
	Injected   []injection          `json:"injected"`
	Sources    []*measure.HostClock `json:"sources"`
	RoundTrips trips                `json:"round_trips"`
	Choice     []measure.Choice     `json:"choice"`
	Moments    []moment             `json:"moments"`
	Schemes    []measure.SchemeTime `json:"schemes"`
	Wait       float64              `json:"wait_s"`
	Clocks     []rankClock          `json:"clocks"`
	Remarks    []string             `json:"remarks"`
	Provenance *provenance.Record   `json:"provenance"`
}

type injection struct {
	Offset int64   `json:"offset_ns"`
	Drift  float64 `json:"drift_ppm"`
}

type trips struct {
	Count  int           `json:"count"`
	Min    unit.Duration `json:"min_ns"`
	Median unit.Duration `json:"median_ns"`
	P90    unit.Duration `json:"p90_ns"`
	P99    unit.Duration `json:"p99_ns"`
	Max    unit.Duration `json:"max_ns"`
}

// moment is one comparison by the tree, and the one by the linear scheme beside it.
type moment struct {
	Rounds      int   `json:"rounds"`
	Tree        int64 `json:"tree_ns"`
	TreePings   int   `json:"tree_pings"`
	Linear      int64 `json:"linear_ns,omitempty"`
	LinearPings int   `json:"linear_pings,omitempty"`
}

type rankClock struct {
	Rank     int           `json:"rank"`
	Hops     int           `json:"hops"`
	Offset   unit.Duration `json:"offset_ns"`
	Drift    float64       `json:"drift_ppm"`
	DriftLow *float64      `json:"drift_low_ppm"`
	DriftTop *float64      `json:"drift_high_ppm"`
	Uneven   bool          `json:"uneven"`
	Models   []modelError  `json:"models"`
}

// modelError is a model of a rank: at the last comparison, and later; null is not known.
type modelError struct {
	Model      measure.ClockModel `json:"model"`
	Bound      *unit.Duration     `json:"bound_ns"`
	True       *unit.Duration     `json:"error_ns"`
	LaterBound *unit.Duration     `json:"later_bound_ns"`
	LaterTrue  *unit.Duration     `json:"later_error_ns"`
	LaterSeen  unit.Duration      `json:"later_outside_ns"`
}

func (r *measuredClocks) JSON(a *env.Env) (any, error) {
	c := r.clocks
	sorted := stat.Sorted(tripTimes(c.RoundTrips))
	at := func(q float64) unit.Duration { return unit.Duration(stat.Quantile(sorted, q)) }
	d := &clocksDocument{
		MPI: r.over, Version: r.version, Ranks: c.Ranks, Hosts: c.Hosts, OneClock: c.OneClock, Sources: c.Sources, Choice: c.Choice,
		RoundTrips: trips{len(sorted), at(0), at(0.5), at(0.9), at(0.99), at(1)}, Schemes: c.Times, Wait: r.wait.Seconds(),
		Remarks: c.Remarks, Provenance: a.Record(),
	}
	d.Provenance.Seed = r.seed
	for _, i := range c.Injected {
		d.Injected = append(d.Injected, injection{i.Offset.Nanoseconds(), 1e6 * i.Drift})
	}
	for i, m := range c.Moments {
		x := moment{Rounds: m.Rounds(), Tree: m.Took.Nanoseconds(), TreePings: m.Pings()}
		if i < len(c.Linear) {
			x.Linear, x.LinearPings = c.Linear[i].Took.Nanoseconds(), c.Linear[i].Pings()
		}
		d.Moments = append(d.Moments, x)
	}
	for i := range c.Ends {
		d.Clocks = append(d.Clocks, newRankClock(&c.Ends[i]))
	}
	return d, nil
}

func newRankClock(e *measure.RankErrors) rankClock {
	x := rankClock{Rank: e.Rank, Hops: e.Hops, Offset: e.Offset, Drift: 1e6 * e.Drift, Uneven: e.Uneven}
	if !e.Uneven {
		low, high := 1e6*e.Drifts[0], 1e6*e.Drifts[1]
		x.DriftLow, x.DriftTop = &low, &high
	}
	some := func(d unit.Duration, known bool) *unit.Duration {
		if !known {
			return nil
		}
		return &d
	}
	for k, m := range e.End {
		l := e.Later[k]
		x.Models = append(x.Models, modelError{
			m.Model, some(m.Bound, m.Bound >= 0), some(m.True, e.Known), some(l.Bound, l.Bound >= 0), some(l.True, e.Known), l.Seen,
		})
	}
	return x
}

// collectivesDocument is the result of measure collectives: a dataset with more beside it. Times are ns.
type collectivesDocument struct {
	Version    int                `json:"slackline_dataset"`
	Parameters []string           `json:"parameters"`
	Series     []*dataset.Series  `json:"series"`
	Schemes    []collectiveScheme `json:"schemes"`
	Points     []collectivePoint  `json:"points"`
	Provenance *provenance.Record `json:"provenance"`
}

// collectiveScheme is where and how a scheme was run.
type collectiveScheme struct {
	Scheme    measure.Scheme    `json:"scheme"`
	Reduction measure.Reduction `json:"reduction"`
	measure.Collectives
	Repeat    int   `json:"repeat"`
	Launches  int   `json:"launches"`
	Loop      int   `json:"executions_in_a_loop"`
	Tolerance int64 `json:"tolerance_ns"`
}

type collectivePoint struct {
	Scheme     measure.Scheme                `json:"scheme"`
	Operation  string                        `json:"operation"`
	Ranks      int                           `json:"ranks"`
	Size       int                           `json:"size"`
	Valid      int                           `json:"valid"`
	Tried      int                           `json:"tried"`
	Refused    bool                          `json:"refused"`
	Checked    bool                          `json:"checked"` // executions could be found invalid
	Crowded    bool                          `json:"crowded"` // more ranks than CPUs on a host
	Overlap    *float64                      `json:"overlap_percent,omitempty"`
	Launches   []launch                      `json:"launches"`
	Reductions map[measure.Reduction]summary `json:"reductions,omitempty"`
}

type launch struct {
	Launch    int   `json:"launch"`
	Valid     int   `json:"valid"`
	Tried     int   `json:"tried"`
	Refused   bool  `json:"refused"`
	Doublings int   `json:"doublings"`
	Lead      int64 `json:"lead_ns"`
}

type summary struct {
	measure.Summary
	True *int64 `json:"true_ns,omitempty"`
}

func (r *measuredCollectives) JSON(a *env.Env) (any, error) {
	data := r.data()
	d := &collectivesDocument{Version: 1, Parameters: data.Parameters, Series: data.Series, Provenance: a.Record()}
	d.Provenance.Seed = &r.seed
	for _, c := range r.schemes {
		o := &c.Options
		s := collectiveScheme{Scheme: o.Scheme, Reduction: r.how(c), Collectives: *c, Repeat: o.Repeat, Launches: o.Launches, Loop: o.Loop,
			Tolerance: o.Tolerance.Nanoseconds()}
		if o.Scheme.Single() {
			s.Loop = 1
		}
		d.Schemes = append(d.Schemes, s)
		for _, p := range c.Points {
			d.Points = append(d.Points, newCollective(c, p))
		}
	}
	return d, nil
}

func newCollective(c *measure.Collectives, p *measure.CollectivePoint) collectivePoint {
	x := collectivePoint{
		Scheme: c.Options.Scheme, Operation: p.Operation.Name, Ranks: p.Ranks, Size: p.Size, Refused: p.Refused(),
		Checked: c.Options.Scheme.Single(), Crowded: c.Crowded[p.Ranks],
	}
	x.Valid, x.Tried = p.Counts()
	for i := range p.Runs {
		run := &p.Runs[i]
		x.Launches = append(x.Launches, launch{run.Launch, run.ValidCount(), len(run.Repetitions), run.Refused, run.Doublings,
			run.Lead.Nanoseconds()})
	}
	if v, ok := p.Overlap(); ok {
		x.Overlap = &v
	}
	for _, how := range measure.Reductions {
		s, ok := c.Summarize(p, how)
		if !ok {
			break
		}
		y := summary{Summary: s}
		if want, known := p.Operation.True(how, p.Ranks); known {
			ns := want.Nanoseconds()
			y.True = &ns
		}
		if x.Reductions == nil {
			x.Reductions = map[measure.Reduction]summary{}
		}
		x.Reductions[how] = y
	}
	return x
}

// memoryDocument is the result of measure memory: a dataset with more beside it.
type memoryDocument struct {
	Version    int                  `json:"slackline_dataset"`
	Parameters []string             `json:"parameters"`
	Series     []*dataset.Series    `json:"series"`
	Jobs       []*measure.JobMemory `json:"jobs"`
	Provenance *provenance.Record   `json:"provenance"`
}

// schemesDocument is the result of measure schemes.
type schemesDocument struct {
	Operation  string             `json:"operation"`
	Machine    string             `json:"machine"`
	Loop       int                `json:"executions_in_a_loop"`
	Results    []schemesPoint     `json:"results"`
	Provenance *provenance.Record `json:"provenance"`
}

type schemesPoint struct {
	Ranks   int           `json:"ranks"`
	True    unit.Duration `json:"true_ns"`
	Tree    unit.Duration `json:"clocks_tree_ns"`
	Linear  unit.Duration `json:"clocks_linear_ns"`
	Schemes []schemeTime  `json:"schemes"`
}

type schemeTime struct {
	Scheme     string        `json:"scheme"`
	Reported   float64       `json:"reported_ns"`
	Bias       float64       `json:"bias_ns"`
	Root       float64       `json:"root_ns"`
	Max        float64       `json:"max_ns"`
	Mean       float64       `json:"mean_ns"`
	Min        float64       `json:"min_ns"`
	ClockError unit.Duration `json:"clock_error_ns"`
}

func (r *schemesReport) JSON(a *env.Env) (any, error) {
	d := &schemesDocument{Operation: r.operation, Machine: r.machine, Loop: r.loop, Provenance: a.Record()}
	for _, x := range r.answers {
		p := schemesPoint{Ranks: x.Ranks, True: x.True, Tree: x.Tree, Linear: x.Linear}
		for _, s := range x.Schemes {
			p.Schemes = append(p.Schemes, schemeTime{
				s.Scheme, s.Reported / 1e3, s.Bias(x.True) / 1e3, s.Root / 1e3, s.Max / 1e3, s.Mean / 1e3, s.Min / 1e3, s.ClockError,
			})
		}
		d.Results = append(d.Results, p)
	}
	return d, nil
}
