package waits

import (
	"fmt"

	"slackline/cli/env"
	"slackline/cli/phrase"
	"slackline/show/figures"
)

// draw draws maps of waits and delays by rank.
func (r *WaitsReport) draw(a *env.Env, path string, inputs []string) error {
	tl := r.Run.Timeline
	return a.Draw(path, inputs, figures.RankMaps(tl, figures.WaitTimes(r.Result, tl.Ranks), 0), "Wait states of "+r.Run.Name+r.Run.Where(),
		fmt.Sprintf("%s, run time %s, waiting %s", phrase.SizeOf(tl), (tl.End-tl.Start).Short(), r.Result.Totals.Waiting.Amount.Short()))
}
