// Package columns holds the tables of a run for data frames and query engines: what happened, and what the analyses find,
// as Parquet or Arrow files. Values are exact, in the unit that the suffix of their column names.
//
// Each table is a type of rows and a function that yields them. It computes no results.
package columns

import (
	"context"
	"io"
	"sync"

	"slackline/analyze/profile"
	"slackline/analyze/waits"
	"slackline/internal/columnfile"
	"slackline/model/timeline"
)

// Run is a run with what was found out about it.
type Run struct {
	Waits    *waits.Result
	Profile  *profile.Profile
	Critical *waits.CriticalPath
	Origins  []waits.Origin // by number of the wait state

	critical    sync.Once
	criticalErr error
}

// Table is a table of a run.
type Table struct {
	Name    string // of the file, without its suffix
	Meaning string
	Columns []columnfile.Column
	// Write writes all rows and returns their number. Stop is asked from time to time: its error ends the work.
	Write func(w io.Writer, f columnfile.Format, r *Run, stop func() error) (int64, error)
	// needs finds out what the rows hold beside what is known of every run; nil: nothing.
	needs func(r *Run, ctx context.Context) error
}

// Tables are the tables of a run. The longest comes first, so that the others are written beside it.
var Tables = []Table{
	table("calls", "all calls, by location in the order of their starts; a call comes before those inside it", eachCall),
	table("locations", "the threads of all ranks", eachLocation),
	table("messages", "point-to-point messages of which both ends were recorded", eachMessage),
	table("collectives", "collective operations, a row for each member", eachMember),
	table("wait_states", "single wait states of ranks and threads; idle threads are in waits only", eachState).with((*Run).findOrigins),
	table("waits", "waiting time by wait state, rank and call path", eachWait),
	table("delays", "what made others wait, by rank, call path and wait state", eachDelay),
	table("critical_path", "segments of the critical path, by time", eachSegment).with((*Run).findCritical),
	table("critical_profile", "time on the critical path by rank and call path", eachShare).with((*Run).findCritical),
	table("profile", "time, calls and traffic by rank and call path", eachEntry),
}

func table[T any](name, meaning string, rows func(r *Run, w *columnfile.Writer[T])) Table {
	return Table{
		Name: name, Meaning: meaning, Columns: columnfile.ColumnsOf[T](),
		Write: func(w io.Writer, f columnfile.Format, r *Run, stop func() error) (int64, error) {
			return columnfile.Write(w, f, name, stop, func(to *columnfile.Writer[T]) { rows(r, to) })
		},
	}
}

func (t Table) with(needs func(r *Run, ctx context.Context) error) Table {
	t.needs = needs
	return t
}

type locationRow struct {
	Rank       int32  `parquet:"rank" meaning:"rank in MPI_COMM_WORLD"`
	Thread     int32  `parquet:"thread" meaning:"thread of the rank; 0: its master"`
	Name       string `parquet:"name,dict" meaning:"name of the thread"`
	Host       string `parquet:"host,dict" meaning:"host that it ran on; empty: not known"`
	First      int64  `parquet:"first_ps" meaning:"time of its first event"`
	Last       int64  `parquet:"last_ps" meaning:"time of its last event"`
	Unrecorded int64  `parquet:"unrecorded_ps" meaning:"how long recording was off"`
	NoCPU      int64  `parquet:"no_cpu_ps" meaning:"how long it could have run but had no CPU"`
	ClockError *int64 `parquet:"clock_error_ps,optional" meaning:"its times are right within this much relative to rank 0"`
	Truncated  bool   `parquet:"truncated" meaning:"its end is missing in the trace"`
}

func eachLocation(r *Run, w *columnfile.Writer[locationRow]) {
	for i := range r.Waits.Timeline.Locations {
		l := &r.Waits.Timeline.Locations[i]
		row := locationRow{
			Rank: int32(l.Rank), Thread: int32(l.Thread), Name: l.Name, Host: l.Host, First: int64(l.First), Last: int64(l.Last),
			Unrecorded: int64(l.Unrecorded), NoCPU: int64(l.Lacked), Truncated: l.Truncated,
		}
		if l.ClockError >= 0 {
			row.ClockError = new(int64(l.ClockError))
		}
		w.Add(row)
	}
}

type callRow struct {
	Rank     int32  `parquet:"rank" meaning:"rank in MPI_COMM_WORLD"`
	Thread   int32  `parquet:"thread" meaning:"thread of the rank; 0: its master"`
	Call     int32  `parquet:"call,delta" meaning:"number of the call at its location, from 0"`
	Parent   int32  `parquet:"parent,delta" meaning:"number of the call that it is in; -1: none"`
	Name     string `parquet:"name,dict" meaning:"name of the function or region"`
	CallPath string `parquet:"callpath,dict" meaning:"names from the outermost call on, joined by /"`
	Kind     string `parquet:"kind,dict" meaning:"kind of activity, as in 'slackline profile'"`
	Enter    int64  `parquet:"enter_ps,delta" meaning:"when it was entered"`
	Leave    int64  `parquet:"leave_ps,delta" meaning:"when it was left"`
	Samples  *int32 `parquet:"samples,optional" meaning:"of a call that was made out of samples: how many saw the function and nothing that it called"`
}

func eachCall(r *Run, w *columnfile.Writer[callRow]) {
	tl, paths := r.Waits.Timeline, r.Waits.Paths
	kinds := make([]string, paths.Len())
	for i := range kinds {
		kinds[i] = profile.KindOf(&paths.Region[i]).String()
	}
	var open []int32
	for i := range tl.Locations {
		l := &tl.Locations[i]
		sampled := l.Sampled
		open = open[:0]
		for call := range int32(l.Calls.Len()) {
			for len(open) > 0 && l.Calls.Skip[open[len(open)-1]] <= call {
				open = open[:len(open)-1]
			}
			path := paths.Of[l.Calls.Path[call]]
			row := callRow{
				Rank: int32(l.Rank), Thread: int32(l.Thread), Call: call, Parent: -1,
				Name: paths.Region[path].Name, CallPath: paths.Names[path], Kind: kinds[path],
				Enter: int64(l.Calls.Enter[call]), Leave: int64(l.Calls.Leave[call]),
			}
			if len(open) > 0 {
				row.Parent = open[len(open)-1]
			}
			if len(sampled) > 0 && sampled[0].Call == call {
				row.Samples = new(sampled[0].Samples)
				sampled = sampled[1:]
			}
			w.Add(row)
			open = append(open, call)
		}
	}
}

type messageRow struct {
	Sender         int32  `parquet:"sender" meaning:"rank that sent it"`
	SenderThread   int32  `parquet:"sender_thread" meaning:"thread that sent it"`
	Receiver       int32  `parquet:"receiver" meaning:"rank that received it"`
	ReceiverThread int32  `parquet:"receiver_thread" meaning:"thread that received it"`
	Communicator   string `parquet:"communicator,dict" meaning:"name of the communicator"`
	Tag            int32  `parquet:"tag" meaning:"tag of the message"`
	Bytes          int64  `parquet:"bytes" meaning:"size of the message"`
	Sent           int64  `parquet:"sent_ps,delta" meaning:"when it was sent"`
	Received       int64  `parquet:"received_ps,delta" meaning:"when it was received"`
	SendCall       int32  `parquet:"send_call,delta" meaning:"number of the sender's call that began it, see calls"`
	ReceiveCall    int32  `parquet:"receive_call,delta" meaning:"number of the receiver's call that completed it"`
	SendPath       string `parquet:"send_callpath,dict" meaning:"call path of the call that began it"`
	ReceivePath    string `parquet:"receive_callpath,dict" meaning:"call path of the call that completed its receive"`
}

func eachMessage(r *Run, w *columnfile.Writer[messageRow]) {
	tl := r.Waits.Timeline
	for i := range tl.Messages {
		m := &tl.Messages[i]
		from, to := &tl.Locations[m.From], &tl.Locations[m.To]
		w.Add(messageRow{
			Sender: int32(from.Rank), SenderThread: int32(from.Thread), Receiver: int32(to.Rank), ReceiverThread: int32(to.Thread),
			Communicator: tl.Comms[m.Comm].Name, Tag: m.Tag, Bytes: m.Size, Sent: int64(m.Sent), Received: int64(m.Received),
			SendCall: m.Send, ReceiveCall: m.Recv, SendPath: r.pathOf(from, m.Send), ReceivePath: r.pathOf(to, m.Recv),
		})
	}
}

// pathOf is the call path of a call; empty: it is in none.
func (r *Run) pathOf(l *timeline.Location, call int32) string {
	if call < 0 {
		return ""
	}
	return r.Waits.Paths.Names[r.Waits.Paths.Of[l.Calls.Path[call]]]
}

type memberRow struct {
	Collective   int64  `parquet:"collective,delta" meaning:"number of the operation, from 0"`
	Operation    string `parquet:"operation,dict" meaning:"name of the operation as MPI spells it, without MPI_"`
	Communicator string `parquet:"communicator,dict" meaning:"name of the communicator"`
	Rank         int32  `parquet:"rank" meaning:"rank of the member in MPI_COMM_WORLD"`
	Thread       int32  `parquet:"thread" meaning:"thread of the rank that began it; 0: its master"`
	Root         *int32 `parquet:"root,optional" meaning:"rank of the root in MPI_COMM_WORLD"`
	Sent         int64  `parquet:"sent_bytes" meaning:"bytes that the member sent"`
	Received     int64  `parquet:"received_bytes" meaning:"bytes that the member received"`
	Enter        int64  `parquet:"enter_ps,delta" meaning:"when the call that began it was entered"`
	Leave        int64  `parquet:"leave_ps,delta" meaning:"when the call that completed it was left"`
	Call         int32  `parquet:"call,delta" meaning:"number of the call that began it, see calls"`
	CallPath     string `parquet:"callpath,dict" meaning:"call path of the call that began it"`
}

func eachMember(r *Run, w *columnfile.Writer[memberRow]) {
	tl := r.Waits.Timeline
	for i := range tl.Collectives {
		c := &tl.Collectives[i]
		members := tl.MembersOf(c)
		var root *int32
		if c.Root >= 0 && int(c.Root) < len(members) {
			root = new(int32(tl.Locations[members[c.Root].Location].Rank))
		}
		for j := range members {
			m := &members[j]
			l := &tl.Locations[m.Issuer()]
			w.Add(memberRow{
				Collective: int64(i), Operation: c.Op.String(), Communicator: tl.Comms[c.Comm].Name, Root: root,
				Rank: int32(l.Rank), Thread: int32(l.Thread), Sent: m.Sent, Received: m.Received,
				Enter: int64(l.Calls.Enter[m.Issue]), Leave: int64(tl.Locations[m.Location].Calls.Leave[m.Complete]),
				Call: m.Issue, CallPath: r.pathOf(l, m.Issue),
			})
		}
	}
}
