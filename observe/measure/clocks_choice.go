package measure

import (
	"math/rand/v2"
	"slices"
)

// Choice is what stopping after N pings that were not shorter gives: how many pings that takes, and by how much
// the shortest one is longer than the shortest of all that were ever seen, on average.
type Choice struct {
	Patience int     `json:"n"`
	Pings    float64 `json:"pings"`
	Excess   float64 `json:"above_shortest_percent"`
	Quarter  float64 `json:"lowest_quarter_percent"` // the same excess of the mean of the shortest quarter of as many pings
}

const (
	choiceRuns = 1000
	mostChoice = 20000 // pings of a run
)

// patiences are the values of N that are tried.
var patiences = []int{1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000}

// choices finds out by drawing from measured round trips what N is worth. It always gives the
// same for the same round trips.
func choices(trips []float64) []Choice {
	if len(trips) == 0 {
		return nil
	}
	shortest := slices.Min(trips)
	var list []Choice
	for _, n := range patiences {
		r := rand.New(rand.NewPCG(uint64(n), 6))
		c := Choice{Patience: n}
		var drawn []float64
		for range choiceRuns {
			drawn = drawn[:0]
			best, since := trips[r.IntN(len(trips))], 0
			drawn = append(drawn, best)
			for since < n && len(drawn) < mostChoice {
				t := trips[r.IntN(len(trips))]
				drawn = append(drawn, t)
				since++
				if t < best {
					best, since = t, 0
				}
			}
			c.Pings += float64(len(drawn)) / choiceRuns
			if shortest > 0 {
				c.Excess += (best - shortest) / shortest / choiceRuns
				c.Quarter += (quarterMean(drawn) - shortest) / shortest / choiceRuns
			}
		}
		c.Excess, c.Quarter = 100*c.Excess, 100*c.Quarter
		list = append(list, c)
	}
	return list
}

// quarterMean is the mean of the lowest quarter; it sorts the values.
func quarterMean(values []float64) float64 {
	slices.Sort(values)
	n := max(len(values)/4, 1)
	sum := 0.0
	for _, v := range values[:n] {
		sum += v
	}
	return sum / float64(n)
}
