package scaling

import (
	"cmp"
	"math"
	"slices"

	"slackline/internal/stat"
)

// selectedTerms is how many candidates of each parameter are combined with those of the others, with three parameters.
const selectedTerms = 12

// line are the points at which all parameters but one have the same values.
type line []int

// lines returns the points of the sample as lines along a parameter; each point is on one.
func (c *sample) lines(parameter int) []line {
	others := func(i int) []float64 { return slices.Delete(slices.Clone(c.at[i]), parameter, parameter+1) }
	order := stat.Order(len(c.at), func(i, j int) int { return slices.Compare(others(i), others(j)) })
	var list []line
	for k, i := range order {
		if k == 0 || !slices.Equal(others(order[k-1]), others(i)) {
			list = append(list, nil)
		}
		list[len(list)-1] = append(list[len(list)-1], i)
	}
	return list
}

// selectTerms returns the candidates of each parameter that explain the measurements along lines best.
//
// On a line of a parameter every hypothesis is a + b t with the term t of that parameter, whatever its form and its terms
// of other parameters are, since these do not change there. So the best that a and b of its own can do on each line is
// what no hypothesis with this term can surpass.
func (m *Modeler) selectTerms(c *sample) [][]Term {
	most := cmp.Or(m.options.selected, selectedTerms)
	n := float64(len(c.value))
	like := likelihood{add: n * tinyVariance, half: (n - 2) / 2}
	if c.nu > 0 {
		like.add, like.half = c.nu*c.v, (c.nu+n)/2
	}
	selected := make([][]Term, len(m.parameters))
	for p := range selected {
		lines := c.lines(p)
		candidates := newAxis(c.at, p, severalCandidates)
		terms := slices.Clone(candidates.terms)
		score := map[Term]float64{}
		for i, t := range terms {
			chi := 0.0
			for _, l := range lines {
				chi += c.lineMisfit(l, candidates.phi[i], candidates.place)
			}
			score[t] = -like.half*math.Log(like.add+chi) - oddityWeight*float64(t.oddity())
		}
		slices.SortStableFunc(terms, func(a, b Term) int { return cmp.Compare(score[b], score[a]) })
		kept := terms[:min(most, len(terms))]
		selected[p] = slices.DeleteFunc(candidates.terms, func(t Term) bool { return !slices.Contains(kept, t) })
	}
	return selected
}

// lineMisfit returns the smallest sum of squared relative residuals of a + b phi on a line, with a and b not below 0. The
// column phi is given by the place of a point.
func (c *sample) lineMisfit(l line, phi []float64, place []int32) float64 {
	top := 0.0
	for _, i := range l {
		top = max(top, c.value[i])
	}
	column := func(i int) (w, x float64) {
		w = top / c.value[i]
		return w, phi[place[i]] * w
	}
	var g11, g1t, gtt, b1, bt float64
	for _, i := range l {
		w, x := column(i)
		g11, g1t, gtt, b1, bt = g11+w*w, g1t+w*x, gtt+x*x, b1+w, bt+x
	}
	n := float64(len(l))
	residuals := func(a, b float64) float64 {
		chi := 0.0
		for _, i := range l {
			w, x := column(i)
			r := 1 - a*w - b*x
			chi += r * r
		}
		return chi
	}
	if f, a, b := solve2(n, g11, g1t, gtt, b1, bt); f.finite() {
		return residuals(a, b)
	}
	chi := residuals(b1/g11, 0)
	if f, b := solve1(n, gtt, bt); f.finite() {
		chi = min(chi, residuals(0, b))
	}
	return chi
}
