package waits

import (
	"fmt"
	"io"
	"strings"

	"slackline/cli/env"
	"slackline/cli/flags"
	"slackline/cli/phrase"
	"slackline/model/timeline"
	"slackline/model/unit"
	"slackline/show/plot"
	"slackline/show/report"
)

// draw draws maps of waits and delays by rank.
func (r *waitsReport) draw(a *env.Env, path string, inputs []string) error {
	tl := r.run.Timeline
	names := []string{"Waiting", "Delay costs", "Direct waits", "Indirect waits", "Propagating waits", "Terminal waits"}
	times := make([][]unit.Duration, len(names))
	for _, s := range r.result.ByRank() {
		for k, d := range []unit.Duration{s.Amount, s.Delay, s.Direct, s.Indirect, s.Propagating, s.Terminal} {
			times[k] = append(times[k], d)
		}
	}
	h := &plot.HeatMap{
		Title:    "Wait states of " + r.run.Name + r.run.Where(),
		Subtitle: fmt.Sprintf("%s, run time %s, waiting %s", phrase.SizeOf(tl), (tl.End - tl.Start).Short(), r.result.Totals.Waiting.Amount.Short()),
		Caption:  flags.Tool + " " + strings.Join(a.Args, " "),
	}
	for k, name := range names {
		h.Maps = append(h.Maps, RankMap(tl, name, times[k]))
	}
	err := a.WriteBytes(path, inputs, func(w io.Writer) error { return plot.Write(w, h, path, plot.Options{}) })
	if err == nil {
		a.Note("drew %s", path)
	}
	return err
}

// ranksPerRow is how many ranks stand beside each other on a map without a process grid.
const ranksPerRow = 64

// RankMap is a map of a time by rank.
func RankMap(tl *timeline.Timeline, title string, times []unit.Duration) plot.Map {
	return report.RankMap(tl, title, times, ranksPerRow)
}
