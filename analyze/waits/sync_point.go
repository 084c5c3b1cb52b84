package waits

import (
	"cmp"
	"slices"
	"sync/atomic"

	"slackline/internal/parallel"
	"slackline/internal/spill"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// form is where the operations of a synchronization point's members are found.
type form uint8

const (
	ofRanks   form = iota // calls of the masters, by rank
	ofThreads             // calls of the members of a team
	ofFork                // the fork of a team
)

// syncPoint is a synchronization point other than an MPI collective. They are numbered after the collectives of the
// timeline. Each of their members depends on all others.
type syncPoint struct {
	kind  *kind // the wait state of its members; nil if their waiting is not one
	form  form
	team  *timeline.Team
	calls []int32 // by member
}

// joining is the part of a location in a synchronization point. If one thread issued what another one completed, each has a part.
type joining struct {
	bound  unit.Duration // its part here and in all earlier ones ended by then
	end    int32         // its entering precedes the calls from this number on; if another thread entered, its completion
	point  int32
	member int32
}

// operation is what a member of a synchronization point did: it precedes the calls from number end on.
type operation struct {
	span
	end int32
}

// endpoint is an operation of a location.
type endpoint struct {
	operation
	location int32
}

// pointAt returns a synchronization point that is not a collective.
func (a *analysis) pointAt(number int32) *syncPoint {
	return &a.points[int(number)-len(a.tl.Collectives)]
}

func (a *analysis) isCollective(number int32) bool { return int(number) < len(a.tl.Collectives) }

// spanOf is the time of a call.
func (a *analysis) spanOf(location, call int32) span {
	c := a.calls(location)
	return span{c.Enter[call], c.Leave[call]}
}

func (a *analysis) operationOf(location, call int32) operation {
	return operation{a.spanOf(location, call), a.calls(location).Skip[call]}
}

// operations returns how a member entered a synchronization point and how it completed it, and whether the latter only
// tested.
func (a *analysis) operations(number, member int32) (issue, done endpoint, test bool) {
	if a.isCollective(number) {
		m := a.memberIn(number, member)
		issue = endpoint{a.operationOf(m.Issuer(), m.Issue), m.Issuer()}
		if m.Blocks() {
			return issue, issue, a.isTest(m.Location, m.Complete)
		}
		return issue, endpoint{a.operationOf(m.Location, m.Complete), m.Location}, a.isTest(m.Location, m.Complete)
	}
	m := a.pointAt(number)
	issue.location = a.locationIn(m, member)
	switch m.form {
	case ofRanks, ofThreads:
		issue.operation = a.operationOf(issue.location, m.calls[member])
	case ofFork:
		t := &m.team.Members[member]
		issue.operation = operation{span{m.team.Fork, t.Begin}, t.BeginPlace.Next}
	}
	return issue, issue, false
}

// memberIn is a member of a collective.
func (a *analysis) memberIn(number, member int32) *timeline.Member {
	return &a.tl.Members[a.tl.Collectives[number].First+int(member)]
}

// memberAt returns the number of a location among the members of a synchronization point, -1 if it is not a member.
func (a *analysis) memberAt(number, location int32) int32 {
	if !a.isCollective(number) && a.pointAt(number).form != ofRanks {
		return int32(slices.IndexFunc(a.pointAt(number).team.Members, func(x timeline.TeamMember) bool { return x.Location == location }))
	}
	member := a.memberOf(number, int32(a.rankOf(location)))
	if member < 0 || a.locationOf(number, member) != location &&
		!(a.isCollective(number) && a.memberIn(number, member).Issuer() == location) { // other threads of the rank took part
		return -1
	}
	return member
}

// memberOf is the number of a rank among the members of a synchronization point of ranks, -1 if it is none.
func (a *analysis) memberOf(number, rank int32) int32 {
	if !a.isCollective(number) {
		return rank
	}
	return a.groups[a.tl.Collectives[number].Comm].memberAt(rank)
}

// depends reports whether the completion of member i of a synchronization point needs member j.
func (a *analysis) depends(number, i, j int32) bool {
	if !a.isCollective(number) {
		return true
	}
	c := &a.tl.Collectives[number]
	v, rule := view{a.tl, c}, rules[a.rules[number]]
	return (rule.whole || v.apart(int(i), int(j))) && rule.depends(v, int(i), int(j))
}

// group finds the members of a communicator.
type group struct {
	inOrder bool // member i is rank base+i
	base    int32
	sorted  []groupMember // by rank
}

type groupMember struct{ rank, member int32 }

func (g *group) memberAt(rank int32) int32 {
	if g.inOrder {
		if i := rank - g.base; i >= 0 && int(i) < len(g.sorted) {
			return i
		}
		return -1
	}
	i, found := slices.BinarySearchFunc(g.sorted, rank, func(m groupMember, rank int32) int { return cmp.Compare(m.rank, rank) })
	if !found {
		return -1
	}
	return g.sorted[i].member
}

// findGroups finds the members of the communicators that have collectives.
func (a *analysis) findGroups() {
	a.groups = make([]group, len(a.tl.Comms))
	for i := range a.tl.Collectives {
		comm := a.tl.Collectives[i].Comm
		g, c := &a.groups[comm], &a.tl.Comms[comm]
		if g.sorted != nil {
			continue
		}
		g.sorted = make([]groupMember, c.Size())
		g.inOrder, g.base = true, c.Rank(0)
		for j := range g.sorted {
			g.sorted[j] = groupMember{c.Rank(j), int32(j)}
			g.inOrder = g.inOrder && c.Rank(j) == g.base+int32(j)
		}
		slices.SortFunc(g.sorted, func(x, y groupMember) int { return cmp.Compare(x.rank, y.rank) })
	}
}

// findJoinings lists the synchronization points of every location in their order.
func (a *analysis) findJoinings() {
	counts := make([]atomic.Int32, len(a.tl.Locations))
	a.eachJoining(func(location int32, _ joining) { counts[location].Add(1) })
	a.joinings = make([][]joining, len(counts))
	for i := range counts {
		n := int(counts[i].Swap(0))
		a.joinings[i] = spill.Make[joining](a.tl.Space, n, n)
	}
	a.eachJoining(func(location int32, j joining) {
		a.joinings[location][counts[location].Add(1)-1] = j
	})
	a.each(len(counts), func(i int) {
		list := a.joinings[i]
		order := func(x, y joining) int { return cmp.Or(cmp.Compare(x.end, y.end), cmp.Compare(x.point, y.point)) }
		if !slices.IsSortedFunc(list, order) {
			slices.SortFunc(list, order)
		}
		for k := 1; k < len(list); k++ {
			list[k].bound = max(list[k].bound, list[k-1].bound)
		}
	})
}

// eachJoining calls visit for every part of a location here in a synchronization point, concurrently.
func (a *analysis) eachJoining(visit func(location int32, j joining)) {
	const chunk = 64
	parallel.Chunks(len(a.tl.Collectives), chunk, a.threads, func(_, from, to int) {
		for i := from; i < to; i++ {
			c := &a.tl.Collectives[i]
			if a.rules[i] == 0 {
				continue
			}
			members := a.tl.MembersOf(c)
			for j := range members {
				m := &members[j]
				if !a.isHere(m.Location) {
					continue
				}
				part := joining{point: int32(i), member: int32(j)}
				issue, done, _ := a.operations(part.point, part.member)
				if part.bound, part.end = issue.leave, issue.end; issue.location != done.location {
					visit(issue.location, part)
					part.bound, part.end = done.leave, done.end
				}
				part.bound = max(part.bound, done.leave)
				visit(done.location, part)
			}
		}
	})
	parallel.Chunks(len(a.points), chunk, a.threads, func(_, from, to int) {
		for i := from; i < to; i++ {
			a.eachMember(int32(len(a.tl.Collectives)+i), visit)
		}
	})
}

// locationOf is the location of a member of a synchronization point: where it completed it.
func (a *analysis) locationOf(number, member int32) int32 {
	if a.isCollective(number) {
		return a.memberIn(number, member).Location
	}
	return a.locationIn(a.pointAt(number), member)
}

// locationIn is the location of a member of a synchronization point that is not a collective.
func (a *analysis) locationIn(m *syncPoint, member int32) int32 {
	if m.form == ofRanks {
		return a.masters[member]
	}
	return m.team.Members[member].Location
}

// eachMember calls visit for every member of a synchronization point that is not a collective.
func (a *analysis) eachMember(number int32, visit func(location int32, j joining)) {
	m := a.pointAt(number)
	n := len(m.calls)
	if m.form != ofRanks {
		n = len(m.team.Members)
	}
	for i := range int32(n) {
		if !a.isHere(a.locationIn(m, i)) {
			continue
		}
		issue, _, _ := a.operations(number, i)
		visit(a.locationIn(m, i), joining{bound: issue.leave, end: issue.end, point: number, member: i})
	}
}
