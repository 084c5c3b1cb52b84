package explore

import (
	"context"
	"slices"

	"slackline/model/timeline"
)

// answerRuns lists what is open.
func (s *Server) answerRuns(_ context.Context, q *query) (any, error) {
	if q.given("reload") {
		k := q.number("reload", 0, int64(len(s.inputs))-1, 0)
		if q.err != nil {
			return nil, q.err
		}
		s.inputs[k].reload(q.number("whole", 0, 1, 0) == 1)
	}
	list := &Runs{Version: s.options.Version, Runs: []Run{}}
	for _, in := range s.inputs {
		if v := in.view.Load(); v != nil {
			list.Runs = append(list.Runs, in.describe(v))
		}
	}
	return list, nil
}

// describe is what an input is.
func (in *openInput) describe(v *view) Run {
	r := Run{
		Index: in.index, Name: v.name, Kind: "dataset", Generation: v.generation, Machine: v.opened.Machine,
		Colors: []string{}, Machines: []string{}, Figures: []string{}, Warnings: slices.Clone(v.opened.Warnings), ClockError: -1,
	}
	if in.state(v, &r); r.Problem != "" {
		r.Warnings = append(r.Warnings, r.Problem)
	}
	if r.Changed && !r.Reloading {
		r.Warnings = append(r.Warnings, "its files changed since they were read; what was read is shown until it is read again")
	}
	r.Analysis, r.AnalysisError = v.analysisState()
	if v.tl != nil {
		v.describe(&r)
	}
	r.Figures = v.figures()
	r.OwnMachine, r.Advice = v.opened.OwnMachine, v.opened.Advise != nil
	for _, m := range v.opened.Machines {
		r.Machines = append(r.Machines, m.Name)
	}
	if r.Warnings == nil {
		r.Warnings = []string{}
	}
	return r
}

// describe adds what a run is.
func (v *view) describe(r *Run) {
	tl := v.tl
	r.Kind = "trace"
	if tl.Simulated {
		r.Kind = "simulated"
	}
	r.Ranks, r.Locations, r.Threads, r.Order = tl.Ranks, len(tl.Locations), len(v.run.Locations), v.order
	if r.Threads < r.Locations {
		for i := range v.run.Devices.Streams {
			r.Activities += int64(v.run.Devices.Streams[i].Len())
		}
	}
	r.Before, r.After = int64(tl.LeftOut.Before), int64(tl.LeftOut.After)
	r.Start, r.Length, r.Simulated = int64(tl.Start), int64(v.length()), tl.Simulated
	if r.Grid = gridOf(tl); r.Grid != nil && tl.Ranks > MaxList {
		r.Grid.Coords = nil // this is asked for again and again
	}
	r.Calls, r.Messages, r.Collectives, r.Teams = v.counts.calls, int64(len(v.run.Messages)), int64(len(v.run.Collectives)),
		int64(len(v.run.Teams))
	r.Paths = v.paths.Len()
	r.ClockError, r.Host = int64(v.counts.clockError), v.counts.host
	r.Colors = []string{"kind", "path"}
	if r.Analysis == analysisReady {
		r.Colors = colors
	}
}

// gridOf is the process grid of a run; nil: none.
func gridOf(tl *timeline.Timeline) *Grid {
	if tl.Grid == nil || len(tl.Grid.Dims) == 0 {
		return nil
	}
	return &Grid{Dims: tl.Grid.Dims, Periodic: tl.Grid.Periodic, Coords: tl.Grid.Coords}
}
