package replay

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"slackline/analyze/simulate"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// odd fills a location with events that may make no sense.
type odd struct {
	t   *rapid.T
	run *testRun
	l   *timeline.LocationBuilder
	now unit.Duration
}

var oddRegions = []string{"main", "f", "usleep", "MPI_Init", "MPI_Finalize", "MPI_Send", "MPI_Isend", "MPI_Recv", "MPI_Irecv",
	"MPI_Waitall", "MPI_Test", "MPI_Iprobe", "MPI_Allreduce", "MPI_Comm_dup", "MPI_File_write", "[noise]", "[tool]"}

func (o *odd) int(what string, low, high int) int { return rapid.IntRange(low, high).Draw(o.t, what) }

func (o *odd) event() {
	o.now += unit.Duration(o.int("ns", 0, 40)) * unit.Microsecond
	peer, comm, tag := int32(o.int("peer", -1, 4)), int32(o.int("comm", -1, 5)), int32(o.int("tag", -1, 2))
	size, request := int64(o.int("size", 0, 9)), uint64(o.int("request", 0, 3))
	op, root := timeline.Op(o.int("op", 0, 24)), int32(o.int("root", -1, 4))
	switch o.int("what", 0, 16) {
	case 0, 1, 2:
		o.l.Enter(o.now, o.run.region(rapid.SampledFrom(oddRegions).Draw(o.t, "region")))
	case 3, 4:
		o.l.Leave(o.now)
	case 5, 6:
		o.l.Send(o.now, peer, comm, tag, size)
	case 7, 8:
		o.l.Recv(o.now, peer, comm, tag, size)
	case 9:
		o.l.Isend(o.now, peer, comm, tag, size, request)
	case 10:
		o.l.IsendDone(o.now, request)
	case 11:
		o.l.Post(o.now, request)
	case 12:
		o.l.IrecvDone(o.now, peer, comm, tag, size, request)
	case 13:
		o.l.Cancel(o.now, request)
	case 14:
		o.l.Collective(o.now, op, comm, root, size, size, nil)
	case 15:
		o.l.Issue(o.now, request)
	case 16:
		o.l.Complete(o.now, op, comm, root, size, size, []int64{size, 1, 2, 3}, request)
	}
}

// Timelines that make no sense become schedules that can be run, or that lock up, but nothing breaks.
func TestOddTimelines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.IntRange(1, 4).Draw(t, "ranks")
		run := newTestRun(ranks)
		run.b.Comm(timeline.Comm{Members: []int32{0}})
		run.b.Comm(timeline.Comm{Members: []int32{1, 0}})
		run.b.Comm(timeline.Comm{Members: []int32{0, 0}})
		run.b.Comm(timeline.Comm{Members: []int32{0}, Remote: []int32{1}})
		for range rapid.IntRange(0, ranks+1).Draw(t, "locations") {
			o := &odd{t: t, run: run}
			o.l = run.b.Location(o.int("rank", 0, ranks-1), o.int("thread", 0, 1), "", "")
			for range o.int("events", 0, 40) {
				o.event()
			}
		}
		tl := run.b.Finish(1)
		p, err := New(tl, Options{
			Ranks: tl.Ranks * rapid.IntRange(1, 3).Draw(t, "copies"), Denoise: rapid.Bool().Draw(t, "denoise"),
			WithoutMessages: rapid.Bool().Draw(t, "without messages"), Threads: 2,
		})
		if err != nil {
			t.Fatal(err)
		}
		checkEncoded(t, p)
		for _, m := range []int64{0, 1 << 40} {
			_, err = simulate.Run(t.Context(), p, cluster(m), simulate.Options{})
			if unfinished := (*simulate.UnfinishedError)(nil); err != nil && !errors.As(err, &unfinished) {
				t.Fatal(err)
			}
		}
	})
}
