package profile

import (
	"fmt"
	"io"
	"strings"

	"slackline/analyze/profile"
	"slackline/cli/env"
	"slackline/cli/flags"
	"slackline/cli/phrase"
	"slackline/cli/waits"
	"slackline/model/unit"
	"slackline/show/plot"
)

// maxMatrix is how many ranks a matrix of messages may have.
const maxMatrix = 4096

// draw draws the figure that was asked for.
func (r *profileReport) draw(a *env.Env, inputs []string) error {
	links := r.profile.Matrix()
	kind := r.options.kind.Value
	if kind == flags.FigureAuto {
		switch {
		case r.iterations != nil && len(r.iterations.List) > 1:
			kind = profileIterations
		case len(links) > 0 && r.run.Timeline.Ranks <= maxMatrix:
			kind = profileMatrix
		default:
			kind = profileRanks
		}
	}
	title := "Profile of " + r.run.Name + r.run.Where()
	subtitle := fmt.Sprintf("%s, run time %s", phrase.SizeOf(r.run.Timeline), r.profile.RunTime().Short())
	caption := flags.Tool + " " + strings.Join(a.Args, " ")
	var figure plot.Figure
	switch kind {
	case profileMatrix:
		if r.run.Timeline.Ranks > maxMatrix {
			return fmt.Errorf("--plot-kind matrix: %s are too many (at most %d); take ranks", phrase.Plural(r.run.Timeline.Ranks, "rank"), maxMatrix)
		}
		figure = r.matrixFigure(links, title, subtitle, caption)
	case profileIterations:
		if r.iterations == nil || len(r.iterations.List) < 2 {
			return fmt.Errorf("--plot-kind iterations: no iterations were found; take ranks")
		}
		figure = r.iterationFigure(title, subtitle, caption)
	case profileCollective:
		uses := r.profile.Collectives(collectiveParts)
		if len(uses) == 0 {
			return fmt.Errorf("--plot-kind collectives: the run has none")
		}
		figure = r.collectiveFigure(uses, title, subtitle, caption)
	case profileSizes:
		bins := r.profile.Sizes()
		if len(bins) == 0 {
			return fmt.Errorf("--plot-kind sizes: the run has no messages")
		}
		figure = sizeFigure(bins, title, subtitle, caption)
	default:
		figure = r.rankFigure(title, subtitle, caption)
	}
	err := a.WriteBytes(r.options.plot, inputs, func(w io.Writer) error { return plot.Write(w, figure, r.options.plot, plot.Options{}) })
	if err == nil {
		a.Note("drew %s", r.options.plot)
	}
	return err
}

// matrixFigure shows who sends how much to whom.
func (r *profileReport) matrixFigure(links []profile.Link, title, subtitle, caption string) plot.Figure {
	n := r.run.Timeline.Ranks
	messages := plot.Map{Title: "Messages", X: "to rank", Y: "from rank", Columns: n, Rows: n, Values: make([]float64, n*n)}
	volume := plot.Map{Title: "Bytes", X: "to rank", Y: "from rank", Columns: n, Rows: n, Values: make([]float64, n*n), Quantity: plot.Bytes}
	for _, l := range links {
		messages.Values[l.From*n+l.To] = float64(l.Count)
		volume.Values[l.From*n+l.To] = float64(l.Bytes)
	}
	return &plot.HeatMap{Title: title, Subtitle: subtitle, Caption: caption, Maps: []plot.Map{messages, volume}}
}

// rankFigure shows times by rank.
func (r *profileReport) rankFigure(title, subtitle, caption string) plot.Figure {
	n := r.run.Timeline.Ranks
	computation, mpi, waiting := make([]unit.Duration, n), make([]unit.Duration, n), make([]unit.Duration, n)
	for _, p := range r.composition.Parts {
		for rank := range n {
			t := p.ByRank[rank]
			switch {
			case p.Kind == profile.Computation:
				computation[rank] += t
			case p.Kind == profile.Waiting:
				waiting[rank] += t
			case p.Kind >= profile.PointToPoint && p.Kind <= profile.OtherMPI:
				mpi[rank] += t
			}
		}
	}
	return &plot.HeatMap{Title: title, Subtitle: subtitle, Caption: caption, Maps: []plot.Map{
		waits.RankMap(r.run.Timeline, "Computation", computation), waits.RankMap(r.run.Timeline, "MPI without waiting", mpi), waits.RankMap(r.run.Timeline, "Waiting", waiting),
	}}
}

// iterationFigure shows how the iterations develop.
func (r *profileReport) iterationFigure(title, subtitle, caption string) plot.Figure {
	var x, duration, computation, most, waiting []float64
	ranks := float64(max(r.run.Timeline.Ranks, 1))
	for k, i := range r.iterations.List {
		x = append(x, float64(k+1))
		duration = append(duration, float64(i.Duration))
		computation = append(computation, float64(i.Computation))
		most = append(most, float64(i.MaxComputation))
		waiting = append(waiting, float64(i.Waiting)/ranks)
	}
	return &plot.Chart{
		Title: title, Subtitle: fmt.Sprintf("%s; iterations: %s", subtitle, r.name(r.iterations.Path)), Caption: caption,
		X: plot.Axis{Label: "iteration", Whole: true}, Y: plot.Axis{Label: "time", Quantity: plot.Time, FromZero: true},
		Layers: []plot.Layer{
			&plot.Line{Name: "duration", X: x, Y: duration},
			&plot.Line{Name: "computation, most of a rank", X: x, Y: most},
			&plot.Line{Name: "computation, mean", X: x, Y: computation},
			&plot.Line{Name: "waiting, mean", X: x, Y: waiting},
		},
	}
}

const (
	collectiveParts = 200  // pieces of time in the figure of collectives
	collectiveShare = 0.55 // height of one of them, beside that of other charts
)

// collectiveFigure shows when collectives are called, one chart for each kind.
func (r *profileReport) collectiveFigure(uses []profile.CollectiveUse, title, subtitle, caption string) plot.Figure {
	tl := r.run.Timeline
	edges := make([]float64, collectiveParts+1)
	for i := range edges {
		edges[i] = float64(tl.End-tl.Start) * float64(i) / collectiveParts
	}
	s := &plot.Stack{Title: title, Subtitle: subtitle + "; collective calls over time", Caption: caption, X: plot.Axis{Label: "time", Quantity: plot.Time}}
	for _, u := range uses {
		heights := make([]float64, len(u.Over))
		for i, n := range u.Over {
			heights[i] = float64(n)
		}
		label := u.Op.String()
		if u.Ranks != tl.Ranks {
			label += fmt.Sprintf(" of %d", u.Ranks)
		}
		s.Parts = append(s.Parts, plot.StackPart{
			Y:      plot.Axis{Label: label, FromZero: true, Whole: true},
			Layers: []plot.Layer{&plot.Bars{Edges: edges, Height: heights}}, Weight: collectiveShare,
		})
	}
	return s
}

// sizeFigure shows how many messages there are of which size.
func sizeFigure(bins []profile.SizeBin, title, subtitle, caption string) plot.Figure {
	var edges, heights []float64
	for _, b := range bins {
		from, to := max(float64(b.From), 0.5), max(float64(b.To), 1)
		if n := len(edges); n == 0 || edges[n-1] < from {
			if n > 0 {
				heights = append(heights, 0) // sizes that do not occur
			}
			edges = append(edges, from)
		}
		edges, heights = append(edges, to), append(heights, float64(b.Count))
	}
	return &plot.Chart{
		Title: title, Subtitle: subtitle, Caption: caption,
		X:      plot.Axis{Label: "size of a message", Quantity: plot.Bytes, Scale: plot.Log2},
		Y:      plot.Axis{Label: "messages", FromZero: true, Whole: true},
		Layers: []plot.Layer{&plot.Bars{Edges: edges, Height: heights}},
	}
}
