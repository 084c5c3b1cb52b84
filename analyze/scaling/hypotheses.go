package scaling

import (
	"math"
	"slices"
)

// maxColumns is how many columns a hypothesis can have: a constant and a term of each parameter.
const maxColumns = maxParameters + 1

// hypothesis is a set of columns that may explain the measurements.
type hypothesis struct {
	group   int32
	k       int8 // columns
	plain   bool
	prior   float64           // ln
	columns [maxColumns]int32 // of the design; -1: none
}

var noColumns = [maxColumns]int32{-1, -1, -1, -1}

// newHypothesis returns a hypothesis with its columns.
func newHypothesis(group int, plain bool, prior float64, columns ...int32) hypothesis {
	h := hypothesis{group: int32(group), k: int8(len(columns)), plain: plain, prior: prior, columns: noColumns}
	copy(h.columns[:], columns)
	return h
}

// group are the hypotheses with the same lead terms.
type group struct {
	leads [maxParameters]Term // by parameter
	form  Form
}

// of returns the leads of the parameters there are.
func (g *group) of(parameters []string) []Term { return slices.Clone(g.leads[:len(parameters)]) }

// Shares of the prior: plain hypotheses of a group that has others too.
const (
	plainShare    = 0.7
	extendedShare = 0.3
	oddityWeight  = 0.5
)

// workspace holds what one fit needs and the next one can use again.
type workspace struct {
	w, w2      []float64
	fits       []fitted
	score      []float64
	weight     []float64 // of groups
	candidates []int32
	scratch    [8][]float64
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// weigh turns the fits of the hypotheses into weights. It returns the variance v that was assumed in the end; the scores
// of the hypotheses that count are in ws.score at the places ws.candidates, as
// weights that sum up to 1, and the weights of the groups in ws.weight.
//
// A hypothesis is left out early if its score is certain to be below that of
// another one by more than farBelow: the weight of all such together is far
// below the precision of the numbers.
func (ws *workspace) weigh(hyps []hypothesis, groups int, c *sample, prune bool) (v float64, ok bool) {
	n := float64(len(c.value))
	b, bp := math.Inf(1), math.Inf(1)
	var nearest [maxColumns + 1]int // by number of columns, the hypothesis with the smallest chi
	for k := range nearest {
		nearest[k] = -1
	}
	for i := range ws.fits {
		if !ws.fits[i].finite() {
			ws.fits[i] = dropped
			continue
		}
		chi := ws.fits[i].chi
		h := &hyps[i]
		mean := chi / (n - float64(h.k))
		b = min(b, mean)
		if h.plain {
			bp = min(bp, mean)
		}
		if j := nearest[h.k]; j < 0 || chi < ws.fits[j].chi {
			nearest[h.k] = i
		}
	}
	if math.IsInf(b, 1) {
		return 0, false
	}
	like := likelihood{v: max(tinyVariance, bp), add: n * tinyVariance, half: (n - 2) / 2}
	if c.nu > 0 && bp <= jobNoise*c.v {
		like.v = max(c.v, b)
		like.add, like.half = c.nu*like.v, (c.nu+n)/2
	} else if math.IsInf(bp, 1) {
		like.v = max(tinyVariance, b)
	}
	column := math.Log(2*math.Pi*like.v) / 2 // what each column costs
	score := func(i int) float64 {
		f, h := ws.fits[i], &hyps[i]
		return -like.half*math.Log(like.add+f.chi) - math.Log(f.det)/2 + float64(h.k)*column + h.prior
	}
	top := math.Inf(-1)
	for _, i := range nearest {
		if i >= 0 {
			top = max(top, score(i))
		}
	}
	lowest := math.Inf(-1)
	if prune {
		lowest = top - farBelow
	}
	best := 0.0
	ws.candidates = ws.candidates[:0]
	ws.score = resize(ws.score, len(hyps))
	for i := range ws.fits {
		f, h := ws.fits[i], &hyps[i]
		if math.IsInf(f.chi, 1) || -like.half*lnBelow(like.add+f.chi)-lnBelow(f.det)/2+float64(h.k)*column+h.prior < lowest {
			continue
		}
		s := score(i)
		ws.score[i] = s
		ws.candidates = append(ws.candidates, int32(i))
		if len(ws.candidates) == 1 || s > best {
			best = s
		}
	}
	ws.normalise(hyps, groups, best)
	return like.v, true
}

// lnBelow returns a number that is not above ln(x), and below it by less than
// 0.7: it takes the exponent of a positive number alone.
func lnBelow(x float64) float64 {
	return float64(int(math.Float64bits(x)>>52)-1023) * math.Ln2
}

// likelihood is the marginal likelihood as a function of chi, with its constants.
type likelihood struct{ v, add, half float64 }

const (
	farBelow = 50.0 // e^-50 times the number of hypotheses is far below the precision
	jobNoise = 10.0 // misfit over scatter from which on noise is taken as common to all repetitions of a point
)

// normalise turns scores into weights.
func (ws *workspace) normalise(hyps []hypothesis, groups int, top float64) {
	sum := 0.0
	for _, i := range ws.candidates {
		w := math.Exp(ws.score[i] - top)
		ws.score[i] = w
		sum += w
	}
	ws.weight = resize(ws.weight, groups)
	clear(ws.weight)
	for _, i := range ws.candidates {
		ws.score[i] /= sum
		ws.weight[hyps[i].group] += ws.score[i]
	}
}

// choose returns the group with the largest weight, the first among equals, and
// its heaviest hypothesis.
func (ws *workspace) choose(hyps []hypothesis) (lead int32, chosen int) {
	for g, w := range ws.weight {
		if w > ws.weight[lead] {
			lead = int32(g)
		}
	}
	chosen = -1
	heaviest := 0.0
	for _, i := range ws.candidates {
		if w := ws.score[i]; hyps[i].group == lead && w > heaviest {
			chosen, heaviest = int(i), w
		}
	}
	return lead, chosen
}
