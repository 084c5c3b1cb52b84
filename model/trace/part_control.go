package trace

import (
	"context"
	"encoding/binary"

	"slackline/internal/chunk"
	"slackline/internal/cluster"
	"slackline/model/clock"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// The controlled logical clock of a run that several processes share. Each looks whether something ended here before it could.
// If nothing did anywhere, as usual, that is all. If something did, the moments of all ranks (16 to 20 bytes for each end of a message
// and each begin and end of a member's part in a collective; no calls) go to process 0, which moves them, because a jump goes on forward
// through all ranks in an order that is known only while they are moved; the shifts go back, and each process moves its own
// calls and tells the others the new times of those that they have.

// controlPart is control for a part of a timeline.
func (c *conversion) controlPart(ctx context.Context, tl *timeline.Timeline) error {
	k := c.clocks
	if c.wantsControl(tl) {
		m := newMoments(tl, c.Latency)
		wrong, err := c.anyWrong(ctx, m)
		if err != nil {
			return err
		}
		if wrong {
			k.Control = true
			if err := m.controlPart(ctx, &k.ClockReport); err != nil {
				return err
			}
		}
	}
	if c.Clocks != nil {
		*c.Clocks = k.ClockReport
	}
	return nil
}

// anyWrong reports whether something ended before it could in any process.
func (c *conversion) anyWrong(ctx context.Context, m *moments) (bool, error) {
	here := []byte{0}
	if v := clock.Check(&m.Run, nil); v.Messages+v.Groups > 0 {
		here[0] = 1
	}
	in, err := cluster.AllGather(ctx, c.group, here)
	if err != nil {
		return false, err
	}
	for p := range in {
		if len(in[p]) == 1 && in[p][0] == 1 {
			return true, nil
		}
	}
	return false, nil
}

// shiftReport is what process 0 tells the others beside the shifts.
type shiftReport struct {
	Before, After clock.Violations
	Moved         int64
	Furthest      unit.Duration
	Unresolved    int64
}

// controlPart moves everything in a part of a timeline, and says so in its problems.
func (m *moments) controlPart(ctx context.Context, report *ClockReport) error {
	p := m.tl.Part
	joins, err := m.numberJoins(ctx)
	if err != nil {
		return err
	}
	in, err := cluster.Gather(ctx, p.Group, m.append(joins))
	if err != nil {
		return err
	}
	var done clock.Controlled
	out := make([][]byte, p.Group.Size())
	if p.Group.Rank() == 0 {
		run, ok := joins.read(in, m.Latency, m.tl)
		if !ok {
			return cluster.ErrGarbled
		}
		done = clock.Control(run)
		for rank := range m.tl.Ranks {
			q := p.Owner(rank)
			for _, s := range done.Shifts[rank] {
				out[q] = chunk.AppendInt(out[q], int64(s))
			}
		}
	}
	if in, err = p.Group.Exchange(ctx, out); err != nil {
		return err
	}
	shifts := make([][]unit.Duration, m.tl.Ranks)
	c := chunk.Column{B: in[0]}
	for rank := range shifts {
		if shifts[rank] = make([]unit.Duration, len(m.Moments[rank])); p.Owner(rank) == p.Group.Rank() {
			for i := range shifts[rank] {
				shifts[rank][i] = unit.Duration(c.Int())
			}
		}
	}
	if c.Bad || c.Left() > 0 {
		return cluster.ErrGarbled
	}
	told := shiftReport{done.Before, done.After, done.Moved, done.Furthest, done.Unresolved}
	if err := broadcast(ctx, p.Group, &told); err != nil {
		return err
	}
	report.Before, report.After, report.Moved, report.Furthest = told.Before, told.After, told.Moved, told.Furthest
	m.move(shifts)
	if err := m.tl.RefreshTimes(ctx); err != nil {
		return err
	}
	if err := m.recountPart(ctx); err != nil {
		return err
	}
	m.note(&told)
	return nil
}

// recountPart is recount with what all processes know.
func (m *moments) recountPart(ctx context.Context) error {
	m.recount()
	p := &m.tl.Problems
	type bounds struct {
		Violations        int64
		Worst, Start, End unit.Duration
	}
	all, err := cluster.AllGatherValues(ctx, m.tl.Part.Group, &bounds{p.Violations, p.WorstViolation, m.tl.Start, m.tl.End})
	if err != nil {
		return err
	}
	p.Violations = 0
	for _, b := range all {
		p.Violations += b.Violations
		p.WorstViolation = max(p.WorstViolation, b.Worst)
		m.tl.Start, m.tl.End = min(m.tl.Start, b.Start), max(m.tl.End, b.End)
	}
	return nil
}

// joinNumbers gives messages and collectives of a part their numbers in the whole run.
type joinNumbers struct {
	messages []int32 // by message of the part
	total    int
	first    []int // by communicator: its first collective; one more at the end
}

// numberJoins finds the numbers: the receivers of messages know theirs, and the processes that answer for communicators how many collectives these have.
func (m *moments) numberJoins(ctx context.Context) (*joinNumbers, error) {
	tl, p := m.tl, m.tl.Part
	own := 0
	for i := range tl.Messages {
		if p.Here(tl.Messages[i].To) {
			own++
		}
	}
	count := make([]int, len(tl.Comms))
	for i := range tl.Collectives {
		count[tl.Collectives[i].Comm]++
	}
	b := binary.AppendUvarint(nil, uint64(own))
	for comm, n := range count {
		if tl.CommOwner(comm) == p.Group.Rank() {
			b = binary.AppendUvarint(b, uint64(n))
		}
	}
	in, err := cluster.AllGather(ctx, p.Group, b)
	if err != nil {
		return nil, err
	}
	j := &joinNumbers{messages: make([]int32, len(tl.Messages)), first: make([]int, len(tl.Comms)+1)}
	columns := make([]chunk.Column, len(in))
	base := 0
	for q := range in {
		columns[q].B = in[q]
		if q == p.Group.Rank() {
			base = j.total
		}
		j.total += int(columns[q].Uint())
	}
	for comm := range count {
		j.first[comm+1] = j.first[comm] + int(columns[tl.CommOwner(comm)].Uint())
	}
	for q := range columns {
		if columns[q].Bad {
			return nil, cluster.ErrGarbled
		}
	}
	return j, j.tellSenders(ctx, tl, base)
}

// tellSenders tells the processes that sent messages which numbers these have. Messages between two processes are in the same order in
// both.
func (j *joinNumbers) tellSenders(ctx context.Context, tl *timeline.Timeline, base int) error {
	p := tl.Part
	out := make([][]byte, p.Group.Size())
	for i := range tl.Messages {
		from, to := tl.Messages[i].From, tl.Messages[i].To
		if !p.Here(to) {
			continue
		}
		j.messages[i] = int32(base)
		if base++; !p.Here(from) {
			q := p.Owner(tl.Locations[from].Rank)
			out[q] = binary.AppendUvarint(out[q], uint64(j.messages[i]))
		}
	}
	in, err := p.Group.Exchange(ctx, out)
	if err != nil {
		return err
	}
	columns := make([]chunk.Column, len(in))
	for q := range in {
		columns[q].B = in[q]
	}
	for i := range tl.Messages {
		if to := tl.Messages[i].To; !p.Here(to) {
			j.messages[i] = int32(columns[p.Owner(tl.Locations[to].Rank)].Uint())
		}
	}
	for q := range columns {
		if columns[q].Bad || columns[q].Left() > 0 {
			return cluster.ErrGarbled
		}
	}
	return nil
}

// append writes the groups for which this process answers, and the moments of its ranks.
func (m *moments) append(j *joinNumbers) []byte {
	tl, p := m.tl, m.tl.Part
	var b []byte
	number := make([]int, len(tl.Collectives)) // in the whole run
	next := make([]int, len(tl.Comms))
	for i := range tl.Collectives {
		comm := tl.Collectives[i].Comm
		number[i] = j.first[comm] + next[comm]
		next[comm]++
		if tl.CommOwner(int(comm)) == p.Group.Rank() {
			b = append(b, byte(m.Groups[i].Kind))
			b = chunk.AppendInt(binary.AppendUvarint(b, uint64(m.Groups[i].Size)), int64(m.Groups[i].Root))
		}
	}
	for rank := p.Ranks[p.Group.Rank()]; rank < min(p.Ranks[p.Group.Rank()+1], tl.Ranks); rank++ {
		b = binary.AppendUvarint(b, uint64(len(m.Moments[rank])))
		last := unit.Duration(0)
		for _, x := range m.Moments[rank] {
			join := 0
			if x.Kind == clock.Sent || x.Kind == clock.Received {
				join = int(j.messages[x.Join])
			} else {
				join = number[x.Join]
			}
			b = append(b, byte(x.Kind))
			b = chunk.AppendInt(b, int64(x.Time-last))
			b = binary.AppendUvarint(b, uint64(join))
			b = binary.AppendUvarint(b, uint64(x.Member))
			last = x.Time
		}
	}
	return b
}

// read puts the moments of all ranks together.
func (j *joinNumbers) read(in [][]byte, latency unit.Duration, tl *timeline.Timeline) (*clock.Run, bool) {
	p := tl.Part
	run := &clock.Run{Moments: make([][]clock.Moment, tl.Ranks), Messages: j.total, Latency: latency, Groups: make([]clock.Group, j.first[len(j.first)-1])}
	columns := make([]chunk.Column, len(in))
	for q := range in {
		columns[q].B = in[q]
	}
	for comm := range tl.Comms {
		c := &columns[tl.CommOwner(comm)]
		for i := j.first[comm]; i < j.first[comm+1]; i++ {
			run.Groups[i] = clock.Group{Kind: clock.GroupKind(c.Byte()), Size: int32(c.Uint()), Root: int32(c.Int())}
		}
	}
	for rank := range run.Moments {
		c := &columns[p.Owner(rank)]
		n := c.Uint()
		if n > uint64(c.Left()) {
			return nil, false
		}
		list := make([]clock.Moment, n)
		last := unit.Duration(0)
		for i := range list {
			x := clock.Moment{Kind: clock.MomentKind(c.Byte())}
			last += unit.Duration(c.Int())
			x.Time, x.Join, x.Member = last, int32(c.Uint()), int32(c.Uint())
			message := x.Kind == clock.Sent || x.Kind == clock.Received
			if message && int(x.Join) >= run.Messages || !message && (int(x.Join) >= len(run.Groups) || x.Member >= run.Groups[x.Join].Size) || x.Kind > clock.End {
				return nil, false
			}
			list[i] = x
		}
		run.Moments[rank] = list
	}
	for q := range columns {
		if columns[q].Bad || columns[q].Left() > 0 {
			return nil, false
		}
	}
	return run, true
}
