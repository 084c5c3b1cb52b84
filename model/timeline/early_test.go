package timeline

import (
	"context"
	"testing"

	"slackline/internal/cluster"
	"slackline/internal/parallel"
	"slackline/model/unit"
)

// earlyCase is a collective of three ranks.
type earlyCase struct {
	name           string
	op             Op
	root           int32
	sent, received [3]int64
	enter, leave   [3]unit.Duration
	inter          bool  // ranks 1 and 2 are the remote group
	split          bool  // issued by one call, completed by another one
	off            []int // ranks whose recording is switched on during the call
	want           unit.Duration
}

func (c *earlyCase) builder(here func(rank int) bool) *Builder {
	b := NewBuilder(3)
	call, off := b.Region(Region{Name: "MPI_Call", Paradigm: MPI}), b.Region(NotRecorded)
	comm := b.Comm(Comm{Members: []int32{0, 1, 2}})
	if c.inter {
		comm = b.Comm(Comm{Members: []int32{0}, Remote: []int32{1, 2}})
	}
	for rank := range 3 {
		l := b.Location(rank, 0, "", "")
		if !here(rank) {
			continue
		}
		for _, late := range c.off {
			if late == rank {
				l.Off(0, off)
				l.On(c.enter[rank])
			}
		}
		l.Enter(c.enter[rank], call)
		for _, late := range c.off {
			if late == rank {
				l.Continues()
			}
		}
		if c.split {
			l.Issue(c.enter[rank], 7)
			l.Leave(c.enter[rank])
			l.Enter(c.leave[rank], call)
			l.Complete(c.leave[rank], c.op, comm, c.root, c.sent[rank], c.received[rank], nil, 7)
		} else {
			l.Collective(c.leave[rank], c.op, comm, c.root, c.sent[rank], c.received[rank], nil)
		}
		l.Leave(c.leave[rank])
	}
	return b
}

// TestEarlyCollectives: what every execution makes ranks wait for is missed if they leave before; what one need not is no mistake.
func TestEarlyCollectives(t *testing.T) {
	one, none := [3]int64{1, 1, 1}, [3]int64{}
	times := func(t ...unit.Duration) [3]unit.Duration { return [3]unit.Duration(t) }
	for _, c := range []earlyCase{
		{name: "in time", op: OpBarrier, root: -1, enter: times(10, 20, 30), leave: times(30, 31, 32)},
		{name: "barrier", op: OpBarrier, root: -1, enter: times(10, 20, 30), leave: times(28, 25, 32), want: 5},
		{name: "nonblocking", op: OpBarrier, root: -1, enter: times(10, 20, 30), leave: times(28, 25, 32), split: true, want: 5},
		{name: "allreduce", op: OpAllreduce, root: -1, sent: one, received: one,
			enter: times(10, 20, 30), leave: times(40, 29, 40), want: 1},
		{name: "nothing of one", op: OpAllgatherv, root: -1, sent: [3]int64{1, 1}, received: one, enter: times(10, 20, 30),
			leave: times(20, 20, 30)},
		{name: "nothing for one", op: OpReduceScatter, root: -1, sent: one, received: [3]int64{0, 1, 1}, enter: times(10, 20, 30),
			leave: times(20, 20, 30)},
		{name: "alltoallv", op: OpAlltoallv, root: -1, sent: one, received: one, enter: times(10, 20, 30), leave: times(11, 21, 31)},
		{name: "late root", op: OpBcast, root: 1, sent: [3]int64{0, 1}, received: [3]int64{1, 0, 1},
			enter: times(1, 20, 3), leave: times(12, 21, 13), want: 8},
		{name: "early root", op: OpBcast, root: 1, sent: [3]int64{0, 1}, received: [3]int64{1, 0, 1},
			enter: times(20, 1, 30), leave: times(21, 2, 31)},
		{name: "nothing to spread", op: OpBcast, root: 1, enter: times(1, 20, 3), leave: times(2, 21, 4)},
		{name: "scatterv", op: OpScatterv, root: 0, sent: [3]int64{3, 0, 0}, received: one,
			enter: times(9, 1, 2), leave: times(10, 9, 7), want: 2},
		{name: "scatterv of nothing for one", op: OpScatterv, root: 0, sent: [3]int64{3, 0, 0}, received: [3]int64{1, 1, 0},
			enter: times(9, 1, 2),
			leave: times(10, 9, 7)},
		{name: "reduce", op: OpReduce, root: 0, sent: one, received: [3]int64{1}, enter: times(1, 2, 9), leave: times(6, 3, 10), want: 3},
		{name: "reduce: others go on", op: OpReduce, root: 0, sent: one, received: [3]int64{1},
			enter: times(9, 2, 3), leave: times(10, 3, 4)},
		{name: "gather of nothing of one", op: OpGatherv, root: 0, sent: [3]int64{1, 1}, received: [3]int64{2}, enter: times(1, 2, 9),
			leave: times(6, 3, 10)},
		{name: "no such root", op: OpReduce, root: 7, sent: one, received: one, enter: times(1, 2, 9), leave: times(1, 2, 10)},
		{name: "scan", op: OpScan, root: -1, sent: one, received: one, enter: times(10, 5, 1), leave: times(11, 11, 7), want: 3},
		{name: "exscan: those with smaller numbers go on", op: OpExscan, root: -1, sent: one, received: [3]int64{0, 1, 1},
			enter: times(1, 5, 9),
			leave: times(2, 6, 10)},
		{name: "scan of nothing", op: OpScan, root: -1, sent: none, received: none, enter: times(10, 5, 1), leave: times(11, 6, 2)},
		{name: "between groups", op: OpBarrier, root: -1, inter: true, enter: times(10, 20, 30), leave: times(31, 25, 32)},
		{name: "start not recorded", op: OpBarrier, root: -1, off: []int{2}, enter: times(10, 20, 30), leave: times(28, 25, 32)},
	} {
		check := func(how string, tl *Timeline) {
			t.Helper()
			if p := &tl.Problems; len(tl.Collectives) != 1 || p.WorstViolation != c.want || p.EarlyCollectives != min(int64(c.want), 1) ||
				p.Violations != 0 {
				t.Errorf("%s%s: %d collectives, %d early by up to %d, want %d", c.name, how, len(tl.Collectives), p.EarlyCollectives,
					p.WorstViolation, c.want)
			}
		}
		check("", c.builder(func(int) bool { return true }).Finish(1))
		groups := cluster.Local(3)
		parallel.Each(3, 3, func(p int) {
			b := c.builder(func(rank int) bool { return rank == p })
			tl, err := b.FinishPart(context.Background(), groups[p], []int{0, 1, 2, 3}, 1)
			if err != nil {
				t.Error(err)
				return
			}
			check(" of three processes", tl)
		})
	}
}
