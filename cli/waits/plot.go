package waits

import (
	"fmt"

	"slackline/cli/env"
	"slackline/show/figures"
	"slackline/show/plot"
)

// Figure has maps of waits and delays by rank.
func (r *waitsReport) Figure(*env.Env) (fig plot.Figure, title, subtitle string, err error) {
	tl := r.run.Timeline
	title = "Wait states of " + r.run.Name + r.run.Where()
	subtitle = fmt.Sprintf("%s, run time %s, waiting %s", r.run.Size(), (tl.End - tl.Start).Short(), r.result.Totals.Waiting.Amount.Short())
	return figures.RankMaps(tl, figures.WaitTimes(r.result, tl.Ranks), 0), title, subtitle, nil
}
