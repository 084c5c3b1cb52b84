package measure

import (
	"fmt"

	"slackline/cli/env"
	"slackline/internal/phrase"
	"slackline/internal/stat"
	"slackline/model/clock"
	"slackline/model/unit"
	"slackline/show/plot"
)

// The figures of measure clocks: 4 to 8 of the paper on timing collectives.
const (
	figureRoundTrips = "round-trips"
	figureDrift      = "drift"
	figureChoice     = "choice"
	figureTree       = "tree"
	figureTimes      = "times"
)

var clockFigures = []string{figureRoundTrips, figureDrift, figureChoice, figureTree, figureTimes}

const (
	tripBins    = 200
	shownDrifts = 6 // ranks in a figure of drifts
)

func (r *measuredClocks) Figure(*env.Env) (fig plot.Figure, title, subtitle string, err error) {
	chart := map[string]func() plot.Figure{
		figureRoundTrips: r.tripChart, figureDrift: r.driftChart, figureChoice: r.choiceChart, figureTree: r.treeChart,
		figureTimes: r.timesChart,
	}[r.figure]
	return chart(), "", "", nil
}

// tripChart is a histogram of half round trips; the longest hundredth is left out, or nothing else would be seen.
func (r *measuredClocks) tripChart() plot.Figure {
	sorted := stat.Sorted(tripTimes(r.clocks.RoundTrips))
	low, high := sorted[0]/2, stat.Quantile(sorted, 0.99)/2
	if high <= low {
		high = low + float64(unit.Nanosecond)
	}
	bars := &plot.Bars{Height: make([]float64, tripBins)}
	for i := range tripBins + 1 {
		bars.Edges = append(bars.Edges, low+(high-low)*float64(i)/tripBins)
	}
	left := 0
	for _, t := range sorted {
		if i := int((t/2 - low) / (high - low) * tripBins); i < tripBins {
			bars.Height[i]++
		} else {
			left++
		}
	}
	return &plot.Chart{
		Title:    "Round trips of ranks 0 and 1",
		Subtitle: fmt.Sprintf("%s, %s pings, %d beyond the right end", r.over, phrase.Grouped(len(sorted)), left),
		X:        plot.Axis{Label: "half a round trip", Quantity: plot.Time},
		Y:        plot.Axis{Label: "pings", Whole: true},
		Layers:   []plot.Layer{bars},
	}
}

// driftChart shows how the clocks of ranks and that of rank 0 run apart, with lines of least squares.
func (r *measuredClocks) driftChart() plot.Figure {
	chart := &plot.Chart{
		Title:    "Drift against rank 0",
		Subtitle: fmt.Sprintf("%s, best ping of each of %d moments, from the first one on", r.over, len(r.clocks.Linear)),
		X:        plot.Axis{Label: "time", Quantity: plot.Time},
		Y:        plot.Axis{Label: "gained since the start", Quantity: plot.Time},
	}
	points := make([][]clock.Point, r.clocks.Ranks)
	for _, c := range r.clocks.Linear {
		for _, e := range c.Edges {
			if p, ok := clock.Best(e.Pings); ok {
				points[e.Answerer] = append(points[e.Answerer], p.Point())
			}
		}
	}
	for rank := 1; rank < min(r.clocks.Ranks, 1+shownDrifts); rank++ {
		list := points[rank]
		l, ok := clock.FitPoints(list)
		if !ok {
			continue
		}
		dots := &plot.Points{Name: fmt.Sprintf("rank %d, %.2f ppm", rank, 1e6*l.Slope), Slot: rank}
		line := &plot.Line{Slot: rank}
		for _, p := range list {
			x := float64(p.At - list[0].At)
			dots.X, dots.Y = append(dots.X, x), append(dots.Y, p.More-list[0].More)
			line.X, line.Y = append(line.X, x), append(line.Y, l.More(p.At)-list[0].More)
		}
		chart.Layers = append(chart.Layers, line, dots)
	}
	return chart
}

// choiceChart shows what N gives and what it costs.
func (r *measuredClocks) choiceChart() plot.Figure {
	best := &plot.Line{Name: "shortest ping", Marks: true, Slot: 1}
	quarter := &plot.Line{Name: "mean of the shortest quarter", Marks: true, Slot: 2}
	pings := &plot.Line{Name: "pings", Marks: true, Slot: 3}
	for _, c := range r.clocks.Choice {
		n := float64(c.Patience)
		best.X, best.Y = append(best.X, n), append(best.Y, c.Excess)
		quarter.X, quarter.Y = append(quarter.X, n), append(quarter.Y, c.Quarter)
		pings.X, pings.Y = append(pings.X, n), append(pings.Y, c.Pings)
	}
	return &plot.Stack{
		Title:    "Stopping after N pings that were not shorter",
		Subtitle: fmt.Sprintf("%s, drawn from %s round trips; excess over the shortest of all", r.over, phrase.Grouped(len(r.clocks.RoundTrips))),
		X:        plot.Axis{Label: "N", Scale: plot.Log10},
		Parts: []plot.StackPart{
			{Y: plot.Axis{Label: "excess", Quantity: plot.Percent}, Layers: []plot.Layer{best, quarter}},
			{Y: plot.Axis{Label: "pings", Scale: plot.Log10}, Layers: []plot.Layer{pings}},
		},
	}
}

// treeChart shows who was compared with whom in which round.
func (r *measuredClocks) treeChart() plot.Figure {
	m := r.clocks.Moments[0]
	chart := &plot.Chart{
		Title:    "Comparisons by rounds",
		Subtitle: fmt.Sprintf("%s, %d ranks in %d rounds", r.over, r.clocks.Ranks, m.Rounds()),
		X:        plot.Axis{Label: "round", Whole: true, Min: 0.5, Max: float64(m.Rounds()) + 0.5},
		Y:        plot.Axis{Label: "rank", Whole: true},
	}
	askers, answerers := &plot.Points{Name: "asks", Slot: 1}, &plot.Points{Name: "answers", Slot: 2}
	pairs, inRound := map[int]int{}, map[int]int{}
	for _, e := range m.Edges {
		pairs[e.Round]++
	}
	for _, e := range m.Edges {
		// Pairs of a round lie over each other where their ranks do: they are moved apart.
		x := float64(e.Round) + 0.6*(float64(inRound[e.Round])+0.5)/float64(pairs[e.Round]) - 0.3
		inRound[e.Round]++
		chart.Layers = append(chart.Layers, &plot.Line{Slot: plot.Neutral, X: []float64{x, x}, Y: []float64{float64(e.Asker),
			float64(e.Answerer)}})
		askers.X, askers.Y = append(askers.X, x), append(askers.Y, float64(e.Asker))
		answerers.X, answerers.Y = append(answerers.X, x), append(answerers.Y, float64(e.Answerer))
	}
	chart.Layers = append(chart.Layers, askers, answerers)
	return chart
}

// timesChart shows how long both schemes take.
func (r *measuredClocks) timesChart() plot.Figure {
	tree, linear := &plot.Line{Name: "tree", Marks: true}, &plot.Line{Name: "linear", Marks: true}
	for _, s := range r.clocks.Times {
		tree.X, tree.Y = append(tree.X, float64(s.Ranks)), append(tree.Y, float64(s.Tree.Nanoseconds())*float64(unit.Nanosecond))
		linear.X, linear.Y = append(linear.X, float64(s.Ranks)), append(linear.Y, float64(s.Linear.Nanoseconds())*float64(unit.Nanosecond))
	}
	return &plot.Chart{
		Title:    "Time to compare all clocks",
		Subtitle: fmt.Sprintf("%s, at rank 0, the shortest of several runs", r.over),
		X:        plot.Axis{Label: "ranks", Scale: plot.Log2, Whole: true},
		Y:        plot.Axis{Label: "time", Quantity: plot.Time, Scale: plot.Log10},
		Layers:   []plot.Layer{linear, tree},
	}
}
