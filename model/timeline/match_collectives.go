package timeline

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"slackline/internal/spill"
	"slackline/model/unit"
)

// series are the collectives of a communicator, or of a window, a file, or the two sides of a connection.
type series struct {
	scope        Scope
	object, comm int32
	of           [][]ref // by rank in the communicator, in order of issue
	complete     int     // instances that every member has
	longest      int     // instances that some member has
	mismatched   []int   // complete ones whose members disagree
	nonMembers   int64   // collectives of ranks that are not members
	cut          int64   // instances that some member did not record
}

// instancesPerTask is how many instances are written into the timeline at a time.
const instancesPerTask = 1 << 12

// matchCollectives finds the instances: the k-th collective that a rank issues on a communicator, window or file
// belongs with the k-th of every other member.
func (f *finisher) matchCollectives() {
	runs := make([][]run, len(f.locations))
	f.each(len(f.locations), func(i int) { runs[i] = f.collectivesOf(int32(i)) })
	on := byKey(runs, f.t.Series())
	all := make([]series, f.t.Series())
	f.each(len(all), func(k int) { all[k] = f.seriesOf(k, on[k]) })
	counts := f.joinCounts()

	type task struct{ series, from, to, collective, member int }
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
	f.t.Collectives = spill.Make[Collective](f.t.Space, collectives, collectives)
	f.t.Members = spill.Make[Member](f.t.Space, members, members)
	f.each(len(tasks), func(i int) {
		k := tasks[i]
		f.fillCollectives(&all[k.series], k.from, k.to, k.collective, k.member, counts)
	})
}

// collectivesOf groups the collectives of a location by series.
func (f *finisher) collectivesOf(location int32) []run {
	l := f.locations[location]
	return runsOf(f.t.Space, location, len(l.collectives), f.t.Series(), func(i int) int32 { return f.seriesOfMember(&l.collectives[i]) })
}

// seriesOfMember is the series that a member of a collective counts in, -1 if there is none.
func (f *finisher) seriesOfMember(m *member) int32 {
	if m.state != done && m.state != skipped || m.scope == ByConnection && (m.issue < 0 || !f.isInter(m.comm)) {
		return -1
	}
	return int32(f.t.series(m.scope, m.comm))
}

// isInter reports whether a communicator joins two groups.
func (f *finisher) isInter(comm int32) bool {
	return comm >= 0 && int(comm) < len(f.t.Comms) && len(f.t.Comms[comm].Remote) > 0
}

func (f *finisher) member(r ref) *member { return &f.locations[r.location].collectives[r.record] }

// seriesOf puts the runs of a series into the order of its members and compares them. Communicators with one member of several
// ranks have no instances; those of a run of one rank have them, for with more ranks they would be collectives of all.
func (f *finisher) seriesOf(number int, runs []run) series {
	var s series
	s.scope, s.object, s.comm = f.t.scopeOf(number)
	if s.comm < 0 || int(s.comm) >= len(f.t.Comms) {
		return s
	}
	c := &f.t.Comms[s.comm]
	if len(runs) == 0 || c.Size() < 2 && f.t.Ranks > 1 {
		return s
	}
	s.of, s.complete = make([][]ref, c.Size()), math.MaxInt
	at := make(map[int]int, c.Size())
	cut := false
	for i := range s.of {
		at[int(c.Rank(i))] = i
		cut = cut || f.isCut(c.Rank(i))
	}
	for len(runs) > 0 {
		n := f.sameRank(runs)
		i, ok := at[f.locations[runs[0].location].rank]
		of := f.merge(runs[:n], func(r ref) unit.Duration { return f.member(r).issued })
		if runs = runs[n:]; !ok {
			s.nonMembers += int64(len(of))
			continue
		}
		if s.scope == ByConnection {
			of = of[:1] // a communicator is made once
		}
		s.of[i] = of
	}
	if cut {
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

// findAlone finds the calls of a rank for collectives that seriesOf leaves out because they need no other rank.
func (f *finisher) findAlone(location int32) {
	l := f.locations[location]
	for i := range l.collectives {
		m := &l.collectives[i]
		series := f.seriesOfMember(m)
		if series < 0 || m.state != done || m.issue < 0 || m.complete < 0 || f.t.Ranks < 2 {
			continue
		}
		if _, _, comm := f.t.scopeOf(int(series)); comm >= 0 && int(comm) < len(f.t.Comms) && f.t.Comms[comm].Size() < 2 {
			issuer := f.locations[location+int32(m.by)]
			issuer.alone = append(issuer.alone, m.issue)
			l.alone = append(l.alone, m.complete)
		}
	}
}

// agree reports whether all members call the same operation with the same root inside of calls.
func (f *finisher) agree(s *series, k int) bool {
	first := f.member(s.of[0][k])
	for _, of := range s.of {
		m := f.member(of[k])
		if m.op != first.op || m.issue < 0 || m.complete < 0 {
			return false
		}
	}
	_, ok := f.rootOf(s, k)
	return ok
}

// rootOf returns which of the members of an instance is the root, -1 if it has none; false if the members do not agree. Members of an
// intercommunicator agree within each group: the root, the others of its group, and the other group have each their own word for it.
func (f *finisher) rootOf(s *series, k int) (root int32, ok bool) {
	local := len(f.t.Comms[s.comm].Members)
	if local == len(s.of) {
		root = f.member(s.of[0][k]).root
		for _, of := range s.of {
			if f.member(of[k]).root != root {
				return -1, false
			}
		}
		return root, true
	}
	self, named := int32(-1), false
	for i, of := range s.of {
		switch r := f.member(of[k]).root; {
		case r == RootSelf && self >= 0:
			return -1, false
		case r == RootSelf:
			self = int32(i)
		case r >= 0:
			named = true
		}
	}
	if self < 0 {
		return -1, !named && f.sameRoots(s, k, 0, len(s.of))
	}
	ofRoot, others := [2]int{0, local}, [2]int{local, len(s.of)}
	if int(self) >= local {
		ofRoot, others = others, ofRoot
	}
	for i := ofRoot[0]; i < ofRoot[1]; i++ {
		if int32(i) != self && f.member(s.of[i][k]).root != RootGroup {
			return -1, false
		}
	}
	return self, f.member(s.of[others[0]][k]).root >= 0 && f.sameRoots(s, k, others[0], others[1])
}

// sameRoots reports whether members name the same root.
func (f *finisher) sameRoots(s *series, k, from, to int) bool {
	for i := from; i < to; i++ {
		if f.member(s.of[i][k]).root != f.member(s.of[from][k]).root {
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
func (f *finisher) fillCollectives(s *series, from, to, collective, member int, counts []int) {
	bad := s.mismatched
	for k := from; k < to; k++ {
		if _, skip := slices.BinarySearch(bad, k); skip {
			continue
		}
		first := f.member(s.of[0][k])
		root, _ := f.rootOf(s, k)
		f.t.Collectives[collective] = Collective{Op: first.op, Scope: s.scope, Comm: s.comm, Object: s.object, Root: root, First: member}
		collective++
		for _, of := range s.of {
			m := f.member(of[k])
			f.t.Members[member] = Member{
				Location: of[k].location, Issue: m.issue, Complete: m.complete, Seq: m.seq,
				Sent: m.sent, Received: m.received, Counts: f.countsOf(of[k].location, m, s, counts), IssuedBy: m.by,
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
	f.t.Counts = spill.Make[int64](f.t.Space, 0, total)
	for i, l := range f.locations {
		if begin[i] >= 0 {
			f.t.Counts = append(f.t.Counts, l.counts...)
		}
	}
	return begin
}

// countsOf is the index of the sizes by peer of a member; -1 if it has none or not so many as peers.
func (f *finisher) countsOf(location int32, m *member, s *series, begin []int) int32 {
	if m.counts < 0 || begin[location] < 0 {
		return -1
	}
	size := len(s.of)
	if c := &f.t.Comms[s.comm]; len(c.Remote) > 0 {
		if size = len(c.Members); f.groups[s.comm].inMembers[int32(f.locations[location].rank)] {
			size = len(c.Remote)
		}
	}
	if n := int(f.locations[location].counts[m.counts-1]); n != size && n != 2*size && !m.op.IsNeighbor() {
		return -1
	}
	return int32(begin[location]) + m.counts
}

// CountsOf returns the bytes by peer of a member: sent, or received if the operation has only those, and
// after them received ones if it has both; nil if they do not differ or are not known. Their number is
// that of the members (of the other group of an intercommunicator) or twice that, among neighbors any.
func (t *Timeline) CountsOf(m *Member) []int64 {
	if m.Counts < 0 {
		return nil
	}
	return t.Counts[m.Counts : int64(m.Counts)+t.Counts[m.Counts-1]]
}

// reportSeries describes what is wrong with the collectives of a communicator.
func (f *finisher) reportSeries(number int, s *series) {
	p := &f.t.Problems
	if s.comm < 0 || int(s.comm) >= len(f.t.Comms) || s.scope == ByConnection {
		return
	}
	comm := int(s.comm)
	if f.t.Part != nil && f.t.CommOwner(comm) != f.t.Part.Group.Rank() {
		return
	}
	defer f.tagReports(number, len(p.Collectives), len(p.Notes))
	p.IncompleteCollectives += int64(s.longest-s.complete) + int64(len(s.mismatched)) + s.nonMembers
	p.CutCollectives += s.cut
	name := f.seriesName(s)
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
			f.memberCall(next), f.t.Comms[comm].Rank(most), f.t.Comms[comm].Rank(least), s.complete)
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
	describe := func(i int) string {
		m := f.member(s.of[i][k])
		root := ""
		if m.root >= 0 {
			root = fmt.Sprintf(" with root %d", m.root)
		}
		return fmt.Sprintf("%s%s of rank %d", f.memberCall(s.of[i][k]), root, f.t.Comms[comm].Rank(i))
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

// seriesName names what the instances of a series are counted by.
func (f *finisher) seriesName(s *series) string {
	switch s.scope {
	case ByWindow:
		return fmt.Sprintf("window %s", cmp.Or(f.t.Windows[s.object].Name, fmt.Sprint(s.object)))
	case ByFile:
		return fmt.Sprintf("file %s", cmp.Or(f.t.Files[s.object].Name, fmt.Sprint(s.object)))
	}
	return f.commName(int(s.comm))
}

func (f *finisher) commName(comm int) string {
	if name := f.t.Comms[comm].Name; name != "" {
		return name
	}
	return fmt.Sprintf("communicator %d", comm)
}
