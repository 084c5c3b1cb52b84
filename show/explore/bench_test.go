package explore

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"unsafe"

	"slackline/internal/memory"
	"slackline/internal/parallel"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// benchRegions are the functions of a synthetic run: one iteration calls those behind main in this order, the first
// around the others.
var benchRegions = []string{"main", "step", "inner", "MPI_Irecv", "MPI_Isend", "outer", "MPI_Waitall", "MPI_Allreduce"}

// syntheticRun is a run of iterations in which every location calls its functions for different times. It is made of
// columns, because no builder would be fast enough for the largest of them.
func syntheticRun(ranks, events int) *timeline.Timeline {
	tl := &timeline.Timeline{Ranks: ranks, Locations: make([]timeline.Location, ranks), Paths: []timeline.Path{{}}}
	for i, name := range benchRegions {
		tl.Regions = append(tl.Regions, timeline.RegionNamed(name))
		tl.Paths = append(tl.Paths, timeline.Path{Parent: timeline.PathID(min(i, 2)), Region: timeline.RegionID(i), Depth: int32(min(i, 2) + 1)})
	}
	inside := len(benchRegions) - 2
	iterations := max(events/2/ranks/(inside+1), 1)
	parallel.Each(ranks, runtime.GOMAXPROCS(0), func(rank int) {
		random := rand.New(rand.NewPCG(1, uint64(rank)))
		n := 1 + iterations*(inside+1)
		c := timeline.Calls{
			Enter: make([]unit.Duration, n), Leave: make([]unit.Duration, n), Path: make([]timeline.PathID, n), Skip: make([]int32, n),
		}
		c.Path[0], c.Skip[0] = 1, int32(n)
		at, i := unit.Duration(0), 1
		for range iterations {
			step := i
			c.Enter[step], c.Path[step] = at, 2
			i++
			for k := range inside {
				at += unit.Duration(random.Int64N(1000))
				c.Enter[i], c.Path[i], c.Skip[i] = at, timeline.PathID(3+k), int32(i+1)
				at += unit.Duration(random.Int64N(1_000_000))
				c.Leave[i] = at
				i++
			}
			c.Leave[step], c.Skip[step] = at, int32(i)
		}
		c.Leave[0] = at
		tl.Locations[rank] = timeline.Location{Rank: rank, Calls: c, Last: at}
	})
	for i := range tl.Locations {
		tl.End = max(tl.End, tl.Locations[i].Last)
	}
	return tl
}

// distributions are how the calls of a synthetic run lie in its time: each maps the times of a run of a length in which
// they lie evenly, in order.
var distributions = []struct {
	name string
	at   func(t, length unit.Duration) unit.Duration
}{
	{"even", func(t, _ unit.Duration) unit.Duration { return t }},
	// All in the hundred thousandth part of the run behind its middle.
	{"bunched", func(t, length unit.Duration) unit.Duration {
		if t == 0 || t == length {
			return t * 100_000
		}
		return length*50_000 + t
	}},
	// In seven parts, with long pauses between them.
	{"bursts", func(t, length unit.Duration) unit.Duration { return t + 7*t/length*1000*length }},
	// Each half of the run has as many calls as the half of the half before it.
	{"growing", func(t, length unit.Duration) unit.Duration {
		return unit.Duration(math.Exp2(20*float64(t)/float64(length)) * float64(length))
	}},
}

// distribute moves the calls of a run to where a distribution has them.
func distribute(tl *timeline.Timeline, at func(t, length unit.Duration) unit.Duration) *timeline.Timeline {
	length := tl.End
	for i := range tl.Locations {
		l := &tl.Locations[i]
		for k := range l.Calls.Enter {
			l.Calls.Enter[k], l.Calls.Leave[k] = at(l.Calls.Enter[k], length), at(l.Calls.Leave[k], length)
		}
		l.First, l.Last = at(l.First, length), at(length, length)
		l.Calls.Leave[0] = l.Last
	}
	tl.Start, tl.End = at(0, length), at(length, length)
	return tl
}

// indexBytes is what the index of a view by kind takes in memory.
func indexBytes(v *view) int64 {
	n := int64(0)
	for _, bins := range v.kinds.index.(*pyramid[uint8]).bins {
		n += int64(len(bins))
	}
	return n
}

// bytesOf is what the calls of a run take in memory; messages would come on top.
func bytesOf(tl *timeline.Timeline) int64 {
	n := int64(0)
	for i := range tl.Locations {
		n += int64(tl.Locations[i].Calls.Len()) * (8 + 8 + 4 + 4)
		n += int64(unsafe.Sizeof(tl.Locations[i]))
	}
	return n
}

// eventsOf is the number of enters and leaves.
func eventsOf(tl *timeline.Timeline) int64 {
	n := int64(0)
	for i := range tl.Locations {
		n += 2 * int64(tl.Locations[i].Calls.Len())
	}
	return n
}

// benchSizes are ranks and events of benchmarks; the largest one is that of the promise.
var benchSizes = []struct{ ranks, events int }{{16, 10_000_000}, {1000, 10_000_000}, {10_000, 100_000_000}}

// BenchmarkFirstView is from a run that has been read to the first picture that has been sent. The index of the kinds
// of activity, and where calls are called from, is what a view has beside the timeline: their part of its size is
// index/timeline.
func BenchmarkFirstView(b *testing.B) {
	for _, size := range benchSizes {
		b.Run(fmt.Sprintf("ranks=%d/events=%d", size.ranks, size.events), func(b *testing.B) {
			tl := syntheticRun(size.ranks, size.events)
			ctx := context.Background()
			var v *view
			used := memory.CPU()
			for b.Loop() {
				var err error
				if v, err = newView(ctx, ctx, &Opened{Timeline: tl}, runtime.GOMAXPROCS(0)); err != nil {
					b.Fatal(err)
				}
				p, err := v.kinds.paint(ctx, 0, v.length(), 1920, rows{last: size.ranks}, 1000)
				if err != nil {
					b.Fatal(err)
				}
				p.encode(1, colorKind, 2)
			}
			b.ReportMetric((memory.CPU()-used).Seconds()/float64(b.N), "cpu-s/op")
			b.ReportMetric(float64(eventsOf(tl))*float64(b.N)/b.Elapsed().Seconds(), "events/s")
			b.ReportMetric(float64(indexBytes(v)+4*v.counts.calls)/float64(bytesOf(tl)), "index/timeline")
		})
	}
}

// BenchmarkZoom is one step of zooming, from the whole run to single calls at a place where there are many; the worst of
// all steps is slowest-ms, or slowest-cpu-ms of CPU time on all cores together, which a busy machine does not change.
func BenchmarkZoom(b *testing.B) {
	for _, size := range benchSizes {
		b.Run(fmt.Sprintf("ranks=%d/events=%d", size.ranks, size.events), func(b *testing.B) {
			for _, d := range distributions {
				b.Run("calls="+d.name, func(b *testing.B) {
					zooms(b, distribute(syntheticRun(size.ranks, size.events), d.at))
				})
			}
		})
	}
}

// zooms goes into a run with few rows, and with all of its locations.
func zooms(b *testing.B, tl *timeline.Timeline) {
	ctx := context.Background()
	v, err := newView(ctx, ctx, &Opened{Timeline: tl}, runtime.GOMAXPROCS(0))
	if err != nil {
		b.Fatal(err)
	}
	enter := tl.Locations[0].Calls.Enter
	middle := enter[len(enter)/3] - tl.Start
	for _, rows := range []int{50, 1000} {
		last := min(rows, tl.Ranks)
		if rows == 1000 {
			last = tl.Ranks // as many as there are: rows are groups of them
		}
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			zoom(b, v, middle, last, rows)
			b.ReportMetric(float64(indexBytes(v)+4*v.counts.calls)/float64(bytesOf(tl)), "index/timeline")
		})
	}
}

// zoom goes from the whole run to a moment of it, again and again.
func zoom(b *testing.B, v *view, middle unit.Duration, last, most int) {
	width, steps, slowest, dearest := v.length(), 0, 0.0, 0.0
	for b.Loop() {
		before, used := b.Elapsed(), memory.CPU()
		from := min(max(middle-width/2, 0), v.length()-width)
		p, err := v.kinds.paint(context.Background(), from, from+width, 1920, rows{last: last}, most)
		if err != nil {
			b.Fatal(err)
		}
		p.encode(1, colorKind, 2)
		slowest = max(slowest, (b.Elapsed()-before).Seconds()*1000)
		dearest = max(dearest, (memory.CPU()-used).Seconds()*1000)
		if width, steps = width*2/3, steps+1; width < 1000 {
			width = v.length()
		}
	}
	b.ReportMetric(slowest, "slowest-ms")
	b.ReportMetric(dearest, "slowest-cpu-ms")
	b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
}

// heap is what is in memory and used.
func heap() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// BenchmarkMemory is what a run with messages takes in memory, as a multiple of its timeline: with what the first view
// needs, and when all has been analyzed and every coloring was looked at.
func BenchmarkMemory(b *testing.B) {
	for _, ranks := range []int{64, 1024} {
		b.Run(fmt.Sprintf("ranks=%d", ranks), func(b *testing.B) {
			ctx := context.Background()
			empty := heap()
			tl := halo(b, ranks, 64*1024/ranks)
			timeline := heap() - empty
			var first, all float64
			for b.Loop() {
				v, err := newView(ctx, ctx, &Opened{Timeline: tl}, runtime.GOMAXPROCS(0))
				if err != nil {
					b.Fatal(err)
				}
				first = heap() - empty
				if _, err := v.analyzed(ctx); err != nil {
					b.Fatal(err)
				}
				for _, color := range colors {
					if _, err := v.coloring(ctx, color); err != nil {
						b.Fatal(err)
					}
				}
				all = heap() - empty
				runtime.KeepAlive(v)
			}
			b.ReportMetric(timeline/1e6, "timeline-MB")
			b.ReportMetric(first/timeline, "first/timeline")
			b.ReportMetric(all/timeline, "all/timeline")
		})
	}
}
