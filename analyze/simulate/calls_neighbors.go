package simulate

import (
	"slices"

	"slackline/model/schedule"
	"slackline/model/timeline"
)

// neighborhood is who the members of a communicator send to and receive from in its neighborhood collectives.
type neighborhood struct {
	in, out [][]int32
	varies  bool // not in all of them the same
}

// neighborhoods looks up those of all communicators.
func (c *callRecorder) neighborhoods() map[int32]*neighborhood {
	all := map[int32]*neighborhood{}
	var b schedule.Block
	for rank := range c.ranks {
		for step := range c.program.Steps(rank) {
			c.program.Block(rank, step, &b)
			for i := range b.Ops {
				if op := &b.Ops[i]; op.Kind == schedule.Collective && b.Calls[op.Size].Op.IsNeighbor() {
					c.addNeighbors(all, rank, &b.Calls[op.Size])
				}
			}
		}
	}
	for group, n := range all {
		if !n.varies {
			c.build.SetNeighbors(group, n.in, n.out)
		}
	}
	return all
}

func (c *callRecorder) addNeighbors(all map[int32]*neighborhood, rank int, call *schedule.Call) {
	g := &c.groups[call.Group]
	n, me := all[call.Group], g.Index(rank)
	if n == nil {
		n = &neighborhood{in: make([][]int32, g.Len()), out: make([][]int32, g.Len())}
		all[call.Group] = n
	}
	if n.in[me] == nil {
		n.in[me], n.out[me] = append([]int32{}, call.Sources...), append([]int32{}, call.Destinations...)
	}
	n.varies = n.varies || !slices.Equal(n.in[me], call.Sources) || !slices.Equal(n.out[me], call.Destinations)
}

// neighborShare is the share of a member in a neighborhood collective. In MPI, the neighbors belong to the communicator. Where they
// vary from call to call, the calls are like an alltoallv that is zero elsewhere.
func (c *callRecorder) neighborShare(call *schedule.Call, op timeline.Op) share {
	if c.neighbors == nil {
		c.neighbors = c.neighborhoods()
	}
	if !c.neighbors[call.Group].varies {
		return share{op: op, root: -1, sent: call.Size * int64(len(call.Destinations)), received: call.Size * int64(len(call.Sources))}
	}
	n := c.groups[call.Group].Len()
	s := share{op: timeline.OpAlltoallv, root: -1, counts: make([]int64, 2*n)}
	for _, to := range call.Destinations {
		s.counts[to] += call.Size
	}
	for _, from := range call.Sources {
		s.counts[n+int(from)] += call.Size
	}
	return s.summed()
}
