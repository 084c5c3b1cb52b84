package profile

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"slackline/internal/cluster"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// stepsBuilder is a run of some ranks in which each does the same steps: compute for a random time, send to the next rank, receive, and
// take part in a collective of all ranks or of the
// even or odd ones. Recording is off for a while at some of them.
func stepsBuilder(seed uint64, ranks int) *timeline.Builder {
	random := rand.New(rand.NewPCG(seed, 3))
	b := timeline.NewBuilder(ranks)
	var comms [3]timeline.Comm // all, the even and the odd ranks
	for r := range int32(ranks) {
		comms[0].Members = append(comms[0].Members, r)
		comms[1+r%2].Members = append(comms[1+r%2].Members, r)
	}
	for _, c := range comms {
		b.Comm(c)
	}
	step, off := b.Region(timeline.Region{Name: "step"}), b.Region(timeline.NotRecorded)
	mpi := func(name string, role timeline.Role) timeline.RegionID {
		return b.Region(timeline.Region{Name: name, Paradigm: timeline.MPI, Role: role})
	}
	send, recv := mpi("MPI_Send", timeline.PointToPoint), mpi("MPI_Recv", timeline.PointToPoint)
	reduce := mpi("MPI_Allreduce", timeline.CollectiveCall)
	cycles := b.Metric(timeline.Metric{Name: "cycles"})
	steps := 4 + random.IntN(4)
	size := func(r, k int) int64 { return int64(seed*7+uint64(r*13+k)) % 3000 }
	for r := range ranks {
		l := b.Location(r, 0, "", "")
		now := unit.Duration(random.IntN(20))
		for k := range steps {
			now = max(now, unit.Duration(1000*k))
			l.Enter(now, step)
			now += unit.Duration(1 + random.IntN(200))
			l.Count(now, cycles, uint64(now)*2)
			l.Enter(now, send)
			l.Send(now, int32((r+1)%ranks), 0, 0, size(r, k))
			now += 5
			l.Leave(now)
			l.Enter(now, recv)
			now += 300
			from := (r + ranks - 1) % ranks
			l.Recv(now, int32(from), 0, 0, size(from, k))
			l.Leave(now)
			comm := int32(0)
			if k%2 == 1 {
				comm = int32(1 + r%2)
			}
			l.Enter(now, reduce)
			now += unit.Duration(10 + random.IntN(30))
			l.Collective(now, timeline.OpAllreduce, comm, -1, 8, 8, nil)
			l.Leave(now)
			l.Leave(now)
			if seed%2 == 1 && random.IntN(3) == 0 {
				l.Off(now, off)
				now += unit.Duration(random.IntN(50))
				l.On(now)
			}
		}
	}
	return b
}

// said is what a profile says, with the waits of some masters in its iterations.
func said(ctx context.Context, tl *timeline.Timeline) (map[string]any, error) {
	p, err := New(tl, Options{Threads: 2})
	if err != nil {
		return nil, err
	}
	if err := p.Gather(ctx, 0, 7); err != nil {
		return nil, err
	}
	begin, end := ownRanks(tl)
	it, err := p.FindIterations(ctx, func(add func(rank int, at, amount unit.Duration)) {
		for r := begin; r < end; r++ {
			add(r, unit.Duration(1000*(1+r%3)+100), unit.Duration(r+1))
		}
	})
	if err != nil || tl.Part != nil && tl.Part.Group.Rank() != 0 {
		return nil, err
	}
	all := map[string]any{
		"entries": p.Entries, "by path": p.ByPath, "unrecorded": p.Unrecorded, "composition": p.Composition(nil),
		"efficiency": p.Efficiency(0, nil),
		"matrix":     p.Matrix(), "sizes": p.Sizes(), "collectives": p.Collectives(7), "without parts": p.Collectives(0), "counts": p.Counts(nil),
	}
	if it != nil {
		all["iterations"] = fmt.Sprint(it.CallPath, it.Covers, it.List)
	}
	return all, nil
}

// TestGather: what several processes find together is what one finds.
func TestGather(t *testing.T) {
	found := 0
	for seed := range uint64(12) {
		ranks := 2 + int(seed)%5
		want, err := said(context.Background(), stepsBuilder(seed, ranks).Finish(1))
		if err != nil {
			t.Fatal(err)
		}
		if want["iterations"] != nil {
			found++
		}
		for _, size := range []int{2, 3, 8} {
			bounds := make([]int, size+1)
			for p := range size {
				_, bounds[p+1] = cluster.Share(ranks, p, size)
			}
			var got map[string]any
			var all sync.WaitGroup
			errs := make([]error, size)
			for p, g := range cluster.Local(size) {
				all.Go(func() {
					tl, err := stepsBuilder(seed, ranks).FinishPart(context.Background(), g, bounds, 1)
					if err != nil {
						errs[p] = err
						g.Break()
						return
					}
					answer, err := said(context.Background(), tl)
					if errs[p] = err; err != nil {
						g.Break()
					}
					if p == 0 {
						got = answer
					}
				})
			}
			all.Wait()
			for p, err := range errs {
				if err != nil {
					t.Fatalf("seed %d, process %d of %d: %v", seed, p, size, err)
				}
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("seed %d, %d processes (-one +several):\n%s", seed, size, diff)
			}
		}
	}
	if found == 0 {
		t.Error("no run has iterations")
	}
}
