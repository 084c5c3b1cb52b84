package tolerance

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"slackline/analyze/tolerance"
	"slackline/analyze/whatif"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/cli/input"
	"slackline/internal/phrase"
	"slackline/model/machine"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// whereOptions are the flags that ask where on the critical path the time is.
type whereOptions struct {
	critical bool
	slack    bool
	whatIf   []whatif.Change
	pairs    int
}

func (o *whereOptions) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.critical, "critical-path", false,
		"the critical path: its profile by kind, rank and call, its operations, its pairs of ranks")
	fs.BoolVar(&o.slack, "slack", false, "how much later every operation and message may be before T grows")
	flags.AddEach(fs, &o.whatIf, whatif.ParseChange, "what-if", "T if the computation of a call path took less time, `PATH=-PERCENT`, e.g. "+
		"solve=-20%; may be given several times")
	flags.AddNumber(fs, &o.pairs, "pairs", 0, flags.AtLeast(0),
		"list this `number` of the pairs of ranks with most latencies on the path, each with what it alone tolerates")
}

func (o *whereOptions) check(r *run) error {
	switch {
	case o.pairs > 0 && r.wiring.topology != "":
		return exit.Usagef("--pairs gives each pair of ranks a latency of its own; leave --topology out, or take --wires")
	case r.wiring.wires > 0 && len(r.ask.vary) > 0:
		return exit.Usagef("--wires looks at one wire after the other; leave --vary out")
	case (o.pairs > 0 || r.wiring.wires > 0) && r.ask.parameter != "L":
		return exit.Usagef("--pairs and --wires are about latencies; leave --parameter %s out", r.ask.parameter)
	}
	if i := slices.IndexFunc(o.whatIf, func(c whatif.Change) bool { return c.Rank >= 0 }); i >= 0 {
		return exit.Usagef("--what-if %s: tolerance changes a call path on all ranks; 'slackline waits --machine NAME --what-if' takes a rank",
			&o.whatIf[i])
	}
	return nil
}

// report is what tolerance found out about one schedule.
type report struct {
	run       *run
	input     *input.Input
	schedule  *tolerance.Schedule
	set       *setting
	answers   *tolerance.Answers
	slack     *tolerance.Slack
	whatIfs   []whatIfAnswer
	parts     []part // pairs of ranks, or wires
	placement *tolerance.Placement
	solved    *solverAnswer
}

// runOne answers the question about one schedule.
func (r *run) runOne() error {
	in := r.inputs[0]
	s, err := r.prepare(in, r.mapping)
	if err != nil {
		return err
	}
	report := &report{run: r, input: in, schedule: s}
	if r.given("placement") {
		if report.placement, err = r.findPlacement(s); err != nil {
			return err
		}
	}
	if report.set, err = r.setting(s.Ranks()); err != nil {
		return err
	}
	if r.machine.Eager.Given && s.LargestSend() <= int64(r.machine.Eager.Value) {
		r.app.Note("no message is larger than -S, apart from buffered ones")
	}
	begin := time.Now()
	e, err := s.Evaluate(report.set.network, report.set.variable)
	if err != nil {
		return err
	}
	if report.answers, err = e.Ask(r.questionOf(report.set)); err != nil {
		return err
	}
	r.noteOfRange(report.answers)
	if err := report.locate(e); err != nil {
		return err
	}
	if err := r.app.SharedDone(r.context); err != nil {
		return err
	}
	if r.where.slack {
		if report.slack, err = e.Slack(); err != nil {
			return err
		}
	}
	r.app.Note("%s with %s answered in %s", phrase.Plural(e.Size.Ops, "operation"), phrase.Plural(e.Size.Messages, "message"),
		unit.Elapsed(time.Since(begin)))
	if err := r.keepPlacement(report.placement); err != nil {
		return err
	}
	if err := r.solver.export(r, report, e); err != nil {
		return err
	}
	return r.app.WriteResult("tolerance", report, &r.result, r.files)
}

// hasParts reports whether there are several problems that can be solved each by itself: the processes of a job share
// them.
func (r *run) hasParts() bool {
	return max(len(r.where.whatIf), r.where.pairs, r.wiring.wires) > 1 && !r.given("placement")
}

// locate answers the questions about where the time is. The processes of a job share them; process 0 has the answers.
func (t *report) locate(e *tolerance.Evaluation) error {
	r := t.run
	solved, err := solveEach(r, len(r.where.whatIf), "what-if", func(i int) (whatIfSolution, error) {
		return askWhatIf(&r.where.whatIf[i], t.schedule, e)
	})
	if err != nil {
		return err
	}
	for i, s := range solved {
		w := r.where.whatIf[i]
		t.whatIfs = append(t.whatIfs, whatIfAnswer{w.Path, number("-" + w.Percent.Number()), s})
	}
	switch {
	case r.where.pairs > 0:
		t.parts, err = t.askPairs(r.where.pairs)
	case r.wiring.wires > 0:
		t.parts, err = t.askWires(r.wiring.wires)
	}
	return err
}

// noteOfRange reports that a range starts later than asked for.
func (r *run) noteOfRange(a *tolerance.Answers) {
	if r.ask.span == "" {
		return
	}
	if first, _ := a.Floor(a.Curve[0]); first > r.ask.from {
		p := r.ask.variable()
		r.app.Note("the range begins at %s: there the smallest %s of all classes is 0, and all move together", valueOf{p, first}.exact(), p)
	}
}

// whatIfAnswer is T if a call path took less time.
type whatIfAnswer struct {
	Path    string `json:"call_path"`
	Percent number `json:"percent"`
	whatIfSolution
}

type whatIfSolution struct {
	Work unit.Duration `json:"work_ns"` // of the call path, on all ranks
	T    unit.Duration `json:"T_ns"`
}

// askWhatIf evaluates the schedule with a faster call path.
func askWhatIf(w *whatif.Change, s *tolerance.Schedule, e *tolerance.Evaluation) (whatIfSolution, error) {
	var answer whatIfSolution
	origins := s.Origins()
	chosen := make([]bool, len(origins))
	for i := range origins {
		chosen[i] = origins[i].On(w.Path)
	}
	for origin, work := range s.Work() {
		if origin < len(chosen) && chosen[origin] {
			answer.Work += work
		}
	}
	if answer.Work == 0 {
		return answer, fmt.Errorf("--what-if: nothing is computed in %q; %s", w.Path, knownPaths(s))
	}
	var err error
	answer.T, err = e.WhatIf(func(origin uint32) bool { return int(origin) < len(chosen) && chosen[origin] }, w.Percent)
	if err != nil {
		return answer, fmt.Errorf("--what-if: %w", err)
	}
	return answer, nil
}

// originName is what an origin is called in tables.
func originName(origins []schedule.Origin, origin uint32) string {
	if int(origin) >= len(origins) {
		return "-"
	}
	o := &origins[origin]
	switch path := strings.Join(o.Path, "/"); {
	case path == "" && o.Call == "":
		return "-"
	case path == "":
		return o.Call
	case o.Call == "" || o.Path[len(o.Path)-1] == o.Call:
		return path
	default:
		return path + "/" + o.Call
	}
}

// knownPaths names the call paths that compute, for a message.
func knownPaths(s *tolerance.Schedule) string {
	var names []string
	for origin, work := range s.Work() {
		if name := originName(s.Origins(), uint32(origin)); work > 0 && name != "-" && len(names) < 10 {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "this schedule does not say in which call path its operations are"
	}
	return "call paths that compute are " + strings.Join(names, ", ")
}

// partSolution is what happens if one part of the network alone gets slower.
type partSolution struct {
	Slope     int64 // of T, if the latency of this part alone grows
	Tolerance []tolerance.Largest
}

func (t *report) askPairs(most int) ([]part, error) {
	pairs := slices.Clone(t.answers.Path.Pairs)
	slices.SortStableFunc(pairs, func(a, b tolerance.Pair) int { return int(b.L - a.L) })
	var list []part
	for _, p := range pairs[:min(most, len(pairs))] {
		if p.L == 0 {
			break
		}
		list = append(list, part{A: &p.A, B: &p.B, Lambda: p.L})
	}
	return list, t.askParts(list, "pair", func(i int) *tolerance.Table {
		return tolerance.PairTable(t.set.network.Layout, *list[i].A,
			*list[i].B)
	})
}

func (t *report) askWires(most int) ([]part, error) {
	w := t.set.wiring
	if !w.Topology.Routed() {
		return nil, exit.Usagef("--wires: of %s only the lengths of the ways are known, not the wires (a dragonfly needs h)", w.Topology)
	}
	wires := w.CriticalWires(t.answers.Path)
	var list []part
	for _, use := range wires[:min(most, len(wires))] {
		list = append(list, part{Wire: use.Ends, Kind: w.Topology.WireClasses()[use.Class], Lambda: use.Lambda})
	}
	return list, t.askParts(list, "wire", func(i int) *tolerance.Table { return w.OneWire(wires[i].Wire) })
}

// askParts asks what happens if one part of the network after the other gets slower.
func (t *report) askParts(list []part, what string, tableOf func(i int) *tolerance.Table) error {
	solved, err := solveEach(t.run, len(list), what, func(i int) (partSolution, error) { return t.solvePart(tableOf(i)) })
	if err != nil {
		return err
	}
	for i := range list {
		list[i].Slope, list[i].largest = solved[i].Slope, solved[i].Tolerance
		list[i].Tolerance = percentages(tolerance.L, t.run.ask.percents, solved[i].Tolerance)
	}
	return nil
}

// solvePart asks what happens if one part of the network alone gets slower.
func (t *report) solvePart(table *tolerance.Table) (solution partSolution, err error) {
	network := t.set.network
	network.Table = table
	g, err := t.schedule.Build(network, tolerance.Variable{Parameter: tolerance.L})
	if err != nil {
		return solution, err
	}
	search := g.Search()
	at, err := search.At(g.Given())
	if err != nil {
		return solution, err
	}
	solution.Slope = at.Right
	for _, p := range t.run.ask.percents {
		largest, err := search.Tolerance(g.Given(), p)
		if err != nil {
			return solution, err
		}
		solution.Tolerance = append(solution.Tolerance, largest)
	}
	return solution, nil
}

// usedClasses are the classes of the machine that occur.
func (t *report) usedClasses() []machine.Class {
	var list []machine.Class
	for c := range machine.Class(machine.NumClasses) {
		if t.set.network.Layout.Occurs(c) {
			list = append(list, c)
		}
	}
	return list
}
