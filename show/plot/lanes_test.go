package plot

import (
	"strings"
	"testing"
)

// Lanes draw cells of a kind that follow each other as one, in the colors of the theme, and refuse what does not fit together.
func TestLanesFigure(t *testing.T) {
	good := func() *Lanes {
		return &Lanes{
			Kinds: []LaneKind{{"work", "#D3D7DC", "#4A515C"}, {"wait", "#D55E00", "#F08536"}},
			Rows:  []string{"rank 0", "rank 1"}, Columns: 4, Cells: []uint8{0, 0, 1, 1, 0, 1, 0, 0}, End: 4e9,
		}
	}
	light, err := Render(good(), "svg", Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"#d3d7dc", "#d55e00", "rank 1", "time (ms)", ">wait<"} {
		if !strings.Contains(string(light), want) {
			t.Errorf("no %q in %s", want, light)
		}
	}
	dark, err := Render(good(), "svg", Options{Dark: true})
	if err != nil || !strings.Contains(string(dark), "#f08536") || strings.Contains(string(dark), "#d55e00") {
		t.Errorf("dark (%v): %s", err, dark)
	}
	for name, spoil := range map[string]func(*Lanes){
		"cells": func(l *Lanes) { l.Columns = 3 },
		"kind":  func(l *Lanes) { l.Cells[3] = 2 },
		"time":  func(l *Lanes) { l.End = 0 },
		"color": func(l *Lanes) { l.Kinds[0].Light = "red" },
		"rows":  func(l *Lanes) { l.Rows, l.Cells = nil, nil },
	} {
		l := good()
		spoil(l)
		if _, err := Render(l, "svg", Options{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
