package explore

import (
	"context"

	"slackline/analyze/profile"
	"slackline/analyze/waits"
	"slackline/internal/phrase"
)

// links are the messages between pairs of ranks, added up once.
func (v *view) links() ([]profile.Link, error) {
	return v.matrix.get(func() ([]profile.Link, error) { return profile.Matrix(v.run), nil })
}

// answerMatrix gives the messages between pairs of ranks.
func answerMatrix(_ context.Context, v *view, q *query) (any, error) {
	size := int(q.number("size", 1, MaxMatrix, 128))
	links, err := v.links()
	if err != nil {
		return nil, err
	}
	ranks := max(v.tl.Ranks, 1)
	m := &Matrix{Ranks: v.tl.Ranks, Group: (ranks + size - 1) / size, From: []int{}, To: []int{}, Count: []int64{}, Bytes: []int64{}}
	m.Size = (ranks + m.Group - 1) / m.Group
	cells := make([]profile.Traffic, m.Size*m.Size)
	for i := range links {
		l := &links[i]
		c := &cells[l.From/m.Group*m.Size+l.To/m.Group]
		c.Count += l.Count
		c.Bytes += l.Bytes
	}
	for i, c := range cells {
		if c.Count > 0 {
			m.From, m.To = append(m.From, i/m.Size), append(m.To, i%m.Size)
			m.Count, m.Bytes = append(m.Count, c.Count), append(m.Bytes, c.Bytes)
		}
	}
	return m, nil
}

// answerIterations gives the iterations of the run.
func answerIterations(v *view, f *findings, _ *query) (any, error) {
	a := &Iterations{Path: -1, List: []Iteration{}}
	it := f.iterations
	if it == nil {
		return a, nil
	}
	a.Path, a.Covers, a.Cut = int(it.Path), it.Covers, len(it.List) > MaxList
	for i := range it.List[:min(len(it.List), MaxList)] {
		one := &it.List[i]
		a.List = append(a.List, Iteration{
			Begin: v.since(one.Begin), Duration: int64(one.Duration), Computation: int64(one.Computation),
			MaxComputation: int64(one.MaxComputation), MPI: int64(one.MPI), Waiting: int64(one.Waiting),
		})
	}
	return a, nil
}

// answerComposition gives what the run time consists of.
func answerComposition(v *view, f *findings, _ *query) (any, error) {
	c, e, finite := f.composition, f.efficiency, phrase.FiniteOr0
	a := &Composition{Total: ps(c.Total), Parts: []Part{}, Efficiency: Efficiency{
		RunTime: int64(e.RunTime), Parallel: finite(e.Parallel), LoadBalance: finite(e.LoadBalance), Communication: finite(e.Communication),
		Serialisation: finite(e.Serialization), Transfer: finite(e.Transfer), NotAnalyzed: finite(e.NotAnalyzed), Estimated: e.Estimated,
	}}
	for _, p := range c.Parts {
		a.Parts = append(a.Parts, Part{Kind: p.Kind.String(), Name: p.Name, Title: waits.PartTitle(&p), Time: ps(p.Time)})
	}
	for i := range f.result.Devices {
		u := &f.result.Devices[i]
		a.Devices = append(a.Devices, Device{
			Rank: u.Rank, Device: u.Device, Span: int64(u.Span), Computing: int64(u.Computing), Exposed: int64(u.Exposed),
			Waiting: int64(u.Waiting), Idle: int64(u.Idle), Latency: int64(u.Latency), Overlap: int64(u.Overlap), Hidden: ps(u.Hidden),
			Kernels: u.Kernels,
		})
	}
	return a, nil
}
