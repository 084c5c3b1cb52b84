package figures

import (
	"fmt"

	"slackline/analyze/compare"
	"slackline/analyze/profile"
	"slackline/model/timeline"
	"slackline/model/unit"
	"slackline/show/plot"
)

// MaxMessageRanks is how many ranks the figure of messages may have.
const MaxMessageRanks = 4096

// Messages shows the messages and bytes between each pair of ranks.
func Messages(ranks int, links []profile.Link) *plot.HeatMap {
	messages := plot.Map{Title: "Messages", X: "to rank", Y: "from rank", Columns: ranks, Rows: ranks, Values: make([]float64, ranks*ranks)}
	volume := messages
	volume.Title, volume.Values, volume.Quantity = "Bytes", make([]float64, ranks*ranks), plot.Bytes
	for _, l := range links {
		messages.Values[l.From*ranks+l.To] = float64(l.Count)
		volume.Values[l.From*ranks+l.To] = float64(l.Bytes)
	}
	return &plot.HeatMap{Maps: []plot.Map{messages, volume}}
}

// activities are what figures by rank show: the parts of the composition, joined into few.
var activities = []struct {
	name string
	of   func(profile.Kind) bool
}{
	{"computation", func(k profile.Kind) bool { return k == profile.Computation }},
	{"MPI without waiting", func(k profile.Kind) bool { return k >= profile.PointToPoint && k <= profile.OtherMPI }},
	{"waiting", func(k profile.Kind) bool { return k == profile.Waiting }},
	{"not recorded", func(k profile.Kind) bool { return k == profile.NotRecorded }},
	{"other", func(k profile.Kind) bool {
		return k == profile.OpenMP || k == profile.Noise || k == profile.Recording || k == profile.Outside
	}},
	{"without a CPU", func(k profile.Kind) bool { return k == profile.NoCPU }},
	{"MPI not analyzed", func(k profile.Kind) bool { return k == profile.NotAnalyzed }},
}

// Activities are the times of each rank by activity: computation, MPI, waiting and others.
func Activities(c *profile.Composition, ranks int) []RankTimes {
	list := make([]RankTimes, len(activities))
	for k, a := range activities {
		list[k] = RankTimes{a.name, make([]unit.Sum, ranks)}
		for _, p := range c.Parts {
			if !a.of(p.Kind) {
				continue
			}
			for rank, t := range p.ByRank {
				list[k].Times[rank].AddSum(t)
			}
		}
	}
	return list
}

// ActivityMaps maps computation, MPI and waiting onto the ranks.
func ActivityMaps(tl *timeline.Timeline, c *profile.Composition) *plot.HeatMap {
	list := Activities(c, tl.Ranks)[:3]
	list[0].Name, list[2].Name = "Computation", "Waiting"
	return RankMaps(tl, list, 0)
}

// Iterations shows the times of each iteration.
func Iterations(it *profile.Iterations) *plot.Chart {
	var x, duration, computation, most, waiting []float64
	for k, i := range it.List {
		x = append(x, float64(k+1))
		duration = append(duration, float64(i.Duration))
		computation = append(computation, float64(i.Computation))
		most = append(most, float64(i.MaxComputation))
		waiting = append(waiting, float64(i.Waiting))
	}
	return &plot.Chart{
		X: plot.Axis{Label: "iteration", Whole: true}, Y: plot.Axis{Label: "time", Quantity: plot.Time, FromZero: true},
		Layers: []plot.Layer{
			&plot.Line{Name: "duration, mean", X: x, Y: duration},
			&plot.Line{Name: "computation, maximum of the ranks", X: x, Y: most},
			&plot.Line{Name: "computation, mean", X: x, Y: computation},
			&plot.Line{Name: "waiting, mean", X: x, Y: waiting},
		},
	}
}

// CollectiveParts is the number of parts of the run in the figure of collectives.
const CollectiveParts = 200

// Collectives shows when collectives are called, one chart for each kind. The uses are counted in CollectiveParts parts.
func Collectives(tl *timeline.Timeline, uses []profile.CollectiveUse) *plot.Stack {
	edges := make([]float64, CollectiveParts+1)
	for i := range edges {
		edges[i] = float64(tl.End-tl.Start) * float64(i) / CollectiveParts
	}
	s := &plot.Stack{X: plot.Axis{Label: "time", Quantity: plot.Time}}
	for _, u := range uses {
		bars := &plot.Bars{Edges: edges}
		for _, n := range u.Over {
			bars.Height = append(bars.Height, float64(n))
		}
		label := u.Op.String()
		if u.Ranks != tl.Ranks {
			label += fmt.Sprintf(" of %d", u.Ranks)
		}
		const weight = 0.55 // height compared with that of other charts
		axis := plot.Axis{Label: label, FromZero: true, Whole: true}
		s.Parts = append(s.Parts, plot.StackPart{Y: axis, Layers: []plot.Layer{bars}, Weight: weight})
	}
	return s
}

// Sizes shows how many messages there are of each size.
func Sizes(bins []profile.SizeBin) *plot.Chart {
	bars := &plot.Bars{}
	for _, b := range bins {
		from, to := max(float64(b.From), 0.5), max(float64(b.To), 1)
		if n := len(bars.Edges); n == 0 || bars.Edges[n-1] < from {
			if n > 0 {
				bars.Height = append(bars.Height, 0) // sizes that do not occur
			}
			bars.Edges = append(bars.Edges, from)
		}
		bars.Edges, bars.Height = append(bars.Edges, to), append(bars.Height, float64(b.Count))
	}
	return &plot.Chart{
		X:      plot.Axis{Label: "size of a message", Quantity: plot.Bytes, Scale: plot.Log2},
		Y:      plot.Axis{Label: "messages", FromZero: true, Whole: true},
		Layers: []plot.Layer{bars},
	}
}

// Efficiencies shows run times and efficiencies over the number of ranks.
func Efficiencies(ranks []int, times []unit.Duration, list []*profile.Efficiency) *plot.Stack {
	line := func(name string, slot int) *plot.Line { return &plot.Line{Name: name, Marks: true, Slot: slot} }
	add := func(l *plot.Line, x int, y float64) { l.X, l.Y = append(l.X, float64(x)), append(l.Y, y) }
	runTime, parallel := line("run time", 1), line("parallel efficiency", 2)
	balance, communication := line("load balance", 3), line("communication", 4)
	for i, e := range list {
		add(runTime, ranks[i], float64(times[i]))
		add(parallel, ranks[i], 100*e.Parallel)
		add(balance, ranks[i], 100*e.LoadBalance)
		add(communication, ranks[i], 100*e.Communication)
	}
	return &plot.Stack{
		X: plot.Axis{Label: "ranks", Scale: plot.Log2},
		Parts: []plot.StackPart{
			{Y: plot.Axis{Label: "run time", Quantity: plot.Time, FromZero: true}, Layers: []plot.Layer{runTime}},
			{Y: plot.Axis{Label: "efficiency", Quantity: plot.Percent, FromZero: true}, Layers: []plot.Layer{parallel, balance, communication}},
		},
	}
}

// ComputationScaling shows the factors of the computation over the number of ranks.
func ComputationScaling(ranks []int, list []*compare.Scaling) *plot.Chart {
	names := []string{"computation", "instructions", "instructions per cycle", "frequency"}
	c := &plot.Chart{X: plot.Axis{Label: "ranks", Scale: plot.Log2}, Y: plot.Axis{Label: "scaling", Quantity: plot.Percent, FromZero: true}}
	for i, name := range names {
		l := &plot.Line{Name: name, Marks: true, Slot: i + 1}
		for k, s := range list {
			l.X, l.Y = append(l.X, float64(ranks[k])), append(l.Y, 100*s.Factors()[i].Value)
		}
		c.Layers = append(c.Layers, l)
	}
	return c
}
