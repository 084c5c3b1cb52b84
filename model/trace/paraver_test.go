package trace

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// paraverFiles returns the files of the sample.
func paraverFiles(t testing.TB) fstest.MapFS {
	files := fstest.MapFS{}
	for _, name := range []string{"two.prv", "two.pcf", "two.row"} {
		data, err := os.ReadFile("testdata/paraver/" + name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: data}
	}
	return files
}

// paraverText returns a trace as text, and the warnings.
func paraverText(t *testing.T, files fs.FS) (text string, warnings []string) {
	t.Helper()
	tr, err := Open(files, "two.prv", Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := textFormat.Stream(&b, tr, WriteOptions{Partial: true}); err != nil {
		t.Fatal(err)
	}
	return b.String(), tr.Warnings
}

// TestParaver compares a trace with what it means: calls, call paths, a blocking and a non-blocking message, a broadcast, samples.
func TestParaver(t *testing.T) {
	want, err := os.ReadFile("testdata/paraver/two.txt")
	if err != nil {
		t.Fatal(err)
	}
	got, warnings := paraverText(t, paraverFiles(t))
	if got != string(want) || len(warnings) != 0 {
		t.Errorf("got, with warnings %q,\n%s", warnings, got)
	}
}

// TestParaverDamaged wants what comes before the damage, and a place.
func TestParaverDamaged(t *testing.T) {
	whole := string(paraverFiles(t)["two.prv"].Data)
	for name, c := range map[string]struct{ old, new, want string }{
		"number":        {"1:300:50000001:1\n", "1:3x0:50000001:1\n", `two.prv:10: "3x0" is not a number; what follows is left out`},
		"kind":          {"2:1:1:1:1:300:50000001:1\n", "7:1:1:1:1:300\n", `two.prv:10: a record of kind "7", which there is not`},
		"task":          {"2:1:1:1:1:300:50000001:1\n", "2:1:1:3:1:300:50000001:1\n", "two.prv:10: task 3 of 2"},
		"thread":        {"2:1:1:1:1:300:50000001:1\n", "2:1:1:1:2:300:50000001:1\n", "two.prv:10: thread 2 of 1 of task 1"},
		"pairs":         {"2:1:1:1:1:300:50000001:1\n", "2:1:1:1:1:300:50000001\n", "two.prv:10: an event record without types"},
		"order":         {"2:1:1:1:1:300:50000001:1\n", "2:1:1:1:1:3:50000001:1\n", "two.prv:10: the events of thread 1 of task 1 are not"},
		"huge":          {"1:300:50000001:1\n", "1:99999999999999999:50000001:1\n", "two.prv:10: the time 99999999999999999 is out of range"},
		"message":       {"2:1:2:1:100:320:8:7\n", "2:1:2:1:100:320:8\n", "two.prv:11: a message of 13 fields instead of 14"},
		"outside":       {"2:1:2:1:100:320:8:7\n", "2:1:2:1:100:340:8:7\n", "two.prv: 1 messages begin or end outside of MPI calls"},
		"communicator":  {"c:1:2:1:1\n", "c:1:2:3:1\n", "two.prv:3: a communicator with another number of tasks"},
		"no unit":       {"2000_ns", "2000_fs", `two.prv:1: the unit of time "fs" is unknown`},
		"tasks":         {"1:2(1:1,1:1),2", "1:3(1:1,1:1),2", "two.prv:1: a list of 2 tasks in a trace of 3"},
		"many tasks":    {"1:2(1:1,1:1),2", "1:2000000(1:1,1:1),2", `two.prv:1: "2000000" tasks`},
		"many threads":  {"1:2(1:1,1:1),2", "1:2(1:1,9999999:1),2", `two.prv:1: task 2 has "9999999" threads`},
		"applications":  {":1:2(1:1,1:1),2", ":2:2(1:1,1:1),2", `two.prv:1: the trace has "2" applications`},
		"ends too soon": {":1(4):1:2(1:1,1:1),2", ":1(4)", "two.prv:1: the header ends before the tasks"},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(whole, c.old) {
				t.Fatalf("no %q in the sample", c.old)
			}
			files := paraverFiles(t)
			files["two.prv"] = &fstest.MapFile{Data: []byte(strings.Replace(whole, c.old, c.new, 1))}
			tr, err := Open(files, "two.prv", Options{})
			got := ""
			if err != nil {
				got = err.Error()
			} else {
				got = strings.Join(tr.Warnings, "\n")
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if _, err := Open(files, "two.prv", Options{Strict: true}); err == nil {
				t.Error("strict: no error")
			}
		})
	}
}

// TestParaverNamesTwice: a value with two names and a type with two lists are reported.
func TestParaverNamesTwice(t *testing.T) {
	for old, c := range map[string]struct{ new, want string }{
		"1   MPI_Send\n": {"1   MPI_Send\n1   MPI_Recv\n",
			`two.prv: the .pcf file has two names of value 1 of a type: "MPI_Send" and "MPI_Recv"`},
		"EVENT_TYPE\n9    50000001": {"EVENT_TYPE\n9    50000001 MPI\n\nEVENT_TYPE\n9    50000001",
			"two.prv: the .pcf file has type 50000001 twice"},
	} {
		files := paraverFiles(t)
		whole := string(files["two.pcf"].Data)
		if !strings.Contains(whole, old) {
			t.Fatalf("no %q in %s", old, whole)
		}
		files["two.pcf"] = &fstest.MapFile{Data: []byte(strings.Replace(whole, old, c.new, 1))}
		tr, err := Open(files, "two.prv", Options{})
		if err != nil || !strings.Contains(strings.Join(tr.Warnings, "\n"), c.want) {
			t.Errorf("%v, %+v, want %s", err, tr, c.want)
		}
	}
}

// TestParaverLongLine: a line that is too long names its file.
func TestParaverLongLine(t *testing.T) {
	for _, suffix := range []string{"pcf", "row"} {
		files := paraverFiles(t)
		files["two."+suffix] = &fstest.MapFile{Data: append([]byte(strings.Repeat("x", 2<<20)+"\n"), files["two."+suffix].Data...)}
		want := "the ." + suffix + " file beside two.prv: a line is longer than 1 MiB"
		if _, err := Open(files, "two.prv", Options{}); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestParaverWithoutNames reads a trace whose names are missing.
func TestParaverWithoutNames(t *testing.T) {
	files := paraverFiles(t)
	delete(files, "two.pcf")
	delete(files, "two.row")
	text, warnings := paraverText(t, files)
	if len(warnings) != 1 || !strings.Contains(warnings[0], "two.pcf: the file is missing") {
		t.Errorf("warnings %q", warnings)
	}
	if !strings.Contains(text, `"MPI call 1 of type 50000001": send to 1 size 8 tag 7`) {
		t.Errorf("no send without a name in\n%s", text)
	}
}

func FuzzParaver(f *testing.F) {
	files := paraverFiles(f)
	f.Add(files["two.prv"].Data, files["two.pcf"].Data)
	f.Fuzz(func(t *testing.T, prv, pcf []byte) {
		fuzzOpen(t, fstest.MapFS{"two.prv": &fstest.MapFile{Data: prv}, "two.pcf": &fstest.MapFile{Data: pcf}}, "two.prv", "slt")
	})
}

// BenchmarkParaver reads a file of sends and receives up to the timeline; a line is a record.
func BenchmarkParaver(b *testing.B) {
	const messages = 100_000
	var text bytes.Buffer
	text.WriteString("#Paraver (17/11/26 at 10:00):200000000_ns:1(2):1:2(1:1,1:1),1\nc:1:1:2:1:2\n")
	for i := range messages {
		at := 1000 * i
		fmt.Fprintf(&text, "2:1:1:1:1:%d:50000001:1\n2:2:1:2:1:%d:50000001:2\n", at, at)
		fmt.Fprintf(&text, "3:1:1:1:1:%d:%d:2:1:2:1:%d:%d:8:7\n", at, at, at, at+500)
		fmt.Fprintf(&text, "2:1:1:1:1:%d:50000001:0\n2:2:1:2:1:%d:50000001:0\n", at+400, at+500)
	}
	files := paraverFiles(b)
	files["two.prv"] = &fstest.MapFile{Data: text.Bytes()}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		tr, err := Open(files, "two.prv", Options{})
		if err != nil {
			b.Fatal(err)
		}
		tl, err := ToTimeline(tr, TimelineOptions{Threads: 1})
		if err != nil || len(tl.Messages) != messages {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(5*messages*b.N)/b.Elapsed().Seconds()/1e6, "Mrecords/s")
}

// TestParaverTorn wants a warning where a line is missing: then ends belong to other calls than they seem to, or collectives are
// calls without a name.
func TestParaverTorn(t *testing.T) {
	for name, c := range map[string]struct{ file, old, new, want string }{
		"begin":  {"two.prv", "2:1:1:1:1:300:50000001:1\n", "", "1 calls end where none or another one is open, or begin in one of MPI"},
		"end":    {"two.prv", "2:1:1:1:1:310:50000001:0\n", "", "calls end where none or another one is open, or begin in one of MPI"},
		"name":   {"two.pcf", "7   MPI_Bcast\n", "", "2 MPI calls have no name in the .pcf file"},
		"number": {"two.pcf", "9    50000002    MPI Collective Comm\n", "", "2 MPI calls have no name in the .pcf file"},
	} {
		files := paraverFiles(t)
		text := strings.Replace(string(files[c.file].Data), c.old, c.new, 1)
		if text == string(files[c.file].Data) {
			t.Fatalf("%s: %q is not in %s", name, c.old, c.file)
		}
		files[c.file].Data = []byte(text)
		if _, warnings := paraverText(t, files); !strings.Contains(strings.Join(warnings, "\n"), c.want) {
			t.Errorf("%s: warnings %q, want %q", name, warnings, c.want)
		}
	}
	files := paraverFiles(t)
	files["two.pcf"].Data = nil
	if _, warnings := paraverText(t, files); !strings.Contains(strings.Join(warnings, "\n"), "MPI calls have no name in the .pcf file") {
		t.Errorf("an empty .pcf file: warnings %q", warnings)
	}
}

// Wherever one of the three files is cut off, or loses a record of calls, there is a warning, unless the run is the same. The first
// calls of a task may have begun before the trace.
func TestParaverCut(t *testing.T) {
	whole := paraverFiles(t)
	want, warnings := paraverRun(t, whole)
	if len(warnings) > 0 {
		t.Fatalf("the whole run: %q", warnings)
	}
	try := func(name, what string, data []byte) {
		files := maps.Clone(whole)
		files[name] = &fstest.MapFile{Data: data}
		if got, warnings := paraverRun(t, files); got != want && len(warnings) == 0 {
			t.Errorf("%s %s: no warning, but another run", name, what)
		}
	}
	for name, file := range whole {
		lines := bytes.SplitAfter(file.Data, []byte{'\n'})
		for cut := len(lines[0]); cut < len(file.Data); cut++ { // a damaged header is an error of its own
			try(name, fmt.Sprintf("cut at %d of %d", cut, len(file.Data)), file.Data[:cut])
		}
		for i, line := range lines {
			if i > 5 && !bytes.HasPrefix(line, []byte("3:")) && !bytes.Contains(line, []byte(":30000001:")) {
				try(name, fmt.Sprintf("without line %d, %q", i+1, line), bytes.Join(slices.Delete(slices.Clone(lines), i, i+1), nil))
			}
		}
	}
}

// paraverRun returns a trace as text, and all warnings.
func paraverRun(t *testing.T, files fs.FS) (text string, warnings []string) {
	t.Helper()
	text, _ = paraverText(t, files)
	tr, err := Open(files, "two.prv", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ToTimeline(tr, TimelineOptions{}); err != nil {
		return text, []string{err.Error()}
	}
	return text, tr.Warnings
}
