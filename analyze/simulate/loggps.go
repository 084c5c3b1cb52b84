package simulate

import (
	"fmt"

	"slackline/analyze/tolerance"
	"slackline/model/machine"
	"slackline/model/timeline"
)

// runModelLogGPS evaluates the static model once. Its rules and its evaluation are those of
// tolerance.Schedule.
func (r *run) runModelLogGPS() (*Result, error) {
	if r.noise != nil {
		return nil, fmt.Errorf("the model %s has no noise and no delays; use the model %s", LogGPS, LogGOPS)
	}
	s, err := tolerance.Prepare(r.program, r.options.Mapping, r.layout.Machine.Gamma)
	if err != nil {
		return nil, err
	}
	network := tolerance.Network{Layout: r.layout}
	var finish *tolerance.Finish
	var calls *timeline.Timeline
	if r.options.Calls {
		times, err := s.Times(network)
		if err != nil {
			return nil, err
		}
		if to := retimerOf(r.program); to != nil {
			finish, calls = &times.Finish, r.staticTimes(times, to)
		} else {
			finish, calls = &times.Finish, r.staticCalls(times)
		}
	} else if finish, err = s.Finish(network); err != nil {
		return nil, err
	}
	result := &Result{
		Finish:   finish.Ranks,
		Messages: int64(finish.Messages),
		Ops:      int64(finish.Ops),
		Engine:   "static",
		Threads:  1,
		Queues:   Queues{Rendezvous: int64(finish.Rendezvous)},
		Calls:    calls,
	}
	for _, t := range finish.Ranks {
		result.Makespan = max(result.Makespan, t)
	}
	for c := range machine.Class(machine.NumClasses) {
		if r.layout.Occurs(c) && r.layout.Machine.Classes[c].CPUByte > 0 && finish.Messages > 0 {
			result.Warnings = append(result.Warnings, fmt.Sprintf("O has no influence on the result: it is not part of the model %s", LogGPS))
			break
		}
	}
	return result, nil
}
