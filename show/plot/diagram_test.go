package plot

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"slackline/model/unit"
)

// The example of figure 4 shows what the paper says of it: process 3 is delayed most.
func TestExampleTimes(t *testing.T) {
	us := unit.Microsecond
	finishes := func(d *MessageDiagram) (f []unit.Duration) {
		for _, r := range d.Rows {
			f = append(f, r.Finish)
		}
		return f
	}
	// The last receivers of the broadcast: three messages of o + L + o, and one o for each send that
	// the sender made before.
	if got := slices.Max(finishes(binomialBroadcast(15))); got != 18*us {
		t.Errorf("the broadcast takes %d ps, want 18 us", got)
	}
	f := finishes(twoBarriers(8, 4))
	if late := slices.Index(f, slices.Max(f)); late != 3 {
		t.Errorf("process %d leaves last (%v), want 3", late, f)
	}
}

func TestDiagramLimits(t *testing.T) {
	for _, tc := range []struct {
		d    *MessageDiagram
		want string
	}{
		{&MessageDiagram{Rows: make([]DiagramRow, MaxDiagramRows+1)}, "65 rows are too many for a message diagram (at most 64)"},
		{&MessageDiagram{Rows: make([]DiagramRow, 2), Arrows: make([]Arrow, MaxDiagramArrows+1)}, "1001 messages are too many"},
		{&MessageDiagram{Rows: make([]DiagramRow, 2), Spans: make([]Span, MaxDiagramSpans+1)}, "10001 spans are too many"},
	} {
		_, err := Render(tc.d, "svg", Options{})
		if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "profile") {
			t.Errorf("error = %v, want %q and the profile", err, tc.want)
		}
	}
}

func TestDiagramErrors(t *testing.T) {
	two := make([]DiagramRow, 2)
	for what, d := range map[string]*MessageDiagram{
		"no rows":            {},
		"span outside":       {Rows: two, Spans: []Span{{Row: 2}}},
		"span before row 0":  {Rows: two, Spans: []Span{{Row: -1}}},
		"span backwards":     {Rows: two, Spans: []Span{{Start: 2, End: 1}}},
		"unknown kind":       {Rows: two, Spans: []Span{{Kind: 77}}},
		"arrow outside":      {Rows: two, Arrows: []Arrow{{To: 2}}},
		"arrow from nowhere": {Rows: two, Arrows: []Arrow{{From: -1}}},
		"arrow backwards":    {Rows: two, Arrows: []Arrow{{To: 1, Depart: 5, Arrive: 4}}},
	} {
		if _, err := Render(d, "svg", Options{}); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

// A diagram of nothing but rows, of one instant and of a run far from time 0 can be drawn.
func TestDiagramExtremes(t *testing.T) {
	day := 86400 * unit.Second
	for _, d := range []*MessageDiagram{
		{Rows: make([]DiagramRow, 1)},
		{Rows: []DiagramRow{{Label: "0", Finished: true}}},
		{Rows: make([]DiagramRow, 2), Arrows: []Arrow{{From: 0, To: 1}, {From: 1, To: 1}}},
		{Rows: make([]DiagramRow, 2), Spans: []Span{{Start: 100 * day, End: 100*day + 1, Kind: Noise}}},
		{Rows: []DiagramRow{{Finish: 1<<63 - 1, Finished: true}}},
		{Rows: make([]DiagramRow, 64), Spans: []Span{{Start: 0, End: 1, Kind: Send}, {Start: 0, End: day, Kind: Compute}}},
	} {
		inspect(t, d)
	}
}

// Spans that overlap never share a lane, and every span fits the lanes of its cluster.
func TestLanes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var spans []Span
		for i := range rapid.IntRange(1, 40).Draw(t, "n") {
			start := unit.Duration(rapid.IntRange(0, 30).Draw(t, fmt.Sprint("start", i)))
			spans = append(spans, Span{
				Row: rapid.IntRange(0, 2).Draw(t, fmt.Sprint("row", i)), Start: start,
				End: start + unit.Duration(rapid.IntRange(1, 6).Draw(t, fmt.Sprint("length", i))),
			})
		}
		lanes := assignLanes(spans)
		for i, a := range spans {
			alone := true
			for j, b := range spans {
				if i == j || a.Row != b.Row || a.Start >= b.End || b.Start >= a.End {
					continue
				}
				alone = false
				if lanes[i].index == lanes[j].index || lanes[i].of != lanes[j].of {
					t.Fatalf("spans %v and %v overlap in lanes %v and %v", a, b, lanes[i], lanes[j])
				}
			}
			if lanes[i].index >= lanes[i].of || (alone && lanes[i].of != 1) {
				t.Fatalf("span %v has lane %v (alone: %v)", a, lanes[i], alone)
			}
		}
	})
}

// Labels of messages cover neither boxes nor each other.
func TestArrowLabelsAreFree(t *testing.T) {
	d := twoBarriers(8, 4)
	for i := range d.Arrows {
		d.Arrows[i].Label = fmt.Sprintf("m%d", i)
	}
	r, s := inspect(t, d)
	times := d.times()
	x, err := Axis{Min: times.lo, Max: times.hi}.resolve(times, 0)
	if err != nil {
		t.Fatal(err)
	}
	g := newDiagramDrawing(d, &lightTheme, x, s.width)
	var labels []drawnText
	for _, k := range r.texts {
		if strings.HasPrefix(k.text, "m") && k.text != "message" {
			labels = append(labels, k)
		}
	}
	if len(labels) < 20 {
		t.Errorf("only %d of %d labels found a place", len(labels), len(d.Arrows))
	}
	for i, a := range labels {
		for _, b := range labels[:i] {
			if a.room.overlaps(b.room) {
				t.Errorf("labels %q and %q overlap", a.text, b.text)
			}
		}
		for k := range d.Spans {
			if box := g.spanRect(k); a.room.overlaps(box.grow(-1)) {
				t.Errorf("label %q at %v covers the box %v", a.text, a.room, box)
			}
		}
	}
}

// grow returns the rectangle with d more on every side.
func (r rect) grow(d float64) rect {
	return rect{r.x - d, r.y - d, r.w + 2*d, r.h + 2*d}
}

// Messages that pass each other at the same time are drawn side by side, others where they are.
func TestPassingArrows(t *testing.T) {
	us := unit.Microsecond
	d := &MessageDiagram{Rows: make([]DiagramRow, 3), Spans: []Span{{End: 100 * us}}, Arrows: []Arrow{
		{From: 0, To: 2, Depart: 50 * us, Arrive: 50 * us}, {From: 2, To: 1, Depart: 50 * us, Arrive: 50 * us},
		{From: 0, To: 1, Depart: 80 * us, Arrive: 80 * us}, {From: 2, To: 1, Depart: 80 * us, Arrive: 80 * us},
	}}
	times := d.times()
	x, err := Axis{Min: times.lo, Max: times.hi}.resolve(times, 0)
	if err != nil {
		t.Fatal(err)
	}
	ends := newDiagramDrawing(d, &lightTheme, x, 760).arrowEnds()
	if got := ends[1][0].x - ends[0][0].x; got != 2*apart {
		t.Errorf("messages that pass are %g apart, want %g", got, 2*apart)
	}
	if ends[2][0].x != ends[3][0].x {
		t.Errorf("messages between other rows are moved apart: %v, %v", ends[2], ends[3])
	}
}

// Few labels that happen to find a place are left out: they would seem to belong to all messages.
func TestSparseLabels(t *testing.T) {
	us := unit.Microsecond
	d := &MessageDiagram{Rows: make([]DiagramRow, 10), Spans: []Span{{End: 100 * us}}, Arrows: []Arrow{
		{From: 0, To: 9, Depart: 50 * us, Arrive: 50 * us, Label: "8B"},
	}}
	for i := range 9 { // too short for labels
		d.Arrows = append(d.Arrows, Arrow{From: i, To: i + 1, Depart: 80 * us, Arrive: 80 * us, Label: "8B"})
	}
	labels := func() (n int) {
		r, _ := inspect(t, d)
		for _, k := range r.texts {
			if k.text == "8B" {
				n++
			}
		}
		return n
	}
	if n := labels(); n != 0 {
		t.Errorf("%d of 10 labels are written", n)
	}
	if d.Arrows = d.Arrows[:1]; labels() != 1 {
		t.Error("the only label is not written")
	}
}

// Subtitles write durations as axes do.
func TestSubtitleUnits(t *testing.T) {
	r, _ := inspect(t, &MessageDiagram{Title: "ring", Subtitle: "4 ranks, makespan 237.4us", Rows: make([]DiagramRow, 1)})
	if !slices.ContainsFunc(r.texts, func(k drawnText) bool { return k.text == "4 ranks, makespan 237.4 µs" }) {
		t.Errorf("texts: %v", r.texts)
	}
}
