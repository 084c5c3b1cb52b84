package timeline

import (
	"math"
	"sort"

	"slackline/internal/spill"
	"slackline/model/unit"
)

// Lack is a time in which a thread could have run but had no CPU.
type Lack struct {
	Span
	Path PathID // the region NoCPU, called from where the thread was
}

// NoCPUName is the name of the region that stands for times without a CPU. No call is one of it.
const NoCPUName = "no CPU"

// lackRegion stands for that region until all regions are known.
const lackRegion = RegionID(math.MaxUint32)

// NoCPU records that the thread could have run but had no CPU for so long until t. That is not an event: calls that began before may
// still be recorded.
func (l *LocationBuilder) NoCPU(t, d unit.Duration) {
	from := t - max(d, 0)
	if n := len(l.lacks); n > 0 {
		from = max(from, l.lacks[n-1].To)
	}
	if n := len(l.alive); n > 0 {
		from = max(from, l.alive[n-1].From)
	}
	if from < t {
		l.lacks = spill.Append(l.space, l.lacks, Lack{Span: Span{from, t}})
	}
}

// placeLacks cuts the times without a CPU where calls begin and end, and says which call they are in. Those when recording was off
// are left out, as all else is then.
func (l *LocationBuilder) placeLacks() {
	if len(l.lacks) == 0 {
		return
	}
	whole := l.lacks
	l.lacks = make([]Lack, 0, len(whole))
	for i := range whole {
		whole[i].From, whole[i].To = max(whole[i].From, l.first), min(whole[i].To, l.last)
	}
	c := &l.calls
	var open []int32
	next := int32(0)
	closeUntil := func(t unit.Duration) {
		for len(open) > 0 && c.Leave[open[len(open)-1]] <= t {
			open = open[:len(open)-1]
		}
	}
	for _, lack := range whole {
		for at := lack.From; at < lack.To; {
			for int(next) < c.Len() && c.Enter[next] <= at {
				closeUntil(c.Enter[next])
				open = append(open, next)
				next++
			}
			closeUntil(at)
			end, path, call := lack.To, PathID(0), int32(-1)
			if n := len(open); n > 0 {
				call = open[n-1]
				end, path = min(end, c.Leave[call]), c.Path[call]
			}
			if int(next) < c.Len() {
				end = min(end, c.Enter[next])
			}
			if path == 0 || path != l.offPath {
				l.lacks = append(l.lacks, Lack{Span{at, end}, l.tree.child(path, lackRegion)})
				l.lackCalls = append(l.lackCalls, call)
			}
			at = end
		}
	}
}

// segmentLacks finds the segment that each time without a CPU is in, -1 for none. In no call of its own a worker is in a team from the
// fork to the join: the times are cut there.
func (l *LocationBuilder) segmentLacks() {
	whole := l.lacks
	l.lacks, l.lackIn = make([]Lack, 0, len(whole)), make([]int, 0, len(whole))
	add := func(lack Lack, to unit.Duration, segment int) Lack { // returns what is left
		if lack.From < to {
			l.lacks, l.lackIn = append(l.lacks, Lack{Span{lack.From, to}, lack.Path}), append(l.lackIn, segment)
			lack.From = to
		}
		return lack
	}
	for i, lack := range whole {
		if call := l.lackCalls[i]; l.tree.nodes[lack.Path].Parent != 0 {
			k := sort.Search(len(l.segments), func(k int) bool { return l.segments[k].to > call })
			if k == len(l.segments) || l.segments[k].from > call {
				k = -1
			}
			add(lack, lack.To, k)
			continue
		}
		k := sort.Search(len(l.segments), func(k int) bool { return l.segments[k].join > lack.From })
		for ; k < len(l.segments) && lack.From < lack.To; k++ {
			lack = add(lack, min(l.segments[k].fork, lack.To), -1)
			lack = add(lack, min(l.segments[k].join, lack.To), k)
		}
		add(lack, lack.To, -1)
	}
}

// nameLacks gives the region of the times without a CPU its number, if there are any in the run.
func (f *finisher) nameLacks(nodes []Path) {
	number := RegionID(len(f.t.Regions))
	found := false
	for i := range nodes {
		if nodes[i].Region == lackRegion {
			nodes[i].Region, found = number, true
		}
	}
	if found {
		f.t.Regions = append(f.t.Regions, Region{Name: NoCPUName, Paradigm: NoCPU})
	}
}

// HasLacks reports whether the run has times without a CPU.
func (t *Timeline) HasLacks() bool {
	n := len(t.Regions)
	return n > 0 && t.Regions[n-1].Paradigm == NoCPU
}

func lackOf(list []Lack) (sum unit.Duration) {
	for _, s := range list {
		sum += s.To - s.From
	}
	return sum
}

// WithoutCPU is how long the threads of the run had no CPU, and how long they lived, both while they were recorded.
func (t *Timeline) WithoutCPU() (lack, lifetime unit.Sum) {
	for i := range t.Locations {
		lack.Add(t.Locations[i].Lacked)
	}
	return lack, t.Lifetimes().Minus(t.Unrecorded())
}
