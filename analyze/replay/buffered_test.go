package replay

import (
	"slices"
	"strings"
	"testing"

	"slackline/model/schedule"
	"slackline/model/trace/tracetest"
)

// A collective of one rank becomes a collective of all copies, unless it is of the rank alone.
func TestCollectivesOfOneRank(t *testing.T) {
	tl := tracetest.Timeline(t, `slackline trace 1
unit us
comm 0 name MPI_COMM_WORLD 0
comm 1 name MPI_COMM_SELF 0
comm 2 name dup 0
rank 0
0..1 MPI_Init
1..2 MPI_Allreduce: allreduce comm 0 sent 8 received 8
2..3 MPI_Barrier: barrier comm 1
3..4 MPI_Bcast: bcast comm 2 root 0 sent 100 received 100
4..5 MPI_Finalize
`)
	p, err := New(tl, Options{Ranks: 8})
	if err != nil {
		t.Fatal(err)
	}
	if r := p.Report(); r.Collectives != 2 || r.OfAllRanks != 2 {
		t.Errorf("%d collectives, %d of all ranks; want 2 and 2", r.Collectives, r.OfAllRanks)
	}
	for rank := range 8 {
		var sizes []int64
		var b schedule.Block
		for step := range p.Steps(rank) {
			p.Block(rank, step, &b)
			for i := range b.Ops {
				if b.Ops[i].Kind == schedule.Collective {
					call := &b.Calls[b.Ops[i].Size]
					if n := p.Groups()[call.Group].Len(); n != 8 {
						t.Errorf("rank %d: a collective of %d ranks, want 8", rank, n)
					}
					sizes = append(sizes, call.Size)
				}
			}
		}
		if !slices.Equal(sizes, []int64{8, 100}) {
			t.Errorf("rank %d: collectives of %v bytes, want 8 and 100", rank, sizes)
		}
	}
	if text := p.Report().Extrapolation(8); !strings.Contains(text, "8 ranks are 8 copies of the 1 recorded") ||
		!strings.Contains(text, "2 collectives of all ranks become collectives of all 8") {
		t.Errorf("the assumptions are %q", text)
	}
	if text := p.Report().Extrapolation(1); text != "" {
		t.Errorf("without copies: %q", text)
	}
}

// Buffered sends of any size never wait: MPI_Bsend, MPI_Ibsend and what MPI_Start begins of MPI_Bsend_init.
func TestBufferedSends(t *testing.T) {
	for _, tc := range []struct {
		name, prepare, call string
		buffered, mixed     bool
	}{
		{"blocking", "", "MPI_Bsend: send to OTHER size 1000000 tag 1", true, false},
		{"large count", "", "MPI_Bsend_c: send to OTHER size 1000000 tag 1", true, false},
		{"fortran", "", "mpi_bsend_: send to OTHER size 1000000 tag 1", true, false},
		{"standard", "", "MPI_Send: send to OTHER size 1000000 tag 1", false, false},
		{"synchronous", "", "MPI_Ssend: send to OTHER size 1000000 tag 1", false, false},
		{"nonblocking synchronous", "", "MPI_Issend: send to OTHER size 1000000 tag 1 request 1", false, false},
		{"nonblocking", "", "MPI_Ibsend: send to OTHER size 1000000 tag 1 request 1", true, false},
		{"persistent", "MPI_Bsend_init", "MPI_Start: send to OTHER size 1000000 tag 1 request 1", true, false},
		{"persistent standard", "MPI_Send_init", "MPI_Start: send to OTHER size 1000000 tag 1 request 1", false, false},
		{"persistent mixed", "MPI_Send_init MPI_Bsend_init", "MPI_Startall: send to OTHER size 1000000 tag 1 request 1", false, true},
		{"persistent mixed, told apart", "MPI_Send_init MPI_Bsend_init", "MPI_Startall: send to OTHER size 1000000 tag 1 request 1; sent 1",
			true, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text := "slackline trace 1\nunit us\n"
			for rank := range 2 {
				other := string(rune('1' - rank))
				text += "rank " + string(rune('0'+rank)) + "\n0..1 MPI_Init\n"
				for _, call := range strings.Fields(tc.prepare) {
					text += "1..1 " + call + "\n"
				}
				text += "1..2 " + strings.ReplaceAll(tc.call, "OTHER", other) + "\n"
				text += "2..3 MPI_Recv: recv from " + other + " size 1000000 tag 1\n"
				if strings.Contains(tc.call, "request") && !strings.Contains(tc.call, "sent") {
					text += "3..4 MPI_Wait: sent 1\n"
				}
				text += "4..5 MPI_Finalize\n"
			}
			p, err := New(tracetest.Timeline(t, text), Options{})
			if err != nil {
				t.Fatal(err)
			}
			var b schedule.Block
			sends := 0
			for rank := range 2 {
				for step := range p.Steps(rank) {
					p.Block(rank, step, &b)
					for i := range b.Ops {
						if op := &b.Ops[i]; op.Kind == schedule.Send {
							sends++
							if op.IsBuffered() != tc.buffered {
								t.Errorf("rank %d: buffered = %v, want %v", rank, op.IsBuffered(), tc.buffered)
							}
						} else if op.IsBuffered() {
							t.Errorf("rank %d: a %s is buffered", rank, op.Kind)
						}
					}
				}
			}
			if sends != 2 {
				t.Errorf("%d sends, want 2", sends)
			}
			if got := p.Report().MixedStarts > 0; got != tc.mixed {
				t.Errorf("mixed starts: %d", p.Report().MixedStarts)
			}
			if got, want := p.Report().Synchronous == 2, strings.Contains(tc.name, "synchronous"); got != want {
				t.Errorf("%d synchronous sends are reported", p.Report().Synchronous)
			}
		})
	}
}
