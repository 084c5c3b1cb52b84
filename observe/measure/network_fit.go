package measure

import "math"

// segment is a range of sizes, by index, both ends included.
type segment struct{ first, last int }

// networkFit are the parameters that one set of times gives.
type networkFit struct {
	segments        []segment
	half            float64   // half a round trip of small messages
	send, receive   float64   // overheads of small messages
	gap, perByte    []float64 // by segment
	sends, receives []float64 // mean overheads by segment
}

const (
	mostSegments  = 4
	minPoints     = 4    // of a segment
	smallOverhead = 5    // the figures of small messages are the medians of so many sizes
	jump          = 1.25 // by which a round trip grows at a change of protocol that is more than a bend
)

// fitRound fits the parameters; segments are those of the whole measurement, or nil to find them.
func fitRound(round []roundOf, o *NetworkOptions, of func([]float64) float64, segments []segment) networkFit {
	n := len(round)
	x, gaps, singles := make([]float64, n), make([]float64, n), make([]float64, n)
	sends, receives := make([]float64, n), make([]float64, n)
	for k := range round {
		x[k] = float64(o.Sizes[k] - 1)
		singles[k] = of(round[k].single)
		gaps[k], sends[k], receives[k] = round[k].costs(o.Messages, of)
	}
	if segments == nil {
		segments = findSegments(x, gaps, singles)
	}
	small := min(smallOverhead, n)
	f := networkFit{
		segments: segments, half: median(singles[:small]) / 2,
		send: median(sends[:small]), receive: median(receives[:small]),
	}
	for _, s := range segments {
		a, b := line(x[s.first:s.last+1], gaps[s.first:s.last+1])
		f.gap, f.perByte = append(f.gap, a), append(f.perByte, b)
		f.sends = append(f.sends, median(sends[s.first:s.last+1]))
		f.receives = append(f.receives, median(receives[s.first:s.last+1]))
	}
	return f
}

// line fits y = a + b x with weights 1/y^2: it is the relative error that matters over
// sizes from a byte to megabytes.
func line(x, y []float64) (a, b float64) {
	var w, wx, wy, wxx, wxy float64
	for i := range x {
		k := 1 / math.Max(y[i]*y[i], 1e-12)
		w, wx, wy = w+k, wx+k*x[i], wy+k*y[i]
		wxx, wxy = wxx+k*x[i]*x[i], wxy+k*x[i]*y[i]
	}
	det := w*wxx - wx*wx
	if math.Abs(det) < 1e-9*w*wxx {
		return wy / w, 0
	}
	b = (w*wxy - wx*wy) / det
	return (wy - b*wx) / w, b
}

// misfit is the sum of the squared relative errors of the line through some points.
func misfit(x, y []float64) float64 {
	a, b := line(x, y)
	sum := 0.0
	for i := range x {
		e := (a + b*x[i] - y[i]) / math.Max(math.Abs(y[i]), 1e-9)
		sum += e * e
	}
	return sum
}

// findSegments divides the sizes where the protocol changes: of all divisions into at most four
// segments the one with the smallest Schwarz criterion of both the gaps and the round trips, by dynamic
// programming.
func findSegments(x, gaps, singles []float64) []segment {
	n := len(x)
	cost := func(first, last int) float64 {
		return misfit(x[first:last+1], gaps[first:last+1]) + misfit(x[first:last+1], singles[first:last+1])
	}
	points := minPoints
	if n < 2*points {
		return []segment{{0, n - 1}}
	}
	// best[m][i] is the smallest misfit of the first i points in m segments, from[m][i] where the last one starts.
	best := make([][]float64, mostSegments+1)
	from := make([][]int, mostSegments+1)
	for m := range best {
		best[m], from[m] = make([]float64, n+1), make([]int, n+1)
		for i := range best[m] {
			best[m][i] = math.Inf(1)
		}
	}
	best[0][0] = 0
	for m := 1; m <= mostSegments; m++ {
		for i := m * points; i <= n; i++ {
			for j := (m - 1) * points; j+points <= i; j++ {
				if c := best[m-1][j] + cost(j, i-1); c < best[m][i] {
					best[m][i], from[m][i] = c, j
				}
			}
		}
	}
	chosen, criterion := 1, math.Inf(1)
	for m := 1; m <= mostSegments; m++ {
		if math.IsInf(best[m][n], 1) {
			continue
		}
		points := float64(2 * n)
		floor := 1e-6 * points // measurements are never better than a thousandth
		k := points*math.Log((best[m][n]+floor)/points) + float64(5*m-1)*math.Log(points)
		if k < criterion {
			chosen, criterion = m, k
		}
	}
	var list []segment
	for m, i := chosen, n; m > 0; m-- {
		list = append([]segment{{from[m][i], i - 1}}, list...)
		i = from[m][i]
	}
	return list
}

// Jumps are the sizes after which a round trip becomes longer at once: changes of protocol that
// can be seen in time.
func (n *Network) Jumps() []int {
	var list []int
	for i := 1; i < len(n.Protocols); i++ {
		for k := 1; k < len(n.Points); k++ {
			if n.Points[k].Size == n.Protocols[i].From && n.Points[k].Single.Value > jump*n.Points[k-1].Single.Value {
				list = append(list, n.Points[k-1].Size)
			}
		}
	}
	return list
}
