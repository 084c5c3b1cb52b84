package waits

import "slackline/analyze/profile"

// Profile returns the call-path profile of the run.
func (r *Result) Profile() *profile.Profile {
	return profile.With(r.Timeline, r.Paths, r.a.windows, profile.Options{Threads: r.a.threads})
}

// WaitTimes returns the waiting times in the form that a composition takes.
func (r *Result) WaitTimes() []profile.WaitTime {
	var list []profile.WaitTime
	for i := range r.Waits {
		w := &r.Waits[i]
		if w.Metric != WrongOrder {
			list = append(list, profile.WaitTime{Name: w.Metric.String(), Rank: w.Rank, Path: w.Path, Time: w.Amount, Idle: w.Metric == OpenMPIdle})
		}
	}
	return list
}
