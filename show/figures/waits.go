package figures

import (
	"slackline/analyze/waits"
	"slackline/model/unit"
)

// WaitTimes are the waiting times and delay costs of each rank: waiting, delay costs, direct and indirect waits,
// propagating and terminal waits.
func WaitTimes(r *waits.Result, ranks int) []RankTimes {
	var list []RankTimes
	names := []string{"Waiting", "Delay costs", "Direct waits", "Indirect waits", "Propagating waits", "Terminal waits"}
	if r.Forward {
		names = names[:1]
	}
	for _, name := range names {
		list = append(list, RankTimes{name, make([]unit.Sum, ranks)})
	}
	for rank, t := range r.ByRank() {
		for k, d := range []unit.Sum{t.Amount, t.Delay, t.Direct, t.Indirect, t.Propagating, t.Terminal}[:len(list)] {
			list[k].Times[rank] = d
		}
	}
	return list
}
