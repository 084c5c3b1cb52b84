package measure

import (
	"fmt"
	"math"

	"slackline/model/clock"
	"slackline/model/unit"
)

// ClockModel is a way to correct a clock from pings.
type ClockModel string

// The models: by the shortest ping of the first moment; by those of the first and the last one; by the
// shortest of every moment and least squares; the same by the mean of the shortest quarter of the pings; what all
// pings together prove.
const (
	OffsetOnly   ClockModel = "offset"
	TwoPoints    ClockModel = "linear"
	LeastSquares ClockModel = "least-squares"
	QuarterRule  ClockModel = "lowest-quarter"
	Proven       ClockModel = "envelope"
	LinearScheme ClockModel = "linear-scheme" // offset only, by the linear scheme instead of the tree
)

// ClockModels are all models in the order of the report.
var ClockModels = []ClockModel{OffsetOnly, LinearScheme, TwoPoints, LeastSquares, QuarterRule, Proven}

// ModelError is the error of a model of the clock of a rank at one moment.
type ModelError struct {
	Model ClockModel
	// Bound is what the error cannot exceed; of offsets if clocks drift by at most 300 ppm, of the envelope
	// if they run evenly; -1: the model has none.
	Bound unit.Duration
	True  unit.Duration // with injected offsets and drifts on one clock
	// Seen is how far the model is outside of what later pings with rank 0 prove; 0: it agrees with them.
	Seen unit.Duration
}

// RankErrors are the errors of all models for a rank.
type RankErrors struct {
	Rank   int
	Hops   int           // to rank 0 in the tree
	Offset unit.Duration // what its clock shows more than that of rank 0, at the last comparison, by the envelope; if uneven, by least squares
	Drift  float64       // relative to the clock of rank 0, by least squares
	Drifts [2]float64    // its proven bounds
	Uneven bool          // no even drift agrees with the pings
	Known  bool          // the true errors are known
	End    []ModelError  // at the last comparison
	Later  []ModelError  // after the wait
}

// corrections are the models of all ranks.
type corrections struct {
	c       *Clocks
	parent  []int
	lines   map[ClockModel][]clock.Line // from a rank to its parent
	proven  []*clock.Lines
	uneven  []bool
	firstAt []clock.Ping // shortest ping of the first moment with the parent
	linear  []clock.Ping // and with rank 0 in the linear scheme
}

// evaluate finds out how good the models are.
func (c *Clocks) evaluate() error {
	m := &corrections{
		c: c, parent: make([]int, c.Ranks), lines: map[ClockModel][]clock.Line{}, proven: make([]*clock.Lines, c.Ranks),
		uneven: make([]bool, c.Ranks), firstAt: make([]clock.Ping, c.Ranks), linear: make([]clock.Ping, c.Ranks),
	}
	for _, model := range ClockModels {
		m.lines[model] = make([]clock.Line, c.Ranks)
	}
	byAnswerer := make([][]Edge, c.Ranks)
	for _, moment := range c.Moments {
		for _, e := range moment.Edges {
			m.parent[e.Answerer] = e.Asker
			byAnswerer[e.Answerer] = append(byAnswerer[e.Answerer], e)
		}
	}
	for r := 1; r < c.Ranks; r++ {
		if err := m.fit(r, byAnswerer[r]); err != nil {
			return err
		}
	}
	for _, e := range firstEdges(c.Linear) {
		best, ok := clock.Best(e.Pings)
		if !ok {
			return fmt.Errorf("%w: no ping between ranks 0 and %d is possible", ErrImplausible, e.Answerer)
		}
		m.linear[e.Answerer] = best
		m.lines[LinearScheme][e.Answerer], _ = clock.FitPoints([]clock.Point{best.Point()})
	}
	later := make([]Edge, c.Ranks)
	for _, e := range c.Later.Edges {
		later[e.Answerer] = e
	}
	for r := 1; r < c.Ranks; r++ {
		c.Ends = append(c.Ends, m.errors(r, byAnswerer[r][len(byAnswerer[r])-1], later[r]))
	}
	return nil
}

func firstEdges(list []*Comparison) []Edge {
	if len(list) == 0 {
		return nil
	}
	return list[0].Edges
}

// fit makes the models of a rank from the pings of its parent.
func (m *corrections) fit(r int, edges []Edge) error {
	var best, quarter []clock.Point
	var all []clock.Ping
	for i, e := range edges {
		b, ok := clock.Best(e.Pings)
		if !ok {
			return fmt.Errorf("%w: no ping between ranks %d and %d is possible", ErrImplausible, e.Asker, r)
		}
		if i == 0 {
			m.firstAt[r] = b
		}
		q, _ := clock.LowestQuarter(e.Pings)
		best, quarter = append(best, b.Point()), append(quarter, q)
		for _, p := range e.Pings {
			all = append(all, clock.Ping{Sent: p.Sent - quantum, Answered: p.Answered, Back: p.Back + quantum})
		}
	}
	m.lines[OffsetOnly][r], _ = clock.FitPoints(best[:1])
	m.lines[TwoPoints][r], _ = clock.FitPoints([]clock.Point{best[0], best[len(best)-1]})
	m.lines[LeastSquares][r], _ = clock.FitPoints(best)
	m.lines[QuarterRule][r], _ = clock.FitPoints(quarter)
	lines, ok := clock.NewEnvelope(all).Straight()
	m.proven[r], m.uneven[r] = lines, !ok
	return nil
}

// reference is the time of rank 0 when the clock of a rank shows x, by a model, and a bound of the error.
func (m *corrections) reference(model ClockModel, r int, x unit.Duration) (at, bound unit.Duration, ok bool) {
	switch model {
	case Proven:
		var chain clock.Chain
		for k := r; k != 0; k = m.parent[k] {
			if m.uneven[k] {
				return 0, -1, false
			}
			chain = append(chain, m.proven[k])
		}
		low, high := chain.Reference(x)
		half := (high - low + 1) / 2
		return low + half, half, true
	case LinearScheme:
		if len(m.c.Linear) == 0 {
			return 0, -1, false
		}
		return m.lines[model][r].Correct(x), offsetBound(m.linear[r], x), true
	}
	bound = -1
	if model == OffsetOnly {
		bound = 0
	}
	for k := r; k != 0; k = m.parent[k] {
		if model == OffsetOnly {
			bound += offsetBound(m.firstAt[k], x)
		}
		x = m.lines[model][k].Correct(x)
	}
	return x, bound, true
}

// offsetBound bounds the error of an offset at time x on the answerer's clock: half the round trip, and what
// two clocks drift apart since then at most.
func offsetBound(p clock.Ping, x unit.Duration) unit.Duration {
	since := math.Abs(float64(x - p.Answered))
	return (p.RoundTrip()+1)/2 + quantum + unit.Duration(math.Ceil(clock.FreeDrift*since))
}

// truth is the time of rank 0 when the clock of rank r shows x, if the clocks are one but for what was
// injected. Differences are computed in whole numbers; only what drifts make of them is not.
func (c *Clocks) truth(r int, x unit.Duration) unit.Duration {
	mine, zero := Injection{}, Injection{}
	if len(c.Injected) > 0 {
		mine, zero = c.Injected[r], c.Injected[0]
	}
	since := c.Start[r] - mine.Offset.Nanoseconds() // ns; x counts from there
	local := float64(since) + float64(x)/float64(unit.Nanosecond)
	lost := local * mine.Drift / (1 + mine.Drift)
	whole := unit.Duration(zero.Offset.Nanoseconds()-c.Start[0]+since) * unit.Nanosecond
	return whole + x + unit.Duration(math.Round((zero.Drift*(local-lost)-lost)*float64(unit.Nanosecond)))
}

// errors compares the models of a rank at the last comparison and later.
func (m *corrections) errors(r int, last, later Edge) RankErrors {
	e := RankErrors{Rank: r, Known: m.c.OneClock}
	slope := 0.0
	for k := r; k != 0; k = m.parent[k] {
		e.Hops++
		e.Uneven = e.Uneven || m.uneven[k]
		s := m.lines[LeastSquares][k].Slope
		slope += s - slope*s
	}
	e.Drift = slope
	end := last.Pings[len(last.Pings)-1].Answered
	at, _, proven := m.reference(Proven, r, end)
	if !proven {
		at, _, _ = m.reference(LeastSquares, r, end)
	}
	e.Offset = end - at + unit.Duration(m.c.Start[r]-m.c.Start[0])*unit.Nanosecond
	e.Drifts = m.provenDrift(r, &e)
	after := later.Pings[len(later.Pings)-1].Answered
	seen := clock.NewEnvelope(later.Pings)
	for _, model := range ClockModels {
		at, bound, ok := m.reference(model, r, end)
		if !ok {
			continue
		}
		x := ModelError{Model: model, Bound: bound}
		y := x
		x.True = at - m.c.truth(r, end)
		at, y.Bound, _ = m.reference(model, r, after)
		y.True = at - m.c.truth(r, after)
		y.Seen = outside(seen, after, at-after)
		if !e.Known {
			x.True, y.True = 0, 0
		}
		e.End, e.Later = append(e.End, x), append(e.Later, y)
	}
	return e
}

// outside is how far an offset is outside of what pings prove at about the same time.
func outside(e *clock.Envelope, t, offset unit.Duration) unit.Duration {
	low, high, ok := e.Drifting(t, clock.FreeDrift)
	low, high = low-quantum, high+quantum
	switch {
	case !ok || offset >= low && offset <= high:
		return 0
	case offset < low:
		return offset - low
	}
	return offset - high
}

// provenDrift bounds the drift of a rank against rank 0: the slopes of the links, composed.
func (m *corrections) provenDrift(r int, e *RankErrors) [2]float64 {
	if e.Uneven {
		return [2]float64{-1, 1}
	}
	slow, fast := 1.0, 1.0 // of rank 0's clock against that of r
	for k := r; k != 0; k = m.parent[k] {
		low, high := m.proven[k].Slopes()
		slow, fast = slow*(1+low), fast*(1+high)
	}
	return [2]float64{1/fast - 1, 1/max(slow, 1e-9) - 1}
}
