package record

import (
	"cmp"
	"maps"
	"slices"

	"slackline/model/timeline"
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
	call            int32  // by which its processes came to know the others
	identity        uint32 // of an intercommunicator: both sides have the same; else 0
	name            uint64 // that both sides may have in common; 0: nothing is known
	members, remote []int32
	made            int64
	calls           map[string]*[2]int64 // when the calls that made it began and ended, by host
	comms           []commOf
	of              []farGroup
	other           *side
}

// joinWorlds finds which groups are the two sides of one connection, which no process told another: the names of ports say so, and what
// Open MPI tells processes about the one that started them. Else each has as many processes as the other one sees, and both came about at
// the same time. It returns the communicators with the ranks of members of other worlds, and how many connections may be others.
func joinWorlds(files []*threadFiles) (known *identities, guessed int) {
	raw, hosts := commsOf(files), map[int]string{}
	for _, f := range files {
		hosts[f.rank] = f.head.host + " " + f.head.boot
	}
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
		list := x.sides(far, hosts)
		if !joinSides(list, far, connections) {
			return x, guessed
		}
		guessed += guesses(list)
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

func allKnown(list []int32) bool {
	return !slices.ContainsFunc(list, func(m int32) bool { return m < 0 })
}

// sides are the connections whose other side is not known, by time.
func (x *identities) sides(far map[farGroup][]int32, hosts map[int]string) []*side {
	found := map[uint32]*side{}
	starts := map[uint64]bool{} // names of processes that started others
	for _, rank := range slices.Sorted(maps.Keys(x.comms)) {
		for _, id := range x.ids[rank] {
			c, of := x.comms[rank][id], commOf{rank, id}
			if c.birth.how == fromConnection && c.birth.tag == bySpawn {
				starts[c.birth.name] = true
			}
			_, joined := x.connections[of]
			group := farGroup{rank, c.group}
			unknown := c.group != 0 && far[group] == nil
			connects := c.birth.how == fromConnection || c.birth.how == fromStart
			if joined || !connects && !unknown || len(c.remote) == 0 || !allKnown(c.members) {
				continue
			}
			s := &side{how: c.birth.how, call: c.birth.tag, members: c.members, remote: c.remote, made: c.made, calls: map[string]*[2]int64{}}
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
			if connects {
				s.name = max(s.name, c.birth.name) // that of the root
				s.lasts(hosts[rank], c.birth.enter, c.made)
			}
			s.comms = append(s.comms, of)
			if unknown {
				s.of = append(s.of, group)
			}
		}
	}
	for _, s := range found {
		if s.how == fromStart && !starts[s.name] { // it was not recorded, or names itself in another way
			s.name = 0
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b *side) int {
		return cmp.Or(cmp.Compare(a.made, b.made), slices.Compare(a.members, b.members))
	})
}

// lasts takes note of the time in which a process of the side was in the call.
func (s *side) lasts(host string, from, to int64) {
	if s.calls[host] == nil {
		s.calls[host] = &[2]int64{from, to}
	}
	at := s.calls[host]
	at[0], at[1] = min(at[0], from), max(at[1], to)
}

// partners are the calls on the other side of those by which processes come to know others.
var partners = map[int32]int32{byAccept: byConnect, byConnect: byAccept, byJoin: byJoin}

// fits reports whether two sides can be those of one connection. Names that only one side has say nothing.
func (s *side) fits(other *side) bool {
	if s.identity != other.identity || s.name != other.name && s.name != 0 && other.name != 0 ||
		!sees(s.remote, other.members) || !sees(other.remote, s.members) {
		return false
	}
	if s.how == fromStart {
		s, other = other, s
	}
	started := s.how == fromConnection && s.call == bySpawn && other.how == fromStart
	switch {
	case started, s.how == fromElsewhere && other.how == fromElsewhere, s.how == fromLeaders && other.how == fromLeaders:
	case s.how != fromConnection || other.how != fromConnection || partners[s.call] != other.call:
		return false
	}
	for host, a := range s.calls {
		if b := other.calls[host]; b != nil && (a[0] > b[1] || b[0] > a[1] || started && a[0] > b[0]) {
			return false
		}
	}
	return !slices.ContainsFunc(other.members, func(m int32) bool { return slices.Contains(s.members, m) })
}

// sees reports whether a group can be the members of the other side, as far as it is known.
func sees(group, members []int32) bool {
	if len(group) != len(members) {
		return false
	}
	for i, m := range group {
		if m >= 0 && m != members[i] {
			return false
		}
	}
	return true
}

// joinSides joins sides that fit: first those that fit one other side only, then the nearest in time. It reports whether there were any.
func joinSides(list []*side, far map[farGroup][]int32, connections map[commOf]uint32) (any bool) {
	fitting := map[*side][]*side{}
	for i, a := range list {
		for _, b := range list[i+1:] {
			if a.fits(b) {
				fitting[a], fitting[b] = append(fitting[a], b), append(fitting[b], a)
			}
		}
	}
	join := func(a, b *side) {
		any = true
		number := uint32(len(connections))
		a.join(b, number, far, connections)
		b.join(a, number, far, connections)
	}
	free := func(a *side) []*side {
		fitting[a] = slices.DeleteFunc(fitting[a], func(b *side) bool { return b.other != nil })
		return fitting[a]
	}
	for clear := true; clear; {
		clear = false
		for _, a := range list {
			if a.other == nil && len(free(a)) == 1 {
				join(a, free(a)[0])
				clear = true
			}
		}
	}
	for _, a := range list {
		if a.other == nil && len(free(a)) > 0 {
			join(a, slices.MinFunc(free(a), func(b, c *side) int { return cmp.Compare(distance(a, b), distance(a, c)) }))
		}
	}
	return any
}

// guesses counts the connections of sides just joined that could be others: with another side in the place of one of them, or with those
// of another connection exchanged.
func guesses(list []*side) (n int) {
	for _, a := range list {
		b := a.other
		if b == nil || slices.Index(list, a) > slices.Index(list, b) {
			continue
		}
		if slices.ContainsFunc(list, func(c *side) bool {
			return c != a && c != b && (a.fits(c) && (c.other == nil || c.other.fits(b)) || b.fits(c) && (c.other == nil || c.other.fits(a)))
		}) {
			n++
		}
	}
	return n
}

// join takes the other side of a connection, which has a number.
func (s *side) join(other *side, number uint32, far map[farGroup][]int32, connections map[commOf]uint32) {
	s.other = other
	for _, g := range s.of {
		far[g] = other.members
	}
	for _, c := range s.comms {
		connections[c] = number
	}
}

// distance is the time between the ends of both sides' calls; that between hosts is unknown.
func distance(a, b *side) int64 {
	shared := len(a.calls) == 0 || len(b.calls) == 0
	for host := range a.calls {
		shared = shared || b.calls[host] != nil
	}
	if !shared {
		return 0
	}
	return max(a.made-b.made, b.made-a.made)
}
