package advise

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"slackline/model/collective"
	"slackline/model/schedule"
	"slackline/model/unit"
)

var algorithmKind = kind{
	Info: Info{
		Name:  "algorithm",
		Short: "another algorithm for a collective",
		Meaning: "All collectives of a call path use this algorithm instead of that of the mapping. Which algorithm the MPI library used in " +
			"the run is not recorded: the gain is that against the mapping of the simulation (--mapping).",
		Advice: "Choose the algorithm in the MPI library: Open MPI's coll_tuned_..._algorithm with coll_tuned_use_dynamic_rules, MPICH's " +
			"MPIR_CVAR_..._INTRA_ALGORITHM.",
		Form: "algorithm:NAME@CALLPATH such as algorithm:ring@main/MPI_Allreduce",
	},
	propose: func(s *study) []candidate {
		var list []candidate
		for _, target := range s.collectives() {
			bound := min(s.criticalTime(target.name), s.idealGain)
			for _, a := range collective.Algorithms(target.op) {
				list = append(list, candidate{Change{"algorithm", a.Name, target.name}, bound})
			}
		}
		return list
	},
	apply: func(_ context.Context, x *Scenario, c Change) error {
		p := &withAlgorithm{Program: x.Program, targets: targetsOf(x.Program, c.Target), name: c.Value}
		if !p.check(c.Value) {
			return fmt.Errorf("%s: no collective there has an algorithm %s", c.String(), c.Value)
		}
		x.Program = p
		return nil
	},
	sentence: func(s *study, c Change) string {
		return fmt.Sprintf("Let the collectives of %s use the algorithm %s instead of that of the mapping %s: the run", s.place(c.Target),
			c.Value, s.mappingName())
	},
}

var mappingKind = kind{
	Info: Info{
		Name:    "mapping",
		Short:   "the algorithms of another MPI library for all collectives",
		Meaning: "All collectives use the algorithms of another mapping: that of slackline (default), of Open MPI or of MPICH.",
		Advice:  "Try another MPI library, or give this one the rules of the other one.",
		Form:    "mapping:NAME with default, openmpi or mpich",
	},
	propose: func(s *study) []candidate {
		var list []candidate
		if s.base.Program.Shape().Collectives {
			for _, name := range collective.MappingNames() {
				if name != s.mappingName() {
					list = append(list, candidate{Change{Kind: "mapping", Value: name}, s.idealGain})
				}
			}
		}
		return list
	},
	apply: func(_ context.Context, x *Scenario, c Change) error {
		m, err := collective.NamedMapping(c.Value)
		if err == nil {
			x.Mapping = m
		}
		return err
	},
	sentence: func(s *study, c Change) string {
		return fmt.Sprintf("Let all collectives use the algorithms of the mapping %s instead of %s: the run", c.Value, s.mappingName())
	},
}

func (s *study) mappingName() string {
	if s.base.Mapping == nil {
		return collective.DefaultMapping().Name
	}
	return s.base.Mapping.Name
}

// withAlgorithm is a program in which the collectives of some call paths have an algorithm by name.
type withAlgorithm struct {
	schedule.Program
	targets targets
	name    string
}

// Block implements schedule.Program.
func (w *withAlgorithm) Block(rank, step int, b *schedule.Block) {
	w.Program.Block(rank, step, b)
	own := false
	for i := range b.Ops {
		if op := &b.Ops[i]; op.Kind == schedule.Collective && w.targets.has(op) && collective.CheckAlgorithm(b.Calls[op.Size].Op, w.name) == nil {
			if !own {
				b.Own()
				own = true
			}
			b.Calls[b.Ops[i].Size].Algorithm = w.name
		}
	}
}

// check reports whether any collective of the call paths takes the algorithm.
func (w *withAlgorithm) check(name string) bool {
	found := false
	eachOp(w.Program, func(_ int, b *schedule.Block, op *schedule.Op) {
		found = found || op.Kind == schedule.Collective && w.targets.has(op) && collective.CheckAlgorithm(b.Calls[op.Size].Op, name) == nil
	})
	return found
}

// eachOp goes through all operations of a program.
func eachOp(p schedule.Program, visit func(rank int, b *schedule.Block, op *schedule.Op)) {
	var b schedule.Block
	for rank := range p.Ranks() {
		for step := range p.Steps(rank) {
			p.Block(rank, step, &b)
			for i := range b.Ops {
				visit(rank, &b, &b.Ops[i])
			}
		}
	}
}

// collectiveCall is a call path with collectives of one kind.
type collectiveCall struct {
	name string
	op   schedule.Operation
	time unit.Duration // on the critical path
}

// collectives are the call paths with collectives, the longest on the critical path first.
func (s *study) collectives() []collectiveCall {
	var list []collectiveCall
	for _, c := range s.calls {
		if c.kind == schedule.Collective {
			list = append(list, collectiveCall{c.name, c.op, s.criticalTime(c.name)})
		}
	}
	slices.SortStableFunc(list, func(a, b collectiveCall) int { return cmp.Compare(b.time, a.time) })
	return list[:min(len(list), maxPaths)]
}
