package replay

import (
	"slices"

	"slackline/model/timeline"
)

// Collectives among neighbors, MPI_Gatherv and MPI_Scatterv in which some ranks have no data, and MPI_Alltoallv and MPI_Alltoallw in
// which some ranks send nothing to some others or which work between two groups, become the messages with data: all begin at once, those
// of a rank in the order of the linear algorithms, and the call or its wait requires all of them.

// exchanged is a message of a collective.
type exchanged struct {
	to   int // member
	size int64
}

// exchange makes messages of a collective, if it is such a one.
func (c *converter) exchange(k int) bool {
	col, members := &c.t.Collectives[k], c.membersOf(k)
	var sent func(from int) []exchanged
	switch {
	case col.Op.IsNeighbor():
		sent = c.edgesAmongNeighbors(col, members)
	case col.Op == timeline.OpAlltoallv || col.Op == timeline.OpAlltoallw:
		sent = c.pairSizes(col, members)
	case col.Op == timeline.OpGatherv || col.Op == timeline.OpScatterv:
		sent = c.rootSizes(col, members)
	}
	if sent == nil || !c.canCompose(members) {
		return false
	}
	for i := range members {
		for _, m := range sent(i) {
			if from, to := &members[i], &members[m.to]; m.size > 0 && from.Location != to.Location {
				c.addMessage(from.Location, spanOf(from), to.Location, spanOf(to), m.size)
			}
		}
	}
	for i := range members {
		c.tellMember(col, members, i)
	}
	return true
}

func spanOf(m *timeline.Member) callSpan { return callSpan{m.Issue, m.Complete} }

// edgesAmongNeighbors returns the messages of a member in the order of its neighbors; nil if the neighbors of some member are not known.
func (c *converter) edgesAmongNeighbors(col *timeline.Collective, members []timeline.Member) func(from int) []exchanged {
	comm := &c.t.Comms[col.Comm]
	if comm.In == nil || comm.Out == nil {
		return nil
	}
	received := make([][]int64, len(members)) // by member and place among its in-neighbors
	for i := range members {
		in := comm.In[i]
		received[i] = make([]int64, len(in))
		switch counts := c.t.CountsOf(&members[i]); len(counts) {
		case len(in) + len(comm.Out[i]):
			copy(received[i], counts[len(comm.Out[i]):])
		case len(in):
			copy(received[i], counts)
		case 0:
			some := max(int64(len(in)-countOf(in, timeline.NoNeighbor)), 1)
			for e := range received[i] {
				received[i][e] = (members[i].Received + some - 1) / some
			}
		default:
			return nil
		}
	}
	grid := slices.EqualFunc(comm.In, comm.Out, slices.Equal[[]int32])
	sizes := func(from, to int) []int64 {
		var list []int64
		for e, j := range comm.In[to] {
			if int(j) != from {
				continue
			}
			list = append(list, received[to][e])
			// In a dimension of two ranks the message to the one side is received from the other.
			if n := len(list); grid && e%2 == 1 && comm.In[to][e-1] == j {
				list[n-1], list[n-2] = list[n-2], list[n-1]
			}
		}
		return list
	}
	return func(from int) []exchanged {
		var list []exchanged
		for e, to := range comm.Out[from] {
			if to < 0 || int(to) >= len(members) {
				continue
			}
			// The others have no receiver or no sender.
			if edges := sizes(from, int(to)); countOf(comm.Out[from][:e], to) < len(edges) {
				list = append(list, exchanged{int(to), edges[countOf(comm.Out[from][:e], to)]})
			}
		}
		return list
	}
}

func countOf(list []int32, value int32) (n int) {
	for _, v := range list {
		if v == value {
			n++
		}
	}
	return n
}

// pairSizes returns the messages of a member of an alltoallv, from the one to the next member on; nil if it has data for each pair of one
// group, or if the sizes are not known.
func (c *converter) pairSizes(col *timeline.Collective, members []timeline.Member) func(from int) []exchanged {
	comm := &c.t.Comms[col.Comm]
	local, n := len(comm.Members), len(members)
	peers := func(i int) (first, count int) {
		switch {
		case len(comm.Remote) == 0:
			return 0, n
		case i < local:
			return local, n - local
		}
		return 0, local
	}
	sparse := false
	for i := range members {
		counts := c.t.CountsOf(&members[i])
		_, count := peers(i)
		if len(counts) != 2*count {
			return nil
		}
		for j, size := range counts[count:] {
			sparse = sparse || size == 0 && (j != i || local < n)
		}
	}
	if !sparse && local == n {
		return nil
	}
	return func(from int) []exchanged {
		first, count := peers(from)
		list := make([]exchanged, 0, count)
		for k := range count {
			to := first + (from+1+k)%count
			theirs, of := peers(to)
			list = append(list, exchanged{to, c.t.CountsOf(&members[to])[of+from-theirs]})
		}
		return list
	}
}

// rootSizes returns the messages of a member to or from the root of a gatherv or scatterv; nil if all or none of the others have data, or
// if it is between two groups.
func (c *converter) rootSizes(col *timeline.Collective, members []timeline.Member) func(from int) []exchanged {
	data := make([]int64, len(members))
	some, none := false, false
	for i := range members {
		if int32(i) == col.Root {
			continue
		}
		if data[i] = members[i].Sent; col.Op == timeline.OpScatterv {
			data[i] = members[i].Received
		}
		some, none = some || data[i] > 0, none || data[i] <= 0
	}
	if !some || !none || len(c.t.Comms[col.Comm].Remote) > 0 {
		return nil
	}
	return func(from int) []exchanged {
		switch {
		case col.Op == timeline.OpGatherv:
			return []exchanged{{int(col.Root), data[from]}}
		case int32(from) != col.Root:
			return nil
		}
		list := make([]exchanged, len(members))
		for to, size := range data {
			list[to] = exchanged{to, size}
		}
		return list
	}
}
