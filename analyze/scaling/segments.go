package scaling

import (
	"cmp"
	"math"
	"slices"
)

// Segments are two laws, one below and one above a value of the parameter, which
// together explain the measurements better than one law: a step, or a switch of
// the algorithm.
type Segments struct {
	Ratio  float64 // evidence for two laws over that for one
	Before float64 // the last point of the lower segment
	After  float64 // the first point of the upper one
	Lower  Segment
	Upper  Segment
}

// Segment is a law on a part of the range.
type Segment struct {
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	Lead  Term    `json:"lead"`
	Model Model   `json:"formula"`
}

// What is asked of segments before they are believed.
const (
	segmentPoints = 5
	segmentRatio  = 100
	sidesKept     = 12 // hypotheses of each side that are combined
	mostSplits    = 64 // places that are tried: all between up to 73 points, then equally far apart
)

// side are the plain hypotheses of one side of a split.
type side struct {
	design *design1
	sample *sample
	fits   []fitted
	best   float64 // smallest chi
	keep   []int
}

// segments looks for two laws. It returns nil if one law is enough, if there are
// fewer than ten points, or several parameters.
func (m *Modeler) segments(f *Fit) *Segments {
	c := f.sample
	n := len(c.value)
	whole, ok := f.design.(*design1)
	if !ok || n < 2*segmentPoints {
		return nil
	}
	ws := m.spaces.Get().(*workspace)
	defer m.spaces.Put(ws)
	var splits [][2]side
	step := (n-2*segmentPoints)/mostSplits + 1
	for cut := segmentPoints; cut <= n-segmentPoints; cut += step {
		splits = append(splits, [2]side{m.newSide(ws, c, 0, cut), m.newSide(ws, c, cut, n)})
	}
	for s := range splits {
		splits[s][0].rescale(c, whole)
		splits[s][1].rescale(c, whole)
	}
	f.design.fit(ws, c)
	hyps, _ := f.design.list()
	like := commonLikelihood(ws, hyps, c, splits)
	one := logSum{}
	for i, fit := range ws.fits {
		if !math.IsInf(fit.chi, 1) {
			one.add(like.score(fit.chi, fit.det, int(hyps[i].k)) + hyps[i].prior)
		}
	}
	two := logSum{}
	best, cut, left, right := math.Inf(-1), -1, 0, 0
	for s := range splits {
		l, r := &splits[s][0], &splits[s][1]
		l.choose(like, r.best)
		r.choose(like, l.best)
		for _, i := range l.keep {
			for _, j := range r.keep {
				a, b, ha, hb := l.fits[i], r.fits[j], &l.design.hyps[i], &r.design.hyps[j]
				score := like.score(a.chi+b.chi, a.det*b.det, int(ha.k+hb.k)) + ha.prior + hb.prior - math.Log(float64(len(splits)))
				two.add(score)
				if score > best {
					best, cut, left, right = score, s, i, j
				}
			}
		}
	}
	ratio := math.Exp(min(two.value()-one.value(), 700))
	if cut < 0 || !(ratio > segmentRatio) {
		return nil
	}
	l, r := &splits[cut][0], &splits[cut][1]
	at := segmentPoints + cut*step
	return &Segments{
		Ratio: ratio, Before: c.at[at-1][0], After: c.at[at][0],
		Lower: l.segment(f, left, c.at[0][0], c.at[at-1][0]), Upper: r.segment(f, right, c.at[at][0], c.at[n-1][0]),
	}
}

// newSide fits the plain hypotheses to a part of the points.
func (m *Modeler) newSide(ws *workspace, c *sample, from, to int) side {
	part := &sample{at: c.at[from:to], value: c.value[from:to]}
	d := m.design(part, nil).(*design1)
	d.fit(ws, part)
	s := side{design: d, sample: part, fits: slices.Clone(ws.fits), best: math.Inf(1)}
	for i := range s.fits {
		if !d.hyps[i].plain {
			s.fits[i] = dropped
		}
		s.best = min(s.best, s.fits[i].chi)
	}
	return s
}

// rescale gives the determinants the units of the part or of the whole, whatever
// is less evidence for two laws. In the units of the parts, two laws would win wherever
// the values span many magnitudes, since one law must place its small constant
// among large values; in those of the whole, steep laws would be cheap on the lower
// part.
func (s *side) rescale(c *sample, whole *design1) {
	ratio := slices.Max(c.value) / slices.Max(s.sample.value)
	factors := make([]float64, len(s.design.terms))
	for i, t := range s.design.terms {
		if j := slices.Index(whole.terms, t); j >= 0 {
			factors[i] = max(1, s.design.scale[i]/whole.scale[j]*ratio)
		}
	}
	for i := range s.fits {
		h := &s.design.hyps[i]
		for _, column := range h.columns[:h.k] {
			s.fits[i].det *= factors[column] * factors[column]
		}
		if !(s.fits[i].det > 0) {
			s.fits[i] = dropped // no candidate for all points
		}
	}
}

// choose keeps the hypotheses of a side that can count, given how well the other
// side can be fitted.
func (s *side) choose(like likelihood, other float64) {
	score := make([]float64, len(s.fits))
	s.keep = s.keep[:0]
	for i, f := range s.fits {
		if !math.IsInf(f.chi, 1) {
			s.keep = append(s.keep, i)
			score[i] = like.score(f.chi+other, f.det, int(s.design.hyps[i].k)) + s.design.hyps[i].prior
		}
	}
	slices.SortStableFunc(s.keep, func(a, b int) int { return cmp.Compare(score[b], score[a]) })
	s.keep = s.keep[:min(len(s.keep), sidesKept)]
}

func (s *side) segment(f *Fit, hypothesis int, from, to float64) Segment {
	h := &s.design.hyps[hypothesis]
	part := &Fit{Parameters: f.Parameters, Values: s.sample.value}
	return Segment{From: from, To: to, Lead: s.design.groups[h.group].leads[0], Model: part.solved(s.design, h)}
}

// commonLikelihood decides on one variance for both alternatives, so that they
// can be compared: that of the repetitions if one of them agrees with it.
func commonLikelihood(ws *workspace, hyps []hypothesis, c *sample, splits [][2]side) likelihood {
	n := float64(len(c.value))
	b, bp := math.Inf(1), math.Inf(1)
	for i, f := range ws.fits {
		mean := f.chi / (n - float64(hyps[i].k))
		b = min(b, mean)
		if hyps[i].plain {
			bp = min(bp, mean)
		}
	}
	for s := range splits {
		// Two columns on each side, as most have.
		mean := (splits[s][0].best + splits[s][1].best) / (n - 4)
		b, bp = min(b, mean), min(bp, mean)
	}
	if c.nu > 0 && bp <= jobNoise*c.v {
		v := max(c.v, b)
		return likelihood{v: v, add: c.nu * v, half: (c.nu + n) / 2}
	}
	return likelihood{v: max(tinyVariance, bp), add: n * tinyVariance, half: (n - 2) / 2}
}

// score is the evidence of a fit, without its prior.
func (l likelihood) score(chi, det float64, k int) float64 {
	return -l.half*math.Log(l.add+chi) - math.Log(det)/2 + float64(k)/2*math.Log(2*math.Pi*l.v)
}

// logSum sums numbers given by their logarithms.
type logSum struct {
	top, sum float64
	any      bool
}

func (s *logSum) add(x float64) {
	switch {
	case !s.any:
		s.top, s.sum, s.any = x, 1, true
	case x > s.top:
		s.sum = s.sum*math.Exp(s.top-x) + 1
		s.top = x
	default:
		s.sum += math.Exp(x - s.top)
	}
}

func (s *logSum) value() float64 {
	if !s.any {
		return math.Inf(-1)
	}
	return s.top + math.Log(s.sum)
}
