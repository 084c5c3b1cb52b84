package simulate_test

import (
	"context"
	"fmt"
	"testing"

	"slackline/analyze/simulate"
	"slackline/model/machine"
	"slackline/model/pattern"
)

// benchmarkRun simulates a pattern and reports messages per second.
func benchmarkRun(b *testing.B, name string, p pattern.Params, on string, o simulate.Options) {
	b.Helper()
	program, err := pattern.New(name, p)
	if err != nil {
		b.Fatal(err)
	}
	m, err := machine.Named(on)
	if err != nil {
		b.Fatal(err)
	}
	messages := int64(0)
	for b.Loop() {
		r, err := simulate.Run(context.Background(), program, m, o)
		if err != nil {
			b.Fatal(err)
		}
		messages += r.Messages
	}
	b.ReportMetric(float64(messages)/b.Elapsed().Seconds()/1e6, "Mmsg/s")
}

func BenchmarkDissemination(b *testing.B) {
	for _, threads := range []int{1, 2} {
		for _, ranks := range []int{16384, 65536, 1048576} {
			b.Run(fmt.Sprintf("ranks=%d/threads=%d", ranks, threads), func(b *testing.B) {
				benchmarkRun(b, "dissemination", pattern.Params{Ranks: ranks, Size: 1}, "cnl", simulate.Options{Threads: threads})
			})
		}
	}
}
