package timeline

import (
	"fmt"
	"math"
	"slices"

	"slackline/model/unit"
)

// series are the collectives of a communicator.
type series struct {
	of         [][]ref // by rank in the communicator, in order of issue
	complete   int     // instances that every member has
	longest    int     // instances that some member has
	mismatched []int   // complete ones whose members disagree
	nonMembers int64   // collectives of ranks that are not members
	between    int64   // collectives between two groups, which have no instances here
	cut        int64   // instances that some member did not record
}

// instancesPerTask is how many instances are written into the timeline at a time.
const instancesPerTask = 1 << 12

// matchCollectives finds the instances: the k-th collective that a rank issues on a communicator
// belongs with the k-th of every other member.
func (f *finisher) matchCollectives() {
	runs := make([][]run, len(f.locations))
	f.each(len(f.locations), func(i int) { runs[i] = f.collectivesOf(int32(i)) })
	on := byKey(runs, len(f.t.Comms))
	all := make([]series, len(f.t.Comms))
	f.each(len(all), func(c int) { all[c] = f.seriesOf(c, on[c]) })
	counts := f.joinCounts()

	type task struct{ comm, from, to, collective, member int }
	var tasks []task
	collectives, members := 0, 0
	for c := range all {
		s := &all[c]
		f.reportSeries(c, s)
		size := len(s.of)
		for from := 0; from < s.complete; from += instancesPerTask {
			to := min(from+instancesPerTask, s.complete)
			good := to - from - s.mismatchedIn(from, to)
			tasks = append(tasks, task{c, from, to, collectives, members})
			collectives += good
			members += good * size
		}
	}
	f.t.Collectives, f.t.Members = make([]Collective, collectives), make([]Member, members)
	f.each(len(tasks), func(i int) {
		k := tasks[i]
		f.fillCollectives(int32(k.comm), &all[k.comm], k.from, k.to, k.collective, k.member, counts)
	})
}

// collectivesOf groups the collectives of a location by communicator.
func (f *finisher) collectivesOf(location int32) []run {
	l := f.locations[location]
	return runsOf(location, len(l.collectives), len(f.t.Comms), func(i int) int32 {
		m := &l.collectives[i]
		if m.state != done && m.state != skipped || m.comm < 0 || int(m.comm) >= len(f.t.Comms) {
			return -1
		}
		return m.comm
	})
}

func (f *finisher) member(r ref) *member { return &f.locations[r.location].collectives[r.record] }

// seriesOf puts the runs of a communicator's collectives into the order of its members and compares
// them. Communicators with one member of several ranks and intercommunicators have no instances; those of a run of one rank have
// them, for with more ranks they would be collectives of all.
func (f *finisher) seriesOf(comm int, runs []run) series {
	g := &f.groups[comm]
	if len(g.remote) > 0 {
		var s series
		for _, r := range runs {
			for _, record := range r.records {
				if f.member(ref{r.location, record}).state == done {
					s.between++
				}
			}
		}
		return s
	}
	if len(runs) == 0 || len(g.members) < 2 && f.t.Ranks > 1 {
		return series{}
	}
	s := series{of: make([][]ref, len(g.members)), complete: math.MaxInt}
	at := make(map[int]int, len(g.members))
	for i, rank := range g.members {
		at[int(rank)] = i
	}
	for len(runs) > 0 {
		n := f.sameRank(runs)
		i, ok := at[f.locations[runs[0].location].rank]
		of := merge(nil, runs[:n], func(r ref) unit.Duration { return f.member(r).issued })
		if runs = runs[n:]; !ok {
			s.nonMembers += int64(len(of))
			continue
		}
		s.of[i] = of
	}
	if slices.ContainsFunc(g.members, f.isCut) {
		f.align(&s)
	}
	for _, of := range s.of {
		s.complete, s.longest = min(s.complete, len(of)), max(s.longest, len(of))
	}
	for k := range s.complete {
		if !f.agree(&s, k) {
			s.mismatched = append(s.mismatched, k)
		}
	}
	return s
}

// agree reports whether all members call the same operation with the same root inside of calls.
func (f *finisher) agree(s *series, k int) bool {
	first := f.member(s.of[0][k])
	for _, of := range s.of {
		m := f.member(of[k])
		if m.op != first.op || m.root != first.root || m.issue < 0 || m.complete < 0 {
			return false
		}
	}
	return true
}

// mismatchedIn counts the mismatched instances from .. to-1.
func (s *series) mismatchedIn(from, to int) int {
	a, _ := slices.BinarySearch(s.mismatched, from)
	b, _ := slices.BinarySearch(s.mismatched, to)
	return b - a
}

// fillCollectives writes instances from .. to-1 of a series into the timeline.
func (f *finisher) fillCollectives(comm int32, s *series, from, to, collective, member int, counts []int) {
	bad := s.mismatched
	for k := from; k < to; k++ {
		if _, skip := slices.BinarySearch(bad, k); skip {
			continue
		}
		first := f.member(s.of[0][k])
		f.t.Collectives[collective] = Collective{Op: first.op, Comm: comm, Root: first.root, First: member}
		collective++
		for _, of := range s.of {
			m := f.member(of[k])
			f.t.Members[member] = Member{
				Location: of[k].location, Issue: m.issue, Complete: m.complete, Seq: m.seq,
				Sent: m.sent, Received: m.received, Counts: f.countsOf(of[k].location, m, len(s.of), counts),
			}
			member++
		}
	}
}

// joinCounts puts the sizes by peer of all locations into the timeline; it returns where those of each
// location begin.
func (f *finisher) joinCounts() []int {
	begin, total := make([]int, len(f.locations)), 0
	for i, l := range f.locations {
		begin[i] = total
		if total+len(l.counts) > math.MaxInt32 {
			begin[i] = -1
			f.t.Problems.Notes = append(f.t.Problems.Notes, fmt.Sprintf("rank %d: too many sizes by peer, left out", l.rank))
			continue
		}
		total += len(l.counts)
	}
	f.t.Counts = make([]int64, 0, total)
	for i, l := range f.locations {
		if begin[i] >= 0 {
			f.t.Counts = append(f.t.Counts, l.counts...)
		}
	}
	return begin
}

// countsOf is the index of the sizes by peer of a member; -1 if it has none or not so many as peers.
func (f *finisher) countsOf(location int32, m *member, size int, begin []int) int32 {
	if m.counts < 0 || begin[location] < 0 {
		return -1
	}
	if n := int(f.locations[location].counts[m.counts-1]); n != size && n != 2*size {
		return -1
	}
	return int32(begin[location]) + m.counts
}

// CountsOf returns the bytes by peer of a member: sent, or received if the operation has only those, and
// after them received ones if it has both; nil if they do not differ or are not known. Their number is
// that of the members or twice that.
func (t *Timeline) CountsOf(m *Member) []int64 {
	if m.Counts < 0 {
		return nil
	}
	return t.Counts[m.Counts : int64(m.Counts)+t.Counts[m.Counts-1]]
}

// reportSeries describes what is wrong with the collectives of a communicator.
func (f *finisher) reportSeries(comm int, s *series) {
	p := &f.t.Problems
	if f.t.Part != nil && f.t.CommOwner(comm) != f.t.Part.Group.Rank() {
		return
	}
	defer f.tagReports(comm, len(p.Collectives), len(p.Notes))
	p.IncompleteCollectives += int64(s.longest-s.complete) + int64(len(s.mismatched)) + s.nonMembers
	p.CutCollectives += s.cut
	name := f.commName(comm)
	if s.between > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("%s: %d calls of collectives between two groups, left out", name, s.between))
	}
	if s.nonMembers > 0 {
		f.reportCollective("%s: %d collectives of ranks that are not members", name, s.nonMembers)
	}
	if s.longest > s.complete {
		most, least := 0, 0
		for i, of := range s.of {
			if len(of) > len(s.of[most]) {
				most = i
			}
			if len(of) < len(s.of[least]) {
				least = i
			}
		}
		next := s.of[most][s.complete]
		f.reportCollective("%s: collective %d: %s of rank %d, but rank %d has only %d", name, s.complete+1,
			f.memberCall(next), f.t.Comms[comm].Members[most],
			f.t.Comms[comm].Members[least], s.complete)
	}
	for _, k := range s.mismatched {
		if len(p.Collectives) >= listed {
			return
		}
		f.reportCollective("%s: collective %d: %s", name, k+1, f.disagreement(comm, s, k))
	}
}

// disagreement defines who of the members of an instance differs from the first one.
func (f *finisher) disagreement(comm int, s *series, k int) string {
	members := f.t.Comms[comm].Members
	describe := func(i int) string {
		m := f.member(s.of[i][k])
		root := ""
		if m.root >= 0 {
			root = fmt.Sprintf(" with root %d", m.root)
		}
		return fmt.Sprintf("%s%s of rank %d", f.memberCall(s.of[i][k]), root, members[i])
	}
	first := f.member(s.of[0][k])
	for i := range s.of {
		m := f.member(s.of[i][k])
		if m.issue < 0 || m.complete < 0 {
			return fmt.Sprintf("%s outside of any call", describe(i))
		}
		if m.op != first.op || m.root != first.root {
			return fmt.Sprintf("%s, but %s", describe(0), describe(i))
		}
	}
	return describe(0)
}

func (f *finisher) reportCollective(format string, args ...any) {
	if p := &f.t.Problems; len(p.Collectives) < listed {
		p.Collectives = append(p.Collectives, fmt.Sprintf(format, args...))
	}
}

func (f *finisher) commName(comm int) string {
	if name := f.t.Comms[comm].Name; name != "" {
		return name
	}
	return fmt.Sprintf("communicator %d", comm)
}
