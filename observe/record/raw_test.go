package record

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"slackline/model/timeline"
	"slackline/model/trace"
	"slackline/observe/mpi"
)

// rawBuilder makes raw files as the recorder does.
type rawBuilder struct{ bytes.Buffer }

func newRawBuilder(definitions bool) *rawBuilder {
	b := &rawBuilder{}
	head := make([]byte, rawPage)
	le := binary.LittleEndian
	le.PutUint64(head, rawMagic)
	le.PutUint64(head[8:], rawVersion)
	le.PutUint32(head[16:], 1) // rank
	le.PutUint32(head[20:], 2) // ranks
	le.PutUint32(head[32:], rawLeastChunk)
	if definitions {
		le.PutUint32(head[36:], 1)
	}
	le.PutUint64(head[56:], 1e6) // period
	le.PutUint64(head[64:], rawClosed)
	copy(head[144:], "host")
	sealHead(head)
	b.Write(head)
	return b
}

// sealHead puts the checksum of a head into it.
func sealHead(page []byte) {
	binary.LittleEndian.PutUint64(page[rawPage-rawTail+16:], sealOfHead(page))
}

// sealChunk does so with a chunk.
func sealChunk(c []byte) {
	le := binary.LittleEndian
	n := le.Uint64(c[16:])/8 - rawChunkHead/8
	le.PutUint64(c[24:], checksum(c[rawChunkHead:rawChunkHead+8*n], le.Uint64(c[8:]))>>rawSealBits<<rawSealBits|n)
}

// chunk adds a chunk with records; each is its first words and its data.
func (b *rawBuilder) chunk(sequence uint64, behind int, records ...[]uint64) {
	c := make([]byte, rawChunkHead, rawLeastChunk)
	used := rawChunkHead
	for i, r := range records {
		for _, w := range r {
			c = binary.LittleEndian.AppendUint64(c, w)
		}
		if i < len(records)-behind {
			used = len(c)
		}
	}
	le := binary.LittleEndian
	le.PutUint64(c, rawChunkMagic)
	le.PutUint64(c[8:], sequence)
	le.PutUint64(c[16:], uint64(used))
	sealChunk(c)
	b.Write(c[:rawLeastChunk])
}

// entry is a record: kind and function, path and count, times in ns, data.
func entry(kind, function uint16, path, count uint32, enter, leave uint64, data ...uint64) []uint64 {
	return append([]uint64{
		uint64(kind) | uint64(function)<<16 | uint64(rawHeadWords+len(data))<<32, uint64(path) | uint64(count)<<32, enter, leave,
	}, data...)
}

func pair(high, low int32) uint64 { return uint64(uint32(high))<<32 | uint64(uint32(low)) }

func (b *rawBuilder) open(t testing.TB) *rawFile {
	t.Helper()
	r, err := newRawFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func numberOf(t testing.TB, name string) uint16 {
	t.Helper()
	list, err := mpi.Functions()
	if err != nil {
		t.Fatal(err)
	}
	return uint16(slices.Index(functionNames(list), name))
}

// decodeRaw decodes a file of events, with one communicator and the stacks of some paths.
func decodeRaw(t testing.TB, r *rawFile) []trace.Event {
	t.Helper()
	list, err := mpi.Functions()
	if err != nil {
		t.Fatal(err)
	}
	regions := newRegionTable()
	tables := &streamTables{
		calls: callTable(list, regions), comms: map[uint32]uint32{0: 0, 7: 1}, period: picoseconds(r.head.period),
		names: map[uint32]uint32{}, code: map[uint64]uint32{}, omp: map[uint16]uint32{},
	}
	for number, name := range ompRegions {
		tables.omp[number] = regions.region(timeline.RegionNamed(name))
	}
	main := regions.stack(0, regions.region(timeline.RegionNamed("main")))
	work := regions.stack(main, regions.region(timeline.RegionNamed("work")))
	tables.stacks, tables.parents = []uint32{0, main, work}, regions.stacks
	s := &eventStream{streamTables: tables, file: r, close: io.NopCloser(nil), issued: map[uint64]trace.Event{}}
	var all []trace.Event
	buffer := make([]trace.Event, 3)
	for {
		n, err := s.Read(buffer)
		all = append(all, buffer[:n]...)
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func kindsOf(events []trace.Event) []trace.Kind {
	var kinds []trace.Kind
	for _, e := range events {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

func TestDecode(t *testing.T) {
	b := newRawBuilder(false)
	send, wait, test := numberOf(t, "Isend"), numberOf(t, "Wait"), numberOf(t, "Test")
	b.chunk(1, 1, // younger than the one behind it
		entry(rawComplete, test, 1, 4, 3000, 9000, 5),
		entry(rawSample, 0, 2, 0, 5000, 5000), // inside of the run of polls
		entry(rawSpan, 0, 2, 0, 10000, 20000),
		entry(rawComplete, wait, 1, 0, 21000, 22000, moreFlag, 5, 1, pair(0, 3), 8, 0),
		entry(rawComplete, wait, 1, 0, 21000, 22000, 0, 6, uint64(7)<<32|2, pair(1, 4), 0, 16),
		entry(rawRecv, numberOf(t, "Recv"), 1, 0, 23000, 0, 8, pair(0, 1), 0), // never came back
	)
	b.chunk(0, 0,
		entry(rawProgramBegin, 0, 0, 0, 500, 500, 0),
		entry(rawSend, send, 1, 0, 1000, 2000, 8, pair(0, 3), 0, 5),
		entry(rawSample, 0, 2, 0, 2500, 2500),
	)
	events := decodeRaw(t, b.open(t))
	want := []trace.Kind{
		trace.ProgramBegin, trace.Enter, trace.Isend, trace.Leave, trace.Sample,
		trace.Enter, trace.Polls, trace.RequestTest, trace.Leave,
		trace.Enter, trace.Leave,
		trace.Enter, trace.IsendDone, trace.IrecvDone, trace.Leave,
		trace.Enter,
	}
	if got := kindsOf(events); !slices.Equal(got, want) {
		t.Fatalf("kinds = %v\nwant %v", got, want)
	}
	if e := events[2]; e.Peer != 0 || e.Tag != 3 || e.Size != 8 || e.Request != 5 || e.Time != 1000e3 {
		t.Errorf("Isend = %+v", e)
	}
	if e := events[6]; e.Size != 5 {
		t.Errorf("polls = %d, want 5", e.Size)
	}
	if e := events[13]; e.Peer != 1 || e.Tag != 4 || e.Size != 16 || e.Request != 6 || e.Comm != 1 {
		t.Errorf("IrecvDone = %+v", e)
	}
	if !slices.IsSortedFunc(events, func(a, b trace.Event) int { return int(a.Time - b.Time) }) {
		t.Error("times decrease")
	}
}

// TestLateSample wants the time in which a sample could not be taken to belong to it.
func TestLateSample(t *testing.T) {
	b := newRawBuilder(false)
	b.chunk(0, 0,
		entry(rawSample, 0, 1, 0, 1e6, 1e6),
		entry(rawSample, 0, 2, 0, 9e6, 9e6),
	)
	events := decodeRaw(t, b.open(t))
	if len(events) != 3 || events[1].Stack != events[2].Stack || events[1].Time != 2e9 {
		t.Errorf("events = %+v, want a second sample of the last stack at 2 ms", events)
	}
}

// TestSampleAtWakeUp wants a wait to have its whole time although samples were taken and the time without a CPU was read at wake-ups,
// before the record of the wait.
func TestSampleAtWakeUp(t *testing.T) {
	b := newRawBuilder(false)
	b.chunk(0, 0,
		entry(rawSample, 0, 1, 0, 1e6, 1e6),
		entry(rawSample, 1, 1, 0, 50e6, 50e6),
		entry(rawNoCPU, 0, 0, 0, 90e6, 90e6, 70e3),
		entry(rawSample, 1, 1, 0, 90e6, 90e6),
		entry(rawSpan, 0, 2, 0, 2e6, 91e6),
		entry(rawSample, 0, 1, 0, 92e6, 92e6),
	)
	events := decodeRaw(t, b.open(t))
	want := []trace.Kind{trace.Sample, trace.Enter, trace.NoCPU, trace.Leave, trace.Sample}
	if got := kindsOf(events); !slices.Equal(got, want) {
		t.Fatalf("kinds = %v, want %v", got, want)
	}
	if events[1].Time != 2e9 || events[3].Time != 91e9 {
		t.Errorf("the wait is from %d to %d ps, want 2 to 91 ms", events[1].Time, events[3].Time)
	}
}

// TestSleepBesideWaits wants the time of a wait in a call that is not known to belong to the function that waited before or after it.
func TestSleepBesideWaits(t *testing.T) {
	b := newRawBuilder(false)
	barrier := numberOf(t, "Barrier")
	b.chunk(0, 0,
		entry(rawSpan, 0, 2, 0, 1e6, 2e6),
		entry(rawNoCPU, 0, 0, 0, 3e6, 3e6, 70e3),
		entry(rawSpan, 0, 2, 0, 52e6, 53e6),
		entry(rawSpan, 0, 1, 0, 93e6, 94e6),
		entry(rawNoCPU, 0, 0, 0, 124e6, 124e6, 70e3),
		entry(rawCollective, barrier, 1, 0, 124e6, 125e6, 0, pair(0, 0), 0, 0),
		entry(rawSpan, 0, 1, 0, 126e6, 127e6),
	)
	events := decodeRaw(t, b.open(t))
	if !slices.IsSortedFunc(events, func(a, b trace.Event) int { return int(a.Time - b.Time) }) {
		t.Error("times decrease")
	}
	var times []int64
	var stacks []uint32
	for _, e := range events {
		if e.Kind == trace.Sample {
			times, stacks = append(times, e.Time/1e9), append(stacks, e.Stack)
		}
	}
	wait, main := stacks[0], stacks[2]
	want := []uint32{wait, wait, main, main, main, main}
	if !slices.Equal(times, []int64{3, 51, 54, 92, 95, 123}) || !slices.Equal(stacks, want) || wait == main {
		t.Errorf("samples at %v ms of stacks %v, want two in each long time without any, of what the calls around it have in common", times,
			stacks)
	}
}

func TestDefinitions(t *testing.T) {
	b := newRawBuilder(true)
	b.chunk(0, 0,
		entry(rawDefPath, 0, 1, 0, 0, 0, 0, 0x1000),
		entry(rawDefPath, 0, 2, 0, 0, 0, 1, 0x2000),
		entry(rawDefComm, 0, 0, 0, 0, 0, pair(0, 2), 1, pair(1, 0)),
		entry(rawDefCart, 0, 0, 0, 0, 0, 1, 2, 1, 1),
		entry(rawPing, 0, 0, 0, 0, 0, 0, 10, 20, 30),
	)
	d, err := readDefinitions(b.open(t))
	if err != nil || len(d.nodes) != 3 || d.nodes[2].parent != 1 || len(d.pings) != 1 {
		t.Fatalf("definitions = %+v, %v", d, err)
	}
	second := map[uint32]rawComm{0: {rank: 0, members: []int32{0, 1}}, 1: {members: []int32{0}}, 2: {members: []int32{0, 1}}}
	table := newCommTable(newIdentities(map[int]map[uint32]rawComm{0: second, 1: d.comms}, nil))
	a, c := table.addRank(0, nil, nil), table.addRank(1, d.carts, d.edges)
	if a[0] != c[0] || len(table.comms) != 3 || a[2] == a[0] {
		t.Errorf("numbers = %v and %v of %v, want the first communicators to be the same", a, c, table.comms)
	}
}

func TestParseMaps(t *testing.T) {
	list := parseMaps("00400000-00401000 r--p 00000000 08:01 123 /bin/a\n00401000-00402000 r-xp 00001000 08:01 123 /bin/a b (deleted)\n" +
		"7ff0-7ff8 r-xp 00000000 00:00 0 [vdso]\nnonsense\n")
	if len(list) != 2 || list[0] != (mapping{0x401000, 0x402000, 0x1000, "/bin/a b"}) || list[1].path != "[vdso]" {
		t.Errorf("parseMaps = %+v", list)
	}
	if findMapping(list, 0x401800) == nil || findMapping(list, 0x402000) != nil {
		t.Error("findMapping")
	}
}

func TestKept(t *testing.T) {
	for _, tc := range []struct {
		name     string
		patterns []string
		want     bool
	}{
		{"solve", nil, true}, {"solve", []string{"solve*"}, true}, {"init", []string{"solve*"}, false},
		{"init", []string{"!init"}, false}, {"solve", []string{"!init"}, true}, {"solve_row", []string{"solve*", "!solve_row"}, false},
	} {
		if got := kept(tc.name, tc.patterns); got != tc.want {
			t.Errorf("kept(%s, %v) = %v, want %v", tc.name, tc.patterns, got, tc.want)
		}
	}
}

// FuzzRaw wants no panic and no endless work from any file.
func FuzzRaw(f *testing.F) {
	b := newRawBuilder(false)
	send := numberOf(f, "Isend")
	b.chunk(0, 1,
		entry(rawSend, send, 1, 0, 1000, 2000, 8, pair(0, 3), 0, 5),
		entry(rawComplete, send+3, 1, 0, 21000, 22000, moreFlag, 5, 1, pair(0, 3), 8, 0),
		entry(rawCollective, send+60, 1, 0, 21000, 22000, 1, 2, 3, 4, 5),
		entry(rawOMP, 3, 1, 0, 21000, 22000, 1),
		entry(rawCall, 1, 1, 0, 23000, 0),
	)
	f.Add(b.Bytes())
	d := newRawBuilder(true)
	d.chunk(0, 0, entry(rawDefPath, 0, 1, 0, 0, 0, 0, 0x1000), entry(rawDefComm, 0, 0, 0, 0, 0, pair(0, 2), 1, pair(1, 0)))
	f.Add(d.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := newRawFile(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		if r.head.definitions {
			if d, err := readDefinitions(r); err == nil {
				newCommTable(newIdentities(map[int]map[uint32]rawComm{0: d.comms}, nil)).addRank(0, d.carts, d.edges)
			}
			return
		}
		last := int64(-1 << 63)
		for _, e := range decodeRaw(t, r) {
			if e.Time < last {
				t.Fatal("times decrease")
			}
			last = e.Time
		}
	})
}

// Tests until one finds something are one call, if nothing but waiting was between them.
func TestRunsOfTests(t *testing.T) {
	test := numberOf(t, "Test")
	const again = 1 << 31
	found := []uint64{0, 5, uint64(7)<<32 | 2, pair(1, 4), 0, 16}
	type run struct{ enter, leave, calls int64 }
	for _, c := range []struct {
		what    string
		records [][]uint64
		want    []run
	}{
		{"a run, a sample and a sleep in it", [][]uint64{
			entry(rawComplete, test, 1, 4, 1000, 9000, 5), entry(rawSample, 0, 1, 0, 5000, 5000), entry(rawSpan, 0, 1, 0, 10000, 90000),
			entry(rawComplete, test, 1, 1|again, 91000, 92000, 5), entry(rawComplete, test, 1, again, 93000, 94000, found...),
		}, []run{{1000, 94000, 8}}},
		{"work between tests", [][]uint64{
			entry(rawComplete, test, 1, 0, 1000, 2000, 5), entry(rawComplete, test, 1, 0, 93000, 94000, found...),
		}, []run{{1000, 2000, 1}, {93000, 94000, 1}}},
		{"sleep in another function", [][]uint64{
			entry(rawComplete, test, 1, 0, 1000, 2000, 5), entry(rawSpan, 0, 2, 0, 10000, 90000),
			entry(rawComplete, test, 1, again, 93000, 94000, found...),
		}, []run{{1000, 2000, 1}, {10000, 90000, 1}, {93000, 94000, 1}}},
		{"nothing found", [][]uint64{entry(rawComplete, test, 1, 0, 1000, 2000, 5), entry(rawComplete, test, 1, again, 3000, 4000, 5)},
			[]run{{1000, 4000, 2}}},
	} {
		b := newRawBuilder(false)
		b.chunk(0, 0, c.records...)
		var got []run
		for _, e := range decodeRaw(t, b.open(t)) {
			switch e.Kind {
			case trace.Enter:
				got = append(got, run{enter: e.Time / 1000, calls: 1})
			case trace.Leave:
				got[len(got)-1].leave = e.Time / 1000
			case trace.Polls:
				got[len(got)-1].calls = e.Size
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: calls %v, want %v", c.what, got, c.want)
		}
	}
}

// TestSubtract wants the cost of the clock to be taken from calls of MPI alone, and never more than they lasted.
func TestSubtract(t *testing.T) {
	for _, tc := range []struct {
		kind                     uint16
		enter, leave, cost, want int64
	}{
		{rawSend, 100, 200, 30, 130}, {rawSend, 100, 110, 30, 110}, {rawSend, 100, 100, 30, 100}, {rawSend, 100, 0, 30, 100},
		{rawSample, 100, 200, 30, 100}, {rawSpan, 100, 200, 30, 100}, {rawFreeComm, 100, 200, 0, 100},
	} {
		r := rawRecord{kind: tc.kind, enter: tc.enter, leave: tc.leave}
		if r.subtract(tc.cost); r.enter != tc.want || r.leave != tc.leave {
			t.Errorf("%+v: enter = %d, leave = %d", tc, r.enter, r.leave)
		}
	}
	b := newRawBuilder(false)
	binary.LittleEndian.PutUint64(b.Bytes()[rawPage-16:], 300)
	sealHead(b.Bytes())
	b.chunk(0, 0, entry(rawSend, numberOf(t, "Send"), 1, 0, 1000, 2000, 8, pair(0, 3), 0, 0))
	var read rawRecord
	if err := b.open(t).next(&read); err != nil || read.enter != 1300 || read.leave != 2000 {
		t.Errorf("read of a file: %v, a send from %d to %d, want from 1300 to 2000", err, read.enter, read.leave)
	}
}

// TestFullChunk reads a file while its first chunk is being written behind the others: its copy is there, and the first place may have
// been emptied, or be in use again.
func TestFullChunk(t *testing.T) {
	send := entry(rawSend, numberOf(t, "Send"), 1, 0, 1000, 2000, 8, pair(0, 3), 0, 0)
	recv := entry(rawRecv, numberOf(t, "Recv"), 1, 0, 3000, 4000, 8, pair(0, 3), 0)
	for _, c := range []struct {
		name        string
		sequence    uint64 // of the chunk at the first place
		first, copy [][]uint64
		want        int // calls
	}{
		{"copied", 0, [][]uint64{send, recv}, [][]uint64{send, recv}, 2},
		{"emptied", 0, nil, [][]uint64{send, recv}, 2},
		{"used again", 1, [][]uint64{recv}, [][]uint64{send}, 2},
	} {
		b := newRawBuilder(false)
		b.chunk(c.sequence, 0, c.first...)
		b.chunk(0, 0, c.copy...)
		f, calls, rec := b.open(t), 0, rawRecord{}
		for f.next(&rec) == nil {
			calls++
		}
		if calls != c.want || rec.kind != rawRecv {
			t.Errorf("%s: %d calls, the last of kind %d; want %d", c.name, calls, rec.kind, c.want)
		}
	}
	// The program fills the chunk after the file was opened.
	b := newRawBuilder(false)
	b.chunk(0, 0, send, recv)
	later := newRawBuilder(false)
	later.chunk(1, 0, recv)
	later.chunk(0, 0, send, recv)
	f, rec := b.open(t), rawRecord{}
	f.file = bytes.NewReader(later.Bytes())
	if err := f.next(&rec); err != nil || rec.kind != rawSend {
		t.Errorf("kind %d, %v; want the send of the chunk that was filled meanwhile", rec.kind, err)
	}
}

// TestIdleLacks wants what a worker had no CPU for after a parallel region not to move the end of that region, which it learns of later.
func TestIdleLacks(t *testing.T) {
	b := newRawBuilder(false)
	b.chunk(0, 0,
		entry(rawProgramBegin, 0, 0, 0, 500, 500, 0),
		entry(rawOMP, ompTeamBegin, 0, 0, 1000, 1000, 1),
		entry(rawOMP, ompImplicitBarrier, 0, 0, 2000, 2000, 0),
		entry(rawNoCPU, 0, 0, 0, 2500, 2500, 100),
		entry(rawNoCPU, 0, 0, 0, 7000, 7000, 900),
		entry(rawSample, 0, 0, 0, 7000, 7000), // of the runtime
		entry(rawOMP, ompImplicitBarrier+1, 0, 0, 3000, 3000, 0),
		entry(rawOMP, ompTeamEnd, 0, 0, 3000, 3000, 0),
	)
	want := []trace.Event{
		{Kind: trace.ProgramBegin, Time: 500e3}, {Kind: trace.TeamBegin, Time: 1000e3}, {Kind: trace.Enter, Time: 1000e3},
		{Kind: trace.Enter, Time: 2000e3}, {Kind: trace.NoCPU, Time: 2500e3}, {Kind: trace.Leave, Time: 3000e3},
		{Kind: trace.Leave, Time: 3000e3}, {Kind: trace.TeamEnd, Time: 3000e3}, {Kind: trace.NoCPU, Time: 7000e3},
	}
	got := decodeRaw(t, b.open(t))
	if len(got) != len(want) {
		t.Fatalf("events = %v, want %v", kindsOf(got), kindsOf(want))
	}
	for i, w := range want {
		if got[i].Kind != w.Kind || got[i].Time != w.Time {
			t.Errorf("event %d = %v at %d, want %v at %d", i, got[i].Kind, got[i].Time, w.Kind, w.Time)
		}
	}
}

// Definitions are those of the events beside them, whole, or they are reported.
func TestDefinitionsOf(t *testing.T) {
	b := newRawBuilder(true)
	b.chunk(0, 0, entry(rawDefPath, 0, 1, 0, 0, 0, 0, 0x1000), entry(rawDefPath, 0, 2, 0, 0, 0, 1, 0x2000))
	whole := b.Bytes()
	events := newRawBuilder(false).open(t).head
	change := func(at int, to byte) []byte {
		data := bytes.Clone(whole)
		data[at] = to
		sealHead(data[:rawPage])
		return data
	}
	for name, tc := range map[string]struct {
		data    []byte
		damaged bool
	}{
		"whole": {whole, false}, "short": {whole[:len(whole)-100], true}, "no head": {whole[:100], true}, "empty": {nil, true},
		"no chunk": {whole[:rawPage], true}, "another rank": {change(16, 0), true}, "another process": {change(112, 9), true},
		"another host": {change(144, 'x'), true}, "a length": {change(rawPage+rawChunkHead+4, 200), true},
	} {
		path := filepath.Join(t.TempDir(), "r1-t0.def")
		if err := os.WriteFile(path, tc.data, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := readDefinitionsOf(events, path); (err != nil) != tc.damaged {
			t.Errorf("%s: %v, damaged: want %t", name, err, tc.damaged)
		}
	}
}

// A file that is there and cannot be opened is not one that a rank did not leave.
func TestUnreadableEvents(t *testing.T) {
	dir := t.TempDir()
	m := madeUp{dir, 3}
	m.write(t, 1, "evt", nil, 0)
	m.write(t, 1, "def", nil, 0)
	if err := os.WriteFile(filepath.Join(dir, "r2-t0.evt"), nil, 0o666); err != nil { // it was just made
		t.Fatal(err)
	}
	files, faults, err := findThreads(dir, 0)
	if err != nil || len(files) != 1 || len(faults) != 1 || !strings.Contains(faults[0].Error(), "r2-t0.evt") || faults[0].Foreign {
		t.Fatalf("%d threads, %v, %v; want 1, and that the other file has no head", len(files), faults, err)
	}
	if err := os.Symlink("r0-t0.evt", filepath.Join(dir, "r0-t0.evt")); err != nil { // in a circle
		t.Fatal(err)
	}
	if _, faults, _ := findThreads(dir, 0); foreignFiles(faults) == nil || !strings.Contains(foreignFiles(faults).Error(), "r0-t0.evt") {
		t.Errorf("%v; want an error that names the file", faults)
	}
}
