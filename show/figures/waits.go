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
	for rank, t := range r.ByRank() {
		for k, d := range []unit.Duration{t.Amount, t.Delay, t.Direct, t.Indirect, t.Propagating, t.Terminal} {
			list[k].Times[rank] = d
		}
	}
	return list
}
