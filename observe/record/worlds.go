package record

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"slackline/internal/source"
	"slackline/model/timeline"
	"slackline/model/trace"
)

// A member of another world stands in a definition as the number of the remote group by which its process first became known, and its
// rank in that; worlds.c has the layout.
const (
	farMember = 1 << 30
	farRanks  = 1 << 20
)

// farGroup is a remote group of which one rank knew nothing.
type farGroup struct {
	rank  int
	group uint32
}

// side is one side of a connection between two worlds, or of an intercommunicator of which one rank did not know all, as its own processes
// see it.
type side struct {
	how             birthKind
	identity        uint32 // of an intercommunicator: both sides have the same; else 0
	members, remote []int32
	made            int64
	comms           []commOf
	of              []farGroup
	joined          bool
}

// joinWorlds finds which groups are the two sides of one connection, which no process could tell: each has as many processes as the other
// one sees, and both came about at the same time. It returns the communicators with the ranks of members of other worlds.
func joinWorlds(files []*threadFiles) *identities {
	raw := commsOf(files)
	far, connections := map[farGroup][]int32{}, map[commOf]uint32{}
	for {
		comms := map[int]map[uint32]rawComm{}
		for rank, list := range raw {
			comms[rank] = make(map[uint32]rawComm, len(list))
			for id, c := range list {
				c.members, c.remote = near(rank, c.members, far), near(rank, c.remote, far)
				comms[rank][id] = c
			}
		}
		x := newIdentities(comms, connections)
		if !joinSides(x.sides(far), far, connections) {
			return x
		}
	}
}

// near replaces members of other worlds.
func near(rank int, list []int32, far map[farGroup][]int32) []int32 {
	if !slices.ContainsFunc(list, func(m int32) bool { return m >= farMember }) {
		return list
	}
	out := slices.Clone(list)
	for i, m := range out {
		if m >= farMember {
			out[i] = timeline.UnknownRank
			group := far[farGroup{rank, uint32(m-farMember) / farRanks}]
			if at := int(m-farMember) % farRanks; at < len(group) {
				out[i] = group[at]
			}
		}
	}
	return out
}

func allKnown(list []int32) bool { return !slices.ContainsFunc(list, func(m int32) bool { return m < 0 }) }

// sides are the connections whose other side is not known, by time.
func (x *identities) sides(far map[farGroup][]int32) []*side {
	found := map[uint32]*side{}
	for _, rank := range slices.Sorted(maps.Keys(x.comms)) {
		for _, id := range x.ids[rank] {
			c, of := x.comms[rank][id], commOf{rank, id}
			_, joined := x.connections[of]
			group := farGroup{rank, c.group}
			unknown := c.group != 0 && far[group] == nil
			connects := c.birth.how == fromConnection || c.birth.how == fromStart
			if joined || !connects && !unknown || len(c.remote) == 0 || !allKnown(c.members) {
				continue
			}
			s := &side{how: c.birth.how, members: c.members, remote: c.remote, made: c.made}
			key := x.side(of)
			if c.birth.how == fromLeaders {
				s.identity = x.identity(rank, id)
				key = x.number('V', s.identity, x.groups(&rawComm{members: c.members}))
			}
			if found[key] == nil {
				found[key] = s
			}
			s = found[key]
			s.made = min(s.made, c.made)
			s.comms = append(s.comms, of)
			if unknown {
				s.of = append(s.of, group)
			}
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b *side) int {
		return cmp.Or(cmp.Compare(a.made, b.made), slices.Compare(a.members, b.members))
	})
}

// fits reports whether two sides can be those of one connection.
func (s *side) fits(other *side) bool {
	return !s.joined && !other.joined && s.identity == other.identity && (s.how != fromStart || other.how != fromStart) &&
		sees(s.remote, other.members) && sees(other.remote, s.members) &&
		!slices.ContainsFunc(other.members, func(m int32) bool { return slices.Contains(s.members, m) })
}

// sees reports whether a group can be the members of the other side, as far as it is known.
func sees(group, members []int32) bool {
	for i, m := range group {
		if len(group) != len(members) || m >= 0 && m != members[i] {
			return false
		}
	}
	return true
}

// joinSides joins sides that fit, the nearest in time first, and reports whether there were any.
func joinSides(list []*side, far map[farGroup][]int32, connections map[commOf]uint32) (any bool) {
	for _, a := range list {
		var best *side
		for _, b := range list {
			if a.fits(b) && (best == nil || distance(a, b) < distance(a, best)) {
				best = b
			}
		}
		if best == nil {
			continue
		}
		any = true
		number := uint32(len(connections))
		a.join(best, number, far, connections)
		best.join(a, number, far, connections)
	}
	return any
}

// join takes the other side of a connection, which has a number.
func (s *side) join(other *side, number uint32, far map[farGroup][]int32, connections map[commOf]uint32) {
	s.joined = true
	for _, g := range s.of {
		far[g] = other.members
	}
	for _, c := range s.comms {
		connections[c] = number
	}
}

func distance(a, b *side) int64 { return max(a.made-b.made, b.made-a.made) }

// ranksOfWorlds is how many ranks the worlds of a run have together, as each has left word; 0: it is unknown. A world whose raw files are
// all gone is known from it alone.
func ranksOfWorlds(dir string) (ranks int) {
	list, _ := filepath.Glob(filepath.Join(quoteGlob(dir), "world-*"))
	for _, path := range list {
		text, err := source.ReadKept(path)
		var base, n int
		_, errScan := fmt.Sscanf(string(text), "%d %d;", &base, &n)
		if errors.Join(err, errScan) == nil && min(base, n) >= 0 && base+n <= farRanks {
			ranks = max(ranks, base+n)
		}
	}
	return ranks
}

// compareWorlds adds to the first process of a further world that its clock is that of a process of an earlier one, if both are on one
// host.
func compareWorlds(files []*threadFiles) {
	for _, f := range files {
		if f.head.base == 0 || f.rank != f.head.base || f.thread != 0 {
			continue
		}
		for _, other := range files {
			if other.rank >= f.rank || other.head.host != f.head.host || other.head.boot != f.head.boot {
				continue
			}
			at := picoseconds(f.head.start)
			f.definitions.pings = append(f.definitions.pings, trace.RoundTrip{Partner: other.rank, Sent: at, Answered: at, Back: at})
			break
		}
	}
}
