// Package scaling finds out how measurements grow with their parameters, and
// judges that against what was expected.
//
// A model is a sum of few terms 2^(e x) x^a log2(x)^c with positive coefficients.
// Two methods choose one: the paper's (least squares, adjusted R2), and the
// default, which compares all hypotheses by the weight of the evidence and
// thereby has its own confidence. The package does not measure, read or print; the
// numbers come as a dataset, the results go as values.
package scaling

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"slackline/internal/phrase"
	"slackline/internal/stat"
	"slackline/model/dataset"
)

// Method is how a model is chosen among the hypotheses.
type Method int

// The methods.
const (
	Evidence Method = iota // marginal likelihood of relative residuals
	Paper                  // least squares and adjusted R2, one parameter
)

// Aggregate is how the repetitions of a point become one number.
type Aggregate int

// The aggregates.
const (
	Auto Aggregate = iota // as the noise asks for; the first quartile for Paper
	Mean
	Minimum
	Median
	FirstQuartile
)

// MinPoints is the number of distinct values of a parameter below which no model
// is believed.
const MinPoints = 5

// sample are the measurements of a series, ready to be fitted: its points in
// ascending order, one number each, and how much that number may be off.
type sample struct {
	at     [][]float64 // by point, then by parameter
	value  []float64   // aggregates
	noise  Noise
	equal  bool // all values are the same
	minima bool // the aggregates are minima
	nu     float64
	v      float64 // variance of a relative aggregate, from the repetitions
	weird  string  // why no conclusion may be drawn although a fit is possible
	reps   [][]float64
	params int
}

// Noise is what the repetitions show of the noise of a series.
type Noise struct {
	Kind  string  // "unknown" (no repetitions), "exact", "symmetric" or "one-sided"
	Sigma float64 // relative scatter of one repetition: its standard deviation, or the mean excess over the minimum
}

// The kinds of noise.
const (
	noiseUnknown   = "unknown"
	noiseExact     = "exact"
	noiseSymmetric = "symmetric"
	noiseOneSided  = "one-sided"
)

// tinyVariance is the square of the relative error that is assumed even of exact
// values.
const tinyVariance = 1e-12

// ErrUnusable is wrapped by the errors of series that cannot be modeled.
var ErrUnusable = errors.New("no model")

func unusable(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnusable, fmt.Sprintf(format, args...))
}

// newSample checks the measurements of a series and aggregates them.
func newSample(s *dataset.Series, parameters int, agg Aggregate) (*sample, error) {
	points := make([]dataset.Point, 0, len(s.Points))
	for _, p := range s.Points {
		if len(p.Values) > 0 {
			points = append(points, p)
		}
	}
	slices.SortFunc(points, func(a, b dataset.Point) int { return slices.Compare(a.At, b.At) })
	c := &sample{equal: true, params: parameters}
	for _, p := range points {
		for _, x := range p.At {
			if !(x > 0) || math.IsInf(x, 0) {
				return nil, unusable("a parameter is %g; give values above 0", x)
			}
			if x < minParameter || x > maxParameter {
				return nil, unusable("a parameter is %g; give values from %g to %g", x, minParameter, maxParameter)
			}
			if x < 1 {
				c.weird = fmt.Sprintf("a parameter is %g, below 1, where logarithms are negative", x)
			}
		}
		if len(p.At) != parameters {
			return nil, unusable("a point has %d coordinates, but there are %d parameters", len(p.At), parameters)
		}
		c.at = append(c.at, p.At)
		c.reps = append(c.reps, stat.Sorted(p.Values))
	}
	if len(points) == 0 {
		return nil, unusable("there are no measurements")
	}
	if err := c.checkValues(); err != nil {
		return nil, err
	}
	c.aggregate(agg)
	return c, nil
}

// checkValues looks at all repetitions: at least one point has one.
func (c *sample) checkValues() error {
	first := c.reps[0][0]
	bad := math.NaN()
	low, high := math.Inf(1), math.Inf(-1)
	for _, reps := range c.reps {
		for _, y := range reps {
			if math.IsNaN(y) || math.IsInf(y, 0) {
				return unusable("a value is %g; leave out what was not measured", y)
			}
			if y != first {
				c.equal = false
			}
			low, high = min(low, y), max(high, y)
			if y <= 0 {
				bad = y
			}
		}
	}
	if !c.equal && !math.IsNaN(bad) {
		return unusable("a value is %g; only values above 0 can be modeled", bad)
	}
	if !c.equal && (low < minValue || high > maxValue || high/low > mostRatio) {
		return unusable("the values reach from %g to %g; they can be modeled from %g to %g, the largest at most %g times the smallest",
			low, high, minValue, maxValue, mostRatio)
	}
	return nil
}

// What can be computed with: fits are relative, so within these bounds none of their squares, products and determinants
// leaves the range of the numbers, and nothing that anybody measures lies outside.
const (
	minValue, maxValue         = 1e-300, 1e302
	mostRatio                  = 1e30
	minParameter, maxParameter = 1e-15, 1e18
)

// aggregate finds out what kind of noise the repetitions have and reduces them to
// one number per point.
func (c *sample) aggregate(agg Aggregate) {
	n := len(c.reps)
	total, lnR := 0, 0.0
	means, mins := make([]float64, n), make([]float64, n)
	s2, th := 0.0, 0.0
	for i, reps := range c.reps {
		total += len(reps)
		lnR += math.Log(float64(len(reps)))
		mins[i] = reps[0]
		for _, y := range reps {
			means[i] += y / float64(len(reps))
		}
		if means[i] == 0 {
			continue // all values are 0: equal
		}
		for _, y := range reps {
			d := y/means[i] - 1
			s2 += d * d
			th += y/mins[i] - 1
		}
	}
	c.nu = float64(total - n)
	r := float64(total) / float64(n)
	if c.nu > 0 {
		s2, th = s2/c.nu, th/c.nu
	}
	c.value, c.v, c.minima = means, 0, false
	switch {
	case c.nu == 0:
		c.noise = Noise{Kind: noiseUnknown}
	case s2 < tinyVariance:
		c.noise = Noise{Kind: noiseExact}
	default:
		symmetric := -c.nu/2*(math.Log(2*math.Pi*s2)+1) - lnR/2
		oneSided := -c.nu*(math.Log(th)+1) - lnR
		if oneSided > symmetric {
			c.noise = Noise{noiseOneSided, th}
			c.value, c.v, c.minima = mins, th/r*(th/r), true
		} else {
			c.noise = Noise{noiseSymmetric, math.Sqrt(s2)}
			c.v = s2 / r
		}
	}
	c.override(agg, means, mins, s2, th, r)
	c.v = max(c.v, tinyVariance)
}

// override takes the aggregate that the user wants.
func (c *sample) override(agg Aggregate, means, mins []float64, s2, th, r float64) {
	// How much less than the mean the quantiles of a normal sample make of its values.
	const medianLoss, quartileLoss = math.Pi / 2, 1.86
	known := c.noise.Kind == noiseSymmetric || c.noise.Kind == noiseOneSided
	set := func(values []float64, v float64) {
		c.value = values
		if known {
			c.v = v
		}
	}
	quantile := func(p float64) []float64 {
		q := make([]float64, len(c.reps))
		for i, reps := range c.reps {
			q[i] = stat.Quantile(reps, p)
		}
		return q
	}
	c.minima = agg == Minimum || agg == Auto && c.minima
	switch agg {
	case Mean:
		set(means, s2/r)
	case Minimum:
		set(mins, th/r*(th/r))
	case Median:
		set(quantile(0.5), medianLoss*s2/r)
	case FirstQuartile:
		set(quantile(0.25), quartileLoss*s2/r)
	}
}

// distinct returns the number of distinct values of a parameter.
func (c *sample) distinct(parameter int) int {
	var values []float64
	for _, at := range c.at {
		values = append(values, at[parameter])
	}
	slices.Sort(values)
	return len(slices.Compact(values))
}

// doubt reports why no conclusion may be drawn from the sample; empty: one may.
func (c *sample) doubt(parameters []string) string {
	for i, name := range parameters {
		if n := c.distinct(i); n < MinPoints {
			return fmt.Sprintf("%s of %s; at least %d are needed", phrase.Plural(n, "distinct value"), name, MinPoints)
		}
	}
	for i, name := range parameters {
		if len(parameters) < 3 {
			break // all candidates are combined with all others, on whatever points
		}
		longest := 0
		for _, l := range c.lines(i) {
			longest = max(longest, len(l))
		}
		if longest < MinPoints {
			return fmt.Sprintf("no more than %s of %s with the other parameters unchanged; at least %d are needed",
				phrase.Plural(longest, "value"), name, MinPoints)
		}
	}
	return c.weird
}

// largest returns the largest measured value of each parameter.
func (c *sample) largest() []float64 {
	top := slices.Clone(c.at[0])
	for _, at := range c.at {
		for i, x := range at {
			top[i] = max(top[i], x)
		}
	}
	return top
}
