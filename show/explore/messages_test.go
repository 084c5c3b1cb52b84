package explore

import (
	"slices"
	"testing"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// Of very many messages some are looked at, and their number is estimated; few are counted, in any order of reception.
func TestMessagesOfALargeRun(t *testing.T) {
	const n, span = 4 * mostMessages, 1 << 30
	b := timeline.NewBuilder(2)
	for rank := range 2 {
		b.Location(rank, 0, "", "")
	}
	tl := b.Finish(1)
	tl.Start, tl.End = 0, span
	tl.Messages = make([]timeline.Message, n)
	for i := range tl.Messages {
		at := unit.Duration(i) * span / n
		if i%2 == 1 {
			at = unit.Duration(i-1)*span/n - 300 // received before the one that was posted before it
		}
		tl.Messages[i] = timeline.Message{From: 0, To: 1, Sent: max(at-500, 0), Received: max(at, 0), Size: 8, Send: -1, Recv: -1}
	}
	s, h := serverOf(t, tl)
	all := get[Messages](t, s, h, "/api/messages")
	if !all.Estimated || !all.Chosen || len(all.Messages) != 1000 || all.Total < n*8/10 || all.Total > n*12/10 {
		t.Errorf("%d messages of %d, want 1000 of about %d", len(all.Messages), all.Total, n)
	}
	few := get[Messages](t, s, h, "/api/messages?from=100000000&to=100010000")
	want := 0
	for i := range tl.Messages {
		if m := &tl.Messages[i]; m.Sent < 100010000 && m.Received >= 100000000 {
			want++
		}
	}
	if few.Estimated || len(few.Messages) != want || want == 0 {
		t.Errorf("%d messages in a small window, want %d", len(few.Messages), want)
	}
}

// Where not all messages are looked at, those of the longest waits are not missed.
func TestMessagesOfLongWaits(t *testing.T) {
	v := viewOf(t, halo(t, 9, 6), true)
	x := newArrowIndex(v.tl, 1)
	w := messageWindow{from: v.tl.Start, to: v.end(), rows: rows{last: 9}, tl: v.tl}
	c, all := newChoice(v, 3), newChoice(v, 3)
	c.addWaited(x, w)
	for i := range v.tl.Messages {
		all.add(&v.tl.Messages[i])
	}
	got, want := c.result(), all.result()
	if !slices.Equal(got, want) || len(got) != 3 || got[0].wait == 0 {
		t.Errorf("messages of the longest waits = %+v, want %+v", got, want)
	}
}
