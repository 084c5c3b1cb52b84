package figures

import (
	"slackline/analyze/tolerance"
	"slackline/show/plot"
)

// runtime draws the run time T over a parameter of the network.
type runtime struct {
	X, T    []float64 // the corners of T
	answers *tolerance.Answers
}

// newRuntime draws the curve of answers, which have one.
func newRuntime(a *tolerance.Answers) *runtime {
	r := &runtime{answers: a}
	for _, c := range a.Curve {
		x, _ := c.X.Float64()
		t, _ := c.T.Float64()
		r.X, r.T = append(r.X, r.scaled(x)), append(r.T, r.scaled(t))
	}
	return r
}

// scaled is a value of the parameter, or of T beside it, on its axis: picoseconds, also per byte.
func (r *runtime) scaled(v float64) float64 {
	if r.answers.Question.Variable.Parameter == tolerance.G {
		return v / 1000
	}
	return v
}

// curve is T.
func (r *runtime) curve(name string, slot int) *plot.Line {
	return &plot.Line{Name: name, Slot: slot, X: r.X, Y: r.T}
}

// slope is the slope of T between the corners.
func (r *runtime) slope(slot int) *plot.Steps {
	s := &plot.Steps{Slot: slot, Edges: r.X}
	for _, c := range r.answers.Curve[:len(r.answers.Curve)-1] {
		s.Y = append(s.Y, float64(c.After))
	}
	return s
}

// axis is a range with room to the left if the given value is where the curve begins: its mark would lie on the other axis.
func (r *runtime) axis() (low, high float64) {
	low, high = r.X[0], r.X[len(r.X)-1]
	room := 0.03 * (high - low)
	if at := r.scaled(float64(r.answers.Given.X)); low > 0 && at >= low && at < low+room {
		low = max(0, low-room)
	}
	return low, high
}

// given marks the given value of the parameter; nil if it is outside the range.
func (r *runtime) given(name string) []plot.Layer {
	at := r.scaled(float64(r.answers.Given.X))
	if at < r.X[0] || at > r.X[len(r.X)-1] {
		return nil
	}
	return []plot.Layer{&plot.Rule{Name: name, At: at, Vertical: true, Slot: plot.Neutral}}
}

// zoneSlots are the colors of the zones of tolerances: green, orange, vermilion, then others.
var zoneSlots = []int{3, 4, 2, 5, 6, 7}

// zones are the adjacent ranges that the tolerances allow; name returns the name of the zone of tolerance i.
func (r *runtime) zones(name func(i int) string) []plot.Layer {
	last := r.X[len(r.X)-1]
	from := max(r.X[0], r.scaled(float64(r.answers.Given.X)))
	var layers []plot.Layer
	for i, l := range r.answers.Tolerance {
		to := last
		if !l.Unbounded {
			to = min(r.scaled(float64(l.X)), last)
		}
		if to <= from {
			continue
		}
		layers = append(layers, &plot.Zone{Name: name(i), From: from, To: to, Vertical: true, Slot: zoneSlots[i%len(zoneSlots)]})
		from = to
	}
	return layers
}

// shareSamples is the number of places at which a share is computed, over the whole range.
const shareSamples = 240

// share is the share of T that the parameter has: X times slope by T, which is not a straight line between the corners
// and jumps at them.
func (r *runtime) share(slot int) *plot.Line {
	line := &plot.Line{Slot: slot}
	width := r.X[len(r.X)-1] - r.X[0]
	for i := range len(r.X) - 1 {
		n := max(1, int(shareSamples*(r.X[i+1]-r.X[i])/width))
		for j := range n + 1 {
			f := float64(j) / float64(n)
			x, t := r.X[i]+f*(r.X[i+1]-r.X[i]), r.T[i]+f*(r.T[i+1]-r.T[i])
			share := 0.0
			if t > 0 {
				share = 100 * x * float64(r.answers.Curve[i].After) / t
			}
			line.X, line.Y = append(line.X, x), append(line.Y, share)
		}
	}
	return line
}
