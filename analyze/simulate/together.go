package simulate

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"slackline/internal/chunk"
	"slackline/internal/cluster"
	"slackline/model/machine"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// Together is how several processes made a result. It is not part of what is simulated: the rest of
// the result is the same for any number of processes.
type Together struct {
	Processes int
	Exchanges int64  // of each process, without those that gather the lists by rank
	Rounds    int64  // exchanges that ended a window or, with large messages, a part of one
	Crossed   int64  // messages and releases from one process to another
	Bytes     int64  // that all processes together sent to others in these exchanges
	Largest   int64  // bytes that the busiest of them sent
	Note      string // why the other processes had nothing to do
}

// together reports whether several processes share the run.
func (o *Options) together() bool { return o.Group != nil && o.Group.Size() > 1 }

// aloneBecause reports why a run is left to process 0; empty: it is not.
func (o *Options) aloneBecause() string {
	switch {
	case o.Model == LogGPS:
		return fmt.Sprintf("the model %s is evaluated by one process", LogGPS)
	case o.records():
		return "what happens in a run is recorded by one process"
	}
	return ""
}

// runAlone lets process 0 carry out a run, and reports to the others how it ended.
func runAlone(ctx context.Context, p schedule.Program, m *machine.Machine, o Options, choice engineChoice) (*Result, error) {
	g, why := o.Group, o.aloneBecause()
	result := &Result{}
	var err error
	data := []byte{}
	if g.Rank() == 0 {
		o.Group = nil
		if result, err = runWith(ctx, p, m, o, choice); err != nil {
			data = []byte(err.Error())
		}
	}
	all, failed := cluster.AllGather(ctx, g, data)
	switch {
	case err != nil:
		return nil, err
	case failed != nil:
		return nil, failed
	case len(all[0]) > 0:
		return nil, &sharedError{string(all[0])}
	}
	result.Together = &Together{Processes: g.Size(), Exchanges: 1, Note: why}
	return result, nil
}

// open joins the processes for an attempt to run the problem; without others it returns nil.
func (r *run) open(ctx context.Context, threads int) (*link, error) {
	if !r.options.together() {
		return nil, nil
	}
	return openLink(ctx, r.options.Group, r.problem, threads)
}

// survey finds out what decides about the engine: whether the lean core can run the program, as far
// as one can see, and whether there are large messages. All processes come to the same result.
func (r *run) survey(ctx context.Context) (lean, large bool, err error) {
	lean = r.window > 0 && r.leanFits()
	large = r.largeMessages()
	if !r.options.together() {
		return lean, large, nil
	}
	bits := byte(0)
	if !lean {
		bits |= 1
	}
	if large {
		bits |= 2
	}
	all, err := cluster.AllGather(ctx, r.options.Group, []byte{bits})
	if err != nil {
		return false, false, err
	}
	for _, b := range all {
		if len(b) != 1 {
			return false, false, errEnvelopes
		}
		bits |= b[0]
	}
	return bits&1 == 0, bits&2 != 0, nil
}

// gather makes the result of a process that of all: sums and largest values on every process, the
// lists by rank on process 0, and none on the others.
func (result *Result) gather(r *run, l *link) error {
	if l == nil {
		return nil
	}
	most, err := result.reduce(r, l)
	if err != nil {
		return err
	}
	return result.gatherLists(r, l, most)
}

// reduce adds up the numbers of all processes and returns the largest number of ranks of one.
func (result *Result) reduce(r *run, l *link) (most int, err error) {
	q, t := &result.Queues, &Together{Processes: l.group.Size()}
	sent := l.group.Traffic().Sent - r.before.Sent
	sums := []*int64{&result.Messages, &result.Ops, &q.Expected, &q.Unexpected, &q.Rendezvous, &t.Crossed, &t.Bytes}
	posted, unexpected, makespan := int64(q.MaxPosted), int64(q.MaxUnexpected), int64(result.Makespan)
	threads, ranks := int64(result.Threads), int64(r.ranks)
	largest := []*int64{&posted, &unexpected, &makespan, &threads, &ranks, &t.Largest}
	t.Crossed, t.Bytes, t.Largest = l.crossed, sent, sent
	var data []byte
	for _, list := range [][]*int64{sums, largest} {
		for _, v := range list {
			data = binary.AppendUvarint(data, uint64(*v))
		}
	}
	all, err := cluster.AllGather(l.ctx, l.group, data)
	if err != nil {
		return 0, err
	}
	for _, v := range sums {
		*v = 0
	}
	for _, data := range all {
		c := chunk.Column{B: data}
		for _, v := range sums {
			*v += int64(c.Uint())
		}
		for _, v := range largest {
			*v = max(*v, int64(c.Uint()))
		}
		if c.Bad || c.Left() > 0 {
			return 0, errEnvelopes
		}
	}
	q.MaxPosted, q.MaxUnexpected, result.Makespan = int(posted), int(unexpected), unit.Duration(makespan)
	result.Threads = int(threads)
	t.Rounds = l.rounds
	t.Exchanges = l.group.Traffic().Exchanges - r.before.Exchanges
	result.Together = t
	return int(ranks), nil
}

// gatherStep is how many ranks of a process go to process 0 in one exchange, so that no process
// needs memory for more.
const gatherStep = 1 << 16

// gatherLists brings the lists by rank to process 0, piece by piece; no process has more than most
// ranks.
func (result *Result) gatherLists(r *run, l *link, most int) error {
	finish, ranks := result.Finish, result.Ranks
	breakdown := ranks != nil
	first := l.group.Rank() == 0
	var where []part
	if first {
		result.Finish = make([]unit.Duration, r.layout.Ranks)
		if breakdown {
			result.Ranks = make([]Breakdown, r.layout.Ranks)
		}
		for p := range l.group.Size() {
			where = append(where, partOf(r.layout, p, l.group.Size()))
		}
	} else {
		result.Finish, result.Ranks = nil, nil
	}
	var b []byte
	for at := 0; at < most; at += gatherStep {
		b = b[:0]
		last := unit.Duration(0)
		for i := at; i < min(at+gatherStep, len(finish)); i++ {
			b = chunk.AppendInt(b, int64(finish[i]-last))
			last = finish[i]
			if breakdown {
				for _, v := range [...]unit.Duration{ranks[i].Compute, ranks[i].Overhead, ranks[i].Noise, ranks[i].Waiting} {
					b = chunk.AppendInt(b, int64(v))
				}
			}
		}
		in, err := cluster.Gather(l.ctx, l.group, b)
		if err != nil {
			return err
		}
		for p, data := range in {
			if err := result.takeLists(&where[p], at, data); err != nil {
				return err
			}
		}
	}
	return nil
}

// takeLists takes a piece of the lists of a process, from its rank at on.
func (result *Result) takeLists(p *part, at int, data []byte) error {
	c := chunk.Column{B: data}
	last := unit.Duration(0)
	for i := at; i < min(at+gatherStep, p.ranks); i++ {
		rank := p.global(int32(i))
		last += unit.Duration(c.Int())
		result.Finish[rank] = last
		if result.Ranks != nil {
			result.Ranks[rank] = Breakdown{
				Compute: unit.Duration(c.Int()), Overhead: unit.Duration(c.Int()),
				Noise: unit.Duration(c.Int()), Waiting: unit.Duration(c.Int()),
			}
		}
	}
	if c.Bad || c.Left() > 0 {
		return errEnvelopes
	}
	return nil
}

// errPart is the error of a part of a program that is run as if it were the whole.
var errPart = errors.New("this is the part of a program that one process of several runs; read it as a whole")
