package hang

import (
	"cmp"
	"fmt"
	"slices"

	"slackline/internal/phrase"
	"slackline/model/state"
)

// findings are the reasons why ranks can never go on.
func (a *analysis) findings() []Finding {
	var list []Finding
	var ends []int // ranks at which waiting ends, and that will never do anything for others
	for _, c := range a.components() {
		first := c.ranks[0]
		switch {
		case !c.last:
		case len(c.ranks) == 1 && (a.ranks[first].dead || a.ranks[first].finalizes):
			if len(a.waitersOf([]int{first})) > 0 {
				ends = append(ends, first)
			}
		case !a.stuck(first): // it can go on, but what it did cannot be undone
			f := Finding{Culprits: a.waitersOf(c.ranks), Waiting: a.reaching(c.ranks)}
			if a.collectiveMistake(&f) && !slices.ContainsFunc(list, func(o Finding) bool { return o.Sentence == f.Sentence }) {
				list = append(list, f)
			}
		default:
			list = append(list, a.explainCycle(c.ranks))
		}
	}
	list = append(list, a.explainEnds(ends)...)
	slices.SortStableFunc(list, func(x, y Finding) int {
		return cmp.Or(cmp.Compare(len(y.Waiting), len(x.Waiting)), slices.Compare(x.Culprits, y.Culprits))
	})
	return list
}

// waitersOf are the stuck ranks that wait for some ranks directly.
func (a *analysis) waitersOf(ranks []int) []int {
	var list []int
	for r := range a.ranks {
		if a.stuck(r) && slices.ContainsFunc(a.next(r), func(m int) bool { return slices.Contains(ranks, m) }) {
			list = append(list, r)
		}
	}
	return list
}

// reaching are the stuck ranks that wait for some ranks, directly or not.
func (a *analysis) reaching(ranks []int) []int {
	edges := make([][]int, len(a.ranks))
	for r := range a.ranks {
		edges[r] = a.next(r)
	}
	reached := map[int]bool{}
	for _, r := range ranks {
		reached[r] = true
	}
	for changed := true; changed; {
		changed = false
		for r := range a.ranks {
			if !reached[r] && a.stuck(r) && slices.ContainsFunc(edges[r], func(m int) bool { return reached[m] }) {
				reached[r], changed = true, true
			}
		}
	}
	for _, r := range ranks {
		if !a.stuck(r) || a.ranks[r].finalizes {
			delete(reached, r)
		}
	}
	return sorted(reached)
}

// explainEnds makes findings of the ranks that will never do what others need: one for those that the same ranks wait for.
func (a *analysis) explainEnds(ends []int) []Finding {
	groups := map[string][]int{}
	var keys []string
	for _, r := range ends {
		key := fmt.Sprint(a.endKind(r).Name, a.waitersOf([]int{r}))
		if groups[key] == nil {
			keys = append(keys, key)
		}
		groups[key] = append(groups[key], r)
	}
	var list []Finding
	for _, key := range keys {
		list = append(list, a.explainEnd(groups[key]))
	}
	return list
}

// endKind is why a rank will never do anything.
func (a *analysis) endKind(rank int) *Kind {
	switch a.run.Ranks[rank].Status {
	case state.Stopped:
		return &stoppedRank
	case state.Gone:
		return &lostRank
	case state.Exited:
		return &exitedRank
	}
	return &finishedRank
}

func (a *analysis) explainEnd(ranks []int) Finding {
	f := Finding{Kind: a.endKind(ranks[0]), Culprits: ranks, Waiting: a.reaching(ranks)}
	waiters := a.waitersOf(ranks)
	first := waiters[0]
	x := a.needFor(first, ranks)
	f.Sentence = fmt.Sprintf("%s for %s, but %s.", a.waitsIn(first, waiters), x.what, a.fate(ranks))
	switch {
	case f.Kind != &finishedRank: // no mistake of the program is known
	case x.why == forMessage && a.mismatch(&f, first, x.message):
	case x.why == forReceive && a.receiver(&f, first, x.message):
	case x.why == forMessage && x.message.peer == state.Anybody:
		f.Kind = &nobodyLeft
		f.Culprits = waiters
		f.Mistake = fmt.Sprintf("Rank %d has a receive too many, or another rank a send too few.", first)
	case x.why == forMessage:
		f.Mistake = fmt.Sprintf("The send of rank %d is missing, or the receive of rank %d is one too many.", ranks[0], first)
	case x.why == forReceive:
		f.Mistake = fmt.Sprintf("The receive of rank %d is missing.", ranks[0])
	case x.why == forCollective:
		f.Mistake = Ranks(ranks) + " finished without this call: it stands in a branch or loop that not all ranks take in the same way."
	case x.why == forLock:
		f.Kind = &heldLock
		f.Mistake = fmt.Sprintf("The MPI_Win_unlock of rank %d is missing.", ranks[0])
	default:
		f.Mistake = fmt.Sprintf("A call of rank %d is missing.", ranks[0])
	}
	return f
}

// needFor is the need of a stuck rank that some ranks would meet.
func (a *analysis) needFor(rank int, ranks []int) need {
	for _, x := range a.unmet(rank) {
		if slices.ContainsFunc(x.any, func(m int32) bool { return slices.Contains(ranks, int(m)) }) {
			return x
		}
	}
	return need{}
}

// waitsIn is the beginning of a sentence about ranks that wait, the first of which stands for the others.
func (a *analysis) waitsIn(first int, all []int) string {
	name := a.callName(first)
	if len(all) > 1 {
		return fmt.Sprintf("Rank %d and %s wait in %s", first, phrase.Plural(len(all)-1, "more rank"), name)
	}
	return fmt.Sprintf("Rank %d waits in %s", first, name)
}

func (a *analysis) callName(rank int) string {
	for _, t := range a.run.Ranks[rank].Threads {
		if t.Call != nil {
			return t.Call.Name
		}
	}
	return "MPI"
}

// fate says why some ranks will never do anything.
func (a *analysis) fate(ranks []int) string {
	rank := &a.run.Ranks[ranks[0]]
	is := "is"
	if len(ranks) > 1 {
		is = "are"
	}
	who := lower(Ranks(ranks))
	switch {
	case rank.Status == state.Stopped:
		return fmt.Sprintf("%s %s stopped by a signal (process %d on %s)", who, is, rank.PID, rank.Host)
	case rank.Status == state.Gone:
		return fmt.Sprintf("%s %s gone: killed, or crashed (process %d on %s)", who, is, rank.PID, rank.Host)
	case rank.Status == state.Exited:
		return who + " ended without MPI_Finalize"
	case rank.Status == state.Finished:
		return who + " finished"
	}
	return fmt.Sprintf("%s %s in MPI_Finalize", who, is)
}

// explainCycle makes a finding of ranks that wait for each other.
func (a *analysis) explainCycle(ranks []int) Finding {
	f := Finding{Kind: &cycle, Culprits: ranks, Waiting: a.reaching(ranks), Cycle: a.cycle(ranks)}
	if a.collectiveMistake(&f) || a.lockMistake(&f) {
		return f
	}
	if len(f.Cycle) > 0 {
		f.Culprits = nil
		for _, e := range f.Cycle {
			f.Culprits = append(f.Culprits, e.From)
		}
		slices.Sort(f.Culprits)
	}
	f.Sentence = a.circle(f.Cycle)
	reasons := map[reason]int{}
	for _, e := range f.Cycle {
		reasons[a.needFor(e.From, []int{e.To}).why]++
	}
	for _, e := range f.Cycle {
		x := a.needFor(e.From, []int{e.To})
		if x.why == forMessage && a.mismatch(&f, e.From, x.message) || x.why == forReceive && a.receiver(&f, e.From, x.message) {
			return f
		}
	}
	switch {
	case len(reasons) == 1 && reasons[forReceive] > 0:
		f.Kind, f.Mistake = &cyclicSends, "Each rank sends before it receives, and MPI keeps no message of that size for later."
	case len(reasons) == 1 && reasons[forMessage] > 0:
		f.Kind, f.Mistake = &cyclicReceives, "Each rank receives before it sends."
	case reasons[forCollective] > 0 && len(reasons) > 1:
		f.Mistake = "A message is expected from a rank that is in a collective: the order of the two differs between the ranks."
	default:
		f.Mistake = "One of these calls stands in the wrong order, or in a branch that not all ranks take."
	}
	return f
}

// mostCircle is how many ranks of a circle are named.
const mostCircle = 6

func (a *analysis) circle(edges []Edge) string {
	if len(edges) == 0 {
		return "The ranks wait for each other."
	}
	text := ""
	for i, e := range edges {
		if i == mostCircle {
			text += fmt.Sprintf("; and so on through %d ranks", len(edges))
			break
		}
		if i > 0 {
			text += "; "
		}
		who := fmt.Sprintf("rank %d", e.From)
		if i == 0 {
			who = fmt.Sprintf("Rank %d", e.From)
		}
		text += fmt.Sprintf("%s is in %s and waits for %s", who, a.callName(e.From), e.For)
	}
	return text + "."
}
