package profile

import (
	"fmt"

	"slackline/cli/env"
	"slackline/internal/phrase"
	"slackline/show/figures"
	"slackline/show/plot"
)

// Figure is the figure that was asked for.
func (r *profileReport) Figure(*env.Env) (figure plot.Figure, title, subtitle string, err error) {
	links := r.profile.Matrix()
	kind := r.options.kind
	if kind == profileAuto {
		switch {
		case r.iterations != nil && len(r.iterations.List) > 1:
			kind = profileIterations
		case len(links) > 0 && r.run.Timeline.Ranks <= figures.MaxMessageRanks:
			kind = profileMatrix
		default:
			kind = profileRanks
		}
	}
	title = "Profile of " + r.run.Name + r.run.Where()
	subtitle = fmt.Sprintf("%s, run time %s", r.run.Size(), r.profile.RunTime().Short())
	switch kind {
	case profileMatrix:
		if r.run.Timeline.Ranks > figures.MaxMessageRanks {
			return nil, "", "", fmt.Errorf("--plot-kind matrix: %s are too many (at most %d); take ranks",
				phrase.Plural(r.run.Timeline.Ranks, "rank"), figures.MaxMessageRanks)
		}
		figure = figures.Messages(r.run.Timeline.Ranks, links)
	case profileIterations:
		if r.iterations == nil || len(r.iterations.List) < 2 {
			return nil, "", "", fmt.Errorf("--plot-kind iterations: no iterations were found; take ranks")
		}
		figure = figures.Iterations(r.iterations)
		subtitle += "; iterations: " + r.name(r.iterations.Path)
	case profileCollective:
		uses := r.profile.Collectives(figures.CollectiveParts)
		if len(uses) == 0 {
			return nil, "", "", fmt.Errorf("--plot-kind collectives: the run has none")
		}
		figure = figures.Collectives(r.run.Timeline, uses)
		subtitle += "; collective calls over time"
	case profileSizes:
		bins := r.profile.Sizes()
		if len(bins) == 0 {
			return nil, "", "", fmt.Errorf("--plot-kind sizes: the run has no messages")
		}
		figure = figures.Sizes(bins)
	default:
		figure = figures.ActivityMaps(r.run.Timeline, r.composition)
	}
	return figure, title, subtitle, nil
}
