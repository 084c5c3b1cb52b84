package cli

import (
	"fmt"
	"io"
	"math"
	"strings"

	"slackline/analyze/waits"
	"slackline/model/timeline"
	"slackline/model/unit"
	"slackline/show/plot"
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
	err := a.writeOut(path, inputs, func(w io.Writer) error { return plot.Write(w, h, path, plot.Options{}) })
	if err == nil {
		a.note("drew %s", path)
	}
	return err
}

// ranksPerRow is how many ranks stand beside each other on a map without a process grid.
const ranksPerRow = 64

// rankMap is a map of a time by rank: on the process grid, if there is one with up to three dimensions, else in
// rows. The layers of a three-dimensional grid stand beside each other.
func rankMap(tl *timeline.Timeline, title string, times []unit.Duration) plot.Map {
	m := plot.Map{Title: title, Quantity: plot.Time}
	g := tl.Grid
	if g == nil || len(g.Dims) == 0 || len(g.Dims) > 3 {
		m.Columns = max(min(len(times), ranksPerRow), 1)
		m.Rows = max((len(times)+m.Columns-1)/m.Columns, 1)
		m.X = "rank"
		if m.Rows > 1 {
			m.X = fmt.Sprintf("ranks, %d in a row", m.Columns)
		}
		m.Values = empty(m.Columns * m.Rows)
		for rank, t := range times {
			m.Values[rank] = float64(t)
		}
		return m
	}
	rows, columns, layers := 1, g.Dims[len(g.Dims)-1], 1
	if len(g.Dims) >= 2 {
		rows = g.Dims[len(g.Dims)-2]
	}
	if len(g.Dims) == 3 {
		layers = g.Dims[0]
	}
	m.X = fmt.Sprintf("coordinate %d", len(g.Dims))
	if rows > 1 {
		m.Y = fmt.Sprintf("coordinate %d", len(g.Dims)-1)
	}
	if layers > 1 {
		m.X += fmt.Sprintf(", in %d layers of coordinate 1", layers)
	}
	m.Rows, m.Columns = rows, layers*(columns+1)-1
	m.Values = empty(m.Rows * m.Columns)
	for rank, t := range times {
		if rank >= len(g.Coords) || len(g.Coords[rank]) != len(g.Dims) {
			continue
		}
		at := append(make([]int, 3-len(g.Dims)), g.Coords[rank]...)
		m.Values[at[1]*m.Columns+at[0]*(columns+1)+at[2]] = float64(t)
	}
	return m
}

// empty are so many places without value.
func empty(n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = math.NaN()
	}
	return list
}
