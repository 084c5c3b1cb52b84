package trace

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"slackline/model/timeline"
	"slackline/model/trace/otf2"
	"slackline/model/trace/streams"
)

// Records of kinds that are not known are skipped, but they count: more than announced are damage.
func TestOTF2MoreThanAnnounced(t *testing.T) {
	tr := randomTrace(5, 2, 1, 50)
	dropCounts(tr)
	files := mapFS(t, write(t, tr, "otf2"))
	const header = 18 // of a chunk: kind, byte order, numbers of its first and last event
	data := files["traces/1.evt"].Data
	unknown := bytes.Repeat([]byte{'#'}, 10*(2+'#')) // kind and length of each are '#'
	got, err := Open(damaged(files, "traces/1.evt", slices.Concat(data[:header], unknown, data[header:])), ".", Options{})
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(got.Locations, func(l Location) bool { return l.Rank == 1 })
	if _, err := eventsOf(got, at); err == nil || !strings.Contains(err.Error(), "are announced") {
		t.Errorf("error %v, want that there are more events than announced", err)
	}
}

func TestOTF2Truncated(t *testing.T) {
	tr := randomTrace(5, 2, 2, 300)
	dropCounts(tr)
	want := allEvents(t, tr)
	files := mapFS(t, write(t, tr, "otf2"))
	for _, name := range []string{"traces.otf2", "traces.def", "traces/1.evt", "traces/4294967297.def"} {
		data := files[name].Data
		for _, cut := range cutsOf(len(data) - 2) { // the last bytes say nothing
			prefix := want
			if name == "traces.def" {
				prefix = nil // without definitions events are something else
			}
			checkPrefix(t, fmt.Sprintf("%s cut at %d", name, cut), damaged(files, name, data[:cut]), ".", prefix)
		}
	}
	// Nothing in an archive tells that bytes were changed. It must be read all the same.
	for _, name := range []string{"traces.otf2", "traces.def", "traces/1.evt", "traces/4294967297.def"} {
		data := files[name].Data
		for _, at := range cutsOf(len(data)) {
			changed := slices.Clone(data)
			changed[at] ^= 0x41
			got, err := Open(damaged(files, name, changed), ".", Options{})
			if err != nil {
				continue
			}
			for i := range got.Locations {
				_, _ = eventsOf(got, i)
			}
		}
	}
	delete(files, "traces/1.evt")
	got, err := Open(files, ".", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0],
		"traces/1.evt: the events of rank 1 cannot be read: file does not exist") || !got.Locations[2].Missing {
		t.Errorf("warnings = %q", got.Warnings)
	}
	checkPrefix(t, "1.evt missing", files, ".", want)
	// In an archive of slackline each location has a file of local definitions.
	files = mapFS(t, write(t, tr, "otf2"))
	delete(files, "traces/0.def")
	_, err = Open(files, ".", Options{Strict: true})
	if err == nil || !strings.Contains(err.Error(), "traces/0.def: the file cannot be read: file does not exist") {
		t.Errorf("0.def missing: error = %v", err)
	}
	// Without them the ids and times of the events may be wrong: the rank is incomplete.
	if got, err = Open(files, ".", Options{}); err != nil {
		t.Fatal(err)
	}
	if tl, err := ToTimeline(got, TimelineOptions{}); err != nil || tl.Missing().Ranks != 1 {
		t.Errorf("0.def missing: %v; missing %+v, want 1 rank", err, tl.Missing())
	}
}

func TestOTF2Refuses(t *testing.T) {
	files := mapFS(t, write(t, randomTrace(5, 1, 1, 0), "otf2"))
	change := func(at int, v byte) []byte {
		data := slices.Clone(files["traces.otf2"].Data)
		data[at] = v
		return data
	}
	for want, data := range map[string][]byte{
		"version 4 of the OTF2 format; this slackline reads versions 1 to 3": change(7, 4),
		"substrate 2": change(28, 2),
		"chunks of ":  change(17, 0xff),
	} {
		_, err := Open(damaged(files, "traces.otf2", data), ".", Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Open = %v, want an error with %q", err, want)
		}
	}
	delete(files, "traces.def")
	if _, err := Open(files, ".", Options{}); err == nil || !strings.Contains(err.Error(), "traces.def") {
		t.Errorf("without definitions: %v", err)
	}
}

// bytesIn builds archives by hand, in any byte order.
type bytesIn struct {
	binary.AppendByteOrder
	b []byte
}

// number appends a compressed number.
func (w *bytesIn) number(v uint64) {
	full := w.AppendUint64(nil, v)
	n := 0
	for ; n < 8 && v>>(8*n) > 0; n++ {
	}
	w.b = append(w.b, byte(n))
	if full[0] == byte(v) && w.String() == binary.LittleEndian.String() {
		w.b = append(w.b, full[:n]...)
	} else {
		w.b = append(w.b, full[8-n:]...)
	}
}

// header appends the header of a chunk.
func (w *bytesIn) header(mark byte, last uint64) {
	w.b = append(w.b, otf2.ChunkBegin, mark)
	w.b = w.AppendUint64(w.b, 1)
	w.b = w.AppendUint64(w.b, last)
}

// record appends a record: numbers are compressed, bytes and strings are as they are.
func (w *bytesIn) record(id byte, fields ...any) {
	body := &bytesIn{AppendByteOrder: w.AppendByteOrder}
	for _, f := range fields {
		switch v := f.(type) {
		case int:
			body.number(uint64(v))
		case byte:
			body.b = append(body.b, v)
		case string:
			body.b = append(append(body.b, v...), 0)
		case nil:
			body.b = append(body.b, 0xff) // undefined
		}
	}
	w.b = append(append(w.b, id, byte(len(body.b))), body.b...)
}

func (w *bytesIn) at(time uint64) { w.b = w.AppendUint64(append(w.b, otf2.Timestamp), time) }

// handMade is a small archive with mappings, MPI_COMM_SELF, an intercommunicator and definitions with holes
// in their ids and without the fields that older versions lack. otf2-print likes no holes, and strings before
// regions.
func handMade(order binary.AppendByteOrder, mark byte, holes bool) fstest.MapFS {
	one := byte(1)
	id := func(dense, withHoles int) int {
		if holes {
			return withHoles
		}
		return dense
	}
	anchor := &bytesIn{AppendByteOrder: order, b: []byte{3, mark, 'O', 'T', 'F', '2', 0, 3, 2, 3, 0, 0}}
	for _, size := range []uint64{1 << 18, 1 << 18} {
		anchor.b = order.AppendUint64(anchor.b, size)
	}
	anchor.b = append(anchor.b, 1, 1)
	for _, count := range []uint64{2, 30} {
		anchor.b = order.AppendUint64(anchor.b, count)
	}
	anchor.b = append(anchor.b, 0, 0, 0)
	anchor.b = order.AppendUint32(anchor.b, 0)
	anchor.b = order.AppendUint64(anchor.b, 77)
	anchor.b = append(order.AppendUint32(order.AppendUint32(anchor.b, 0), 0), 2, 1, 0)

	d := &bytesIn{AppendByteOrder: order}
	d.header(mark, 0)
	d.record(otf2.DefClockProperties, 1_000_000, 500, 70000, nil)
	regions := func() {
		d.record(otf2.DefRegion, id(0, 900_000), 1, 0, byte(0), 0, 0, 0, 1, byte(otf2.RolePointToPoint), byte(otf2.ParadigmMPI), 0)
		d.record(otf2.DefRegion, id(1, 3), 2, 0, byte(0), 0, 0, 0, 2) // without role
	}
	if holes {
		regions()
	}
	for i, s := range []string{"", "MPI_Send", "main", "self", "world", "inter", "box", "PAPI_TOT_INS", "#"} {
		d.record(otf2.DefString, i, s)
	}
	if !holes {
		regions()
	}
	d.record(otf2.DefSystemTreeNode, 0, 6, 6, nil)
	for r := range 2 {
		d.record(otf2.DefLocationGroup, id(r, 10+r), 0, one, 0, nil)
		d.record(otf2.DefLocation, 1<<40+r, 0, one, 7-5*r, id(r, 10+r))
	}
	// ranks the other way round
	d.record(otf2.DefGroup, id(0, 4), 0, byte(6), 2, 1<<40+1, 1<<40, byte(otf2.GroupCommLocations), byte(otf2.ParadigmMPI), 0)
	// without the last fields
	d.record(otf2.DefGroup, id(1, 5), 0, byte(4), 2, 0, 1)
	d.record(otf2.DefGroup, id(2, 6), 0, byte(5), 0, byte(otf2.GroupCommSelf), byte(otf2.ParadigmMPI), 0)
	d.record(otf2.DefGroup, id(3, 7), 0, byte(4), 1, 0, byte(otf2.GroupCommGroup), byte(otf2.ParadigmMPI), 0)
	d.record(otf2.DefGroup, id(4, 8), 0, byte(4), 1, 1, byte(otf2.GroupCommGroup), byte(otf2.ParadigmMPI), 0)
	d.record(otf2.DefComm, id(0, 2), 3, id(2, 6), nil, 0)
	d.record(otf2.DefComm, id(1, 8), 4, id(1, 5), nil, 0)
	d.record(otf2.DefInterComm, id(2, 9), 5, id(3, 7), id(4, 8), nil, 0)
	d.record(otf2.DefMetricMember, id(0, 11), 7, 0, byte(otf2.MetricPAPI), byte(0), byte(otf2.TypeU64), byte(otf2.BaseDecimal), 0, 8)
	// relative, a double of 2^3; absolute
	d.record(otf2.DefMetricMember, id(1, 12), 3, 0, byte(otf2.MetricOther), byte(18), byte(10), byte(0), 3, 8)
	d.record(otf2.DefMetricMember, id(2, 13), 4, 0, byte(otf2.MetricOther), byte(17), byte(8), byte(otf2.BaseDecimal), 0, 8)
	d.record(otf2.DefMetricClass, id(0, 14), byte(3), id(0, 11), id(1, 12), id(2, 13), byte(0), byte(otf2.RecorderCPU))
	d.record(200, 1, 2, 3) // something new
	d.b = append(d.b, 2, 1)

	e := &bytesIn{AppendByteOrder: order}
	e.header(mark, 7)
	e.at(500)
	half := int(math.Float64bits(0.5))
	e.record(otf2.EvtMetric, 0, byte(3), byte(otf2.TypeU64), 1000, byte(10), half, byte(8), 77) // local class 0
	e.b = append(e.b, otf2.EvtEnter, 0)                                                         // local region 0
	e.at(510)
	e.b = append(e.b, otf2.EvtEnter, 1, 1)
	e.record(otf2.EvtSend, 1, 0, 7, 300) // local communicator 0
	e.at(70500)
	e.record(otf2.EvtMetric, 0, byte(3), byte(otf2.TypeU64), 5<<32, byte(10), half, byte(8), 78)
	e.b = append(e.b, otf2.EvtLeave, 1, 1)
	e.b = append(e.b, otf2.EvtLeave, 0)
	e.b = append(e.b, 2, 1)
	l := &bytesIn{AppendByteOrder: order}
	l.header(mark, 0)
	l.record(otf2.LocalMapping, byte(otf2.MapRegion), 2, byte(0), id(1, 3), id(0, 900_000))  // dense
	l.record(otf2.LocalMapping, byte(otf2.MapComm), 2, byte(1), 0, id(1, 8), 1000, id(2, 9)) // sparse
	l.record(otf2.LocalMapping, byte(otf2.MapMetric), 1, byte(0), id(0, 14))
	l.b = append(l.b, 2, 1)

	other := &bytesIn{AppendByteOrder: order}
	other.header(mark, 2)
	other.at(600)
	other.record(otf2.EvtSend, 0, id(0, 2), 1, 8)
	other.record(otf2.EvtSend, 0, id(2, 9), 1, 8)
	other.b = append(other.b, 2, 1)
	return fstest.MapFS{
		"hand.otf2": {Data: anchor.b}, "hand.def": {Data: d.b},
		"hand/1099511627776.evt": {Data: e.b}, "hand/1099511627776.def": {Data: l.b},
		"hand/1099511627777.evt": {Data: other.b}, "hand/1099511627777.def": {Data: append(slices.Clone(l.b[:otf2.ChunkHeader]), 2, 1)},
	}
}

func TestOTF2ByHand(t *testing.T) {
	for name, files := range map[string]fstest.MapFS{
		"little": handMade(binary.LittleEndian, otf2.Little, false), "big": handMade(binary.BigEndian, otf2.Big, false),
		"holes": handMade(binary.LittleEndian, otf2.Little, true),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Open(files, "hand.otf2", Options{Strict: true})
			if err != nil {
				t.Fatal(err)
			}
			us := int64(1e6)
			want := Definitions{
				Ranks: 2,
				Locations: []Location{
					{ID: 1<<40 + 1, Rank: 0, Host: "box", Events: 2}, {ID: 1 << 40, Rank: 1, Host: "box", Events: 7},
				},
				Regions: []timeline.Region{{Name: "MPI_Send", Paradigm: timeline.MPI, Role: timeline.PointToPoint}, {Name: "main"}},
				Comms: []timeline.Comm{
					{Name: "self", Members: []int32{0}}, {Name: "self", Members: []int32{1}},
					{Name: "world", Members: []int32{0, 1}}, {Name: "inter", Members: []int32{0}, Remote: []int32{1}},
				},
				Stacks: []Stack{{}}, Properties: Properties{Resolution: 1e6},
				Metrics: []timeline.Metric{{Name: "PAPI_TOT_INS", Unit: "#"}, {Name: "self", Unit: "#"}},
			}
			compare(t, got, newMemory(want, [][]Event{
				{
					{Time: 100 * us, Kind: Send, Peer: 0, Comm: 0, Tag: 1, Size: 8},
					{Time: 100 * us, Kind: Send, Peer: 0, Comm: 3, Tag: 1, Size: 8},
				},
				{
					{Kind: Count, Object: 0, Request: 1000}, {Kind: Count, Object: 1, Request: 4},
					{Kind: Enter, Region: 1}, {Time: 10 * us, Kind: Enter, Region: 0},
					{Time: 10 * us, Kind: Send, Peer: 1, Comm: 2, Tag: 7, Size: 300},
					{Time: 70000 * us, Kind: Count, Object: 0, Request: 5 << 32}, {Time: 70000 * us, Kind: Count, Object: 1, Request: 8},
					{Time: 70000 * us, Kind: Leave, Region: 0}, {Time: 70000 * us, Kind: Leave, Region: 1},
				},
			}))
			if name == "holes" {
				return
			}
			// otf2-print agrees, once there is a file of local definitions.
			files["hand/1099511627777.def"] = &fstest.MapFile{Data: append(slices.Clone(files["hand/1099511627776.def"].Data[:18]), 2, 1)}
			dir := t.TempDir()
			if err := os.CopyFS(dir, files); err != nil {
				t.Fatal(err)
			}
			anchor := filepath.Join(dir, "hand.otf2")
			judgeAgainst(t, anchor, otf2Print(t, anchor, false)) // it does not like records that it does not know
		})
	}
}

// Calls with stacks, intercommunicators, states of locations and times before 0 survive.
func TestOTF2Unusual(t *testing.T) {
	d := randomTrace(1, 2, 1, 0).Definitions
	d.Comms = append(d.Comms, timeline.Comm{Name: "inter", Members: []int32{0}, Remote: []int32{1}})
	d.Locations = append(d.Locations, Location{ID: 1<<32 | 1, Rank: 1, Thread: 1, Missing: true, Host: "node0"})
	d.Locations[1].Truncated = true
	for i := range d.Locations {
		d.Locations[i].Offsets, d.Locations[i].Events = nil, 0
	}
	d.Locations[0].Events, d.Resolution = 8, 3_000_000_007
	events := [][]Event{{
		{Time: -7, Kind: Enter, Region: 0},
		{Time: -5, Kind: Enter, Region: 7, Stack: 2},
		{Time: 0, Kind: Sample, Stack: 0},
		{Time: 1, Kind: Sample, Stack: 3},
		{Time: 2, Kind: Leave, Region: 7},
		{Time: 2, Kind: Leave, Region: 0},
		{Time: 3, Kind: Isend, Comm: 2, Peer: 0, Tag: -1, Size: 1 << 40, Request: 1<<64 - 1},
		{Time: 3, Kind: Fork, Size: 2},
	}, nil, nil}
	want := newMemory(d, events)
	path := write(t, want, "otf2")
	got, err := openPath(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	// The global offset is the first time.
	for i := range events[0] {
		events[0][i].Time += 7
	}
	compare(t, got, want)
	judge(t, filepath.Join(path, "traces.otf2"))
}

// A trace whose clock ticks do not divide a picosecond comes back as it was.
func TestOTF2OddResolution(t *testing.T) {
	c := otf2.NewClock(2_100_000_001, 12345)
	for _, ticks := range []int64{0, 1, 2, 999, 1 << 40, 1 << 52, -1, -2, -1 << 50} {
		ps, ok := c.Span(ticks)
		back, exact := c.Ticks(ps)
		if !ok || !exact || back != ticks {
			t.Errorf("%d ticks are %d ps (%v), which are %d ticks (%v)", ticks, ps, ok, back, exact)
		}
	}
	if _, ok := c.Span(1 << 62); ok {
		t.Error("2^62 ticks fit into 63 bits of picoseconds")
	}
	if ps, _ := c.Span(-1); ps != -477 { // 476.19... rounded down
		t.Errorf("-1 tick = %d ps, want -477", ps)
	}
}

// What other programs read of an archive with accelerators has their streams as threads; in an archive they are what Score-P writes.
func TestOTF2StreamsForOthers(t *testing.T) {
	tr := mustOpen(t, "../../testdata/accelerator/cases/02-long-kernel/traces.otf2")
	var out bytes.Buffer
	f, err := FormatNamed("perfetto")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteTo(&out, tr, WriteOptions{}); err != nil || !bytes.Contains(out.Bytes(), []byte("stream CUDA[0:")) {
		t.Errorf("no stream among the threads: %v", err)
	}
	cases, err := filepath.Glob("../../testdata/accelerator/cases/*/traces.otf2")
	if err != nil || len(cases) < 3 {
		t.Fatal(cases, err)
	}
	launches := 0
	for _, name := range append(cases, "../../testdata/accelerator/cases/03-copy-stream/ranks",
		"../../testdata/accelerator/cases/09-process-groups/ranks") {
		launches += compareStreams(t, name)
	}
	if launches == 0 {
		t.Error("no launch was read back")
	}
}

// compareStreams writes a trace as an archive and wants its streams to be the same without the file that only slackline reads. It returns
// the number of launches.
func compareStreams(t *testing.T, name string) (launches int) {
	t.Helper()
	tr, out := mustOpen(t, name), t.TempDir()
	if _, err := Write(filepath.Join(out, "run.otf2"), tr, "otf2", WriteOptions{}); err != nil {
		t.Fatal(name, err)
	}
	if err := os.Remove(filepath.Join(out, "run", streams.Name)); err != nil {
		t.Fatal(name, err)
	}
	back, err := Open(os.DirFS(out), "run.otf2", Options{})
	if err != nil || !slices.Equal(back.Warnings, []string{"run/streams.slt: the file is missing: which kernels communicate is lost"}) {
		t.Fatal(name, back.Warnings, err)
	}
	list := func(tr *Trace) (lines []string, known int) {
		tl, err := ToTimeline(tr, TimelineOptions{})
		if err != nil || tl.Devices == nil {
			t.Fatal(name, tl, err)
		}
		for i := range tl.Devices.Streams {
			s := &tl.Devices.Streams[i]
			for j := range s.Len() {
				kind := s.Kind[j]
				if kind == timeline.Memset { // a region as any other
					kind = timeline.ComputeKernel
				}
				lines = append(lines, fmt.Sprintln(s.Rank, i, s.Begin[j], s.End[j], tl.RegionOf(s.Path[j]).Name, kind))
				if s.Launch[j].Known() {
					known++
				}
			}
		}
		return lines, known
	}
	want, _ := list(tr)
	got, launches := list(back)
	if !slices.Equal(got, want) {
		t.Errorf("%s: streams %q, want %q", name, got, want)
	}
	if !testing.Short() {
		printed := 0
		for _, lines := range otf2Print(t, filepath.Join(out, "run.otf2"), true) {
			printed += strings.Count(strings.Join(lines, "\n"), "CUDA_STREAM_REF")
		}
		if strings.Contains(name, "ranks") && printed == 0 {
			t.Errorf("%s: otf2-print sees no reference to a stream", name)
		}
	}
	return launches
}

// FuzzOTF2 reads arbitrary bytes as any of the files of an archive.
func FuzzOTF2(f *testing.F) {
	tr := randomTrace(5, 2, 1, 40)
	dropCounts(tr)
	files := mapFS(f, write(f, tr, "otf2"))
	names := []string{"traces.otf2", "traces.def", "traces/1.evt", "traces/1.def"}
	for i, name := range names {
		f.Add(files[name].Data, uint8(i))
	}
	for i, name := range []string{"hand.otf2", "hand.def", "hand/1099511627776.evt", "hand/1099511627776.def"} {
		f.Add(handMade(binary.BigEndian, otf2.Big, true)[name].Data, uint8(i))
	}
	// From 128 on it is an archive with streams of accelerators, which become a part of the timeline.
	const streams = 128
	accelerator := fstest.MapFS{}
	parts := []string{"traces.otf2", "traces.def", "traces/0.evt", "traces/4294967296.evt", "traces/8589934592.evt", "traces/0.def"}
	for i, name := range append(parts, "traces/4294967296.def", "traces/8589934592.def") {
		data, err := os.ReadFile(filepath.Join("../../testdata/accelerator/cases/02-long-kernel", name))
		if err != nil {
			f.Fatal(err)
		}
		accelerator[name] = &fstest.MapFile{Data: data}
		if i < len(parts) {
			f.Add(data, uint8(streams+i))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, which uint8) {
		changed := damaged(files, names[int(which)%len(names)], data)
		if which >= streams {
			changed = damaged(accelerator, parts[int(which-streams)%len(parts)], data)
		}
		got, err := Open(changed, "traces.otf2", Options{})
		if err != nil {
			return
		}
		if which >= streams {
			_, _ = ToTimeline(got, TimelineOptions{})
		}
		for i := range got.Locations {
			_, _ = eventsOf(got, i)
		}
	})
}

// Round trips, which OTF2 does not know, become offsets of clocks.
func TestOTF2FromRoundTrips(t *testing.T) {
	tr := randomTrace(3, 2, 1, 100)
	dropCounts(tr)
	const apart = 7_000_000_000
	for i := range tr.Locations {
		tr.Locations[i].Offsets = nil
	}
	for _, at := range []int64{0, 1e12} { // rank 1 is behind by 7 ms
		tr.Locations[1].RoundTrips = append(tr.Locations[1].RoundTrips,
			RoundTrip{Partner: 0, Sent: at, Answered: at + apart + 500_000, Back: at + 1_000_000})
	}
	got := mustOpen(t, write(t, tr, "otf2"))
	if len(got.Locations[0].Offsets) != 0 || len(got.Locations[1].Offsets) < 2 {
		t.Fatalf("offsets %v and %v", got.Locations[0].Offsets, got.Locations[1].Offsets)
	}
	for _, o := range got.Locations[1].Offsets {
		if o.Offset < apart-500_000 || o.Offset > apart+500_000 {
			t.Errorf("offset = %d, want %d", o.Offset, int64(apart))
		}
	}
}
