package trace

import (
	"testing"

	"pgregory.net/rapid"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// checkTimeline tests what must hold of every timeline, however strange the trace. The calls of workers are below
// paths of their masters, whatever is open around them.
func checkTimeline(t rapid.TB, tl *timeline.Timeline) {
	t.Helper()
	for i := range tl.Locations {
		l := &tl.Locations[i]
		c := &l.Calls
		n := int32(c.Len())
		ends := []int32{n}
		paths := []timeline.PathID{0}
		for j := range n {
			for j == ends[len(ends)-1] {
				ends, paths = ends[:len(ends)-1], paths[:len(paths)-1]
			}
			if c.Skip[j] <= j || c.Skip[j] > ends[len(ends)-1] || c.Leave[j] < c.Enter[j] || c.Enter[j] < l.First || c.Leave[j] > l.Last ||
				j > 0 && c.Enter[j] < c.Enter[j-1] || l.Thread == 0 && tl.Paths[c.Path[j]].Parent != paths[len(paths)-1] {
				t.Fatalf("location %d, call %d: skip %d of %d, from %d to %d, path %d", i, j, c.Skip[j], n, c.Enter[j], c.Leave[j], c.Path[j])
			}
			ends, paths = append(ends, c.Skip[j]), append(paths, c.Path[j])
		}
		for _, p := range l.Polls {
			if p.Call < 0 || p.Call >= n {
				t.Fatalf("location %d: poll %+v of %d calls", i, p, n)
			}
		}
	}
	call := func(location, call int32) {
		if location < 0 || int(location) >= len(tl.Locations) || call < 0 || int(call) >= tl.Locations[location].Calls.Len() {
			t.Fatalf("there is no call %d of location %d", call, location)
		}
	}
	for _, m := range tl.Messages {
		call(m.From, m.Send)
		call(m.To, m.Post)
		call(m.To, m.Recv)
		if m.SendDone >= 0 {
			call(m.From, m.SendDone)
		}
	}
	members := 0
	for _, c := range tl.Collectives {
		if c.First != members {
			t.Fatalf("collective %+v, want its members at %d", c, members)
		}
		for _, m := range tl.Members[c.First:][:len(tl.Comms[c.Comm].Members)] {
			call(m.Location, m.Issue)
			call(m.Location, m.Complete)
			tl.CountsOf(&m)
			members++
		}
	}
	for _, team := range tl.Teams {
		for _, m := range team.Members {
			if m.End < m.Begin || team.Join < team.Fork {
				t.Fatalf("team %+v", team)
			}
		}
	}
}

func TestRandomTracesBecomeTimelines(t *testing.T) {
	for seed := range uint64(40) {
		tr := randomTrace(seed, 4, 2, 300)
		for _, o := range []TimelineOptions{
			{}, {Clock: ClockControl, Latency: unit.Microsecond}, {NoSamples: true, Clock: ClockNone}, {Ranks: []int{1, 3}},
			{Begin: 20 * unit.Microsecond, End: 80 * unit.Microsecond},
		} {
			checkTimeline(t, toTimeline(t, tr, o))
		}
	}
}

// fuzzTrace makes a trace out of bytes: four of them are an event.
func fuzzTrace(data []byte) *Trace {
	regions := []string{"main", "f", "MPI_Send", "MPI_Allreduce", "!$omp parallel", "!$omp implicit barrier", "GOMP_parallel"}
	stacks := []Stack{{0, 0}, {1, 1}, {2, 6}, {3, 1}, {1, 1}, {9, 9}, {0, 6}, {7, 1}}
	events := make([][]Event, 3)
	now := make([]int64, len(events))
	for ; len(data) >= 4; data = data[4:] {
		l := int(data[0]>>5) % len(events)
		a, b := data[2], data[3]
		now[l] += int64(data[1])
		e := Event{Time: now[l], Kind: Kind(data[0] & 63 % uint8(numKinds)), Op: timeline.Op(b & 15), Region: uint32(a) % uint32(len(regions)),
			Stack: uint32(b & 15), Peer: int32(a&3) - 1, Root: int32(b&3) - 1, Comm: uint32(a >> 6), Tag: int32(b >> 6), Size: int64(b),
			Sent: int64(a & 1), Received: int64(b & 1), Request: uint64(a & 3)}
		if b&16 != 0 {
			e.Counts = []int64{1, 2, 3, 4}[:a&3]
		}
		events[l] = append(events[l], e)
	}
	tr := memoryTrace(regions, stacks, events...)
	tr.Comms = append(tr.Comms, timeline.Comm{Members: []int32{1, 0}}, timeline.Comm{Members: []int32{0}, Remote: []int32{1, 7}})
	tr.Locations[2].Rank, tr.Locations[2].Thread = 1, 1
	tr.Ranks = 2
	return tr
}

func FuzzToTimeline(f *testing.F) {
	f.Add([]byte{0, 1, 0, 1, 14, 0, 0, 0, 32 + 14, 1, 0, 0, 18, 3, 0, 2, 64 + 16, 2, 0, 0, 64, 1, 1, 0, 18 + 64, 1, 0, 8, 65, 1, 1, 0, 0, 1,
		2, 1, 2, 1, 1, 0, 1, 1, 2, 0}, uint8(0))
	f.Fuzz(func(t *testing.T, data []byte, options uint8) {
		tr := fuzzTrace(data)
		o := TimelineOptions{Threads: 1 + int(options>>7), Clock: Clocks()[options&3], NoSamples: options&4 != 0}
		if options&8 != 0 {
			tr.Locations[1].RoundTrips = []RoundTrip{{0, 5, 9, 12}, {2, int64(options) - 100, 1000, 1010}}
		}
		if options&16 != 0 {
			tr.Locations[0].Offsets = []ClockOffset{{Time: 3, Offset: int64(options)}, {Time: 100, Offset: -5}}
			tr.Resolution = 1e9
		}
		if options&32 != 0 {
			o.Begin = unit.Duration(options)
		}
		tr.CallPaths = []string{"full", "caller"}[options>>6&1]
		tl, err := ToTimeline(tr, o)
		if err != nil {
			t.Fatal(err)
		}
		checkTimeline(t, tl)
	})
}
