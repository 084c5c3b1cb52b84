package report

import (
	"fmt"
	"math"

	"slackline/analyze/profile"
	"slackline/analyze/scaling"
	"slackline/analyze/tolerance"
	"slackline/analyze/whatif"
	"slackline/internal/table"
	"slackline/model/timeline"
	"slackline/model/unit"
	"slackline/show/curves"
	"slackline/show/plot"
)

// figure is what the page draws. Titles and captions stand in the page, not in the pictures.
type figure = plot.Figure

// height is that of a chart of a width: narrow ones are steeper.
func height(width float64) float64 { return max(260, width*0.52) }

// matrixMaps show who sends how much to whom.
func matrixMaps(ranks int, links []profile.Link, width float64) figure {
	messages := plot.Map{Title: "Messages", X: "to rank", Y: "from rank", Columns: ranks, Rows: ranks, Values: make([]float64, ranks*ranks)}
	volume := plot.Map{Title: "Bytes", X: "to rank", Y: "from rank", Columns: ranks, Rows: ranks, Values: make([]float64, ranks*ranks), Quantity: plot.Bytes}
	for _, l := range links {
		messages.Values[l.From*ranks+l.To] = float64(l.Count)
		volume.Values[l.From*ranks+l.To] = float64(l.Bytes)
	}
	return heatMap(width, messages, volume)
}

// heatMap puts maps beside each other where there is room.
func heatMap(width float64, maps ...plot.Map) figure {
	h := &plot.HeatMap{Maps: maps, Width: width, PerRow: 2}
	if width < 500 {
		h.PerRow = 1
	}
	return h
}

// mapsByRank map times onto ranks.
func mapsByRank(tl *timeline.Timeline, names []string, times [][]unit.Duration, width float64) figure {
	var maps []plot.Map
	for i, name := range names {
		maps = append(maps, RankMap(tl, name, times[i], perRow(len(times[i]), width)))
	}
	return heatMap(width, maps...)
}

// perRow is how many ranks stand beside each other on a map without a process grid: all of a few, as many as there are
// rows of many.
func perRow(ranks int, width float64) int {
	columns := 32
	if width < 500 {
		columns = 16
	}
	for columns*columns < ranks {
		columns *= 2
	}
	return columns
}

// RankMap is a map of a time by rank: on the process grid, if there is one with up to three dimensions, else in rows of
// so many ranks. The layers of a three-dimensional grid stand beside each other.
func RankMap(tl *timeline.Timeline, title string, times []unit.Duration, perRow int) plot.Map {
	m := plot.Map{Title: title, Quantity: plot.Time}
	g := tl.Grid
	if g == nil || len(g.Dims) == 0 || len(g.Dims) > 3 {
		m.Columns = max(min(len(times), perRow), 1)
		m.Rows = max((len(times)+m.Columns-1)/m.Columns, 1)
		m.X = "rank"
		if m.Rows > 1 {
			m.X = fmt.Sprintf("ranks, %d in a row", m.Columns)
		}
		m.Values = noValues(m.Columns * m.Rows)
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
	m.Values = noValues(m.Rows * m.Columns)
	for rank, t := range times {
		if rank < len(g.Coords) && len(g.Coords[rank]) == len(g.Dims) {
			at := append(make([]int, 3-len(g.Dims)), g.Coords[rank]...)
			m.Values[at[1]*m.Columns+at[0]*(columns+1)+at[2]] = float64(t)
		}
	}
	return m
}

// noValues are so many places without value.
func noValues(n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = math.NaN()
	}
	return list
}

// stackedByRank shows parts of the time of each rank, one above the other.
func stackedByRank(names []string, columns [][]unit.Duration, width float64) figure {
	ranks := len(columns[0])
	edges := make([]float64, ranks+1)
	for i := range edges {
		edges[i] = float64(i) - 0.5
	}
	c := &plot.Chart{
		X: plot.Axis{Label: "rank", Whole: true}, Y: plot.Axis{Label: "time", Quantity: plot.Time, FromZero: true}, Width: width, Height: height(width),
	}
	low := make([]float64, ranks)
	for i, name := range names {
		high := make([]float64, ranks)
		for rank := range high {
			high[rank] = low[rank] + float64(columns[i][rank])
		}
		c.Layers = append(c.Layers, &plot.Band{Name: name, Slot: partSlots[name], X: edges, Low: low, High: high, Stepped: true})
		low = high
	}
	return c
}

// partSlots are the colours of parts of the time.
var partSlots = map[string]int{"computation": 3, "MPI without waiting": 1, "waiting": 2, "other": 7}

// iterationChart shows how iterations develop.
func iterationChart(it *profile.Iterations, ranks int, width float64) figure {
	var x, duration, computation, most, waiting []float64
	for k, i := range it.List {
		x = append(x, float64(k+1))
		duration = append(duration, float64(i.Duration))
		computation = append(computation, float64(i.Computation))
		most = append(most, float64(i.MaxComputation))
		waiting = append(waiting, float64(i.Waiting)/float64(max(ranks, 1)))
	}
	return &plot.Chart{
		X: plot.Axis{Label: "iteration", Whole: true}, Y: plot.Axis{Label: "time", Quantity: plot.Time, FromZero: true}, Width: width, Height: height(width),
		Layers: []plot.Layer{
			&plot.Line{Name: "duration", X: x, Y: duration}, &plot.Line{Name: "computation, most of a rank", X: x, Y: most},
			&plot.Line{Name: "computation, mean", X: x, Y: computation}, &plot.Line{Name: "waiting, mean", X: x, Y: waiting},
		},
	}
}

// seriesChart shows run times and efficiencies over the number of ranks.
func seriesChart(runs []*analysed, width float64) figure {
	times := &plot.Line{Name: "run time", Marks: true, Slot: 1}
	shares := []*plot.Line{{Name: "parallel efficiency", Marks: true, Slot: 2}, {Name: "load balance", Marks: true, Slot: 3}, {Name: "communication", Marks: true, Slot: 4}}
	for _, r := range runs {
		x := float64(r.timeline.Ranks)
		times.X, times.Y = append(times.X, x), append(times.Y, float64(r.runTime()))
		for i, v := range []float64{r.efficiency.Parallel, r.efficiency.LoadBalance, r.efficiency.Communication} {
			shares[i].X, shares[i].Y = append(shares[i].X, x), append(shares[i].Y, 100*v)
		}
	}
	return &plot.Stack{
		X: plot.Axis{Label: "ranks", Scale: plot.Log2}, Width: width,
		Parts: []plot.StackPart{
			{Y: plot.Axis{Label: "run time", Quantity: plot.Time, FromZero: true}, Layers: []plot.Layer{times}},
			{Y: plot.Axis{Label: "efficiency", Quantity: plot.Percent, FromZero: true}, Layers: []plot.Layer{shares[0], shares[1], shares[2]}},
		},
	}
}

// toleranceStack shows the run time over a parameter, with the zones of the tolerances, and its slope.
func toleranceStack(a *tolerance.Answers, width float64) figure {
	p := a.Question.Variable.Parameter
	axis := plot.Axis{Label: "latency L", Quantity: plot.Time}
	slope := "latencies"
	if p == tolerance.G {
		axis, slope = plot.Axis{Label: "G, time in ps per byte"}, "bytes"
	}
	run := curves.NewRuntime(a)
	layers := append(run.Zones(func(i int) string { return "up to " + tolerances[i] }), run.Curve("run time", 1))
	return &plot.Stack{X: axis, Width: width, Parts: []plot.StackPart{
		{Y: plot.Axis{Label: "run time", Quantity: plot.Time}, Layers: append(layers, run.Given("given")...), Weight: 1.4},
		{Y: plot.Axis{Label: slope, FromZero: true}, Layers: []plot.Layer{run.Slope(1)}, Weight: 0.7},
	}}
}

// scaleChart shows the run time over the number of ranks.
func scaleChart(points []whatif.Point, noisy bool, width float64) figure {
	quiet := &plot.Line{Name: "without noise", Marks: true, Slot: 1}
	boxes := &plot.Boxes{Name: "with noise", Slot: 2}
	for i := range points {
		d := points[i].Distribution()
		x := float64(d.Ranks)
		quiet.X, quiet.Y = append(quiet.X, x), append(quiet.Y, float64(d.Noiseless))
		box := plot.Box{Low: float64(d.LowWhisker), Q1: float64(d.Q1), Median: float64(d.Median), Q3: float64(d.Q3), High: float64(d.HighWhisker)}
		for _, o := range d.Outliers {
			box.Outliers = append(box.Outliers, float64(o))
		}
		boxes.X, boxes.Boxes = append(boxes.X, x), append(boxes.Boxes, box)
	}
	c := &plot.Chart{X: plot.Axis{Label: "ranks", Scale: plot.Log2}, Y: plot.Axis{Label: "run time", Quantity: plot.Time, FromZero: true}, Width: width, Height: height(width), Layers: []plot.Layer{quiet}}
	if noisy {
		c.Layers = append(c.Layers, boxes)
	}
	return c
}

// curvePlaces is at how many places a curve is computed.
const curvePlaces = 80

// add adds a line to a chart, if there is enough of it.
func add(c *plot.Chart, line *plot.Line) {
	if len(line.X) > 1 {
		c.Layers = append(c.Layers, line)
	}
}

// addMeasured adds those measurements that a logarithmic axis can show.
func addMeasured(c *plot.Chart, m *curves.Model, name string, slot int) {
	all, points := m.Measured(name, slot), &plot.Points{Name: name, Slot: slot}
	for i, y := range all.Y {
		if curves.Drawable(y) {
			points.X, points.Y = append(points.X, all.X[i]), append(points.Y, y)
		}
	}
	if len(points.X) > 0 {
		c.Layers = append(c.Layers, points)
	}
}

// modelChart draws models with what was measured.
func modelChart(fits []*scaling.Fit, metric string, place []float64, width float64) figure {
	c := &plot.Chart{
		X: plot.Axis{Label: fits[0].Parameters[0], Scale: plot.Log2}, Y: plot.Axis{Label: label(metric, fits[0]), Scale: plot.Log10}, Width: width, Height: height(width),
	}
	for i, fit := range fits {
		m := curves.NewModel(fit, place, place[0], curvePlaces)
		add(c, m.Curve(shortName(fit.CallPath, width), i+1))
		addMeasured(c, m, "", i+1)
	}
	return c
}

// shortName is a call path that fits into a legend.
func shortName(path string, width float64) string { return table.ShortName(path, int(width/12)) }

// expectationChart draws an expectation with its limits and what was found.
func expectationChart(c *scaling.Check, width float64) figure {
	fit := c.Fit
	place := fit.Largest()
	to := 4 * place[0]
	if c.Target != nil {
		place = c.Target
		to = place[0]
	}
	m := curves.NewModel(fit, place, to, curvePlaces)
	chart := &plot.Chart{
		X: plot.Axis{Label: fit.Parameters[0], Scale: plot.Log2}, Y: plot.Axis{Label: label(c.Metric, fit), Scale: plot.Log10}, Width: width, Height: height(width),
	}
	if band := m.Band("90 % band", 1); len(band.X) > 1 {
		chart.Layers = append(chart.Layers, band)
	}
	expected := c.Expectation.Expect.Term(fit.Parameters[0])
	add(chart, m.Curve("model", 1))
	add(chart, m.Through("expected "+c.Expectation.Expect.Text, plot.Neutral, expected))
	add(chart, m.Through("upper limit", 2, expected.Mul(c.Limits[0])))
	addMeasured(chart, m, "measured", 1)
	return chart
}
