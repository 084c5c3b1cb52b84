package waits

import (
	"slackline/analyze/devices"
	"slackline/analyze/profile"
	"slackline/model/unit"
)

// devicePath follows the critical path of a run with streams: local paths, from one process to the next where one waited for another.
type devicePath struct {
	a        *analysis
	rank     int
	shares   map[profile.Place]unit.Duration
	segments []Segment // the last one first
	owned    unit.Duration
	next     int // wait state where the path changes to another process, -1: none
}

// Path implements devices.Owners.
func (p *devicePath) Path(path int32, from, to unit.Duration) bool {
	p.shares[profile.Place{Rank: p.rank, Path: path}] += to - from
	p.owned += to - from
	return true
}

// Wait implements devices.Owners.
func (p *devicePath) Wait(state int32, _, _ unit.Duration) bool {
	p.next = int(state)
	return false
}

// walkDevices walks back from the last event of the run.
func (a *analysis) walkDevices() ([]Segment, []CriticalShare) {
	p := &devicePath{a: a, shares: map[profile.Place]unit.Duration{}}
	at, now := int32(0), unit.Duration(0)
	for l := range a.tl.Locations {
		if last := a.tl.Locations[l].Last; l == 0 || last > now {
			at, now = int32(l), last
		}
	}
	walk := a.devices.run.FromCall(at, now)
	if s := a.streamOf(at); s >= 0 {
		walk = a.devices.run.FromInside(devices.Op{At: s, Index: int32(a.calls(at).Len() - 1)}, now)
	}
	used := map[int]bool{}
	for {
		p.rank, p.next, p.owned = a.rankOf(at), -1, 0
		walk.Back(a.devices.starts[p.rank], p)
		came, metric := min(a.devices.starts[p.rank], now), None
		if p.next >= 0 {
			s := &a.states[p.next]
			came, metric = min(a.calls(s.cause).Enter[s.causeCall], now), s.metric
		}
		if came < now {
			p.segments = append(p.segments, Segment{Location: a.masters[p.rank], From: came, To: now, Metric: metric})
			if rest := now - came - p.owned; rest > 0 {
				p.shares[profile.Place{Rank: p.rank}] += rest
			}
		}
		if p.next < 0 || used[p.next] {
			break
		}
		used[p.next] = true
		s := &a.states[p.next]
		at, now = s.cause, came
		if stream := a.streamOf(at); stream >= 0 {
			walk = a.devices.run.FromStart(devices.Op{At: stream, Index: s.causeCall})
		} else {
			walk = a.devices.run.FromCall(at, now)
		}
	}
	var list []CriticalShare
	for place, t := range p.shares {
		list = append(list, CriticalShare{place, t})
	}
	return p.segments, list
}
