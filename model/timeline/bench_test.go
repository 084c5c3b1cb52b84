package timeline

import (
	"fmt"
	"testing"

	"slackline/model/unit"
)

// benchCalls is a loop as programs have it: a user function with some MPI calls.
func benchCalls(l *LocationBuilder, regions []RegionID, n int) {
	t := unit.Duration(0)
	l.Enter(t, regions[0])
	for i := 0; i < n; i += len(regions) {
		for _, r := range regions[1:] {
			t += 10
			l.Enter(t, r)
			t += 10
			l.Leave(t)
		}
	}
	l.Leave(t)
}

func BenchmarkCalls(b *testing.B) {
	for _, reserve := range []bool{false, true} {
		b.Run(fmt.Sprintf("reserve=%v", reserve), func(b *testing.B) {
			const n = 1 << 20
			b.ReportAllocs()
			for b.Loop() {
				builder := NewBuilder(1)
				var regions []RegionID
				for range 8 {
					regions = append(regions, builder.Region(Region{Name: "f"}))
				}
				l := builder.Location(0, 0, "", "")
				if reserve {
					l.Reserve(n)
				}
				benchCalls(l, regions, n)
				builder.Finish(1)
			}
			b.ReportMetric(2*n*float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

// BenchmarkMessages is a halo exchange: every rank with four others, by blocking or non-blocking
// calls.
func BenchmarkMessages(b *testing.B) {
	for _, ranks := range []int{64, 1024} {
		for _, blocking := range []bool{true, false} {
			b.Run(fmt.Sprintf("ranks=%d/blocking=%v", ranks, blocking), func(b *testing.B) {
				const total = 1 << 20
				var matching int64
				b.ReportAllocs()
				for b.Loop() {
					builder := haloBuilder(ranks, total/4/ranks, blocking)
					before := b.Elapsed()
					if n := len(builder.Finish(1).Messages); n != total {
						b.Fatalf("%d messages, want %d", n, total)
					}
					matching += int64(b.Elapsed() - before)
				}
				b.ReportMetric(total*float64(b.N)/b.Elapsed().Seconds(), "messages/s")
				b.ReportMetric(total*float64(b.N)/(float64(matching)/1e9), "matched/s")
			})
		}
	}
}

func haloBuilder(ranks, steps int, blocking bool) *Builder {
	b := NewBuilder(ranks)
	call := b.Region(Region{Name: "MPI_Waitall"})
	members := make([]int32, ranks)
	for r := range members {
		members[r] = int32(r)
	}
	world := b.Comm(Comm{Members: members})
	for r := range ranks {
		l := b.Location(r, 0, "", "")
		t := unit.Duration(0)
		peers := [4]int32{int32((r + 1) % ranks), int32((r + ranks - 1) % ranks), int32((r + 8) % ranks), int32((r + ranks - 8) % ranks)}
		for i := range steps {
			l.Enter(t, call)
			for j, p := range peers {
				t++
				if blocking {
					l.Send(t, p, world, int32(j), 100)
					l.Recv(t, peers[j^1], world, int32(j), 100)
				} else {
					l.Post(t, uint64(8*i+j))
					l.Isend(t, p, world, int32(j), 100, uint64(8*i+j+4))
				}
			}
			if !blocking {
				for j := range peers {
					l.IrecvDone(t, peers[j^1], world, int32(j), 100, uint64(8*i+j))
					l.IsendDone(t, uint64(8*i+j+4))
				}
			}
			l.Leave(t)
		}
	}
	return b
}

// BenchmarkUnseen is a thread whose messages are all recorded, beside many that each did something unseen on the same channel.
func BenchmarkUnseen(b *testing.B) {
	for _, threads := range []int{2, 2000} {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
			const messages = 200_000
			for b.Loop() {
				b.StopTimer()
				builder := NewBuilder(2)
				builder.Region(Region{Name: "MPI_Call", Paradigm: MPI})
				builder.Region(NotRecorded)
				builder.Comm(Comm{Members: []int32{0, 1}})
				for rank := range 2 {
					l := builder.Location(rank, 0, "", "")
					t := unit.Duration(0)
					for range messages {
						t += 10
						l.Enter(t, 0)
						if rank == 0 {
							l.Send(t, 1, 0, 0, 8)
						} else {
							l.Recv(t+5, 0, 0, 0, 8)
						}
						l.Leave(t + 5)
					}
				}
				for i := range threads {
					l := builder.Location(1, 1+i, "", "")
					l.Off(unit.Duration(i), 1)
					l.SkipReceives(unit.Duration(i+1000), 0, 0, 0, 1)
				}
				b.StartTimer()
				builder.Finish(1)
			}
			b.ReportMetric(messages*float64(b.N)/b.Elapsed().Seconds(), "messages/s")
		})
	}
}
