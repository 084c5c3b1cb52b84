package tolerance

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"slackline/model/machine"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// randomCase is a random schedule on a random network. Times are small and drawn independently of
// each other, which makes ties.
type randomCase struct {
	graph *schedule.Graph
	net   Network
}

// draws are random numbers that can be shrunk.
type draws struct{ t *rapid.T }

func (d draws) between(low, high int) int { return rapid.IntRange(low, high).Draw(d.t, "n") }
func (d draws) chance(one, of int) bool   { return d.between(1, of) <= one }

func drawCase(t *rapid.T) randomCase {
	d := draws{t}
	ranks := d.between(1, 5)
	g := d.schedule(ranks)
	return randomCase{g, d.network(ranks)}
}

// schedule draws operations that wait for operations drawn before them. Some ranks have several
// blocks. Rarely there is a cycle: by wildcards, or by a dependency on a later operation.
func (d draws) schedule(ranks int) *schedule.Graph {
	steps := 1
	if d.chance(1, 3) {
		steps = d.between(2, 3)
	}
	wildcards, starts := d.chance(1, 4), d.chance(1, 2)
	blocks := make([][]schedule.Block, ranks)
	for r := range blocks {
		blocks[r] = make([]schedule.Block, steps)
	}
	sizes := []int64{0, 1, 2, 5, 9, 100}
	for step := range steps {
		place := func(rank, op int) {
			b := &blocks[rank][step]
			b.Ops[op].NIC = uint8(d.between(0, 4) / 4)
			for on := max(0, op-4); on < op; on++ {
				switch d.between(0, 5) {
				case 0, 1:
					b.Require(op, on)
				case 2:
					if starts {
						b.RequireStart(op, on)
					}
				}
			}
		}
		for range d.between(0, 16) {
			from := d.between(0, ranks-1)
			if d.chance(1, 2) {
				place(from, blocks[from][step].Calc(int64(d.between(0, 40))))
				continue
			}
			to, size := d.between(0, ranks-1), sizes[d.between(0, len(sizes)-1)]
			tag := uint32(d.between(0, 1))
			send := blocks[from][step].Send(to, size, tag)
			if d.chance(1, 3) {
				blocks[from][step].Ops[send].Context = schedule.Buffered
			}
			place(from, send)
			recv := blocks[to][step].Recv(from, 3, tag)
			if wildcards {
				op := &blocks[to][step].Ops[recv]
				if d.chance(1, 2) {
					op.Peer = schedule.AnySource
				}
				if d.chance(1, 3) {
					op.Tag = schedule.AnyTag
				}
			}
			place(to, recv)
		}
	}
	build := schedule.NewBuilder(ranks)
	for r := range blocks {
		for i := range blocks[r] {
			blocks[r][i].Link()
			build.Add(r, &blocks[r][i])
		}
	}
	return build.Graph()
}

// network draws a machine of one class or of several, with pieces, a table of latencies, gaps.
func (d draws) network(ranks int) Network {
	m := &machine.Machine{RanksPerNode: d.between(1, 2), NodesPerSwitch: d.between(0, 2)}
	p := d.params()
	classes := d.chance(1, 2)
	for c := range m.Classes {
		m.Classes[c] = p
		if classes {
			m.Classes[c] = d.params()
		}
	}
	layout, err := m.Layout(ranks)
	if err != nil {
		d.t.Fatal(err)
	}
	n := Network{Layout: layout, NoGap: d.chance(1, 2)}
	if d.chance(1, 4) {
		n.Table = &Table{
			L: unit.Duration(d.between(0, 30)),
			Of: func(from, to int) (int64, unit.Duration) {
				h := int64((from*7 + to*3) % 4)
				return h, unit.Duration(h * 5)
			},
		}
	}
	return n
}

func (d draws) params() machine.Params {
	p := machine.Params{
		Latency:  unit.Duration(d.between(0, 30)),
		Gap:      unit.Duration(max(d.between(-10, 10), 0)),
		Overhead: machine.One(unit.Duration(d.between(0, 9))),
		PerByte:  machine.One(unit.PerByte(d.between(0, 4000))),
		Eager:    machine.NoLimit,
	}
	if d.chance(1, 3) {
		p.Eager = int64(d.between(0, 10))
	}
	if d.chance(1, 4) {
		p.Overhead = append(p.Overhead, machine.Piece[unit.Duration]{From: 5, Value: unit.Duration(d.between(0, 9))})
		p.PerByte = append(p.PerByte, machine.Piece[unit.PerByte]{From: 6, Value: unit.PerByte(d.between(0, 4000))})
	}
	return p
}

// prepared returns the schedule and the oracle, or false if both say that there is a cycle or that
// something is unmatched.
func (c *randomCase) prepared(t *rapid.T, scale int64) (*Schedule, *oracle, bool) {
	o, oracleErr := newOracle(c.graph, c.net, scale)
	s, err := Prepare(c.graph, nil, 0)
	if err == nil {
		_, err = s.Evaluate(c.net)
	}
	if oracleErr != nil {
		if err == nil || err.Error() != oracleErr.Error() {
			t.Fatalf("error %v; oracle: %v", err, oracleErr)
		}
		return nil, nil, false
	}
	var cycle *schedule.CycleError
	if o.hasCycle() != errors.As(err, &cycle) || !o.hasCycle() && err != nil {
		t.Fatalf("Evaluate: %v, but there is a cycle: %v", err, o.hasCycle())
	}
	return s, o, err == nil
}

// TestRandomEvaluation compares times and derivatives with the oracle.
func TestRandomEvaluation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t)
		s, o, ok := c.prepared(t, 1)
		if !ok {
			return
		}
		e, err := s.Evaluate(c.net)
		if err != nil {
			t.Fatal(err)
		}
		times := o.times(-1, 0)
		timed, err := e.timed()
		if err != nil {
			t.Fatal(err)
		}
		for i := range timed.ops {
			if timed.times.start[i] != times[2*i] || timed.times.end[i] != times[2*i+1] {
				t.Fatalf("operation %d: %d to %d, want %d to %d", i, timed.times.start[i], timed.times.end[i], times[2*i], times[2*i+1])
			}
		}
		if want := o.runtime(times); int64(e.T) != want {
			t.Fatalf("T = %d, want %d", e.T, want)
		}
		// The derivatives at the given parameters: the lines that are as long as T.
		critical := func(count func(*oracleEdge) int64) (least, most int64) {
			c := curve{lines: o.lines(count)}
			p := c.at(0)
			return p.Left, p.Right
		}
		var want Lambda
		want.LLeft, want.L = critical(func(e *oracleEdge) int64 { return e.latencies })
		_, want.Bytes = critical(func(e *oracleEdge) int64 { return e.size })
		_, want.O = critical(func(e *oracleEdge) int64 { return e.overheads })
		if e.Lambda != want {
			t.Fatalf("lambda = %+v, want %+v", e.Lambda, want)
		}
		checkPathAddsUp(t, e)
		path, err := e.criticalPath()
		if diff := cmp.Diff(o.canonical(), path.Path); err != nil || diff != "" {
			t.Fatalf("critical path, error %v (-want +got):\n%s", err, diff)
		}
	})
}

// checkPathAddsUp checks that all ways to split the critical path have the sums that they must have.
func checkPathAddsUp(t *rapid.T, e *Evaluation) {
	path, err := e.criticalPath()
	if err != nil {
		t.Fatal(err)
	}
	var ranks, origins Profile
	for _, r := range path.ByRank {
		ranks.add(&r.Profile)
	}
	for _, o := range path.ByOrigin {
		origins.add(&o.Profile)
	}
	if path.Profile.Total() != e.T || ranks != path.Profile || origins != path.Profile {
		t.Fatalf("path of %v, but its profile is %+v, by rank %+v, by origin %+v", e.T, path.Profile, ranks, origins)
	}
	var calc unit.Duration
	for _, r := range path.CalcByRank {
		calc += r.Time
	}
	var latencies, byClass int64
	for _, p := range path.Pairs {
		latencies += p.L
	}
	for _, n := range path.LByClass {
		byClass += n
	}
	if calc != path.Profile.Calc || latencies != e.Lambda.L || byClass != e.Lambda.L {
		t.Fatalf("calculation %v of %v; latencies %d by pair and %d by class of %d",
			calc, path.Profile.Calc, latencies, byClass, e.Lambda.L)
	}
}

func (p *Profile) add(q *Profile) {
	p.Calc += q.Calc
	p.Overhead += q.Overhead
	p.Latency += q.Latency
	p.Bandwidth += q.Bandwidth
	p.Gap += q.Gap
	p.Switch += q.Switch
}

// TestRandomSlack delays operations and messages by their slack, and by 1 ps more.
func TestRandomSlack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t)
		s, o, ok := c.prepared(t, 1)
		if !ok {
			return
		}
		e, err := s.Evaluate(c.net)
		if err != nil {
			t.Fatal(err)
		}
		slack, err := e.Slack()
		if err != nil {
			t.Fatal(err)
		}
		whole, err := s.whole()
		if err != nil {
			t.Fatal(err)
		}
		for i := range whole.ops {
			d := int64(slack.Ops[i])
			if got := o.runtime(o.times(2*i, d)); d < 0 || got != int64(e.T) {
				t.Fatalf("operation %d has slack %d, but delayed by it T = %d instead of %d", i, d, got, e.T)
			}
			if got := o.runtime(o.times(2*i, d+1)); got != int64(e.T)+1 {
				t.Fatalf("operation %d has slack %d, but delayed by 1 more T = %d, want %d", i, d, got, e.T+1)
			}
			if whole.ops[i].Kind == schedule.Recv {
				o.checkMessage(t, i, int(whole.partner[i]), int64(slack.Messages[i]), int64(e.T))
			}
		}
	})
}

// checkMessage delays the edge of a message.
func (o *oracle) checkMessage(t *rapid.T, recv, send int, slack, want int64) {
	for i := range o.edges {
		e := &o.edges[i]
		if e.tail != 2*send+1 || e.head != 2*recv+1 {
			continue
		}
		e.weight += slack
		with := o.runtime(o.times(-1, 0))
		e.weight++
		beyond := o.runtime(o.times(-1, 0))
		e.weight -= slack + 1
		if slack < 0 || with != want || beyond != want+1 {
			t.Fatalf("the message to operation %d has slack %d, but delayed by it T = %d instead of %d, by 1 more %d",
				recv, slack, with, want, beyond)
		}
		return
	}
	t.Fatalf("no message from %d to %d", send, recv)
}

// TestRandomGraph compares T, slopes, tolerances and breakpoints over all variables with the oracle.
func TestRandomGraph(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t)
		d := draws{t}
		v := Variable{Parameter: Parameter(d.between(0, 2))}
		if d.chance(1, 3) {
			v.Classes = []machine.Class{machine.Class(d.between(0, 2))}
		}
		scale := int64(1)
		if v.Parameter == G {
			scale = femtosPerPico
		}
		s, o, ok := c.prepared(t, scale)
		if !ok {
			return
		}
		g, err := s.Build(c.net, v)
		if err != nil {
			t.Fatal(err)
		}
		want := curve{g.Given(), o.lines(c.counter(o, v))}
		checkAgainst(t, g, &want, d)
	})
}

// counter describes how many units of a variable an edge has.
func (c *randomCase) counter(o *oracle, v Variable) func(*oracleEdge) int64 {
	matching, err := schedule.Match(c.graph)
	if err != nil {
		panic(err)
	}
	// The class of the message to which an edge belongs: that of an operation at one of its ends.
	isVaried := func(e *oracleEdge) bool {
		if v.Parameter == L && c.net.Table != nil {
			return true
		}
		node := e.tail
		if e.size > 0 && e.overheads == 0 { // a gap: the message of the first send
			node = e.tail
		} else if e.head < 2*o.g.NumOps() {
			node = e.head
		}
		op := node / 2
		if o.g.Ops()[op].Kind == schedule.Recv {
			op = int(matching.Partner[op])
		}
		if o.g.Ops()[op].Kind != schedule.Send {
			return false
		}
		rank, _ := o.g.Find(op)
		return v.varies(c.net.Layout.Class(rank, int(o.g.Ops()[op].Peer)))
	}
	return func(e *oracleEdge) int64 {
		if !isVaried(e) {
			return 0
		}
		return [...]int64{e.latencies, e.size, e.overheads}[v.Parameter]
	}
}

func shifted(xs []int64, by int64) []int64 {
	list := slices.Clone(xs)
	for i := range list {
		list[i] += by
	}
	return list
}

func checkAgainst(t *rapid.T, g *Graph, want *curve, d draws) {
	lowest := g.Lowest()
	var xs []int64
	for range 7 {
		xs = append(xs, lowest+int64(d.between(0, 60)))
	}
	xs = append(xs, g.Given())
	points, err := g.AtAll(xs)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+lanes <= len(xs); i++ {
		for n := 1; n <= lanes; n++ {
			for k, h := range g.tape.heights(shifted(xs[i:i+n], -lowest)) {
				w := want.at(xs[i+k])
				if w.X == lowest {
					w.Left, h.left = w.Right, h.right
				}
				if got := (Point{w.X, h.t, h.left, h.right}); got != w {
					t.Fatalf("on tape at %d: %+v, want %+v", w.X, got, w)
				}
			}
		}
	}
	for i, x := range xs {
		w := want.at(x)
		if x == lowest {
			w.Left = w.Right
		}
		one, err := g.At(x)
		if err != nil || points[i] != w || one != w {
			t.Fatalf("at %d: %+v and %+v (error %v), want %+v", x, points[i], one, err, w)
		}
	}
	for _, g.onTape = range []bool{true, false} {
		search := g.Search()
		for range 3 {
			bound := want.at(g.Given()).T + int64(d.between(-40, 100))
			got, err := search.largest(bound)
			if w := want.largest(lowest, bound); err != nil || got != w {
				t.Fatalf("Largest(%d) = %+v (error %v), want %+v; on tape: %v", bound, got, err, w, g.onTape)
			}
		}
		checkValid(t, g, want, search)
	}
	from := lowest + int64(d.between(0, 20))
	to := from + int64(d.between(0, 100))
	got, err := g.breakpointsWithin(from, to, 0)
	if diff := cmp.Diff(want.breakpoints(from, to), got); err != nil || diff != "" {
		t.Fatalf("breakpoints from %d to %d, error %v (-want +got):\n%s", from, to, err, diff)
	}
	if from < to {
		f := newFinder(g)
		f.whole(from-lowest, to-lowest)
		for i := range f.found {
			f.found[i].X.Whole += lowest
		}
		if diff := cmp.Diff(got, f.found); diff != "" {
			t.Fatalf("breakpoints from %d to %d, one by one (-at once +one by one):\n%s", from, to, diff)
		}
	}
}

// checkValid compares the range around the given value with all breakpoints.
func checkValid(t *rapid.T, g *Graph, want *curve, search *Search) {
	x := g.Given()
	p := want.at(x)
	far := x + 1_000_000
	lower, upper := g.Lowest(), Largest{Unbounded: true}
	if p.Left != p.Right {
		lower = x
	} else {
		for _, b := range want.breakpoints(g.Lowest(), x) {
			lower = b.X.Whole
		}
	}
	if after := want.breakpoints(x, far); len(after) > 0 {
		upper = Largest{X: after[0].X.Whole}
	}
	gotLower, gotUpper, err := validAround(search, x)
	if err != nil || gotLower != lower || gotUpper != upper {
		t.Fatalf("Valid(%d) = %d, %+v (error %v), want %d, %+v", x, gotLower, gotUpper, err, lower, upper)
	}
}

// validAround returns the values around x between which T is the line that begins at x.
func validAround(s *Search, x int64) (int64, Largest, error) {
	p, err := s.At(x)
	if err != nil {
		return 0, Largest{}, err
	}
	var v validity
	err = s.pursue(s.valid(p, &v)...)
	return v.lower, v.upper, err
}
