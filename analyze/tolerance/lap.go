package tolerance

import (
	"math"
	"runtime"
	"slices"

	"slackline/internal/parallel"
	"slackline/model/schedule"
)

// repeater finds out whether a program repeats itself: iterations with the same operations, in which only calculations take other times.
// One repetition is written down; as long as the next ones load the same blocks, their points follow from it without a look at
// dependencies, messages and gaps. All numbers are the same as without it.
type repeater struct {
	isOff  bool
	shapes [2 * maxPeriod]uint64 // of the last blocks of rank 0
	blocks int                   // of rank 0
	runs   [maxPeriod + 1]int    // by number of blocks: how many in a row are as those so many before
	wanted int                   // repetitions that must have been seen
	period int                   // blocks of rank 0 in the repetition that is written down
	until  int                   // blocks of rank 0 when it ends
	start  *passState            // when it started
	laps   int                   // that followed from those that were written down
	latest int64                 // of their points
}

const (
	maxPeriod   = 256
	leastWanted = 6
	// fewLaps is a number of repetitions that is not worth the effort.
	fewLaps = 8
	// manyOps is the number of operations of a repetition that is worth a goroutine.
	manyOps = 1 << 12
)

// load looks at a block that a rank has loaded.
func (r *repeater) load(p *pass, rank int) {
	if p.record != nil {
		p.record.load(rank, &p.block)
	}
	if rank != 0 || r.isOff {
		return
	}
	shape := uint64(len(p.block.Ops))
	for i := range p.block.Ops {
		for _, word := range shapeOf(&p.block.Ops[i]) {
			shape = (shape ^ word) * 0x9E3779B97F4A7C15
			shape ^= shape >> 29
		}
	}
	for n := 1; n <= min(maxPeriod, r.blocks); n++ {
		if r.shapes[(r.blocks-n)%len(r.shapes)] == shape {
			r.runs[n]++
		} else {
			r.runs[n] = 0
		}
	}
	r.shapes[r.blocks%len(r.shapes)] = shape
	r.blocks++
}

// round is called before all ranks whose blocks have ended load the next ones.
func (r *repeater) round(p *pass) {
	if r.isOff || p.ranks[0].open > 0 || p.ranks[0].ops == nil || p.s.matched != nil {
		return
	}
	switch {
	case p.record == nil:
		r.begin(p)
	case r.blocks == r.until:
		r.end(p)
	}
}

// begin starts to write down if the blocks of rank 0 have repeated themselves.
func (r *repeater) begin(p *pass) {
	r.wanted = max(r.wanted, leastWanted)
	for n := 1; n <= min(maxPeriod, r.blocks/r.wanted); n++ {
		if r.runs[n] < n*r.wanted {
			continue
		}
		r.start = p.state()
		if r.start.slots == p.slots.used {
			r.period, r.until = n, r.blocks+n
			p.record = newRecorder(p, r.start.live)
		} else {
			r.giveUp()
		}
		return
	}
}

// giveUp waits until more repetitions have been seen.
func (r *repeater) giveUp() {
	r.wanted *= 2
	clear(r.runs[:])
}

// end ends what is written down, and carries out all repetitions that follow.
func (r *repeater) end(p *pass) {
	record := p.record
	p.record = nil
	state := p.state()
	if !slices.Equal(state.words, r.start.words) || len(state.live) != len(r.start.live) || state.slots != p.slots.used {
		r.giveUp()
		return
	}
	l := record.finish(p, state.live)
	laps := 0
	if l != nil {
		laps = p.follow(l, state)
		r.laps += laps
	}
	if r.giveUp(); laps >= fewLaps {
		r.wanted = leastWanted
	}
}

// follower carries out repetitions after one that was written down.
type follower struct {
	*lap
	p     *pass
	live  []uint32 // slots of the points that are known at the start of a repetition
	at    []moment // by point
	times []int64  // of calculations, from the repetition that was written down on
	laps  uint32   // that were carried out
	run   *lapRun  // on the tape; nil: there is none
	done  lapRead  // the blocks of the last repetition that was carried out
}

// lapRead is how far the blocks of a repetition have been read.
type lapRead struct {
	after []schedule.Cursor // by rank
	last  []schedule.Cursor // by rank: of its last block
	marks []rankMark
}

type rankMark struct {
	rank int
	mark
}

// follow carries out the repetitions after one that was written down, and returns their number. The last two are left to the pass,
// so that no operation of those that are carried out here ends last.
func (p *pass) follow(l *lap, state *passState) int {
	f := &follower{lap: l, p: p, live: state.live}
	for rank := range p.ranks {
		f.done.after = append(f.done.after, p.ranks[rank].cursor)
	}
	f.done.last = make([]schedule.Cursor, len(p.ranks))
	f.times = make([]int64, l.calcs)
	for _, blocks := range l.blocks {
		for i := range blocks {
			f.take(&blocks[i], blocks[i].ops, f.times)
		}
	}
	var first, second, third lapRead // the blocks of the next repetitions
	if p.axis != nil && !f.makeLines() || !f.readLap(&f.done, &first, 0) {
		return 0
	}
	f.at = make([]moment, len(l.firsts)-1)
	for i, slot := range f.live {
		f.at[i] = p.slots.list[slot].moment
	}
	for ok := f.readLap(&first, &second, 1); ok && p.overflow >= 0 && p.costs.err == nil && f.fits() && p.s.interrupted() == nil; {
		// While one repetition is carried out, the one after the next is read.
		times, ahead, threads := f.times, f.laps+2, 1
		if f.numOps >= manyOps {
			threads = runtime.GOMAXPROCS(0)
		}
		steps := [2]func(){func() { ok = f.readLap(&second, &third, ahead) }, func() { f.carryOut(times, first.marks) }}
		parallel.Each(len(steps), threads, func(i int) { steps[i]() })
		f.done, first, second, third = first, second, third, f.done
	}
	if f.laps > 0 {
		f.leave(state)
	}
	return int(f.laps)
}

// take takes the times of the calculations of a block.
func (f *follower) take(b *lapBlock, ops []schedule.Op, times []int64) {
	n := b.calc
	for i := range ops {
		if ops[i].Kind == schedule.Calc {
			times[n] = f.p.calculation(&ops[i]).length
			n++
		}
	}
}

// readLap reads the blocks of one more repetition, after so many others, and reports whether it is the same.
func (f *follower) readLap(before, n *lapRead, laps uint32) bool {
	p := f.p
	n.after, n.last, n.marks = append(n.after[:0], before.after...), append(n.last[:0], before.last...), n.marks[:0]
	start := len(f.times)
	f.times = append(f.times, make([]int64, f.calcs)...)
	for rank := range p.ranks {
		r := &p.ranks[rank]
		first := uint64(r.first) + uint64(len(r.ops)) + uint64(laps)*uint64(f.ops[rank])
		if first+uint64(f.ops[rank]) > maxRankOps {
			return false
		}
		for i := range f.blocks[rank] {
			b, ok := &f.blocks[rank][i], false
			n.marks = append(n.marks, rankMark{rank, mark{uint32(first), n.after[rank]}})
			n.last[rank] = n.after[rank]
			if n.after[rank], ok = p.s.stream.Next(rank, n.after[rank], &p.block); !ok || !b.has(&p.block) {
				return false
			}
			f.take(b, p.block.Ops, f.times[start:])
			first += uint64(len(b.ops))
		}
	}
	return true
}

// carryOut carries out the next repetition.
func (f *follower) carryOut(times []int64, marks []rankMark) {
	times, at := times[int(f.laps)*f.calcs:], f.at
	f.laps++
	overflow := int64(0)
	for point := f.lap.live; point < len(at); point++ {
		m := &at[point]
		for i, w := range f.ways[f.firsts[point]:f.firsts[point+1]] {
			from, e := &at[w.from], &f.edges[w.edge]
			length := e.length
			if w.calc >= 0 {
				length += times[w.calc]
			}
			t := from.at + length
			overflow |= length | t
			if i > 0 && t < m.at {
				continue
			}
			tail := w.tail + uint64(f.laps)*uint64(w.step)
			if w.step == noStep {
				tail = from.tail
			}
			if i > 0 && t == m.at {
				late := *e
				late.length = length
				m.join(from, &late, tail)
				continue
			}
			m.at, m.tail = t, tail
			m.path.units, m.path.size, m.path.overheads = from.path.units+e.units, from.path.size+e.size, from.path.overheads+e.overheads
			m.size, m.overheads, m.leastUnits = from.size+e.size, from.overheads+e.overheads, from.leastUnits+e.units
		}
	}
	f.p.overflow |= overflow
	if f.p.paths != nil {
		f.decide(f.p.paths, marks)
	}
	copy(at[:f.lap.live], at[len(at)-f.lap.live:])
}

// decide notes what decided the points of a repetition.
func (f *follower) decide(d *decisions, marks []rankMark) {
	for _, m := range marks {
		d.ranks[m.rank].mark(m.first, m.cursor)
	}
	starts, ends := f.starts, f.ends
	for rank := range d.ranks {
		r, past := &d.ranks[rank], f.laps*f.ops[rank]
		r.extend(int(f.ops[rank]))
		for ; len(starts) > 0 && int(starts[0].rank) == rank; starts = starts[1:] {
			s := &starts[0]
			word := s.tail + past<<2
			if s.point != noPoint {
				word = uint32(f.at[s.point].tail)
			}
			r.start[s.index+past] = word
		}
		for ; len(ends) > 0 && int(ends[0].rank) == rank; ends = ends[1:] {
			e := &ends[0]
			byMessage := f.at[e.point].tail == e.message+uint64(f.laps)*uint64(e.step)
			r.end[e.index+past] = endWord(e.other+f.laps*f.ops[e.otherRank], byMessage)
		}
	}
}

// makeLines starts the repetitions on the tape, with a node for each point that is known.
func (f *follower) makeLines() bool {
	lines, ok := f.lines()
	if !ok {
		return false
	}
	f.run = &lapRun{lapLines: lines, calcs: f.calcs, scale: f.p.axis.scale}
	return true
}

// fits reports whether the tape has room for one more repetition.
func (f *follower) fits() bool {
	return f.run == nil || f.p.tape.nodes+len(f.live)+(int(f.laps)+1)*len(f.run.ends) < math.MaxUint32-1
}

// toTape brings the repetitions to the tape, and returns the node of the first point that is known then; the others follow it.
func (f *follower) toTape() uint32 {
	p, run := f.p, f.run
	for _, slot := range f.live {
		p.tidy(p.slots.list[slot].lines)
		p.newNode()
	}
	run.laps = int(f.laps)
	run.times = slices.Clone(f.times[:(run.laps+1)*run.calcs])
	for _, t := range run.times {
		if t > (maxTime-run.most)/run.scale {
			p.lineOverflow = -1
		}
	}
	p.tape.addLaps(run)
	return uint32(p.tape.nodes - len(f.live))
}

// leave brings the pass to where the repetitions have ended.
func (f *follower) leave(state *passState) {
	p, laps := f.p, f.laps
	first := uint32(0)
	if f.run != nil {
		first = f.toTape()
	}
	for i, slot := range f.live {
		s := &p.slots.list[slot]
		s.moment = f.at[i]
		p.repeat.latest = max(p.repeat.latest, s.at)
		if f.run != nil {
			s.lines = append(s.lines[:0], line{u: first + uint32(i)})
		}
	}
	for rank := range p.ranks {
		r := &p.ranks[rank]
		r.first += laps * f.ops[rank]
		r.cursor = f.done.after[rank]
		if r.open > 0 && len(f.blocks[rank]) > 0 {
			p.s.stream.Next(rank, f.done.last[rank], &p.block)
			r.takeOps(&p.block)
		}
		for i := range r.nics {
			r.nics[i].number += uint64(laps) * uint64(f.ops[rank]) << 2
		}
	}
	for n := range state.envelopes {
		e := &p.mail.envelopes[n]
		e.sendIndex += laps * f.ops[e.from]
		e.recvIndex += laps * f.ops[e.to]
	}
	p.ops += int(laps) * f.numOps
	p.mail.messages += int(laps) * f.messages
	p.rendezvous += int(laps) * f.rendezvous
}
