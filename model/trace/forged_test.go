package trace

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"slackline/internal/chunk"
	"slackline/model/timeline"
)

// forgedSLT is a file of events, with right checksums, that has one shape.
func forgedSLT(t *testing.T, kind Kind, numbers ...uint64) []byte {
	t.Helper()
	var b bytes.Buffer
	w := newSLTWriter(chunk.NewWriter(&b, &sltEventLayout))
	w.add(&Event{Kind: kind})
	shape := []byte{byte(kind)}
	for _, v := range numbers {
		shape = binary.AppendUvarint(shape, v)
	}
	w.columns[sltShapes] = append(w.columns[sltShapes][:0], shape...)
	if err := w.finish(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestForgedSLTNumbers: numbers that are too large for what they are do not become others.
func TestForgedSLTNumbers(t *testing.T) {
	const over = 1 << 32
	files := mapFS(t, write(t, newMemory(Definitions{
		Ranks: 1, Locations: []Location{{}}, Stacks: []Stack{{}}, Comms: []timeline.Comm{{Members: []int32{0}}},
	}, [][]Event{{{Kind: Send}}}), "slt"))
	for what, numbers := range map[string][]uint64{
		"":           {0, 0, 0, 0},
		"least peer": {chunk.Zigzag(math.MinInt32), 0, chunk.Zigzag(math.MaxInt32), 0},
		"peer":       {chunk.Zigzag(over), 0, 0, 0},
		"low peer":   {chunk.Zigzag(math.MinInt32 - 1), 0, 0, 0},
		"far peer":   {math.MaxUint64, 0, 0, 0},
		"comm":       {0, over, 0, 0},
		"tag":        {0, 0, chunk.Zigzag(math.MaxInt32 + 1), 0},
	} {
		forged := fstest.MapFS{"definitions.slt": files["definitions.slt"], "0-0.slt": {Data: forgedSLT(t, Send, numbers...)}}
		tr, err := Open(forged, ".", Options{})
		if err != nil {
			t.Fatal(err)
		}
		tr.Locations[0].Missing, tr.Locations[0].Unreadable = false, "" // the file is not that of the definitions, which is another matter
		_, err = eventsOf(tr, 0)
		if wide := what != "" && what != "least peer"; wide != (err != nil && strings.Contains(err.Error(), "0-0.slt: byte 16: ")) {
			t.Errorf("%s: error %v", what, err)
		}
	}
	root := forgedSLT(t, CollectiveEnd, uint64(timeline.OpBcast), 0, chunk.Zigzag(over), 0, 0, 0)
	r, err := chunk.NewReader(bytes.NewReader(root), &sltEventLayout, sltIndex)
	if err != nil {
		t.Fatal(err)
	}
	_, raw, err := r.Next()
	var d sltDecoder
	if err != nil || d.begin(raw, limits{comms: 1}) == nil {
		t.Errorf("a root of %d is taken; %v", int64(over), err)
	}
}

// TestForgedNeighbors: so are those of definitions.
func TestForgedNeighbors(t *testing.T) {
	for rank, want := range map[int64]bool{1: true, timeline.UnknownRank: true, 1 << 32: false, math.MinInt64: false} {
		var b []byte
		for _, v := range []uint64{0, 0, 1, chunk.Zigzag(rank), 0} { // communicator, rank, neighbors
			b = binary.AppendUvarint(b, v)
		}
		d := &Definitions{Ranks: 2, Comms: []timeline.Comm{{Members: []int32{0, 1}}}}
		r := &sltDefsReader{d: d, c: chunk.Column{B: b}}
		if err := r.neighbors(); (err == nil) != want {
			t.Errorf("neighbor %d: error %v", rank, err)
		}
	}
}

// TestForgedOTF2: nor do those of OTF2.
func TestForgedOTF2(t *testing.T) {
	files := mapFS(t, write(t, memoryTrace([]string{"main", "f"}, nil, []Event{
		{Kind: Enter, Region: 1}, {Time: 1, Kind: Leave, Region: 1},
	}), "otf2"))
	enter := []byte{12, 1, 1} // a number of one byte
	if !bytes.Contains(files["traces/0.evt"].Data, enter) {
		t.Fatalf("no record % x in % x", enter, files["traces/0.evt"].Data)
	}
	forged := bytes.Replace(files["traces/0.evt"].Data, enter, []byte{12, 5, 1, 0, 0, 0, 1}, 1)
	tr, err := Open(damaged(files, "traces/0.evt", forged), ".", Options{})
	if err != nil {
		t.Fatal(err)
	}
	events, err := eventsOf(tr, 0)
	if err == nil || !strings.Contains(err.Error(), "0.evt: byte ") || !strings.Contains(err.Error(), "too large") {
		t.Errorf("a region of 2^32+1: events %+v, error %v", events, err)
	}
}

// TestForgedSums: what cannot be added up, and what is no time after its correction, is an error that says where.
func TestForgedSums(t *testing.T) {
	const most, far = math.MaxInt64, math.MaxInt64 / 2
	world := []timeline.Comm{{Members: []int32{0, 1}}}
	clock := []ClockOffset{{0, far, 0}, {10, far, 0}}
	for _, tc := range []struct {
		name    string
		offsets []ClockOffset
		events  []Event
		want    string
	}{
		{"one", nil, []Event{{Kind: Send, Size: mostBytes}}, ""},
		{"one size", nil, []Event{{Time: 7, Kind: Send, Size: mostBytes + 1}}, "rank 0: run.slt: at 7ps: with 4611686018427387905"},
		{"sizes", nil, []Event{{Kind: Send, Size: most / 2}, {Kind: Recv, Size: most / 2}}, "more than 2^62 together"},
		{"sizes of collectives", nil, []Event{{Kind: CollectiveEnd, Sent: most / 2, Received: most / 2}}, "more than 2^62 together"},
		{"counts", nil, []Event{{Kind: CollectiveEnd, Counts: []int64{1, most}}}, "more than 2^62 together"},
		{"polls", nil, []Event{{Kind: Polls, Size: most}}, "more than 2^62 together"},
		{"without a CPU", nil, []Event{{Kind: NoCPU, Size: most}}, ""},
		{"not recorded", nil, []Event{{Kind: SkippedSends, Size: -most}}, "are too many"},
		{"a group", nil, []Event{{Kind: WinPost, Counts: []int64{1 << 32}}}, "has a rank that is none"},
		{"the span", nil, []Event{{Time: -2, Kind: Other}, {Time: most, Kind: Other}}, "longer than times can be"},
		{"the longest span", nil, []Event{{Time: -2, Kind: Other}, {Time: most - 2, Kind: Other}}, ""},
		{"a corrected time", clock, []Event{{Time: most - 5, Kind: Other}}, "the corrected time is too large"},
		{"a corrected time that fits", clock, []Event{{Time: far, Kind: Other}}, ""},
		{"two ranks", nil, []Event{{Kind: Get, Size: mostBytes - 8}}, ""},
		{"two ranks, too many", nil, []Event{{Kind: Get, Size: mostBytes - 7}}, "of all ranks are more than 2^62 together"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tr := newMemory(Definitions{
				Ranks: 2, Locations: []Location{{Offsets: tc.offsets}, {Rank: 1}}, Comms: world, Windows: []timeline.Object{{}},
				Regions: []timeline.Region{{Name: "f"}},
			}, [][]Event{tc.events, {{Kind: Send, Size: 0}, {Kind: Get, Size: 8}}})
			tr.Name = "run.slt"
			if strings.HasPrefix(tc.name, "one") {
				tr.Locations = tr.Locations[:1]
			}
			_, err := ToTimeline(tr, TimelineOptions{})
			if got := fmt.Sprint(err); tc.want == "" && err != nil || !strings.Contains(got, tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

// TestForgedOffsets: clocks that cannot be are not corrected, and this is said.
func TestForgedOffsets(t *testing.T) {
	tr := newMemory(Definitions{
		Ranks: 1, Locations: []Location{{Offsets: []ClockOffset{{0, math.MaxInt64, 0}, {10, 0, 0}}}},
	}, [][]Event{{{Kind: Other}, {Time: 5, Kind: Other}}})
	tl := toTimeline(t, tr, TimelineOptions{})
	if notes := tl.Problems.Notes; len(notes) != 1 || !strings.Contains(notes[0], "out of range") {
		t.Errorf("notes %q", notes)
	}
}

// TestForgedRanks: a number of ranks of which the trace knows nothing takes no memory.
func TestForgedRanks(t *testing.T) {
	many := make([]int32, 1<<17)
	for i := range many {
		many[i] = int32(i)
	}
	for _, tc := range []struct {
		ranks   int
		members []int32
		bad     bool
	}{{1 << 16, nil, false}, {math.MaxInt32, nil, true}, {len(many), many, false}, {20 * len(many), many, true}} {
		d := Definitions{Ranks: tc.ranks, Locations: []Location{{}}, Stacks: []Stack{{}}, Comms: []timeline.Comm{{Members: tc.members}}}
		dir := write(t, newMemory(d, [][]Event{{{Kind: Other}}}), "slt")
		_, err := openPath(dir, Options{})
		if bad := err != nil; bad != tc.bad || bad && !strings.Contains(err.Error(), "definitions.slt: a trace of ") {
			t.Errorf("%d ranks, %d members: error %v", tc.ranks, len(tc.members), err)
		}
	}
	if _, err := parse("slackline trace 1\nranks 9000000\nrank 0\n0..1 main\n"); err == nil || !strings.Contains(err.Error(), "a.trace:2: ") {
		t.Errorf("a text of 9000000 ranks: error %v", err)
	}
}
