package waits

import (
	"cmp"
	"container/heap"
	"slices"

	"slackline/analyze/profile"
	"slackline/analyze/waits/ledger"
	"slackline/model/unit"
)

// Explanation is why waiting happened: the excess time of the ranks that came late, what they had waited for themselves, and
// so on.
type Explanation struct {
	Metric Metric `json:"metric"`
	profile.Place
	Amount unit.Sum `json:"seconds"`         // waiting time that is explained
	Count  int64    `json:"count"`           // wait states
	Causes []Cause  `json:"causes"`          // the largest first; their shares sum up to the amount
	Roots  []Root   `json:"roots,omitempty"` // where it all began, the largest first; of the outermost explanation only
	Text   []string `json:"text,omitempty"`  // the explanation in words, likewise
	Rest   unit.Sum `json:"-"`               // what Roots leave out: many small causes far back
}

// CauseKind is a kind of cause.
type CauseKind uint8

// The kinds of causes.
const (
	Excess  CauseKind = iota // more time in a call path than the one that waited
	Waited                   // waits of the one that came late
	Unknown                  // nothing: the two had not synchronized before, or the clocks are wrong
)

// String is the name of the kind in results.
func (k CauseKind) String() string { return [...]string{"excess", "waited", "unknown"}[k] }

// MarshalText returns the name of the kind.
func (k CauseKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Cause is one reason why a rank came late.
type Cause struct {
	Kind CauseKind `json:"kind"`
	profile.Place
	Metric  Metric       `json:"metric,omitzero"` // of Waited
	Share   unit.Sum     `json:"seconds"`
	Because *Explanation `json:"because,omitempty"` // of Waited: why; nil if that goes too far
}

// Root is a call path on a rank where a chain of causes begins.
type Root struct {
	profile.Place
	Share unit.Sum `json:"seconds"`
}

// maxDepth is how far explanations go back, maxFollowed how many waits of one level they follow.
const (
	maxDepth    = 4
	maxFollowed = 3
)

// charged is a wait state, or (numbered after them) an idle phase, and how much of its time is to be explained.
type charged struct {
	Item   int
	Amount unit.Sum
}

// Explain explains the waiting time of a metric, rank and call path.
func (r *Result) Explain(w *Wait) *Explanation {
	return newExplainer(r.a).outermost(w.Metric, w.Rank, w.Path, r.a.chargedBy(w))
}

// ExplainState explains a single wait state; see Largest.
func (r *Result) ExplainState(s *State) *Explanation {
	return newExplainer(r.a).outermost(s.Metric, s.Rank, s.Path, []charged{{s.number, unit.SumOf(s.Amount)}})
}

// chargedBy lists what the waiting time of a metric, rank and call path consists of.
func (a *analysis) chargedBy(w *Wait) []charged {
	var list []charged
	for i := range a.states {
		s := &a.states[i]
		if amount := s.amountOf(w.Metric); amount > 0 && a.rankOf(s.location) == w.Rank && a.statePath(i) == w.Path {
			list = append(list, charged{i, unit.SumOf(amount)})
		}
	}
	for i := range a.idle {
		p := &a.idle[i]
		if w.Metric == openMPIdle.metric && a.rankOf(p.master) == w.Rank && p.path == w.Path {
			list = append(list, charged{len(a.states) + i, unit.SumOf(p.to - p.from).Times(p.workers)})
		}
	}
	return list
}

// amountOf is how much of a wait state counts for a metric.
func (s *state) amountOf(m Metric) unit.Duration {
	switch {
	case s.metric == m:
		return s.amount - s.first
	case s.sub == m:
		return s.subPart
	case s.first > 0 && kinds[s.metric].before.metric == m:
		return s.first
	}
	return 0
}

// known is what an explanation needs to know of a wait state, or of an idle phase.
type known struct {
	late    int // rank that came late
	paths   []int32
	states  []int // items
	weights []int64
	total   int64
	unseen  int64 // how much of the amount lies before what was recorded of the one that came late
	amount  int64 // of the item, if some of it is unseen
}

// source knows the causes of items.
type source interface {
	// causesOf returns the causes of an item, valid until the next call.
	causesOf(item int) known
	// stateOf returns metric and call path of a wait state.
	stateOf(item int) (Metric, int32)
	// order is when an item was accounted for; idle phases come before all wait states.
	order(item int) int32
}

// explainer finds explanations.
type explainer struct {
	source
	paths       *profile.Paths
	known       known
	apportioner ledger.Apportioner
	shares      []unit.Sum
	lost        unit.Sum // of the last item that was charged: what has no cause because it was not recorded
}

func newExplainer(a *analysis) *explainer {
	return &explainer{source: &ownSource{a: a, causes: newCauses(a.paths)}, paths: a.paths}
}

// ownSource looks into the analysis of a whole run.
type ownSource struct {
	a      *analysis
	causes *causes
	states []int
}

func (o *ownSource) causesOf(item int) known {
	k := known{}
	if item < len(o.a.states) {
		o.causes.find(o.a, item)
		k.late = o.a.rankOf(o.a.states[item].cause)
	} else {
		p := &o.a.idle[item-len(o.a.states)]
		o.causes.findSerial(o.a, p)
		k.late = o.a.rankOf(p.master)
	}
	o.states = o.states[:0]
	for _, s := range o.causes.states {
		o.states = append(o.states, s.state)
	}
	if item < len(o.a.states) && o.causes.unseen > 0 {
		k.unseen, k.amount = o.causes.unseen, int64(o.a.states[item].amount)
	}
	k.paths, k.states, k.weights, k.total = o.causes.paths, o.states, o.causes.weights, o.causes.total
	return k
}

func (o *ownSource) stateOf(item int) (Metric, int32) {
	return o.a.states[item].metric, o.a.statePath(item)
}

func (o *ownSource) order(item int) int32 {
	if item < len(o.a.states) {
		return o.a.states[item].order
	}
	return 0
}

// outermost explains items and finds where it all began.
func (x *explainer) outermost(m Metric, rank int, path int32, list []charged) *Explanation {
	e := x.explain(m, rank, path, list, maxDepth)
	e.Roots, e.Rest = x.roots(list, e.Amount)
	for _, s := range e.Sentences() {
		e.Text = append(e.Text, s.Text)
	}
	return e
}

// charge splits the amount of an item among its causes; see causes for their order. The rank is that of
// the one that came late.
func (x *explainer) charge(c charged) (rank int) {
	x.known = x.causesOf(c.Item)
	n := len(x.known.weights)
	x.shares = slices.Grow(x.shares[:0], n)[:n]
	x.lost = unit.Sum{}
	if x.known.unseen > 0 {
		x.lost = portion(c.Amount, unit.Duration(x.known.unseen), unit.Duration(x.known.amount))
	}
	if x.known.total > 0 {
		x.apportioner.Split(x.shares, c.Amount.Minus(x.lost), x.known.weights, x.known.total)
	}
	return x.known.late
}

// explain explains items that have a metric, rank and call path in common.
func (x *explainer) explain(m Metric, rank int, path int32, list []charged, depth int) *Explanation {
	e := &Explanation{Metric: m, Place: x.paths.Place(rank, path), Count: int64(len(list))}
	type key struct {
		kind   CauseKind
		rank   int
		path   int32
		metric Metric
	}
	shares := map[key]unit.Sum{}
	causing := map[key][]charged{}
	add := func(k key, share unit.Sum) { shares[k] = shares[k].Plus(share) }
	for _, item := range list {
		e.Amount.AddSum(item.Amount)
		late := x.charge(item)
		c := &x.known
		if c.total == 0 {
			add(key{kind: Unknown, rank: late, metric: None}, item.Amount)
			continue
		}
		add(key{kind: Unknown, rank: late, metric: None}, x.lost)
		for i, p := range c.paths {
			add(key{Excess, late, p, None}, x.shares[i])
		}
		for i, w := range c.states {
			metric, path := x.stateOf(w)
			k := key{Waited, late, path, metric}
			share := x.shares[len(c.paths)+i]
			add(k, share)
			if depth > 1 && share.Sign() > 0 {
				causing[k] = append(causing[k], charged{w, share})
			}
		}
	}
	for k, share := range shares {
		if share.Sign() > 0 {
			e.Causes = append(e.Causes, Cause{Kind: k.kind, Place: x.paths.Place(k.rank, k.path), Metric: k.metric, Share: share})
		}
	}
	slices.SortFunc(e.Causes, func(p, q Cause) int {
		return cmp.Or(q.Share.Cmp(p.Share), cmp.Compare(p.Kind, q.Kind), cmp.Compare(p.Rank, q.Rank), cmp.Compare(p.Path, q.Path),
			cmp.Compare(p.Metric, q.Metric))
	})
	followed := 0
	for i := range e.Causes {
		c := &e.Causes[i]
		if c.Kind == Waited && depth > 1 && followed < maxFollowed {
			c.Because = x.explain(c.Metric, c.Rank, c.Path, merged(causing[key{Waited, c.Rank, c.Path, c.Metric}]), depth-1)
			followed++
		}
	}
	return e
}

// merged joins the entries of the same wait states.
func merged(list []charged) []charged {
	slices.SortFunc(list, func(p, q charged) int { return cmp.Compare(p.Item, q.Item) })
	n := 0
	for _, c := range list {
		if n > 0 && list[n-1].Item == c.Item {
			list[n-1].Amount.AddSum(c.Amount)
			continue
		}
		list[n] = c
		n++
	}
	return list[:n]
}

// smallest is the part of an amount below which roots are not followed any more.
const smallest = 10000

// roots follows the causes of items to the call paths where they began. Wait states are taken in the order of
// the backward pass, so that each has got all that it is responsible for.
func (x *explainer) roots(list []charged, amount unit.Sum) (roots []Root, rest unit.Sum) {
	shares := map[profile.Place]unit.Sum{}
	left := map[int]unit.Sum{} // by wait state
	least := amount.Mean(smallest)
	var next rootQueue
	take := func(item int, share unit.Sum) {
		if _, known := left[item]; !known {
			heap.Push(&next, rootItem{x.order(item), item})
		}
		left[item] = left[item].Plus(share)
	}
	for _, c := range list {
		take(c.Item, c.Amount)
	}
	for len(next) > 0 {
		item := heap.Pop(&next).(rootItem).item
		share := left[item]
		delete(left, item)
		if share.Cmp(least) < 0 {
			rest.AddSum(share)
			continue
		}
		late := x.charge(charged{item, share})
		if x.known.total == 0 {
			rest.AddSum(share)
			continue
		}
		rest.AddSum(x.lost)
		for i, p := range x.known.paths {
			place := x.paths.Place(late, p)
			shares[place] = shares[place].Plus(x.shares[i])
		}
		from := x.order(item)
		for i, w := range x.known.states {
			s := x.shares[len(x.known.paths)+i]
			if x.order(w) <= from { // in a circle
				rest.AddSum(s)
			} else if s.Sign() > 0 {
				take(w, s)
			}
		}
	}
	for place, share := range shares {
		if share.Sign() > 0 {
			roots = append(roots, Root{place, share})
		}
	}
	slices.SortFunc(roots, func(p, q Root) int {
		return cmp.Or(q.Share.Cmp(p.Share), cmp.Compare(p.Rank, q.Rank), cmp.Compare(p.Path, q.Path))
	})
	return roots, rest
}

// rootItem is a wait state in the order of the backward pass.
type rootItem struct {
	order int32
	item  int
}

type rootQueue []rootItem

func (q rootQueue) Len() int { return len(q) }
func (q rootQueue) Less(i, j int) bool {
	return q[i].order < q[j].order || q[i].order == q[j].order && q[i].item < q[j].item
}
func (q rootQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *rootQueue) Push(x any)   { *q = append(*q, x.(rootItem)) }
func (q *rootQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
