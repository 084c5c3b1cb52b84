package pattern

import (
	"fmt"
	"slices"
	"strings"

	"slackline/internal/suggest"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// Benchmarks of collectives differ in how the processes begin together and in what they time. Each scheme is a
// program: what comes before the clocks are read is carried out once, the timed operation is the body, and what
// comes after the last reading is the end.

// SchemeOperations are the names of the operations that a scheme can time: those of all ranks.
func SchemeOperations() []string {
	var names []string
	for _, op := range timedOperations() {
		names = append(names, op.String())
	}
	return names
}

func timedOperations() []schedule.Operation {
	return slices.DeleteFunc(schedule.Operations(), func(op schedule.Operation) bool {
		return op.IsNeighbor()
	})
}

// timedOperation finds the operation of a scheme by its name, with or without MPI_.
func timedOperation(name string) (schedule.Operation, error) {
	plain := strings.ToLower(strings.TrimPrefix(name, "MPI_"))
	for _, op := range timedOperations() {
		if op.String() == plain || strings.EqualFold(mpiName(op), name) {
			return op, nil
		}
	}
	return 0, fmt.Errorf("operation: there is no collective %q%s; give one of %s", name,
		suggest.Phrase(plain, SchemeOperations()), strings.Join(SchemeOperations(), ", "))
}

// TimedPath is the name below that of the scheme under which the executions stand between the readings of the clocks.
const TimedPath = "timed"

// scheme describes what is around the timed executions.
type scheme struct {
	name, info, details string
	warmUp              bool // one execution that is not timed
	barrier             bool // before the first reading
	barrierAfter        bool // after the last one
	single              bool // one execution, from a common start
}

var schemes = []scheme{
	{
		name: "mpptest", info: "the schedule by which mpptest times a collective: warm-up, barrier, loop, barrier",
		details: "After a warm-up and a barrier, iterations executions in a row are timed together, on rank 0 alone.",
		warmUp:  true, barrier: true, barrierAfter: true,
	},
	{
		name: "mpbench", info: "the schedule by which MPBench times a collective: loop, barrier",
		details:      "Iterations executions in a row are timed together, on rank 0 alone, without any synchronization before.",
		barrierAfter: true,
	},
	{
		name: "imb", info: "the schedule by which IMB times a collective: barrier, loop",
		details: "After a barrier, iterations executions in a row are timed together, on every rank.",
		barrier: true,
	},
	{
		name: "window", info: "the schedule of a collective that is timed in a window: one execution from a common start",
		details: "The clocks say when to start, so the only skew is what they are wrong by: compute * (1 - jitter) to compute * (1 + " +
			"jitter) is when a rank starts. Windows that are long enough do not touch each other: one of them is the whole scheme.",
		single: true,
	},
}

func schemePatterns() []definition {
	var list []definition
	for _, x := range schemes {
		params := []string{"ranks", "operation", "size", "root", "algorithm", "iterations", "compute", "jitter", "seed"}
		example := " --operation bcast --algorithm linear --ranks 64 --machine cscs-testbed"
		if x.single {
			params = slices.DeleteFunc(params, func(p string) bool { return p == "iterations" })
			example = " --operation allreduce --ranks 64 --compute 1ms --jitter 0.002 --machine cscs-testbed"
		} else {
			x.details += " Compute, with its jitter, comes first: it is how far apart the processes begin. 'slackline measure schemes' says what " +
				"the benchmark reports."
		}
		list = append(list, definition{
			Info: Info{
				Name: "scheme-" + x.name, Kind: Exchange, Info: x.info, Details: x.details, Params: params,
				Example: "slackline simulate scheme-" + x.name + example,
			},
			defaults: Params{Size: 8, Iterations: x.executions(), Operation: "bcast"},
			funnel:   ifLinear,
			build:    x.build,
		})
	}
	return list
}

// executions is how many a scheme has in a row, unless something else is asked for.
func (x *scheme) executions() int {
	if x.single {
		return 1
	}
	return 10
}

func (x *scheme) build(s *script) error {
	op, err := timedOperation(s.Operation)
	if err != nil {
		return err
	}
	if x.single {
		s.Iterations, s.prog.iterations = 1, 1
	}
	if err := checkAlgorithm(op, s.Algorithm); err != nil {
		return err
	}
	timed := schedule.Call{Op: op, Size: s.Size, Root: int32(s.Root), Algorithm: s.Algorithm}
	switch op {
	case schedule.Barrier:
		timed.Size, timed.Root = 0, 0
	case schedule.Bcast, schedule.Reduce, schedule.Gather, schedule.Scatter:
	default:
		timed.Root = 0
	}
	barrier := schedule.Call{Op: schedule.Barrier}
	s.begin()
	s.uneven(load{1, 1, 0, 100}, "skew")
	if x.warmUp {
		s.call(timed, "warm-up")
	}
	if x.barrier {
		s.call(barrier, "synchronise")
	}
	s.loop()
	s.call(timed, TimedPath)
	s.end()
	if x.barrierAfter {
		s.call(barrier, "end")
	}
	return nil
}

// late is a program whose ranks begin at different times.
type late struct {
	schedule.Program
	delays []unit.Duration
}

// Late returns the program with each rank delayed at its beginning. There must be a delay, 0 or more, for each rank.
func Late(p schedule.Program, delays []unit.Duration) schedule.Program { return &late{p, delays} }

// Steps implements schedule.Program.
func (l *late) Steps(rank int) int { return 1 + l.Program.Steps(rank) }

// Block implements schedule.Program.
func (l *late) Block(rank, step int, b *schedule.Block) {
	if step > 0 {
		l.Program.Block(rank, step-1, b)
		return
	}
	b.Reset()
	b.Calc(int64(l.delays[rank]))
}

// SameCall implements schedule.SPMD.
func (l *late) SameCall(step int) bool {
	p, ok := l.Program.(schedule.SPMD)
	return ok && step > 0 && p.SameCall(step-1)
}
