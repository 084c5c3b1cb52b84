package timeline

import (
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// TestOddTeams: what does not fit a fork of the master is counted, and the rest is as it would be without.
func TestOddTeams(t *testing.T) {
	for _, c := range []struct {
		name       string
		steps      func(master, worker *LocationBuilder)
		teams      []Span
		members    []int // of each team
		unbalanced int64
		notes      []string
	}{
		{"no fork", func(m, w *LocationBuilder) { w.TeamBegin(1); w.TeamEnd(2) }, nil, nil, 0,
			[]string{"1 parts of threads in parallel regions without a fork, left out (on rank 0)"}},
		{"a part before the fork", func(m, w *LocationBuilder) {
			w.TeamBegin(1)
			w.TeamEnd(2)
			m.Fork(3)
			m.Join(5)
		}, []Span{{3, 5}}, []int{0}, 0, []string{"1 parts of threads in parallel regions without a fork, left out (on rank 0)"}},
		{"two parts in one team", func(m, w *LocationBuilder) {
			m.Fork(1)
			w.TeamBegin(2)
			w.TeamEnd(3)
			w.TeamBegin(4)
			w.TeamEnd(5)
			m.Join(6)
		}, []Span{{1, 6}}, []int{1}, 0, []string{"1 parts of threads in parallel regions without a fork, left out (on rank 0)"}},
		{"recording off", func(m, w *LocationBuilder) { // and on before the join of a team that was forked meanwhile
			m.Fork(1)
			w.TeamBegin(1)
			for _, l := range []*LocationBuilder{m, w} {
				l.Off(4, 0)
				l.On(8)
			}
			w.TeamBegin(8)
			w.TeamEnd(9)
			m.Join(9)
		}, []Span{{1, 4}}, []int{1}, 0, nil},
		{"nested forks", func(m, w *LocationBuilder) {
			m.Fork(1)
			m.TeamBegin(1)
			m.Fork(2)
			m.Join(3)
			m.TeamEnd(4)
			m.Join(5)
			w.TeamBegin(2)
			w.Fork(3)
			w.TeamEnd(4)
		}, []Span{{1, 5}}, []int{2}, 0, []string{"2 parallel regions inside of others, left out (on rank 0)"}},
		{"a join too many", func(m, w *LocationBuilder) { m.Join(1); m.Fork(2); m.Join(3) }, []Span{{2, 3}}, []int{0}, 1, nil},
		{"never joined", func(m, w *LocationBuilder) { m.Fork(2); w.TeamBegin(3); m.Event(9) }, []Span{{2, 9}}, []int{1}, 1, nil},
		{"cut while it is forked", func(m, w *LocationBuilder) { m.Fork(2); m.Event(9); m.SetTruncated() }, []Span{{2, 9}}, []int{0}, 0, nil},
	} {
		b := NewBuilder(1)
		b.Region(NotRecorded)
		c.steps(b.Location(0, 0, "", ""), b.Location(0, 1, "", ""))
		tl := b.Finish(1)
		var teams []Span
		var members []int
		for i := range tl.Teams {
			teams, members = append(teams, Span{tl.Teams[i].Fork, tl.Teams[i].Join}), append(members, len(tl.Teams[i].Members))
		}
		if !slices.Equal(teams, c.teams) || !slices.Equal(members, c.members) {
			t.Errorf("%s: teams %v of %v members, want %v of %v", c.name, teams, members, c.teams, c.members)
		}
		if diff := gocmp.Diff(Problems{Unbalanced: c.unbalanced, Notes: c.notes}, tl.Problems); diff != "" {
			t.Errorf("%s: problems (-want +got):\n%s", c.name, diff)
		}
	}
}
