package profile

import "slackline/model/unit"

// Efficiency are the POP efficiencies: how much of the run time of all ranks is useful computation, and what the
// rest is due to. Parallel = LoadBalance x Communication; Communication = Serialization x Transfer.
type Efficiency struct {
	Parallel      float64 `json:"parallel_efficiency"`      // average useful time / run time
	LoadBalance   float64 `json:"load_balance"`             // average / maximum of the useful times
	Communication float64 `json:"communication_efficiency"` // maximum of the useful times / run time
	Serialization float64 `json:"serialisation_efficiency"` // maximum of the useful times / ideal run time
	Transfer      float64 `json:"transfer_efficiency"`      // ideal run time / run time

	Ideal         unit.Duration `json:"ideal_s"`           // run time on an ideal network
	Estimated     bool          `json:"ideal_is_estimate"` // Ideal is the estimate: the most that a rank computes and waits
	AverageUseful unit.Duration `json:"average_useful_s"`
	MaxUseful     unit.Duration `json:"max_useful_s"`
	RunTime       unit.Duration `json:"-"` // without the time when recording was off, the mean over ranks
}

// useful returns the computation time of every rank: outside of MPI and of the OpenMP runtime, the mean over its
// threads while they lived.
func (p *Profile) useful() []unit.Duration {
	useful := make([]unit.Duration, p.Timeline.Ranks)
	for i := range p.Entries {
		if e := &p.Entries[i]; p.kindOf(e.Path) == Computation {
			useful[e.Rank] += e.Exclusive
		}
	}
	for r, threads := range p.threadsOf() {
		useful[r] = unit.Duration(float64(useful[r]) / threads)
	}
	return useful
}

// Efficiency returns the efficiencies of the run. Ideal is its run time on an ideal network (no latency, no cost
// per byte); 0 takes the estimate from the waiting times. It is cut to the run time and the most useful work.
func (p *Profile) Efficiency(ideal unit.Duration, waiting []WaitTime) *Efficiency {
	useful := p.useful()
	runTime, weights := p.recorded()
	e := &Efficiency{RunTime: runTime, Ideal: ideal, Estimated: ideal == 0}
	if len(useful) == 0 || e.RunTime <= 0 {
		return e
	}
	for r := range weights {
		useful[r] = weighted(useful[r], weights[r])
	}
	for _, u := range useful {
		e.AverageUseful += u
		e.MaxUseful = max(e.MaxUseful, u)
	}
	average := float64(e.AverageUseful) / float64(len(useful))
	e.AverageUseful /= unit.Duration(len(useful))
	if e.Estimated {
		e.Ideal = p.estimate(useful, waiting, weights)
	}
	e.Ideal = min(max(e.Ideal, e.MaxUseful), e.RunTime)
	e.Parallel = average / float64(e.RunTime)
	e.LoadBalance = quotient(average, float64(e.MaxUseful))
	e.Communication = float64(e.MaxUseful) / float64(e.RunTime)
	e.Serialization = quotient(float64(e.MaxUseful), float64(e.Ideal))
	e.Transfer = float64(e.Ideal) / float64(e.RunTime)
	return e
}

// estimate is the most that a rank computes and waits.
func (p *Profile) estimate(useful []unit.Duration, waiting []WaitTime, weights []float64) unit.Duration {
	waits := make([]unit.Duration, len(useful))
	for _, w := range waiting {
		waits[w.Rank] += w.Time
	}
	most := unit.Duration(0)
	for r, threads := range p.threadsOf() {
		wait := unit.Duration(float64(waits[r]) / threads)
		if weights != nil {
			wait = weighted(wait, weights[r])
		}
		most = max(most, useful[r]+wait)
	}
	return most
}

// recorded is the mean of the times that ranks were recorded, and what the times of each rank are to be multiplied with to
// compare those that were recorded for longer or shorter; nil: all were recorded from start to end.
func (p *Profile) recorded() (mean unit.Duration, weights []float64) {
	run, threads := p.RunTime(), p.threadsOf()
	ranks := locationsByRank(p.Timeline)
	times := make([]unit.Duration, len(ranks))
	cut, sum, count := false, unit.Duration(0), unit.Duration(0)
	for r, locations := range ranks {
		if len(locations) == 0 {
			continue
		}
		times[r] = run - unit.Duration(float64(p.Unrecorded[r])/threads[r])
		cut = cut || p.Unrecorded[r] > 0
		sum += times[r]
		count++
	}
	if !cut || count == 0 {
		return run, nil
	}
	mean = sum / count
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
