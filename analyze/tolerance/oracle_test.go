package tolerance

import (
	"math/big"
	"slices"

	"slackline/model/schedule"
)

// The oracle follows the rules of the static model literally: two nodes per operation and one per
// rendezvous, and every edge of the table, with nothing joined or left out. It knows all lines of T by
// their slope.

// oracleEdge is an edge of the full graph. Its weight at the given parameters is in femtoseconds if
// bytes are not rounded, else in picoseconds.
type oracleEdge struct {
	tail, head int
	weight     int64
	latencies  int64 // number of L
	size       int64 // bytes
	overheads  int64
}

type oracle struct {
	g     *schedule.Graph
	nodes int
	edges []oracleEdge
	into  [][]int // edges by head
	order []int   // nodes; shorter than all if there is a cycle
}

// newOracle builds the full graph. scale is 1 for rounded bytes in picoseconds, 1000 for exact bytes
// in femtoseconds.
func newOracle(g *schedule.Graph, n Network, scale int64) (*oracle, error) {
	g, err := schedule.Flatten(g)
	if err != nil {
		return nil, err
	}
	matching, err := schedule.Match(g)
	if err != nil {
		return nil, err
	}
	o := &oracle{g: g, nodes: 2 * g.NumOps()}
	ops := g.Ops()
	add := func(tail, head int, weight int64, latencies, size, overheads int64) {
		o.edges = append(o.edges, oracleEdge{tail, head, weight, latencies, size, overheads})
	}
	for b := range g.NumBlocks() {
		from, _ := g.BlockOps(b)
		first, dependents := g.Links(b)
		for i := 0; i+1 < len(first); i++ {
			for _, d := range dependents[first[i]:first[i+1]] {
				tail := 2*(from+i) + 1
				if d.OnStart() {
					tail--
				}
				add(tail, 2*(from+d.Index()), 0, 0, 0, 0)
			}
		}
	}
	for rank := range g.Ranks() {
		before := map[uint8]int{}
		for i := g.FirstOp(rank); i < g.FirstOp(rank+1); i++ {
			op := &ops[i]
			start, end := 2*i, 2*i+1
			if op.Kind == schedule.Calc {
				add(start, end, scale*op.Size, 0, 0, 0)
				continue
			}
			if op.Kind == schedule.Recv {
				continue
			}
			p := n.Layout.Params(rank, int(op.Peer))
			b := max(op.Size-1, 0)
			overhead := scale * int64(p.Overhead.At(op.Size))
			bytes := b * int64(p.PerByte.At(op.Size))
			if scale == 1 {
				bytes = (bytes + 500) / 1000
			}
			latency, units := scale*int64(p.Latency), int64(1)
			if n.Table != nil {
				u, constant := n.Table.Of(rank, int(op.Peer))
				units, latency = u, scale*(u*int64(n.Table.L)+int64(constant))
			}
			recv := int(matching.Partner[i])
			rstart, rend := 2*recv, 2*recv+1
			add(rstart, rend, overhead, 0, 0, 1)
			if op.Size <= p.Eager || op.IsBuffered() {
				add(start, end, overhead, 0, 0, 1)
				add(end, rend, latency+bytes+overhead, units, b, 1)
			} else {
				match := o.nodes
				o.nodes++
				add(start, match, overhead+latency, units, 0, 1)
				add(rstart, match, 0, 0, 0, 0)
				add(match, end, 2*overhead+latency+bytes, units, b, 2)
				add(end, rend, latency+overhead, units, 0, 1)
			}
			if j, ok := before[op.NIC]; ok {
				q := n.Layout.Params(rank, int(ops[j].Peer))
				if q.Gap > 0 && !n.NoGap {
					b := max(ops[j].Size-1, 0)
					bytes := b * int64(q.PerByte.At(ops[j].Size))
					if scale == 1 {
						bytes = (bytes + 500) / 1000
					}
					add(2*j, start, scale*int64(q.Gap)+bytes, 0, b, 0)
				}
			}
			before[op.NIC] = i
		}
	}
	o.sort()
	return o, nil
}

func (o *oracle) sort() {
	o.into = make([][]int, o.nodes)
	waits := make([]int, o.nodes)
	out := make([][]int, o.nodes)
	for i, e := range o.edges {
		o.into[e.head] = append(o.into[e.head], i)
		out[e.tail] = append(out[e.tail], e.head)
		waits[e.head]++
	}
	for v := range o.nodes {
		if waits[v] == 0 {
			o.order = append(o.order, v)
		}
	}
	for i := 0; i < len(o.order); i++ {
		for _, v := range out[o.order[i]] {
			if waits[v]--; waits[v] == 0 {
				o.order = append(o.order, v)
			}
		}
	}
}

func (o *oracle) hasCycle() bool { return len(o.order) < o.nodes }

// times returns the value of every node, with an optional delay of one node.
func (o *oracle) times(late int, delay int64) []int64 {
	t := make([]int64, o.nodes)
	for _, v := range o.order {
		for _, i := range o.into[v] {
			e := &o.edges[i]
			t[v] = max(t[v], t[e.tail]+e.weight)
		}
		if v == late {
			t[v] += delay
		}
	}
	return t
}

// runtime returns the largest end.
func (o *oracle) runtime(t []int64) int64 {
	last := int64(0)
	for i := range o.g.NumOps() {
		last = max(last, t[2*i+1])
	}
	return last
}

// canonical returns the operations of the canonical critical path: at every node the edge with the largest (time, latencies, bytes,
// overheads), among equals that whose tail has the smallest number.
func (o *oracle) canonical() []Visit {
	type tuple [4]int64
	at, tail := make([]tuple, o.nodes), make([]int, o.nodes)
	for _, v := range o.order {
		tail[v] = -1
		for _, i := range o.into[v] {
			e := &o.edges[i]
			sum := at[e.tail]
			for k, n := range []int64{e.weight, e.latencies, e.size, e.overheads} {
				sum[k] += n
			}
			if c := slices.Compare(sum[:], at[v][:]); tail[v] < 0 || c > 0 || c == 0 && e.tail < tail[v] {
				at[v], tail[v] = sum, e.tail
			}
		}
	}
	last := -1
	for v := 1; v < 2*o.g.NumOps(); v += 2 {
		if last < 0 || slices.Compare(at[v][:], at[last][:]) > 0 {
			last = v
		}
	}
	var path []Visit
	for v := last; v >= 0; v = tail[v] {
		if v >= 2*o.g.NumOps() {
			continue // the match of a rendezvous
		}
		rank, index := o.g.Find(v / 2)
		if n := len(path); n == 0 || path[n-1] != (Visit{rank, index}) {
			path = append(path, Visit{rank, index})
		}
	}
	slices.Reverse(path)
	return path
}

// lines returns, by number of units, the largest length of a path to an end with so many of them, at
// the given parameters. count says how many units an edge has.
func (o *oracle) lines(count func(*oracleEdge) int64) map[int64]int64 {
	at := make([]map[int64]int64, o.nodes)
	all := map[int64]int64{}
	for _, v := range o.order {
		at[v] = map[int64]int64{}
		if len(o.into[v]) == 0 {
			at[v][0] = 0
		}
		for _, i := range o.into[v] {
			e := &o.edges[i]
			for a, c := range at[e.tail] {
				a, c := a+count(e), c+e.weight
				if old, ok := at[v][a]; !ok || c > old {
					at[v][a] = c
				}
			}
		}
		if v < 2*o.g.NumOps() && v%2 == 1 {
			for a, c := range at[v] {
				if old, ok := all[a]; !ok || c > old {
					all[a] = c
				}
			}
		}
	}
	if len(all) == 0 {
		all[0] = 0
	}
	return all
}

// curve is T by its lines: T(x) is the largest of c + a*(x-given).
type curve struct {
	given int64
	lines map[int64]int64
}

// at returns T at a whole value, and the smallest and the largest slope there.
func (c *curve) at(x int64) Point {
	p := Point{X: x, T: -1}
	for a, k := range c.lines {
		t := k + a*(x-c.given)
		switch {
		case t > p.T:
			p = Point{x, t, a, a}
		case t == p.T:
			p.Left, p.Right = min(p.Left, a), max(p.Right, a)
		}
	}
	return p
}

// breakpoints returns all breakpoints strictly between two values, by crossing all pairs of lines.
func (c *curve) breakpoints(from, to int64) []Breakpoint {
	var slopes []int64
	for a := range c.lines {
		slopes = append(slopes, a)
	}
	slices.Sort(slopes)
	value := func(a int64, x *big.Rat) *big.Rat {
		t := new(big.Rat).Sub(x, new(big.Rat).SetInt64(c.given))
		t.Mul(t, new(big.Rat).SetInt64(a))
		return t.Add(t, new(big.Rat).SetInt64(c.lines[a]))
	}
	var xs []*big.Rat
	for i, a := range slopes {
		for _, b := range slopes[i+1:] {
			x := big.NewRat(c.lines[a]-c.lines[b], b-a)
			x.Add(x, new(big.Rat).SetInt64(c.given))
			if x.Cmp(new(big.Rat).SetInt64(from)) > 0 && x.Cmp(new(big.Rat).SetInt64(to)) < 0 {
				xs = append(xs, x)
			}
		}
	}
	slices.SortFunc(xs, func(a, b *big.Rat) int { return a.Cmp(b) })
	xs = slices.CompactFunc(xs, func(a, b *big.Rat) bool { return a.Cmp(b) == 0 })
	var list []Breakpoint
	for _, x := range xs {
		var top *big.Rat
		var before, after int64
		for _, a := range slopes {
			switch t := value(a, x); {
			case top == nil || t.Cmp(top) > 0:
				top, before, after = t, a, a
			case t.Cmp(top) == 0:
				after = a
			}
		}
		if before == after {
			continue
		}
		whole := new(big.Int).Div(x.Num(), x.Denom()) // rounds down
		rest := new(big.Rat).Sub(x, new(big.Rat).SetInt(whole))
		list = append(list, Breakpoint{Fraction{whole.Int64(), rest.Num().Int64(), rest.Denom().Int64()}, before, after})
	}
	return list
}

// largest returns the largest whole value within a bound, by bisection.
func (c *curve) largest(lowest, bound int64) Largest {
	if c.at(lowest).T > bound {
		return Largest{Infeasible: true}
	}
	steepest := int64(0)
	for a := range c.lines {
		steepest = max(steepest, a)
	}
	if steepest == 0 {
		return Largest{Unbounded: true}
	}
	low, high := lowest, lowest+1
	for c.at(high).T <= bound {
		high = lowest + 2*(high-lowest)
	}
	for high-low > 1 {
		if middle := low + (high-low)/2; c.at(middle).T <= bound {
			low = middle
		} else {
			high = middle
		}
	}
	return Largest{X: low}
}
