package record

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"slackline/model/missing"
	"slackline/model/timeline"
	"slackline/model/trace"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// end is one end of a message of testdata/windows.c: the rank that sent it, its communicator and size tell which it is.
type messageEnd struct {
	from int
	comm uint32
	size int64
}

// keptEnds are the ends of messages that a trace holds, in calls that were recorded: of receives both the posting and the
// completion. Those of persistent requests all look the same and are left out.
func keptEnds(t *testing.T, r *recording, times map[[2]int64]int64) (sent, received map[messageEnd]bool) {
	sent, received = map[messageEnd]bool{}, map[messageEnd]bool{}
	posted := map[[2]uint64]bool{} // by rank and request: any thread of the rank may complete it
	each := func(visit func(i int, l trace.Location, e trace.Event, off bool)) {
		for i, l := range r.Locations {
			off := false
			for _, e := range r.events(t, i) {
				if e.Kind == trace.RecordingOff || e.Kind == trace.RecordingOn {
					off = e.Kind == trace.RecordingOff
				} else {
					visit(i, l, e, off)
				}
			}
		}
	}
	each(func(_ int, l trace.Location, e trace.Event, off bool) {
		if e.Kind == trace.IrecvPost {
			posted[[2]uint64{uint64(l.Rank), e.Request}] = !off
		}
	})
	each(func(i int, l trace.Location, e trace.Event, off bool) {
		if off || e.Size == 5 {
			return
		}
		switch e.Kind {
		case trace.Send, trace.Isend:
			sent[messageEnd{l.Rank, e.Comm, e.Size}] = true
		case trace.Recv, trace.IrecvDone:
			if e.Kind == trace.Recv || posted[[2]uint64{uint64(l.Rank), e.Request}] {
				received[messageEnd{int(r.Comms[e.Comm].Members[e.Peer]), e.Comm, e.Size}] = true
			}
			times[[2]int64{int64(i), e.Time}] = e.Size
		}
	})
	return sent, received
}

// checkCut wants a timeline to join exactly those ends that belong together, all that were kept, and to find nothing odd.
// It returns how many messages and collectives were joined.
func checkCut(t *testing.T, r *recording) (*timeline.Timeline, int, int) {
	t.Helper()
	tl, messages, wanted := checkJoined(t, r)
	if messages != wanted {
		t.Errorf("messages = %d, want %d", messages, wanted)
	}
	return tl, messages, len(tl.Collectives)
}

// checkJoined does that, except that ends that were kept may be left out; it returns how many messages were joined, and how many have both
// ends.
func checkJoined(t *testing.T, r *recording) (tl *timeline.Timeline, messages, wanted int) {
	t.Helper()
	tl, err := trace.ToTimeline(r.Trace, trace.TimelineOptions{Clock: trace.ClockNone})
	if err != nil {
		t.Fatal(err)
	}
	p := &tl.Problems
	if p.UnmatchedSends+p.UnmatchedReceives+p.IncompleteCollectives+p.Violations+p.EarlyCollectives+p.PendingRequests > 0 {
		t.Errorf("problems = %+v, want none", p)
	}
	for _, note := range p.Notes {
		if slices.Contains(tl.Circumstances(), note) {
			continue // of a busy machine
		}
		if note != "rank 0: its end is missing" && note != "rank 1: its end is missing" {
			t.Errorf("note %q", note)
		}
	}
	times := map[[2]int64]int64{}
	sent, received := keptEnds(t, r, times)
	first := int64(1<<63 - 1)
	for i := range r.Locations {
		if events := r.events(t, i); len(events) > 0 {
			first = min(first, events[0].Time)
		}
	}
	for _, m := range tl.Messages {
		if m.Size == 5 {
			continue
		}
		messages++
		from := messageEnd{tl.Locations[m.From].Rank, uint32(m.Comm), m.Size}
		if !sent[from] || !received[from] {
			t.Fatalf("message %+v: its ends were not both kept", from)
		}
		if got := times[[2]int64{int64(m.To), int64(m.Received) + first}]; got != m.Size {
			t.Fatalf("message %+v has a receive of %d bytes", from, got)
		}
	}
	for e := range sent {
		if received[e] {
			wanted++
		}
	}
	if r.result.NothingRecorded() {
		t.Error("nothing was recorded")
	}
	for _, c := range tl.Collectives {
		members := tl.Members[c.First:][:len(tl.Comms[c.Comm].Members)]
		for _, m := range members {
			if max(m.Sent, m.Received) != max(members[0].Sent, members[0].Received) {
				t.Fatalf("%v on %s joins sizes %d and %d", c.Op, tl.Comms[c.Comm].Name, m.Sent, members[0].Sent)
			}
		}
	}
	return tl, messages, wanted
}

// TestCutThreads cuts recordings of threads that share channels and a communicator, and notice at different times that recording was
// switched. Of what a ring kept of one thread that is left out which has no known number among what it dropped of the others.
func TestCutThreads(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "turns.c", "-O1", "-pthread")
		for _, c := range []struct {
			name           string
			turns, time    int
			change         func(o *Options)
			least, percent int // messages; of those with both ends
		}{
			{"whole", 100, 0, func(*Options) {}, 300, 100},
			{"window", 600, 1000, func(o *Options) { o.From, o.To = 200*time.Millisecond, 500*time.Millisecond }, 50, 95},
			{"ring", 2000, 0, func(o *Options) { o.MaxSize, o.Ring = 64<<10, true }, 20, 10},
			{"limit", 2000, 0, func(o *Options) { o.MaxSize = 64 << 10 }, 50, 95},
			{"unnoticed", 400, 0, func(o *Options) { o.StartOff, o.Command = true, append(o.Command, "quarter") }, 290, 100},
			{"lives", 400, 0, func(o *Options) { o.StartOff, o.Command = true, append(o.Command, "lives") }, 290, 100},
		} {
			t.Run(c.name, func(t *testing.T) {
				o := Options{Command: append(mpitest.Launch(l, 2), program, strconv.Itoa(c.turns), strconv.Itoa(c.time)), Sample: -1, Yield: "on"}
				c.change(&o)
				tl, messages, wanted := checkJoined(t, recorded(t, o))
				t.Logf("%d of %d messages, %d collectives, problems %+v", messages, wanted, len(tl.Collectives), tl.Problems)
				if messages < c.least || messages*100 < wanted*c.percent || len(tl.Collectives) < c.least/4 {
					t.Errorf("%d of %d messages, %d collectives", messages, wanted, len(tl.Collectives))
				}
			})
		}
	})
}

// TestTakenUnseen wants what one thread begins and another one completes to be where it was begun among all, if at most one of the two was
// recorded.
func TestTakenUnseen(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "taken.c", "-O1", "-pthread")
		for _, how := range [][]string{{"on"}, {"on", "idle"}, {"off"}, {"off", "idle"}, {"late"}, {"late", "idle"}} {
			t.Run(strings.Join(how, " "), func(t *testing.T) {
				r := recorded(t, Options{Command: append(append(mpitest.Launch(l, 2), program), how...), Sample: -1, Yield: "on"})
				tl, _, _ := checkJoined(t, r)
				sizes := map[int64]int{}
				for _, m := range tl.Messages {
					sizes[m.Size]++
				}
				for _, c := range tl.Collectives {
					sizes[tl.Members[c.First].Sent]++
				}
				want := map[int64]int{10: 2, 30: 2, 40: 2 + 1, 60: 2, 70: 2, 4 * 40: 1, 4 * 60: 1, 4 * 70: 1}
				if len(how) > 1 {
					delete(want, 60)
					delete(want, 4*60)
				}
				if !maps.Equal(sizes, want) {
					t.Errorf("messages and collectives of sizes %v, want %v; %+v", sizes, want, tl.Problems)
				}
			})
		}
	})
}

// TestTakenInRing wants receives to be whole of which a ring of one thread holds the posting, and that of another one the completion. Those
// whose posting was dropped are no mistake of the program.
func TestTakenInRing(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "everyhandover.c", "-O1", "-pthread")
		o := Options{Command: append(mpitest.Launch(l, 1), program), Sample: -1, Yield: "on", MaxSize: 64 << 10, Ring: true}
		if tl, messages, wanted := checkJoined(t, recorded(t, o)); messages < 100 || messages < wanted {
			t.Errorf("%d of %d messages; %+v", messages, wanted, tl.Problems)
		}
	})
}

// TestCutRecordings switches recording at each rank at other moments, by MPI_Pcontrol, a window, a ring and a limit.
func TestCutRecordings(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "windows.c", "-O1")
		command := func(how string, n, work int) Options {
			return sampled(append(mpitest.Launch(l, 2), program, how, strconv.Itoa(n), strconv.Itoa(work))...)
		}
		t.Run("whole", func(t *testing.T) {
			r := recorded(t, command("no", 40, 0))
			tl, messages, collectives := checkCut(t, r)
			if messages < 2*40*4 || collectives < 2*40 || tl.Locations[0].Cut {
				t.Errorf("messages = %d, collectives = %d, cut = %v", messages, collectives, tl.Locations[0].Cut)
			}
		})
		t.Run("pcontrol", func(t *testing.T) {
			for _, off := range []bool{false, true} {
				o := command("switched", 120, 0)
				o.StartOff = off
				_, messages, collectives := checkCut(t, recorded(t, o))
				if messages < 50 || collectives < 20 {
					t.Errorf("messages = %d, collectives = %d; want many", messages, collectives)
				}
			}
		})
		t.Run("window", func(t *testing.T) {
			o := command("no", 300, 2000)
			o.From, o.To = 200*time.Millisecond, 400*time.Millisecond
			for try := 1; ; try++ { // load leaves little time to the program, and opens and closes windows late: one of nine is right
				tl, messages, collectives := checkCut(t, recorded(t, o))
				if how := tl.Missing().How; how != "window 200ms..400ms" {
					t.Errorf("the trace says that recording was chosen by %q", how)
				}
				on := recordedTime(tl, 0)
				if messages >= 20 && collectives >= 10 && on >= 100*time.Millisecond && on <= 350*time.Millisecond {
					break
				}
				if try == 9 {
					t.Fatalf("messages = %d, collectives = %d, recorded = %v; want many in about 200 ms", messages, collectives, on)
				}
			}
		})
		t.Run("never", func(t *testing.T) {
			for _, change := range []func(o *Options){
				func(o *Options) { o.From = time.Hour }, func(o *Options) { o.StartOff = true },
				func(o *Options) { o.From, o.MaxSize, o.Ring = time.Hour, 64<<10, true },
			} {
				o := command("no", 10, 0)
				change(&o)
				r := recorded(t, o)
				if _, err := trace.ToTimeline(r.Trace, trace.TimelineOptions{}); !r.result.NothingRecorded() || err == nil ||
					!strings.Contains(err.Error(), "recording was off from the start of the run to its end") {
					t.Errorf("%+v: nothing recorded = %t, error = %v", o, r.result.NothingRecorded(), err)
				}
			}
		})
		t.Run("ring", func(t *testing.T) {
			o := command("no", 400, 0)
			o.MaxSize, o.Ring = 64<<10, true
			r := recorded(t, o)
			if tl, messages, collectives := checkCut(t, r); messages < 50 || collectives < 20 || !r.result.Heads[0].Wrapped ||
				tl.Missing().How != missing.Ring {
				t.Errorf("messages = %d, collectives = %d, heads = %+v", messages, collectives, r.result.Heads)
			}
			o = command("switched", 400, 0)
			o.MaxSize, o.Ring = 64<<10, true
			if _, messages, _ := checkCut(t, recorded(t, o)); messages < 20 {
				t.Errorf("switched: messages = %d", messages)
			}
		})
		t.Run("limit", func(t *testing.T) {
			o := command("no", 400, 0)
			o.MaxSize = 64 << 10
			if _, messages, collectives := checkCut(t, recorded(t, o)); messages < 50 || collectives < 20 {
				t.Errorf("messages = %d, collectives = %d", messages, collectives)
			}
		})
	})
}

// TestLastCallIsRecorded wants MPI_Finalize, too, to find that recording goes on.
func TestLastCallIsRecorded(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		o := sampled(append(mpitest.Launch(l, 2), build(t, l, "lastcall.c", "-O1", "-pthread"))...)
		o.StartOff = true
		tl, err := trace.ToTimeline(recorded(t, o).Trace, trace.TimelineOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range tl.Locations {
			if l := &tl.Locations[i]; l.Thread == 0 && recordedTime(tl, i) == 0 {
				t.Errorf("rank %d: recording was off to the end, MPI_Finalize included", l.Rank)
			}
		}
	})
}

// recordedTime is how long recording was on at a location.
func recordedTime(tl *timeline.Timeline, location int) (on time.Duration) {
	c := &tl.Locations[location].Calls
	total := tl.End - tl.Start
	for i, path := range c.Path {
		if tl.RegionOf(path).Role == timeline.Unrecorded {
			total -= c.Leave[i] - c.Enter[i]
		}
	}
	return time.Duration(total / 1000)
}

// TestCutFunctions wants functions and regions to be open when recording goes on that were entered while it was off, and
// those that were left meanwhile not to be.
func TestCutFunctions(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "cutfunctions.c", "-O0", "-finstrument-functions")
		r := recorded(t, Options{Command: append(mpitest.Launch(l, 1), program), Sample: -1, Yield: "on"})
		tl, err := trace.ToTimeline(r.Trace, trace.TimelineOptions{})
		if err != nil {
			t.Fatal(err)
		}
		names := func(p timeline.PathID) (path string) {
			for ; p != 0; p = tl.Paths[p].Parent {
				path = "/" + tl.Regions[tl.Paths[p].Region].Name + path
			}
			return path
		}
		var got []string
		for _, p := range tl.Locations[0].Calls.Path {
			got = append(got, names(p))
		}
		want := []string{"/main", "/main/MPI_Init", "/main/first", "/not recorded", "/main", "/main/second", "/main/second/third",
			"/main/second/third/MPI_Barrier", "/main/MPI_Finalize"}
		if !slices.Equal(got, want) {
			t.Errorf("calls = %q\nwant    %q", got, want)
		}
	})
}
