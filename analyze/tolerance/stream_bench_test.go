package tolerance

import (
	"runtime"
	"testing"

	"slackline/model/machine"
	"slackline/model/pattern"
)

// BenchmarkStream measures a pass over a generated program, and the answers that follow from it.
func BenchmarkStream(b *testing.B) {
	m, err := machine.Named("xt4")
	if err != nil {
		b.Fatal(err)
	}
	p, err := pattern.New("skeleton", pattern.Params{Ranks: 1024, Iterations: 20})
	if err != nil {
		b.Fatal(err)
	}
	s, err := Prepare(p, nil, m.Gamma)
	if err != nil {
		b.Fatal(err)
	}
	layout, err := m.Layout(p.Ranks())
	if err != nil {
		b.Fatal(err)
	}
	n, ops := Network{Layout: layout}, float64(s.Size().Ops)
	for _, part := range []struct {
		name string
		run  func() error
	}{
		{"finish", func() error { _, err := s.Finish(n); return err }},
		{"evaluate", func() error { _, err := s.Evaluate(n); return err }},
		{"graph", func() error { _, err := s.Build(n, Variable{}); return err }},
		{"ask", func() error {
			_, err := s.Ask(n, Question{Percents: []Percent{{value: 1}, {value: 2}, {value: 5}}})
			return err
		}},
	} {
		b.Run(part.name, func(b *testing.B) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			measure(b, func() {
				if err := part.run(); err != nil {
					b.Fatal(err)
				}
			})
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/ops/float64(b.N), "B/op")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/ops/float64(b.N), "ns/op")
		})
	}
	g, err := s.Build(n, Variable{})
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%.3f nodes, %.3f edges and %.1f bytes of tape per operation; edges lead back over %d nodes",
		float64(g.tape.nodes)/ops, float64(g.tape.edges)/ops, float64(g.tape.bytes())/ops, g.tape.reach)
}

// bytes is the memory that the tape takes.
func (t *tape) bytes() (n int) {
	for _, p := range t.parts {
		if n += cap(p.bytes); p.laps != nil {
			n += cap(p.laps.times)*8 + cap(p.laps.lines)*24 + cap(p.laps.ends)*4
		}
	}
	return n
}
