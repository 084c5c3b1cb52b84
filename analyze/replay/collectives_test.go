package replay

import (
	"strings"
	"testing"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// recorded is what the members of one collective record.
type recorded struct {
	op             timeline.Op
	root           int32
	sent, received []int64   // by rank
	counts         [][]int64 // by rank
}

// everyone returns n times the same size.
func everyone(n int, size int64) []int64 {
	list := make([]int64, n)
	for i := range list {
		list[i] = size
	}
	return list
}

func TestCollectiveSizes(t *testing.T) {
	const n = 3
	for _, tc := range []struct {
		name string
		c    recorded
		want string
	}{
		{"barrier", recorded{op: timeline.OpBarrier, root: -1, sent: everyone(n, 0), received: everyone(n, 0)},
			"barrier root 0 size 0"},
		{"bcast", recorded{op: timeline.OpBcast, root: 2, sent: []int64{0, 0, 24}, received: everyone(n, 8)},
			"bcast root 2 size 8"},
		{"bcast, sent only", recorded{op: timeline.OpBcast, root: 2, sent: []int64{0, 0, 24}, received: everyone(n, 0)},
			"bcast root 2 size 8"},
		{"reduce", recorded{op: timeline.OpReduce, root: 1, sent: everyone(n, 8), received: []int64{0, 24, 0}},
			"reduce root 1 size 8"},
		{"allreduce in place", recorded{op: timeline.OpAllreduce, root: -1, sent: everyone(n, 0), received: everyone(n, 8)},
			"allreduce root 0 size 8"},
		{"gather, root in place", recorded{op: timeline.OpGather, root: 0, sent: []int64{0, 8, 8}, received: []int64{24, 0, 0}},
			"gather root 0 size 8"},
		{"gatherv", recorded{op: timeline.OpGatherv, root: 0, sent: []int64{1, 2, 3}, received: []int64{6, 0, 0}},
			"gather root 0 sizes [1 2 3]"},
		{"scatter", recorded{op: timeline.OpScatter, root: 1, sent: []int64{0, 24, 0}, received: everyone(n, 8)},
			"scatter root 1 size 8"},
		{"scatterv", recorded{op: timeline.OpScatterv, root: 1, sent: []int64{0, 9, 0}, received: []int64{4, 5, 1}},
			"scatter root 1 sizes [4 5 1]"},
		{"allgather", recorded{op: timeline.OpAllgather, root: -1, sent: everyone(n, 8), received: everyone(n, 24)},
			"allgather root 0 size 8"},
		{"allgather in place", recorded{op: timeline.OpAllgather, root: -1, sent: everyone(n, 0), received: everyone(n, 24)},
			"allgather root 0 size 8"},
		{"allgatherv", recorded{op: timeline.OpAllgatherv, root: -1, sent: []int64{1, 2, 3}, received: everyone(n, 6)},
			"allgather root 0 sizes [1 2 3]"},
		{"allgatherv in place", recorded{op: timeline.OpAllgatherv, root: -1, sent: everyone(n, 0), received: everyone(n, 6),
			counts: [][]int64{{3, 2, 1}, {3, 2, 1}, {3, 2, 1}}},
			"allgather root 0 sizes [3 2 1]"},
		{"alltoall", recorded{op: timeline.OpAlltoall, root: -1, sent: everyone(n, 24), received: everyone(n, 24)},
			"alltoall root 0 size 8"},
		{"alltoallv", recorded{op: timeline.OpAlltoallv, root: -1, sent: []int64{6, 3, 9}, received: []int64{6, 6, 6},
			counts: [][]int64{{1, 2, 3, 1, 2, 3}, {1, 1, 1, 2, 2, 2}, nil}},
			"alltoall root 0 sizes [1 2 3 1 1 1 3 3 3]"},
		{"alltoallv, all equal", recorded{op: timeline.OpAlltoallv, root: -1, sent: everyone(n, 9), received: everyone(n, 9)},
			"alltoall root 0 size 3"},
		{"reduce_scatter", recorded{op: timeline.OpReduceScatter, root: -1, sent: everyone(n, 6), received: []int64{1, 2, 3}},
			"reduce_scatter root 0 sizes [1 2 3]"},
		{"reduce_scatter_block", recorded{op: timeline.OpReduceScatterBlock, root: -1, sent: everyone(n, 6), received: everyone(n, 2)},
			"reduce_scatter root 0 size 2"},
		{"scan", recorded{op: timeline.OpScan, root: -1, sent: everyone(n, 8), received: everyone(n, 8)},
			"scan root 0 size 8"},
		{"exscan", recorded{op: timeline.OpExscan, root: -1, sent: everyone(n, 8), received: everyone(n, 8)},
			"exscan root 0 size 8"},
		{"window", recorded{op: timeline.OpCreateHandleAllocate, root: -1, sent: everyone(n, 0), received: everyone(n, 0)},
			"barrier root 0 size 0 tag 2 main/MPI_Allsomething; calc 0"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			run := newTestRun(n)
			ranks := make([]*testRank, n)
			for i := range ranks {
				l := run.rank(i)
				var counts []int64
				if tc.c.counts != nil {
					counts = tc.c.counts[i]
				}
				ranks[i] = l.call("MPI_Allsomething", 10, func(t unit.Duration) {
					l.Collective(t, tc.c.op, 0, tc.c.root, tc.c.sent[i], tc.c.received[i], counts)
				})
			}
			p := run.program(t, Options{}, ranks...)
			for i := range n {
				want := tc.want + " main/MPI_Allsomething"
				if strings.Contains(want, ";") {
					want += " <0"
				}
				expect(t, p, i, want)
			}
		})
	}
}

// Collectives keep their communicator. Non-blocking ones are issued and completed, each with a tag of
// its own.
func TestCommunicators(t *testing.T) {
	run := newTestRun(4)
	even := run.b.Comm(timeline.Comm{Members: []int32{0, 2}})
	odd := run.b.Comm(timeline.Comm{Members: []int32{3, 1}})
	reversed := run.b.Comm(timeline.Comm{Members: []int32{3, 2, 1, 0}})
	self := run.b.Comm(timeline.Comm{Members: []int32{2}})
	ranks := make([]*testRank, 4)
	for i := range ranks {
		l := run.rank(i)
		half := even
		if i%2 == 1 {
			half = odd
		}
		l.call("MPI_Allreduce", 1, func(t unit.Duration) { l.Collective(t, timeline.OpAllreduce, half, -1, 8, 8, nil) })
		l.call("MPI_Bcast", 1, func(t unit.Duration) { l.Collective(t, timeline.OpBcast, reversed, 1, 0, 4, nil) })
		l.call("MPI_Iallreduce", 1, func(t unit.Duration) { l.Issue(t, 1) })
		l.call("MPI_Ibarrier", 1, func(t unit.Duration) { l.Issue(t, 2) }).work(9)
		l.call("MPI_Waitall", 1, func(t unit.Duration) {
			l.Complete(t, timeline.OpBarrier, 0, -1, 0, 0, nil, 2)
			l.Complete(t, timeline.OpAllreduce, 0, -1, 8, 8, nil, 1)
		})
		if i == 2 {
			l.call("MPI_Barrier", 1, func(t unit.Duration) { l.Collective(t, timeline.OpBarrier, self, -1, 0, 0, nil) })
		}
		ranks[i] = l
	}
	p := run.program(t, Options{Ranks: 8}, ranks...)
	expect(t, p, 2, `
		allreduce root 0 size 8 tag 2 on [0 2] main/MPI_Allreduce
		bcast root 1 size 4 on [3 2 1 0 7 6 5 4] main/MPI_Bcast
		allreduce root 0 size 8 tag 6 main/MPI_Iallreduce; barrier root 0 size 0 tag 7 main/MPI_Ibarrier <0s; calc 9ns main <1s; calc 0 main/MPI_Waitall <0 <1 <2`)
	expect(t, p, 7, `
		allreduce root 0 size 8 tag 3 on [7 5] main/MPI_Allreduce
		bcast root 1 size 4 on [3 2 1 0 7 6 5 4] main/MPI_Bcast
		allreduce root 0 size 8 tag 6 main/MPI_Iallreduce; barrier root 0 size 0 tag 7 main/MPI_Ibarrier <0s; calc 9ns main <1s; calc 0 main/MPI_Waitall <0 <1 <2`)
}

// Sizes by rank are repeated for copies, those between all pairs are replaced by their mean.
func TestSizesOfCopies(t *testing.T) {
	run := newTestRun(2)
	half := run.b.Comm(timeline.Comm{Members: []int32{1, 0}})
	ranks := make([]*testRank, 2)
	for i := range ranks {
		l := run.rank(i)
		l.call("MPI_Allgatherv", 1, func(t unit.Duration) { l.Collective(t, timeline.OpAllgatherv, 0, -1, int64(i+1), 3, nil) })
		l.call("MPI_Alltoallv", 1, func(t unit.Duration) {
			l.Collective(t, timeline.OpAlltoallv, 0, -1, 4, 4, []int64{int64(i + 1), 4, int64(3*i + 1), int64(2*i + 2)})
		})
		l.call("MPI_Allgatherv", 1, func(t unit.Duration) { l.Collective(t, timeline.OpAllgatherv, half, -1, int64(i+1), 3, nil) })
		ranks[i] = l
	}
	p := run.program(t, Options{}, ranks...)
	expect(t, p, 1, `
		allgather root 0 sizes [1 2] main/MPI_Allgatherv
		alltoall root 0 sizes [1 4 2 4] main/MPI_Alltoallv
		allgather root 0 sizes [2 1] on [1 0] main/MPI_Allgatherv`)
	p, err := p.WithRanks(6)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, p, 5, `
		allgather root 0 sizes [1 2 1 2 1 2] main/MPI_Allgatherv
		alltoall root 0 size 3 main/MPI_Alltoallv
		allgather root 0 sizes [2 1 2 1 2 1] on [1 0 3 2 5 4] main/MPI_Allgatherv`)
	if n := p.Report().Averaged; n != 1 {
		t.Errorf("%d collectives with the mean size, want 1", n)
	}
}

// Collectives between the groups [1 0] and [4 2 3]: each group collects at its first rank, these two exchange, and each group spreads.
func TestBetweenGroups(t *testing.T) {
	const n = 5
	groups := [2][]int32{{1, 0}, {4, 2, 3}}
	for _, tc := range []struct {
		name       string
		op         timeline.Op
		side, root int       // the root is a member of a group
		want       [n]string // by rank, without the name of the call and the end of all its parts
	}{
		{"barrier", timeline.OpBarrier, -1, 0, [n]string{
			"reduce size 0 tag 5 on [1 0]; bcast size 0 tag 6 on [1 0]",
			"reduce size 0 tag 5 on [1 0]; send 0 to 4 tag 1 <0; recv 0 from 4 tag 2; bcast size 0 tag 6 on [1 0] <2",
			"reduce size 0 tag 5 on [4 2 3]; bcast size 0 tag 6 on [4 2 3]",
			"reduce size 0 tag 5 on [4 2 3]; bcast size 0 tag 6 on [4 2 3]",
			"reduce size 0 tag 5 on [4 2 3]; recv 0 from 1 tag 1; send 0 to 1 tag 2 <0; bcast size 0 tag 6 on [4 2 3] <1",
		}},
		{"allreduce", timeline.OpAllreduce, -1, 0, [n]string{
			"reduce size 11 tag 5 on [1 0]; bcast size 22 tag 6 on [1 0]",
			"reduce size 11 tag 5 on [1 0]; send 11 to 4 tag 1 <0; recv 22 from 4 tag 2; bcast size 22 tag 6 on [1 0] <2",
			"reduce size 22 tag 5 on [4 2 3]; bcast size 11 tag 6 on [4 2 3]",
			"reduce size 22 tag 5 on [4 2 3]; bcast size 11 tag 6 on [4 2 3]",
			"reduce size 22 tag 5 on [4 2 3]; recv 11 from 1 tag 1; send 22 to 1 tag 2 <0; bcast size 11 tag 6 on [4 2 3] <1",
		}},
		{"allgather", timeline.OpAllgather, -1, 0, [n]string{
			"gather size 11 tag 5 on [1 0]; bcast size 63 tag 6 on [1 0]",
			"gather size 11 tag 5 on [1 0]; send 21 to 4 tag 1 <0; recv 63 from 4 tag 2; bcast size 63 tag 6 on [1 0] <2",
			"gather size 22 tag 5 on [4 2 3]; bcast size 21 tag 6 on [4 2 3]",
			"gather size 22 tag 5 on [4 2 3]; bcast size 21 tag 6 on [4 2 3]",
			"gather size 22 tag 5 on [4 2 3]; recv 21 from 1 tag 1; send 63 to 1 tag 2 <0; bcast size 21 tag 6 on [4 2 3] <1",
		}},
		{"bcast from the second of the first group", timeline.OpBcast, 0, 1, [n]string{
			"send 122 to 4 tag 1",
			"calc 0",
			"bcast size 122 tag 6 on [4 2 3]",
			"bcast size 122 tag 6 on [4 2 3]",
			"recv 122 from 0 tag 1; bcast size 122 tag 6 on [4 2 3] <0",
		}},
		{"bcast from the first of the other group", timeline.OpBcast, 1, 0, [n]string{
			"bcast size 111 tag 6 on [1 0]",
			"recv 111 from 4 tag 1; bcast size 111 tag 6 on [1 0] <0",
			"calc 0",
			"calc 0",
			"send 111 to 1 tag 1",
		}},
		{"scatter", timeline.OpScatterv, 0, 0, [n]string{
			"calc 0",
			"send 363 to 4 tag 1",
			"scatter size 122 tag 6 on [4 2 3]",
			"scatter size 122 tag 6 on [4 2 3]",
			"recv 363 from 1 tag 1; scatter size 122 tag 6 on [4 2 3] <0",
		}},
		{"reduce", timeline.OpReduce, 0, 0, [n]string{
			"calc 0",
			"recv 22 from 4 tag 1",
			"reduce size 22 tag 5 on [4 2 3]",
			"reduce size 22 tag 5 on [4 2 3]",
			"reduce size 22 tag 5 on [4 2 3]; send 22 to 1 tag 1 <0",
		}},
		{"gather", timeline.OpGatherv, 1, 2, [n]string{
			"gather size 11 tag 5 on [1 0]",
			"gather size 11 tag 5 on [1 0]; send 21 to 3 tag 1 <0",
			"calc 0",
			"recv 21 from 1 tag 1",
			"calc 0",
		}},
		{"not known", timeline.OpAlltoall, -1, 0, [n]string{}},
	} {
		run := newTestRun(n)
		comm := run.b.Comm(timeline.Comm{Members: groups[0], Remote: groups[1]})
		for _, g := range groups {
			run.b.Comm(timeline.Comm{Members: g})
		}
		ranks := make([]*testRank, n)
		for side, members := range groups {
			for i, rank := range members {
				root := int32(-1)
				switch {
				case tc.side < 0:
				case side != tc.side:
					root = int32(tc.root)
				case i == tc.root:
					root = timeline.RootSelf
				default:
					root = timeline.RootGroup
				}
				l := run.rank(int(rank))
				size := int64(10*(side+1) + i) // 10 and 11 bytes in a group, 20, 21 and 22 in the other one
				ranks[rank] = l.call("MPI_Allsomething", 10, func(t unit.Duration) { l.Collective(t, tc.op, comm, root, size, size+100, nil) })
			}
		}
		p := run.program(t, Options{}, ranks...)
		for rank, want := range tc.want {
			got, _, _ := strings.Cut(strings.NewReplacer(" main/MPI_Allsomething", "", " root 0", "").Replace(text(p, rank)), "; calc 0")
			if got != want {
				t.Errorf("%s, rank %d: %s, want %s", tc.name, rank, got, want)
			}
		}
		if r := p.Report(); tc.want[0] == "" && r.Between != 1 || tc.want[0] != "" && (r.Between != 0 || r.Collectives != 1) {
			t.Errorf("%s: %+v", tc.name, r)
		}
	}
}
