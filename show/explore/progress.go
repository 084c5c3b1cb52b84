package explore

import (
	"context"
	"slices"
	"sync"
)

// Names of work that takes long.
const (
	workAnalysis   = "analysis"
	workStatistics = "statistics"
	workLatency    = "latency"
	workAdvice     = "advice"
)

// works are what is under way in a view.
type works struct {
	mu   sync.Mutex
	list []*Work
}

// begin notes that work has begun. Say tells which step of it is under way, and which part of the whole was done before.
func (w *works) begin(name string) (say func(step string, done float64), end func()) {
	work := &Work{Name: name}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, work)
	say = func(step string, done float64) {
		w.mu.Lock()
		defer w.mu.Unlock()
		work.Step, work.Done = step, min(max(done, work.Done), 1)
	}
	return say, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.list = slices.DeleteFunc(w.list, func(x *Work) bool { return x == work })
	}
}

// answerProgress lists what is under way in all runs.
func (s *Server) answerProgress(context.Context, *query) (any, error) {
	p := &Progress{Work: []Work{}}
	for _, in := range s.inputs {
		v := in.view.Load()
		if v == nil {
			continue
		}
		v.works.mu.Lock()
		for _, work := range v.works.list {
			work.Run, work.Of = in.index, v.name
			p.Work = append(p.Work, *work)
		}
		v.works.mu.Unlock()
	}
	return p, nil
}
