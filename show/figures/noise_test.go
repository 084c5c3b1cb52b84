package figures

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"slackline/model/noise"
	"slackline/model/unit"
	"slackline/show/plot"
)

// everyTick is a trace with detours at the given starts, each 1 long, in a period of 100.
func everyTick(t *testing.T, of []int32, labels []string, starts ...int64) *noise.Detours {
	t.Helper()
	var list []noise.Detour
	for _, s := range starts {
		list = append(list, noise.Detour{Start: s, Length: 1})
	}
	d, err := noise.NewLabeled(100, list, of, labels)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A figure without a given time shows 50 detours or more, in whole periods, and never more than can be represented.
func TestDetourSpan(t *testing.T) {
	one, many := everyTick(t, nil, []string{"noise"}, 5), []int64{}
	for i := range int64(50) {
		many = append(many, 2*i)
	}
	for _, tc := range []struct {
		d            *noise.Detours
		period, want unit.Duration
	}{
		{one, 100, 50 * 100},
		{everyTick(t, nil, []string{"noise"}, 5, 50, 70), 100, 17 * 100}, // 16 periods have only 48
		{everyTick(t, nil, []string{"noise"}, many...), 100, 100},
		{one, math.MaxInt64, math.MaxInt64},
		{one, math.MaxInt64/3 + 1, 2 * (math.MaxInt64/3 + 1)},
	} {
		if got := DetourSpan(tc.d, tc.period); got != tc.want {
			t.Errorf("%d detours in %d: %d, want %d", tc.d.Len(), tc.period, got, tc.want)
		}
	}
}

// Detours are repeated in each period, and end with the span.
func TestDetours(t *testing.T) {
	d := everyTick(t, []int32{0, 1, 0}, []string{"tick", "daemon"}, 5, 50, 70)
	stats := &noise.Statistics{Period: 100, Sources: []noise.SourceAmount{{Label: "tick", Noise: 2}, {Label: "daemon", Noise: 1}}}
	c, err := Detours(d, stats, 251)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Layers) != 2 {
		t.Fatalf("%d layers, want one for each source", len(c.Layers))
	}
	tick, daemon := c.Layers[0].(*plot.Points), c.Layers[1].(*plot.Points)
	if tick.Name != "tick" || !slices.Equal(tick.X, []float64{5, 70, 105, 170, 205}) {
		t.Errorf("%s at %v, want tick at 5 and 70 of each period up to 251", tick.Name, tick.X)
	}
	if daemon.Name != "daemon" || !slices.Equal(daemon.X, []float64{50, 150, 250}) { // 250 is the last one in the span
		t.Errorf("%s at %v, want daemon at 50, 150, 250", daemon.Name, daemon.X)
	}
	if c.X.Min >= 0 || c.X.Max <= 251 {
		t.Errorf("the axis is from %g to %g: the first and the last marker are cut", c.X.Min, c.X.Max)
	}
	_, err = Detours(d, stats, 5)
	if err == nil || !strings.Contains(err.Error(), "contain no detour; give a longer time") {
		t.Errorf("the time before the first detour: %v", err)
	}
	_, err = Detours(d, stats, 100<<20)
	if err == nil || !strings.Contains(err.Error(), "too many to distinguish; give a shorter time") {
		t.Errorf("3 million detours: %v", err)
	}
}

// Up to six sources have a layer of their own; of more, the five with the most noise, and the others share one.
func TestSourceLayers(t *testing.T) {
	for _, n := range []int{1, 2, 6, 7, 20} {
		var sources []noise.SourceAmount
		for i := range n {
			sources = append(sources, noise.SourceAmount{Label: fmt.Sprint("source ", i), Noise: unit.Duration(i)}) // the last one has most
		}
		layers := sourceLayers(sources)
		names := map[string]bool{}
		for i, l := range layers {
			names[l.Name] = true
			own := n <= 6 || i >= n-5
			if n > 1 && own != (l.Name == fmt.Sprint("source ", i)) || !own && l.Name != "other sources" {
				t.Errorf("%d sources: source %d is called %q", n, i, l.Name)
			}
		}
		if want := min(n, 6); len(names) != want {
			t.Errorf("%d sources: %d layers, want %d", n, len(names), want)
		}
		if n == 1 && layers[0].Name != "" {
			t.Errorf("a single source is called %q; it needs no legend", layers[0].Name)
		}
	}
}

// Sources with equal noise keep their order, so that figures of the same noise are the same.
func TestSourceLayersTies(t *testing.T) {
	sources := make([]noise.SourceAmount, 9)
	for i := range sources {
		sources[i] = noise.SourceAmount{Label: string(rune('a' + i)), Noise: 7}
	}
	var got string
	for _, l := range sourceLayers(sources) {
		got += l.Name[:1]
	}
	if got != "abcdeoooo" {
		t.Errorf("layers %s, want a to e and four others", got)
	}
}

// Layers without points are left out; those with few points are drawn last, on top.
func TestFilled(t *testing.T) {
	few, many, none := &plot.Points{X: []float64{1}}, &plot.Points{X: []float64{1, 2, 3}}, &plot.Points{}
	got := filled([]*plot.Points{few, none, many, few, many})
	if len(got) != 2 || got[0] != plot.Layer(many) || got[1] != plot.Layer(few) {
		t.Errorf("%d layers %v, want the one with many points, then the one with few", len(got), got)
	}
}
