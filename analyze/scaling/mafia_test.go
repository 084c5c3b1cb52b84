package scaling

import (
	"fmt"
	"math/bits"
	"testing"
)

// The kernels of a subspace clustering after MAFIA: candidates are all sets of up
// to k dimensions, as bits of a number. What they do with them is as costly as
// the paper says of the original: dedup k^4 2^k, pcount k 2^k; gen is expected at
// k^3 2^k, but takes k^4 2^k since it puts each dimension in order among the others; unjoin
// is expected at k^3 2^k and gives up early, at k^2 2^k. Each returns the number
// of its innermost steps, which has no noise, and a sum that keeps the compiler
// from leaving the work out.
//
// docs/studies/scaling.md is made from
//
//	go test -run - -bench Mafia -benchtime 20ms -count 5 ./analyze/scaling

// generate joins each set with each pair of dimensions, and finds the place of each dimension in the joined set by counting those
// before it.
func generate(k int) (steps, sum int) {
	for set := range 1 << k {
		for i := range k {
			for j := range k {
				joined := set | 1<<i | 1<<j
				for d := range k {
					place := 0
					for before := range k {
						steps++
						if before < d {
							place += joined >> before & 1
						}
					}
					sum += place * (joined >> d & 1)
				}
			}
		}
	}
	return steps, sum
}

// deduplicate looks in each joined set for each dimension among all others.
func deduplicate(k int) (steps, sum int) {
	for set := range 1 << k {
		for i := range k {
			for j := range k {
				joined := set | 1<<i | 1<<j
				for d := range k {
					for e := range k {
						steps++
						sum += joined >> d & (joined >> e) & 1
					}
				}
			}
		}
	}
	return steps, sum
}

// countPoints counts the dimensions of each set.
func countPoints(k int) (steps, sum int) {
	for set := range 1 << k {
		for d := range k {
			steps++
			sum += set >> d & 1
		}
	}
	return steps, sum
}

// unjoin looks in each set, without each pair of dimensions, for one that is left;
// most sets show it at once.
func unjoin(k int) (steps, sum int) {
	for set := range 1 << k {
		for i := range k {
			for j := range k {
				rest := set &^ (1<<i | 1<<j)
				for d := range k {
					steps++
					if rest>>d&1 == 1 || rest == 0 {
						sum += bits.TrailingZeros(uint(set) + 1)
						break
					}
				}
			}
		}
	}
	return steps, sum
}

var mafiaKernels = []struct {
	name string
	run  func(k int) (steps, sum int)
}{{"gen", generate}, {"dedup", deduplicate}, {"pcount", countPoints}, {"unjoin", unjoin}}

var mafiaSum int

func BenchmarkMafia(b *testing.B) {
	for _, kernel := range mafiaKernels {
		for k := 3; k <= 14; k++ {
			b.Run(fmt.Sprintf("%s/k=%d", kernel.name, k), func(b *testing.B) {
				steps := 0
				for b.Loop() {
					var sum int
					steps, sum = kernel.run(k)
					mafiaSum += sum
				}
				b.ReportMetric(float64(steps), "steps/op")
			})
		}
	}
}

// TestMafia judges the steps of the kernels as Table 4 of the paper does, and the
// times that were measured once.
func TestMafia(t *testing.T) {
	d := load(t, "mafia.txt")
	for _, tc := range []struct{ function, expect, rank, metric string }{
		{"gen", "O(k^3 2^k)", "approximate", "steps/op"},
		{"dedup", "O(k^4 2^k)", "total", "steps/op"},
		{"pcount", "O(k 2^k)", "total", "steps/op"},
		{"unjoin", "O(k^3 2^k)", "approximate", "steps/op"},
		{"gen", "O(k^3 2^k)", "", "ns/op"},
		{"dedup", "O(k^4 2^k)", "", "ns/op"},
		{"pcount", "O(k 2^k)", "", "ns/op"},
		{"unjoin", "O(k^3 2^k)", "", "ns/op"},
	} {
		x := expect(t, tc.function, tc.expect, "")
		x.Metric = tc.metric
		r, err := Judge(&Expectations{Checks: []*Expectation{x}}, d, Options{})
		if err != nil {
			t.Fatal(err)
		}
		c := r.Checks[0]
		if c.Verdict != Pass || tc.rank != "" && c.Rank.String() != tc.rank {
			t.Errorf("%s %s: %s, rank %s, %s", tc.function, tc.metric, c.Verdict, c.Rank, &c.Fit.Model)
		}
		t.Logf("%s %s: %s, rank %s, confidence %.2f, divergence %s",
			tc.function, tc.metric, &c.Fit.Model, c.Rank, c.Fit.Confidence, c.Delta[0].landau("k"))
	}
	for _, kernel := range mafiaKernels {
		steps, _ := kernel.run(5)
		s := d.Find(kernel.name, "steps/op")
		if s == nil || s.Points[2].At[0] != 5 || s.Points[2].Values[0] != float64(steps) {
			t.Errorf("%s: %d steps at k = 5 are not those of mafia.txt", kernel.name, steps)
		}
	}
}
