package scaling

import (
	"context"
	"math"

	"slackline/internal/cluster"
	"slackline/model/dataset"
)

// Stability is how often each verdict comes out if the measurements of an
// expectation are resampled.
type Stability struct {
	Resamples int
	Failed    int    // resamples without a model; they count as inconclusive
	Count     [3]int // by verdict: Pass, Inconclusive, Fail
}

// Share is the share of resamples with a verdict.
func (s *Stability) Share(v Verdict) float64 { return float64(s.Count[v]) / float64(s.Resamples) }

// Resample finds out how sure the verdicts of the expectations are: the
// measurements of each one are resampled, see Resampling, and judged again. Rules
// and what has no model, or doubt about it, have no stability. The group does not count.
func (r *Report) Resample(ctx context.Context, d *dataset.Dataset, o Options, how Resampling) error {
	m, err := newModeler(d.Parameters, o)
	if err != nil {
		return err
	}
	var judged []*judgedSeries
	for _, c := range r.Checks {
		if c.Fit == nil || c.Fit.Doubt != "" {
			continue
		}
		s := &judgedSeries{check: c, resampledSeries: resampledSeries{fit: c.Fit}}
		if s.draws, err = newResampler(c.Fit); err != nil {
			continue
		}
		s.named(&dataset.Series{CallPath: c.Fit.CallPath, Metric: c.Fit.Metric})
		c.Stability = &Stability{Resamples: how.Resamples}
		judged = append(judged, s)
	}
	blocks := (how.Resamples + resamplesAtOnce - 1) / resamplesAtOnce
	done := 0
	work := func(_ context.Context, i int) ([]byte, error) {
		first := i % blocks * resamplesAtOnce
		return judged[i/blocks].judge(m, how.Seed, first, min(first+resamplesAtOnce, how.Resamples))
	}
	take := func(i int, verdicts []byte) error {
		s := judged[i/blocks].check.Stability
		for _, v := range verdicts {
			if v == noVerdict {
				s.Failed++
				v = byte(Inconclusive)
			}
			s.Count[v]++
		}
		if done += len(verdicts); how.Progress != nil {
			how.Progress(done, len(judged)*how.Resamples)
		}
		return nil
	}
	return cluster.Tasks(ctx, cluster.Alone(), len(judged)*blocks, how.Threads, work, take)
}

// judgedSeries is an expectation with what the resamples of its series have in
// common.
type judgedSeries struct {
	resampledSeries
	check *Check
}

// noVerdict is the verdict of a resample without a model.
const noVerdict = 255

// judge returns the verdicts on resamples from .. to-1.
func (s *judgedSeries) judge(m *Modeler, seed uint64, from, to int) ([]byte, error) {
	original := s.check
	series := &dataset.Series{CallPath: s.fit.CallPath, Metric: s.fit.Metric, Unit: s.fit.Unit}
	verdicts := make([]byte, 0, to-from)
	for b := from; b < to; b++ {
		c := &s.newSpace().sample
		s.draws.draw(resampleRandom(seed, s.name, b), c.reps)
		c.equal, c.weird = true, s.fit.sample.weird
		again := &Check{
			Expectation: original.Expectation, Limits: original.Limits, Floor: math.NaN(), Wall: math.NaN(), twoSided: original.twoSided,
		}
		err := c.checkValues()
		if err == nil {
			c.aggregate(m.aggregate())
			again.Fit, err = m.fitSample(series, c, original.further)
		}
		if err != nil {
			verdicts = append(verdicts, noVerdict)
			continue
		}
		again.weigh()
		if err := again.predict(); err != nil {
			return nil, err
		}
		again.judge()
		verdicts = append(verdicts, byte(again.Verdict))
	}
	return verdicts, nil
}
