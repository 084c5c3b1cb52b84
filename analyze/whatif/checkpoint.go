package whatif

import (
	"slices"

	"slackline/model/unit"
)

// Checkpoint holds the finished runs of a series, so that it can go on after an interrupt, with more
// replicas or at further process counts.
//
// Write describes how it looks as a file.
type Checkpoint struct {
	series []Property
	points map[int]*kept
	torn   int // line at which the file ended too early; 0: it did not
}

// Property is one of the things that make a series what it is: its input, machine, noise, seed.
// Series with other properties are other series.
type Property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// kept is what is known of a process count.
type kept struct {
	Noiseless unit.Duration
	Ops       int64 // of one run; 0: the run without noise is missing
	makespans []unit.Duration
}

// unknown is the makespan of a replica that has not been run.
const unknown = unit.Duration(-1)

// NewCheckpoint returns an empty checkpoint of the series with these properties.
func NewCheckpoint(series []Property) *Checkpoint {
	return &Checkpoint{series: series, points: map[int]*kept{}}
}

// Replicas is the number of replicas that are finished.
func (c *Checkpoint) Replicas() int {
	n := 0
	for _, p := range c.points {
		for _, m := range p.makespans {
			if m != unknown {
				n++
			}
		}
	}
	return n
}

// at returns what is known of a process count.
func (c *Checkpoint) at(ranks int) *kept {
	p := c.points[ranks]
	if p == nil {
		p = &kept{}
		c.points[ranks] = p
	}
	return p
}

func (k *kept) set(replica int, makespan unit.Duration) {
	for len(k.makespans) <= replica {
		k.makespans = append(k.makespans, unknown)
	}
	k.makespans[replica] = makespan
}

// missing are the replicas below n that have not been run.
func (k *kept) missing(n int) []int {
	var list []int
	for i := range n {
		if i >= len(k.makespans) || k.makespans[i] == unknown {
			list = append(list, i)
		}
	}
	return list
}

// prefix are the makespans from replica 0 to the first that is missing, at most n.
func (k *kept) prefix(n int) []unit.Duration {
	end := slices.Index(k.makespans, unknown)
	if end < 0 {
		end = len(k.makespans)
	}
	return slices.Clone(k.makespans[:min(end, n)])
}

// withoutReplicas returns a checkpoint that has the run without noise of one process count, for the
// same program with other noise.
func (c *Checkpoint) withoutReplicas(ranks int) *Checkpoint {
	other := NewCheckpoint(nil)
	p := c.at(ranks)
	*other.at(ranks) = kept{Noiseless: p.Noiseless, Ops: p.Ops}
	return other
}
