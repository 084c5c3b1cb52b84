package figures

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"slackline/internal/stat"
	"slackline/model/noise"
	"slackline/model/unit"
	"slackline/show/plot"
)

const (
	maxScatter   = 1 << 20 // detours in a scatter plot; more would only hide each other
	fewDetours   = 50      // a trace with fewer is drawn several times, one period after the other
	sourceColors = 5       // sources with a color of their own; the others share one
	markerRoom   = 0.008   // of the width at both ends, so that the first and the last marker are not cut
)

// DetourSpan is the time that a figure of detours shows unless one is given: as many periods as show something.
func DetourSpan(d *noise.Detours, period unit.Duration) unit.Duration {
	periods := max((fewDetours+d.Len()-1)/d.Len(), 1)
	return period * unit.Duration(min(periods, int(math.MaxInt64/period)))
}

// Detours draws the length of each detour over its time, as figure 1 of the noise paper does, from the start of the
// trace for a span of time, which may be several periods.
func Detours(d *noise.Detours, stats *noise.Statistics, span unit.Duration) (*plot.Chart, error) {
	layers := sourceLayers(stats.Sources)
	if err := fillDetours(layers, d, stats.Period, span); err != nil {
		return nil, err
	}
	return &plot.Chart{
		X:      plot.Axis{Label: "time", Quantity: plot.Time, Min: -markerRoom * float64(span), Max: (1 + markerRoom) * float64(span)},
		Y:      plot.Axis{Label: "length of the detour", Quantity: plot.Time, Scale: plot.Log10},
		Layers: filled(layers),
	}, nil
}

// fillDetours adds the detours to the layers of their sources.
func fillDetours(layers []*plot.Points, d *noise.Detours, period, span unit.Duration) error {
	points := d.Points(maxScatter)
	if shown := float64(len(points)) * float64(span) / float64(period); shown > 2*maxScatter {
		return fmt.Errorf("%s contain about %.2g detours, too many to distinguish; give a shorter time", span.Short(), shown)
	}
	labels := make([]int, len(points))
	next := 0
	for i, at := range points { // these are some of the detours, in the same order
		for found := false; !found; next++ {
			var detour noise.Detour
			detour, labels[i] = d.At(next)
			found = detour == at
		}
	}
	empty := true
	for from := unit.Duration(0); from < span; from += period {
		for i, at := range points {
			if unit.Duration(at.Start) >= span-from {
				break
			}
			l := layers[labels[i]]
			l.X, l.Y = append(l.X, float64(from)+float64(at.Start)), append(l.Y, float64(at.Length))
			empty = false
		}
		if from > math.MaxInt64-period {
			break
		}
	}
	if empty {
		return errors.New("the first " + span.Short() + " contain no detour; give a longer time")
	}
	return nil
}

// sourceLayers are the layers of the sources, by label: those with the most noise have one of their own, the others share one.
func sourceLayers(sources []noise.SourceAmount) []*plot.Points {
	order := stat.Order(len(sources), func(a, b int) int { return cmp.Compare(sources[b].Noise, sources[a].Noise) })
	own := sourceColors
	if len(sources) == own+1 {
		own++ // a single one needs no shared layer
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

// filled are the layers that have points, each once, the rarest on top.
func filled(layers []*plot.Points) []plot.Layer {
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
