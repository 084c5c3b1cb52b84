package record

import (
	"slices"
	"testing"
)

// TestJoinWorlds joins two spawns of the same size by their times, and a communicator that one of the new worlds made with a third.
func TestJoinWorlds(t *testing.T) {
	code := func(group, rank int32) int32 { return farMember | group*farRanks | rank }
	file := func(rank int, comms map[uint32]rawComm) *threadFiles {
		return &threadFiles{rank: rank, head: &rawHead{rank: rank, ranks: 8}, definitions: &threadDefinitions{comms: comms}}
	}
	files := []*threadFiles{
		file(0, map[uint32]rawComm{
			2: {members: []int32{0}, remote: []int32{code(1, 0)}, group: 1, made: 100},
			3: {members: []int32{0}, remote: []int32{code(2, 0)}, group: 2, made: 900},
			4: {members: []int32{0, code(2, 0)}},
		}),
		file(1, map[uint32]rawComm{2: {members: []int32{1}, remote: []int32{code(1, 0)}, group: 1, made: 120}}),
		file(2, map[uint32]rawComm{
			2: {members: []int32{2}, remote: []int32{code(1, 0)}, group: 1, made: 880},
			3: {members: []int32{code(1, 0), 2}},
			5: {members: []int32{code(1, 0), 2}, remote: []int32{code(2, 0)}, group: 2, made: 2000},
		}),
	}
	known, _ := joinWorlds(files)
	for _, want := range []struct {
		file            int
		id              uint32
		members, remote []int32
	}{
		{0, 2, []int32{0}, []int32{1}}, {1, 2, []int32{1}, []int32{0}}, {0, 3, []int32{0}, []int32{2}}, {0, 4, []int32{0, 2}, nil},
		{2, 3, []int32{0, 2}, nil}, {2, 5, []int32{0, 2}, []int32{-1}}, // nobody is its other side
	} {
		c := known.comms[want.file][want.id]
		if !slices.Equal(c.members, want.members) || !slices.Equal(c.remote, want.remote) {
			t.Errorf("rank %d: communicator %d has %v and %v, want %v and %v", want.file, want.id, c.members, c.remote, want.members, want.remote)
		}
	}
}
