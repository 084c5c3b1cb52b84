package scaling

import (
	"testing"
)

// BenchmarkFit fits 1,000 call paths on one core: the cells of the reference,
// over and over.
func BenchmarkFit(b *testing.B) {
	for _, cell := range []string{"p6-g05", "p8-none", "k8-g05", "pq-g05", "pq-none"} {
		b.Run("cell="+cell, func(b *testing.B) {
			d := load(b, "cases/"+cell+".json")
			const paths = 1000
			for b.Loop() {
				m := modeler(b, d, Options{})
				for i := range paths {
					if _, err := m.fit(d.Series[i%len(d.Series)]); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(paths*float64(b.N)/b.Elapsed().Seconds(), "callpaths/s")
		})
	}
}
