package replay

import (
	"slices"

	"slackline/model/timeline"
)

// Collectives among neighbors, MPI_Gatherv and MPI_Scatterv in which some ranks have no data, and MPI_Alltoallv and MPI_Alltoallw in
// which some ranks send nothing to some others or which work between two groups, become the messages with data: all begin at once, and the
// call or its wait requires all of them.

// exchange makes messages of a collective, if it is such a one.
func (c *converter) exchange(k int) bool {
	col, members := &c.t.Collectives[k], c.membersOf(k)
	var sizes func(from, to int) []int64
	switch {
	case col.Op.IsNeighbor():
		sizes = c.edgesAmongNeighbors(col, members)
	case col.Op == timeline.OpAlltoallv || col.Op == timeline.OpAlltoallw:
		sizes = c.pairSizes(col, members)
	case col.Op == timeline.OpGatherv || col.Op == timeline.OpScatterv:
		sizes = c.rootSizes(col, members)
	}
	if sizes == nil || !c.canCompose(members) {
		return false
	}
	for i := range members {
		for j := range members {
			if i == j || members[i].Location == members[j].Location {
				continue
			}
			for _, size := range sizes(i, j) {
				if size > 0 {
					c.addMessage(members[i].Location, spanOf(&members[i]), members[j].Location, spanOf(&members[j]), size)
				}
			}
		}
	}
	for i := range members {
		c.tellMember(col, members, i)
	}
	return true
}

func spanOf(m *timeline.Member) callSpan { return callSpan{m.Issue, m.Complete} }

// edgesAmongNeighbors returns the sizes of the messages from a member to another one; nil if the neighbors of some member are not known.
func (c *converter) edgesAmongNeighbors(col *timeline.Collective, members []timeline.Member) func(from, to int) []int64 {
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
	return func(from, to int) []int64 {
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
		if sent := countOf(comm.Out[from], int32(to)); sent < len(list) {
			list = list[:sent] // the others have no sender
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

// pairSizes returns the size of the message from a member to another one of an alltoallv; nil if it has data for each pair of one group, or
// if the sizes are not known.
func (c *converter) pairSizes(col *timeline.Collective, members []timeline.Member) func(from, to int) []int64 {
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
	return func(from, to int) []int64 {
		first, count := peers(to)
		if from < first || from >= first+count {
			return nil
		}
		return c.t.CountsOf(&members[to])[count+from-first:][:1]
	}
}

// rootSizes returns the size of the message from or to the root of a gatherv or scatterv; nil if all or none of the others have data, or if
// it is between two groups.
func (c *converter) rootSizes(col *timeline.Collective, members []timeline.Member) func(from, to int) []int64 {
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
	return func(from, to int) []int64 {
		root, other := to, from
		if col.Op == timeline.OpScatterv {
			root, other = from, to
		}
		if int32(root) != col.Root {
			return nil
		}
		return data[other : other+1]
	}
}
