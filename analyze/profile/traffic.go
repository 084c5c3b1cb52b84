package profile

import (
	"cmp"
	"math/bits"
	"slices"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// Link is what one rank sent to another one.
type Link struct {
	From int `json:"from"`
	To   int `json:"to"`
	Traffic
}

// Matrix returns who sent how much to whom, by sender, then receiver. Collectives are not in it: their
// messages are not known. Of a part of a run it has the messages that are received here.
func Matrix(tl *timeline.Timeline) []Link {
	type pair struct{ from, to int }
	sums := map[pair]*Traffic{}
	for i := range tl.Messages {
		m := &tl.Messages[i]
		if !tl.Part.Here(m.To) {
			continue
		}
		k := pair{tl.Locations[m.From].Rank, tl.Locations[m.To].Rank}
		t := sums[k]
		if t == nil {
			t = &Traffic{}
			sums[k] = t
		}
		t.add(1, m.Size)
	}
	list := make([]Link, 0, len(sums))
	for k, t := range sums {
		list = append(list, Link{k.from, k.to, *t})
	}
	slices.SortFunc(list, linkOrder)
	return list
}

func linkOrder(x, y Link) int { return cmp.Or(cmp.Compare(x.From, y.From), cmp.Compare(x.To, y.To)) }

// SizeBin counts messages of From to To bytes.
type SizeBin struct {
	From int64 `json:"from_bytes"`
	To   int64 `json:"to_bytes"`
	Traffic
}

// sizes returns how many messages there are of which size, in powers of two; bins without any are left out. Of a part of
// a run it has the messages that are received here.
func sizes(tl *timeline.Timeline) []SizeBin {
	var bins [65]Traffic
	for i := range tl.Messages {
		if !tl.Part.Here(tl.Messages[i].To) {
			continue
		}
		size := max(tl.Messages[i].Size, 0)
		bins[bits.Len64(uint64(size))].add(1, size)
	}
	var list []SizeBin
	for b, t := range bins {
		if t.Count == 0 {
			continue
		}
		bin := SizeBin{Traffic: t}
		if b > 0 {
			bin.From, bin.To = 1<<(b-1), 1<<b-1
		}
		list = append(list, bin)
	}
	return list
}

// CollectiveUse is how often a collective was called on communicators of a size, and what it took.
type CollectiveUse struct {
	Op    timeline.Op   `json:"operation"`
	Ranks int           `json:"ranks"`
	Calls int64         `json:"calls"`     // instances
	Bytes int64         `json:"bytes"`     // sent and received by all members
	Time  unit.Sum      `json:"seconds"`   // in its calls, of all members
	First unit.Duration `json:"first_s"`   // when the first instance began
	Last  unit.Duration `json:"last_s"`    // when the last one began
	Over  []int64       `json:"over_time"` // instances by part of the run
}

// Collectives returns the collectives of a run, by operation and number of ranks; Over has so many parts. Of a part of a
// run it has those for which this process answers.
func Collectives(tl *timeline.Timeline, parts int) []CollectiveUse {
	type key struct {
		op    timeline.Op
		ranks int
	}
	uses := map[key]*CollectiveUse{}
	for i := range tl.Collectives {
		c := &tl.Collectives[i]
		if c.Scope != timeline.ByComm || tl.Part != nil && tl.CommOwner(int(c.Comm)) != tl.Part.Group.Rank() {
			continue
		}
		members := tl.MembersOf(c)
		k := key{c.Op, len(members)}
		u := uses[k]
		begin := beginOf(tl, members)
		if u == nil {
			u = &CollectiveUse{Op: c.Op, Ranks: len(members), First: begin, Last: begin, Over: make([]int64, parts)}
			uses[k] = u
		}
		u.Calls++
		u.First, u.Last = min(u.First, begin), max(u.Last, begin)
		if parts > 0 {
			u.Over[partOf(begin-tl.Start, tl.End-tl.Start, parts)]++
		}
		for j := range members {
			m := &members[j]
			issuer, calls := &tl.Locations[m.Issuer()].Calls, &tl.Locations[m.Location].Calls
			u.Bytes += m.Sent + m.Received
			u.Time.Add(issuer.Leave[m.Issue] - issuer.Enter[m.Issue])
			if !m.Blocks() {
				u.Time.Add(calls.Leave[m.Complete] - calls.Enter[m.Complete])
			}
		}
	}
	list := make([]CollectiveUse, 0, len(uses))
	for _, u := range uses {
		list = append(list, *u)
	}
	slices.SortFunc(list, useOrder)
	return list
}

func useOrder(x, y CollectiveUse) int {
	return cmp.Or(cmp.Compare(x.Op, y.Op), cmp.Compare(x.Ranks, y.Ranks))
}

// beginOf is when the first member of a collective came.
func beginOf(tl *timeline.Timeline, members []timeline.Member) unit.Duration {
	first := tl.Locations[members[0].Issuer()].Calls.Enter[members[0].Issue]
	for j := range members {
		first = min(first, tl.Locations[members[j].Issuer()].Calls.Enter[members[j].Issue])
	}
	return first
}

// partOf is the number of the part of a whole that a place lies in.
func partOf(place, whole unit.Duration, parts int) int {
	if whole <= 0 {
		return 0
	}
	high, low := bits.Mul64(uint64(min(max(place, 0), whole)), uint64(parts))
	part, _ := bits.Div64(high, low, uint64(whole))
	return min(int(part), parts-1)
}
