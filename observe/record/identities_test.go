package record

import (
	"testing"

	"slackline/model/trace"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// TestCommunicatorOrders wants communicators of the same members to be the same on all ranks, whatever the order in which each has
// made them.
func TestCommunicatorOrders(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		r := recorded(t, sampled(append(mpitest.Launch(l, 2), build(t, l, "comms.c", "-O1", "-pthread"))...))
		if r.result.ExitCode != 0 {
			t.Fatalf("exit code %d\n%s", r.result.ExitCode, r.stderr)
		}
		sides := [2]map[int32]uint32{{}, {}}
		for i, l := range r.Locations {
			for _, e := range r.events(t, i) {
				if e.Kind == trace.Send || e.Kind == trace.Recv {
					sides[l.Rank][e.Tag] = e.Comm
				}
			}
		}
		if len(sides[0]) != 4+2*22 || len(sides[1]) != len(sides[0]) {
			t.Fatalf("%d sends and %d receives, want %d", len(sides[0]), len(sides[1]), 4+2*22)
		}
		tags := map[uint32]int32{}
		for tag, comm := range sides[0] {
			if sides[1][tag] != comm {
				t.Errorf("message %d is sent on communicator %d and received on %d", tag, comm, sides[1][tag])
			}
			if other, used := tags[comm]; used {
				t.Errorf("messages %d and %d are on the same communicator", tag, other)
			}
			tags[comm] = tag
		}
		if p := r.lined(t).Problems; p.UnmatchedSends+p.UnmatchedReceives+p.PendingRequests+p.IncompleteCollectives != 0 {
			t.Errorf("problems = %+v", p)
		}
	})
}

// TestIdentities compares communicators of hand-made ranks: those of one letter are the same one, those of different letters are not.
func TestIdentities(t *testing.T) {
	two, one := []int32{0, 1}, func(r int32) []int32 { return []int32{r} }
	of := func(how birthKind, parent, sequence uint32) birth {
		return birth{how: how, parent: parent, sequence: sequence, peer: noComm}
	}
	group := func(parent uint32, tag int32) birth { return birth{how: fromGroup, parent: parent, tag: tag} }
	leads := func(parent, sequence, peer uint32, tag, far int32) birth {
		return birth{how: fromLeaders, parent: parent, sequence: sequence, peer: peer, tag: tag, farLeader: far}
	}
	type entry struct {
		letter          byte
		members, remote []int32
		birth           birth
	}
	ranks := [][]entry{
		{
			{'w', two, nil, birth{}}, {'s', one(0), nil, birth{}},
			{'a', two, nil, of(fromParent, 0, 0)}, {'b', two, nil, of(fromParent, 0, 1)},
			{'c', two, nil, of(fromParent, 2, 0)}, {'d', two, nil, of(fromParent, 3, 0)}, // of a and of b
			{'e', two, nil, group(0, 1)}, {'f', two, nil, group(0, 2)}, {'g', two, nil, group(0, 1)},
			{'h', two, nil, birth{how: fromName, name: 8}}, {'i', two, nil, birth{how: fromName, name: 9}},
			{'j', one(0), one(1), leads(1, 0, 2, 7, 1)}, {'k', one(0), one(1), leads(1, 1, 3, 7, 1)}, // by way of a and of b
			{'l', two, nil, of(fromParent, 12, 0)}, {'m', two, nil, birth{}},
		},
		{
			{'w', two, nil, birth{}}, {'t', one(1), nil, birth{}},
			{'b', two, nil, of(fromParent, 0, 1)}, {'a', two, nil, of(fromParent, 0, 0)},
			{'d', two, nil, of(fromParent, 2, 0)}, {'c', two, nil, of(fromParent, 3, 0)},
			{'f', two, nil, group(0, 2)}, {'e', two, nil, group(0, 1)}, {'i', two, nil, birth{how: fromName, name: 9}},
			{'k', one(1), one(0), leads(1, 0, 2, 7, 0)}, {'j', one(1), one(0), leads(1, 1, 3, 7, 0)},
			{'l', two, nil, of(fromParent, 9, 0)}, {'g', two, nil, group(0, 1)},
			{'m', two, nil, birth{}}, {'h', two, nil, birth{how: fromName, name: 8}},
		},
	}
	comms := map[int]map[uint32]rawComm{}
	for rank, list := range ranks {
		comms[rank] = map[uint32]rawComm{}
		for id, e := range list {
			comms[rank][uint32(id)] = rawComm{rank: min(rank, len(e.members)-1), members: e.members, remote: e.remote, birth: e.birth}
		}
	}
	x := newIdentities(comms, nil)
	letters, identities := map[uint32]byte{}, map[byte]uint32{}
	for rank, list := range ranks {
		for id, e := range list {
			n := x.identity(rank, uint32(id))
			if first, known := identities[e.letter]; known && first != n {
				t.Errorf("rank %d: communicator %c is taken for another one", rank, e.letter)
			}
			if other, known := letters[n]; known && other != e.letter {
				t.Errorf("rank %d: communicator %c is taken for %c", rank, e.letter, other)
			}
			identities[e.letter], letters[n] = n, e.letter
		}
	}
}

// TestIdentityOfItself wants an end for files that say that communicators were made of each other.
func TestIdentityOfItself(t *testing.T) {
	list := map[uint32]rawComm{}
	for id := range uint32(3) {
		list[id] = rawComm{members: []int32{0}, birth: birth{how: fromParent, parent: (id + 1) % 3}}
	}
	x := newIdentities(map[int]map[uint32]rawComm{0: list}, nil)
	if x.identity(0, 0) == x.identity(0, 1) {
		t.Error("two communicators are one")
	}
}
