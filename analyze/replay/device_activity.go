package replay

import (
	"slackline/analyze/devices"
	"slackline/model/schedule"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// activities turns the activities of a rank into operations, stream by stream, and adds what they and the threads require of each other.
func (d *deviceWalk) activities() {
	from, to := d.run.Streams(d.rank)
	d.begins, d.ends = make([][]uint32, to-from), make([][]uint32, to-from)
	for k := from; k < to; k++ {
		s := &d.run.streams[k]
		d.begins[k-from], d.ends[k-from] = make([]uint32, s.Len()), make([]uint32, s.Len())
		at := streamPlace{cpu: d.nextCPU(), latency: d.nextCPU(), lead: lead{cpu: d.nextCPU()}}
		for i := range int32(s.Len()) {
			before := noOp
			if i > 0 {
				before = d.ends[k-from][i-1]
			}
			starts, on := d.starts(s, devices.Op{At: k, Index: i}, before, &at)
			begin, end := d.activity(s, devices.Op{At: k, Index: i}, at.cpu, starts)
			if on != devices.None {
				d.pending = append(d.pending, pendingEdge{on, begin})
			}
			d.begins[k-from][i], d.ends[k-from][i] = begin, end
			d.w.end = max(d.w.end, s.End[i])
		}
	}
	for _, r := range d.run.relays[d.rank] {
		d.relay(&r)
	}
	for _, p := range d.pending {
		b := &d.w.block
		b.edges = append(b.edges, edge{d.ends[p.on.At-from][p.on.Index], schedule.NewDependent(int(p.op), false)})
	}
	d.pending = nil
}

// streamPlace is where the operations of a stream are carried out: its activities, the latency of launches that are late, and what is
// missing to a moment of a thread that is not known.
type streamPlace struct {
	cpu, latency uint8
	lead         lead
}

// starts returns the operations that an activity requires to begin, and the activity of another stream that it does. Of what came last
// until its start is latency: of the launch if that was last, which goes on beside the stream, else of the activity.
func (d *deviceWalk) starts(s *timeline.Stream, o devices.Op, before uint32, at *streamPlace) (list []uint32, on devices.Op) {
	i, b := o.Index, s.Begin[o.Index]
	ready, known, byLaunch := d.w.begin, false, false
	take := func(t unit.Duration) bool {
		if known && t <= ready {
			return false
		}
		ready, known = t, true
		return true
	}
	if before != noOp {
		take(s.End[i-1])
	}
	if on = d.run.Event(o); on != devices.None {
		if end := d.run.streams[on.At].End[on.Index]; end <= b {
			take(end)
		} else {
			on = devices.None
		}
	}
	launched := noOp
	if l := s.Launch[i]; l.Known() {
		c := d.chains[l.Thread-d.chains[0].location]
		calls := &d.w.t.Locations[l.Thread].Calls
		t := min(calls.Enter[l.Call], b)
		byLaunch = take(t)
		if m := c.entered[l.Call]; m >= 0 && c.marks[m].at == t {
			launched = c.marks[m].op
		} else {
			launched = d.await(&at.lead, c, t)
		}
		if byLaunch && b > t {
			launched = d.calc(at.latency, calls.Path[l.Call], b-t, launched)
		}
	}
	if lead := b - ready; lead > 0 && !byLaunch {
		path := s.Path[i]
		if !known {
			path = 0
		}
		wait := d.calc(at.cpu, path, lead, before, launched)
		if on != devices.None { // the latency comes after that
			d.pending = append(d.pending, pendingEdge{on, wait})
		}
		return []uint32{wait}, devices.None
	}
	return []uint32{before, launched}, on
}

// activity appends the operations of an activity and returns the one at whose start it begins, and the one that ends it.
func (d *deviceWalk) activity(s *timeline.Stream, o devices.Op, cpu uint8, starts []uint32) (begin, end uint32) {
	path, length := s.Path[o.Index], s.End[o.Index]-s.Begin[o.Index]
	x := d.run.work[o]
	if x == nil {
		begin = d.calc(cpu, path, length, starts...)
		return begin, begin
	}
	begin = d.calc(cpu, path, 0, starts...)
	parts := make([]uint32, 0, len(x.ops))
	for _, part := range x.ops {
		op, call := part.Op, int64(-1)
		op.Origin, op.CPU = uint32(path), commCPU
		d.w.block.collectives = d.w.block.collectives || op.Kind == schedule.Collective
		i := d.add(op, begin)
		parts = append(parts, i)
		if op.Kind == schedule.Collective {
			call = op.Size
		}
		if op.Kind != schedule.Recv {
			d.sends = append(d.sends, sending{i, min(max(s.Begin[o.Index], part.at), s.End[o.Index]), call})
		}
	}
	transfer := unit.Duration(0)
	if d.w.options.KeepTransfers {
		transfer = max(s.End[o.Index]-max(s.Begin[o.Index], x.met), 0)
	}
	return begin, d.calc(cpu, path, transfer, append(parts, begin)...)
}
