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

	"github.com/google/go-cmp/cmp/cmpopts"

	"slackline/internal/needed"
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
