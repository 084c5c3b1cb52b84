// Package whatif asks questions that need many simulations: how the time of a program is distributed
// over replicas with different noise, where noise becomes a bottleneck, and how much it must shrink.
//
// A series runs one program at several process counts, each many times. Replicas differ only by the
// offsets at which the ranks go through the noise, and these follow from a seed: a replica equals the
// single run with its offsets, and no result depends on threads or on the order of the work. The
// package does no input or output.
package whatif

import (
	"fmt"
	"sync"

	"slackline/model/machine"
	"slackline/model/noise"
	"slackline/model/unit"
)

// Noise describes which noise is put on the ranks of a program, for any number of ranks.
type Noise struct {
	Profile   *noise.Profile  // nil: none
	Seed      uint64          // of the trace of a random profile, and of the offsets
	Alignment noise.Alignment // which ranks share an offset
	AtZero    bool            // all ranks begin at trace time 0 instead of at drawn offsets
	Offsets   []int64         // by rank, in picoseconds; nil: drawn
	Clock     noise.Clock     // what moves a rank on in the noise
	Only      []int           // the ranks that are noisy; nil: all
	Delays    []Delay         // on top of the noise, the same in all replicas
}

// Delay holds one rank up.
type Delay struct {
	Rank         int
	From, Length unit.Duration
}

// IsZero reports whether there is neither noise nor a delay.
func (n *Noise) IsZero() bool { return n.Profile == nil && len(n.Delays) == 0 }

// Trace returns the trace that the ranks go through; nil: there is none.
func (n *Noise) Trace() (*noise.Detours, error) {
	if n.Profile == nil {
		return nil, nil
	}
	return n.Profile.Detours(n.Seed)
}

// Injection returns the noise of one replica. Replica 0 is the single run with that seed.
func (n *Noise) Injection(layout *machine.Layout, replica int) (*noise.Injection, error) {
	trace, err := n.Trace()
	if err != nil {
		return nil, err
	}
	return n.injection(trace, layout, replica, make([]int64, layout.Ranks))
}

// injection is Injection with a given trace. The buffer takes the offsets.
func (n *Noise) injection(trace *noise.Detours, layout *machine.Layout, replica int, buffer []int64) (*noise.Injection, error) {
	var offsets []int64
	if trace != nil {
		offsets = n.OffsetsOf(trace, layout, replica, buffer)
	}
	in, err := n.newInjection(trace, layout.Ranks, offsets)
	if err != nil {
		return nil, err
	}
	in.SetClock(n.Clock)
	for _, d := range n.Delays {
		if d.Rank >= layout.Ranks {
			return nil, fmt.Errorf("a delay of rank %d, but there are only %d ranks (0..%d)", d.Rank, layout.Ranks, layout.Ranks-1)
		}
		if err := in.Delay(d.Rank, int64(d.From), int64(d.Length)); err != nil {
			return nil, err
		}
	}
	return in, nil
}

func (n *Noise) newInjection(trace *noise.Detours, ranks int, offsets []int64) (*noise.Injection, error) {
	if trace == nil || n.Only == nil {
		return noise.NewInjection(trace, offsets)
	}
	traces := make([]*noise.Detours, ranks)
	for _, r := range n.Only {
		if r < 0 || r >= ranks {
			return nil, fmt.Errorf("noise on rank %d, but there are only %d ranks (0..%d)", r, ranks, ranks-1)
		}
		traces[r] = trace
	}
	return noise.NewPerRank(traces, offsets)
}

// OffsetsOf returns where each rank begins in the trace in a replica, in picoseconds; nil: all at 0.
// Drawn offsets are whole nanoseconds and depend on the seed, the replica and the rank (or its node)
// alone. They are put into the buffer, which has an entry for each rank.
func (n *Noise) OffsetsOf(trace *noise.Detours, layout *machine.Layout, replica int, buffer []int64) []int64 {
	switch {
	case n.Offsets != nil:
		return n.Offsets
	case n.AtZero:
		return nil
	}
	seed := n.Seed
	if replica > 0 {
		seed = noise.ReplicaSeed(n.Seed, replica)
	}
	noise.Offsets{Alignment: n.Alignment, Node: layout.Node, Seed: seed}.Draw(buffer, trace.Period())
	return buffer
}

// injector makes the noise of replicas that run side by side, in memory that is used again.
type injector struct {
	noise  *Noise
	trace  *noise.Detours
	layout *machine.Layout

	lock sync.Mutex
	free []*replicaNoise
	busy map[int]*replicaNoise
}

// replicaNoise is the memory of the noise of one replica.
type replicaNoise struct {
	in     *noise.Injection
	buffer []int64
}

func newInjector(n *Noise, trace *noise.Detours, layout *machine.Layout) *injector {
	return &injector{noise: n, trace: trace, layout: layout, busy: map[int]*replicaNoise{}}
}

// of returns the noise of a replica, which is valid until it is given back.
func (j *injector) of(replica int) (*noise.Injection, error) {
	r := j.take(replica)
	if r.in == nil {
		r.buffer = make([]int64, j.layout.Ranks)
		in, err := j.noise.injection(j.trace, j.layout, replica, r.buffer)
		r.in = in
		return in, err
	}
	if j.trace == nil {
		return r.in, nil
	}
	return r.in, r.in.SetOffsets(j.noise.OffsetsOf(j.trace, j.layout, replica, r.buffer))
}

func (j *injector) take(replica int) *replicaNoise {
	j.lock.Lock()
	defer j.lock.Unlock()
	r := &replicaNoise{}
	if n := len(j.free); n > 0 {
		r, j.free = j.free[n-1], j.free[:n-1]
	}
	j.busy[replica] = r
	return r
}

// giveBack ends the use of a replica's noise.
func (j *injector) giveBack(replica int) {
	j.lock.Lock()
	defer j.lock.Unlock()
	j.free = append(j.free, j.busy[replica])
	delete(j.busy, replica)
}
