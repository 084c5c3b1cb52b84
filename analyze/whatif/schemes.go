package whatif

import (
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"

	"slackline/analyze/simulate"
	"slackline/model/machine"
	"slackline/model/pattern"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// SchemeQuestion asks what benchmarks would report of a collective operation on a machine, if each of them ran by its
// own scheme.
type SchemeQuestion struct {
	Machine *machine.Machine
	Options simulate.Options
	// Params are the number of ranks, the operation, its size, root and algorithm. Iterations are the executions in a
	// loop; Compute with its Jitter is how far apart the processes begin.
	Params pattern.Params

	Excess   float64 // by which the shortest ping is longer than the shortest possible one, e.g. 0.1
	Drift    float64 // by which clocks run apart that are compared by offsets alone, e.g. 300e-6
	Residual float64 // what is left of it after a correction, e.g. 1e-6
}

// The schemes whose answers SchemeAnswer has.
const (
	RoundTimeScheme = "round-time"
	WindowScheme    = "skampi"
	MPPTestScheme   = "mpptest"
	MPBenchScheme   = "mpbench"
	IMBScheme       = "imb"
)

// SimulatedSchemes are all of them; the first is ours.
var SimulatedSchemes = []string{RoundTimeScheme, WindowScheme, IMBScheme, MPPTestScheme, MPBenchScheme}

// SchemeAnswer is what they would report, and the truth: one execution that all ranks begin at the same moment, until the last ends.
type SchemeAnswer struct {
	Ranks   int
	True    unit.Duration
	Tree    unit.Duration // that it takes to compare all clocks, along a tree
	Linear  unit.Duration // one after the other
	Schemes []SchemeTime  // in the order of SimulatedSchemes
}

// SchemeTime is what a scheme measures of one execution, in picoseconds.
type SchemeTime struct {
	Scheme               string
	Reported             float64 // what it prints: the time of rank 0 or of the slowest process
	Root, Max, Mean, Min float64 // over the processes
	// ClockError is the largest error of a clock that schemes with a common start have; loops have none, since each
	// process uses its own.
	ClockError unit.Duration
}

// Bias is by how much the reported time is longer than the true one.
func (t *SchemeTime) Bias(truth unit.Duration) float64 { return t.Reported - float64(truth) }

// Answer simulates all schemes.
func (q *SchemeQuestion) Answer(ctx context.Context) (*SchemeAnswer, error) {
	a := &SchemeAnswer{Ranks: q.Params.Ranks}
	single := q.Params
	single.Compute, single.Jitter = pattern.None, pattern.None
	times, err := q.measured(ctx, "scheme-window", single, nil)
	if err != nil {
		return nil, err
	}
	for _, t := range times {
		a.True = max(a.True, t)
	}
	errors, err := q.clockErrors(ctx, a)
	if err != nil {
		return nil, err
	}
	for _, name := range SimulatedSchemes {
		t := SchemeTime{Scheme: name}
		executions := 1
		if delays, common := errors[name]; common {
			for _, d := range delays {
				t.ClockError = max(t.ClockError, d.bound)
			}
			times, err = q.measured(ctx, "scheme-window", single, startsOf(delays, t.ClockError))
		} else {
			executions = q.Params.Iterations
			times, err = q.measured(ctx, "scheme-"+name, q.Params, nil)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		t.reduce(times, executions)
		a.Schemes = append(a.Schemes, t)
	}
	return a, nil
}

// measured is what each rank measures: from the beginning of the first timed execution to the end of the last. Ranks begin late by the
// delays, if there are any.
func (q *SchemeQuestion) measured(ctx context.Context, name string, params pattern.Params, delays []unit.Duration) ([]unit.Duration,
	error) {
	p, err := pattern.New(name, params)
	if err != nil {
		return nil, err
	}
	if delays != nil {
		p = pattern.Late(p, delays)
	}
	options := q.Options
	options.Calls = true
	result, err := simulate.Run(ctx, p, q.Machine, options)
	if err != nil {
		return nil, err
	}
	run := result.Calls
	isTimed := make([]bool, len(run.Paths))
	for id := range run.Paths {
		isTimed[id] = slices.Contains(run.PathNames(timeline.PathID(id)), pattern.TimedPath)
	}
	times := make([]unit.Duration, run.Ranks)
	for i := range run.Locations {
		l := &run.Locations[i]
		first := slices.IndexFunc(l.Calls.Path, func(id timeline.PathID) bool { return isTimed[id] })
		if first < 0 {
			continue // a rank alone may have nothing to do
		}
		var end unit.Duration
		for k, id := range l.Calls.Path[first:] {
			if isTimed[id] {
				end = max(end, l.Calls.Leave[first+k])
			}
		}
		times[l.Rank] = end - l.Calls.Enter[first]
	}
	return times, nil
}

func (t *SchemeTime) reduce(times []unit.Duration, executions int) {
	n := float64(executions)
	t.Root, t.Min = float64(times[0])/n, float64(times[0])/n
	for _, one := range times {
		x := float64(one) / n
		t.Max, t.Min, t.Mean = max(t.Max, x), min(t.Min, x), t.Mean+x/float64(len(times))
	}
	t.Reported = t.Max
	if t.Scheme == MPPTestScheme || t.Scheme == MPBenchScheme {
		t.Reported = t.Root
	}
}

// clockError is a draw of what the clock of a rank is wrong by, and its bound.
type clockError struct{ drawn, bound unit.Duration }

// clockErrors draws the errors of the clocks of both schemes with a common start. SKaMPI compares them one after the other and
// corrects offsets: each is wrong by up to half of what its shortest ping is too long (ways there and back are alike in the model), and by
// the drift since then. Ours compares them along a tree, so that errors add up on the way, and corrects the drift.
func (q *SchemeQuestion) clockErrors(ctx context.Context, a *SchemeAnswer) (map[string][]clockError, error) {
	ranks := q.Params.Ranks
	tree, linear := make([]clockError, ranks), make([]clockError, ranks)
	if ranks > 1 {
		var trip unit.Duration
		for _, run := range []struct {
			pattern string
			ranks   int
			took    *unit.Duration
		}{{"clocks-linear", 2, &trip}, {"clocks-tree", ranks, &a.Tree}, {"clocks-linear", ranks, &a.Linear}} {
			p, err := pattern.New(run.pattern, pattern.Params{Ranks: run.ranks})
			if err != nil {
				return nil, err
			}
			result, err := simulate.Run(ctx, p, q.Machine, q.Options)
			if err != nil {
				return nil, err
			}
			*run.took = result.Finish[0] // at rank 0
		}
		half := unit.Duration(q.Excess * float64(trip) / pattern.ClockPings / 2)
		random := rand.New(rand.NewPCG(q.Params.Seed, 0x736368656d65))
		draw := func(bound unit.Duration) unit.Duration {
			return unit.Duration((2*random.Float64() - 1) * float64(bound))
		}
		full := 1 << (bits.Len(uint(ranks)) - 1)
		for r := 1; r < ranks; r++ {
			parent := tree[r&(r-1)]
			if r >= full {
				parent = tree[r-full]
			}
			left := unit.Duration(q.Residual * float64(a.Tree))
			tree[r] = clockError{parent.drawn + draw(half) + draw(left), parent.bound + half + left}
			since := unit.Duration(q.Drift * float64(a.Linear) * float64(ranks-1-r) / float64(ranks-1))
			linear[r] = clockError{draw(half) + draw(since), half + since}
		}
	}
	return map[string][]clockError{RoundTimeScheme: tree, WindowScheme: linear}, nil
}

// startsOf is when the ranks start, whose clocks are wrong: none before 0.
func startsOf(errors []clockError, most unit.Duration) []unit.Duration {
	starts := make([]unit.Duration, len(errors))
	for i, e := range errors {
		starts[i] = most + e.drawn
	}
	return starts
}
