package profile

import "slackline/model/unit"

// Efficiency are the POP efficiencies: how much of the run time of all ranks is useful computation, and what the
// rest is due to. Parallel = LoadBalance x Communication; Communication = Serialisation x Transfer.
type Efficiency struct {
	RunTime       unit.Duration
	AverageUseful unit.Duration
	MaxUseful     unit.Duration
	Ideal         unit.Duration // run time on an ideal network
	Estimated     bool          // Ideal is the estimate: the most that a rank computes and waits

	Parallel      float64 // average useful time / run time
	LoadBalance   float64 // average / maximum of the useful times
	Communication float64 // maximum of the useful times / run time
	Serialisation float64 // maximum of the useful times / ideal run time
	Transfer      float64 // ideal run time / run time
}

// Useful returns the computation time of every rank: outside of MPI and of the OpenMP runtime, the mean over its
// threads while they lived.
func (p *Profile) Useful() []unit.Duration {
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
	useful := p.Useful()
	e := &Efficiency{RunTime: p.RunTime(), Ideal: ideal, Estimated: ideal == 0}
	if len(useful) == 0 || e.RunTime <= 0 {
		return e
	}
	for _, u := range useful {
		e.AverageUseful += u
		e.MaxUseful = max(e.MaxUseful, u)
	}
	average := float64(e.AverageUseful) / float64(len(useful))
	e.AverageUseful /= unit.Duration(len(useful))
	if e.Estimated {
		e.Ideal = p.estimate(useful, waiting)
	}
	e.Ideal = min(max(e.Ideal, e.MaxUseful), e.RunTime)
	e.Parallel = average / float64(e.RunTime)
	e.LoadBalance = quotient(average, float64(e.MaxUseful))
	e.Communication = float64(e.MaxUseful) / float64(e.RunTime)
	e.Serialisation = quotient(float64(e.MaxUseful), float64(e.Ideal))
	e.Transfer = float64(e.Ideal) / float64(e.RunTime)
	return e
}

// estimate is the most that a rank computes and waits.
func (p *Profile) estimate(useful []unit.Duration, waiting []WaitTime) unit.Duration {
	waits := make([]unit.Duration, len(useful))
	for _, w := range waiting {
		waits[w.Rank] += w.Time
	}
	most := unit.Duration(0)
	for r, threads := range p.threadsOf() {
		most = max(most, useful[r]+unit.Duration(float64(waits[r])/threads))
	}
	return most
}

// quotient is a/b; nothing out of nothing is perfect.
func quotient(a, b float64) float64 {
	if b == 0 {
		return 1
	}
	return a / b
}
