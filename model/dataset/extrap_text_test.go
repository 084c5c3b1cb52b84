package dataset_test

import (
	"strings"
	"testing"

	"slackline/model/dataset"
)

func TestReadExtraPText(t *testing.T) {
	checkReading(t, "extrap-text", []reading{
		{name: "a metric starts again at the first point",
			input: "PARAMETER p\nPOINTS 8 16\nREGION f\nMETRIC time\nDATA 1\nDATA 2\nMETRIC visits\nDATA 3\n",
			want:  "p\nf time [8]=[1] [16]=[2]\nf visits [8]=[3]", warnings: 1},
		{name: "lists of points",
			input: "PARAMETER p n\nPOINTS (8 1) (16 1)\nPOINTS (8, 2)\nDATA 1\nDATA 2\nDATA 3\n",
			want:  "p n\n<root> <default> [8 1]=[1] [16 1]=[2] [8 2]=[3]"},
		{name: "an empty line of data", input: "PARAMETER p\nPOINTS 8 16\nDATA\nDATA 2\n", want: "p\n<root> <default> [16]=[2]"},
		{name: "nan", input: "PARAMETER p\nPOINTS 8\nDATA 1 nan 2\n", want: "p\n<root> <default> [8]=[1 2]", warnings: 1},
		{name: "points before parameters", input: "POINTS 8\n", want: "x:1:", bad: true},
		{name: "a parameter after points", input: "PARAMETER p\nPOINTS 8\nPARAMETER n\n", want: "x:3:", bad: true},
		{name: "no parameter", input: "METRIC time\n", want: "x:", bad: true},
	})
}

// All series are written at the points of all: a series without one has an empty line there.
func TestWriteExtraPText(t *testing.T) {
	d := dataset.New("p")
	d.Get("f", "time").Add([]float64{4}, 1)
	d.Get("g", "time").Add([]float64{8}, 2, 3)
	var b strings.Builder
	if err := d.WriteExtraPText(&b); err != nil {
		t.Fatal(err)
	}
	want := "PARAMETER p\nPOINTS (4) (8)\nMETRIC time\nREGION f\nDATA 1\nDATA\nMETRIC time\nREGION g\nDATA\nDATA 2 3\n"
	if b.String() != want {
		t.Errorf("text =\n%s\nwant\n%s", b.String(), want)
	}
	back, _, err := dataset.Read("x", []byte(b.String()), "")
	if err != nil || text(back) != text(d) {
		t.Errorf("read again: %v, %v", back, err)
	}
}

// A line DATA that is missing moves those after it to other points.
func TestExtraPTextShort(t *testing.T) {
	text := "PARAMETER p\nPOINTS (2) (4) (8)\nREGION f\nDATA 1\nDATA 2\nDATA 3\nREGION g\nDATA 1\nDATA 3\n"
	d, _, err := dataset.ReadNamed("x", []byte(text), dataset.Options{})
	want := "x: series with fewer lines DATA than the 3 points (if one is missing in the middle, those after it are at wrong points): 1; " +
		"the first is g <default> with 2"
	if err != nil || len(d.Warnings) != 1 || d.Warnings[0] != want {
		t.Errorf("%v, warnings %q, want %q", err, d.Warnings, want)
	}
}
