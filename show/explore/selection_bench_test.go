package explore

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"slackline/analyze/waits"
	"slackline/internal/memory"
	"slackline/model/machine"
	"slackline/model/pattern"
	"slackline/model/unit"
)

// BenchmarkLongRun is what a run of 1,024 ranks with 11.8 million events takes, in CPU time of all cores together, which a busy machine
// changes least: up to the first picture, until waits are ready, and until statistics are, each beside what the verb waits takes for
// its analysis; the dearest step of a zoom and the dearest selection; the curve of the latency; and bytes of the heap for each event.
func BenchmarkLongRun(b *testing.B) {
	tl := simulated(b, "skeleton", pattern.Params{Ranks: 1024, Iterations: 340, Jitter: 0.3, Seed: 3})
	events := 2 * len(tl.Messages)
	for i := range tl.Locations {
		events += 2 * tl.Locations[i].Calls.Len()
	}
	chic, err := machine.Named("chic")
	if err != nil {
		b.Fatal(err)
	}
	spent := func(f func() error) float64 {
		b.Helper()
		before := memory.CPU()
		if err := f(); err != nil {
			b.Fatal(err)
		}
		return (memory.CPU() - before).Seconds()
	}
	alone := spent(func() error {
		_, err := waits.Analyze(b.Context(), tl, waits.Options{Threads: runtime.GOMAXPROCS(0)})
		return err
	})
	random := rand.New(rand.NewPCG(3, 3))
	var first, ready, statistics, zoom, selection, latency, bytes float64
	for b.Loop() {
		var v *view
		first = spent(func() (err error) {
			v, err = newView(b.Context(), b.Context(), &Opened{Timeline: tl, Machines: []*machine.Machine{chic}}, runtime.GOMAXPROCS(0))
			if err != nil {
				return err
			}
			v.patience = time.Hour
			_, err = v.kinds.paint(b.Context(), 0, v.length(), 1920, rows{last: tl.Ranks}, 1000)
			return err
		})
		var f *findings
		ready = first + spent(func() (err error) {
			f, err = v.analyze(b.Context())
			v.analysis.found = f
			return err
		})
		statistics = ready + spent(func() error { v.prepare(f); return nil })
		bytes = heap() / float64(events)
		for range 50 {
			from := unit.Duration(random.Int64N(int64(v.length()) / 2))
			to := from + 1 + unit.Duration(random.Int64N(int64(v.length()-from)-1))
			zoom = max(zoom, spent(func() error {
				_, err := f.byCause.paint(b.Context(), from, to, 1920, rows{last: tl.Ranks}, 1000)
				return err
			}))
			selection = max(selection, spent(func() error {
				_, err := v.selected(b.Context(), f, tl.Start+from, tl.Start+to, nil)
				return err
			}))
		}
		latency = spent(func() error {
			_, err := v.makeTolerance("chic")
			return err
		})
	}
	b.ReportMetric(float64(events)/1e6, "Mevents")
	b.ReportMetric(alone, "waits-cpu-s")
	b.ReportMetric(first, "first-cpu-s")
	b.ReportMetric(ready, "ready-cpu-s")
	b.ReportMetric(statistics, "statistics-cpu-s")
	b.ReportMetric(zoom*1000, "zoom-cpu-ms")
	b.ReportMetric(selection*1000, "selection-cpu-ms")
	b.ReportMetric(latency, "latency-cpu-s")
	b.ReportMetric(bytes, "heap-B/event")
}
