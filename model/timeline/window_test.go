package timeline

import (
	"reflect"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"slackline/model/unit"
)

func TestWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRun(t)
		order := make([]int, len(r.threads))
		for i := range order {
			order[i] = i
		}
		tl := r.build(order, 1)
		margin := unit.Duration(rapid.IntRange(0, 1).Draw(t, "margin"))
		whole := tl.Window(tl.Start-margin, tl.End+margin, 2)
		if diff := gocmp.Diff(tl, whole, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(Timeline{}, "Problems"), ignoreZeroLength(tl)); diff != "" {
			t.Fatalf("a window around everything (-all +window):\n%s", diff)
		}
		begin := unit.Duration(rapid.Int64Range(0, int64(tl.End)+1).Draw(t, "begin"))
		end := unit.Duration(rapid.Int64Range(int64(begin), int64(tl.End)+2).Draw(t, "end"))
		w := tl.Window(begin, end, 1)
		checkCalls(t, w)
		for i := range w.Locations {
			if got, want := timeIn(&w.Locations[i].Calls, begin, end), timeIn(&tl.Locations[i].Calls, begin, end); got != want {
				t.Fatalf("location %d: calls for %d inside, want %d", i, got, want)
			}
		}
		for _, m := range w.Messages {
			from, to := &w.Locations[m.From].Calls, &w.Locations[m.To].Calls
			if m.Sent < from.Enter[m.Send] || m.Sent > from.Leave[m.Send] || m.Received < to.Enter[m.Recv] || m.Received > to.Leave[m.Recv] ||
				m.Sent < begin || m.Received > end {
				t.Fatalf("message %+v is not in its calls", m)
			}
		}
		all := func(int32) bool { return true }
		pending := *tl // sends whose completion is cut off
		pending.Messages = slices.Clone(tl.Messages)
		for i := range pending.Messages {
			m := &pending.Messages[i]
			m.SendDone, m.SendDoneSeq, m.DoneBy = -1, -1, 0
		}
		known := slices.Concat(joined(tl, all), joined(&pending, all))
		for _, s := range joined(w, all) {
			if !slices.Contains(known, s) {
				t.Fatalf("the whole run has no %s", s)
			}
		}
		if members := 0; len(w.Collectives) > 0 {
			for _, c := range w.Collectives {
				if c.First != members {
					t.Fatalf("collective %+v, want its members at %d", c, members)
				}
				members += w.Comms[c.Comm].Size()
			}
			if members != len(w.Members) {
				t.Fatalf("%d members, want %d", len(w.Members), members)
			}
		}
		if got, want := forked(w, begin, end), forked(tl, begin, end); !slices.Equal(got, want) {
			t.Fatalf("masters had teams for %d inside, want %d", got, want)
		}
	})
}

// forked is how long the master of each location has a team between two times.
func forked(tl *Timeline, begin, end unit.Duration) []unit.Duration {
	sums := make([]unit.Duration, len(tl.Locations))
	for _, team := range tl.Teams {
		sums[team.Master] += max(0, min(team.Join, end)-max(team.Fork, begin))
	}
	return sums
}

// The call that was open when a team joined may begin after a window ends, where forks and joins do not fit.
func TestWindowBeforeOpenCall(t *testing.T) {
	b := NewBuilder(1)
	l := b.Location(0, 0, "", "")
	l.Fork(10)
	l.Enter(50, b.Region(Region{Name: "main"}))
	l.Join(60)
	l.Leave(70)
	if got := b.Finish(1).Window(0, 40, 1).Teams[0].JoinPlace; got.Open != -1 {
		t.Errorf("the join is in call %d, want none", got.Open)
	}
}

// A team that the window cuts is a team for the rest of its time; its barriers are nobody's.
func TestWindowCutsTeams(t *testing.T) {
	b := NewBuilder(1)
	barrier := b.Region(Region{Name: "barrier", Paradigm: OpenMP, Role: ImplicitBarrier})
	for thread := range 2 {
		l := b.Location(0, thread, "", "")
		if thread == 0 {
			l.Enter(0, b.Region(Region{Name: "main"}))
			l.Fork(100)
		}
		l.TeamBegin(100)
		l.Enter(180, barrier)
		l.Leave(200)
		l.TeamEnd(200)
		if thread == 0 {
			l.Join(200)
			l.Leave(300)
		}
	}
	w := b.Finish(1).Window(150, 300, 1)
	if len(w.Teams) != 1 {
		t.Fatalf("%d teams, want 1", len(w.Teams))
	}
	team := w.Teams[0]
	if team.Fork != 150 || team.Join != 200 || len(team.Members) != 2 {
		t.Errorf("team %+v, want one from 150 to 200 with 2 members", team)
	}
	for _, m := range team.Members {
		if m.Begin != 150 || m.End != 200 || m.BeginPlace != m.EndPlace {
			t.Errorf("member %+v, want one from 150 to 200 without calls", m)
		}
	}
}

// timeIn is the sum of the times that calls are open between two times.
func timeIn(c *Calls, begin, end unit.Duration) unit.Duration {
	sum := unit.Duration(0)
	for i := range c.Enter {
		sum += max(0, min(c.Leave[i], end)-max(c.Enter[i], begin))
	}
	return sum
}

// ignoreZeroLength leaves out first and last times of locations without events.
func ignoreZeroLength(tl *Timeline) gocmp.Option {
	return gocmp.FilterPath(func(p gocmp.Path) bool {
		name := p.Last().String()
		return name == ".First" || name == ".Last" || name == ".Start" || name == ".End"
	}, gocmp.Ignore())
}

// shiftedRun is a run of two ranks that do the same, with a team and a message each, one of which is never received.
func shiftedRun() *Timeline {
	b := newTwoRanks()
	for i, l := range b.l {
		l.Enter(10, b.sendCall)
		l.Fork(11)
		l.TeamBegin(12)
		l.TeamEnd(13)
		l.Join(14)
		l.Send(15, int32(1-i), b.world, 0, 1)
		if i == 0 {
			l.Recv(16, 1, b.world, 0, 1)
		}
		l.Leave(20)
	}
	return b.Finish(1)
}

func TestShift(t *testing.T) {
	tl := shiftedRun()
	tl.Shift(-10, 2)
	c, m, team := tl.Locations[1].Calls, tl.Messages[0], tl.Teams[1]
	got := []unit.Duration{tl.Start, tl.End, tl.Locations[1].First, tl.Locations[1].Last, c.Enter[0], c.Leave[0], m.Sent, m.Received,
		team.Fork, team.Join, team.Members[0].Begin, team.Members[0].End, tl.Problems.Sends[0].Time}
	if want := dur(0, 10, 0, 10, 0, 10, 5, 6, 1, 4, 2, 3, 5); !gocmp.Equal(got, want) {
		t.Errorf("times = %v, want %v", got, want)
	}
}

// TestMoveRanks: moving all ranks alike is a shift; moving one of them moves its ends of messages, and nothing of the others.
func TestMoveRanks(t *testing.T) {
	devices := func(tl *Timeline) *Timeline {
		d := NewDeviceBuilder(tl)
		for rank := range 2 {
			d.Stream(rank, 0, 7, "0:7").Add(12, 18, d.Region("k"), CommunicationKernel, NoLaunch)
		}
		d.Finish([]Reference{{Location: 1, Stream: 1, Device: -1, Event: -1, Recorded: 13}})
		tl.Devices.Messages = []Message{{From: 0, To: 1, Sent: 12, Received: 18}, {From: 1, To: 0, Sent: 12, Received: 18}}
		for i := range tl.Locations {
			tl.Locations[i].Alive, tl.Locations[i].NoCPU = []Span{{10, 20}}, []Lack{{Span: Span{11, 12}}}
		}
		return tl
	}
	want, got := devices(shiftedRun()), devices(shiftedRun())
	want.Shift(5, 1)
	got.MoveRanks(dur(5, 5))
	if diff := gocmp.Diff(want, got, gocmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
		t.Errorf("all ranks moved by 5 (-shifted +moved):\n%s", diff)
	}
	tl := devices(shiftedRun())
	tl.MoveRanks(dur(0, 100))
	m, onDevice, teams := tl.Messages[0], tl.Devices.Messages, tl.Teams // the message is from rank 1 to rank 0
	times := []unit.Duration{
		tl.Start, tl.End, tl.Locations[0].Calls.Enter[0], tl.Locations[1].Calls.Enter[0], m.Sent, m.Received, teams[0].Fork, teams[1].Fork,
		teams[1].Members[0].End, tl.Problems.Sends[0].Time, tl.Locations[1].Alive[0].To, tl.Locations[1].NoCPU[0].From,
		onDevice[0].Sent, onDevice[0].Received, onDevice[1].Sent, onDevice[1].Received, tl.Devices.References[0].Recorded,
		tl.Devices.Streams[0].Begin[0], tl.Devices.Streams[1].End[0],
	}
	if want := dur(10, 120, 10, 110, 115, 16, 11, 111, 113, 15, 120, 111, 12, 118, 112, 18, 113, 12, 118); !gocmp.Equal(times, want) {
		t.Errorf("rank 1 moved by 100: times = %v, want %v", times, want)
	}
}

// TestWindowKeepsWholeTeams: a team that ends where the window ends, or starts where it starts, is whole.
func TestWindowKeepsWholeTeams(t *testing.T) {
	tl := shiftedRun() // teams from 11 to 14
	for _, w := range []*Timeline{tl.Window(11, 14, 1), tl.Window(0, 14, 1), tl.Window(11, 30, 1)} {
		if len(w.Teams) != 2 || w.Teams[0].Members[0] != tl.Teams[0].Members[0] {
			t.Errorf("%v to %v: teams %+v, want %+v", w.Start, w.End, w.Teams, tl.Teams)
		}
	}
	if w := tl.Window(14, 30, 1); len(w.Teams) != 0 {
		t.Errorf("after the join: teams %+v", w.Teams)
	}
}

// TestWindowOfMoments: what grew in no time is kept where its moment is.
func TestWindowOfMoments(t *testing.T) {
	tl := &Timeline{End: 100, Locations: []Location{{Last: 100, Counts: []Increment{
		{Span: Span{10, 10}, Value: 5}, {Span: Span{20, 40}, Value: 8}, {Span: Span{50, 50}, Value: 2}}}}}
	for _, c := range []struct {
		begin, end unit.Duration
		want       uint64
	}{{0, 100, 15}, {0, 10, 5}, {11, 100, 10}, {10, 20, 5}, {20, 40, 8}, {25, 30, 2}, {40, 49, 0}, {30, 50, 6}, {51, 100, 0}} {
		sum := uint64(0)
		for _, grew := range tl.Window(c.begin, c.end, 1).Locations[0].Counts {
			sum += grew.Value
		}
		if sum != c.want {
			t.Errorf("%v to %v: it grew by %d, want %d", c.begin, c.end, sum, c.want)
		}
	}
}

// TestCollectivesOfOne: a communicator of one has no instances in a run of several ranks; in a run of one it has.
