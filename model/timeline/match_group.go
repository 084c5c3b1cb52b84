package timeline

import (
	"cmp"
	"slices"
	"sync"

	"slackline/internal/spill"
	"slackline/model/unit"
)

// group answers who is who in a communicator.
type group struct {
	members, remote []int32
	inMembers       map[int32]bool // of intercommunicators
}

func groupsOf(comms []Comm) []group {
	groups := make([]group, len(comms))
	for i, c := range comms {
		groups[i] = group{members: c.Members, remote: c.Remote}
		if len(c.Remote) > 0 {
			groups[i].inMembers = make(map[int32]bool, len(c.Members))
			for _, rank := range c.Members {
				groups[i].inMembers[rank] = true
			}
		}
	}
	return groups
}

// noPeer is the world rank of a peer that does not exist.
const noPeer = int32(-1)

// world returns the world rank of the peer that a rank names.
func (f *finisher) world(rank int, comm, peer int32) int32 {
	if comm < 0 || int(comm) >= len(f.groups) || peer < 0 {
		return noPeer
	}
	g := &f.groups[comm]
	members := g.members
	if g.inMembers[int32(rank)] {
		members = g.remote
	}
	if int(peer) >= len(members) || members[peer] < 0 || int(members[peer]) >= f.t.Ranks {
		return noPeer
	}
	return members[peer]
}

// run is a part of the records of a location: those with the same key.
type run struct {
	location int32
	key      int32
	records  []int32 // numbers of the records, in order
}

// grouping sorts numbers by a key, keeping their order. It is made for few different keys out of many
// possible ones: its room is used again.
type grouping struct {
	count []int32 // by key
	keys  []int32 // those that occur
}

var groupings = sync.Pool{New: func() any { return new(grouping) }}

// runsOf groups the numbers 0 .. n-1 by their key out of 0 .. keys-1; those with a negative key are left
// out.
func runsOf(s *spill.Space, location int32, n, keys int, key func(i int) int32) []run {
	g := groupings.Get().(*grouping)
	defer groupings.Put(g)
	if len(g.count) < keys {
		g.count = make([]int32, keys)
	}
	g.keys = g.keys[:0]
	total := int32(0)
	for i := range n {
		if k := key(i); k >= 0 {
			if g.count[k] == 0 {
				g.keys = append(g.keys, k)
			}
			g.count[k]++
			total++
		}
	}
	order, from := spill.Make[int32](s, int(total), int(total)), int32(0)
	runs := make([]run, len(g.keys))
	for j, k := range g.keys {
		to := from + g.count[k]
		runs[j] = run{location, k, order[from:to]}
		g.count[k], from = from, to
	}
	for i := range n {
		if k := key(i); k >= 0 {
			order[g.count[k]] = int32(i)
			g.count[k]++
		}
	}
	for _, k := range g.keys {
		g.count[k] = 0
	}
	return runs
}

// byKey hands the runs of all locations to their keys, in the order of the locations.
func byKey(runs [][]run, keys int) [][]run {
	count := make([]int, keys+1)
	for _, of := range runs {
		for _, r := range of {
			count[r.key+1]++
		}
	}
	for k := range keys {
		count[k+1] += count[k]
	}
	all, out, next := make([]run, count[keys]), make([][]run, keys), slices.Clone(count)
	for _, of := range runs {
		for _, r := range of {
			all[next[r.key]] = r
			next[r.key]++
		}
	}
	for k := range keys {
		out[k] = all[count[k]:count[k+1]]
	}
	return out
}

// ref is a record of some location.
type ref struct{ location, record int32 }

// merge returns the records of the locations of one rank in the order of their times. Those of one location are in order, unless
// another one began what it completed.
func (f *finisher) merge(runs []run, time func(ref) unit.Duration) []ref {
	n := 0
	for _, r := range runs {
		n += len(r.records)
	}
	out := spill.Make[ref](f.t.Space, 0, n)
	for _, r := range runs {
		for _, record := range r.records {
			out = append(out, ref{r.location, record})
		}
	}
	if order := func(a, b ref) int { return cmp.Compare(time(a), time(b)) }; !slices.IsSortedFunc(out, order) {
		slices.SortStableFunc(out, order)
	}
	return out
}

// sameRank is the number of runs at the front that belong to locations of one rank.
func (f *finisher) sameRank(runs []run) int {
	n := 1
	for n < len(runs) && f.locations[runs[n].location].rank == f.locations[runs[0].location].rank {
		n++
	}
	return n
}
