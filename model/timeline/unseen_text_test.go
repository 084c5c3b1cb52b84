package timeline_test

import (
	"fmt"
	"testing"

	"slackline/model/timeline"
	"slackline/model/trace/tracetest"
)

// TestUnseenPlaces: what a thread did unseen comes before what other threads recorded after the last of it, whenever the thread notices
// that recording is on. What they recorded before that has no number.
func TestUnseenPlaces(t *testing.T) {
	const (
		messages = "1..2 MPI_Send: send to 1 size 1\n3..4 MPI_Send: send to 1 size 2\n" +
			"5..6 MPI_Send: send to 1 size 3\n7..8 MPI_Send: send to 1 size 4\n"
		barriers = "1..2 MPI_Barrier: barrier sent 1\n3..21 MPI_Barrier: barrier sent 2\n" +
			"22..31 MPI_Barrier: barrier sent 3\n32..41 MPI_Barrier: barrier sent 4\n"
		off  = "@0 recording off\n"
		none = "9..10 idle\n"
	)
	for _, c := range []struct {
		name                      string
		first, second, one, other string // threads of rank 0 and of rank 1
		want                      string // sizes of messages and collectives, by the thread of rank 1
		cut                       int64
	}{
		{"switched", messages, none,
			off + "@10 recording on\n11..20 MPI_Recv: recv from 0 size 2\n21..30 MPI_Recv: recv from 0 size 3\n",
			off + "@5 skipped 1 receives from 0\n@35 recording on\n36..40 MPI_Recv: recv from 0 size 4\n",
			"[2 3] [4] []", 1},
		{"posted", messages, none,
			off + "@10 recording on\n11..20 MPI_Recv: recv from 0 size 2\n21..30 MPI_Recv: recv from 0 size 3\n",
			off + "@5 post 1\n@35 recording on\n36..40 MPI_Wait: recv from 0 size 1 request 1\n41..42 MPI_Recv: recv from 0 size 4\n",
			"[2 3] [4] []", 2},
		{"dropped", messages, none,
			"1..9 MPI_Recv: recv from 0 size 1\n11..20 MPI_Recv: recv from 0 size 2\n36..37 MPI_Recv: recv from 0 size 4\n",
			off + "@35 skipped 1 receives from 0\n@35 recording on\n",
			"[4] [] []", 5},
		{"idle while recording was on", messages, none,
			off + "@10 recording on\n11..20 MPI_Recv: recv from 0 size 2\n21..30 MPI_Recv: recv from 0 size 3\n@31 recording off\n",
			off + "@5 skipped 1 receives from 0\n@35 recording off\n@40 skipped 1 receives from 0\n",
			"[2 3] [] []", 2},
		{"sends", off + "@5 skipped 1 sends to 1\n@35 recording on\n36..37 MPI_Send: send to 1 size 4\n",
			off + "@10 recording on\n11..12 MPI_Send: send to 1 size 2\n21..22 MPI_Send: send to 1 size 3\n",
			"1..9 MPI_Recv: recv from 0 size 1\n10..20 MPI_Recv: recv from 0 size 2\n21..30 MPI_Recv: recv from 0 size 3\n" +
				"31..40 MPI_Recv: recv from 0 size 4\n", none,
			"[2 3 4] [] []", 1},
		{"dropped sends", off + "@25 skipped 2 sends to 1\n@25 recording on\n36..37 MPI_Send: send to 1 size 4\n",
			"11..12 MPI_Send: send to 1 size 2\n",
			"1..9 MPI_Recv: recv from 0 size 1\n10..20 MPI_Recv: recv from 0 size 2\n21..30 MPI_Recv: recv from 0 size 3\n" +
				"31..40 MPI_Recv: recv from 0 size 4\n", none,
			"[4] [] []", 4},
		{"collectives", barriers, none,
			off + "@10 recording on\n11..21 MPI_Barrier: barrier sent 2\n22..31 MPI_Barrier: barrier sent 3\n",
			off + "@5 skipped 1 collectives\n@35 recording on\n36..41 MPI_Barrier: barrier sent 4\n",
			"[] [] [2 3 4]", 1},
		{"dropped collectives", barriers, none,
			"1..2 MPI_Barrier: barrier sent 1\n11..21 MPI_Barrier: barrier sent 2\n36..41 MPI_Barrier: barrier sent 4\n",
			off + "@35 skipped 1 collectives\n@35 recording on\n",
			"[] [] [4]", 3},
	} {
		tl := tracetest.Timeline(t, fmt.Sprintf("slackline trace 1\nunit us\nrank 0\n%s\nrank 0 thread 1\n%s\nrank 1\n%s\nrank 1 thread 1\n%s\n",
			c.first, c.second, c.one, c.other))
		sizes := make([][]int64, 4)
		for _, m := range tl.Messages {
			sizes[m.To] = append(sizes[m.To], m.Size)
		}
		for _, k := range tl.Collectives {
			sizes[0] = append(sizes[0], tl.Members[k.First].Sent)
			if tl.Members[k.First].Sent != tl.Members[k.First+1].Sent {
				t.Errorf("%s: collectives of %d and %d", c.name, tl.Members[k.First].Sent, tl.Members[k.First+1].Sent)
			}
		}
		p := tl.Problems
		cut := p.CutMessages + p.CutCollectives
		p.CutMessages, p.CutCollectives = 0, 0
		if got := fmt.Sprint(sizes[2], sizes[3], sizes[0]); got != c.want || cut != c.cut {
			t.Errorf("%s: %s, %d cut, want %s, %d", c.name, got, cut, c.want, c.cut)
		}
		if got, want := fmt.Sprintf("%+v", p), fmt.Sprintf("%+v", timeline.Problems{}); got != want {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}
