package noise

import (
	"fmt"

	"slackline/cli/env"
	"slackline/internal/phrase"
	"slackline/model/unit"
	"slackline/show/figures"
	"slackline/show/plot"
)

// Figure has the length of each detour over its time, of the given time, or, if that is 0, of as many periods as show
// something.
func (r *noiseReport) Figure(*env.Env) (fig plot.Figure, title, subtitle string, err error) {
	if r.detours.Empty() {
		return nil, "", "", fmt.Errorf("--plot: %s has no detours: there is nothing to draw", r.input.title())
	}
	span := r.span
	if span == 0 {
		span = figures.DetourSpan(r.detours, r.stats.Period)
	}
	chart, err := figures.Detours(r.detours, &r.stats, span)
	if err != nil {
		return nil, "", "", fmt.Errorf("--plot-time: %s: %w", r.input.title(), err)
	}
	return chart, "Detours of " + r.input.title(), r.subtitle(span), nil
}

func (r *noiseReport) subtitle(span unit.Duration) string {
	text := fmt.Sprintf("serial overhead %s, %s%s", phrase.PercentCell(r.stats.OverheadPercent).Text,
		phrase.RateCell(r.stats.RatePerSecond).Text, r.input.seeded(r.seed))
	switch {
	case span < r.stats.Period:
		text += fmt.Sprintf(", the first %s of %s", span.Short(), r.stats.Period.Short())
	case span > r.stats.Period:
		text += fmt.Sprintf(", period %s", r.stats.Period.Short())
	}
	return text
}
