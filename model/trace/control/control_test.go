package control

import (
	"strings"
	"testing"

	"slackline/model/clock"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// run is a run of two ranks, of which the second one's clock is behind by a time.
type run struct {
	*timeline.Builder
	world      int32
	call, main timeline.RegionID
	ranks      []*timeline.LocationBuilder
	behind     unit.Duration
}

func newRun(behind unit.Duration) *run {
	r := &run{Builder: timeline.NewBuilder(2), behind: behind}
	r.main = r.Region(timeline.Region{Name: "main"})
	r.call = r.Region(timeline.Region{Name: "MPI_Call", Paradigm: timeline.MPI, Role: timeline.PointToPoint})
	r.world = r.Comm(timeline.Comm{Name: "world", Members: []int32{0, 1}})
	for rank := range 2 {
		l := r.Location(rank, 0, "master", "host")
		l.Enter(r.at(rank, 0), r.main)
		r.ranks = append(r.ranks, l)
	}
	return r
}

// at is what the clock of a rank shows at a time.
func (r *run) at(rank int, t unit.Duration) unit.Duration { return t - unit.Duration(rank)*r.behind }

// inCall does something in the middle of a call of a rank.
func (r *run) inCall(rank int, from, to unit.Duration, do func(l *timeline.LocationBuilder, t unit.Duration)) {
	l := r.ranks[rank]
	l.Enter(r.at(rank, from), r.call)
	do(l, r.at(rank, (from+to)/2))
	l.Leave(r.at(rank, to))
}

func (r *run) finish() *timeline.Timeline {
	for rank, l := range r.ranks {
		l.Leave(r.at(rank, 1000))
	}
	return r.Finish(1)
}

// message sends from rank 0 at 105 to rank 1 at 125.
func (r *run) message() {
	r.inCall(0, 100, 110, func(l *timeline.LocationBuilder, t unit.Duration) { l.Send(t, 1, r.world, 0, 8) })
	r.inCall(1, 100, 150, func(l *timeline.LocationBuilder, t unit.Duration) { l.Recv(t, 0, r.world, 0, 8) })
}

// apply applies the controlled logical clock to a run of one process, which cannot fail.
func apply(t *testing.T, tl *timeline.Timeline, latency unit.Duration) Outcome {
	t.Helper()
	o, err := Apply(t.Context(), tl, latency)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// What is possible stays as it is.
func TestApplyNothing(t *testing.T) {
	r := newRun(10)
	r.message()
	tl := r.finish()
	before := tl.Messages[0]
	o := apply(t, tl, 5)
	if o.Control || o.Moved != 0 || o.Before != (clock.Violations{}) || tl.Messages[0] != before || len(tl.Problems.Notes) > 0 {
		t.Errorf("outcome %+v, message %+v, notes %q; want nothing done", o, tl.Messages[0], tl.Problems.Notes)
	}
}

// A message that arrives before it was sent arrives the latency after it, and what follows on its rank is not before it.
func TestApplyMessage(t *testing.T) {
	const latency = 5
	r := newRun(60)
	r.message()
	tl := r.finish()
	start := tl.Locations[0].Calls.Enter[1]
	o := apply(t, tl, latency)
	m := tl.Messages[0]
	if !o.Control || o.Before.Messages != 1 || o.After.Messages != 0 || o.Moved == 0 || o.Furthest < 45 {
		t.Errorf("outcome %+v, want one message repaired by at least 45", o)
	}
	if m.Received < m.Sent+latency {
		t.Errorf("sent at %d, received at %d; want at least %d later", m.Sent, m.Received, latency)
	}
	if tl.Locations[0].Calls.Enter[1] != start {
		t.Errorf("the sender was moved from %d to %d", start, tl.Locations[0].Calls.Enter[1])
	}
	for i := range tl.Locations {
		c := &tl.Locations[i].Calls
		for k := range c.Enter {
			if c.Leave[k] < c.Enter[k] || c.Enter[k] < c.Enter[0] || c.Leave[k] > c.Leave[0] {
				t.Errorf("call %d of rank %d is from %d to %d, main from %d to %d", k, i, c.Enter[k], c.Leave[k], c.Enter[0], c.Leave[0])
			}
		}
	}
	if c := &tl.Locations[1].Calls; m.Received < c.Enter[1] || m.Received > c.Leave[1] {
		t.Errorf("received at %d, outside of its call from %d to %d", m.Received, c.Enter[1], c.Leave[1])
	}
	if p := &tl.Problems; p.Violations != 0 || len(p.Notes) != 1 || !strings.HasPrefix(p.Notes[0], "clocks: 1 messages and 0 coll") {
		t.Errorf("problems = %+v", p)
	}
	if tl.End < tl.Locations[1].Last || tl.Start > tl.Locations[0].First {
		t.Errorf("the run is from %d to %d, its ranks are beyond", tl.Start, tl.End)
	}
}

// Nobody leaves a barrier before the last one entered it; of other operations only those who get something wait.
func TestApplyCollectives(t *testing.T) {
	for name, tc := range map[string]struct {
		op       timeline.Op
		root     int32
		sent     [2]int64
		received [2]int64
		groups   int64 // that are impossible
	}{
		"barrier":           {timeline.OpBarrier, -1, [2]int64{}, [2]int64{}, 1},
		"allreduce":         {timeline.OpAllreduce, -1, [2]int64{8, 8}, [2]int64{8, 8}, 1},
		"nothing to reduce": {timeline.OpAllreduce, -1, [2]int64{8, 0}, [2]int64{8, 8}, 0},
		"nothing received":  {timeline.OpAllreduce, -1, [2]int64{8, 8}, [2]int64{8, 0}, 0},
		"nothing broadcast": {timeline.OpBcast, 0, [2]int64{8, 0}, [2]int64{0, 0}, 0},
		"nothing gathered":  {timeline.OpGather, 1, [2]int64{0, 8}, [2]int64{0, 8}, 0},
		"no such root":      {timeline.OpBcast, 2, [2]int64{8, 0}, [2]int64{0, 8}, 0},
		"scan of nothing":   {timeline.OpScan, -1, [2]int64{8, 0}, [2]int64{8, 8}, 0},
		"scatter":           {timeline.OpScatterv, 0, [2]int64{8, 0}, [2]int64{0, 8}, 1},
		"reduce_scatter":    {timeline.OpReduceScatterBlock, -1, [2]int64{8, 8}, [2]int64{8, 8}, 1},
		"alltoallv":         {timeline.OpAlltoallv, -1, [2]int64{8, 8}, [2]int64{8, 8}, 0}, // who sends to whom is not known
		"from rank 0":       {timeline.OpBcast, 0, [2]int64{8, 0}, [2]int64{0, 8}, 1},
		"from rank 1":       {timeline.OpBcast, 1, [2]int64{0, 8}, [2]int64{8, 0}, 0}, // rank 1 is early, and that is fine for others
		"to rank 1":         {timeline.OpReduce, 1, [2]int64{8, 8}, [2]int64{0, 8}, 1},
		"to rank 0":         {timeline.OpReduce, 0, [2]int64{8, 8}, [2]int64{8, 0}, 0},
		"scan":              {timeline.OpScan, -1, [2]int64{8, 8}, [2]int64{8, 8}, 1},
	} {
		r := newRun(60)
		for rank := range 2 {
			r.inCall(rank, 100, 150, func(l *timeline.LocationBuilder, at unit.Duration) {
				l.Collective(at, tc.op, r.world, tc.root, tc.sent[rank], tc.received[rank], nil)
			})
		}
		tl := r.finish()
		if len(tl.Collectives) != 1 {
			t.Fatalf("%s: %d collectives", name, len(tl.Collectives))
		}
		before := tl.Problems.EarlyCollectives
		o := apply(t, tl, 0)
		if after := tl.Problems.EarlyCollectives; before != tc.groups || after != 0 {
			t.Errorf("%s: the timeline has %d impossible before and %d after, want %d and none", name, before, after, tc.groups)
		}
		if int64(o.Before.Groups) != tc.groups || o.After.Groups != 0 || o.Control != (tc.groups > 0) {
			t.Errorf("%s: outcome %+v, want %d impossible before and none after", name, o, tc.groups)
		}
		if enter, leave := tl.Locations[0].Calls.Enter[1], tl.Locations[1].Calls.Leave[1]; o.Control && leave < enter {
			t.Errorf("%s: rank 1 leaves at %d, rank 0 enters at %d", name, leave, enter)
		}
	}
}
