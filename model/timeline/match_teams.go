package timeline

import (
	"slices"

	"slackline/model/unit"
)

// segment is a part of a worker's calls, from .. to-1, that lies below a call path of its master; base
// is a path of the master's own tree.
type segment struct {
	from, to   int32
	fork, join unit.Duration // of the team, while the thread lived
	base       PathID
	branch     int // of the location's tree, see branches
}

// matchTeams finds the threads of every parallel region. It leaves paths of the masters' own trees
// in Team.Base; joinPaths replaces them.
func (f *finisher) matchTeams() {
	teams := make([][]Team, f.t.Ranks)
	f.each(f.t.Ranks, func(rank int) { teams[rank] = f.teamsOf(f.byRank[rank]) })
	f.t.Teams = slices.Concat(teams...)
}

// teamsOf finds the teams of the locations of a rank.
func (f *finisher) teamsOf(locations []int32) []Team {
	if len(locations) == 0 {
		return nil
	}
	teams := f.forks(locations[0])
	for _, location := range locations {
		f.joinTeams(teams, location, location == locations[0])
	}
	return teams
}

// forks finds the parallel regions that a master begins. Those inside another one are left out.
func (f *finisher) forks(master int32) []Team {
	l := f.locations[master]
	var teams []Team
	depth := 0
	for _, m := range l.teams {
		switch m.kind {
		case fork:
			if depth++; depth > 1 {
				l.nestedForks++
				continue
			}
			t := Team{Master: master, Fork: m.time, ForkPlace: m.place}
			if m.place.Open >= 0 {
				t.Base = l.calls.Path[m.place.Open]
			}
			teams = append(teams, t)
		case join, teamsOff:
			if depth == 0 {
				if !l.cut { // else it was forked when recording was off
					l.unbalanced++
				}
				continue
			}
			if depth--; depth == 0 || m.kind == teamsOff {
				t := &teams[len(teams)-1]
				t.Join, t.JoinPlace, depth = m.time, m.place, 0
			}
		}
	}
	if depth > 0 {
		if !l.truncated {
			l.unbalanced++
		}
		t := &teams[len(teams)-1]
		t.Join, t.JoinPlace = l.last, l.end()
	}
	return teams
}

// end is the place after the last call.
func (l *LocationBuilder) end() Place { return Place{Next: int32(len(l.calls.Enter)), Open: -1} }

// joinTeams makes a location a member of the teams that it took part in: a part belongs to the last
// fork before it, unless that team has joined: then its own was forked when recording was off.
func (f *finisher) joinTeams(teams []Team, location int32, master bool) {
	l := f.locations[location]
	forks, joined := 0, -1
	for i := 0; i < len(l.teams); i++ {
		m := l.teams[i]
		switch {
		case m.kind == fork && master:
			if forks < len(teams) && teams[forks].ForkPlace == m.place && teams[forks].Fork == m.time {
				forks++
			}
			continue
		case m.kind == fork:
			l.nestedForks++
			continue
		case m.kind != teamBegin:
			continue
		}
		if !master {
			for forks < len(teams) && teams[forks].Fork <= m.time {
				forks++
			}
		}
		end, to := f.teamEnd(l, i)
		if !master {
			l.nestedForks += int64(countForks(l.teams[i : to+1]))
		}
		if i = to; forks == 0 || forks-1 == joined || teams[forks-1].Join < m.time {
			if !l.cut {
				l.oddTeams++
			}
			continue
		}
		joined = forks - 1
		t := &teams[joined]
		t.Members = append(t.Members, TeamMember{
			Location: location, Begin: m.time, End: end.time, BeginPlace: m.place, EndPlace: end.place,
		})
		if !master {
			in := teamTime(l.alive, t, m.time)
			l.segments = append(l.segments, segment{from: m.place.Next, to: end.place.Next, fork: in.From, join: in.To, base: t.Base})
		}
	}
	if len(l.segments) > 0 && len(l.lacks) > 0 {
		l.segmentLacks()
	}
}

// countForks counts the parallel regions that begin.
func countForks(marks []teamMark) (n int) {
	for _, m := range marks {
		if m.kind == fork {
			n++
		}
	}
	return n
}

// teamEnd finds the end of the part that begins at mark i, and its index.
func (f *finisher) teamEnd(l *LocationBuilder, i int) (teamMark, int) {
	depth := 0
	for j := i; j < len(l.teams); j++ {
		switch l.teams[j].kind {
		case teamBegin:
			depth++
		case teamEnd:
			if depth--; depth == 0 {
				return l.teams[j], j
			}
		case teamsOff:
			return l.teams[j], j
		}
	}
	return teamMark{time: l.last, place: l.end()}, len(l.teams) - 1
}
