package trace

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"slackline/model/timeline"
)

// openPath opens a trace on disk.
func openPath(path string, o Options) (*Trace, error) {
	return Open(os.DirFS(filepath.Dir(path)), filepath.Base(path), o)
}

// mustOpen opens a trace that must be whole.
func mustOpen(t testing.TB, path string) *Trace {
	t.Helper()
	tr, err := openPath(path, Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// eventsOf returns copies of the events of a location, and the error that ends them other than io.EOF.
func eventsOf(tr *Trace, i int) ([]Event, error) {
	r, err := tr.Open(i)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var all []Event
	buffer := make([]Event, 100)
	for {
		n, err := r.Read(buffer)
		for _, e := range buffer[:n] {
			e.Counts = append([]int64(nil), e.Counts...)
			all = append(all, e)
		}
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
	}
}

// allEvents returns the events of all locations of a trace that must be whole.
func allEvents(t testing.TB, tr *Trace) [][]Event {
	t.Helper()
	all := make([][]Event, len(tr.Locations))
	for i := range tr.Locations {
		if tr.Locations[i].Missing {
			continue
		}
		var err error
		if all[i], err = eventsOf(tr, i); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// compare fails if two traces differ in what options leave in view.
func compare(t testing.TB, got, want *Trace, options ...cmp.Option) {
	t.Helper()
	options = append(options, cmpopts.EquateEmpty())
	if diff := cmp.Diff(want.Definitions, got.Definitions, options...); diff != "" {
		t.Errorf("definitions differ (-want +got):\n%s", diff)
	}
	a, b := allEvents(t, got), allEvents(t, want)
	if len(a) != len(b) {
		t.Fatalf("%d locations, want %d", len(a), len(b))
	}
	for i := range a {
		if len(a[i]) != len(b[i]) {
			t.Errorf("location %d: %d events, want %d", i, len(a[i]), len(b[i]))
			continue
		}
		for k := range a[i] {
			if !equalEvents(a[i][k:k+1], b[i][k:k+1]) {
				t.Fatalf("location %d, event %d differs (-want +got):\n%s", i, k, cmp.Diff(b[i][k], a[i][k]))
			}
		}
	}
}

// equalEvents compares events, faster than cmp.
func equalEvents(a, b []Event) bool {
	return slices.EqualFunc(a, b, func(x, y Event) bool {
		return x.Time == y.Time && x.Kind == y.Kind && x.Op == y.Op && x.Region == y.Region && x.Stack == y.Stack &&
			x.Peer == y.Peer && x.Root == y.Root && x.Comm == y.Comm && x.Tag == y.Tag && x.Size == y.Size &&
			x.Sent == y.Sent && x.Received == y.Received && x.Request == y.Request && x.Object == y.Object && slices.Equal(x.Counts, y.Counts)
	})
}

// randomTrace makes a trace of all kinds of events. Calls are properly nested, times are in whole
// nanoseconds.
func randomTrace(seed uint64, ranks, threads, events int) *Trace {
	rng := rand.New(rand.NewPCG(seed, 1))
	d := Definitions{
		Ranks: ranks,
		Regions: []timeline.Region{
			{Name: "main", File: "main.c", Line: 12},
			{Name: "solve <int, 3>", File: "a dir/solve.cpp", Line: 7},
			{Name: "MPI_Send", Paradigm: timeline.MPI, Role: timeline.PointToPoint},
			{Name: "MPI_Allreduce", Paradigm: timeline.MPI, Role: timeline.CollectiveCall},
			{Name: "!$omp parallel @main.c:20", Paradigm: timeline.OpenMP, Role: timeline.Parallel},
			{Name: "!$omp implicit barrier @main.c:20", Paradigm: timeline.OpenMP, Role: timeline.ImplicitBarrier},
			{Name: "noise", Paradigm: timeline.Noise},
			{Name: "main"}, // once more
		},
		Comms:  []timeline.Comm{{Name: "MPI_COMM_WORLD"}, {Name: "odd"}},
		Stacks: []Stack{{}, {0, 0}, {1, 1}, {2, 7}}, Metrics: []timeline.Metric{{Name: "PAPI_TOT_INS", Unit: "#"}, {Name: "page faults"}},
		Properties: Properties{
			Command: []string{"./a.out", "-x", "two words"}, Launch: []string{"mpirun", "-n", "2", "./a.out"},
			MPI: "Open MPI 4.1", Tool: "test", Machine: "box", Created: 1_700_000_000_123_456_789,
			SamplePeriod: 1e9, CallPaths: "full", Resolution: 1e9,
		},
	}
	for r := range ranks {
		d.Comms[0].Members = append(d.Comms[0].Members, int32(r))
		if r%2 == 1 {
			d.Comms[1].Members = append(d.Comms[1].Members, int32(r))
		}
	}
	if ranks == 4 {
		d.Carts = []Cart{{Comm: 0, Dims: []int{2, 2}, Periodic: []bool{true, false}, Coords: [][]int{{0, 0}, {0, 1}, {1, 0}, {1, 1}}}}
	}
	var all [][]Event
	for r := range ranks {
		for th := range threads {
			l := Location{ID: uint64(th)<<32 | uint64(r), Rank: r, Thread: th, Name: fmt.Sprintf("thread %d", th), Host: fmt.Sprintf("node%d", r/2)}
			if r > 0 {
				l.Offsets = []ClockOffset{{1000, int64(r) * 5000, 0}, {1e12, int64(r) * 6000, 0}}
			}
			list := randomEvents(rng, &d, events)
			l.Events = uint64(len(list))
			d.Locations = append(d.Locations, l)
			all = append(all, list)
		}
	}
	return newMemory(d, all)
}

// randomEvents makes about n events.
func randomEvents(rng *rand.Rand, d *Definitions, n int) []Event {
	var list []Event
	var open []uint32
	now := int64(0)
	add := func(e Event) {
		now += int64(rng.ExpFloat64()*800) * 1000
		e.Time = now
		list = append(list, e)
	}
	message := func(e Event) Event {
		e.Comm = uint32(rng.IntN(len(d.Comms)))
		e.Peer, e.Tag, e.Size = int32(rng.IntN(max(len(d.Comms[e.Comm].Members), 1))), int32(rng.IntN(3)), int64(1)<<rng.IntN(20)
		return e
	}
	collective := func(e Event) Event {
		e.Op, e.Comm, e.Root, e.Sent, e.Received = timeline.OpAllreduce, 0, NoRoot, 8, 8
		if rng.IntN(4) == 0 {
			e.Op, e.Counts = timeline.OpAlltoallv, []int64{1, 2, int64(rng.IntN(2)), 8}
		}
		return e
	}
	add(Event{Kind: ProgramBegin})
	for len(list) < n {
		request := 0x7fff_0000_0000 + uint64(rng.IntN(16))*8
		switch rng.IntN(14) {
		case 0, 1, 2, 3, 4:
			if len(open) < 5 {
				open = append(open, uint32(rng.IntN(len(d.Regions))))
				add(Event{Kind: Enter, Region: open[len(open)-1]})
				break
			}
			fallthrough
		case 5, 6, 7:
			if len(open) > 0 {
				add(Event{Kind: Leave, Region: open[len(open)-1]})
				open = open[:len(open)-1]
			}
		case 8:
			add(message(Event{Kind: Send}))
			add(message(Event{Kind: Recv}))
		case 9:
			add(message(Event{Kind: Isend, Request: request}))
			add(Event{Kind: IsendDone, Request: request})
		case 10:
			add(Event{Kind: IrecvPost, Request: request})
			add(Event{Kind: RequestTest, Request: request})
			add(message(Event{Kind: IrecvDone, Request: request}))
		case 11:
			add(Event{Kind: CollectiveBegin})
			add(collective(Event{Kind: CollectiveEnd}))
		case 12:
			add(Event{Kind: CollectiveIssue, Request: request})
			add(collective(Event{Kind: CollectiveDone, Request: request}))
		case 13:
			rare := []Event{
				{Kind: RequestCancelled, Request: request}, {Kind: SkippedSends, Peer: 1, Comm: 1, Tag: 7, Size: 3},
				{Kind: SkippedSends, Tag: -5, Size: -1}, {Kind: SkippedReceives, Peer: 2, Tag: 1 << 30, Size: 1 << 40},
				{Kind: SkippedCollectives, Comm: 1, Size: 12}, {Kind: Fork, Size: 4}, {Kind: Join}, {Kind: TeamBegin}, {Kind: TeamEnd},
				{Kind: Sample, Stack: uint32(rng.IntN(len(d.Stacks)))}, {Kind: Polls, Size: 7}, {Kind: RecordingOff}, {Kind: RecordingOn},
				{Kind: CommCreate, Comm: 1}, {Kind: CommDestroy, Comm: 1},
				{Kind: Count, Object: uint32(rng.IntN(len(d.Metrics))), Request: rng.Uint64N(1 << 50)},
			}
			add(rare[rng.IntN(len(rare))])
		}
	}
	for len(open) > 0 {
		add(Event{Kind: Leave, Region: open[len(open)-1]})
		open = open[:len(open)-1]
	}
	add(Event{Kind: ProgramEnd, Size: 3})
	return list
}

// cutsOf returns places at which a file of n bytes is cut or changed.
func cutsOf(n int) []int {
	if n < 400 {
		cuts := make([]int, n)
		for i := range cuts {
			cuts[i] = i
		}
		return cuts
	}
	var cuts []int
	for i := range 60 {
		cuts = append(cuts, i, n-1-i, n*i/60)
	}
	return cuts
}
