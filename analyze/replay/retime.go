package replay

import (
	"slices"
	"sort"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// retiming is what is needed to write a simulated run of a program with accelerators down as its recorded run at other times.
type retiming struct {
	recorded *timeline.Timeline
	ranks    []rankTimes
}

// rankTimes says which operations of a rank tell its times.
type rankTimes struct {
	begin        unit.Duration // of what became the schedule
	first        int32         // location of the first thread
	threads      []threadTimes
	begins, ends [][]uint32 // by stream, activity: the operations at whose start it begins and at whose end it ends
}

// threadTimes says when a thread came where: moments, and among them those of the beginnings and ends of its calls.
type threadTimes struct {
	marks         []mark
	entered, left []int32
}

// times are what is kept of a walk.
func (d *deviceWalk) times() rankTimes {
	r := rankTimes{begin: d.w.begin, begins: d.begins, ends: d.ends}
	for _, c := range d.chains {
		r.first = d.chains[0].location
		r.threads = append(r.threads, threadTimes{c.marks, c.entered, c.left})
	}
	return r
}

// Retimes implements simulate.Retimer: whether a simulated run can be written down as the recorded one at other times. Copies cannot.
func (p *Program) Retimes() bool { return p.retiming != nil && p.copies == 1 }

// Retimed implements simulate.Retimer.
func (p *Program) Retimed(start, finish [][]int64) *timeline.Timeline {
	old := p.retiming.recorded
	t := *old
	base := unit.Duration(0)
	for i := range p.retiming.ranks {
		base = max(base, p.retiming.ranks[i].begin)
	}
	t.Locations = slices.Clone(old.Locations)
	d := *old.Devices
	t.Devices = &d
	d.Streams = slices.Clone(d.Streams)
	next := make([]int, len(p.retiming.ranks)) // stream of a rank
	clocks := make([]func(unit.Duration) unit.Duration, len(t.Locations))
	for i := range t.Locations {
		l := &t.Locations[i]
		r := &p.retiming.ranks[l.Rank]
		h := &r.threads[int32(i)-r.first]
		clocks[i] = clock(h.marks, finish[l.Rank], r.begin, base)
		move := func(list []unit.Duration, marked []int32) []unit.Duration {
			out := make([]unit.Duration, len(list))
			for k, t := range list {
				if m := marked[k]; m >= 0 && h.marks[m].at == t {
					out[k] = base + unit.Duration(finish[l.Rank][h.marks[m].op])
				} else {
					out[k] = clocks[i](t)
				}
			}
			return out
		}
		l.Calls.Enter, l.Calls.Leave = move(l.Calls.Enter, h.entered), move(l.Calls.Leave, h.left)
		l.First, l.Last = clocks[i](l.First), clocks[i](l.Last)
		l.NoCPU = nil
	}
	for i := range d.Streams {
		s := &d.Streams[i]
		r := &p.retiming.ranks[s.Rank]
		begins, ends := r.begins[next[s.Rank]], r.ends[next[s.Rank]]
		next[s.Rank]++
		s.Begin, s.End = make([]unit.Duration, s.Len()), make([]unit.Duration, s.Len())
		for k := range s.Begin {
			s.Begin[k] = base + unit.Duration(start[s.Rank][begins[k]])
			s.End[k] = base + unit.Duration(finish[s.Rank][ends[k]])
		}
	}
	d.References = slices.Clone(d.References)
	for i := range d.References {
		d.References[i].Recorded = clocks[d.References[i].Location](d.References[i].Recorded)
	}
	d.Messages = slices.Clone(d.Messages)
	for i := range d.Messages {
		m := &d.Messages[i]
		m.Sent, m.Received = d.Streams[m.From].Begin[m.Send], d.Streams[m.To].End[m.Recv]
	}
	t.Messages = slices.Clone(old.Messages)
	for i := range t.Messages {
		m := &t.Messages[i]
		m.Sent, m.Received = clocks[m.From](m.Sent), clocks[m.To](m.Received)
	}
	t.Simulated = true
	t.MoveRanks(make([]unit.Duration, t.Ranks))
	return &t
}

// clock returns the function from the times of a thread in the run to those in the simulation. Between two moments that are known it goes
// at one pace. The simulated run of a rank has nothing of what came before it began or after it ended, such as MPI_Init and MPI_Finalize:
// no time passes there.
func clock(marks []mark, finish []int64, begin, base unit.Duration) func(unit.Duration) unit.Duration {
	end := base
	if len(finish) > 0 {
		end += unit.Duration(slices.Max(finish))
	}
	return func(t unit.Duration) unit.Duration {
		i := sort.Search(len(marks), func(i int) bool { return marks[i].at > t })
		from, to := begin, base
		if i > 0 {
			from, to = marks[i-1].at, base+unit.Duration(finish[marks[i-1].op])
		}
		switch {
		case t <= from:
			return to
		case i == len(marks):
			return min(to+t-from, end)
		}
		after := base + unit.Duration(finish[marks[i].op])
		share := float64(t-from) / float64(marks[i].at-from)
		return min(max(to+unit.Duration(share*float64(after-to)), to), after)
	}
}
