package waits

import (
	"cmp"
	"slices"
	"sync/atomic"

	"slackline/analyze/waits/ledger"
	"slackline/internal/parallel"
	"slackline/internal/spill"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// candidate is a reason for a call to wait. Of the candidates of a call, the one with the largest amount becomes its
// wait state.
type candidate struct {
	amount           unit.Duration
	location, call   int32 // who waits, in which call
	cause, causeCall int32 // for whom, for which call there
	reference        int32 // number of the message, synchronization point or exposure epoch; -1: none
	seq              int32 // number of the record
	metric           Metric
	before           unit.Duration // how much of the amount belongs to the kind before it
}

// blockSize is how many candidates are kept in one piece.
const blockSize = 1 << 12

// candidates are those that one worker found.
type candidates struct {
	blocks [][]candidate
	space  *spill.Space
}

func (c *candidates) add(x candidate) {
	n := len(c.blocks)
	if n == 0 || len(c.blocks[n-1]) == blockSize {
		c.blocks = append(c.blocks, spill.Make[candidate](c.space, 0, blockSize))
		n++
	}
	c.blocks[n-1] = append(c.blocks[n-1], x)
}

// choose makes the wait states: one for each call that has candidates.
func (a *analysis) choose(found []candidates) {
	var blocks [][]candidate
	for _, f := range found {
		blocks = append(blocks, f.blocks...)
	}
	at := make([]atomic.Int64, len(a.tl.Locations)+1)
	a.each(len(blocks), func(i int) {
		for j := range blocks[i] {
			at[blocks[i][j].location+1].Add(1)
		}
	})
	begin := make([]int64, len(at))
	for i := 1; i < len(at); i++ {
		begin[i] = begin[i-1] + at[i].Load()
	}
	for i := range at {
		at[i].Store(begin[i])
	}
	all := spill.Make[candidate](a.tl.Space, int(begin[len(begin)-1]), int(begin[len(begin)-1]))
	a.each(len(blocks), func(i int) {
		for j := range blocks[i] {
			c := &blocks[i][j]
			all[at[c.location].Add(1)-1] = *c
		}
		spill.Free(a.tl.Space, blocks[i])
		blocks[i] = nil
	})
	counts := make([]int, len(a.tl.Locations))
	a.each(len(counts), func(l int) { counts[l] = a.best(all[begin[l]:begin[l+1]]) })
	a.first = make([]int, len(counts)+1)
	for l, n := range counts {
		a.first[l+1] = a.first[l] + n
	}
	a.states = spill.Make[state](a.tl.Space, a.first[len(counts)], a.first[len(counts)])
	a.ends = make([]ends, len(counts))
	a.each(len(counts), func(l int) {
		of := a.states[a.first[l]:a.first[l+1]]
		for i := range of {
			of[i] = a.newState(&all[begin[l]+int64(i)])
		}
		a.ends[l] = endsOf(a.tl.Space, of)
	})
	spill.Free(a.tl.Space, all)
}

// settle takes a candidate whose call contains others to where its location sat idle: in the call itself, without those in it, or in a
// call of MPI among them, whichever is longer. Time in other calls is theirs. False: nothing is left.
func (a *analysis) settle(x *candidate) bool {
	c := a.calls(x.location)
	for last := int32(-1); last != x.call && c.Skip[x.call] > x.call+1; {
		last = x.call
		enter := c.Enter[last]
		end, first := enter+x.amount, enter+x.before
		for i := last + 1; i < c.Skip[last] && c.Enter[i] < end; i = c.Skip[i] {
			x.amount -= min(end, c.Leave[i]) - c.Enter[i]
			x.before -= max(min(first, c.Leave[i])-c.Enter[i], 0)
		}
		for i := last + 1; i < c.Skip[last] && c.Enter[i] < end; i = c.Skip[i] {
			if part := min(end, c.Leave[i]) - c.Enter[i]; part > x.amount && a.tl.RegionOf(c.Path[i]).Paradigm == timeline.MPI &&
				!a.isTest(x.location, i) {
				x.call, x.amount, x.before = i, part, min(max(first-c.Enter[i], 0), part)
			}
		}
		if x.before >= x.amount && x.before > 0 { // all that is left is of the kind before
			x.metric, x.before = kinds[x.metric].before.metric, 0
		}
	}
	return x.amount > 0
}

// best brings the best candidate of every call to the front, in the order of the calls, and returns
// their number.
func (a *analysis) best(list []candidate) int {
	settled := list[:0]
	for _, x := range list {
		if a.settle(&x) {
			settled = append(settled, x)
		}
	}
	list = settled
	order := func(x, y candidate) int {
		if x.call != y.call {
			return cmp.Compare(x.call, y.call)
		}
		if x.amount != y.amount {
			return cmp.Compare(y.amount, x.amount)
		}
		return cmp.Or(
			cmp.Compare(kinds[x.metric].precedence, kinds[y.metric].precedence),
			cmp.Compare(a.rankOf(x.cause), a.rankOf(y.cause)),
			cmp.Compare(x.seq, y.seq),
			cmp.Compare(x.cause, y.cause),
			cmp.Compare(x.metric, y.metric),
			cmp.Compare(x.reference, y.reference),
		)
	}
	if !slices.IsSortedFunc(list, order) {
		slices.SortFunc(list, order)
	}
	n := 0
	for i := range list {
		if i == 0 || list[i].call != list[n-1].call {
			list[n] = list[i]
			n++
		}
	}
	return n
}

// scratches gives every worker its own zeros by location.
func (a *analysis) scratches() [][]int32 {
	s := make([][]int32, max(a.threads, 1))
	for i := range s {
		s[i] = make([]int32, len(a.tl.Locations))
	}
	return s
}

// forward finds all wait states.
func (a *analysis) forward() {
	found := make([]candidates, max(a.threads, 1))
	for i := range found {
		found[i].space = a.tl.Space
	}
	a.readMessages(found)
	a.readCollectives(found)
	a.readPoints(found)
	a.readEpochs(found)
	a.choose(found)
	a.findIdlePhases()
	a.leaveWaits()
	for _, k := range kinds {
		if k.mark != nil {
			k.mark(a, k)
		}
	}
}

// messagesOf returns where the messages of each location begin; one more at the end.
func (a *analysis) messagesOf() []int {
	first := make([]int, len(a.tl.Locations)+1)
	for i := range a.tl.Messages {
		first[a.tl.Messages[i].To+1]++
	}
	for i := 1; i < len(first); i++ {
		first[i] += first[i-1]
	}
	return first
}

// readMessages finds late senders and receivers, and the contacts of all locations if causes are wanted.
func (a *analysis) readMessages(candidates []candidates) {
	a.contacts = make([]contacts, len(a.tl.Locations))
	first := a.messagesOf()
	scratch := a.scratches()
	contacts, others := make([][]found, len(scratch)), make([]map[int32][]found, len(scratch))
	probes := a.tl.Probes()
	a.meter.begin(0, messagesDone, len(a.tl.Locations))
	parallel.EachWorker(len(a.tl.Locations), a.threads, func(worker, l int) {
		defer a.meter.did(1)
		if most := 3 * (first[l+1] - first[l]); a.tl.Space != nil && cap(contacts[worker]) < most { // two of a message, one of its probe
			spill.Free(a.tl.Space, contacts[worker])
			contacts[worker] = spill.Make[found](a.tl.Space, 0, most)
		}
		list := foundBy{int32(l), contacts[worker][:0], others[worker]}
		for i := first[l]; i < first[l+1]; i++ {
			m := &a.tl.Messages[i]
			if m.From == m.To && m.DoneBy == 0 && m.PostedBy == 0 {
				continue
			}
			e := a.endsOf(m)
			if !a.causeless {
				e.contactsOf(&list, m)
			}
			e.readMessage(a, m, int32(i), &candidates[worker])
			a.readProbe(probes, m, int32(i), e.send, &candidates[worker], &list)
		}
		a.contacts[l] = newContacts(a.tl.Space, list.own, scratch[worker])
		contacts[worker], others[worker] = list.own, list.others
	})
	for i, list := range contacts {
		spill.Free(a.tl.Space, list)
		a.mergeContacts(others[i])
	}
}

// readMessage finds the waits that a message caused.
func (e *messageEnds) readMessage(a *analysis, m *timeline.Message, number int32, found *candidates) {
	for _, k := range ofMessages {
		if c := k.message(a, m, e); c.amount > 0 && c.location != c.cause {
			c.metric, c.reference = k.metric, number
			found.add(c)
		}
	}
}

// readCollectives finds the waits and completions of MPI's collectives.
func (a *analysis) readCollectives(found []candidates) {
	instances := make([]instance, max(a.threads, 1))
	tables := make([]ledger.Table, max(a.threads, 1))
	const chunk = 64
	parallel.Chunks(len(a.tl.Collectives), chunk, a.threads, func(worker, from, to int) {
		o := &instances[worker]
		for i := from; i < to; i++ {
			if a.rules[i] == 0 {
				continue
			}
			rule, c := rules[a.rules[i]], &a.tl.Collectives[i]
			a.readInstance(o, c)
			rule.detect(o)
			for _, w := range o.waits {
				m, z := &o.members[w.member], &o.members[w.cause]
				if !a.isHere(m.Location) {
					continue
				}
				x := candidate{
					metric: rule.kind.metric, amount: w.amount, before: w.before, location: m.Location, call: m.Complete,
					cause: z.Issuer(), causeCall: z.Issue, reference: int32(i), seq: m.Seq,
				}
				if x.before == x.amount { // all of it is of the kind before
					x.metric, x.before = rule.kind.before.metric, 0
				}
				found[worker].add(x)
			}
			if rule.completion != noCompletion && !o.inter() {
				rule.complete(o, func(j int, d unit.Duration) {
					m := &o.members[j]
					if !a.isHere(m.Location) {
						return
					}
					key := ledger.KeyOf(a.rankOf(m.Location), a.pathOf(m.Location, m.Complete), uint8(rule.completion))
					tables[worker].Add(key, unit.SumOf(d), unit.Sum{})
				})
			}
		}
	})
	for i := range tables {
		a.completions.AddAll(&tables[i])
	}
}

// readInstance fills an instance with what the members of a collective did.
func (a *analysis) readInstance(o *instance, c *timeline.Collective) {
	o.view, o.members, o.root = view{a.tl, c}, a.tl.MembersOf(c), int(c.Root)
	o.parts, o.waits = o.parts[:0], o.waits[:0]
	for j := range o.members {
		m := &o.members[j]
		o.parts = append(o.parts, part{
			rank: int32(a.rankOf(m.Location)), issued: a.calls(m.Issuer()).Enter[m.Issue],
			done: a.spanOf(m.Location, m.Complete),
			sent: m.Sent, received: m.Received, test: a.isTest(m.Location, m.Complete),
		})
	}
}

// readPoints finds the waits at the other synchronization points.
func (a *analysis) readPoints(found []candidates) {
	const chunk = 64
	instances := make([]instance, max(a.threads, 1))
	parallel.Chunks(len(a.points), chunk, a.threads, func(worker, from, to int) {
		o := &instances[worker]
		for i := from; i < to; i++ {
			m := &a.points[i]
			if m.kind == nil {
				continue
			}
			location := func(member int) int32 { return a.locationIn(m, int32(member)) }
			*o = instance{root: -1, parts: o.parts[:0], waits: o.waits[:0]}
			for j, call := range m.calls {
				s := a.spanOf(location(j), call)
				o.parts = append(o.parts, part{rank: int32(j), issued: s.enter, done: s})
			}
			waitForLast(o)
			for _, w := range o.waits {
				if !a.isHere(location(w.member)) {
					continue
				}
				found[worker].add(candidate{
					metric: m.kind.metric, amount: w.amount, location: location(w.member), call: m.calls[w.member],
					cause: location(w.cause), causeCall: m.calls[w.cause], reference: int32(len(a.tl.Collectives) + i), seq: -1,
				})
			}
		}
	})
}
