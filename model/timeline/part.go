package timeline

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"slackline/internal/cluster"
)

// Part defines which part of a run a timeline holds if several processes share it.
//
// Every process has all locations under their numbers, but calls, teams and records only of
// its own ranks, which follow each other. Of a location of another process it
// has those calls alone that its own messages and collectives have to do with, those of the epochs of one-sided communication, and the
// MPI_Init and MPI_Finalize of all ranks, numbered anew: their times, paths and order are
// right, and Skip leads to the first one that it has. Messages are those with an end here,
// collectives those with a member here. Regions,
// paths, communicators, Start, End and Problems are those of the whole run, in the same
// order as if one process held it.
type Part struct {
	Group cluster.Group
	Ranks []int // process p has ranks Ranks[p] .. Ranks[p+1]-1
	First int   // the locations of this process are First .. Last-1
	Last  int

	// shared holds by process and location (from First on) the calls that the process has
	// of it, in their order.
	shared [][][]int32
}

// Here reports whether a location belongs to this process. A timeline that is not a part has all of them.
func (p *Part) Here(location int32) bool {
	return p == nil || int(location) >= p.First && int(location) < p.Last
}

// Owner is the process that has a rank.
func (p *Part) Owner(rank int) int {
	return sort.Search(len(p.Ranks)-2, func(i int) bool { return p.Ranks[i+1] > rank })
}

// OwnCall returns the number here of a call of a location of this process that another process knows under
// another number.
func (p *Part) OwnCall(process int, location, call int32) (own int32, ok bool) {
	if !p.Here(location) {
		return 0, false
	}
	list := p.shared[process][int(location)-p.First]
	if call < 0 || int(call) >= len(list) {
		return 0, false
	}
	return list[call], true
}

// Whole returns the locations that a timeline has as a whole, first .. last-1.
func (t *Timeline) Whole() (first, last int) {
	if t.Part == nil {
		return 0, len(t.Locations)
	}
	return t.Part.First, t.Part.Last
}

// CommOwner is the process that answers for what concerns a communicator as a whole; it has its collectives.
func (t *Timeline) CommOwner(comm int) int {
	if members := t.Comms[comm].Members; len(members) > 0 && members[0] >= 0 && int(members[0]) < t.Ranks {
		return t.Part.Owner(int(members[0]))
	}
	return 0
}

// FinishPart is Finish of a run that several processes share: every one has added all locations, and
// what happened at those of its own ranks; ranks says where the ranks of each process
// begin, and how many there are. It is called by all of them.
func (b *Builder) FinishPart(ctx context.Context, g cluster.Group, ranks []int, threads int) (*Timeline, error) {
	if g.Size() == 1 {
		return b.Finish(threads), nil
	}
	f := b.finisher(threads)
	p := &Part{Group: g, Ranks: slices.Clone(ranks)}
	p.Ranks[len(p.Ranks)-1] = max(p.Ranks[len(p.Ranks)-1], f.t.Ranks)
	f.t.Part = p
	p.First = sort.Search(len(b.locations), func(i int) bool { return b.locations[i].rank >= p.Ranks[g.Rank()] })
	p.Last = sort.Search(len(b.locations), func(i int) bool { return b.locations[i].rank >= p.Ranks[g.Rank()+1] })
	for i, l := range b.locations {
		if !p.Here(int32(i)) {
			*l = LocationBuilder{rank: l.rank, thread: l.thread, name: l.name, host: l.host, last: never, clockError: unknownClock}
		}
	}
	if err := f.finishPart(ctx); err != nil {
		return nil, err
	}
	return f.t, nil
}

// finishPart does what finish does, with what the other processes know.
//
// Exchanges: which ranks were not recorded as a whole; the trees of call paths; the sends to ranks of other processes; which receives
// they found; the collectives of communicators with members elsewhere; all epochs of one-sided communication; the calls that others
// need to know; first and last events, and what does not fit together.
func (f *finisher) finishPart(ctx context.Context) error {
	f.begin()
	x := &partExchange{finisher: f, Part: f.t.Part, ctx: ctx}
	for _, step := range []func() error{
		x.shareCut, x.sharePaths, x.matchMessages, x.shareCollectives, x.shareEpochs, x.shareCalls, x.sumUp,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	f.end()
	return nil
}

// partExchange is a finisher that asks other processes.
type partExchange struct {
	*finisher
	*Part
	ctx context.Context
}

// exchange gives every other process what is meant for it, and takes what they have for this one; false: that makes no sense.
func (p *Part) exchange(ctx context.Context, out [][]byte, take func(from int, b []byte) bool) error {
	in, err := p.Group.Exchange(ctx, out)
	return cmp.Or(err, p.takeAll(in, take))
}

// takeAll takes what the other processes have sent.
func (p *Part) takeAll(in [][]byte, take func(from int, b []byte) bool) error {
	for from, b := range in {
		if from != p.Group.Rank() && !take(from, b) {
			return cluster.ErrGarbled
		}
	}
	return nil
}

// ownerOf is the process that a location belongs to.
func (x *partExchange) ownerOf(location int32) int { return x.Owner(x.locations[location].rank) }

// sameRank is whether there is a location so far from one, of the same rank.
func (x *partExchange) sameRank(location int32, by int16) bool {
	other := int(location) + int(by)
	return other >= 0 && other < len(x.locations) && x.locations[other].rank == x.locations[location].rank
}

// here is whether a location is one of this process.
func (f *finisher) here(location int32) bool { return f.t.Part.Here(location) }

// byLocation sorts things by a location and a number.
func byLocation[T any](list []T, key func(*T) (location, number int32)) {
	slices.SortFunc(list, func(x, y T) int {
		lx, nx := key(&x)
		ly, ny := key(&y)
		return cmp.Or(cmp.Compare(lx, ly), cmp.Compare(nx, ny))
	})
}
