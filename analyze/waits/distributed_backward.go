package waits

import (
	"encoding/binary"

	"slackline/internal/chunk"
	"slackline/internal/cluster"
	"slackline/internal/parallel"
	"slackline/model/unit"
)

// foreignState is a wait state of another process that was caused here.
type foreignState struct {
	amount, since    unit.Duration
	first            unit.Duration // as of a wait state
	long             unit.Sum
	indirect         int64
	number           int    // among the states of its process
	waiter           []byte // how long the location that waited was in which path since the two last synchronized
	cause, causeCall int32
	before           int32 // number of the cause's wait states before the call
	metric           Metric
	done             bool
}

func (f *foreignState) parts() metricParts { return metricParts{f.metric, f.first, f.amount} }

// handed marks a wait state to which nothing will be added any more.
type handed struct {
	index int32 // among the foreign states that its process has sent
	long  unit.Sum
}

// interval is what the causing location did since the two last synchronized.
func (f *foreignState) interval(a *analysis) interval {
	of := interval{f.cause, f.since, a.calls(f.cause).Enter[f.causeCall], f.causeCall, int(f.before)}
	if f.since == never {
		of.from = a.firstEvent(f.cause)
	}
	return of
}

// findForeign finds the causes of a wait state of another process.
func (c *causes) findForeign(a *analysis, f *foreignState) {
	c.begin(a, f.interval(a))
	c.sums.Second()
	for column := (chunk.Column{B: f.waiter}); column.Left() > 0 && !column.Bad; {
		path := int32(column.Uint())
		c.sums.Subtract(path, -unit.Duration(column.Int()))
	}
	c.finish()
}

// shareForeign sends other processes the wait states that they caused.
func (b *backward) shareForeign() error {
	a := b.a
	size := a.part.Group.Size()
	pieces := make([][][]byte, (len(a.states)+stateChunk-1)/stateChunk)
	parallel.Chunks(len(a.states), stateChunk, len(b.workers), func(worker, from, to int) {
		if b.ctx.Err() != nil {
			return
		}
		out := make([][]byte, size)
		last := make([]int, size)
		for i := from; i < to; i++ {
			if s := &a.states[i]; !a.isHere(s.cause) {
				p := a.ownerOf(s.cause)
				if last[p] == 0 {
					last[p] = i + 1 // the first one has its whole number
					out[p] = binary.AppendUvarint(out[p], uint64(i))
				} else {
					out[p] = binary.AppendUvarint(out[p], uint64(i+1-last[p]))
					last[p] = i + 1
				}
				out[p] = b.workers[worker].causes.appendForeign(out[p], a, i)
			}
		}
		pieces[from/stateChunk] = out
	})
	if err := b.ctx.Err(); err != nil {
		return err
	}
	out := make([][]byte, size)
	for k, piece := range pieces {
		for p := range piece {
			if len(piece[p]) > 0 {
				out[p] = binary.AppendUvarint(out[p], uint64(len(piece[p])))
				out[p] = append(out[p], piece[p]...)
			}
		}
		pieces[k] = nil
	}
	next := make([]int32, size)
	for i := range a.states {
		if s := &a.states[i]; !a.isHere(s.cause) {
			p := a.ownerOf(s.cause)
			s.before = next[p]
			next[p]++
		}
	}
	in, err := a.part.Group.Exchange(b.ctx, out)
	if err != nil {
		return err
	}
	b.foreignOf = make([]int, size+1)
	for p := range in {
		b.foreignOf[p] = len(b.foreign)
		if p != a.part.Group.Rank() && !b.takeForeign(p, append([]byte(nil), in[p]...)) {
			return cluster.ErrGarbled
		}
	}
	b.foreignOf[size] = len(b.foreign)
	b.foreign = append([]foreignState(nil), b.foreign...)
	b.findForeignPlaces()
	return nil
}

// appendForeign writes a wait state for the owner of its cause.
func (c *causes) appendForeign(b []byte, a *analysis, i int) []byte {
	s := &a.states[i]
	b = append(b, byte(s.metric))
	b = binary.AppendUvarint(b, uint64(s.first))
	b = binary.AppendUvarint(b, uint64(s.cause))
	b = binary.AppendUvarint(b, uint64(s.causeCall))
	b = binary.AppendUvarint(b, uint64(s.amount))
	if s.since == never {
		b = append(b, 0)
	} else {
		b = append(b, 1)
		b = chunk.AppendInt(b, int64(s.since))
	}
	_, waiter := a.intervals(i)
	c.sums.Clear()
	a.windows.Add(c.sums, waiter.location, waiter.from, waiter.to, waiter.before)
	c.waiting = a.statesIn(c.waiting[:0], waiter.location, waiter.from, waiter.to, waiter.states)
	for _, w := range c.waiting {
		c.sums.Subtract(a.statePath(w.state), w.part)
	}
	c.encoded = c.encoded[:0]
	for _, path := range c.sums.Touched {
		if t := c.sums.First(path); t != 0 && path != 0 {
			c.encoded = binary.AppendUvarint(c.encoded, uint64(path))
			c.encoded = chunk.AppendInt(c.encoded, int64(t))
		}
	}
	b = binary.AppendUvarint(b, uint64(len(c.encoded)))
	return append(b, c.encoded...)
}

// takeForeign takes the wait states of another process that were caused here.
func (b *backward) takeForeign(p int, data []byte) bool {
	a := b.a
	all := chunk.Column{B: data}
	for all.Left() > 0 {
		c := chunk.Column{B: all.Bytes(all.Uint())}
		if all.Bad {
			return false
		}
		number := -1
		for c.Left() > 0 {
			step := int(c.Uint())
			if number < 0 {
				number = step
			} else {
				number += step
			}
			f := foreignState{number: number, metric: Metric(c.Byte()), first: unit.Duration(c.Uint()), cause: int32(c.Uint())}
			call := int32(c.Uint())
			f.amount, f.since = unit.Duration(c.Uint()), never
			if c.Byte() == 1 {
				f.since = unit.Duration(c.Int())
			}
			f.waiter = c.Bytes(c.Uint())
			ok := false
			if f.causeCall, ok = a.part.OwnCall(p, f.cause, call); !ok || c.Bad || f.metric >= None || f.first > 0 && kinds[f.metric].before == nil {
				return false
			}
			b.foreign = append(b.foreign, f)
		}
	}
	return true
}

// findForeignPlaces finds the wait states before the late calls of foreign ones.
func (b *backward) findForeignPlaces() {
	parallel.Chunks(len(b.foreign), stateChunk, len(b.workers), func(_, from, to int) {
		for i := from; i < to; i++ {
			f := &b.foreign[i]
			f.before = int32(b.a.statesBefore(f.cause, f.causeCall))
		}
	})
}

// accountForForeign charges a wait state of another process to its causes here.
func (w *accountant) accountForForeign(f *foreignState) {
	f.done = true
	w.causes.findForeign(w.a, f)
	w.split(unit.SumOf(f.amount), f.long)
	f.indirect = w.charge(w.a.rankOf(f.cause), f.parts(), unit.SumOf(f.amount), f.long, 1)
}

// handOver notes that a wait state that was caused elsewhere is complete.
func (w *accountant) handOver(s *state) {
	p := w.a.ownerOf(s.cause)
	w.out[p] = append(w.out[p], handed{s.before, load(&s.long)})
}

// rounds accounts for everything that can be accounted for, together with the other processes.
func (b *backward) rounds() error {
	g := b.a.part.Group
	size := g.Size()
	for {
		b.drain()
		if err := b.ctx.Err(); err != nil {
			return err
		}
		busy := byte(0)
		out := make([][]byte, size)
		for p := range out {
			for _, w := range b.workers {
				if len(w.out[p]) > 0 {
					busy = 1
				}
			}
		}
		for p := range out {
			out[p] = append(out[p], busy)
			out[p] = binary.AppendUvarint(out[p], uint64(b.order.Load()))
			for _, w := range b.workers {
				for _, h := range w.out[p] {
					out[p] = binary.AppendUvarint(out[p], uint64(h.index))
					out[p] = binary.AppendUvarint(out[p], uint64(h.long.High))
					out[p] = binary.AppendUvarint(out[p], h.long.Low)
				}
				w.out[p] = w.out[p][:0]
			}
		}
		in, err := g.Exchange(b.ctx, out)
		if err != nil {
			return err
		}
		b.a.rounds++
		some := false
		for p := range in {
			more, ok := b.takeHanded(p, in[p])
			if !ok {
				return cluster.ErrGarbled
			}
			some = some || more
		}
		if !some {
			return nil
		}
	}
}

// takeHanded takes what a process has handed over; more reports whether it has handed over anything.
func (b *backward) takeHanded(p int, data []byte) (more, ok bool) {
	c := chunk.Column{B: data}
	more = c.Byte() == 1
	if order := int32(c.Uint()); order > b.order.Load() {
		b.order.Store(order)
	}
	first, count := b.foreignOf[p], b.foreignOf[p+1]-b.foreignOf[p]
	for c.Left() > 0 && !c.Bad {
		index, long := c.Uint(), unit.Sum{High: int64(c.Uint()), Low: c.Uint()}
		if index >= uint64(count) {
			return false, false
		}
		b.foreign[first+int(index)].long = long
		b.ready = append(b.ready, len(b.a.states)+len(b.a.idle)+first+int(index))
	}
	return more, !c.Bad
}

// returnIndirect sends the owners of foreign states how much of them is indirect.
func (b *backward) returnIndirect() error {
	a := b.a
	out := make([][]byte, a.part.Group.Size())
	for p := range out {
		for i := b.foreignOf[p]; i < b.foreignOf[p+1]; i++ {
			out[p] = binary.AppendUvarint(out[p], uint64(b.foreign[i].indirect))
		}
	}
	in, err := a.part.Group.Exchange(b.ctx, out)
	if err != nil {
		return err
	}
	columns := make([]chunk.Column, len(in))
	for p := range in {
		columns[p].B = in[p]
	}
	for i := range a.states {
		if s := &a.states[i]; !a.isHere(s.cause) {
			indirect := int64(columns[a.ownerOf(s.cause)].Uint())
			if !s.circular {
				s.indirect = indirect
			}
		}
	}
	for p := range columns {
		if p != a.part.Group.Rank() && (columns[p].Bad || columns[p].Left() > 0) {
			return cluster.ErrGarbled
		}
	}
	return nil
}
