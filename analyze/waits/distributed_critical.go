package waits

import (
	"cmp"
	"context"
	"slices"

	"slackline/internal/chunk"
	"slackline/internal/cluster"
	"slackline/model/unit"
)

// FindCriticalPath is CriticalPath also of a run that several processes share. All of them call it; process 0 gets it,
// the others nil.
func (r *Result) FindCriticalPath(ctx context.Context) (*CriticalPath, error) {
	if r.a.part == nil {
		return r.CriticalPath(), nil
	}
	w := &sharedWalk{walker: r.a.newWalker()}
	if at, ok := r.a.walkFrom(); ok {
		if err := w.follow(ctx, at); err != nil {
			return nil, err
		}
	}
	return w.gather(ctx, r)
}

// sharedWalk is the part of a process in following the critical path.
type sharedWalk struct {
	*walker
	stages []stage
}

// stage is the segments of one stay of the critical path with a process: those before number end.
type stage struct{ number, end int }

// follow lets the process that has the location go on until the path leaves its locations. All
// processes then learn where the path is.
func (w *sharedWalk) follow(ctx context.Context, p place) error {
	g := w.a.part.Group
	for number := 0; ; number++ {
		holder := w.a.ownerOf(p.at)
		var next []byte
		if holder == g.Rank() {
			if to, more := w.walk(p); more {
				next = chunk.AppendInt(chunk.AppendInt(chunk.AppendInt(nil, int64(to.at)), int64(to.before)), int64(to.now))
			}
			w.stages = append(w.stages, stage{number, len(w.segments)})
		}
		in, err := cluster.AllGather(ctx, g, next)
		if err != nil {
			return err
		}
		c := chunk.Column{B: in[holder]}
		if c.Left() == 0 {
			return nil
		}
		p = place{at: int32(c.Int()), before: int32(c.Int()), now: unit.Duration(c.Int())}
		if c.Bad || p.at < 0 || int(p.at) >= len(w.a.tl.Locations) || w.a.ownerOf(p.at) == holder {
			return cluster.ErrGarbled
		}
		if w.a.isHere(p.at) {
			call, ok := w.a.part.OwnCall(holder, p.at, p.before)
			if !ok {
				return cluster.ErrGarbled
			}
			p.before = call
		}
	}
}

// walked is what a process knows of the critical path.
type walked struct {
	Pieces []piece
	Shares []CriticalShare
	Work   []unit.Sum // by call path
}

// piece is the segments of a stage.
type piece struct {
	Number   int
	Segments []Segment
}

// gather brings the pieces of the critical path together at process 0.
func (w *sharedWalk) gather(ctx context.Context, r *Result) (*CriticalPath, error) {
	own := walked{Shares: w.shareList(), Work: w.a.workByPath()}
	from := 0
	for _, s := range w.stages {
		own.Pieces = append(own.Pieces, piece{s.number, w.segments[from:s.end]})
		from = s.end
	}
	all, err := cluster.GatherValues(ctx, w.a.part.Group, &own)
	if err != nil || all == nil {
		return nil, err
	}
	var shares []CriticalShare
	var pieces []piece
	work := make([]unit.Sum, r.Paths.Len())
	for _, part := range all {
		if len(part.Work) != len(work) {
			return nil, cluster.ErrGarbled
		}
		pieces, shares = append(pieces, part.Pieces...), append(shares, part.Shares...)
		for i, t := range part.Work {
			work[i].AddSum(t)
		}
	}
	slices.SortFunc(pieces, func(x, y piece) int { return cmp.Compare(x.Number, y.Number) })
	var segments []Segment
	for _, p := range pieces {
		segments = append(segments, p.Segments...)
	}
	return r.criticalPath(segments, shares, w.a.averages(work)), nil
}
