package noise

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"slackline/cli/env"
	"slackline/cli/flags"
	"slackline/cli/phrase"
	"slackline/model/noise"
	"slackline/model/unit"
	"slackline/show/plot"
)

const (
	maxScatter    = 1 << 20 // detours in a scatter plot; more would only hide each other
	fewDetours    = 50      // a trace with fewer is drawn several times, one period after the other
	colorsOfNoise = 5       // sources with a color of their own; the others share one
	markerRoom    = 0.008   // of the width at both ends, so that the first and the last marker are not cut
)

// draw draws the length of each detour over its time, as figure 1 of the noise
// paper does: of the given time, or, if that is 0, of as many periods as show
// something.
func (r *noiseReport) draw(a *env.Env, path string, span unit.Duration) error {
	if r.detours.Empty() {
		return fmt.Errorf("--plot: %s has no detours: there is nothing to draw", r.input.title())
	}
	if span == 0 {
		periods := max((fewDetours+r.detours.Len()-1)/r.detours.Len(), 1)
		span = r.stats.Period * unit.Duration(min(periods, int(math.MaxInt64/r.stats.Period)))
	}
	layers := r.layers()
	if err := r.fill(layers, span); err != nil {
		return err
	}
	chart := &plot.Chart{
		Title:    "Detours of " + r.input.title(),
		Subtitle: r.subtitle(span),
		Caption:  flags.Tool + " " + strings.Join(a.Args, " "),
		X:        plot.Axis{Label: "time", Quantity: plot.Time, Min: -markerRoom * float64(span), Max: (1 + markerRoom) * float64(span)},
		Y:        plot.Axis{Label: "length of the detour", Quantity: plot.Time, Scale: plot.Log10},
		Layers:   drawn(layers),
	}
	err := a.WriteBytes(path, r.input.files, func(w io.Writer) error { return plot.Write(w, chart, path, plot.Options{}) })
	if err != nil {
		return err
	}
	a.Note("drew %s", path)
	return nil
}

// fill gives the layers the detours of a span of time from the start of the trace,
// which may be several periods.
func (r *noiseReport) fill(layers []*plot.Points, span unit.Duration) error {
	points := r.detours.Points(maxScatter)
	if shown := float64(len(points)) * float64(span) / float64(r.stats.Period); shown > 2*maxScatter {
		return fmt.Errorf("--plot-time: %s hold about %.2g detours, too many to distinguish; give a shorter time", span.Short(), shown)
	}
	labels := make([]int, len(points))
	next := 0
	for i, at := range points { // these are some of the detours, in the same order
		for found := false; !found; next++ {
			var d noise.Detour
			d, labels[i] = r.detours.At(next)
			found = d == at
		}
	}
	empty := true
	for from := unit.Duration(0); from < span; from += r.stats.Period {
		for i, at := range points {
			if unit.Duration(at.Start) >= span-from {
				break
			}
			l := layers[labels[i]]
			l.X, l.Y = append(l.X, float64(from)+float64(at.Start)), append(l.Y, float64(at.Length))
			empty = false
		}
		if from > math.MaxInt64-r.stats.Period {
			break
		}
	}
	if empty {
		return fmt.Errorf("--plot-time: the first %s of %s hold no detour; give more time", span.Short(), r.input.title())
	}
	return nil
}

func (r *noiseReport) subtitle(span unit.Duration) string {
	text := fmt.Sprintf("serial overhead %s, %s%s", phrase.PercentCell(r.stats.OverheadPercent).Text, phrase.RateCell(r.stats.RatePerSecond).Text, r.input.seeded(r.seed))
	switch {
	case span < r.stats.Period:
		text += fmt.Sprintf(", the first %s of %s", span.Short(), r.stats.Period.Short())
	case span > r.stats.Period:
		text += fmt.Sprintf(", period %s", r.stats.Period.Short())
	}
	return text
}

// layers are the layers of the sources, by label: those that take most have one of
// their own, the others share one.
func (r *noiseReport) layers() []*plot.Points {
	sources := r.stats.Sources
	order := make([]int, len(sources))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sources[b].Noise, sources[a].Noise) })
	own := colorsOfNoise
	if len(sources) == own+1 {
		own++ // one alone needs no company
	}
	rest := &plot.Points{Name: "other sources", Slot: plot.Neutral}
	layers := make([]*plot.Points, len(sources))
	for i, label := range order {
		layers[label] = rest
		if i < own {
			layers[label] = &plot.Points{}
			if len(sources) > 1 {
				layers[label].Name = sources[label].Label
			}
		}
	}
	return layers
}

// drawn are the layers that have points, each once, the rarest on top.
func drawn(layers []*plot.Points) []plot.Layer {
	var list []*plot.Points
	for _, l := range layers {
		if len(l.X) > 0 && !slices.Contains(list, l) {
			list = append(list, l)
		}
	}
	slices.SortStableFunc(list, func(a, b *plot.Points) int { return cmp.Compare(len(b.X), len(a.X)) })
	result := make([]plot.Layer, len(list))
	for i, l := range list {
		result[i] = l
	}
	return result
}
