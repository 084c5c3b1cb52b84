package replay

import (
	"slices"

	"slackline/model/timeline"
)

// groupTable are the groups of ranks that collectives work on, for one copy of the run. The first ones
// have all ranks: the world, then others with another order of the ranks.
type groupTable struct {
	members [][]int32 // by group: world ranks by rank in the group; nil: the world
	global  int       // groups with all ranks
	ofComm  []int32   // by communicator; -1: none
}

// self is the communicator of a rank alone, however many there are.
const self = "MPI_COMM_SELF"

// newGroupTable makes groups of the communicators; those with the same members share one.
func newGroupTable(t *timeline.Timeline) groupTable {
	g := groupTable{members: [][]int32{nil}, ofComm: make([]int32, len(t.Comms))}
	var partial []int32 // communicators
	seen := make([]int32, t.Ranks)
	for i := range t.Comms {
		members := t.Comms[i].Members
		switch {
		case t.Ranks == 1 && len(members) == 1 && members[0] == 0 && len(t.Comms[i].Remote) == 0 && t.Comms[i].Name != self:
			// all ranks, of which there is one: with copies it grows
		case len(t.Comms[i].Remote) > 0 || len(members) < 2 || !distinct(members, seen, int32(i+1)):
			g.ofComm[i] = -1
		case len(members) != t.Ranks:
			partial = append(partial, int32(i))
		case !isWorld(members):
			g.ofComm[i] = g.find(members)
		}
	}
	g.global = len(g.members)
	for _, i := range partial {
		g.ofComm[i] = g.find(t.Comms[i].Members)
	}
	return g
}

// distinct reports whether the members are ranks of the run, each once. A rank that is seen gets the
// mark, which no one else uses.
func distinct(members, seen []int32, mark int32) bool {
	for _, r := range members {
		if r < 0 || int(r) >= len(seen) || seen[r] == mark {
			return false
		}
		seen[r] = mark
	}
	return true
}

func isWorld(members []int32) bool {
	for i, r := range members {
		if int(r) != i {
			return false
		}
	}
	return true
}

// find returns the group with these members, a new one if there is none. Programs with many
// communicators make them of different ranks mostly: the last ones are the likely ones.
func (g *groupTable) find(members []int32) int32 {
	for i := len(g.members) - 1; i > 0 && i >= len(g.members)-64; i-- {
		if slices.Equal(g.members[i], members) {
			return int32(i)
		}
	}
	g.members = append(g.members, members)
	return int32(len(g.members) - 1)
}
