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

// side is one side of a connection between two worlds, as its own processes see it.
type side struct {
	members []int32
	remote  int // processes on the other side
	made    int64
	of      []farGroup
	joined  bool
}

// joinWorlds finds which groups are the two sides of one connection, which no process could tell: each has as many processes as the other
// one sees, and both came about at the same time. It replaces the members of other worlds in all definitions by their ranks.
func joinWorlds(files []*threadFiles) {
	far := map[farGroup][]int32{}
	for joinSides(sides(files, far), far) {
	}
	for _, f := range files {
		for id, c := range f.definitions.comms {
			c.members, _ = near(f.rank, c.members, far)
			c.remote, _ = near(f.rank, c.remote, far)
			f.definitions.comms[id] = c
		}
	}
}

// near replaces members of other worlds; all: none of them is unknown.
func near(rank int, list []int32, far map[farGroup][]int32) (out []int32, all bool) {
	all = true
	if list == nil {
		return nil, true
	}
	out = slices.Clone(list)
	for i, m := range out {
		if m >= farMember {
			out[i] = timeline.UnknownRank
			group := far[farGroup{rank, uint32(m-farMember) / farRanks}]
			if at := int(m-farMember) % farRanks; at < len(group) {
				out[i] = group[at]
			}
		}
		all = all && out[i] >= 0
	}
	return out, all
}

// sides are the connections whose other side is not known, by time.
func sides(files []*threadFiles, far map[farGroup][]int32) []*side {
	found := map[string]*side{}
	for _, f := range files {
		before := map[string]int{}
		for _, id := range slices.Sorted(maps.Keys(f.definitions.comms)) {
			c := f.definitions.comms[id]
			members, all := near(f.rank, c.members, far)
			if c.group == 0 || far[farGroup{f.rank, c.group}] != nil || !all {
				continue
			}
			key := fmt.Sprint(members, len(c.remote))
			before[key]++
			key = fmt.Sprint(key, before[key])
			if found[key] == nil {
				found[key] = &side{members: members, remote: len(c.remote), made: c.made}
			}
			s := found[key]
			s.made = min(s.made, c.made)
			s.of = append(s.of, farGroup{f.rank, c.group})
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b *side) int {
		return cmp.Or(cmp.Compare(a.made, b.made), slices.Compare(a.members, b.members))
	})
}

// joinSides joins sides that fit, the nearest in time first, and reports whether there were any.
func joinSides(list []*side, far map[farGroup][]int32) (any bool) {
	for _, a := range list {
		var best *side
		for _, b := range list {
			overlap := slices.ContainsFunc(b.members, func(m int32) bool { return slices.Contains(a.members, m) })
			if a.joined || b.joined || overlap || a.remote != len(b.members) || b.remote != len(a.members) {
				continue
			}
			if best == nil || distance(a, b) < distance(a, best) {
				best = b
			}
		}
		if best == nil {
			continue
		}
		a.joined, best.joined, any = true, true, true
		for _, g := range a.of {
			far[g] = best.members
		}
		for _, g := range best.of {
			far[g] = a.members
		}
	}
	return any
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
