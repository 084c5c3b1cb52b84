package hang

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"slackline/internal/phrase"
	"slackline/model/state"
	"slackline/model/unit"
)

// Row is what some ranks do.
type Row struct {
	Ranks  []int
	Thread int
	Doing  string
	Call   string        // the function of MPI; empty: they are outside of it
	Since  time.Duration // the longest of them
	Stuck  bool          // they can never go on
	Roots  bool          // others wait for them
}

// Rows is what the ranks do: those that do the same together; those that matter first.
func (v *Verdict) Rows() []Row {
	rows := map[string]*Row{}
	var keys []string
	for r := range v.run.Ranks {
		rank := &v.run.Ranks[r]
		for i := range max(len(rank.Threads), 1) {
			doing, call, since, thread := "left no file: MPI_Init is not done", "", time.Duration(0), 0
			if rank.Status == state.Unreadable {
				doing = "is unknown: its files are damaged, or not there"
			}
			if i < len(rank.Threads) {
				t := &rank.Threads[i]
				doing, since, thread = v.doing(rank, t), time.Duration(t.Since), t.Number
				if t.Call != nil {
					call = t.Call.Name
				}
			}
			stuck := slices.Contains(v.Stuck, r)
			key := fmt.Sprint(thread, doing, stuck)
			row := rows[key]
			if row == nil {
				row = &Row{Thread: thread, Doing: doing, Call: call, Stuck: stuck}
				rows[key], keys = row, append(keys, key)
			}
			row.Ranks, row.Since = append(row.Ranks, r), max(row.Since, since)
			row.Roots = row.Roots || slices.Contains(v.Roots, r)
		}
	}
	list := make([]Row, 0, len(keys))
	for _, key := range keys {
		list = append(list, *rows[key])
	}
	slices.SortStableFunc(list, func(x, y Row) int { return cmp.Compare(v.importance(&y), v.importance(&x)) })
	return list
}

// importance puts culprits first, then those that others wait for, then those that wait in vain.
func (v *Verdict) importance(row *Row) int {
	for _, f := range v.Findings {
		if slices.ContainsFunc(row.Ranks, func(r int) bool { return slices.Contains(f.Culprits, r) }) {
			return 3
		}
	}
	switch {
	case row.Roots:
		return 2
	case row.Stuck:
		return 1
	}
	return 0
}

// doing says what a thread does.
func (v *Verdict) doing(rank *state.Rank, t *state.Thread) string {
	now := ""
	switch {
	case t.Call != nil:
		now = v.call(t.Call)
		if t.Polls {
			now = "polls: " + now
		}
	case t.Asleep:
		now = "waits outside of MPI, in a call of the system"
	default:
		now = "computes"
	}
	switch {
	case rank.Status == state.Unreadable:
		return "is unknown: its files are damaged; they say: " + now
	case rank.Status == state.Finished:
		return "has finished"
	case rank.Status == state.Exited:
		return "ended without MPI_Finalize"
	case rank.Status == state.Stopped:
		return "is stopped by a signal; " + now
	case rank.Status == state.Gone && v.Alive:
		return "is gone; before: " + now
	}
	return now
}

// call describes a call with its arguments.
func (v *Verdict) call(c *state.Call) string {
	on := ""
	if c.HasComm && int(c.Comm) < len(v.run.Comms) {
		on = ", " + v.run.Comms[c.Comm].Name
	}
	from := func(peer int32) string {
		if peer == state.Anybody {
			return "any rank"
		}
		return fmt.Sprintf("rank %d", peer)
	}
	switch c.Kind {
	case state.Send:
		return fmt.Sprintf("%s to rank %d, tag %d, %d bytes%s", c.Name, c.Peer, c.Tag, c.Bytes, on)
	case state.Receive, state.Probe:
		return fmt.Sprintf("%s from %s, %s%s", c.Name, from(c.Peer), tagName(c.Tag), on)
	case state.Exchange:
		return fmt.Sprintf("%s to rank %d, tag %d, from %s, %s%s", c.Name, c.Peer, c.Tag, from(c.Source), tagName(c.SourceTag), on)
	case state.WaitAll, state.WaitAny:
		return fmt.Sprintf("%s for %s", c.Name, phrase.Plural(c.Total, "request"))
	case state.Together:
		return fmt.Sprintf("%s, call %d%s", c.Name, c.Number+1, on)
	case state.OnWindow, state.Start, state.Wait, state.Locking:
		text := fmt.Sprintf("%s, window %s", c.Name, objectName(v.run.Windows, c.Object))
		if c.Kind == state.Locking {
			text += ", target " + target(c.Peer)
		}
		return text
	case state.OnFile:
		return fmt.Sprintf("%s, file %s", c.Name, objectName(v.run.Files, c.Object))
	}
	return c.Name
}

// Summary is the answer in a sentence or two, if there is no finding that says it; Apart is the time between the looks.
func (v *Verdict) Summary(apart time.Duration) string {
	switch v.Outcome {
	case Ended:
		return "All ranks have finished."
	case Running:
		if len(v.Moved) > 0 {
			return fmt.Sprintf("The program makes progress: %s of %d made MPI calls within %s.",
				phrase.Plural(len(v.Moved), "rank"), len(v.run.Ranks), unit.Elapsed(apart))
		}
		return "No rank waits for another one."
	case Slow, Endless:
		return v.computing()
	case Unknown:
		if ranks := v.run.Unreadable(); len(ranks) > 0 {
			return fmt.Sprintf("It is unknown whether the program can go on: what was recorded of %s is damaged, or not there.",
				lower(Ranks(ranks)))
		}
		return "It is unknown whether the program can go on: what was recorded does not show whom the ranks wait for."
	}
	return fmt.Sprintf("%s of %d cannot go on.", phrase.Plural(len(v.Stuck), "rank"), len(v.run.Ranks))
}

// computing is the sentence about ranks that others wait for and that compute.
func (v *Verdict) computing() string {
	first := v.Roots[0]
	t := &v.run.Ranks[first].Threads[0]
	for i := range v.run.Ranks[first].Threads {
		if v.run.Ranks[first].Threads[i].Call == nil {
			t = &v.run.Ranks[first].Threads[i]
		}
	}
	waiting := 0
	for _, r := range v.Blocked {
		if !slices.Contains(v.Roots, r) {
			waiting++
		}
	}
	verb, does, had := "wait", "computes", "has done so"
	if waiting == 1 {
		verb = "waits"
	}
	if t.Asleep {
		does = "waits outside of MPI"
	}
	if !v.Alive {
		verb, does, had = "waited", "was outside of MPI", "had been so"
	}
	text := fmt.Sprintf("No deadlock: %s %s for %s. Rank %d %s and %s for %s",
		phrase.Plural(waiting, "rank"), verb, lower(Ranks(v.Roots)), first, does, had, unit.Elapsed(time.Duration(t.Since)))
	before := "; it had not computed between its MPI calls before."
	if t.Longest > 0 {
		before = fmt.Sprintf("; between two MPI calls before, it took at most %s.", unit.Elapsed(time.Duration(t.Longest)))
	}
	text += before
	if v.Outcome == Endless {
		return text + " That is much longer than ever: it may be in an endless loop."
	}
	return text + " It is only slow."
}

// Reason is the kind of what the verdict says, if it is worth an explanation.
func (v *Verdict) Reason() *Kind {
	switch {
	case len(v.Findings) > 0:
		return v.Findings[0].Kind
	case v.Outcome == Endless:
		return &endlessLoop
	case v.Outcome == Slow:
		return &slowRank
	}
	return nil
}
