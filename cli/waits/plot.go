package waits

import (
	"fmt"
	"io"
	"strings"

	"slackline/analyze/waits"
	"slackline/cli/env"
	"slackline/cli/flags"
	"slackline/cli/phrase"
	"slackline/model/timeline"
	"slackline/model/unit"
	"slackline/show/plot"
	"slackline/show/report"
)

// draw draws maps of waits and delays by rank.
func (r *WaitsReport) draw(a *env.Env, path string, inputs []string) error {
	tl := r.Run.Timeline
	sums := map[string][]unit.Duration{}
	add := func(name string, rank int, d unit.Duration) {
		if sums[name] == nil {
			sums[name] = make([]unit.Duration, tl.Ranks)
		}
		sums[name][rank] += d
	}
	names := []string{"Waiting", "Delay costs", "Direct waits", "Indirect waits", "Propagating waits", "Terminal waits"}
	for _, n := range names {
		sums[n] = make([]unit.Duration, tl.Ranks)
	}
	for i := range r.Result.Waits {
		w := &r.Result.Waits[i]
		if w.Metric == waits.WrongOrder {
			continue
		}
		for k, d := range []unit.Duration{w.Amount, 0, w.Direct, w.Indirect, w.Propagating, w.Terminal} {
			add(names[k], w.Rank, d)
		}
	}
	for i := range r.Result.Delays {
		add(names[1], r.Result.Delays[i].Rank, r.Result.Delays[i].Sum())
	}
	h := &plot.HeatMap{
		Title:    "Wait states of " + r.Run.Name + r.Run.Where(),
		Subtitle: fmt.Sprintf("%s, run time %s, waiting %s", phrase.SizeOf(tl), (tl.End - tl.Start).Short(), r.Result.Totals.Waiting.Amount.Short()),
		Caption:  flags.Tool + " " + strings.Join(a.Args, " "),
	}
	for _, n := range names {
		h.Maps = append(h.Maps, RankMap(tl, n, sums[n]))
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
