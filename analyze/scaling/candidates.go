package scaling

import "slices"

// The candidates of the evidence method.
var (
	growing       = growingTerms()
	decreasing    = powers(-1, [][2]int64{{1, 4}, {1, 3}, {1, 2}, {2, 3}, {3, 4}, {1, 1}, {4, 3}, {3, 2}, {2, 1}})
	decreasingFew = powers(-1, [][2]int64{{1, 2}, {2, 3}, {1, 1}}) // with several parameters
	exponentials  = exponentialTerms()
	second        = secondTerms()

	severalCandidates = slices.Concat(growing, decreasingFew) // of each of several parameters
)

// maxExponential is the largest measured value of a parameter with which
// exponentials are candidates.
const maxExponential = 64

func growingTerms() []Term {
	var list []Term
	for _, row := range []struct{ num, den, first, last int64 }{
		{0, 1, 1, 2}, {1, 4, 0, 2}, {1, 3, 0, 2}, {1, 2, 0, 2}, {2, 3, 0, 2}, {3, 4, 0, 2}, {1, 1, 0, 2},
		{5, 4, 0, 1}, {4, 3, 0, 1}, {3, 2, 0, 2}, {5, 3, 0, 0}, {7, 4, 0, 0}, {2, 1, 0, 2}, {9, 4, 0, 0},
		{7, 3, 0, 0}, {5, 2, 0, 2}, {8, 3, 0, 0}, {11, 4, 0, 0}, {3, 1, 0, 1},
	} {
		for c := row.first; c <= row.last; c++ {
			list = append(list, Term{Poly: newRat(row.num, row.den), Log: newRat(c, 1)})
		}
	}
	return list
}

func powers(sign int64, exponents [][2]int64) []Term {
	var list []Term
	for _, e := range exponents {
		list = append(list, Term{Poly: newRat(sign*e[0], e[1])})
	}
	return list
}

func exponentialTerms() []Term {
	var list []Term
	for _, e := range []Rat{newRat(1, 2), newRat(1, 1), newRat(2, 1)} {
		for a := int64(0); a <= 4; a++ {
			list = append(list, Term{Exp: e, Poly: newRat(a, 1)})
		}
	}
	return list
}

func secondTerms() []Term {
	one := newRat(1, 1)
	list := []Term{{Log: one}, {Log: newRat(2, 1)}}
	list = append(list, powers(1, [][2]int64{{1, 3}, {1, 2}, {2, 3}, {1, 1}})...)
	list = append(list, Term{Poly: one, Log: one})
	return append(list, powers(1, [][2]int64{{3, 2}, {2, 1}})...)
}

// candidates1 are the leads with one parameter: the common ones and further ones,
// without those that are there already and without the constant.
func candidates1(largest float64, further []Term) []Term {
	list := slices.Concat(growing, decreasing)
	if largest <= maxExponential {
		list = append(list, exponentials...)
	}
	for _, t := range further {
		if t != (Term{}) && !slices.Contains(list, t) {
			list = append(list, t)
		}
	}
	return list
}
