package schedule

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// errCollectives is the error of formats that know messages only.
var errCollectives = errors.New("the schedule has symbolic collectives, which this format cannot express: " +
	"expand them into messages first, or write it as slk")

// goalForm is a graph as the formats of LogGOPSim can say it: one block per rank, times in ns, no
// contexts.
type goalForm struct {
	g        *Graph
	tags     map[contextTag]uint32 // of messages that are not in the user context; nil if there are none
	warnings []string
}

type contextTag struct {
	context uint8
	tag     uint32
}

// newGoalForm brings a graph into this form and notes what is lost.
func newGoalForm(g *Graph) (*goalForm, error) {
	if len(g.calls) > 0 {
		return nil, errCollectives
	}
	flat, err := Flatten(g)
	if err != nil {
		return nil, err
	}
	f := &goalForm{g: flat}
	rounded, buffered, contexts := 0, 0, false
	for i := range flat.ops {
		switch op := &flat.ops[i]; op.Kind {
		case Collective:
			return nil, errCollectives
		case Calc:
			if op.Size%psPerNs != 0 {
				rounded++
			}
		default:
			contexts = contexts || op.World() != UserContext
			if op.IsBuffered() {
				buffered++
			}
		}
	}
	if buffered > 0 {
		f.warnings = append(f.warnings, fmt.Sprintf("%d sends are buffered, which this format cannot express: those larger than S wait for "+
			"their receives there", buffered))
	}
	if rounded > 0 {
		f.warnings = append(f.warnings, fmt.Sprintf("%d calc operations are not whole ns and were rounded", rounded))
	}
	if contexts {
		return f, f.mapTags()
	}
	return f, nil
}

// mapTags gives the messages of other contexts tags that the user context does not use, in
// ascending order of context and tag.
func (f *goalForm) mapTags() error {
	f.tags = make(map[contextTag]uint32)
	used := make(map[uint32]bool)
	for i := range f.g.ops {
		op := &f.g.ops[i]
		switch {
		case op.Kind == Calc || op.Tag == AnyTag:
		case op.World() == UserContext:
			used[op.Tag] = true
		default:
			f.tags[contextTag{op.World(), op.Tag}] = 0
		}
	}
	order := slices.SortedFunc(maps.Keys(f.tags), func(a, b contextTag) int {
		return cmp.Or(cmp.Compare(a.context, b.context), cmp.Compare(a.tag, b.tag))
	})
	next := uint64(0)
	for tag := range used {
		next = max(next, uint64(tag)+1)
	}
	if next+uint64(len(order)) > maxTag {
		next = 0 // no room above the user's tags: take what they leave free
	}
	for _, t := range order {
		for used[uint32(next)] {
			next++
		}
		if next > maxTag {
			return errors.New("the schedule uses too many different tags to keep its contexts apart")
		}
		f.tags[t] = uint32(next)
		next++
	}
	f.warnWildcards()
	return nil
}

// warnWildcards warns of receives that take any tag on ranks where messages of several contexts
// arrive, since contexts are distinguished by tags now.
func (f *goalForm) warnWildcards() {
	ranks, example := 0, 0
	for rank := range f.g.Ranks() {
		var any, other bool
		for i := range f.g.RankOps(rank) {
			op := &f.g.RankOps(rank)[i]
			if op.Kind != Recv {
				continue
			}
			any = any || op.Tag == AnyTag
			other = other || op.Context != UserContext
		}
		if any && other {
			if ranks == 0 {
				example = rank
			}
			ranks++
		}
	}
	if ranks > 0 {
		f.warnings = append(f.warnings, fmt.Sprintf("%d ranks (e.g. rank %d) receive any tag beside messages of collectives; "+
			"the format knows no contexts, so such a receive may take the wrong message", ranks, example))
	}
}

// tag returns the tag of a message as the format says it.
func (f *goalForm) tag(op *Op) uint32 {
	if op.World() == UserContext || op.Tag == AnyTag {
		return op.Tag
	}
	return f.tags[contextTag{op.World(), op.Tag}]
}

// nanoseconds returns the time of a calc, rounded half up.
func nanoseconds(op *Op) int64 {
	return min(op.Size/psPerNs+op.Size%psPerNs/(psPerNs/2), maxCalcNs)
}
