package profile

import (
	"slackline/model/timeline"
	"slackline/model/unit"
)

// Place is a call path on a rank, in JSON.
type Place struct {
	Rank     int    `json:"rank"`
	CallPath string `json:"callpath"`
}

// PlaceTime is a time of a call path on a rank, in JSON.
type PlaceTime struct {
	Place
	Seconds unit.Seconds `json:"seconds"`
}

// Place returns a call path on a rank in its JSON form.
func (p *Paths) Place(rank int, path int32) Place { return Place{rank, p.Names[path]} }

// PlaceTime returns a time of a call path on a rank in its JSON form.
func (p *Paths) PlaceTime(rank int, path int32, d unit.Duration) PlaceTime {
	return PlaceTime{p.Place(rank, path), unit.Seconds(d)}
}

// RunDocument describes a run in JSON.
type RunDocument struct {
	Ranks     int          `json:"ranks"`
	Locations int          `json:"locations"`
	Time      unit.Seconds `json:"time_s"`
	Simulated bool         `json:"simulated,omitempty"`
	Machine   string       `json:"machine,omitempty"`
	Grid      []int        `json:"grid,omitempty"`

	// If recording was off for a time: how long, summed over locations, and what was left out because of it.
	NotRecorded    unit.Seconds `json:"not_recorded_s,omitempty"`
	CutMessages    int64        `json:"cut_messages,omitempty"`
	CutCollectives int64        `json:"cut_collectives,omitempty"`

	NoCPU       unit.Seconds `json:"no_cpu_s,omitempty"`     // of all threads; left out if it is 0 or was not recorded
	NoCPUShare  float64      `json:"no_cpu_share,omitempty"` // of their lifetimes
	ForcedYield bool         `json:"forced_yield,omitempty"` // the recorder made MPI yield the CPU while it waits
}

// DescribeRun describes a run in its JSON form; the machine is that of a simulated run.
func DescribeRun(tl *timeline.Timeline, machine string) RunDocument {
	d := RunDocument{
		Ranks: tl.Ranks, Locations: len(tl.Locations), Time: unit.Seconds(tl.End - tl.Start), Simulated: tl.Simulated, Machine: machine,
		NotRecorded: unit.Seconds(max(tl.Unrecorded(), 0)), CutMessages: tl.Problems.CutMessages, CutCollectives: tl.Problems.CutCollectives,
		ForcedYield: tl.ForcedYield,
	}
	if lack, lifetime := tl.WithoutCPU(); lack > 0 {
		d.NoCPU, d.NoCPUShare = unit.Seconds(lack), float64(lack)/float64(lifetime)
	}
	if tl.Grid != nil {
		d.Grid = tl.Grid.Dims
	}
	return d
}

// Document is a profile in JSON. The names and meanings of its members stay as they are: other programs rely on them.
type Document struct {
	Composition []PartDocument       `json:"composition"`
	Efficiency  EfficiencyDocument   `json:"efficiency"`
	CallPaths   []EntryDocument      `json:"callpaths"`
	ByRank      []EntryDocument      `json:"callpaths_by_rank,omitempty"`
	Matrix      []Link               `json:"messages"`
	Sizes       []SizeBin            `json:"message_sizes"`
	Collectives []CollectiveDocument `json:"collectives"`
	Iterations  *IterationsDocument  `json:"iterations,omitempty"`
}

// PartDocument is the time of a kind of activity.
type PartDocument struct {
	Kind    string         `json:"kind"`
	Name    string         `json:"name"`
	Seconds unit.Seconds   `json:"seconds"`
	Share   float64        `json:"share"`
	ByRank  []unit.Seconds `json:"by_rank_s"`
}

// EfficiencyDocument are the POP efficiencies.
type EfficiencyDocument struct {
	Parallel      float64      `json:"parallel_efficiency"`
	LoadBalance   float64      `json:"load_balance"`
	Communication float64      `json:"communication_efficiency"`
	Serialization float64      `json:"serialisation_efficiency"`
	Transfer      float64      `json:"transfer_efficiency"`
	Ideal         unit.Seconds `json:"ideal_s"`
	Estimated     bool         `json:"ideal_is_estimate"`
	AverageUseful unit.Seconds `json:"average_useful_s"`
	MaxUseful     unit.Seconds `json:"max_useful_s"`
}

// EntryDocument is the profile of a call path, on a rank or summed over ranks.
type EntryDocument struct {
	Rank            *int         `json:"rank,omitempty"`
	CallPath        string       `json:"callpath"`
	Kind            string       `json:"kind"`
	Visits          *int64       `json:"visits,omitempty"`  // of counted calls
	Samples         *int64       `json:"samples,omitempty"` // of functions that samples found
	Exclusive       unit.Seconds `json:"exclusive_s"`
	Inclusive       unit.Seconds `json:"inclusive_s"`
	Sent            int64        `json:"messages_sent"`
	SentBytes       int64        `json:"bytes_sent"`
	Received        int64        `json:"messages_received"`
	ReceivedBytes   int64        `json:"bytes_received"`
	CollectiveBytes int64        `json:"collective_bytes"`
}

// CollectiveDocument is how often a collective was called on communicators of a size, and what it took.
type CollectiveDocument struct {
	Operation string       `json:"operation"`
	Ranks     int          `json:"ranks"`
	Calls     int64        `json:"calls"`
	Bytes     int64        `json:"bytes"`
	Seconds   unit.Seconds `json:"seconds"`
	First     unit.Seconds `json:"first_s"`
	Last      unit.Seconds `json:"last_s"`
	Over      []int64      `json:"over_time"`
}

// IterationsDocument are the iterations of a program.
type IterationsDocument struct {
	CallPath string              `json:"callpath"`
	Covers   bool                `json:"calls_are_iterations"`
	List     []IterationDocument `json:"list"`
}

// IterationDocument is one iteration.
type IterationDocument struct {
	Begin          unit.Seconds `json:"begin_s"`
	Duration       unit.Seconds `json:"duration_s"`
	Computation    unit.Seconds `json:"computation_s"`
	MaxComputation unit.Seconds `json:"max_computation_s"`
	MPI            unit.Seconds `json:"mpi_s"`
	Waiting        unit.Seconds `json:"waiting_s"`
}

// TimeParts is into how many parts the run is divided to show when collectives happen.
const TimeParts = 50

// Document returns the profile in its JSON form, with the entries by rank if they are wanted and iterations if there are any.
func (p *Profile) Document(c *Composition, e *Efficiency, it *Iterations, byRank bool) Document {
	d := Document{
		CallPaths: p.documents(p.ByPath), Matrix: append([]Link{}, p.Matrix()...), Sizes: append([]SizeBin{}, p.Sizes()...),
		Collectives: []CollectiveDocument{},
		Efficiency: EfficiencyDocument{
			e.Parallel, e.LoadBalance, e.Communication, e.Serialization, e.Transfer,
			unit.Seconds(e.Ideal), e.Estimated, unit.Seconds(e.AverageUseful), unit.Seconds(e.MaxUseful),
		},
	}
	for i, part := range c.Parts {
		entry := PartDocument{Kind: part.Kind.String(), Name: part.Name, Seconds: unit.Seconds(part.Time), Share: float64(part.Time) / float64(c.Total)}
		for _, rank := range c.ByRank {
			entry.ByRank = append(entry.ByRank, unit.Seconds(rank.Times[i]))
		}
		d.Composition = append(d.Composition, entry)
	}
	if byRank {
		d.ByRank = p.documents(p.Entries)
	}
	for _, u := range p.Collectives(TimeParts) {
		d.Collectives = append(d.Collectives, CollectiveDocument{
			u.Op.String(), u.Ranks, u.Calls, u.Bytes, unit.Seconds(u.Time), unit.Seconds(u.First), unit.Seconds(u.Last), u.Over,
		})
	}
	if it != nil {
		d.Iterations = &IterationsDocument{CallPath: p.Paths.Names[it.Path], Covers: it.Covers}
		for _, i := range it.List {
			d.Iterations.List = append(d.Iterations.List, IterationDocument{
				unit.Seconds(i.Begin), unit.Seconds(i.Duration), unit.Seconds(i.Computation), unit.Seconds(i.MaxComputation),
				unit.Seconds(i.MPI), unit.Seconds(i.Waiting),
			})
		}
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
			Exclusive: unit.Seconds(e.Exclusive), Inclusive: unit.Seconds(e.Inclusive), Sent: e.Sent.Count, SentBytes: e.Sent.Bytes,
			Received: e.Received.Count, ReceivedBytes: e.Received.Bytes, CollectiveBytes: e.Collective.Bytes,
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
