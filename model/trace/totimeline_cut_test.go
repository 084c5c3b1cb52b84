package trace

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slackline/model/timeline"
	"slackline/model/trace/damage"
	"slackline/model/unit"
)

func TestOnlySomeRanks(t *testing.T) {
	ring := func(r int32) []Event {
		return []Event{
			{Time: 0, Kind: Enter},
			{Time: 1, Kind: Enter, Region: 1},
			{Time: 1, Kind: IrecvPost, Request: 5},
			{Time: 2, Kind: Isend, Peer: (r + 1) % 3, Request: 6},
			{Time: 3, Kind: Isend, Peer: (r + 2) % 3, Request: 7},
			{Time: 3, Kind: IrecvPost, Request: 8},
			{Time: 4, Kind: CollectiveIssue, Request: 9},
			{Time: 5, Kind: Leave, Region: 1},
			{Time: 6, Kind: Enter, Region: 2},
			{Time: 7, Kind: IrecvDone, Peer: (r + 2) % 3, Request: 5},
			{Time: 7, Kind: IrecvDone, Peer: (r + 1) % 3, Request: 8},
			{Time: 7, Kind: IsendDone, Request: 6},
			{Time: 7, Kind: IsendDone, Request: 7},
			{Time: 8, Kind: CollectiveDone, Op: timeline.OpBarrier, Root: NoRoot, Request: 9},
			{Time: 9, Kind: Leave, Region: 2},
			{Time: 10, Kind: Leave},
		}
	}
	tr := memoryTrace(exchangeRegions, nil, ring(0), ring(1), ring(2))
	tl := toTimeline(t, tr, TimelineOptions{Ranks: []int{2, 0}, Strict: true})
	if len(tl.Locations) != 2 || len(tl.Messages) != 2 || len(tl.Collectives) != 0 || tl.Ranks != 3 {
		t.Errorf("%d locations, %d messages, %d collectives of %d ranks; want 2, 2, 0 of 3",
			len(tl.Locations), len(tl.Messages), len(tl.Collectives), tl.Ranks)
	}
	want := timeline.Problems{Notes: []string{"only 2 of 3 ranks were read"}}
	if diff := cmp.Diff(want, tl.Problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	for _, o := range []TimelineOptions{{Ranks: []int{3}}, {Ranks: []int{-1}}, {Begin: 5, End: 5}, {Begin: -1}} {
		if _, err := ToTimeline(tr, o); err == nil {
			t.Errorf("%+v gave no error", o)
		}
	}
}

// TestOnlySomeRanksOfThreads: what a thread began for a rank that is not read another one may complete or cancel; nothing of it is odd.
func TestOnlySomeRanksOfThreads(t *testing.T) {
	begins := []Event{
		{Time: 0, Kind: ThreadBegin}, {Time: 0, Kind: Enter}, {Time: 1, Kind: Enter, Region: 1}, {Time: 1, Kind: Isend, Peer: 1, Request: 6},
		{Time: 2, Kind: Isend, Peer: 1, Request: 7}, {Time: 3, Kind: CollectiveIssue, Request: 9}, {Time: 4, Kind: Leave, Region: 1},
		{Time: 9, Kind: Leave}, {Time: 9, Kind: ThreadEnd},
	}
	ends := []Event{
		{Time: 0, Kind: ThreadBegin}, {Time: 5, Kind: Enter, Region: 2}, {Time: 6, Kind: IsendDone, Request: 6},
		{Time: 6, Kind: RequestCancelled, Request: 7}, {Time: 7, Kind: CollectiveDone, Op: timeline.OpBarrier, Root: NoRoot, Request: 9},
		{Time: 8, Kind: Leave, Region: 2}, {Time: 9, Kind: ThreadEnd},
	}
	receives := []Event{
		{Time: 0, Kind: Enter}, {Time: 1, Kind: Enter, Region: 2}, {Time: 6, Kind: Recv, Peer: 0},
		{Time: 7, Kind: CollectiveEnd, Op: timeline.OpBarrier, Root: NoRoot}, {Time: 7, Kind: Leave, Region: 2}, {Time: 9, Kind: Leave},
	}
	tr := memoryTrace(exchangeRegions, nil, begins, ends, receives)
	tr.Ranks, tr.Comms[0].Members = 2, []int32{0, 1}
	tr.Locations[1].Rank, tr.Locations[1].Thread, tr.Locations[2].Rank = 0, 1, 1
	if tl := toTimeline(t, tr, TimelineOptions{}); len(tl.Messages) != 1 || len(tl.Collectives) != 1 || len(tl.Problems.Notes) > 0 {
		t.Errorf("of all: %d messages, %d collectives, notes %q, want 1, 1, none", len(tl.Messages), len(tl.Collectives), tl.Problems.Notes)
	}
	want := timeline.Problems{Notes: []string{"only 1 of 2 ranks were read"}}
	if diff := cmp.Diff(want, toTimeline(t, tr, TimelineOptions{Ranks: []int{0}}).Problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestWindowOfATrace(t *testing.T) {
	tr := memoryTrace(exchangeRegions, nil, exchange(1), exchange(0))
	tl := toTimeline(t, tr, TimelineOptions{Begin: 105, End: 160})
	if diff := cmp.Diff([]string{"main 105 160", "main/MPI_Send 105 110", "main/MPI_Recv 120 150"}, callsOf(tl, 0)); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if len(tl.Messages) != 0 || tl.Start != 105 || tl.End != 160 {
		t.Errorf("%d messages from %v to %v; want none, 105 to 160", len(tl.Messages), tl.Start, tl.End)
	}
	tr.Format = "slt" // times of an unknown origin
	for i := range tr.Locations {
		open := tr.Open
		tr.Open = func(j int) (EventReader, error) {
			r, err := open(j)
			if j == i {
				r = &laterReader{r, 5000}
			}
			return r, err
		}
	}
	if tl := toTimeline(t, tr, TimelineOptions{Begin: 50}); tl.Start != 50 || tl.End != 205 || len(tl.Messages) != 2 {
		t.Errorf("%d messages from %v to %v; want 2, 50 to 205", len(tl.Messages), tl.Start, tl.End)
	}
}

// laterReader adds to the times of events.
type laterReader struct {
	EventReader
	later int64
}

func (r *laterReader) Read(events []Event) (int, error) {
	n, err := r.EventReader.Read(events)
	for i := range events[:n] {
		events[i].Time += r.later
	}
	return n, err
}

// brokenReader gives some events and then an error.
type brokenReader struct {
	EventReader
	after int
	err   error
}

func (r *brokenReader) Read(events []Event) (int, error) {
	n, err := r.EventReader.Read(events[:min(len(events), r.after)])
	if r.after -= n; r.after == 0 || err != nil {
		return n, r.err
	}
	return n, nil
}

func TestWhatIsMissing(t *testing.T) {
	damage := fmt.Errorf("1.slt: byte 17: %w", damage.Err)
	whole := func() *Trace { return memoryTrace(exchangeRegions, nil, exchange(1), exchange(0)) }
	damaged := func(err error) *Trace {
		tr := whole()
		open := tr.Open
		tr.Open = func(i int) (EventReader, error) {
			r, _ := open(i)
			if i == 1 {
				r = &brokenReader{r, 6, err}
			}
			return r, nil
		}
		return tr
	}
	missing, truncated := whole(), damaged(io.EOF)
	missing.Locations[1].Missing = true
	truncated.Locations[1].Truncated = true
	for _, tc := range []struct {
		name     string
		trace    *Trace
		problems timeline.Problems
	}{
		{"damaged", damaged(damage), timeline.Problems{
			UnmatchedSends: 1, Sends: []timeline.Unmatched{{Rank: 0, Call: "MPI_Send", Peer: 1, Tag: 3, Time: 101}},
			Notes: []string{"rank 1: events end early: 1.slt: byte 17: the trace is damaged"},
		}},
		{"truncated", truncated, timeline.Problems{
			UnmatchedSends: 1, Sends: []timeline.Unmatched{{Rank: 0, Call: "MPI_Send", Peer: 1, Tag: 3, Time: 101}},
			Notes: []string{"rank 1: its end is missing"},
		}},
		{"missing", missing, timeline.Problems{
			UnmatchedSends: 1, Sends: []timeline.Unmatched{{Rank: 0, Call: "MPI_Send", Peer: 1, Tag: 3, Time: 101}},
			UnmatchedReceives: 1, Receives: []timeline.Unmatched{{Rank: 0, Call: "MPI_Recv", Peer: 1, Tag: 3, Time: 150}},
			MissingRanks: []int{1},
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tl := toTimeline(t, tc.trace, TimelineOptions{})
			if diff := cmp.Diff(tc.problems, tl.Problems); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			if !tc.trace.Locations[1].Missing {
				if l := tl.Locations[1]; !l.Truncated || l.Last != 120 {
					t.Errorf("truncated %v at %v, want true at 120", l.Truncated, l.Last)
				}
			}
		})
	}
	for _, tc := range []struct {
		trace *Trace
		want  string
	}{
		{damaged(damage), "rank 1: 1.slt: byte 17: the trace is damaged (without --strict the rest is read)"},
		{truncated, "rank 1: its end is missing (without --strict the rest is read)"},
		{missing, "rank 1 is missing (without --strict the rest is read)"},
		{damaged(errors.New("disk on fire")), "rank 1: disk on fire"},
	} {
		if _, err := ToTimeline(tc.trace, TimelineOptions{Strict: true}); err == nil || err.Error() != tc.want {
			t.Errorf("strict: error %v, want %s", err, tc.want)
		}
	}
	stop := errors.New("interrupted")
	if _, err := ToTimeline(whole(), TimelineOptions{Interrupt: func() error { return stop }}); !errors.Is(err, stop) {
		t.Errorf("interrupted: error %v", err)
	}
}

// Calls that were entered or left unseen do not bring the others out of order.
func TestUnbalancedCalls(t *testing.T) {
	for _, stacks := range [][]Stack{nil, {{0, 0}}} {
		tr := memoryTrace([]string{"main", "f", "g", "h"}, stacks, []Event{
			{Time: 0, Kind: Leave, Region: 3}, // never entered
			{Time: 1, Kind: Enter, Region: 0},
			{Time: 2, Kind: Enter, Region: 1},
			{Time: 3, Kind: Enter, Region: 2}, // never left
			{Time: 4, Kind: Leave, Region: 1},
			{Time: 5, Kind: Leave, Region: 3}, // never entered
			{Time: 6, Kind: Enter, Region: 2},
			{Time: 7, Kind: ProgramEnd}, // two never left
		})
		tl := toTimeline(t, tr, TimelineOptions{Strict: true})
		if diff := cmp.Diff([]string{"main 1 7", "main/f 2 4", "main/f/g 3 4", "main/g 6 7"}, callsOf(tl, 0)); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		if tl.Problems.Unbalanced != 5 || tl.Locations[0].First != 0 {
			t.Errorf("unbalanced = %d, first %v; want 5, 0", tl.Problems.Unbalanced, tl.Locations[0].First)
		}
	}
	tr := memoryTrace([]string{"main"}, nil, []Event{{Kind: Enter, Region: 7}})
	if _, err := ToTimeline(tr, TimelineOptions{}); err == nil || !strings.Contains(err.Error(), "rank 0: region 7 is not defined") {
		t.Errorf("a region that is not defined: error %v", err)
	}
	for _, e := range []Event{
		{Kind: Send, Size: -1}, {Kind: Get, Size: -1}, {Kind: CollectiveEnd, Sent: 8, Received: -8},
		{Kind: CollectiveDone, Counts: []int64{8, -1}},
	} {
		tr := memoryTrace([]string{"main"}, nil, []Event{{Kind: Enter}, e, {Kind: Leave}})
		if _, err := ToTimeline(tr, TimelineOptions{}); err == nil || !strings.Contains(err.Error(), "rank 0: the trace: at 0: the size of a") {
			t.Errorf("%+v: error %v", e, err)
		}
	}
}

func TestGridAndPolls(t *testing.T) {
	tr := memoryTrace([]string{"MPI_Test"}, nil, []Event{
		{Time: 1, Kind: Enter}, {Time: 1, Kind: Polls, Size: 40}, {Time: 2, Kind: RecordingOff}, {Time: 5, Kind: RecordingOn},
		{Time: 9, Kind: Leave},
	}, nil)
	tr.Comms = append(tr.Comms, timeline.Comm{Members: []int32{1, 0}})
	tr.Carts = []Cart{
		{Comm: 9, Dims: []int{2}, Coords: [][]int{{0}, {1}}},
		{Comm: 1, Dims: []int{2}, Periodic: []bool{true}, Coords: [][]int{{0}, {1}}},
	}
	tl := toTimeline(t, tr, TimelineOptions{})
	if diff := cmp.Diff(&timeline.Grid{Dims: []int{2}, Periodic: []bool{true}, Coords: [][]int{{1}, {0}}}, tl.Grid); diff != "" {
		t.Errorf("grid (-want +got):\n%s", diff)
	}
	if !slices.Equal(tl.Locations[0].Polls, []timeline.Poll{{Call: 0, Count: 40}, {Call: 2}}) {
		t.Errorf("polls = %v, want 40 of the first call, and its rest", tl.Locations[0].Polls)
	}
	calls := &tl.Locations[0].Calls
	if tl.RegionOf(calls.Path[1]).Role != timeline.Unrecorded || !slices.Equal(calls.Enter, []unit.Duration{1, 2, 5}) ||
		!slices.Equal(calls.Leave, []unit.Duration{2, 5, 9}) {
		t.Errorf("calls = %+v, want MPI_Test, not recorded, MPI_Test", calls)
	}
}
