package simulate

import (
	"slices"
	"strings"

	"slackline/model/schedule"
	"slackline/model/timeline"
)

type regionID = timeline.RegionID

// callRegions are the regions of the calls.
type callRegions struct {
	build   *timeline.Builder
	origins []originRegions
	compute [1]regionID // of computations without a call path
	noise   regionID
	known   map[string]regionID // calls whose origin has no name
}

// originRegions are the regions of an origin.
type originRegions struct {
	path   []regionID // functions, outermost first
	name   string     // of the MPI call; empty: none
	call   regionID
	begins bool // it is a call that begins something, which another one completes
	joint  bool // it may send and receive several messages at once
	waits  bool // it is a call that completes requests
	tests  bool // it is a call that tests; the program repeats it until it finds something
}

// fill makes the regions of all origins.
func (r *callRegions) fill(build *timeline.Builder, origins []schedule.Origin) {
	r.build, r.known = build, map[string]regionID{}
	functions := map[string]regionID{}
	function := func(name string) regionID {
		id, ok := functions[name]
		if !ok {
			region := timeline.Region{Name: name}
			if name == noiseName {
				region.Paradigm = timeline.Noise
			}
			id = build.Region(region)
			functions[name] = id
		}
		return id
	}
	r.compute[0] = function("compute")
	r.noise = function(noiseName)
	r.origins = make([]originRegions, max(len(origins), 1))
	for i, o := range origins {
		to := &r.origins[i]
		for _, name := range o.Path {
			to.path = append(to.path, function(name))
		}
		if o.Call != "" {
			name := strings.TrimPrefix(strings.ToLower(o.Call), "mpi_")
			to.name, to.call = o.Call, r.named(o.Call)
			to.waits = strings.HasPrefix(name, "wait") || strings.HasPrefix(name, "test")
			to.tests = timeline.IsTest(o.Call)
			to.joint = strings.HasPrefix(name, "sendrecv") || strings.HasPrefix(name, "isendrecv") || strings.HasPrefix(name, "startall")
			to.begins = strings.HasPrefix(name, "i") && name != "init" && name != "init_thread" || strings.HasPrefix(name, "start") ||
				strings.HasPrefix(name, "pready")
		}
	}
}

// noiseName is what time that noise took is called.
const noiseName = "[noise]"

// of returns the regions of an origin.
func (r *callRegions) of(origin uint32) *originRegions {
	if int(origin) >= len(r.origins) {
		return &r.origins[0]
	}
	return &r.origins[origin]
}

// named returns the region of an MPI call.
func (r *callRegions) named(name string) regionID {
	id, ok := r.known[name]
	if !ok {
		id = r.build.Region(timeline.RegionNamed(name))
		r.known[name] = id
	}
	return id
}

// callOf returns the region of a message, by its origin or as MPI calls it.
func (r *callRegions) callOf(op *schedule.Op, begins bool) regionID {
	if o := r.of(op.Origin); o.name != "" {
		return o.call
	}
	name := map[schedule.Kind][2]string{
		schedule.Send: {"MPI_Send", "MPI_Isend"}, schedule.Recv: {"MPI_Recv", "MPI_Irecv"},
	}[op.Kind]
	if begins {
		return r.named(name[1])
	}
	return r.named(name[0])
}

// collectiveOf returns the region of a collective, by its origin or as MPI calls it.
func (r *callRegions) collectiveOf(origin uint32, op schedule.Operation, begins bool) regionID {
	if o := r.of(origin); o.name != "" {
		return o.call
	}
	name := op.String()
	if begins {
		return r.named("MPI_I" + name)
	}
	return r.named("MPI_" + strings.ToUpper(name[:1]) + name[1:])
}

// waits returns the region of a wait for so many requests.
func (r *callRegions) waits(requests int) regionID {
	if requests == 1 {
		return r.named("MPI_Wait")
	}
	return r.named("MPI_Waitall")
}

// share is what a member has to do with a collective, as MPI's arguments give it: bytes in and out of
// its buffers, those of the root for each member.
type share struct {
	op             timeline.Op
	root           int32
	sent, received int64
	counts         []int64 // by peer, sent and then received, if they differ
}

// shareOf returns the share of a rank in a call.
func (c *callRecorder) shareOf(rank int32, call *schedule.Call) share {
	g := &c.groups[call.Group]
	n, me := int64(g.Len()), g.Index(int(rank))
	s := share{root: -1}
	mine, all := call.Size, n*call.Size
	if call.Sizes != nil && call.Op != schedule.Alltoall {
		mine, all = call.Sizes[me], 0
		for _, size := range call.Sizes {
			all += size
		}
	}
	root := int32(me) == call.Root
	switch call.Op {
	case schedule.Barrier:
		s.op = timeline.OpBarrier
	case schedule.Bcast:
		s.op, s.root, s.received = timeline.OpBcast, call.Root, mine
		s.sent = onlyIf(root, all)
	case schedule.Reduce:
		s.op, s.root, s.sent = timeline.OpReduce, call.Root, mine
		s.received = onlyIf(root, all)
	case schedule.Allreduce:
		s.op, s.sent, s.received = timeline.OpAllreduce, mine, mine
	case schedule.Gather:
		s.op, s.root, s.sent = plainOr(call, timeline.OpGather, timeline.OpGatherv), call.Root, mine
		s.received = onlyIf(root, all)
	case schedule.Scatter:
		s.op, s.root, s.received = plainOr(call, timeline.OpScatter, timeline.OpScatterv), call.Root, mine
		s.sent = onlyIf(root, all)
	case schedule.Allgather:
		s.op, s.sent, s.received = plainOr(call, timeline.OpAllgather, timeline.OpAllgatherv), mine, all
	case schedule.Alltoall:
		s.op, s.sent, s.received = plainOr(call, timeline.OpAlltoall, timeline.OpAlltoallv), all, all
		if call.Sizes != nil {
			s = pairShare(call.Sizes, me, int(n))
		}
	case schedule.ReduceScatter:
		s.op, s.sent, s.received = plainOr(call, timeline.OpReduceScatterBlock, timeline.OpReduceScatter), all, mine
	case schedule.Scan:
		s.op, s.sent, s.received = timeline.OpScan, mine, mine
	case schedule.Exscan:
		s.op, s.sent, s.received = timeline.OpExscan, mine, mine
	case schedule.NeighborAllgather:
		s = c.neighborShare(call, timeline.OpNeighborAllgather)
	case schedule.NeighborAlltoall:
		s = c.neighborShare(call, timeline.OpNeighborAlltoall)
	}
	return s
}

func onlyIf(condition bool, size int64) int64 {
	if condition {
		return size
	}
	return 0
}

// plainOr returns the operation, or its form with sizes by rank.
func plainOr(call *schedule.Call, plain, bySize timeline.Op) timeline.Op {
	if call.Sizes != nil {
		return bySize
	}
	return plain
}

// pairShare is the share of member me of n in an alltoallv.
func pairShare(sizes []int64, me, n int) share {
	s := share{op: timeline.OpAlltoallv, root: -1, counts: make([]int64, 2*n)}
	for k := range n {
		s.counts[k], s.counts[n+k] = sizes[me*n+k], sizes[k*n+me]
	}
	return s.summed()
}

// summed is a share with the sums of its bytes by peer.
func (s share) summed() share {
	for k, size := range s.counts {
		if k < len(s.counts)/2 {
			s.sent += size
		} else {
			s.received += size
		}
	}
	return s
}

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
