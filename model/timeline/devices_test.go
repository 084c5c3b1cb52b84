package timeline

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"slackline/model/unit"
)

// deviceRun is a run of two ranks that launch kernels of a collective and of a message:
//
//	rank 0: main 0..100, launches at 10..12, 20..22     stream 0:7: broadcast 15..40, send 50..60
//	rank 1: main 0..100, launches at 30..32             stream 0:7: broadcast 35..40, receive 50..65
//	                                                    stream 0:9: memset 5..6, copy 70..90, launched unseen
func deviceRun() *Timeline {
	b := NewBuilder(2)
	main, launch := b.Region(Region{Name: "main"}), b.Region(Region{Name: "cudaLaunchKernel"})
	for rank, starts := range [][]unit.Duration{{10, 20}, {30}} {
		l := b.Location(rank, 0, "thread", fmt.Sprint("node", rank))
		l.Enter(0, main)
		for _, t := range starts {
			l.Enter(t, launch)
			l.Leave(t + 2)
		}
		l.Leave(100)
	}
	tl := b.Finish(1)
	d := NewDeviceBuilder(tl)
	late := d.Stream(1, 0, 9, "0:9") // made first: the order of making is not that of the timeline
	one, zero := d.Stream(1, 0, 7, "0:7"), d.Stream(0, 0, 7, "0:7")
	late.Add(70, 90, d.Region("copy"), Copy, NoLaunch)
	late.Add(5, 6, d.Region("zero"), Memset, NoLaunch)
	zero.Add(15, 40, d.Region("bcast"), CommunicationKernel, Launch{0, 1})
	zero.Add(50, 60, d.Region("send"), CommunicationKernel, Launch{0, 2})
	one.Add(35, 40, d.Region("bcast"), CommunicationKernel, Launch{1, 1})
	one.Add(50, 65, d.Region("recv"), CommunicationKernel, Launch{1, 1})
	devices := d.Finish([]Reference{
		{Location: 1, Call: 1, Stream: 1, Device: -1, Event: -1, Recorded: 30},
		{Location: 0, Call: 2, Stream: NoStream, Device: 0, Event: 2, Recorded: 20},
		{Location: 0, Call: 1, Stream: 2, Device: -1, Event: 0, Recorded: 10},
	})
	devices.Comms = []Comm{{Name: "pair", Members: []int32{0, 1}}}
	devices.Collectives = []Collective{{Op: OpBcast, Root: 0}}
	devices.Members = []Member{{Location: 0, Counts: -1}, {Location: 1, Counts: -1}}
	devices.Messages = []Message{{From: 0, To: 1, Send: 1, SendDone: 1, Post: 1, Recv: 1, Size: 8, Sent: 50, Received: 65}}
	return tl
}

// TestDeviceBuilderOrder: streams are by rank, device and the given order; activities by time; references by location and call, with the
// final numbers of their streams.
func TestDeviceBuilderOrder(t *testing.T) {
	d := deviceRun().Devices
	var names []string
	for i := range d.Streams {
		names = append(names, fmt.Sprintf("rank %d %s: %v", d.Streams[i].Rank, d.Streams[i].Name, d.Streams[i].Begin))
	}
	if want := []string{"rank 0 0:7: [15ps 50ps]", "rank 1 0:7: [35ps 50ps]", "rank 1 0:9: [5ps 70ps]"}; !slices.Equal(names, want) {
		t.Errorf("streams = %q, want %q", names, want)
	}
	want := []Reference{
		{Location: 0, Call: 1, Stream: 0, Device: -1, Event: 2, Recorded: 10}, // streams 2, 0 in the order of making
		{Location: 0, Call: 2, Stream: NoStream, Device: 0, Event: 0, Recorded: 20},
		{Location: 1, Call: 1, Stream: 1, Device: -1, Event: -1, Recorded: 30},
	}
	if diff := gocmp.Diff(want, d.References); diff != "" {
		t.Errorf("references (-want +got):\n%s", diff)
	}
	if d.Overlaps != 0 {
		t.Errorf("%d overlaps, want none", d.Overlaps)
	}
}

// TestActivitiesDoNotOverlap: an activity that begins before the one before it has ended is moved to that end, never shortened below
// zero, and its place tells where it is.
func TestActivitiesDoNotOverlap(t *testing.T) {
	for _, c := range []struct {
		name     string
		add      [][2]unit.Duration
		want     []Span
		places   []int32
		overlaps int64
	}{
		{"none", nil, nil, []int32{}, 0},
		{"one after the other", [][2]unit.Duration{{0, 5}, {5, 9}}, []Span{{0, 5}, {5, 9}}, []int32{0, 1}, 0},
		{"in reverse", [][2]unit.Duration{{5, 9}, {0, 5}}, []Span{{0, 5}, {5, 9}}, []int32{1, 0}, 0},
		{"one inside another", [][2]unit.Duration{{0, 10}, {2, 4}, {10, 11}}, []Span{{0, 10}, {10, 10}, {10, 11}}, []int32{0, 1, 2}, 1},
		{"a chain", [][2]unit.Duration{{0, 4}, {2, 8}, {7, 9}}, []Span{{0, 4}, {4, 8}, {8, 9}}, []int32{0, 1, 2}, 2},
		{"an end before its start", [][2]unit.Duration{{3, 1}}, []Span{{3, 3}}, []int32{0}, 0},
		{"equal starts: the shorter first", [][2]unit.Duration{{1, 9}, {1, 1}}, []Span{{1, 1}, {1, 9}}, []int32{1, 0}, 0},
		{"equal ones: in the order of adding", [][2]unit.Duration{{1, 1}, {1, 1}}, []Span{{1, 1}, {1, 1}}, []int32{0, 1}, 0},
	} {
		tl := NewBuilder(1).Finish(1)
		d := NewDeviceBuilder(tl)
		s := d.Stream(0, 0, 0, "")
		s.Reserve(len(c.add))
		for _, a := range c.add {
			s.Add(a[0], a[1], d.Region("k"), ComputeKernel, NoLaunch)
		}
		out := d.Finish(nil)
		var got []Span
		for i := range out.Streams[0].Len() {
			got = append(got, Span{out.Streams[0].Begin[i], out.Streams[0].End[i]})
		}
		if !slices.Equal(got, c.want) || !slices.Equal(s.Places, c.places) || out.Overlaps != c.overlaps {
			t.Errorf("%s: activities %v at %v, %d overlaps, want %v at %v, %d", c.name, got, s.Places, out.Overlaps, c.want, c.places, c.overlaps)
		}
	}
}

// TestDeviceBounds: activities widen the run; a run without host threads is as long as they are.
func TestDeviceBounds(t *testing.T) {
	for _, c := range []struct {
		host, device *Span
		want         Span
	}{
		{nil, nil, Span{0, 0}},
		{nil, &Span{40, 70}, Span{40, 70}},
		{&Span{10, 50}, nil, Span{10, 50}},
		{&Span{10, 50}, &Span{20, 30}, Span{10, 50}},
		{&Span{10, 50}, &Span{5, 60}, Span{5, 60}},
	} {
		b := NewBuilder(1)
		if c.host != nil {
			l := b.Location(0, 0, "", "")
			l.Event(c.host.From)
			l.Event(c.host.To)
		}
		tl := b.Finish(1)
		d := NewDeviceBuilder(tl)
		d.Stream(0, 0, 0, "empty")
		if c.device != nil {
			d.Stream(0, 1, 0, "").Add(c.device.From, c.device.To, d.Region("k"), ComputeKernel, NoLaunch)
		}
		d.Finish(nil)
		if got := (Span{tl.Start, tl.End}); got != c.want {
			t.Errorf("hosts %v, devices %v: the run is %v, want %v", c.host, c.device, got, c.want)
		}
	}
}

func TestLaunchedAt(t *testing.T) {
	tl := deviceRun()
	d := tl.Devices
	for _, c := range []struct {
		stream   int
		activity int32
		want     unit.Duration
	}{{0, 0, 10}, {0, 1, 20}, {1, 0, 30}, {1, 1, 30}, {2, 0, 5}, {2, 1, 70}} {
		if got := tl.LaunchedAt(&d.Streams[c.stream], c.activity); got != c.want {
			t.Errorf("activity %d of stream %d was launched at %v, want %v", c.activity, c.stream, got, c.want)
		}
	}
}

func TestActivityKindNames(t *testing.T) {
	for kind, want := range map[ActivityKind]string{
		ComputeKernel: "compute kernel", CommunicationKernel: "communication kernel", Copy: "copy", Memset: "memset",
	} {
		if got := kind.String(); got != want {
			t.Errorf("kind %d = %q, want %q", kind, got, want)
		}
	}
}

// TestDeviceWindow: activities are cut at the edges, launches outside are unknown, and what kernels communicate is kept if all of it lies
// inside.
func TestDeviceWindow(t *testing.T) {
	for _, c := range []struct {
		begin, end                        unit.Duration
		spans                             [][]Span
		launches                          [][]Launch
		references, collectives, messages int
	}{
		{0, 100, [][]Span{{{15, 40}, {50, 60}}, {{35, 40}, {50, 65}}, {{5, 6}, {70, 90}}},
			[][]Launch{{{0, 1}, {0, 2}}, {{1, 1}, {1, 1}}, {NoLaunch, NoLaunch}}, 3, 1, 1},
		// Both broadcasts end at the start of the window: they are not in it.
		{40, 65, [][]Span{{{50, 60}}, {{50, 65}}, nil}, [][]Launch{{NoLaunch}, {NoLaunch}, nil}, 0, 0, 1},
		{15, 64, [][]Span{{{15, 40}, {50, 60}}, {{35, 40}, {50, 64}}, nil},
			[][]Launch{{NoLaunch, {0, 1}}, {{1, 1}, {1, 1}}, nil}, 2, 1, 0},
		{16, 66, [][]Span{{{16, 40}, {50, 60}}, {{35, 40}, {50, 65}}, nil},
			[][]Launch{{NoLaunch, {0, 1}}, {{1, 1}, {1, 1}}, nil}, 2, 0, 1},
		{200, 300, [][]Span{nil, nil, nil}, [][]Launch{nil, nil, nil}, 0, 0, 0},
	} {
		d := deviceRun().Window(c.begin, c.end, 1).Devices
		for i := range d.Streams {
			s := &d.Streams[i]
			var spans []Span
			for k := range s.Len() {
				spans = append(spans, Span{s.Begin[k], s.End[k]})
			}
			if !slices.Equal(spans, c.spans[i]) || !slices.Equal(s.Launch, c.launches[i]) {
				t.Errorf("%d to %d: stream %d = %v launched by %v, want %v launched by %v", c.begin, c.end, i, spans, s.Launch, c.spans[i],
					c.launches[i])
			}
		}
		if len(d.References) != c.references || len(d.Collectives) != c.collectives || len(d.Messages) != c.messages ||
			len(d.Members) != 2*c.collectives {
			t.Errorf("%d to %d: %d references, %d collectives of %d members, %d messages, want %d, %d, %d", c.begin, c.end, len(d.References),
				len(d.Collectives), len(d.Members), len(d.Messages), c.references, c.collectives, c.messages)
		}
		for _, m := range d.Messages { // under its new number, the last activity of both streams
			if from, to := d.Streams[m.From], d.Streams[m.To]; int(m.Send) != from.Len()-1 || m.SendDone != m.Send || int(m.Recv) != to.Len()-1 ||
				m.Post != m.Recv {
				t.Errorf("%d to %d: message %+v, want the last activities", c.begin, c.end, m)
			}
		}
	}
}

// TestWithStreams: streams follow the threads as locations, and what kernels communicate follows the collectives and messages of the
// hosts; the timeline itself is not changed.
func TestWithStreams(t *testing.T) {
	plain := NewBuilder(1).Finish(1)
	if plain.WithStreams() != plain || plain.StreamsAsThreads() != plain {
		t.Error("a timeline without devices was copied")
	}
	tl := deviceRun()
	tl.Comms, tl.Members = []Comm{{Name: "world", Members: []int32{0, 1}}}, []Member{{Location: 0}, {Location: 1}}
	tl.Collectives = []Collective{{Op: OpBarrier, Root: -1}}
	tl.Messages = []Message{{From: 1, To: 0, Size: 3}}
	before := *tl
	w := tl.WithStreams()
	var names []string
	for i := range w.Locations {
		l := &w.Locations[i]
		names = append(names, fmt.Sprintf("%d.%d %s %v..%v skip %v", l.Rank, l.Thread, l.Name, l.First, l.Last, l.Calls.Skip))
	}
	want := []string{"0.0 thread 0..100ps skip [3 2 3]", "1.0 thread 0..100ps skip [2 2]", "0.-1 0:7 15ps..60ps skip [1 2]",
		"1.-2 0:7 35ps..65ps skip [1 2]", "1.-3 0:9 5ps..90ps skip [1 2]"}
	if diff := gocmp.Diff(want, names); diff != "" {
		t.Errorf("locations (-want +got):\n%s", diff)
	}
	if got, want := w.ByRank(), []int{0, 2, 1, 3, 4}; !slices.Equal(got, want) {
		t.Errorf("by rank = %v, want %v", got, want)
	}
	if c := w.Collectives[1]; len(w.Collectives) != 2 || c.Comm != 1 || w.Comms[c.Comm].Name != "pair" ||
		w.MembersOf(&c)[0].Location != 2 || w.MembersOf(&c)[1].Location != 3 {
		t.Errorf("collectives = %+v of %+v, want the second one on pair with locations 2 and 3", w.Collectives, w.Members)
	}
	if m := w.Messages[1]; len(w.Messages) != 2 || m.From != 2 || m.To != 3 || m.Comm != 1 {
		t.Errorf("messages = %+v, want the second one from location 2 to 3 on communicator 1", w.Messages)
	}
	if diff := gocmp.Diff(&before, tl); diff != "" {
		t.Errorf("the timeline was changed (-before +after):\n%s", diff)
	}
}

// TestStreamsAsThreads: a stream is a thread of its rank, after the others; what names locations follows.
func TestStreamsAsThreads(t *testing.T) {
	tl := deviceRun()
	tl.Comms, tl.Members = []Comm{{Name: "world", Members: []int32{0, 1}}}, []Member{{Location: 0}, {Location: 1}}
	tl.Collectives = []Collective{{Op: OpBarrier, Root: -1}}
	tl.Messages = []Message{{From: 1, To: 0}}
	tl.Teams = []Team{{Master: 1, Members: []TeamMember{{Location: 1}}}}
	w := tl.StreamsAsThreads()
	want := []string{"0.0 thread node0", "0.1 stream 0:7 node0", "1.0 thread node1", "1.1 stream 0:7 node1", "1.2 stream 0:9 node1"}
	if diff := gocmp.Diff(want, threadsOf(w)); diff != "" {
		t.Errorf("threads (-want +got):\n%s", diff)
	}
	if w.Devices != nil || w.Messages[0].From != 2 || w.Messages[0].To != 0 || w.Members[1].Location != 2 || w.Teams[0].Master != 2 ||
		w.Teams[0].Members[0].Location != 2 {
		t.Errorf("messages %+v, members %+v, teams %+v: want rank 1 at location 2", w.Messages, w.Members, w.Teams)
	}
	if tl.Messages[0].From != 1 || tl.Members[1].Location != 1 || tl.Teams[0].Members[0].Location != 1 {
		t.Error("the timeline itself was changed")
	}
}

// threadsOf describes the locations of a timeline.
func threadsOf(tl *Timeline) (list []string) {
	for i := range tl.Locations {
		l := &tl.Locations[i]
		list = append(list, fmt.Sprintf("%d.%d %s %s", l.Rank, l.Thread, l.Name, l.Host))
	}
	return list
}

// TestStreamsOfRanksWithoutThreads: a trace may hold what ran on the devices alone. The streams are threads of their own ranks then, too.
func TestStreamsOfRanksWithoutThreads(t *testing.T) {
	for _, c := range []struct {
		threads, streams []int // ranks
		want             []string
	}{
		{nil, []int{0, 2}, []string{"0.0 stream s ", "2.0 stream s "}},
		{[]int{1}, []int{0, 0, 1, 2}, []string{"0.0 stream s ", "0.1 stream s ", "1.0 t h", "1.1 stream s h", "2.0 stream s "}},
		{[]int{0, 2}, []int{1, 2}, []string{"0.0 t h", "1.0 stream s ", "2.0 t h", "2.1 stream s h"}},
	} {
		b := NewBuilder(3)
		for _, rank := range c.threads {
			b.Location(rank, 0, "t", "h").Event(0)
		}
		tl := b.Finish(1)
		d := NewDeviceBuilder(tl)
		for i, rank := range c.streams {
			d.Stream(rank, 0, int64(i), "s").Add(1, 2, d.Region("k"), ComputeKernel, NoLaunch)
		}
		d.Finish(nil)
		if diff := gocmp.Diff(c.want, threadsOf(tl.StreamsAsThreads())); diff != "" {
			t.Errorf("threads of ranks %v, streams of ranks %v (-want +got):\n%s", c.threads, c.streams, diff)
		}
	}
}

// TestDeviceWindows: two windows that meet hold together every moment of every stream once, whatever the activities are.
func TestDeviceWindows(t *testing.T) {
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 5))
		tl := NewBuilder(1).Finish(1)
		d := NewDeviceBuilder(tl)
		for range 1 + random.IntN(2) {
			s := d.Stream(0, 0, 0, "")
			for range random.IntN(8) {
				at := unit.Duration(random.IntN(50))
				s.Add(at, at+unit.Duration(random.IntN(20)), d.Region("k"), ComputeKernel, NoLaunch)
			}
		}
		d.Finish(nil)
		busy := func(tl *Timeline) (sum unit.Duration) {
			for i := range tl.Devices.Streams {
				for k, end := range tl.Devices.Streams[i].End {
					sum += end - tl.Devices.Streams[i].Begin[k]
				}
			}
			return sum
		}
		middle := unit.Duration(random.IntN(100))
		if got, want := busy(tl.Window(0, middle, 1))+busy(tl.Window(middle, 1000, 1)), busy(tl); got != want {
			t.Errorf("seed %d: streams are busy for %v before and after %v, want %v", seed, got, middle, want)
		}
		if diff := gocmp.Diff(tl.Devices, tl.Window(-1, 1000, 1).Devices, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("seed %d: a window around everything (-all +window):\n%s", seed, diff)
		}
	}
}
