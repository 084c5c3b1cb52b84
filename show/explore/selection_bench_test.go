package explore

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"slackline/model/unit"
)

// BenchmarkSelection asks for statistics of random ranges of a run with eleven million events on 1,024 ranks, and of all of it.
func BenchmarkSelection(b *testing.B) {
	tl := halo(b, 1024, 600)
	events := int64(0)
	for i := range tl.Locations {
		events += 2 * int64(tl.Locations[i].Calls.Len())
	}
	begin := time.Now()
	v := viewOf(b, tl, false)
	v.patience = time.Hour
	if _, err := v.analyzed(b.Context()); err != nil {
		b.Fatal(err)
	}
	prepared := time.Since(begin)
	f := v.analysis.found
	var memory runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&memory)
	random := rand.New(rand.NewPCG(3, 3))
	longest := time.Duration(0)
	for b.Loop() {
		from := unit.Duration(random.Int64N(int64(v.length()) / 2))
		to := from + 1 + unit.Duration(random.Int64N(int64(v.length()-from)-1))
		start := time.Now()
		if _, err := v.selected(b.Context(), f, tl.Start+from, tl.Start+to, nil); err != nil {
			b.Fatal(err)
		}
		longest = max(longest, time.Since(start))
	}
	b.ReportMetric(float64(longest.Microseconds())/1000, "ms-longest")
	b.ReportMetric(float64(events)/1e6, "Mevents")
	b.ReportMetric(prepared.Seconds(), "s-prepared")
	b.ReportMetric(float64(memory.HeapAlloc)/float64(events), "heap-B/event")
}
