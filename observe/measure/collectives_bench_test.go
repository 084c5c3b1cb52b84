package measure

import (
	"context"
	"testing"

	"slackline/observe/mpi/mpitest"
)

// BenchmarkCollectiveTable measures a full table: 12 operations, 4 sizes, 2 ranks, 100 repetitions.
func BenchmarkCollectiveTable(b *testing.B) {
	for _, l := range mpitest.Libraries(b) {
		b.Run(string(l.Kind), func(b *testing.B) {
			o := DefaultCollectives()
			o.Operations, _ = ParseOperations([]string{UsualOperations})
			o.Sizes, o.Launches = []int{8, 1 << 10, 8 << 10, 64 << 10}, 1
			points := 0
			for b.Loop() {
				c, err := MeasureCollectives(context.Background(), starterOf(l), o)
				if err != nil {
					b.Fatal(err)
				}
				points += len(c.Points)
			}
			b.ReportMetric(float64(points)/b.Elapsed().Seconds(), "points/s")
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/table")
		})
	}
}
