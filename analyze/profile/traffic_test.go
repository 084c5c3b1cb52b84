package profile

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// messages is a run in which rank 0 sends messages of these sizes to rank 1.
func messages(list ...int64) *timeline.Timeline {
	b := timeline.NewBuilder(2)
	b.Comm(timeline.Comm{Members: []int32{0, 1}})
	call := b.Region(timeline.Region{Name: "MPI_Call", Paradigm: timeline.MPI, Role: timeline.PointToPoint})
	for rank := range 2 {
		l := b.Location(rank, 0, "", "")
		for i, size := range list {
			at := unit.Duration(10*i + rank)
			l.Enter(at, call)
			if rank == 0 {
				l.Send(at, 1, 0, 0, size)
			} else {
				l.Recv(at, 0, 0, 0, size)
			}
			l.Leave(at + 1)
		}
	}
	return b.Finish(1)
}

// Sizes are counted in powers of two, with their limits in the right bins.
func TestSizes(t *testing.T) {
	want := []SizeBin{
		{0, 0, Traffic{1, 0}}, {1, 1, Traffic{1, 1}}, {2, 3, Traffic{2, 5}}, {4, 7, Traffic{2, 11}}, {8, 15, Traffic{1, 8}},
		{1 << 40, 1<<41 - 1, Traffic{1, 1 << 40}},
	}
	if diff := cmp.Diff(want, sizes(messages(0, 1, 2, 3, 4, 7, 8, 1<<40))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMatrix(t *testing.T) {
	if diff := cmp.Diff([]Link{{0, 1, Traffic{3, 60}}}, Matrix(messages(10, 20, 30))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := Matrix(messages()); len(got) != 0 {
		t.Errorf("without messages: %v", got)
	}
}

func TestPartOf(t *testing.T) {
	for _, tc := range []struct {
		place, whole unit.Duration
		want         int
	}{{0, 100, 0}, {24, 100, 0}, {25, 100, 1}, {99, 100, 3}, {100, 100, 3}, {5, 0, 0}} {
		if got := partOf(tc.place, tc.whole, 4); got != tc.want {
			t.Errorf("%d of %d is in part %d of 4, want %d", tc.place, tc.whole, got, tc.want)
		}
	}
}

// TestPartOfExactly: a part begins exactly where it should, for any number of parts and length.
func TestPartOfExactly(t *testing.T) {
	for parts := 1; parts <= 100; parts++ {
		for k := range parts {
			for _, length := range []unit.Duration{1, 3, 1 << 20, 1<<62/100 - 1} {
				whole, first := length*unit.Duration(parts), length*unit.Duration(k)
				if a, b := partOf(first, whole, parts), partOf(first+length-1, whole, parts); a != k || b != k {
					t.Fatalf("part %d of %d, each of %v, begins in part %d and ends in %d", k, parts, length, a, b)
				}
			}
		}
	}
}

// TestCollectivesOfGroups: collectives are summed by operation and number of ranks; worked out by hand.
func TestCollectivesOfGroups(t *testing.T) {
	p := runOf(t, `
comm world 0-2
comm pair 0-1
comm other 1-2
rank 0
0..10 MPI_Bcast: bcast root 0 sent 4 comm world
20..25 MPI_Bcast: bcast root 0 sent 4 comm pair
90..100 MPI_Barrier: barrier comm world
rank 1
5..12 MPI_Bcast: bcast root 0 received 4 comm world
18..26 MPI_Bcast: bcast root 0 received 4 comm pair
40..50 MPI_Bcast: bcast root 0 sent 4 comm other
90..100 MPI_Barrier: barrier comm world
rank 2
6..7 MPI_Bcast: bcast root 0 received 4 comm world
30..50 MPI_Bcast: bcast root 0 received 4 comm other
80..100 MPI_Barrier: barrier comm world
`)
	want := []CollectiveUse{
		{Op: timeline.OpBarrier, Ranks: 3, Calls: 1, Time: unit.SumOf(40), First: 80, Last: 80, Over: []int64{0, 0, 0, 0, 1}},
		{Op: timeline.OpBcast, Ranks: 2, Calls: 2, Bytes: 16, Time: unit.SumOf(5 + 8 + 10 + 20), First: 18, Last: 30,
			Over: []int64{1, 1, 0, 0, 0}},
		{Op: timeline.OpBcast, Ranks: 3, Calls: 1, Bytes: 12, Time: unit.SumOf(10 + 7 + 1), First: 0, Last: 0, Over: []int64{1, 0, 0, 0, 0}},
	}
	if diff := cmp.Diff(want, Collectives(p.Timeline, 5)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
