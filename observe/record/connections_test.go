package record

import (
	"slices"
	"testing"

	"slackline/model/trace"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// TestConcurrentSpawns wants processes that are started at the same time by two others to be connected with those that started them.
func TestConcurrentSpawns(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		if l.Kind != mpi.OpenMPI {
			t.Skip("MPICH's launcher here cannot start processes")
		}
		r := recorded(t, sampled(append(mpitest.Launch(l, 1), build(t, l, "spawns.c", "-O1"))...))
		if r.Ranks != 4 || r.result.ExitCode != 0 {
			t.Fatalf("%d ranks, exit code %d\n%s", r.Ranks, r.result.ExitCode, r.stderr)
		}
		sides := [2]map[int32]uint32{{}, {}}
		for i := range r.Locations {
			for _, e := range r.events(t, i) {
				switch e.Kind {
				case trace.Send:
					sides[0][e.Tag] = e.Comm
				case trace.Recv:
					sides[1][e.Tag] = e.Comm
				}
			}
		}
		for tag := int32(1); tag <= 3; tag++ {
			sent, isSent := sides[0][tag]
			if received, isReceived := sides[1][tag]; sent != received || !isSent || !isReceived {
				t.Errorf("message %d is sent on communicator %d and received on %d", tag, sent, received)
			}
		}
		if p := r.lined(t).Problems; p.UnmatchedSends+p.UnmatchedReceives != 0 || r.Missing != "" {
			t.Errorf("problems = %+v, missing = %s", p, r.Missing)
		}
	})
}

// connected is a communicator of a process with one of another world, the call that made it, and when that was.
func connected(how birthKind, call int32, name uint64, from, to int64) rawComm {
	far := int32(farMember | 1*farRanks)
	return rawComm{remote: []int32{far}, group: 1, made: to, birth: birth{how: how, tag: call, name: name, enter: from, parent: 0}}
}

// TestConnections joins connections of hand-made processes; the ones that may be others are counted.
func TestConnections(t *testing.T) {
	for _, tc := range []struct {
		what    string
		sides   []rawComm // of ranks 0, 1, ...
		want    []int32   // the other side of each
		guessed int
	}{
		{"spawns at once by two", []rawComm{
			connected(fromConnection, bySpawn, 7, 0, 100), connected(fromConnection, bySpawn, 9, 0, 110),
			connected(fromStart, 0, 9, 50, 101), connected(fromStart, 0, 7, 51, 109),
		}, []int32{3, 2, 1, 0}, 0},
		{"the parents are unknown", []rawComm{
			connected(fromConnection, bySpawn, 0, 0, 100), connected(fromConnection, bySpawn, 0, 0, 110),
			connected(fromStart, 0, 0, 50, 111), connected(fromStart, 0, 0, 51, 101),
		}, []int32{3, 2, 1, 0}, 2},
		{"one after the other", []rawComm{
			connected(fromConnection, bySpawn, 0, 0, 100), connected(fromConnection, bySpawn, 0, 100, 200),
			connected(fromStart, 0, 0, 50, 140), connected(fromStart, 0, 0, 120, 250),
		}, []int32{2, 3, 0, 1}, 0},
		{"names that only one side has", []rawComm{
			connected(fromConnection, bySpawn, 7, 0, 100), connected(fromStart, 0, 3, 50, 120),
		}, []int32{1, 0}, 0},
		{"two ports", []rawComm{
			connected(fromConnection, byAccept, 4, 0, 100), connected(fromConnection, byConnect, 5, 0, 100),
			connected(fromConnection, byAccept, 5, 0, 102), connected(fromConnection, byConnect, 4, 0, 102),
		}, []int32{3, 2, 1, 0}, 0},
		{"one port, two clients", []rawComm{
			connected(fromConnection, byAccept, 4, 0, 100), connected(fromConnection, byConnect, 4, 0, 202),
			connected(fromConnection, byAccept, 4, 101, 201), connected(fromConnection, byConnect, 4, 0, 104),
		}, []int32{3, 2, 1, 0}, 2},
		{"a client nobody accepts", []rawComm{
			connected(fromConnection, byConnect, 4, 0, 100), connected(fromConnection, byConnect, 4, 0, 101),
		}, []int32{-1, -1}, 0},
	} {
		var files []*threadFiles
		for rank, c := range tc.sides {
			c.members = []int32{int32(rank)}
			files = append(files, &threadFiles{rank: rank, head: &rawHead{rank: rank, ranks: 8, host: "here"},
				definitions: &threadDefinitions{comms: map[uint32]rawComm{0: {members: c.members}, 2: c}}})
		}
		x, guessed := joinWorlds(files)
		for rank, want := range tc.want {
			if got := x.comms[rank][2].remote; !slices.Equal(got, []int32{want}) {
				t.Errorf("%s: rank %d is connected with %v, want %d", tc.what, rank, got, want)
			}
			if want >= 0 && x.identity(rank, 2) != x.identity(int(want), 2) {
				t.Errorf("%s: rank %d does not share its communicator with %d", tc.what, rank, want)
			}
		}
		if guessed != tc.guessed {
			t.Errorf("%s: %d connections are guessed, want %d", tc.what, guessed, tc.guessed)
		}
	}
}
