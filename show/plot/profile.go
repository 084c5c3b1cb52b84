package plot

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"slackline/model/unit"
)

// FinishProfile shows when each rank of a large run finishes: over the ranks, and beside it how
// many finish when. It takes millions of ranks: they are gathered into columns.
type FinishProfile struct {
	Title, Subtitle string
	Caption         string          // added to the figure's own summary
	Finish          []unit.Duration // by rank
	Width, Height   float64         // 0: 860 and 440
}

const (
	profileWidth   = 860
	profileColumns = 800 // at most
	histogramBins  = 60  // at most
	sideWidth      = 130 // of the histogram
	sideGap        = 14
)

// column is a group of neighboring ranks.
type column struct {
	first, end       int // ranks from first to end-1
	low, median, top unit.Duration
}

// columns gathers the ranks into at most limit groups whose sizes differ by at most one, and takes
// lowest, median (the lower one of two) and highest of each, exactly.
func columns(finish []unit.Duration, limit int) []column {
	n := len(finish)
	count := min(n, limit)
	result := make([]column, count)
	var group []unit.Duration
	for i := range result {
		// n is a number of elements in memory, far from overflowing when multiplied by 800.
		first, end := i*n/count, (i+1)*n/count
		group = append(group[:0], finish[first:end]...)
		slices.Sort(group)
		result[i] = column{first, end, group[0], group[(len(group)-1)/2], group[len(group)-1]}
	}
	return result
}

// summary is the content of the caption.
type summary struct {
	low, median, top   unit.Duration
	lowRank, topRank   int // the first of them
	ranks, perColumnLo int
	perColumnHi        int
}

func summarize(finish []unit.Duration, cols []column) summary {
	s := summary{ranks: len(finish), low: slices.Min(finish), top: slices.Max(finish)}
	s.lowRank, s.topRank = slices.Index(finish, s.low), slices.Index(finish, s.top)
	s.median = slices.Sorted(slices.Values(finish))[(len(finish)-1)/2]
	s.perColumnLo, s.perColumnHi = len(finish), 0
	for _, c := range cols {
		s.perColumnLo = min(s.perColumnLo, c.end-c.first)
		s.perColumnHi = max(s.perColumnHi, c.end-c.first)
	}
	return s
}

// String is the summary in words.
func (s summary) String() string {
	text := fmt.Sprintf("%s ranks. Makespan %s (rank %s), median %s, first %s (rank %s).", printCount(s.ranks),
		printTime(float64(s.top)), printCount(s.topRank), printTime(float64(s.median)), printTime(float64(s.low)), printCount(s.lowRank))
	switch {
	case s.perColumnHi == 1:
	case s.perColumnLo == s.perColumnHi:
		text += fmt.Sprintf(" A column holds %s ranks.", printCount(s.perColumnHi))
	default:
		text += fmt.Sprintf(" A column holds %s or %s ranks.", printCount(s.perColumnLo), printCount(s.perColumnHi))
	}
	return text
}

// histogram counts values in equal bins from the lowest to the highest, which is in the last bin.
// The shares are in per cent.
func histogram(finish []unit.Duration, low, top unit.Duration, bins int) (edges, shares []float64) {
	if low == top {
		bins = 1
	}
	width := (float64(top) - float64(low)) / float64(bins)
	counts := make([]int, bins)
	for _, f := range finish {
		bin := 0
		if top > low {
			bin = int(float64(f-low) / float64(top-low) * float64(bins))
		}
		counts[min(bin, bins-1)]++
	}
	for i, count := range counts {
		edges = append(edges, float64(low)+float64(i)*width)
		shares = append(shares, 100*float64(count)/float64(len(finish)))
	}
	return append(edges, float64(top)), shares
}

// layers returns the curve over the ranks.
func (f *FinishProfile) layers(cols []column) []Layer {
	edges := make([]float64, 0, len(cols)+1)
	var low, mid, top []float64
	single := true
	for _, c := range cols {
		edges = append(edges, float64(c.first)-0.5)
		low, mid, top = append(low, float64(c.low)), append(mid, float64(c.median)), append(top, float64(c.top))
		single = single && c.end-c.first == 1
	}
	edges = append(edges, float64(len(f.Finish))-0.5)
	if single {
		return []Layer{&Steps{Name: "finish time", Slot: 1, Edges: edges, Y: mid}}
	}
	return []Layer{
		&Band{Name: "first to last rank of a column", Slot: 1, X: edges, Low: low, High: top, Stepped: true},
		&Steps{Name: "median of a column", Slot: 1, Edges: edges, Y: mid},
	}
}

func (f *FinishProfile) layout(th *theme) (*sheet, error) {
	width, height := cmp.Or(f.Width, profileWidth), cmp.Or(f.Height, chartHeight)
	if err := errors.Join(checkWidth(width), checkHeight(height)); err != nil {
		return nil, err
	}
	if len(f.Finish) == 0 {
		return nil, errors.New("a finish-time profile needs at least one rank")
	}
	if low := slices.Min(f.Finish); low < 0 {
		return nil, fmt.Errorf("finish time %d ps of rank %d is negative", low, slices.Index(f.Finish, low))
	}
	cols := columns(f.Finish, profileColumns)
	sum := summarize(f.Finish, cols)
	caption := sum.String()
	if f.Caption != "" {
		caption += " " + f.Caption
	}
	main, err := newPanel(th, Axis{Label: "rank", Whole: true}, Axis{Label: "finish time", Quantity: Time}, f.layers(cols))
	if err != nil {
		return nil, err
	}
	edges, shares := histogram(f.Finish, sum.low, sum.top, min(histogramBins, 4+int(2*math.Sqrt(float64(len(f.Finish))))))
	if sum.low == sum.top {
		// One value has no width; the bar gets that of a bin.
		half := (main.y.hi - main.y.lo) / histogramBins / 2
		edges = []float64{float64(sum.low) - half, float64(sum.low) + half}
	}
	bars := &Bars{Slot: 3, Edges: edges, Height: shares, Sideways: true}
	side, err := newPanel(th, Axis{Label: "share of ranks", Quantity: Percent}, Axis{Quantity: Time, Min: main.y.lo, Max: main.y.hi},
		[]Layer{bars})
	if err != nil {
		return nil, err
	}
	side.bare = true
	return f.join(th, main, side, caption, width, height), nil
}

// join puts the two panels side by side.
func (f *FinishProfile) join(th *theme, main, side *panel, caption string, width, height float64) *sheet {
	w := newWords(f.Title, f.Subtitle, caption, width, main.legendEntries())
	top := w.headHeight() + 10
	below := main.xLabelHeight() + w.footHeight()
	plotHeight := height - top - below
	if plotHeight < leastPlot {
		plotHeight = leastPlot
		height = top + plotHeight + below
	}
	left := margin + main.yLabelWidth(plotHeight)
	right := width - margin - 4
	main.place(rect{left, top, right - sideWidth - sideGap - left, plotHeight})
	side.place(rect{right - sideWidth, top, sideWidth, plotHeight})
	return &sheet{
		width: width, height: height, title: cmp.Or(f.Title, "Finish times"), desc: description(f.Subtitle, caption, main),
		paint: func(c canvas) {
			w.draw(c, th, height)
			main.draw(c)
			side.draw(c)
		},
	}
}
