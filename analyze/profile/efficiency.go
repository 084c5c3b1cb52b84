package profile

import "slackline/model/unit"

// Efficiency are the POP efficiencies: how much of the run time of all ranks is useful computation, and what the
// rest is due to. Parallel = LoadBalance x Communication; Communication = Serialization x Transfer. If Ideal is an estimate and some
// MPI time was not analyzed, there is one more factor, which is neither: Communication = Serialization x NotAnalyzed x Transfer.
type Efficiency struct {
	Parallel      float64 `json:"parallel_efficiency"`      // average useful time of the ranks that were read / run time
	LoadBalance   float64 `json:"load_balance"`             // average / maximum of the useful times
	Communication float64 `json:"communication_efficiency"` // maximum of the useful times / run time
	Serialization float64 `json:"serialisation_efficiency"` // maximum of the useful times / ideal run time
	Transfer      float64 `json:"transfer_efficiency"`      // ideal run time / run time; without what was not analyzed
	NotAnalyzed   float64 `json:"not_analyzed_factor"`      // what MPI time that was not analyzed leaves; 1: there is none

	Ideal         unit.Duration `json:"ideal_s"`           // run time on an ideal network
	Estimated     bool          `json:"ideal_is_estimate"` // Ideal is the estimate: the most that a rank computes and waits
	AverageUseful unit.Duration `json:"average_useful_s"`
	MaxUseful     unit.Duration `json:"max_useful_s"`
	RunTime       unit.Duration `json:"-"` // without the time when recording was off, the mean over ranks
}

// useful returns the computation time of every rank: outside of MPI and of the OpenMP runtime, without waiting for accelerators, the mean
// over its threads while they lived.
func (p *Profile) useful(waiting []WaitTime) []unit.Duration {
	sums := make([]unit.Sum, p.Timeline.Ranks)
	for i := range p.Entries {
		if e := &p.Entries[i]; p.kindOf(e.Path) == Computation {
			sums[e.Rank].AddSum(e.Exclusive)
		}
	}
	for _, w := range waiting {
		if p.kindUnder(w) == Computation {
			sums[w.Rank] = sums[w.Rank].Minus(w.Time)
		}
	}
	useful := make([]unit.Duration, len(sums))
	for r, threads := range p.threadsOf() {
		useful[r] = unit.Duration(sums[r].Float() / threads)
	}
	return useful
}

// Efficiency returns the efficiencies of the run. Ideal is its run time on an ideal network (no latency, no cost
// per byte); 0 takes the estimate from the waiting times. It is cut to the run time and the most useful work.
func (p *Profile) Efficiency(ideal unit.Duration, waiting []WaitTime) *Efficiency {
	useful := p.useful(waiting)
	runTime, weights := p.recorded()
	e := &Efficiency{RunTime: runTime, Ideal: ideal, Estimated: ideal == 0}
	ranks := len(p.Timeline.RanksRead())
	if ranks == 0 || e.RunTime <= 0 {
		return e
	}
	for r := range weights {
		useful[r] = weighted(useful[r], weights[r])
	}
	sum := unit.Sum{}
	for _, u := range useful {
		sum.Add(u)
		e.MaxUseful = max(e.MaxUseful, u)
	}
	average := sum.Float() / float64(ranks)
	e.AverageUseful = sum.Mean(ranks).Duration()
	within := func(d unit.Duration) unit.Duration { return min(max(d, e.MaxUseful), e.RunTime) }
	before := e.Ideal // the network takes the time after it
	if e.Estimated {
		e.Ideal, before = p.estimate(useful, waiting, weights)
	}
	e.Ideal, before = within(e.Ideal), within(before)
	e.Parallel = average / float64(e.RunTime)
	e.LoadBalance = quotient(average, float64(e.MaxUseful))
	e.Communication = float64(e.MaxUseful) / float64(e.RunTime)
	e.Serialization = quotient(float64(e.MaxUseful), float64(e.Ideal))
	e.NotAnalyzed = quotient(float64(e.Ideal), float64(before))
	e.Transfer = float64(before) / float64(e.RunTime)
	return e
}

// estimate is the most that a rank computes and waits, and the same with the time that was not analyzed.
func (p *Profile) estimate(useful []unit.Duration, waiting []WaitTime, weights []float64) (known, all unit.Duration) {
	waits, unknown := make([]unit.Sum, len(useful)), make([]unit.Sum, len(useful))
	for _, w := range waiting {
		if w.Unknown {
			unknown[w.Rank].AddSum(w.Time)
		} else {
			waits[w.Rank].AddSum(w.Time)
		}
	}
	for r, threads := range p.threadsOf() {
		ofThread := func(sum unit.Sum) unit.Duration {
			d := unit.Duration(sum.Float() / threads)
			if weights != nil {
				d = weighted(d, weights[r])
			}
			return d
		}
		wait := useful[r] + ofThread(waits[r])
		known, all = max(known, wait), max(all, wait+ofThread(unknown[r]))
	}
	return known, all
}

// recorded is the mean of the times that ranks were recorded, and what the times of each rank are to be multiplied with to
// compare those that were recorded for longer or shorter; nil: all were recorded from start to end.
func (p *Profile) recorded() (mean unit.Duration, weights []float64) {
	run, threads := p.RunTime(), p.threadsOf()
	ranks := locationsByRank(p.Timeline)
	times := make([]unit.Duration, len(ranks))
	cut, sum, count := false, unit.Sum{}, 0
	for r, locations := range ranks {
		if len(locations) == 0 {
			continue
		}
		times[r] = run - unit.Duration(p.Unrecorded[r].Float()/threads[r])
		cut = cut || p.Unrecorded[r].Sign() > 0
		sum.Add(times[r])
		count++
	}
	if !cut || count == 0 {
		return run, nil
	}
	mean = sum.Mean(count).Duration()
	weights = make([]float64, len(ranks))
	for r := range weights {
		if times[r] > 0 {
			weights[r] = float64(mean) / float64(times[r])
		}
	}
	return mean, weights
}

func weighted(d unit.Duration, weight float64) unit.Duration {
	return unit.Duration(float64(d) * weight)
}

// quotient is a/b; nothing out of nothing is perfect.
func quotient(a, b float64) float64 {
	if b == 0 {
		return 1
	}
	return a / b
}
