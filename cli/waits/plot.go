package waits

import (
	"fmt"

	"slackline/cli/env"
	"slackline/show/figures"
)

// draw draws maps of waits and delays by rank.
func (r *waitsReport) draw(a *env.Env, path string, inputs []string) error {
	tl := r.run.Timeline
	return a.Draw(path, inputs, figures.RankMaps(tl, figures.WaitTimes(r.result, tl.Ranks), 0), "Wait states of "+r.run.Name+r.run.Where(),
		fmt.Sprintf("%s, run time %s, waiting %s", r.run.Size(), (tl.End-tl.Start).Short(), r.result.Totals.Waiting.Amount.Short()))
}
