package timeline

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// TestRootsAgree: what the members of an intercommunicator say about the root is one instance if each says what it must, and no other.
func TestRootsAgree(t *testing.T) {
	const self, group = RootSelf, RootGroup
	for _, c := range []struct {
		roots []int32 // of ranks 0, 1 and, of the other group, 2, 3
		want  int32   // -2: they do not agree
	}{
		{[]int32{-1, -1, -1, -1}, -1},
		{[]int32{self, group, 0, 0}, 0},
		{[]int32{group, self, 1, 1}, 1},
		{[]int32{0, 0, self, group}, 2},
		{[]int32{1, 1, group, self}, 3},
		{[]int32{self, self, 0, 0}, -2},
		{[]int32{self, group, self, group}, -2},
		{[]int32{self, 0, 0, 0}, -2},  // rank 1 is of the root's group
		{[]int32{self, -1, 0, 0}, -2}, // and has to say so
		{[]int32{self, group, 0, 1}, -2},
		{[]int32{self, group, -1, -1}, -2},
		{[]int32{0, 0, 0, 0}, -2}, // nobody is the root
		{[]int32{-1, -1, -1, 0}, -2},
		{[]int32{0, 1, self, group}, -2},
		{[]int32{group, group, group, group}, -1}, // all say that it is another one: it is none that is known
	} {
		b := NewBuilder(4)
		call := b.Region(Region{Name: "MPI_Bcast"})
		inter := b.Comm(Comm{Members: []int32{0, 1}, Remote: []int32{2, 3}})
		for rank, root := range c.roots {
			l := b.Location(rank, 0, "", "")
			l.Enter(0, call)
			l.Collective(1, OpBcast, inter, root, 8, 8, nil)
			l.Leave(2)
		}
		tl := b.Finish(1)
		got := int32(-2)
		if len(tl.Collectives) > 0 {
			got = tl.Collectives[0].Root
		}
		if got != c.want || (got == -2) != (tl.Problems.IncompleteCollectives == 1) {
			t.Errorf("roots %v: root %d, %d incomplete, want root %d", c.roots, got, tl.Problems.IncompleteCollectives, c.want)
		}
		for member, said := range c.roots {
			if got >= 0 {
				if word := tl.RootWord(&tl.Collectives[0], member); word != said {
					t.Errorf("roots %v: member %d names the root %d", c.roots, member, word)
				}
			}
		}
	}
}

// TestObjects: windows, files and connections have instances of their own, each in the order of its own calls.
func TestObjects(t *testing.T) {
	b := NewBuilder(2)
	call := b.Region(Region{Name: "MPI_Call"})
	world := b.Comm(Comm{Name: "world", Members: []int32{0, 1}})
	inter := b.Comm(Comm{Name: "inter", Members: []int32{0}, Remote: []int32{1}})
	window, file := b.Window(Object{Name: "w", Comm: world}), b.File(Object{Comm: world})
	for rank := range 2 {
		l := b.Location(rank, 0, "", "")
		steps := []func(){ // one call each
			func() { l.WinCollective(0, OpCreateHandle, window) },
			func() { l.FileOpen(10, file) },
			func() { l.FileBegin(20, file, 5, int64(100+rank)) },
			func() { l.WinCollective(30, OpBarrier, window) },
			func() { l.FileEnd(40, file, 5); l.FileEnd(40, file, 5); l.FileEnd(40, file, 6) }, // the others were never begun
			func() { l.FileClose(50, file) },
			func() { l.CommCreate(60, inter); l.CommCreate(60, inter); l.CommCreate(60, world) }, // made once; world joins no groups
			func() { l.WinCollective(70, OpDestroyHandle, window) },
		}
		if rank == 1 {
			steps = steps[:7] // its window is never freed
		}
		for k, step := range steps {
			l.Enter(dur(10 * k)[0], call)
			step()
			l.Leave(dur(10*k + 5)[0])
		}
	}
	tl := b.Finish(2)
	want := []Collective{
		{Op: OpCreateHandle, Scope: ByWindow, Comm: world, Object: window, Root: -1},
		{Op: OpBarrier, Scope: ByWindow, Comm: world, Object: window, Root: -1, First: 2},
		{Op: OpCreateHandle, Scope: ByFile, Comm: world, Object: file, Root: -1, First: 4},
		{Op: OpBarrier, Scope: ByFile, Comm: world, Object: file, Root: -1, First: 6},
		{Op: OpDestroyHandle, Scope: ByFile, Comm: world, Object: file, Root: -1, First: 8},
		{Op: OpCreateHandle, Scope: ByConnection, Comm: inter, Object: inter, Root: -1, First: 10},
	}
	if diff := gocmp.Diff(want, tl.Collectives); diff != "" {
		t.Errorf("collectives (-want +got):\n%s", diff)
	}
	for rank, m := range tl.MembersOf(&want[3]) { // the operation that begins in call 2 and ends in call 4
		if w := (Member{Location: int32(rank), Issue: 2, Complete: 4, Seq: 4, Sent: int64(100 + rank), Counts: -1}); m != w {
			t.Errorf("member %d of the file operation = %+v, want %+v", rank, m, w)
		}
	}
	problems := Problems{IncompleteCollectives: 1, Collectives: []string{"window w: collective 3: MPI_Call of rank 0, but rank 1 has only 2"}}
	if diff := gocmp.Diff(problems, tl.Problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// TestCountsOf: sizes by peer are those of a member if there are as many as peers, or twice as many.
func TestCountsOf(t *testing.T) {
	for _, c := range []struct {
		name   string
		op     Op
		inter  bool
		counts []int64
		want   []int64
	}{
		{"sent", OpScatterv, false, []int64{1, 2, 3}, []int64{1, 2, 3}},
		{"sent and received", OpAlltoallv, false, []int64{1, 2, 3, 4, 5, 6}, []int64{1, 2, 3, 4, 5, 6}},
		{"too few", OpAlltoallv, false, []int64{1, 2}, nil},
		{"between", OpAlltoallv, false, []int64{1, 2, 3, 4}, nil},
		{"none", OpAlltoall, false, nil, nil},
		{"neighbors: any number", OpNeighborAlltoallv, false, []int64{7, 8, 9, 10}, []int64{7, 8, 9, 10}},
		{"other group of one: two peers", OpAlltoallv, true, []int64{1, 2}, []int64{1, 2}},
		{"other group of one: all of them are too many", OpAlltoallv, true, []int64{1, 2, 3}, nil},
	} {
		b := NewBuilder(3)
		call := b.Region(Region{Name: "MPI_Alltoallv"})
		comm := b.Comm(Comm{Members: []int32{0, 1, 2}})
		if c.inter {
			comm = b.Comm(Comm{Members: []int32{0}, Remote: []int32{1, 2}})
		}
		for rank := range 3 {
			l := b.Location(rank, 0, "", "")
			l.Enter(0, call)
			counts := c.counts
			if rank > 0 {
				counts = nil
			}
			l.Collective(1, c.op, comm, -1, 1, 1, counts)
			l.Leave(2)
		}
		tl := b.Finish(1)
		members := tl.MembersOf(&tl.Collectives[0])
		if got := tl.CountsOf(&members[0]); !gocmp.Equal(got, c.want) || tl.CountsOf(&members[1]) != nil {
			t.Errorf("%s: sizes by peer = %v, of the next member %v, want %v and none", c.name, got, tl.CountsOf(&members[1]), c.want)
		}
	}
}

// TestCollectivesOfOne: a communicator of one has no instances in a run of several ranks; in a run of one it has.
func TestCollectivesOfOne(t *testing.T) {
	for ranks, want := range map[int]int{1: 1, 2: 0} {
		b := NewBuilder(ranks)
		barrier := b.Region(Region{Name: "MPI_Barrier"})
		self := b.Comm(Comm{Members: []int32{0}})
		for rank := range ranks {
			l := b.Location(rank, 0, "", "")
			l.Enter(0, barrier)
			if rank == 0 {
				l.Collective(1, OpBarrier, self, -1, 0, 0, nil)
			}
			l.Leave(2)
		}
		if tl := b.Finish(1); len(tl.Collectives) != want || tl.Problems.IncompleteCollectives != 0 {
			t.Errorf("%d ranks: %d instances, %d incomplete, want %d", ranks, len(tl.Collectives), tl.Problems.IncompleteCollectives, want)
		}
	}
}
