package columns

import (
	"fmt"

	"slackline/analyze/profile"
	"slackline/analyze/waits"
	"slackline/internal/columnfile"
	"slackline/model/unit"
)

// ps is a sum in a column of picoseconds.
func ps[T any](w *columnfile.Writer[T], s unit.Sum) int64 {
	if !s.Fits() {
		w.Fail(fmt.Errorf("%s of one rank and call path are more than a column of picoseconds holds (106 days); take them from the JSON "+
			"results of waits and profile", s.Short()))
	}
	return int64(s.Duration())
}

type stateRow struct {
	Metric      string  `parquet:"metric,dict" meaning:"the wait state, see 'slackline explain'"`
	Part        *string `parquet:"part,optional,dict" meaning:"the sub-state that it belongs to"`
	Rank        int32   `parquet:"rank" meaning:"rank that waited"`
	Thread      int32   `parquet:"thread" meaning:"its thread; 0: the master"`
	CallPath    string  `parquet:"callpath,dict" meaning:"call path in which it waited"`
	Call        int32   `parquet:"call,delta" meaning:"number of the call that waited, see calls"`
	Start       int64   `parquet:"start_ps,delta" meaning:"when it began to wait"`
	Time        int64   `parquet:"wait_ps" meaning:"how long it waited"`
	LateRank    int32   `parquet:"late_rank" meaning:"rank that was late"`
	LateThread  int32   `parquet:"late_thread" meaning:"its thread"`
	LatePath    string  `parquet:"late_callpath,dict" meaning:"call path of the operation that was late"`
	OriginRank  *int32  `parquet:"origin_rank,optional" meaning:"rank where the chain of the largest causes begins"`
	OriginPath  *string `parquet:"origin_callpath,optional,dict" meaning:"call path where it begins"`
	IsUncertain bool    `parquet:"uncertain" meaning:"shorter than the error of the clocks"`
}

func eachState(r *Run, w *columnfile.Writer[stateRow]) {
	names := r.Waits.Paths.Names
	r.Waits.EachState(func(s *waits.State) {
		call, _, _ := r.Waits.CallsOf(s.Number())
		row := stateRow{
			Metric: s.Metric.String(), Rank: int32(s.Rank), Thread: int32(s.Thread), CallPath: names[s.Path], Call: call,
			Start: int64(s.At), Time: int64(s.Amount), LateRank: int32(s.Cause), LateThread: int32(s.CauseThread), LatePath: names[s.CausePath],
			IsUncertain: s.Uncertain,
		}
		if s.Sub != waits.None {
			row.Part = new(s.Sub.String())
		}
		if s.Number() < len(r.Origins) && r.Origins[s.Number()].Rank >= 0 {
			o := r.Origins[s.Number()]
			row.OriginRank, row.OriginPath = new(o.Rank), new(names[o.Path])
		}
		w.Add(row)
	})
}

type waitRow struct {
	Metric      string  `parquet:"metric,dict" meaning:"the wait state, see 'slackline explain'"`
	PartOf      *string `parquet:"part_of,optional,dict" meaning:"of a sub-state: the wait state whose time has it already; leave it out of sums"`
	Rank        int32   `parquet:"rank" meaning:"rank that waited"`
	CallPath    string  `parquet:"callpath,dict" meaning:"call path in which it waited"`
	Count       int64   `parquet:"count" meaning:"number of wait states"`
	Time        int64   `parquet:"wait_ps" meaning:"how long it waited"`
	Direct      int64   `parquet:"direct_ps" meaning:"caused by what others did"`
	Indirect    int64   `parquet:"indirect_ps" meaning:"caused by waits of others"`
	Propagating int64   `parquet:"propagating_ps" meaning:"caused waits of others later"`
	Terminal    int64   `parquet:"terminal_ps" meaning:"caused none"`
}

func eachWait(r *Run, w *columnfile.Writer[waitRow]) {
	for i := range r.Waits.Waits {
		s := &r.Waits.Waits[i]
		row := waitRow{
			Metric: s.Metric.String(), Rank: int32(s.Rank), CallPath: r.Waits.Paths.Names[s.Path], Count: s.Count, Time: ps(w, s.Amount),
			Direct: ps(w, s.Direct), Indirect: ps(w, s.Indirect), Propagating: ps(w, s.Propagating), Terminal: ps(w, s.Terminal),
		}
		if s.PartOf != waits.None {
			row.PartOf = new(s.PartOf.String())
		}
		w.Add(row)
	}
}

type delayRow struct {
	Rank     int32  `parquet:"rank" meaning:"rank that made others wait"`
	CallPath string `parquet:"callpath,dict" meaning:"call path in which it was late"`
	Metric   string `parquet:"metric,dict" meaning:"wait state of those who waited"`
	Short    int64  `parquet:"short_ps" meaning:"waiting that it caused directly"`
	Long     int64  `parquet:"long_ps" meaning:"waiting that it caused through further waits"`
}

func eachDelay(r *Run, w *columnfile.Writer[delayRow]) {
	for i := range r.Waits.Delays {
		d := &r.Waits.Delays[i]
		for _, cost := range d.ByWait {
			w.Add(delayRow{
				Rank: int32(d.Rank), CallPath: r.Waits.Paths.Names[d.Path], Metric: cost.Metric.String(),
				Short: ps(w, cost.Short), Long: ps(w, cost.Long),
			})
		}
	}
}

type segmentRow struct {
	Rank   int32   `parquet:"rank" meaning:"rank that was critical"`
	Thread int32   `parquet:"thread" meaning:"its thread; 0: the master"`
	From   int64   `parquet:"from_ps,delta" meaning:"start of the segment"`
	To     int64   `parquet:"to_ps,delta" meaning:"end of the segment"`
	After  *string `parquet:"after,optional,dict" meaning:"the wait state of another location that the segment before this one ended"`
}

func eachSegment(r *Run, w *columnfile.Writer[segmentRow]) {
	for i := range r.Critical.Segments {
		s := &r.Critical.Segments[i]
		row := segmentRow{Rank: int32(s.Rank), Thread: int32(s.Thread), From: int64(s.From), To: int64(s.To)}
		if s.Metric != waits.None {
			row.After = new(s.Metric.String())
		}
		w.Add(row)
	}
}

type shareRow struct {
	Rank     int32  `parquet:"rank" meaning:"rank that was critical"`
	CallPath string `parquet:"callpath,dict" meaning:"call path in which it was"`
	Time     int64  `parquet:"critical_ps" meaning:"time on the critical path"`
}

func eachShare(r *Run, w *columnfile.Writer[shareRow]) {
	for i := range r.Critical.Shares {
		s := &r.Critical.Shares[i]
		w.Add(shareRow{Rank: int32(s.Rank), CallPath: r.Waits.Paths.Names[s.Path], Time: int64(s.Time)})
	}
}

type entryRow struct {
	Rank             int32  `parquet:"rank" meaning:"rank in MPI_COMM_WORLD"`
	CallPath         string `parquet:"callpath,dict" meaning:"names from the outermost call on, joined by /"`
	Kind             string `parquet:"kind,dict" meaning:"kind of activity, as in 'slackline profile'"`
	Visits           *int64 `parquet:"visits,optional" meaning:"calls, where they are counted"`
	Samples          *int64 `parquet:"samples,optional" meaning:"samples that saw it, where its calls are not counted"`
	Exclusive        int64  `parquet:"exclusive_ps" meaning:"time in it, over all threads"`
	Inclusive        int64  `parquet:"inclusive_ps" meaning:"time in it and in what it called"`
	MessagesSent     int64  `parquet:"messages_sent" meaning:"messages that it sent"`
	SentBytes        int64  `parquet:"sent_bytes" meaning:"bytes of these"`
	MessagesReceived int64  `parquet:"messages_received" meaning:"messages that it received"`
	ReceivedBytes    int64  `parquet:"received_bytes" meaning:"bytes of these"`
	CollectiveBytes  int64  `parquet:"collective_bytes" meaning:"bytes that it sent and received in collectives"`
}

func eachEntry(r *Run, w *columnfile.Writer[entryRow]) {
	paths := r.Waits.Paths
	for i := range r.Profile.Entries {
		e := &r.Profile.Entries[i]
		row := entryRow{
			Rank: int32(e.Rank), CallPath: paths.Names[e.Path], Kind: profile.KindOf(&paths.Region[e.Path]).String(),
			Exclusive: ps(w, e.Exclusive), Inclusive: ps(w, e.Inclusive),
			MessagesSent: e.Sent.Count, SentBytes: e.Sent.Bytes, MessagesReceived: e.Received.Count, ReceivedBytes: e.Received.Bytes,
			CollectiveBytes: e.Collective.Bytes,
		}
		if r.Profile.Counted(e) {
			row.Visits = &e.Visits
		} else {
			row.Samples = &e.Samples
		}
		w.Add(row)
	}
}
