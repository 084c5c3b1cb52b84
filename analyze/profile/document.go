package profile

import (
	"slices"

	"slackline/model/missing"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// Place is a call path on a rank.
type Place struct {
	Rank     int    `json:"rank"`
	Path     int32  `json:"-"` // number in Paths; 0: in no call
	CallPath string `json:"callpath"`
}

// Place returns a call path on a rank.
func (p *Paths) Place(rank int, path int32) Place { return Place{rank, path, p.Names[path]} }

// Name sets the name of the call path.
func (p *Place) Name(paths *Paths) { p.CallPath = paths.Names[p.Path] }

// Say names the call path in a sentence.
func (p *Place) Say() string {
	if p.Path == 0 {
		return "no call"
	}
	return p.CallPath
}

// RunDocument describes a run in JSON.
type RunDocument struct {
	Ranks     int           `json:"ranks"`
	Locations int           `json:"locations"`
	Time      unit.Duration `json:"time_s"`
	Before    unit.Duration `json:"left_out_before_s,omitempty"` // of the start of MPI, which is left out
	After     unit.Duration `json:"left_out_after_s,omitempty"`  // of its end

	// Of the start and the end of MPI, if they were not left out.
	KeptBefore unit.Duration `json:"kept_before_s,omitempty"`
	KeptAfter  unit.Duration `json:"kept_after_s,omitempty"`
	Machine    string        `json:"machine,omitempty"`
	Grid       []int         `json:"grid,omitempty"`

	// If recording was off for a time: how long, summed over locations, and what was left out because of it.
	NotRecorded    unit.Sum `json:"not_recorded_s,omitzero"`
	CutMessages    int64    `json:"cut_messages,omitempty"`
	CutCollectives int64    `json:"cut_collectives,omitempty"`

	missing.Parts
	RanksRead int `json:"ranks_read,omitempty"` // fewer than all: averages are those of these ranks

	NoCPU       unit.Sum `json:"no_cpu_s,omitzero"`      // of all threads; left out if it is 0 or was not recorded
	NoCPUShare  float64  `json:"no_cpu_share,omitempty"` // of their lifetimes, while they were recorded
	ForcedYield bool     `json:"forced_yield,omitempty"` // the recorder made MPI yield the CPU while it waits
}

// DescribeRun describes a run in its JSON form, of which parts are missing; the machine is that of a simulated run.
func DescribeRun(tl *timeline.Timeline, machine string, parts missing.Parts) RunDocument {
	d := RunDocument{
		Ranks: tl.Ranks, Locations: len(tl.Locations), Time: tl.End - tl.Start, Before: tl.LeftOut.Before, After: tl.LeftOut.After,
		Machine: machine, Parts: parts,
		CutMessages: tl.Problems.CutMessages, CutCollectives: tl.Problems.CutCollectives,
		ForcedYield: tl.ForcedYield,
	}
	if off := tl.Unrecorded(); off.Sign() > 0 {
		d.NotRecorded = off
	}
	if !tl.LeftOut.Any() {
		kept := tl.MPIStart()
		d.KeptBefore, d.KeptAfter = kept.Before, kept.After
	}
	if n := len(tl.RanksRead()); n < tl.Ranks {
		d.RanksRead = n
	}
	if lack, lifetime := tl.WithoutCPU(); lack.Sign() > 0 {
		d.NoCPU, d.NoCPUShare = lack, lack.Over(lifetime)
	}
	if tl.Grid != nil {
		d.Grid = tl.Grid.Dims
	}
	return d
}

// Document is a profile in JSON. The names and meanings of its members stay as they are: other programs rely on them.
type Document struct {
	Composition []Part          `json:"composition"`
	Efficiency  *Efficiency     `json:"efficiency"`
	Counts      *Counts         `json:"computation,omitempty"` // of runs with counters
	CallPaths   []EntryDocument `json:"callpaths"`
	ByRank      []EntryDocument `json:"callpaths_by_rank,omitempty"`
	Matrix      []Link          `json:"messages"`
	Sizes       []SizeBin       `json:"message_sizes"`
	Collectives []CollectiveUse `json:"collectives"`
	Iterations  *Iterations     `json:"iterations,omitempty"`
}

// EntryDocument is the profile of a call path, on a rank or summed over ranks.
type EntryDocument struct {
	Rank            *int     `json:"rank,omitempty"`
	CallPath        string   `json:"callpath"`
	Kind            string   `json:"kind"`
	Visits          *int64   `json:"visits,omitempty"`  // of counted calls
	Samples         *int64   `json:"samples,omitempty"` // of functions that samples found
	Exclusive       unit.Sum `json:"exclusive_s"`
	Inclusive       unit.Sum `json:"inclusive_s"`
	Sent            int64    `json:"messages_sent"`
	SentBytes       int64    `json:"bytes_sent"`
	Received        int64    `json:"messages_received"`
	ReceivedBytes   int64    `json:"bytes_received"`
	CollectiveBytes int64    `json:"collective_bytes"`

	Counters map[string]int64 `json:"counters,omitempty"` // in it, and in nothing that it called
}

// TimeDocument is the time of a call path, summed over ranks.
type TimeDocument struct {
	CallPath  string   `json:"callpath"`
	Exclusive unit.Sum `json:"exclusive_s"`
}

// Times are the times of all call paths in their JSON form.
func (p *Profile) Times() []TimeDocument {
	list := make([]TimeDocument, len(p.ByPath))
	for i := range p.ByPath {
		list[i] = TimeDocument{p.Paths.Names[p.ByPath[i].Path], p.ByPath[i].Exclusive}
	}
	return list
}

// TimeParts is into how many parts the run is divided to show when collectives happen.
const TimeParts = 50

// Document returns the profile in its JSON form, with the entries by rank if they are wanted and iterations if there are any. Moments
// count from the start of the run, whatever its clock says.
func (p *Profile) Document(c *Composition, e *Efficiency, counts *Counts, it *Iterations, byRank bool) Document {
	d := Document{
		CallPaths: p.documents(p.ByPath), Matrix: append([]Link{}, p.Matrix()...), Sizes: append([]SizeBin{}, p.Sizes()...),
		Collectives: append([]CollectiveUse{}, p.Collectives(TimeParts)...), Composition: c.Parts, Efficiency: e, Counts: counts,
	}
	origin := p.Timeline.Origin()
	for i := range d.Collectives {
		d.Collectives[i].First -= origin
		d.Collectives[i].Last -= origin
	}
	if it != nil {
		since := *it
		since.List = slices.Clone(it.List)
		for i := range since.List {
			since.List[i].Begin -= origin
		}
		d.Iterations = &since
	}
	if byRank {
		d.ByRank = p.documents(p.Entries)
	}
	return d
}

// documents returns entries in their JSON form.
func (p *Profile) documents(entries []Entry) []EntryDocument {
	list := make([]EntryDocument, 0, len(entries))
	for i := range entries {
		e := &entries[i]
		d := EntryDocument{
			CallPath: p.Paths.Names[e.Path], Kind: KindOf(&p.Paths.Region[e.Path]).String(),
			Exclusive: e.Exclusive, Inclusive: e.Inclusive, Sent: e.Sent.Count, SentBytes: e.Sent.Bytes,
			Received: e.Received.Count, ReceivedBytes: e.Received.Bytes, CollectiveBytes: e.Collective.Bytes,
			Counters: p.countsOf(e),
		}
		if e.Rank >= 0 {
			d.Rank = &e.Rank
		}
		switch {
		case p.Counted(e):
			d.Visits = &e.Visits
		case e.Pieces > 0:
			d.Samples = &e.Samples
		}
		list = append(list, d)
	}
	return list
}
