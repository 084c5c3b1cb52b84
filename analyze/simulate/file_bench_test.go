package simulate_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"slackline/analyze/simulate"
	"slackline/model/collective"
	"slackline/model/pattern"
	"slackline/model/schedule"
)

// BenchmarkFromFile has one application as a pattern and from files of all formats that can be read and written: what a file adds is
// the difference between them. The rows of docs/performance.md are the same with 1,024 ranks and 10 iterations.
func BenchmarkFromFile(b *testing.B) {
	params := pattern.Params{Ranks: 256, Iterations: 2}
	m, o := newMachine(b, "chic"), simulate.Options{Threads: 1}
	b.Run("pop/from=pattern/threads=1", func(b *testing.B) {
		benchmarkProgram(b, newPattern(b, "pop", params), m, o)
	})
	g := schedule.Materialize(collective.Expand(newPattern(b, "pop", params), nil, 0))
	for _, format := range schedule.Formats() {
		if format.Pack == nil || format.Write == nil {
			continue
		}
		var file bytes.Buffer
		if _, err := format.Write(&file, g); err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("pop/from=%s/threads=1", format.Name), func(b *testing.B) {
			b.ReportAllocs()
			messages := int64(0)
			for b.Loop() {
				p, err := format.Pack("pop", bytes.NewReader(file.Bytes()), int64(file.Len()), schedule.PackOptions{Threads: 1})
				if err != nil {
					b.Fatal(err)
				}
				r, err := simulate.Run(context.Background(), p, m, o)
				if err != nil {
					b.Fatal(err)
				}
				messages += r.Messages
			}
			b.ReportMetric(float64(messages)/b.Elapsed().Seconds()/1e6, "Mmsg/s")
			b.SetBytes(int64(file.Len()))
		})
	}
}
