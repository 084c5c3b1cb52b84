package advise

import (
	"fmt"
	"math"
	"slices"

	"slackline/analyze/simulate"
	"slackline/internal/parallel"
	"slackline/internal/phrase"
	"slackline/model/unit"
)

// MinGain is the share of the run time that a change must gain to be ranked, however quiet the machine is.
const MinGain = 0.01

// maxDifference is how much of the difference between the simulated and the measured run counts as noise of the measurement. What differs
// more comes from the machine that was given, not from noise.
const maxDifference = 0.05

// maxIntervals is how many changes are simulated in every repeated run and replica.
const maxIntervals = 8

// findFloor finds the gain below which nothing is ranked.
func (s *search) findFloor() error {
	f := &s.r.Noise
	f.Share, f.Basis = MinGain, []string{fmt.Sprintf("at least %s", percent(MinGain))}
	take := func(share float64, basis string) {
		f.Basis = append(f.Basis, basis)
		f.Share = max(f.Share, share)
	}
	if d := s.r.Difference; d != nil {
		text := fmt.Sprintf("the simulated run differs by %s from the measured one", percent(math.Abs(*d)))
		if math.Abs(*d) > maxDifference {
			text += fmt.Sprintf(", of which %s count", percent(maxDifference))
		}
		take(min(math.Abs(*d), maxDifference), text)
	}
	if len(s.q.Repeats) > 0 {
		var times []unit.Duration
		if s.q.Measured > 0 {
			times = append(times, s.q.Measured)
		}
		for i := range s.q.Repeats {
			if t := s.q.Repeats[i].Measured; t > 0 {
				times = append(times, t)
			}
		}
		if half := halfSpread(times); len(times) > 1 {
			take(half, fmt.Sprintf("%s differ by up to %s from their middle", phrase.Plural(len(times), "run"), percent(half)))
		}
	}
	if s.base.Noise != nil && s.q.Replicas > 1 {
		times := make([]unit.Duration, s.q.Replicas)
		errs := make([]error, s.q.Replicas)
		parallel.Each(s.q.Replicas, s.base.Threads, func(i int) {
			x := s.base
			x.Replica = i
			var result *simulate.Result
			if result, errs[i] = x.Run(s.ctx, simulate.Options{Threads: 1}); errs[i] == nil {
				times[i] = result.Makespan
			}
		})
		for _, err := range errs {
			if err != nil {
				return err
			}
		}
		half := halfSpread(times)
		take(half, fmt.Sprintf("%s of the noise differ by up to %s from their middle", phrase.Plural(len(times), "replica"), percent(half)))
	}
	return nil
}

// halfSpread is by how much times differ from the middle between the smallest and the largest, as a share of that.
func halfSpread(times []unit.Duration) float64 {
	if len(times) == 0 {
		return 0
	}
	low, high := float64(slices.Min(times)), float64(slices.Max(times))
	if high == 0 {
		return 0
	}
	return (high - low) / (high + low)
}

// findIntervals finds out how far the gains can be trusted: with the time that the simulation does not explain, in other runs, with other
// noise.
func (s *search) findIntervals() {
	type other struct {
		base     Scenario
		before   unit.Duration
		measured unit.Duration
	}
	var others []other
	for i := range s.q.Repeats {
		r := &s.q.Repeats[i]
		if t, ok := s.timeOf(r.Scenario, s.base.Threads); ok {
			others = append(others, other{r.Scenario, t, r.Measured})
		}
	}
	runs := len(others)
	if s.base.Noise != nil {
		for replica := 1; replica < s.q.Replicas; replica++ {
			x := s.base
			x.Replica = replica
			if t, ok := s.timeOf(x, s.base.Threads); ok {
				others = append(others, other{x, t, 0})
			}
		}
	}
	number := 0
	s.r.Each(func(a *Advice) {
		number++
		a.Low, a.High = a.Gain, a.Gain
		take := func(g float64) { a.Low, a.High = min(a.Low, g), max(a.High, g) }
		saved := s.runTime - unit.Duration(a.RunTime)
		if s.q.Measured > 0 {
			take(float64(saved) / float64(s.q.Measured))
			a.Basis = append(a.Basis, "the difference between the simulated and the measured run")
		}
		if number > maxIntervals || s.grant(len(others)) < len(others) {
			return
		}
		for i := range others {
			o := &others[i]
			t, ok := s.timeOf(o.base, s.base.Threads, a.Change)
			if !ok {
				continue
			}
			take(gainOf(o.before, t))
			if o.measured > 0 {
				take(float64(o.before-t) / float64(o.measured))
			}
		}
		if runs > 0 {
			a.Basis = append(a.Basis, phrase.Plural(runs+1, "recorded run"))
		}
		if n := len(others) - runs; n > 0 {
			a.Basis = append(a.Basis, phrase.Plural(n+1, "replica")+" of the noise")
		}
	})
}
