package explore

import (
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
	if !all.Estimated || len(all.Messages) > 0 || len(all.Bundles) != 1 || all.Total < n*8/10 || all.Total > n*12/10 {
		t.Errorf("messages = %+v, want about %d", all, n)
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
