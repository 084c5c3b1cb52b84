package changes

import (
	"math/rand/v2"
	"slices"
	"sync"
)

// null is how the statistics are distributed if nothing changes. Ranks do not depend on how values are distributed, so
// neither do the statistics: one table for each number of values is enough.
type null struct {
	level, bump, scale []float64 // ascending
	least              []float64 // smallest of the probabilities of the three, ascending
}

// draws is the number of random orders in a table.
const draws = 9_999

// nullSeed is the seed of the tables.
const nullSeed = 31

var nulls sync.Map // of functions that return a *null, by number of values

// nullOf returns the table for n values.
func nullOf(n int) *null {
	make, ok := nulls.Load(n)
	if !ok {
		make, _ = nulls.LoadOrStore(n, sync.OnceValue(func() *null { return newNull(n) }))
	}
	return make.(func() *null)()
}

func newNull(n int) *null {
	scores, sums := make([]float64, n), make([]float64, n+1)
	for i := range scores {
		scores[i] = quantile(float64(i+1) / float64(n+1))
	}
	m := momentsOf(scores)
	random := rand.New(rand.NewPCG(nullSeed, uint64(n)))
	all := make([]statistics, draws)
	t := &null{level: make([]float64, draws), bump: make([]float64, draws), scale: make([]float64, draws), least: make([]float64, draws)}
	for i := range all {
		random.Shuffle(n, func(a, b int) { scores[a], scores[b] = scores[b], scores[a] })
		all[i] = measure(scores, sums, m)
		t.level[i], t.bump[i], t.scale[i] = all[i].level, all[i].bump, all[i].scale
	}
	slices.Sort(t.level)
	slices.Sort(t.bump)
	slices.Sort(t.scale)
	for i, s := range all {
		t.least[i] = min(t.tail(t.level, s.level), t.tail(t.bump, s.bump), t.tail(t.scale, s.scale))
	}
	slices.Sort(t.least)
	return t
}

// tolerance is the relative difference of statistics that is due to rounding.
const tolerance = 1e-9

// tail is the probability of a statistic of at least v.
func (t *null) tail(sorted []float64, v float64) float64 {
	at, _ := slices.BinarySearch(sorted, v*(1-tolerance))
	return float64(1+len(sorted)-at) / float64(1+len(sorted))
}

// tailOfLeast is the probability that the smallest of the three is at most p.
func (t *null) tailOfLeast(p float64) float64 {
	at, _ := slices.BinarySearch(t.least, p*(1+tolerance))
	return float64(1+at) / float64(1+len(t.least))
}
