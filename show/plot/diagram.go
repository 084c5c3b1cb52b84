package plot

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"

	"slackline/internal/stat"
	"slackline/model/unit"
)

// MessageDiagram shows who sent what to whom and when: one line per process, time to the right,
// boxes for what a processor does, arrows for messages. It is for runs that fit a page; a larger
// one is refused, and FinishProfile is the figure for it.
type MessageDiagram struct {
	Title, Subtitle, Caption string
	Rows                     []DiagramRow
	Spans                    []Span
	Arrows                   []Arrow
	RowsLabel                string  // what the rows are; "" means rank
	Width                    float64 // 0: as wide as the shortest boxes need, 760 to 1600
}

// DiagramRow is one process of a message diagram.
type DiagramRow struct {
	Label    string
	Finish   unit.Duration
	Finished bool // draw the finish mark
}

// SpanKind is what a process does during a span.
type SpanKind uint8

// The kinds of spans.
const (
	Compute SpanKind = iota
	Blocked          // waits inside a send
	Send             // overhead of a send
	Receive          // overhead of a receive
	Noise            // a detour or a delay
	spanKinds
)

var spanNames = [spanKinds]string{
	Compute: "compute", Blocked: "blocked", Send: "send overhead", Receive: "receive overhead", Noise: "delay",
}

// Span is something that a process does. Spans of one row that overlap are drawn one below the
// other.
type Span struct {
	Row        int
	Start, End unit.Duration
	Kind       SpanKind
}

// Arrow is a message: it leaves one row and reaches another.
type Arrow struct {
	From, To       int // rows
	Depart, Arrive unit.Duration
	Label          string // left out where it would cover something, or where there are very many
}

// The largest message diagram that can be read.
const (
	MaxDiagramRows   = 64
	MaxDiagramArrows = 1000
	MaxDiagramSpans  = 10_000
)

// check refuses what is too large and what points outside the rows.
func (d *MessageDiagram) check() error {
	for _, limit := range []struct {
		what     string
		got, max int
	}{{"rows", len(d.Rows), MaxDiagramRows}, {"messages", len(d.Arrows), MaxDiagramArrows}, {"spans", len(d.Spans), MaxDiagramSpans}} {
		if limit.got > limit.max {
			return fmt.Errorf("%d %s are too many for a message diagram (at most %d); cut the run, or draw its finish-time profile",
				limit.got, limit.what, limit.max)
		}
	}
	if len(d.Rows) == 0 {
		return errors.New("a message diagram needs at least one row")
	}
	for i, s := range d.Spans {
		if s.Row < 0 || s.Row >= len(d.Rows) || s.End < s.Start || s.Kind >= spanKinds {
			return fmt.Errorf("span %d (row %d, kind %d, %d to %d ps) is not within the %d rows, of a known kind and forward in time",
				i, s.Row, s.Kind, s.Start, s.End, len(d.Rows))
		}
	}
	for i, a := range d.Arrows {
		if min(a.From, a.To) < 0 || max(a.From, a.To) >= len(d.Rows) || a.Arrive < a.Depart {
			return fmt.Errorf("message %d (row %d at %d ps to row %d at %d ps) is not within the %d rows and forward in time",
				i, a.From, a.Depart, a.To, a.Arrive, len(d.Rows))
		}
	}
	return nil
}

// times returns the range of the time axis. It starts at 0 unless the run begins late.
func (d *MessageDiagram) times() interval {
	t := emptyInterval()
	for _, s := range d.Spans {
		t.add(float64(s.Start))
		t.add(float64(s.End))
	}
	for _, a := range d.Arrows {
		t.add(float64(a.Depart))
		t.add(float64(a.Arrive))
	}
	for _, r := range d.Rows {
		if r.Finished {
			t.add(float64(r.Finish))
		}
	}
	if t.empty() {
		return interval{0, float64(unit.Microsecond)}
	}
	if t.lo > 0 && t.lo < t.hi/2 {
		t.lo = 0
	}
	air := 0.01 * (t.hi - t.lo)
	if t.lo != 0 {
		t.lo -= air
	}
	t.hi += air
	return t
}

// bestWidth makes the typical overhead wide enough to be seen.
func (d *MessageDiagram) bestWidth(t interval) float64 {
	const wanted, least, most = 9, 760, 1600
	var lengths []float64
	for _, s := range d.Spans {
		if (s.Kind == Send || s.Kind == Receive) && s.End > s.Start {
			lengths = append(lengths, float64(s.End-s.Start))
		}
	}
	if len(lengths) == 0 {
		return least
	}
	typical := stat.Sorted(lengths)[(len(lengths)-1)/2]
	return math.Min(math.Max(160+wanted*(t.hi-t.lo)/typical, least), most)
}

func (d *MessageDiagram) layout(th *theme) (*sheet, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	times := d.times()
	width := d.Width
	if width == 0 {
		width = math.Round(d.bestWidth(times))
	}
	if err := checkWidth(width); err != nil {
		return nil, err
	}
	time := Axis{Label: "time", Quantity: Time, Min: times.lo, Max: times.hi}
	x, err := time.resolve(times, 0)
	if err != nil {
		return nil, err
	}
	g := newDiagramDrawing(d, th, x, width)
	return &sheet{
		width: width, height: g.height, title: cmp.Or(d.Title, "Message diagram"),
		desc: strings.TrimSpace(fmt.Sprintf("Message diagram: %d rows, %d messages, time to the right. %s\n%s",
			len(d.Rows), len(d.Arrows), d.Subtitle, d.Caption)),
		paint: g.draw,
	}, nil
}
