package timeline

import (
	"context"
	"fmt"

	"slackline/model/unit"
)

// LeftOut is what a timeline leaves out of its run: the start and the end of MPI.
type LeftOut struct{ Before, After unit.Duration }

// Any reports whether something is left out.
func (l LeftOut) Any() bool { return l.Before > 0 || l.After > 0 }

// String names what is left out, in the words of all texts.
func (l LeftOut) String() string {
	return fmt.Sprintf("MPI start (%s) and end (%s)", l.Before.Short(), l.After.Short())
}

// leastLeftOut is the share of the run, one in so many, that the start and the end of MPI must take to be left out: below 1 % they
// change no result that people look at.
const leastLeftOut = 100

// core is when the first rank leaves MPI_Init and when the last one enters MPI_Finalize: before and after that every rank starts or ends,
// and none waits for what another one computes. A recording that was cut or a run that crashed may lack one of them on some ranks; then it
// is the edge of the run. If nothing lies between, both are edges of the run.
func (t *Timeline) core() (begin, end unit.Duration, edges []bool) {
	starts, ends := make([]bool, len(t.Paths)), make([]bool, len(t.Paths))
	edges = make([]bool, len(t.Paths))
	for id := 1; id < len(t.Paths); id++ {
		switch t.Regions[t.Paths[id].Region].Name {
		case "MPI_Init", "MPI_Init_thread":
			starts[id], edges[id] = true, true
		case "MPI_Finalize":
			ends[id], edges[id] = true, true
		}
	}
	begin, end = t.End, t.Start
	allStarted, allEnded := true, true
	for i := range t.Locations {
		l := &t.Locations[i]
		if l.Thread != 0 {
			continue
		}
		started, ended := false, false
		for k, path := range l.Calls.Path {
			switch {
			case starts[path]:
				begin, started = min(begin, l.Calls.Leave[k]), true
			case ends[path]:
				end, ended = max(end, l.Calls.Enter[k]), true
			}
		}
		allStarted, allEnded = allStarted && started, allEnded && ended
	}
	if !allStarted {
		begin = t.Start
	}
	if !allEnded {
		end = t.End
	}
	if t.Simulated || t.Devices != nil || begin >= end {
		return t.Start, t.End, nil
	}
	return begin, end, edges
}

// Core returns the run without the start and the end of MPI, unless they take less than 1 % of it. With reuse t is void afterwards; else it
// stays whole.
func (t *Timeline) Core(threads int, reuse bool) *Timeline {
	t.alone("CoreTogether")
	if t.IsLong(t.MPIStart()) {
		return t.cutStart(threads, reuse)
	}
	return t
}

// CoreTogether is Core also of a run that several processes share. All of them call it.
func (t *Timeline) CoreTogether(ctx context.Context, threads int, reuse bool) (*Timeline, error) {
	if t.IsLong(t.MPIStart()) {
		return t.WithoutStart(ctx, threads, reuse)
	}
	return t, t.shareSums(ctx)
}

// WithoutStart is CoreTogether however short the start and the end are, for runs that are compared.
func (t *Timeline) WithoutStart(ctx context.Context, threads int, reuse bool) (*Timeline, error) {
	c := t.cutStart(threads, reuse)
	return c, c.shareSums(ctx)
}

// cutStart cuts from where the first rank leaves MPI_Init to where the last one enters MPI_Finalize, both as calls that begin or end there.
// All wait states between ranks lie in it. Simulated runs stay as they are; so do those with streams, which may work at any time.
func (t *Timeline) cutStart(threads int, reuse bool) *Timeline {
	begin, end, edges := t.core()
	left := LeftOut{Before: begin - t.Start, After: t.End - end}
	if !left.Any() {
		return t
	}
	c := (&cutter{begin: begin, end: end, touching: edges, reuse: reuse}).cut(t, threads)
	c.LeftOut = left
	return c
}

// MPIStart is how much of the timeline is the start and the end of MPI.
func (t *Timeline) MPIStart() LeftOut {
	begin, end, _ := t.core()
	return LeftOut{Before: begin - t.Start, After: t.End - end}
}

// IsLong reports whether a start and an end of MPI are usually left out of the run: they take 1 % or more of it.
func (t *Timeline) IsLong(start LeftOut) bool {
	return start.Any() && start.Before+start.After >= (t.End-t.Start)/leastLeftOut
}
