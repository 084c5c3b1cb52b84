package scaling

import (
	"math"
	"math/rand/v2"
	"slices"
)

// resampler makes measurements that might as well have been made: the same
// points with as many repetitions, and values where the truth may be, as far as
// the noise allows, with that noise put on them again.
//
// The noise is multiplicative and the same at all points, as the choice of a
// model assumes, so the deviations of all points are drawn from together. How
// large it is, is known only as well as that many deviations allow: each resample
// draws that, too.
type resampler struct {
	sample *sample
	kind   resampling
	base   []float64 // by point: what deviations are put on
	pool   []float64 // deviations: logarithms, or excesses over the minimum
	free   float64   // degrees of freedom of the pool
}

// resampling is what is drawn again.
type resampling int

const (
	fromRepetitions resampling = iota // deviations of repetitions from the mean of their point
	fromExcesses                      // excesses of repetitions over the minimum of their point
	fromResiduals                     // distances of the points from the model
)

// String describes what is drawn, for people and in JSON.
func (r resampling) String() string { return [...]string{"repetitions", "excesses", "residuals"}[r] }

// newResampler prepares the resampling of the measurements of a fit.
func newResampler(f *Fit) (*resampler, error) {
	c := f.sample
	r := &resampler{sample: c}
	switch {
	case c.equal:
		return r, nil // nothing is known of noise: every resample is the same
	case c.nu == 0 || f.misfit() > jobNoise*c.v:
		return r, r.useResiduals(f)
	case c.noise.Kind == noiseOneSided && c.minima:
		r.useExcesses()
	default:
		r.useRepetitions()
	}
	return r, nil
}

// misfit is the mean square of the relative distance between the model and the
// points, by degree of freedom.
func (f *Fit) misfit() float64 {
	sum := 0.0
	for i, a := range f.Values {
		d := f.Model.Eval(f.At[i]...)/a - 1
		sum += d * d
	}
	return sum / f.freedom()
}

// freedom is the number of points that the terms of the model leave.
func (f *Fit) freedom() float64 { return float64(max(len(f.Values)-len(f.Model.Terms), 1)) }

// useResiduals draws the distances of points from the model: there are no
// repetitions, or they have noise in common.
func (r *resampler) useResiduals(f *Fit) error {
	r.kind, r.free = fromResiduals, f.freedom()
	mean := 0.0
	for i, a := range f.Values {
		g := f.Model.Eval(f.At[i]...)
		if !(g > 0) {
			return unusable("the model is %g at a measured point, so that nothing can be resampled around it; use the method evidence", g)
		}
		r.base = append(r.base, g)
		r.pool = append(r.pool, math.Log(a/g))
		mean += r.pool[i] / float64(len(f.Values))
	}
	wide := math.Sqrt(float64(len(r.pool)) / r.free)
	for i := range r.pool {
		r.pool[i] = (r.pool[i] - mean) * wide
	}
	return nil
}

// useRepetitions draws the deviations of repetitions from the mean of their
// point, wider by what the mean takes of them.
func (r *resampler) useRepetitions() {
	r.kind, r.free = fromRepetitions, r.sample.nu
	for _, reps := range r.sample.reps {
		n := float64(len(reps))
		logs, sum := 0.0, 0.0
		for _, y := range reps {
			logs += math.Log(y) / n
			sum += y / n
		}
		r.base = append(r.base, sum)
		if len(reps) < 2 {
			continue
		}
		wide := math.Sqrt(n / (n - 1))
		for _, y := range reps {
			r.pool = append(r.pool, (math.Log(y)-logs)*wide)
		}
	}
}

// useExcesses draws the excesses of repetitions over the minimum of their point.
// Those of noise without memory are distributed as the noise itself.
func (r *resampler) useExcesses() {
	r.kind, r.free = fromExcesses, r.sample.nu
	for _, reps := range r.sample.reps {
		r.base = append(r.base, reps[0])
		for _, y := range reps[1:] {
			r.pool = append(r.pool, y/reps[0]-1)
		}
	}
}

// draw makes a resample; values has room for as many repetitions as there are.
func (r *resampler) draw(random *rand.Rand, values [][]float64) {
	switch {
	case r.pool == nil:
		for i, reps := range r.sample.reps {
			copy(values[i], reps)
		}
	case r.kind == fromExcesses:
		r.drawExcesses(random, values)
	default:
		r.drawDeviations(random, values)
	}
	for i := range values {
		slices.Sort(values[i])
	}
}

// drawDeviations puts deviations on the means, or on the model.
func (r *resampler) drawDeviations(random *rand.Rand, values [][]float64) {
	wide := math.Sqrt(r.free / chiSquare(random, r.free))
	one := 0.0 // the mean of all factors: they shall change no mean
	for _, d := range r.pool {
		one += math.Exp(d*wide) / float64(len(r.pool))
	}
	deviation := func() float64 { return math.Exp(r.pool[random.IntN(len(r.pool))]*wide) / one }
	for i := range values {
		if r.kind == fromResiduals { // the repetitions of a point go along
			factor := r.base[i] * deviation() / r.sample.value[i]
			for j, y := range r.sample.reps[i] {
				values[i][j] = factor * y
			}
			continue
		}
		for j := range values[i] {
			values[i][j] = r.base[i] * deviation()
		}
	}
}

// drawExcesses takes from each minimum what it may itself be above the truth,
// which is the smallest of that many excesses.
func (r *resampler) drawExcesses(random *rand.Rand, values [][]float64) {
	wide := 2 * r.free / chiSquare(random, 2*r.free)
	excess := func() float64 { return r.pool[random.IntN(len(r.pool))] * wide }
	for i := range values {
		smallest := math.Inf(1)
		for range values[i] {
			smallest = min(smallest, excess())
		}
		low := r.base[i] / (1 + smallest)
		values[i][0] = low
		for j := 1; j < len(values[i]); j++ {
			values[i][j] = low * (1 + excess())
		}
	}
}

// chiSquare draws from the distribution of the sum of so many squares of normal
// numbers.
func chiSquare(random *rand.Rand, free float64) float64 {
	const many = 400 // from which on it is normal enough
	if free > many {
		return max(free+math.Sqrt(2*free)*random.NormFloat64(), free/2)
	}
	sum := 0.0
	for range int(free) / 2 {
		sum += 2 * random.ExpFloat64()
	}
	if int(free)%2 == 1 {
		x := random.NormFloat64()
		sum += x * x
	}
	return max(sum, math.SmallestNonzeroFloat64*1e10)
}
