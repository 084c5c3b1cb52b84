package figures

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"

	"slackline/analyze/profile"
	"slackline/analyze/waits"
	"slackline/model/timeline"
	"slackline/model/unit"
	"slackline/show/plot"
)

// Colors of kinds of activity on a light and on a dark ground, as the explorer has them (its TestColorsAreThoseOfFigures
// compares): work is gray, so that waits stand out.
var (
	computation   = waits.Color{Light: "#D3D7DC", Dark: "#4A515C"}
	outside       = waits.Color{Light: "#F5F6F8", Dark: "#1C2027"}
	communication = []waits.Color{
		{Light: "#8FBBDD", Dark: "#2E6A96"}, {Light: "#5F9CCB", Dark: "#3F87B8"}, {Light: "#B4D0E6", Dark: "#24506F"},
		{Light: "#3F83B8", Dark: "#5CA5D3"}, {Light: "#9CC9D6", Dark: "#2F7686"}, {Light: "#79AFC0", Dark: "#4793A5"},
	}
	runtimes = []waits.Color{
		{Light: "#C3B1D9", Dark: "#6E5A8C"}, {Light: "#A58CC4", Dark: "#8A72AD"},
		{Light: "#DCCFEA", Dark: "#574672"}, {Light: "#8B6FB0", Dark: "#A48FC4"},
	}
)

// KindColor is the color of a kind of activity. Wait states have theirs in waits.Info.
func KindColor(k profile.Kind) waits.Color {
	switch k {
	case profile.Computation:
		return computation
	case profile.PointToPoint, profile.Collective, profile.FileIO, profile.OneSided, profile.InitExit, profile.OtherMPI:
		return communication[int(k-profile.PointToPoint)%len(communication)]
	case profile.OpenMP, profile.Noise, profile.Recording:
		return runtimes[int(k-profile.OpenMP)%len(runtimes)]
	case profile.NoCPU:
		return runtimes[3]
	}
	return outside
}

// Timeline shows what ranks and their streams do over time: of each cell of a row the kind of activity or the wait state that takes most
// of its time. Of more locations than rows, evenly spread ones are shown.
func Timeline(r *waits.Result, rows, columns int) *plot.Lanes {
	tl := r.Timeline.WithStreams()
	order := tl.ByRank()
	n := len(order)
	shown := min(rows, n)
	l := &plot.Lanes{Columns: columns, End: float64(tl.End - tl.Start), Cells: make([]uint8, 0, shown*columns)}
	p := painter{r: r, tl: tl, sums: profile.NewSums(r.Paths), kinds: map[laneKind]uint8{}, lanes: l}
	for i := range shown {
		location := int32(order[i*n/shown])
		name := fmt.Sprintf("rank %d", tl.Locations[location].Rank)
		if thread := tl.Locations[location].Thread; thread > 0 {
			name += fmt.Sprintf(", thread %d", thread)
		} else if thread < 0 {
			name += ", " + tl.Locations[location].Name
		}
		l.Rows = append(l.Rows, name)
		for x := range columns {
			from := tl.Start + (tl.End-tl.Start)*unit.Duration(x)/unit.Duration(columns)
			to := tl.Start + (tl.End-tl.Start)*unit.Duration(x+1)/unit.Duration(columns)
			l.Cells = append(l.Cells, p.cell(location, from, max(to, from+1)))
		}
	}
	return l
}

// laneKind is what a cell shows: a wait state, or without one a kind of activity.
type laneKind struct {
	metric waits.Metric // None: no wait
	kind   profile.Kind
}

// painter finds the kinds of cells.
type painter struct {
	r     *waits.Result
	tl    *timeline.Timeline // with streams
	sums  *profile.Sums
	kinds map[laneKind]uint8
	lanes *plot.Lanes
}

// cell is the kind of what a location does most between two moments.
func (p *painter) cell(location int32, from, to unit.Duration) uint8 {
	calls := &p.tl.Locations[location].Calls
	times := map[laneKind]unit.Duration{{waits.None, profile.Outside}: to - from}
	p.sums.Clear()
	before := sort.Search(calls.Len(), func(i int) bool { return calls.Enter[i] >= to })
	p.r.Windows().Add(p.sums, location, from, to, int32(before))
	for _, path := range p.sums.Touched {
		d := p.sums.First(path)
		times[laneKind{waits.None, p.kindOf(path)}] += d
		times[laneKind{waits.None, profile.Outside}] -= d
	}
	first, end := p.r.StatesOf(location)
	state := first + sort.Search(end-first, func(i int) bool { _, _, until := p.r.SpanOf(first + i); return until > from })
	for ; state < end; state++ {
		metric, begin, until := p.r.SpanOf(state)
		if begin >= to {
			break
		}
		d := max(min(until, to)-max(begin, from), 0)
		if spans := p.r.SpansOf(state); len(spans) > 0 { // with gaps between them
			d = 0
			for _, s := range spans {
				d += max(min(s.To, to)-max(s.From, from), 0)
			}
		}
		if d == 0 {
			continue
		}
		times[laneKind{metric, profile.Waiting}] += d
		under := profile.Outside
		if call, _, _ := p.r.CallsOf(state); call >= 0 && begin >= calls.Enter[call] { // a stream is idle before the call that came late
			under = p.kindOf(p.r.Paths.Of[calls.Path[call]])
		}
		times[laneKind{waits.None, under}] -= d
	}
	most := slices.MaxFunc(slices.Collect(maps.Keys(times)), func(a, b laneKind) int {
		return cmp.Or(cmp.Compare(times[a], times[b]), cmp.Compare(b.kind, a.kind), cmp.Compare(b.metric, a.metric))
	})
	return p.number(most)
}

// kindOf is the kind of activity of a call path.
func (p *painter) kindOf(path int32) profile.Kind {
	if path == 0 {
		return profile.Outside
	}
	return profile.KindOf(&p.r.Paths.Region[path])
}

// number is the number of a kind in the figure.
func (p *painter) number(k laneKind) uint8 {
	i, known := p.kinds[k]
	if !known {
		i = uint8(len(p.lanes.Kinds))
		p.kinds[k] = i
		name, c := k.kind.Title(), KindColor(k.kind)
		if k.metric != waits.None {
			name, c = k.metric.Say(), k.metric.Info().Color
		}
		p.lanes.Kinds = append(p.lanes.Kinds, plot.LaneKind{Name: name, Light: c.Light, Dark: c.Dark})
	}
	return i
}
