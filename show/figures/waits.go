package figures

import (
	"slackline/analyze/waits"
	"slackline/model/unit"
)

// WaitTimes are the waiting times and delay costs of each rank: waiting, delay costs, direct and indirect waits,
// propagating and terminal waits.
func WaitTimes(r *waits.Result, ranks int) []RankTimes {
	var list []RankTimes
	for _, name := range []string{"Waiting", "Delay costs", "Direct waits", "Indirect waits", "Propagating waits", "Terminal waits"} {
		list = append(list, RankTimes{name, make([]unit.Duration, ranks)})
	}
	for i := range r.Waits {
		w := &r.Waits[i]
		if w.Metric == waits.WrongOrder {
			continue // a part of late senders
		}
		for k, d := range []unit.Duration{w.Amount, 0, w.Direct, w.Indirect, w.Propagating, w.Terminal} {
			list[k].Times[w.Rank] += d
		}
	}
	for i := range r.Delays {
		list[1].Times[r.Delays[i].Rank] += r.Delays[i].Sum()
	}
	return list
}
