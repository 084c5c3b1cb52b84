package pattern

import "slackline/model/schedule"

func (silence) messages() int64 { return 0 }

// counted is a part that knows the number of point-to-point messages that all ranks send in it.
type counted interface{ messages() int64 }

// Totals is what all ranks of a program do together.
type Totals struct {
	Messages int64                        // point-to-point, without those inside collectives
	Calls    map[schedule.Operation]int64 // collective calls; one by all ranks counts once
}

// Count returns the totals of a program made by New, by arithmetic: it does not walk the ranks.
// For other programs ok is false.
func Count(p schedule.Program) (t Totals, ok bool) {
	prog, ok := p.(*program)
	if !ok {
		return Totals{}, false
	}
	t.Calls = map[schedule.Operation]int64{}
	count := func(parts []part, times int) {
		for _, q := range parts {
			t.Messages += q.(counted).messages() * int64(times)
			if o, ok := q.(*overlap); ok {
				q = o.communication
			}
			if c, ok := q.(interface{ operation() schedule.Operation }); ok {
				t.Calls[c.operation()] += int64(times)
			}
		}
	}
	count(prog.before, 1)
	count(prog.body, prog.iterations)
	count(prog.after, 1)
	t.Messages *= int64(prog.ranks / prog.tile)
	return t, true
}

func (x *box) messages() int64 {
	n := int64(0)
	for _, o := range offsets[len(offsets)/2:] { // the half that leads to larger ranks
		n += 2 * int64(x.pairs(o))
	}
	return n
}

// pairs returns the number of ranks with a neighbor at an offset that leads to a larger rank.
func (x *box) pairs(o offset) int {
	below := x.ranks
	for d := range o {
		below -= o[d] * x.strides[d]
	}
	if below <= 0 {
		return 0
	}
	// Count the ranks below this bound whose x and y allow the step: whole planes, whole rows
	// of the last plane, and its last row. The bound itself takes care of z.
	xs, ys := x.dims[0]-abs(o[0]), x.dims[1]-abs(o[1])
	planes, rest := below/x.strides[2], below%x.strides[2]
	rows, rest := rest/x.dims[0], rest%x.dims[0]
	firstX, firstY := max(-o[0], 0), max(-o[1], 0)
	n := planes * xs * ys
	n += min(max(rows-firstY, 0), ys) * xs
	if rows >= firstY && rows < firstY+ys {
		n += min(max(rest-firstX, 0), xs)
	}
	return n
}

func abs(n int) int { return max(n, -n) }

func (p *treePing) messages() int64 {
	if p.last {
		return int64(p.ranks - p.half)
	}
	return int64(p.ranks / (2 * p.half))
}

func (p *linearPing) messages() int64 { return 1 }

func (c *call) messages() int64                  { return 0 }
func (c *call) operation() schedule.Operation    { return c.calls[0].Op }
func (*groupCall) operation() schedule.Operation { return schedule.Allreduce }

func (o *overlap) messages() int64 { return o.communication.(counted).messages() }

func (h *halo) messages() int64 {
	n := int64(0)
	for d := range h.dims {
		n += 2 * int64(h.links(d))
	}
	return n
}

func (c *incast) messages() int64 { return int64(c.senders) }

func (p *pairs) messages() int64 {
	if p.oneWay {
		return int64(p.ranks / 2)
	}
	return int64(p.ranks / 2 * 2)
}

func (p *pipeline) messages() int64 { return int64(p.pieces) * int64(p.ranks-1) }

func (t *twoTokens) messages() int64 {
	if t.ranks < 2 {
		return 0
	}
	return 2 * int64(t.ranks)
}

func (p *pingpong) messages() int64 { return int64(p.half) }

func (t *token) messages() int64 {
	switch {
	case t.ranks < 2:
		return 0
	case t.first:
		return 1
	}
	return int64(t.ranks - 1)
}

func (t *shift) messages() int64 {
	if t.ranks < 2 {
		return 0
	}
	return int64(t.ranks)
}

func (w *upstream) messages() int64 { return 0 } // the other end counts them

func (w *downstream) messages() int64 { return int64(w.links(w.dimension)) }

func (w *work) messages() int64 { return 0 }

// count returns how many ranks have the given coordinate in a dimension.
func (g *grid) count(dimension, coordinate int) int {
	stride := g.strides[dimension]
	period := stride * g.dims[dimension]
	rest := g.ranks%period - coordinate*stride
	return g.ranks/period*stride + min(max(rest, 0), stride)
}

// links returns the number of ranks that have a neighbor after them in a dimension.
func (g *grid) links(dimension int) int {
	links := g.ranks - g.count(dimension, 0)
	if g.wraps(dimension) && g.dims[dimension] > 1 {
		links += g.count(dimension, 1) // every line of at least two ranks is closed
	}
	return links
}

func (*piece) messages() int64     { return 0 }
func (*groupCall) messages() int64 { return 0 }

// messages counts the stages whose pass before sends, times the ranks of a stage.
func (t *transfer) messages() int64 {
	n := int64(0)
	for stage := range t.stages {
		if t.k > 0 {
			if _, _, ok := t.next(stage, t.at(stage, t.k-1)); ok {
				n += int64(t.tensor * t.data)
			}
		}
	}
	return n
}
