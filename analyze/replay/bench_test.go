package replay

import (
	"fmt"
	"runtime"
	"testing"

	"slackline/analyze/simulate"
	"slackline/model/machine"
	"slackline/model/schedule"
)

// eventsPerRound are the events of a rank in a round of ring: enter and leave of six calls, four
// records of messages, one of a collective.
const eventsPerRound = 17

func BenchmarkNew(b *testing.B) {
	const ranks, rounds = 16, 10_000
	tl := ring(ranks, rounds)
	for _, threads := range []int{1, 2} {
		for _, denoise := range []bool{false, true} {
			b.Run(fmt.Sprintf("threads=%d/denoise=%v", threads, denoise), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := New(tl, Options{Threads: threads, Denoise: denoise, Quantile: DefaultQuantile}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(eventsPerRound*ranks*rounds)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
			})
		}
	}
}

// BenchmarkBlocks asks a program for all its blocks, as a simulation does.
func BenchmarkBlocks(b *testing.B) {
	const recorded, rounds = 16, 20
	tl := ring(recorded, rounds)
	for _, ranks := range []int{16, 16_384} {
		b.Run(fmt.Sprintf("ranks=%d", ranks), func(b *testing.B) {
			p, err := New(tl, Options{Ranks: ranks})
			if err != nil {
				b.Fatal(err)
			}
			var block schedule.Block
			ops := 0
			for b.Loop() {
				for rank := range ranks {
					for step := range p.Steps(rank) {
						p.Block(rank, step, &block)
						ops += len(block.Ops)
					}
				}
			}
			b.ReportMetric(float64(ops)/b.Elapsed().Seconds(), "ops/s")
		})
	}
}

// BenchmarkExtrapolation simulates a run of 16 ranks as one of many, and says how much memory that
// takes for each rank.
func BenchmarkExtrapolation(b *testing.B) {
	tl := ring(16, 20)
	for _, ranks := range []int{4096, 16_384} {
		b.Run(fmt.Sprintf("ranks=%d", ranks), func(b *testing.B) {
			messages, largest := int64(0), uint64(0)
			for b.Loop() {
				p, err := New(tl, Options{Ranks: ranks})
				if err != nil {
					b.Fatal(err)
				}
				result, err := simulate.Run(b.Context(), p, cluster(machine.NoLimit), simulate.Options{})
				if err != nil {
					b.Fatal(err)
				}
				messages += result.Messages
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				largest = max(largest, m.HeapInuse)
			}
			b.ReportMetric(float64(messages)/b.Elapsed().Seconds(), "messages/s")
			b.ReportMetric(float64(largest)/float64(ranks), "heap-B/rank")
		})
	}
}
