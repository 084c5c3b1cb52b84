package timeline

import (
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"slackline/model/unit"
)

// threadedRun is a run of two ranks, of which rank 1 has two threads, living or not known to.
func threadedRun(lives bool) (b *twoRanks, other *LocationBuilder) {
	b = newTwoRanks()
	other = b.Location(1, 1, "thread 1", "b")
	if lives {
		other.ThreadBegin(0)
	}
	return b, other
}

// in makes a call from t to t+5 with records at t+1.
func in(l *LocationBuilder, t unit.Duration, r RegionID, records func(t unit.Duration)) {
	l.Enter(t, r)
	records(t + 1)
	l.Leave(t + 5)
}

// TestAnotherThreadCompletes: what one thread of a rank begins another one may complete. A receive belongs to the one that completes it, in
// the order of the posting, and names the one that posted it; where requests are numbered by thread, they are two different ones.
func TestAnotherThreadCompletes(t *testing.T) {
	for _, lives := range []bool{true, false} {
		b, other := threadedRun(lives)
		in(b.l[0], 0, b.sendCall, func(t unit.Duration) { b.l[0].Send(t, 1, b.world, 0, 111) })
		in(b.l[0], 10, b.sendCall, func(t unit.Duration) { b.l[0].Send(t, 1, b.world, 0, 222) })
		in(b.l[1], 0, b.recvCall, func(t unit.Duration) { b.l[1].Post(t, 7) })
		in(b.l[1], 30, b.recvCall, func(t unit.Duration) { b.l[1].Recv(t, 0, b.world, 0, 222) })
		in(other, 40, b.waitCall, func(t unit.Duration) { other.IrecvDone(t, 0, b.world, 0, 111, 7) })
		tl := b.Finish(1)
		sizes := map[int32]int64{} // by receiving location
		for _, m := range tl.Messages {
			sizes[m.To] = m.Size
			poster, call := m.To, m.Recv
			if lives && m.To == 2 {
				poster, call = 1, 0
			}
			if m.Poster() != poster || m.Post != call || m.RecvBlocks() != (poster == m.To) {
				t.Errorf("threads known %t: message %+v: posted at %d in call %d, want %d, %d", lives, m, m.Poster(), m.Post, poster, call)
			}
		}
		// The receive that thread 0 posted comes before the one of its own later call; without that, it is posted at its completion.
		want, notes, pending := map[int32]int64{1: 222, 2: 111}, []string(nil), int64(0)
		if !lives {
			want, pending = map[int32]int64{1: 111, 2: 222}, 1
			notes = []string{"1 completions of requests that were never started (on rank 1)",
				"1 messages larger than what was received of them (on rank 1)"}
		}
		if !gocmp.Equal(sizes, want) || !slices.Equal(tl.Problems.Notes, notes) || tl.Problems.PendingRequests != pending {
			t.Errorf("threads known %t: sizes %v, notes %q, %d pending, want %v, %q, %d", lives, sizes, tl.Problems.Notes,
				tl.Problems.PendingRequests, want, notes, pending)
		}
	}
}

// TestAnotherThreadCompletesSendsAndCollectives: a send names the thread that completes it; a collective takes its place in the order of
// its issue and names the thread that issued it. What another thread finds cancelled did not take place.
func TestAnotherThreadCompletesSendsAndCollectives(t *testing.T) {
	b, other := threadedRun(true)
	in(b.l[1], 0, b.sendCall, func(t unit.Duration) { b.l[1].Isend(t, 0, b.world, 3, 50, 1) })
	in(b.l[1], 10, b.waitCall, func(t unit.Duration) {
		b.l[1].Issue(t, 2)
		b.l[1].Post(t, 3)
		b.l[1].Isend(t, 0, b.world, 3, 60, 4)
	})
	in(b.l[1], 20, b.waitCall, func(t unit.Duration) { b.l[1].Collective(t, OpBarrier, b.world, -1, 0, 0, nil) })
	in(other, 30, b.waitCall, func(t unit.Duration) {
		other.IsendDone(t, 1)
		other.Complete(t, OpAllreduce, b.world, -1, 8, 8, nil, 2)
		other.Cancel(t, 3)
		other.Cancel(t, 4)
	})
	in(b.l[0], 0, b.recvCall, func(t unit.Duration) { b.l[0].Recv(t, 1, b.world, 3, 50) })
	in(b.l[0], 10, b.waitCall, func(t unit.Duration) { b.l[0].Collective(t, OpAllreduce, b.world, -1, 8, 8, nil) })
	in(b.l[0], 20, b.waitCall, func(t unit.Duration) { b.l[0].Collective(t, OpBarrier, b.world, -1, 0, 0, nil) })
	tl := b.Finish(1)
	if diff := gocmp.Diff(Problems{}, tl.Problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if m := tl.Messages[0]; len(tl.Messages) != 1 || m.From != 1 || m.Completer() != 2 || m.SendDone != 0 || m.SendDoneSeq != 0 ||
		m.SendBlocks() {
		t.Errorf("messages = %+v, want one of location 1 that location 2 completes in its first call", tl.Messages)
	}
	if m := tl.Members[1]; m.Issuer() != 1 || m.Issue != 1 || m.Complete != 0 || m.Blocks() {
		t.Errorf("member %+v, want one that location 1 issued in its second call", m)
	}
	if w := tl.Window(6, 100, 1); len(w.Members) != 4 || w.Members[1].Issuer() != 1 || w.Members[1].Issue != 0 || w.Members[1].Complete != 0 {
		t.Errorf("members %+v after 6, want one that location 1 issued in its first call", w.Members)
	}
	var ops []Op
	for _, c := range tl.Collectives {
		ops = append(ops, c.Op)
	}
	if !slices.Equal(ops, []Op{OpAllreduce, OpBarrier}) || tl.Members[1].Location != 2 || tl.Members[3].Location != 1 {
		t.Errorf("collectives %v of %+v, want the allreduce of location 2, then the barrier of location 1", ops, tl.Members)
	}
}

// TestCancel: what was cancelled did not take place: its channel goes on with the next one.
func TestCancel(t *testing.T) {
	b := newTwoRanks()
	l := b.l[0]
	in(l, 0, b.sendCall, func(t unit.Duration) {
		l.Isend(t, 1, b.world, 0, 111, 1)
		l.Isend(t, 1, b.world, 0, 222, 2)
		l.Cancel(t, 1)
		l.IsendDone(t, 2)
		l.Issue(t, 3)
		l.Cancel(t, 3)
		l.Collective(t, OpBarrier, b.world, -1, 0, 0, nil)
	})
	l = b.l[1]
	in(l, 0, b.recvCall, func(t unit.Duration) {
		l.Post(t, 1)
		l.Cancel(t, 1)
		l.Recv(t, 0, b.world, 0, 222)
		l.Collective(t, OpBarrier, b.world, -1, 0, 0, nil)
	})
	tl := b.Finish(1)
	if diff := gocmp.Diff(Problems{}, tl.Problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if len(tl.Messages) != 1 || tl.Messages[0].Size != 222 || len(tl.Collectives) != 1 {
		t.Errorf("messages %+v, collectives %+v, want the one of 222 bytes and a barrier", tl.Messages, tl.Collectives)
	}
}

// TestPartitionedChannels: messages of different partitioned channels do not overtake those of their own, whatever others do.
func TestPartitionedChannels(t *testing.T) {
	b := newTwoRanks()
	l := b.l[0]
	in(l, 0, b.sendCall, func(t unit.Duration) {
		l.PartitionedSend(t, 1, b.world, 0, 1, 111, 1)
		l.PartitionedSend(t, 1, b.world, 0, 2, 222, 2)
		l.Send(t, 1, b.world, 0, 333)
	})
	in(l, 10, b.waitCall, func(t unit.Duration) { l.IsendDone(t, 2); l.IsendDone(t, 1) })
	l = b.l[1]
	in(l, 10, b.recvCall, func(t unit.Duration) {
		l.Recv(t, 0, b.world, 0, 333)
		l.PartitionedDone(t, 0, b.world, 0, 2, 5)
		l.PartitionedDone(t, 0, b.world, 0, 1, 6)
	})
	tl := b.Finish(1)
	var got [][2]int64
	for _, m := range tl.Messages {
		got = append(got, [2]int64{m.Size, int64(m.Channel)})
	}
	if want := [][2]int64{{333, 0}, {222, 2}, {111, 1}}; !slices.Equal(got, want) {
		t.Errorf("sizes and channels = %v, want %v", got, want)
	}
}

// TestRequestsComeAgain: a request that is begun again after another thread has completed it, by the same name, is another one. The first
// of three was never completed.
func TestRequestsComeAgain(t *testing.T) {
	b, other := threadedRun(true)
	in(b.l[1], 0, b.recvCall, func(t unit.Duration) { b.l[1].Post(t, 7) })
	for i := range unit.Duration(2) {
		in(b.l[0], 10+20*i, b.sendCall, func(t unit.Duration) { b.l[0].Send(t, 1, b.world, 0, 8) })
		in(b.l[1], 10+20*i, b.recvCall, func(t unit.Duration) { b.l[1].Post(t, 7) })
		in(other, 20+20*i, b.waitCall, func(t unit.Duration) { other.IrecvDone(t, 0, b.world, 0, 8, 7) })
	}
	tl := b.Finish(1)
	for i, m := range tl.Messages {
		if m.Poster() != 1 || m.Post != int32(i)+1 || m.To != 2 || m.Recv != int32(i) {
			t.Errorf("message %+v: posted at %d, want the receive of call %d at 1", m, m.Poster(), i+1)
		}
	}
	if len(tl.Messages) != 2 || len(tl.Problems.Notes) > 0 || tl.Problems.PendingRequests != 1 {
		t.Errorf("%d messages, notes %q, %d pending; want 2, none, 1", len(tl.Messages), tl.Problems.Notes, tl.Problems.PendingRequests)
	}
}
