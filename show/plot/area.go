package plot

import (
	"errors"
	"math"
	"slices"
)

// Band fills the space between two curves: quantiles, bounds, confidence intervals.
type Band struct {
	Name      string
	Slot      int
	X         []float64 // the places of Low and High; with Stepped the edges, one more
	Low, High []float64
	Stepped   bool // the bounds are constant between two edges, as in Steps
}

func (s *Band) base() (string, int) { return s.Name, s.Slot }

func (s *Band) ranges(x, y *interval) error {
	name := describe("band", s.Name)
	n := len(s.X)
	if s.Stepped {
		n--
	}
	return errors.Join(paired(name, "low", len(s.Low), n), paired(name, "high", len(s.High), n),
		checked(name, "x", s.X, x), checked(name, "low", s.Low, y), checked(name, "high", s.High, y))
}

// bandShare is the opacity of bands and zones.
const bandShare = 0.28

func (s *Band) draw(c canvas, p *panel, l look) {
	var upper, lower []point
	for i := range s.Low {
		upper = append(upper, p.at(s.X[i], s.High[i]))
		lower = append(lower, p.at(s.X[i], s.Low[i]))
		if s.Stepped {
			upper = append(upper, p.at(s.X[i+1], s.High[i]))
			lower = append(lower, p.at(s.X[i+1], s.Low[i]))
		}
	}
	slices.Reverse(lower)
	if upper = append(upper, lower...); len(upper) > 0 {
		// The thin edge keeps a band visible where its bounds meet.
		c.path([][]point{upper}, true, paint{fill: fade(l.color, bandShare), stroke: fade(l.color, bandShare), width: 1})
	}
}

func (s *Band) key(c canvas, r rect, _ *theme, l look) {
	c.rects([]rect{r}, paint{fill: fade(l.color, bandShare)})
}

// Bars draws bars between edges, as in a histogram: Height[i] from Edges[i] to Edges[i+1].
type Bars struct {
	Name     string
	Slot     int
	Edges    []float64 // one more than Height; rising
	Height   []float64
	Sideways bool // the edges lie on the y axis and the bars grow along x
}

func (s *Bars) base() (string, int) { return s.Name, s.Slot }

func (s *Bars) ranges(x, y *interval) error {
	name := describe("bars", s.Name)
	along, across := x, y
	if s.Sideways {
		along, across = y, x
	}
	return errors.Join(paired(name, "edge", len(s.Edges), len(s.Height)+1),
		checked(name, "edge", s.Edges, along), checked(name, "height", s.Height, across))
}

func (s *Bars) draw(c canvas, p *panel, l look) {
	along, across := p.x, p.y
	if s.Sideways {
		along, across = p.y, p.x
	}
	// Bars start at 0 if the axis has it, otherwise at its end.
	start := across.at(math.Max(0, across.lo))
	if across.Scale != Linear {
		start = across.from
	}
	var bars []rect
	for i, h := range s.Height {
		if h == 0 {
			continue
		}
		a, b := along.at(s.Edges[i]), along.at(s.Edges[i+1])
		a, b = math.Min(a, b), math.Max(a, b)
		if b-a > 3 {
			b -= 0.7 // a gap between neighbors
		}
		end := across.at(h)
		if math.Abs(end-start) < 2 { // rare values stay visible beside the axis
			end = start + math.Copysign(2, across.to-across.from)
		}
		lo, hi := math.Min(start, end), math.Max(start, end)
		if s.Sideways {
			bars = append(bars, rect{lo, a, hi - lo, b - a})
		} else {
			bars = append(bars, rect{a, lo, b - a, hi - lo})
		}
	}
	c.rects(bars, paint{fill: l.color})
}

func (s *Bars) key(c canvas, r rect, _ *theme, l look) {
	c.rects([]rect{r}, paint{fill: l.color})
}

// Rule is a straight line through the whole chart: a limit, a reference.
type Rule struct {
	Name     string
	Slot     int
	At       float64
	Vertical bool // At is a value of x, otherwise of y
}

func (s *Rule) base() (string, int) { return s.Name, s.Slot }

func (s *Rule) ranges(x, y *interval) error {
	if s.Vertical {
		return checked(describe("rule", s.Name), "x", []float64{s.At}, x)
	}
	return checked(describe("rule", s.Name), "y", []float64{s.At}, y)
}

func (s *Rule) draw(c canvas, p *panel, l look) {
	a, b := point{p.frame.x, p.y.at(s.At)}, point{p.frame.right(), p.y.at(s.At)}
	if s.Vertical {
		a, b = point{p.x.at(s.At), p.frame.bottom()}, point{p.x.at(s.At), p.frame.y}
	}
	line(c, a, b, paint{stroke: l.color, width: 1.4, dash: l.dash})
}

func (s *Rule) key(c canvas, r rect, _ *theme, l look) {
	y := r.y + r.h/2
	line(c, point{r.x, y}, point{r.right(), y}, paint{stroke: l.color, width: 1.4, dash: l.dash})
}

// Zone shades all between two values of an axis: a range that is tolerated, an interval of time.
// Like all data, it widens an axis that fits the data.
type Zone struct {
	Name     string
	Slot     int
	From, To float64
	Vertical bool // From and To are values of x, otherwise of y
}

func (s *Zone) base() (string, int) { return s.Name, s.Slot }

func (s *Zone) ranges(x, y *interval) error {
	if s.Vertical {
		return checked(describe("zone", s.Name), "x", []float64{s.From, s.To}, x)
	}
	return checked(describe("zone", s.Name), "y", []float64{s.From, s.To}, y)
}

func (s *Zone) draw(c canvas, p *panel, l look) {
	r := p.frame
	if s.Vertical {
		a, b := p.x.at(s.From), p.x.at(s.To)
		r.x, r.w = math.Min(a, b), math.Abs(b-a)
	} else {
		a, b := p.y.at(s.From), p.y.at(s.To)
		r.y, r.h = math.Min(a, b), math.Abs(b-a)
	}
	c.rects([]rect{r}, paint{fill: fade(l.color, bandShare/2)})
}

func (s *Zone) key(c canvas, r rect, _ *theme, l look) {
	c.rects([]rect{r}, paint{fill: fade(l.color, bandShare/2), stroke: fade(l.color, bandShare), width: 1})
}
