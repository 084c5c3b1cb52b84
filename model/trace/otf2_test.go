package trace

import (
	"bytes"
	"encoding/binary"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"slackline/internal/needed"
	"slackline/model/timeline"
	"slackline/model/trace/otf2"
)

// casesDir has the reference archives.
const (
	casesDir      = "../../testdata/waits/cases"
	widerCasesDir = "../../testdata/waits2/cases"
)

// otf2Line is an event as otf2-print prints it: name, location, time, attributes.
var otf2Line = regexp.MustCompile(`^([A-Z_0-9]+) +([0-9]+) +([0-9]+) *(.*)$`)

// otf2Print returns what otf2-print says about the events of an archive, by location, with single blanks
// between the columns. Nothing may be wrong with the archive, if strict is set.
func otf2Print(t testing.TB, anchor string, strict bool) map[uint64][]string {
	t.Helper()
	var stderr strings.Builder
	command := exec.Command(needed.Tool(t, "otf2-print", "of the package otf2-tools"), anchor)
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil || stderr.Len() > 0 && strict {
		t.Fatalf("otf2-print %s: %v\n%s", anchor, err, stderr.String())
	}
	_, events, ok := strings.Cut(string(out), "---\n")
	if !ok {
		t.Fatalf("otf2-print printed\n%s", out)
	}
	lines := map[uint64][]string{}
	last := uint64(0)
	for line := range strings.Lines(events) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "ADDITIONAL") {
			lines[last] = append(lines[last], line)
			continue
		}
		columns := otf2Line.FindStringSubmatch(line)
		if columns == nil {
			continue
		}
		if last, err = strconv.ParseUint(columns[2], 10, 64); err != nil {
			t.Fatalf("otf2-print printed %q", line)
		}
		lines[last] = append(lines[last], strings.TrimSpace(strings.Join(columns[1:], " ")))
	}
	return lines
}

// What is written, otf2-print reads, and we read it back equal.
func TestOTF2WriteAndRead(t *testing.T) {
	for _, size := range []int{0, 40, 3000, 120_000} {
		want := randomTrace(11, 4, 2, size)
		if size > 100_000 { // several chunks
			want = randomTrace(11, 2, 1, size)
		}
		path := filepath.Join(t.TempDir(), "run")
		warnings, err := Write(path, want, "otf2", WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		dropCounts(want)
		if size > 1000 && (len(warnings) != 1 || !strings.Contains(warnings[0], "sizes by peer")) {
			t.Errorf("warnings = %q", warnings)
		}
		compare(t, mustOpen(t, path), want, cmpopts.IgnoreFields(Location{}, "Events")) // what was skipped takes several records
		judge(t, filepath.Join(path, "traces.otf2"))
	}
}

// dropCounts removes what OTF2 cannot say from a trace in memory.
func dropCounts(tr *Trace) {
	all := make([][]Event, len(tr.Locations))
	for i := range all {
		all[i], _ = eventsOf(tr, i)
		for k := range all[i] {
			all[i][k].Counts = nil
		}
	}
	tr.Open = newMemory(tr.Definitions, all).Open
}

// The reference archives, written again, are the same to otf2-print but for what no Trace holds.
func TestOTF2Again(t *testing.T) {
	cases, err := filepath.Glob(casesDir + "/*/traces.otf2")
	if err != nil || len(cases) != 20 {
		t.Fatalf("%d cases, error %v", len(cases), err)
	}
	for _, anchor := range cases {
		tr := mustOpen(t, anchor)
		path := filepath.Join(t.TempDir(), "again.otf2")
		if _, err := Write(path, tr, "otf2", WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		judge(t, path)
		dropOthers(tr)
		compare(t, mustOpen(t, path), tr, cmpopts.IgnoreFields(Location{}, "Events"))
	}
}

// dropOthers removes events that no Trace understands.
func dropOthers(tr *Trace) {
	all := make([][]Event, len(tr.Locations))
	for i := range all {
		all[i], _ = eventsOf(tr, i)
		all[i] = slices.DeleteFunc(all[i], func(e Event) bool { return e.Kind == Other })
	}
	tr.Open = newMemory(tr.Definitions, all).Open
}

// Files that do not fit the archive, or that are missing among others, are reported: those of streams as those of threads.
func TestOTF2ForeignFiles(t *testing.T) {
	const thread, stream = "traces/1.", "traces/8589934593."
	files := mapFS(t, "../../testdata/accelerator/cases/10-mpi-cuda")
	own := &bytesIn{AppendByteOrder: binary.LittleEndian}
	own.header(otf2.Little, 0)
	own.record(otf2.LocalMapping, byte(otf2.MapRegion), 1, byte(0), 0)
	own.b = append(own.b, otf2.EndOfFile, otf2.EndOfBuffer)
	files = damaged(files, "traces/0.def", own.b)
	without := func(name string) fstest.MapFS {
		changed := damaged(files, name, nil)
		delete(changed, name)
		return changed
	}
	renamed := func(from, to byte) fstest.MapFS { // the id of a string
		data := slices.Clone(files["traces.def"].Data)
		at := bytes.Index(data, []byte("MPI_Init\x00"))
		if at < 0 || data[at-1] != from {
			t.Fatalf("the name MPI_Init has the id %d at byte %d", data[at-1], at)
		}
		data[at-1] = to
		return damaged(files, "traces.def", data)
	}
	later := slices.Clone(files[thread+"evt"].Data)
	later[otf2.ChunkHeader+1+6] = 1 // 2^48 ticks later
	last := slices.Clone(files[thread+"evt"].Data)
	last[bytes.LastIndexByte(last[:len(last)-12], otf2.Timestamp)+1+6] = 1
	cut := func(name string) fstest.MapFS { return damaged(files, name, files[name].Data[:otf2.ChunkHeader]) }
	for _, tc := range []struct {
		files   fstest.MapFS
		want    string // in a warning
		refused bool
	}{
		{without(thread + "def"), "traces/1.def: the file is missing, although other locations have one", false},
		{without(stream + "def"), "traces/8589934593.def is missing, although other locations have one", false},
		{renamed(14, 15), "traces.def: 1 ids of strings and regions are defined twice, 1 regions have a name", false},
		{renamed(14, 250), "traces.def: 0 ids of strings and regions are defined twice, 1 regions have a name", false},
		{cut(thread + "def"), "traces/1.def: byte 18", false},
		{cut(stream + "def"), "traces/8589934593.def: byte 18", false},
		{damaged(files, thread+"evt", later), "traces/1.evt: the first event is at tick ", false},
		{damaged(files, thread+"evt", last), "rank 1: its events may be wrong: traces/1.evt: the last event is at tick ", false},
		{damaged(files, stream+"evt", make([]byte, 100)), "traces/8589934593.evt: byte 0: a chunk begins with the bytes 00 00", true},
		{without(stream + "evt"), "traces/8589934593.evt: the events are missing", true},
	} {
		tr, err := Open(tc.files, "traces.otf2", Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = ToTimeline(tr, TimelineOptions{})
		if tc.refused != (err != nil && strings.HasSuffix(err.Error(), partialHint)) {
			t.Errorf("want %q: error = %v", tc.want, err)
		}
		tl, err := ToTimeline(tr, TimelineOptions{Partial: true})
		if err != nil {
			t.Fatal(err)
		}
		if all := strings.Join(slices.Concat(tr.Warnings, tl.Problems.Notes), "\n"); !strings.Contains(all, tc.want) {
			t.Errorf("warnings = %q, want %q", all, tc.want)
		}
	}
}

// Archives that are written here have checksums: each changed, added or lost byte is reported, and so is each file of another location or
// archive.
func TestOTF2Sums(t *testing.T) {
	d := Definitions{Ranks: 2, Locations: []Location{{}, {ID: 1, Rank: 1}}, Regions: []timeline.Region{timeline.RegionNamed("main")},
		Stacks: []Stack{{}}}
	times := newMemory(d, [][]Event{{{Time: 1, Kind: Enter}, {Time: 9, Kind: Leave}}, {{Time: 2, Kind: Enter}, {Time: 8, Kind: Leave}}})
	tl := toTimeline(t, mustOpen(t, "../../testdata/accelerator/cases/10-mpi-cuda/traces.otf2"), TimelineOptions{})
	noticed := func(files fstest.MapFS) bool {
		tr, err := Open(files, ".", Options{})
		if err != nil {
			return true
		}
		wrong := len(tr.Warnings) > 0
		for i := range tr.Locations {
			_, err := eventsOf(tr, i)
			wrong = wrong || err != nil
		}
		if wrong || tr.attach == nil {
			return wrong
		}
		tl, err := ToTimeline(tr, TimelineOptions{})
		return err != nil || len(tl.Problems.Notes) > 0
	}
	var all []fstest.MapFS
	for _, tr := range []*Trace{times, randomTrace(3, 3, 1, 12), FromTimeline(tl)} {
		path := filepath.Join(t.TempDir(), "run")
		if _, err := Write(path, tr, "otf2", WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		files := mapFS(t, path)
		all = append(all, files)
		if noticed(files) {
			t.Errorf("something is wrong with what was written")
		}
		for name, file := range files {
			if id, _, _ := strings.Cut(strings.TrimPrefix(name, "traces/"), "."); tr.hosts != nil && strings.Trim(id, "0123456789") == "" &&
				!slices.ContainsFunc(tl.Locations, func(l timeline.Location) bool { return strconv.Itoa(l.Rank) == id }) {
				continue // of streams, which are in streams.slt, too
			}
			step := max(len(file.Data)/50, 1) | 1
			for at := 0; at < len(file.Data); at += step {
				flipped := slices.Clone(file.Data)
				flipped[at] ^= 1
				if !noticed(damaged(files, name, flipped)) {
					t.Errorf("%s changed at %d: not noticed", name, at)
				}
			}
			without := damaged(files, name, nil)
			delete(without, name)
			if !noticed(without) {
				t.Errorf("without %s: not noticed", name)
			}
			if !noticed(damaged(files, name, append(slices.Clone(file.Data), 0))) {
				t.Errorf("%s with another byte: not noticed", name)
			}
		}
	}
	files := all[0]
	exchanged := damaged(files, "traces/0.evt", files["traces/1.evt"].Data)
	exchanged["traces/1.evt"] = files["traces/0.evt"]
	if other := damaged(files, "traces.otf2", all[1]["traces.otf2"].Data); !noticed(exchanged) || !noticed(other) {
		t.Error("files of other locations and archives: not noticed")
	}
	tr, err := Open(exchanged, ".", Options{})
	if err == nil {
		_, err = eventsOf(tr, 1)
	}
	const want = "traces/1.evt: the file does not match its checksum: it is damaged, of another archive or location"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error = %v, want %q", err, want)
	}
}

// Ranks that left nothing come back as such, with their places in communicators and the threads that others of them have.
func TestOTF2RanksWithoutLocation(t *testing.T) {
	want, err := parse(`slackline trace 1
ranks 6
comm MPI_COMM_WORLD 0-5
comm odd 1 3 5
rank 0
trip 2 0 1 2
0 main {
  1..2 MPI_Barrier: barrier
  2..3 MPI_Send: send to 4 size 8
} 9
rank 2
0..9 main
rank 3 thread 1
0..9 solve
rank 4
0 main {
  1..5 MPI_Recv: recv from 0 size 8
} 9
`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := openPath(write(t, want, "otf2"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, b := toTimeline(t, want, TimelineOptions{Clock: ClockNone}), toTimeline(t, got, TimelineOptions{Clock: ClockNone})
	if !slices.Equal(b.Problems.LostThreads, []int{3}) {
		t.Errorf("ranks %v are without some of their threads, want rank 3: its first one is defined as missing", b.Problems.LostThreads)
	}
	b.Problems.LostThreads = nil
	if diff := cmp.Diff(a, b, cmpopts.EquateEmpty()); diff != "" || !slices.Equal(b.Problems.MissingRanks, []int{1, 5}) {
		t.Errorf("ranks %v are missing; the timeline differs (-want +got):\n%s", b.Problems.MissingRanks, diff)
	}
}

// Archives may have ranks without location: members of the group of all ranks that are undefined, or that are not among the locations.
func TestOTF2UndefinedRanks(t *testing.T) {
	for _, missing := range []uint64{otf2.Undefined64, 77} {
		a := &otf2Archive{trace: &Trace{}, anchor: &otf2.Anchor{Locations: 1}, defs: &otf2.Definitions{
			Strings:   map[uint32]string{},
			Processes: map[uint32]otf2.Process{4: {Kind: otf2.GroupProcess}},
			Locations: []otf2.Location{{ID: 9, Group: 4, Kind: otf2.LocationCPUThread}},
			Groups: map[uint32]otf2.Group{
				0: {Kind: otf2.GroupCommLocations, Paradigm: otf2.ParadigmMPI, Members: []uint64{missing, 9, missing}},
				1: {Kind: otf2.GroupCommGroup, Paradigm: otf2.ParadigmMPI, Members: []uint64{2, 1, 0, otf2.Undefined64}},
			},
			Comms: []otf2.Comm{{ID: 0, Group: 1}},
		}}
		a.setLocations()
		a.setComms()
		if ranks := a.trace.Comms[0].Members; a.trace.Ranks != 3 || !slices.Equal(ranks, []int32{2, 1, 0, timeline.UnknownRank}) ||
			len(a.trace.Warnings) > 0 {
			t.Errorf("%d ranks, %v in the communicator, warnings %q", a.trace.Ranks, ranks, a.trace.Warnings)
		}
	}
}

// The run begins where its first event is if time 0 has no meaning: in what was recorded it is that of the boot. Other programs show times
// from there on.
func TestOTF2Origin(t *testing.T) {
	const boot = 900_000 * second
	regions := []timeline.Region{timeline.RegionNamed("main")}
	want := newMemory(Definitions{Ranks: 1, Locations: []Location{{}}, Regions: regions, Stacks: []Stack{{}}},
		[][]Event{{{Time: boot, Kind: Enter}, {Time: boot + 5, Kind: Leave}}})
	for _, tc := range []struct {
		tr     *Trace
		offset uint64
	}{{mustOpen(t, write(t, want, "slt")), boot}, {want, 0}} {
		path := write(t, tc.tr, "otf2")
		files := mapFS(t, path)
		defs, err := otf2.ReadDefinitions(&otf2.File{In: bytes.NewReader(files["traces.def"].Data), Size: otf2DefChunk, Step: 1 << 20})
		if err != nil || defs.GlobalOffset != tc.offset || defs.Length != boot+5-tc.offset {
			t.Errorf("offset %d, length %d, %v, want offset %d", defs.GlobalOffset, defs.Length, err, tc.offset)
		}
		if events, err := eventsOf(mustOpen(t, path), 0); err != nil || events[0].Time != int64(boot-tc.offset) {
			t.Errorf("events = %v, %v", events, err)
		}
	}
}

// What OTF2 has no record for is reported, not dropped in silence.
func TestOTF2Losses(t *testing.T) {
	for event, want := range map[string]string{
		"MPI_Neighbor_alltoall: begin; neighbor_alltoall sent 8":   "no neighborhood collectives: 1 ",
		"MPI_Pready: send to 0 size 8 tag 1 request 1 channel 1":   "no channels of partitioned messages: 1 ",
		"MPI_Win_flush: win-flush w 0":                             "no flushes of windows that complete nothing: 1 ",
		"MPI_Win_flush: put w to 0 size 8; win-flush w 0 local":    "",
		"MPI_Alltoallv: begin; alltoallv sent 4 counts 4,4":        "no sizes by peer",
		"MPI_Barrier: begin; barrier sent 0 received 0 comm odd":   "",
		"MPI_Win_unlock: win-flush w 0 local; win-flush w 0 local": "no flushes of windows that complete nothing: 2 ",
	} {
		tr, err := parse("slackline trace 1\ncomm MPI_COMM_WORLD 0\ncomm odd 0\nwindow w comm odd\nrank 0\n0 main {\n1..2 " + event + "\n} 3\n")
		if err != nil {
			t.Errorf("%s: %v", event, err)
			continue
		}
		warnings, err := Write(filepath.Join(t.TempDir(), "run"), tr, "otf2", WriteOptions{})
		if all := strings.Join(warnings, "\n"); err != nil || !strings.Contains(all, want) || (all == "") != (want == "") {
			t.Errorf("%s: warnings %q, error %v; want %q", event, all, err, want)
		}
	}
}

// TestOTF2NeighborRequests: neighborhood collectives are left out as a whole, so that no request of them stays open.
func TestOTF2NeighborRequests(t *testing.T) {
	const text = `slackline trace 1
unit us
comm w 0-1
cart w 2p
`
	const rank = `0..1 MPI_Ineighbor_alltoall: issue 5
1..2 MPI_Iallreduce: issue 6
2..3 MPI_Neighbor_alltoall: begin; neighbor_alltoall sent 8
3..4 MPI_Bcast: begin; bcast root 0
4..6 MPI_Wait: neighbor_alltoall sent 8 received 8 request 5
6..7 MPI_Wait: allreduce sent 8 received 8 request 6
7..8 MPI_Ibarrier: issue 5
8..9 MPI_Wait: barrier request 5
`
	tr, err := parse(text + "rank 0\n" + rank + "rank 1\n" + rank)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "run")
	if _, err := Write(dir, mustOpen(t, write(t, tr, "slt")), "otf2", WriteOptions{}); err != nil { // it warns
		t.Fatal(err)
	}
	read := mustOpen(t, dir)
	got := print(t, mustOpen(t, write(t, read, "slt")))
	for what, want := range map[string]int{"issue ": 4, "begin": 2, "neighbor_alltoall sent": 0, "request 5": 2, "request 6": 2} {
		if n := strings.Count(got, what); n != want {
			t.Errorf("%d times %q, want %d, in\n%s", n, what, want, got)
		}
	}
	tl := toTimeline(t, read, TimelineOptions{})
	if p := &tl.Problems; p.PendingRequests > 0 || len(tl.Collectives) != 3 {
		t.Errorf("%d requests stay open, %d collectives; want 0 and 3", p.PendingRequests, len(tl.Collectives))
	}
}

// TestOTF2UnknownCollective: the request of an operation that is not known ends when it ends.
func TestOTF2UnknownCollective(t *testing.T) {
	tr, err := parse("slackline trace 1\nrank 0\n0..1 MPI_Ibarrier: issue 3\n1..2 MPI_Wait: barrier request 3\n")
	if err != nil {
		t.Fatal(err)
	}
	files := mapFS(t, write(t, tr, "otf2"))
	data := files["traces/0.evt"].Data
	at := bytes.LastIndexByte(data, otf2.EvtCollectiveDone)
	if at < 0 || data[at+2] != byte(timeline.OpBarrier) {
		t.Fatalf("no end of a barrier in % x", data)
	}
	forged := slices.Clone(data)
	forged[at+2] = otf2Ops // a later version has it
	read, err := Open(damaged(files, "traces/0.evt", forged), ".", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if tl := toTimeline(t, read, TimelineOptions{}); tl.Problems.PendingRequests > 0 {
		t.Errorf("%d requests stay open, want none", tl.Problems.PendingRequests)
	}
}
