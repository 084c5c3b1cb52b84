package whatif

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"slackline/model/noise"
)

// Bottleneck looks for the process count at which noise becomes the bottleneck: where the median
// slowdown reaches a threshold.
type Bottleneck struct {
	Series            // its counts are not used
	Threshold float64 // of the median slowdown, above 1
	From, To  int     // process counts between which it is looked for
	Precise   bool    // bisect down to one part in a hundred, not only to a factor of two
	JobSize   int     // how much must the noise shrink to stay below the threshold here? 0: not asked
}

// Found is the outcome of a search.
type Found struct {
	Points []Point // what was simulated, by process count
	// Ranks is the smallest process count found at or above the threshold; 0: none is. Below is the
	// largest one below it that was simulated; 0: none is.
	Ranks, Below int
	Relief       *Relief // with JobSize; nil: not asked or not reached
}

// Relief is how much the noise must shrink so that a job stays below the threshold.
type Relief struct {
	JobSize  int     `json:"ranks"`
	Slowdown float64 `json:"slowdown"`        // median, with the noise as it is
	Needed   bool    `json:"needed"`          // it is at or above the threshold
	Length   Shrink  `json:"length,omitzero"` // if needed: either of them is enough
	Rate     Shrink  `json:"rate,omitzero"`
}

// Shrink is a factor for the lengths or the rate of all detours.
type Shrink struct {
	Factor   float64 `json:"factor"`             // largest one found that is enough; 0: none is
	Above    float64 `json:"not_enough"`         // smallest factor found that is not enough
	Slowdown float64 `json:"slowdown,omitempty"` // median, with this factor
	Noise    string  `json:"noise,omitempty"`    // with the factor
	Probes   int     `json:"-"`                  // factors that were tried
}

// How finely the search ends.
const (
	precision      = 0.01        // of a precise process count
	shrinkFineness = 0.02        // of a factor
	smallestShrink = 1.0 / 65536 // no smaller factor is tried
)

// Find searches. The slowdown is taken to grow with the process count and with the noise; as it
// scatters with the seed and the number of replicas, so does the place that is found. If the search
// is interrupted, it returns what is known so far with the error.
func (b *Bottleneck) Find(ctx context.Context) (*Found, error) {
	if !(b.Threshold > 1) {
		return nil, fmt.Errorf("the threshold must be a slowdown above 1, such as 2, got %g", b.Threshold)
	}
	if b.From < 1 || b.To < b.From {
		return nil, fmt.Errorf("cannot search between %d and %d ranks", b.From, b.To)
	}
	if b.Known == nil {
		b.Known = NewCheckpoint(nil)
	}
	var err error
	if b.trace, err = b.Noise.Trace(); err != nil {
		return nil, err
	}
	f := &Found{}
	if err := b.findCount(ctx, f); err != nil {
		return f, err
	}
	if b.JobSize > 0 {
		if err := b.findRelief(ctx, f); err != nil {
			return f, err
		}
	}
	return f, nil
}

// findCount doubles the process count until the threshold is reached, then bisects.
func (b *Bottleneck) findCount(ctx context.Context, f *Found) error {
	reached := func(ranks int) (bool, error) {
		p, err := b.at(ctx, b.Series, ranks)
		if err != nil {
			return false, err
		}
		f.add(p)
		return p.Distribution().Slowdown.Median >= b.Threshold, nil
	}
	for ranks := b.From; ; ranks = min(2*ranks, b.To) {
		above, err := reached(ranks)
		if err != nil {
			return err
		}
		if above {
			f.Ranks = ranks
			break
		}
		f.Below = ranks
		if ranks == b.To {
			return nil
		}
	}
	if !b.Precise || f.Below == 0 {
		return nil
	}
	for f.Ranks-f.Below > max(1, int(precision*float64(f.Ranks))) {
		middle := f.Below + (f.Ranks-f.Below)/2
		above, err := reached(middle)
		if err != nil {
			return err
		}
		if above {
			f.Ranks = middle
		} else {
			f.Below = middle
		}
	}
	return nil
}

// add puts a point into its place.
func (f *Found) add(p *Point) {
	at, known := slices.BinarySearchFunc(f.Points, p.Ranks, func(q Point, ranks int) int { return q.Ranks - ranks })
	if !known {
		f.Points = slices.Insert(f.Points, at, *p)
	}
}

// at runs one process count of a series.
func (b *Bottleneck) at(ctx context.Context, s Series, ranks int) (*Point, error) {
	s.Counts = []int{ranks}
	points, err := s.Run(ctx)
	if err != nil {
		return nil, err
	}
	if b.Group != nil {
		return sharedByAll(ctx, b.Group, points)
	}
	return &points[0], nil
}

// findRelief looks for the factors at the size of the job.
func (b *Bottleneck) findRelief(ctx context.Context, f *Found) error {
	p, err := b.at(ctx, b.Series, b.JobSize)
	if err != nil {
		return err
	}
	f.add(p)
	r := &Relief{JobSize: b.JobSize, Slowdown: p.Distribution().Slowdown.Median}
	r.Needed = r.Slowdown >= b.Threshold
	if r.Needed && b.Noise.Profile == nil {
		return fmt.Errorf("there is no noise that could shrink, only delays")
	}
	if r.Needed {
		for _, s := range []struct {
			shrink  *Shrink
			factors func(f float64) (length, rate float64)
		}{
			{&r.Length, func(f float64) (float64, float64) { return f, 1 }},
			{&r.Rate, func(f float64) (float64, float64) { return 1, f }},
		} {
			if err := b.findShrink(ctx, p, s.shrink, s.factors); err != nil {
				return err
			}
		}
	}
	f.Relief = r
	return nil
}

// errTooFar reports that noise cannot be described when it is scaled so much: its detours become too rare
// for a trace.
var errTooFar = errors.New("out of range")

// findShrink halves the factor until the slowdown is below the threshold, then bisects on a
// logarithmic scale.
func (b *Bottleneck) findShrink(ctx context.Context, quiet *Point, s *Shrink, factors func(float64) (length, rate float64)) error {
	s.Above = 1
	enough := func(factor float64) (bool, error) {
		profile, err := b.Noise.Profile.Scaled(factors(factor))
		var trace *noise.Detours
		if err == nil {
			trace, err = profile.Detours(b.Noise.Seed)
		}
		if err != nil {
			return false, fmt.Errorf("%w: %w", errTooFar, err)
		}
		series := b.Series
		series.Noise.Profile, series.trace = profile, trace
		series.Known = b.Known.withoutReplicas(quiet.Ranks)
		p, err := b.at(ctx, series, quiet.Ranks)
		if err != nil {
			return false, err
		}
		s.Probes++
		slow := p.Distribution().Slowdown.Median
		if slow >= b.Threshold {
			s.Above = factor
			return false, nil
		}
		s.Factor, s.Slowdown, s.Noise = factor, slow, profile.Spec()
		return true, nil
	}
	for factor := 0.5; ; factor /= 2 {
		ok, err := enough(factor)
		if errors.Is(err, errTooFar) {
			return nil
		}
		if err != nil {
			return err
		}
		if ok {
			break
		}
		if factor <= smallestShrink {
			return nil
		}
	}
	for s.Above/s.Factor > 1+shrinkFineness {
		if _, err := enough(math.Sqrt(s.Above * s.Factor)); err != nil {
			return err
		}
	}
	return nil
}
