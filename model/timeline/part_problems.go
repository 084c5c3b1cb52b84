package timeline

import (
	"cmp"
	"slices"

	"slackline/internal/cluster"
	"slackline/model/unit"
)

// commReport is a sentence about the collectives of a communicator.
type commReport struct {
	Comm int
	Note bool // it belongs to the notes
	Text string
}

// tagReports remembers which communicator the reports from certain ones on are about, if this is a part: process 0
// puts them in order.
func (f *finisher) tagReports(comm, collectives, notes int) {
	if f.t.Part == nil {
		return
	}
	p := &f.t.Problems
	for _, text := range p.Notes[notes:] {
		f.reports = append(f.reports, commReport{comm, true, text})
	}
	for _, text := range p.Collectives[collectives:] {
		f.reports = append(f.reports, commReport{comm, false, text})
	}
	p.Notes = p.Notes[:notes]
}

// ownSummary is what a process tells all others about its locations, and process 0 about what does not fit together.
type ownSummary struct {
	Locations []locationSummary
	Problems  Problems
	Reports   []commReport
	Odds      [][3]int64
}

type locationSummary struct {
	First, Last, ClockError unit.Duration
	OffSince, OffTime       unit.Duration
	Truncated, Cut          bool
	Off, BornOff            bool
	Alive                   []Span
	Lack                    unit.Duration // without a CPU
}

// sumUp sends all processes when the locations begin and end, and brings together at process 0 what does not fit.
func (x *partExchange) sumUp() error {
	x.countEarly()
	own := ownSummary{Problems: x.t.Problems, Reports: x.reports}
	own.Problems.Notes, own.Problems.MissingRanks, own.Problems.Collectives = nil, nil, nil
	for _, l := range x.locations[x.First:x.Last] {
		own.Locations = append(own.Locations, locationSummary{
			l.first, l.last, l.clockError, l.offSince, l.offTime, l.truncated, l.cut, l.off, l.bornOff, l.alive,
			lackOf(l.lacks),
		})
		own.Problems.Unbalanced += l.unbalanced
		own.Problems.PendingRequests += l.pending
	}
	for _, c := range x.ownOdds() {
		own.Odds = append(own.Odds, [3]int64{c.total, c.ranks, c.first})
	}
	all, err := cluster.AllGatherValues(x.ctx, x.Group, &own)
	if err != nil {
		return err
	}
	at := 0
	for p := range all {
		if at+len(all[p].Locations) > len(x.locations) {
			return cluster.ErrGarbled
		}
		for _, s := range all[p].Locations {
			if l := x.locations[at]; !x.here(int32(at)) {
				l.first, l.last, l.clockError, l.truncated = s.First, s.Last, s.ClockError, s.Truncated
				l.cut, l.off, l.bornOff, l.offSince, l.offTime = s.Cut, s.Off, s.BornOff, s.OffSince, s.OffTime
				l.alive, l.lack = s.Alive, s.Lack
			}
			at++
		}
	}
	x.joinProblems(all)
	return nil
}

// ownOdds counts what the locations here found odd.
func (x *partExchange) ownOdds() []oddCount {
	own := *x.finisher
	own.locations = x.locations[x.First:x.Last]
	return own.oddCounts()
}

// joinProblems makes the problems of the whole run out of those of all processes.
func (x *partExchange) joinProblems(all []ownSummary) {
	p := &x.t.Problems
	sum := Problems{MissingRanks: p.MissingRanks, LostFiles: p.LostFiles, Notes: p.Notes}
	counts := make([]oddCount, len(odds))
	var reports []commReport
	for i := range all {
		o := &all[i].Problems
		sum.UnmatchedSends += o.UnmatchedSends
		sum.UnmatchedReceives += o.UnmatchedReceives
		sum.Sends = append(sum.Sends, o.Sends...)
		sum.Receives = append(sum.Receives, o.Receives...)
		sum.IncompleteCollectives += o.IncompleteCollectives
		sum.CutMessages += o.CutMessages
		sum.CutCollectives += o.CutCollectives
		sum.PendingRequests += o.PendingRequests
		sum.Violations += o.Violations
		sum.EarlyCollectives += o.EarlyCollectives
		sum.WorstViolation = max(sum.WorstViolation, o.WorstViolation)
		sum.Unbalanced += o.Unbalanced
		reports = append(reports, all[i].Reports...)
		for k := range min(len(counts), len(all[i].Odds)) {
			odd := all[i].Odds[k]
			if c := &counts[k]; odd[0] > 0 {
				if c.total == 0 {
					c.first = odd[2]
				}
				c.total += odd[0]
				c.ranks += odd[1]
			}
		}
	}
	sum.Sends, sum.Receives = sum.Sends[:min(len(sum.Sends), listed)], sum.Receives[:min(len(sum.Receives), listed)]
	slices.SortStableFunc(reports, func(a, b commReport) int { return cmp.Compare(a.Comm, b.Comm) })
	for _, r := range reports {
		if r.Note {
			sum.Notes = append(sum.Notes, r.Text)
		} else if len(sum.Collectives) < listed {
			sum.Collectives = append(sum.Collectives, r.Text)
		}
	}
	*p = sum
	x.noteOdds(counts)
}
