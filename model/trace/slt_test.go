package trace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"slackline/internal/atomicfile"
	"slackline/model/timeline"
	"slackline/model/trace/damage"
	"slackline/model/trace/streams"
)

// write writes a trace to a new path and returns it.
func write(t testing.TB, tr *Trace, format string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run")
	warnings, err := Write(path, tr, format, WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(warnings) > 0 {
		t.Fatalf("warnings: %q", warnings)
	}
	return path
}

// addUnsaid adds to a trace what only our own formats can say.
func addUnsaid(tr *Trace) {
	tr.Locations[0].RoundTrips = []RoundTrip{{Partner: 1, Sent: 5, Answered: -7, Back: 12}, {1, 15, 3, 22}}
	tr.Locations[1].Truncated = true
	whole, odd := &tr.Comms[0], &tr.Comms[1]
	whole.In, whole.Out = make([][]int32, len(whole.Members)), make([][]int32, len(whole.Members))
	whole.In[1], whole.Out[0] = []int32{0, timeline.NoNeighbor}, []int32{1}
	odd.In, odd.Out = make([][]int32, len(odd.Members)), make([][]int32, len(odd.Members)) // a graph without edges is one, too
	for i := range tr.Locations {
		for k := range tr.Locations[i].Offsets {
			tr.Locations[i].Offsets[k].Deviation = 1.5
		}
	}
}

func TestSLTKeepsEverything(t *testing.T) {
	for _, size := range []int{0, 1, 300, 2 * sltBlock} {
		want := randomTrace(7, 4, 2, size)
		if size > sltBlock { // several chunks
			want = randomTrace(7, 2, 1, size)
		}
		addUnsaid(want)
		got := mustOpen(t, write(t, want, "slt"))
		if got.Format != "slt" || !strings.HasSuffix(got.Name, "run/"+sltDefinitions) {
			t.Errorf("format %q, name %q", got.Format, got.Name)
		}
		compare(t, got, want)
	}
}

// Ranks without a file come back as such, however many there are in a row.
func TestSLTMissingRanks(t *testing.T) {
	want := randomTrace(7, 9, 1, 10)
	for i := range want.Locations {
		want.Locations[i].Missing = i != 0 && i != 8
	}
	got, err := openPath(write(t, want, "slt"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range got.Locations {
		if got.Locations[i].Missing != want.Locations[i].Missing {
			t.Errorf("rank %d: missing %v, want %v", i, got.Locations[i].Missing, want.Locations[i].Missing)
		}
	}
	if events, err := eventsOf(got, 8); err != nil || len(events) != len(allEvents(t, want)[8]) {
		t.Errorf("%d events of rank 8, %v", len(events), err)
	}
}

// Extreme values come back too.
func TestSLTExtremes(t *testing.T) {
	const huge = 1<<63 - 1
	d := Definitions{
		Ranks: 1, Locations: []Location{{ID: 1<<64 - 1, Events: 5}}, Stacks: []Stack{{}},
		Comms: []timeline.Comm{{Name: "inter", Members: []int32{0}, Remote: []int32{0}}},
	}
	want := newMemory(d, [][]Event{{
		{Time: -huge, Kind: Send, Peer: -1 << 31, Tag: 1<<31 - 1, Size: huge},
		{Time: -huge, Kind: Isend, Peer: -2, Tag: -1, Size: -huge, Request: 1<<64 - 1},
		{Time: -huge + 1, Kind: IsendDone, Request: 0},
		{Time: 0, Kind: CollectiveDone, Root: -3, Sent: huge, Received: -huge, Counts: []int64{huge, -huge, 0}, Request: 3},
		{Time: huge, Kind: ProgramEnd, Size: -1},
	}})
	compare(t, mustOpen(t, write(t, want, "slt")), want)
}

// More shapes than fit into a byte, and than fit into a chunk.
func TestSLTManyShapes(t *testing.T) {
	var list []Event
	for i := range 2*sltBlock + 5 {
		list = append(list, Event{Time: int64(i) * 3, Kind: Polls, Size: int64(i * i)})
	}
	want := newMemory(Definitions{Ranks: 1, Locations: []Location{{Events: uint64(len(list))}}, Stacks: []Stack{{}}}, [][]Event{list})
	compare(t, mustOpen(t, write(t, want, "slt")), want)
}

func TestSLTIsDeterministic(t *testing.T) {
	tr := randomTrace(3, 4, 2, 5000)
	var before map[string]string
	for _, threads := range []int{1, 2, 7} {
		path := filepath.Join(t.TempDir(), "run")
		if _, err := Write(path, tr, "slt", WriteOptions{Threads: threads}); err != nil {
			t.Fatal(err)
		}
		files := map[string]string{}
		for name, file := range mapFS(t, path) {
			files[name] = string(file.Data)
		}
		if before != nil && !cmp.Equal(files, before) {
			t.Errorf("%d threads write other files", threads)
		}
		before = files
	}
}

func TestWriteRefuses(t *testing.T) {
	tr := randomTrace(3, 2, 1, 50)
	path := write(t, tr, "slt")
	if _, err := Write(path, tr, "slt", WriteOptions{}); !errors.Is(err, atomicfile.ErrExists) {
		t.Errorf("Write = %v, want %v", err, atomicfile.ErrExists)
	}
	if _, err := Write(path, tr, "slt", WriteOptions{Force: true}); err != nil {
		t.Error(err)
	}
	if _, err := Write(path+"2", tr, "nothing", WriteOptions{}); err == nil {
		t.Error("there is no format nothing, but no error")
	}
	stop := errors.New("stop")
	if _, err := Write(path+"2", tr, "slt", WriteOptions{Interrupt: func() error { return stop }}); !errors.Is(err, stop) {
		t.Errorf("Write = %v, want %v", err, stop)
	}
	for name, events := range map[string][]Event{
		"before that of":                {{Time: 5, Kind: Join}, {Time: 4, Kind: Join}},
		"region 99 is not":              {{Kind: Enter, Region: 99}},
		"stack 99 is not":               {{Kind: Sample, Stack: 99}},
		"communicator 99 is not":        {{Kind: Send, Comm: 99}},
		"no kind 77":                    {{Kind: 77}},
		"no collective operation 99":    {{Kind: CollectiveEnd, Op: 99}},
		"rank 1, thread 0, event 0: st": {{Kind: Sample, Stack: 99}},
	} {
		bad := newMemory(tr.Definitions, [][]Event{nil, events})
		_, err := Write(path+"2", bad, "slt", WriteOptions{})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("Write = %v, want an error with %q", err, name)
		}
		if _, err := os.Stat(path + "2"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("something was written: %v", err)
		}
	}
}

// mapFS holds the files of a directory in memory, so that tests can damage them.
func mapFS(t testing.TB, dir string) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		files[name] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// damaged returns a copy of files with one of them changed.
func damaged(files fstest.MapFS, name string, data []byte) fstest.MapFS {
	copied := fstest.MapFS{}
	for n, f := range files {
		copied[n] = f
	}
	copied[name] = &fstest.MapFile{Data: data}
	return copied
}

// checkPrefix checks that what is read of a damaged trace is a part of what was written, with warnings
// or errors that tell of the damage, and that it is not read with Strict.
func checkPrefix(t *testing.T, what string, fsys fs.FS, main string, want [][]Event) {
	t.Helper()
	loss := false
	got, err := Open(fsys, main, Options{})
	switch {
	case err != nil:
		loss = true
	default:
		loss = len(got.Warnings) > 0
		for i := range got.Locations {
			if got.Locations[i].Missing {
				continue
			}
			events, err := eventsOf(got, i)
			if err != nil && !errors.Is(err, damage.Err) {
				t.Errorf("%s: %v", what, err)
			}
			loss = loss || err != nil
			if want != nil && (len(events) > len(want[i]) || !equalEvents(events, want[i][:len(events)])) {
				t.Errorf("%s: location %d has events that were not written", what, i)
			}
		}
	}
	if !loss {
		t.Errorf("%s: nobody noticed", what)
	}
	strict, err := Open(fsys, main, Options{Strict: true})
	if err == nil {
		for i := range strict.Locations {
			if _, err = eventsOf(strict, i); err != nil {
				break
			}
		}
	}
	if err == nil {
		t.Errorf("%s: --strict reads it", what)
	} else if len(err.Error()) > 500 {
		t.Errorf("%s: an error of %d bytes", what, len(err.Error()))
	}
}

func TestSLTTruncated(t *testing.T) {
	tr := randomTrace(5, 2, 2, 300)
	want := allEvents(t, tr)
	files := mapFS(t, write(t, tr, "slt"))
	for _, name := range []string{sltDefinitions, "1-0.slt"} {
		data := files[name].Data
		for _, cut := range cutsOf(len(data)) {
			checkPrefix(t, fmt.Sprintf("%s cut at %d", name, cut), damaged(files, name, data[:cut]), ".", want)
		}
		for _, at := range cutsOf(len(data)) {
			flipped := slices.Clone(data)
			flipped[at] ^= 0x41
			checkPrefix(t, fmt.Sprintf("%s changed at %d", name, at), damaged(files, name, flipped), ".", want)
		}
		checkPrefix(t, name+" too long", damaged(files, name, append(slices.Clone(data), 0)), ".", want)
	}
	delete(files, "1-1.slt")
	checkPrefix(t, "1-1.slt missing", files, ".", want)
	got, err := Open(files, ".", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0],
		"1-1.slt: the events of rank 1, thread 1 cannot be read: file does not exist") || !got.Locations[3].Missing {
		t.Errorf("warnings = %q", got.Warnings)
	}
	delete(files, sltDefinitions)
	if _, err := Open(files, ".", Options{}); err == nil ||
		!strings.Contains(err.Error(), sltDefinitions+": the definitions of the trace are missing") {
		t.Errorf("without definitions: error = %v", err)
	}
}

// A truncated file gives its valid prefix.
func TestSLTPrefix(t *testing.T) {
	tr := randomTrace(5, 2, 1, 2*sltBlock+1000)
	want := allEvents(t, tr)
	files := mapFS(t, write(t, tr, "slt"))
	data := files["0-0.slt"].Data
	got, err := Open(damaged(files, "0-0.slt", data[:len(data)-20000]), ".", Options{})
	if err != nil {
		t.Fatal(err)
	}
	events, err := eventsOf(got, 0)
	if !errors.Is(err, damage.Err) || len(events) < sltBlock || !equalEvents(events, want[0][:len(events)]) {
		t.Errorf("%d events of %d, error %v", len(events), len(want[0]), err)
	}
	if len(got.Warnings) != 1 || !got.Locations[0].Truncated {
		t.Errorf("warnings = %q", got.Warnings)
	}
	// Written again, it is whole, and says that it was truncated.
	path := filepath.Join(t.TempDir(), "again")
	warnings, err := Write(path, got, "slt", WriteOptions{})
	if err != nil || len(warnings) != 1 {
		t.Errorf("Write = %q, %v", warnings, err)
	}
	again := mustOpen(t, path)
	if !again.Locations[0].Truncated || again.Locations[0].Events != uint64(len(events)) {
		t.Errorf("location = %+v, want %d events", again.Locations[0], len(events))
	}
	if _, err := Write(path, got, "slt", WriteOptions{Force: true, Strict: true}); !errors.Is(err, damage.Err) {
		t.Errorf("a strict Write = %v", err)
	}
}

func TestSLTNewerVersion(t *testing.T) {
	files := mapFS(t, write(t, randomTrace(5, 1, 1, 10), "slt"))
	newer := sltDefsLayout
	newer.Version = 9
	data := append(newer.Header(), files[sltDefinitions].Data[16:]...)
	_, err := Open(damaged(files, sltDefinitions, data), ".", Options{})
	if err == nil || !strings.Contains(err.Error(), "version 9 of the format; this one reads versions 1 to 6") {
		t.Errorf("Open = %v", err)
	}
}

// A file that belongs to another location or run is refused, whole or cut off.
func TestSLTForeign(t *testing.T) {
	tr := randomTrace(5, 2, 2, 300)
	files, other := mapFS(t, write(t, tr, "slt")), mapFS(t, write(t, randomTrace(6, 2, 2, 300), "slt"))
	shorter := allEvents(t, tr)
	shorter[2] = shorter[2][:200]
	version := mapFS(t, write(t, newMemory(tr.Definitions, shorter), "slt"))
	old := mapFS(t, "testdata/version4.slt")
	half := func(f *fstest.MapFile) []byte { return f.Data[:len(f.Data)/2] }
	for _, tc := range []struct {
		what, name string
		files      fstest.MapFS
		data       []byte
		want       string
	}{
		{"of another rank", "0-0.slt", files, files["1-0.slt"].Data,
			"not the file of rank 0 of the run in definitions.slt: it has those of rank 1;"},
		{"of another thread", "0-1.slt", files, files["0-0.slt"].Data,
			"not the file of rank 0, thread 1 of the run in definitions.slt: it has those of rank 0;"},
		{"of another rank, cut", "0-0.slt", files, half(files["1-0.slt"]), "it has those of rank 1"},
		{"of another run", "1-0.slt", files, other["1-0.slt"].Data, "it is of another run; put the right file back"},
		{"of another run, cut", "1-0.slt", files, half(other["1-0.slt"]), "it is of another run"},
		{"of the same run, with other events", "1-0.slt", files, version["1-0.slt"].Data, "it is of another version of this trace"},
		{"without an origin", "1-0.slt", files, old["1-0.slt"].Data, "it is of another run"},
		{"with an origin among some without", "1-0.slt", old, files["1-0.slt"].Data, "it is of another run"},
	} {
		mixed, err := Open(damaged(tc.files, tc.name, tc.data), ".", Options{})
		if err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(t.TempDir(), "run")
		if _, err := Write(out, mixed, "slt", WriteOptions{}); err == nil || !strings.HasPrefix(err.Error(), tc.name+": ") ||
			!strings.Contains(err.Error(), tc.want) || !strings.HasSuffix(err.Error(), partialHint) {
			t.Errorf("%s: error = %v, want %q", tc.what, err, tc.want)
		}
		if _, err := Write(out, mixed, "slt", WriteOptions{Partial: true}); err != nil || len(mixed.Warnings) != 1 {
			t.Errorf("%s: what is left cannot be read: %v, %q", tc.what, err, mixed.Warnings)
		}
	}
	mixed, err := Open(damaged(files, sltDefinitions, other[sltDefinitions].Data), ".", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := (&conversion{Trace: mixed}).checkWhole(); err == nil ||
		!strings.Contains(err.Error(), "0-0.slt: this is not the file of rank 0") {
		t.Errorf("definitions of another run: error = %v", err)
	}
}

// So is a file of streams.
func TestSLTForeignStreams(t *testing.T) {
	const cases = "../../testdata/accelerator/cases/"
	files := mapFS(t, write(t, mustOpen(t, cases+"10-mpi-cuda/traces.otf2"), "slt"))
	other := mapFS(t, write(t, mustOpen(t, cases+"11-mpi-hip/traces.otf2"), "slt"))
	without := mapFS(t, write(t, randomTrace(5, 4, 1, 0), "slt"))
	missing := damaged(files, "other", nil)
	delete(missing, streams.Name)
	link := damaged(mapFS(t, "testdata/version4.slt"), streams.Name, []byte("nowhere"))
	link[streams.Name].Mode = fs.ModeSymlink
	for want, files := range map[string]fstest.MapFS{
		"the file is missing; put the one of this run back":             missing,
		"the file is a link to one that does not exist":                 link,
		"the file is of another run; put the one of this run back":      damaged(files, streams.Name, other[streams.Name].Data),
		"no streams of accelerators: the file is of another run; remov": damaged(without, streams.Name, files[streams.Name].Data),
	} {
		mixed, err := Open(files, ".", Options{})
		if err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(t.TempDir(), "run")
		if _, err := Write(out, mixed, "slt", WriteOptions{}); err == nil || !strings.Contains(err.Error(), streams.Name+": ") ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("error = %v, want %q", err, want)
		}
		if _, err := Write(out, mixed, "slt", WriteOptions{Partial: true}); err != nil {
			t.Errorf("what is left cannot be read: %v", err)
		}
	}
}

// What is lost of a damaged file of streams is reported, whatever the trace is converted to.
func TestSLTDamagedStreams(t *testing.T) {
	files := mapFS(t, write(t, mustOpen(t, "../../testdata/accelerator/cases/10-mpi-cuda/traces.otf2"), "slt"))
	flipped := slices.Clone(files[streams.Name].Data)
	flipped[100] ^= 1
	tr, err := Open(damaged(files, streams.Name, flipped), ".", Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"slt", "otf2", "trace-text", "perfetto"} {
		warnings, err := Write(filepath.Join(t.TempDir(), "run"), tr, format, WriteOptions{})
		if err != nil || !slices.ContainsFunc(warnings, func(w string) bool { return strings.HasPrefix(w, streams.Name+": byte ") }) {
			t.Errorf("to %s: warnings %q, error %v", format, warnings, err)
		}
	}
}

// A trace of before files said whose they are is read as it was. It was written by a slackline that wrote version 4.
func TestSLTVersion4(t *testing.T) {
	want := mustOpen(t, "../../testdata/accelerator/cases/10-mpi-cuda/traces.otf2")
	old := mustOpen(t, "testdata/version4.slt")
	compare(t, old, want)
	again := mustOpen(t, write(t, old, "slt"))
	var timelines [3]*timeline.Timeline
	for i, tr := range []*Trace{want, old, again} {
		var err error
		if timelines[i], err = ToTimeline(tr, TimelineOptions{Strict: true}); err != nil {
			t.Fatal(err)
		}
	}
	for _, tl := range timelines[1:] {
		if diff := cmp.Diff(timelines[0].Devices, tl.Devices); diff != "" || tl.Devices == nil {
			t.Errorf("devices (-want +got):\n%s", diff)
		}
	}
}

// FuzzSLT reads arbitrary bytes as definitions and as events: it must not crash, and what it accepts
// it must be able to write.
func FuzzSLT(f *testing.F) {
	files := mapFS(f, write(f, randomTrace(5, 2, 1, 40), "slt"))
	for _, file := range files {
		f.Add(file.Data, false)
		f.Add(file.Data, true)
	}
	f.Fuzz(func(t *testing.T, data []byte, definitions bool) {
		name := "1-0.slt"
		if definitions {
			name = sltDefinitions
		}
		fuzzOpen(t, damaged(files, name, data), ".", "slt")
	})
}

// fuzzOpen opens what a fuzz target made and, if it is whole, writes and reads it again.
func fuzzOpen(t *testing.T, fsys fs.FS, main, format string) {
	tr, err := Open(fsys, main, Options{})
	if err != nil {
		return
	}
	whole := len(tr.Warnings) == 0
	events := 0
	for i := range tr.Locations {
		if tr.Locations[i].Missing {
			continue
		}
		r, err := tr.Open(i)
		if err != nil {
			whole = false
			continue
		}
		buffer := make([]Event, 64)
		for {
			n, err := r.Read(buffer)
			events += n
			if err != nil {
				whole = whole && errors.Is(err, io.EOF)
				break
			}
		}
		r.Close()
	}
	if !whole || events > 5000 {
		return
	}
	compare(t, mustOpen(t, write(t, tr, format)), tr, cmpopts.IgnoreFields(Location{}, "Events"))
}
