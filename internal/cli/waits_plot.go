package cli

import (
	"fmt"
	"io"
	"strings"

	"slackline/analyze/waits"
	"slackline/model/timeline"
	"slackline/model/unit"
	"slackline/show/plot"
	"slackline/show/report"
)

// draw draws maps of waits and delays by rank.
func (r *waitsReport) draw(a *app, path string, inputs []string) error {
	tl := r.run.timeline
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
	for i := range r.result.Waits {
		w := &r.result.Waits[i]
		if w.Metric == waits.WrongOrder {
			continue
		}
		for k, d := range []unit.Duration{w.Amount, 0, w.Direct, w.Indirect, w.Propagating, w.Terminal} {
			add(names[k], w.Rank, d)
		}
	}
	for i := range r.result.Delays {
		add(names[1], r.result.Delays[i].Rank, r.result.Delays[i].Sum())
	}
	h := &plot.HeatMap{
		Title:    "Wait states of " + r.run.name + r.run.where(),
		Subtitle: fmt.Sprintf("%s, run time %s, waiting %s", sizeOf(tl), (tl.End - tl.Start).Short(), r.result.Totals.Waiting.Amount.Short()),
		Caption:  toolName + " " + strings.Join(a.args, " "),
	}
	for _, n := range names {
		h.Maps = append(h.Maps, rankMap(tl, n, sums[n]))
	}
	err := a.writeBytes(path, inputs, func(w io.Writer) error { return plot.Write(w, h, path, plot.Options{}) })
	if err == nil {
		a.note("drew %s", path)
	}
	return err
}

// ranksPerRow is how many ranks stand beside each other on a map without a process grid.
const ranksPerRow = 64

// rankMap is a map of a time by rank.
func rankMap(tl *timeline.Timeline, title string, times []unit.Duration) plot.Map {
	return report.RankMap(tl, title, times, ranksPerRow)
}
