package waits

import (
	"cmp"
	"maps"
	"slices"

	"slackline/model/unit"
)

// pathWait is a wait state on a local path and how much of it lies there.
type pathWait struct {
	wait   *literalWait
	amount unit.Duration
}

// did is what a process did before an operation, since a time: its local path, or, without streams, what the location did.
func (o *deviceOracle) did(l, call int32, from unit.Duration) (map[string]unit.Duration, []pathWait) {
	if !slices.ContainsFunc(o.acts, func(a *oracleAct) bool { return a.rank == o.rank(l) }) {
		paths, waits := o.profileOf(l, from, o.op(l, call).enter)
		var inside []pathWait
		for _, w := range waits {
			i := slices.IndexFunc(o.all, func(x *literalWait) bool { return x.of == w })
			inside = append(inside, pathWait{o.all[i], w.within(from, o.op(l, call).enter)})
		}
		return paths, inside
	}
	p := wayBack{thread: l, t: o.op(l, call).enter}
	if stream := int(l) - len(o.plain.Locations); stream >= 0 {
		p.act = o.those(func(a *oracleAct) bool { return a.stream == stream })[call]
	}
	return o.owners(p, from, nil)
}

// owners sums up what a walk meets, in some instants or, without these, always.
func (o *deviceOracle) owners(p wayBack, from unit.Duration, in instants) (map[string]unit.Duration, []pathWait) {
	paths, waits := map[string]unit.Duration{}, map[*literalWait]unit.Duration{}
	o.walk(p, from, func(t unit.Duration, by owner) {
		switch {
		case in != nil && !in[t]:
		case by.wait != nil:
			waits[by.wait] += o.tick
		default:
			paths[by.path] += o.tick
		}
	})
	var inside []pathWait
	for _, w := range slices.SortedFunc(maps.Keys(waits), func(x, y *literalWait) int {
		return cmp.Or(cmp.Compare(x.begin, y.begin), cmp.Compare(x.location, y.location), cmp.Compare(x.of.call, y.of.call))
	}) {
		inside = append(inside, pathWait{w, waits[w]})
	}
	return paths, inside
}

// causesOf finds what a wait state is charged to: paths of the cause and their excess, its waits; and how much of the wait lies before the
// recorded time of one of the two.
func (o *deviceOracle) causesOf(w *literalWait) (excess map[string]unit.Duration, inside []pathWait, unseen unit.Duration) {
	if w.of == nil {
		excess, inside = o.owners(w.walk, w.from, w.counts)
		return excess, inside, 0
	}
	from, met := o.lastSync(w.of)
	if !met {
		from = max(o.firstEvent(o.rank(w.of.location)), o.firstEvent(o.rank(w.of.cause)))
		for t := range w.counts {
			if t < from {
				unseen += o.tick
			}
		}
	}
	excess, inside = o.did(w.of.cause, w.of.causeCall, from)
	other, _ := o.did(w.of.location, w.of.call, from)
	for path := range excess {
		if excess[path] -= other[path]; excess[path] <= 0 {
			delete(excess, path)
		}
	}
	return excess, inside, unseen
}

// lastSync is T0: the greatest instant of all synchronizations between any locations of the two processes, in operations that precede.
func (o *deviceOracle) lastSync(w *oracleWait) (since unit.Duration, met bool) {
	precedes := func(x oracleOp, l, call int32) bool {
		if x.location == l {
			return x.end <= call
		}
		return x.leave <= o.op(l, call).enter
	}
	for _, p := range o.pairs {
		for _, q := range []oraclePair{p, {p.y, p.x}} {
			if o.rank(q.x.location) != o.rank(w.cause) || o.rank(q.y.location) != o.rank(w.location) || o.rank(w.cause) == o.rank(w.location) ||
				!precedes(q.x, w.cause, w.causeCall) || !precedes(q.y, w.location, w.call) {
				continue
			}
			instant := min(q.x.leave, q.y.leave)
			if max(q.x.enter, q.y.enter) <= instant && (!met || instant > since) {
				since, met = instant, true
			}
		}
	}
	return since, met
}

// firstEvent is the earliest start of a call or an activity of a process.
func (o *deviceOracle) firstEvent(rank int) unit.Duration {
	first := unit.Duration(1 << 60)
	for l := range o.oracle.tl.Locations {
		if c := &o.oracle.tl.Locations[l].Calls; o.rank(int32(l)) == rank && c.Len() > 0 {
			first = min(first, c.Enter[0])
		}
	}
	return first
}

// processAll charges all wait states, each after those that have it among their causes.
func (o *deviceOracle) processAll() {
	needs := map[*literalWait][]*literalWait{}
	for _, w := range o.all {
		_, inside, _ := o.causesOf(w)
		for _, v := range inside {
			needs[v.wait] = append(needs[v.wait], w)
		}
	}
	for left := len(o.all); left > 0; {
		before := left
		for _, w := range o.all {
			if !w.done && !slices.ContainsFunc(needs[w], func(x *literalWait) bool { return !x.done }) {
				o.chargeTo(w)
				w.done = true
				left--
			}
		}
		if left == before {
			o.cyclic = true
			return
		}
	}
}

// chargeTo charges a wait state to its causes.
func (o *deviceOracle) chargeTo(w *literalWait) {
	excess, inside, unseen := o.causesOf(w)
	amount, gammaLong := int64(w.amount(o.tick)), w.long
	if unseen > 0 {
		share := splitLiterally(gammaLong, []int64{int64(unseen), amount - int64(unseen)})
		o.unattributed += int64(unseen) + share[0]
		amount, gammaLong = amount-int64(unseen), share[1]
	}
	paths := slices.Sorted(maps.Keys(excess))
	var weights []int64
	for _, path := range paths {
		weights = append(weights, int64(excess[path]))
	}
	for _, v := range inside {
		weights = append(weights, int64(v.amount))
	}
	if len(weights) == 0 {
		o.unattributed += amount + gammaLong
		return
	}
	cause := o.rank(w.location) // of waits inside a process
	if w.of != nil {
		cause = o.rank(w.of.cause)
	}
	short, long := splitLiterally(amount, weights), splitLiterally(gammaLong, weights)
	for k, path := range paths {
		o.short[rankPath{cause, path}] += short[k]
		o.long[rankPath{cause, path}] += long[k]
	}
	for k, v := range inside {
		k += len(paths)
		v.wait.long += short[k] + long[k]
		w.indirect += short[k]
		v.wait.propagating = max(v.wait.propagating, min(short[k], int64(v.wait.amount(o.tick))))
	}
}
