package pattern

import (
	"testing"

	"slackline/model/schedule"
)

// BenchmarkBlock measures what a program costs an engine per block.
func BenchmarkBlock(b *testing.B) {
	for _, name := range []string{"dissemination", "halo2d", "halo3d", "skeleton", "sweep3d", "amg", "pop", "random-pairs"} {
		b.Run("pattern="+name, func(b *testing.B) {
			p := mustNew(b, name, Params{Ranks: 16384})
			steps := p.Steps(0)
			var block schedule.Block
			rank, step := 0, 0
			b.ReportAllocs()
			for b.Loop() {
				p.Block(rank, step, &block)
				if rank++; rank == 16384 {
					rank, step = 0, (step+1)%steps
				}
			}
		})
	}
}
