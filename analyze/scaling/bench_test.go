package scaling

import (
	"math/rand/v2"
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
	for name, points := range map[string][][]float64{"lines": lineDesign(threeAxes), "all": everyPoint(threeAxes)} {
		b.Run("three="+name, func(b *testing.B) {
			d := plantedModels[8].measure(points, 5, 0.05, rand.New(rand.NewPCG(1, 1)))
			for b.Loop() {
				if _, err := modeler(b, d, Options{}).fit(d.Series[0]); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "callpaths/s")
		})
	}
}
