package plot

import (
	"fmt"
	"math"
	"testing"
)

// drawnText is a text with the room it may take on the page.
type drawnText struct {
	text string
	room rect
}

// recorder is a canvas that keeps what is drawn and checks that every number is one.
type recorder struct {
	t       testing.TB
	texts   []drawnText
	shapes  int
	clipped int
	bad     []string
}

func (r *recorder) number(what string, values ...float64) {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) || math.Abs(v) > 2*farAway+100 {
			r.bad = append(r.bad, fmt.Sprintf("%s at %v", what, values))
			return
		}
	}
}

func (r *recorder) path(parts [][]point, _ bool, p paint) {
	for _, part := range parts {
		r.shapes++
		for _, pt := range part {
			r.number("path", pt.x, pt.y)
		}
	}
	r.look(p)
}

func (r *recorder) rects(rs []rect, p paint) {
	for _, b := range rs {
		r.shapes++
		r.number("rect", b.x, b.y, b.w, b.h)
		if b.w < 0 || b.h < 0 {
			r.bad = append(r.bad, fmt.Sprintf("rect %v has a negative side", b))
		}
	}
	r.look(p)
}

func (r *recorder) circles(centers []point, radius float64, p paint) {
	for _, c := range centers {
		r.shapes++
		r.number("circle", c.x, c.y, radius)
	}
	r.look(p)
}

func (r *recorder) look(p paint) {
	if p.fill.A == 0 && p.stroke.A == 0 {
		r.bad = append(r.bad, "a shape that cannot be seen")
	}
}

func (r *recorder) text(at point, s string, st textStyle) {
	r.number("text "+s, at.x, at.y, st.size)
	width := textRoom(s, st.size, st.bold)
	left := at.x
	switch st.anchor {
	case anchorMiddle:
		left -= width / 2
	case anchorEnd:
		left -= width
	}
	room := rect{left, at.y - st.size*0.8, width, st.size}
	if st.turn == -90 { // upwards: the text's width is its height on the page
		room = rect{at.x - st.size*0.8, at.y - width/2, st.size, width}
		switch st.anchor {
		case anchorStart:
			room.y = at.y - width
		case anchorEnd:
			room.y = at.y
		}
	}
	r.texts = append(r.texts, drawnText{s, room})
}

func (r *recorder) clip(b rect) {
	r.number("clip", b.x, b.y, b.w, b.h)
	r.clipped++
}

func (r *recorder) unclip() { r.clipped-- }

// inspect lays a figure out, draws it, and fails if anything is not a number, sticks out of the
// page, or is clipped for ever.
func inspect(t testing.TB, fig Figure) (*recorder, *sheet) {
	t.Helper()
	s, err := fig.layout(&lightTheme)
	if err != nil {
		t.Fatalf("layout: %v", err)
	}
	r := &recorder{t: t}
	s.paint(r)
	for _, b := range r.bad {
		t.Errorf("drawn: %s", b)
	}
	for _, x := range r.texts {
		if x.room.x < 0 || x.room.y < 0 || x.room.right() > s.width || x.room.bottom() > s.height {
			t.Errorf("text %q takes %v, outside the page of %g by %g", x.text, x.room, s.width, s.height)
		}
	}
	if r.clipped != 0 {
		t.Errorf("%d clips are still open", r.clipped)
	}
	return r, s
}
