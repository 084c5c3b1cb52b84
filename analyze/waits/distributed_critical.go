package waits

import (
	"cmp"
	"context"
	"encoding/binary"
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
				next = chunk.AppendInt(appendUints(nil, uint64(to.at), uint64(to.before)), int64(to.now))
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
		p = place{at: int32(c.Uint()), before: int32(c.Uint()), now: unit.Duration(c.Int())}
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

// gather brings the pieces of the critical path together at process 0.
func (w *sharedWalk) gather(ctx context.Context, r *Result) (*CriticalPath, error) {
	g := w.a.part.Group
	in, err := cluster.Gather(ctx, g, w.append(nil))
	if err != nil || g.Rank() != 0 {
		return nil, err
	}
	var shares []CriticalShare
	var pieces []piece
	work := make([]unit.Duration, r.Paths.Len())
	for p := range in {
		c := chunk.Column{B: in[p]}
		pieces = append(pieces, readPieces(&c)...)
		for range min(c.Uint(), uint64(c.Left())) {
			shares = append(shares, CriticalShare{readPlace(&c), unit.Duration(c.Int())})
		}
		for i := range work {
			work[i] += unit.Duration(c.Int())
		}
		if c.Bad || c.Left() > 0 {
			return nil, cluster.ErrGarbled
		}
	}
	slices.SortFunc(pieces, func(x, y piece) int { return cmp.Compare(x.number, y.number) })
	var segments []Segment
	for _, p := range pieces {
		segments = append(segments, p.segments...)
	}
	return r.criticalPath(segments, shares, w.a.averages(work)), nil
}

// piece is the segments of a stage.
type piece struct {
	number   int
	segments []Segment
}

// append writes the segments, the shares and the work by call path.
func (w *sharedWalk) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(w.stages)))
	from := 0
	for _, s := range w.stages {
		b = appendUints(b, uint64(s.number), uint64(s.end-from))
		for _, x := range w.segments[from:s.end] {
			b = append(binary.AppendUvarint(b, uint64(x.Location)), byte(x.Metric))
			b = chunk.AppendInt(chunk.AppendInt(b, int64(x.From)), int64(x.To-x.From))
		}
		from = s.end
	}
	shares := w.shareList()
	b = binary.AppendUvarint(b, uint64(len(shares)))
	for _, s := range shares {
		b = chunk.AppendInt(appendUints(b, uint64(s.Rank), uint64(s.Path)), int64(s.Time))
	}
	for _, t := range w.a.workByPath() {
		b = chunk.AppendInt(b, int64(t))
	}
	return b
}

func readPieces(c *chunk.Column) []piece {
	var list []piece
	for range min(c.Uint(), uint64(c.Left())) {
		p := piece{number: int(c.Uint())}
		for range min(c.Uint(), uint64(c.Left())) {
			s := Segment{Location: int32(c.Uint()), Metric: Metric(c.Byte()), From: unit.Duration(c.Int())}
			s.To = s.From + unit.Duration(c.Int())
			p.segments = append(p.segments, s)
		}
		list = append(list, p)
	}
	return list
}
