package dataset_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"slackline/model/dataset"
)

// file is a file with one measurement, in CSV.
func file(value int) *fstest.MapFile {
	return &fstest.MapFile{Data: fmt.Appendf(nil, "callpath,value\nf,%d\n", value)}
}

// tau is a profile of TAU.
var tau = &fstest.MapFile{Data: []byte("1 templated_functions_MULTI_TIME\n# Name Calls Subrs Excl Incl ProfileCalls\n" +
	"\"main\" 1 0 5000 5000 0 GROUP=\"TAU_USER\"\n0 aggregates\n")}

// tauOf is a profile of another node, with user events.
func tauOf(calls int, events string) *fstest.MapFile {
	text := strings.Replace(string(tau.Data), "\" 1 0", fmt.Sprintf("\" %d 0", calls), 1)
	return &fstest.MapFile{Data: []byte(text + events)}
}

func TestReadDir(t *testing.T) {
	for _, tc := range []struct {
		name, want string
		dir        fstest.MapFS
		warnings   int
	}{
		{"points in names", "p\nf <default> [16]=[2 3] [8]=[1]",
			fstest.MapFS{"run.p8.r1.csv": file(1), "run.p16.r1.csv": file(2), "run.p16.r2.csv": file(3)}, 0},
		{"points in directories", "p n\nf <default> [16 5]=[2] [8 2.5]=[1]",
			fstest.MapFS{"p8/n2.5/a.csv": file(1), "p16/n5/a.csv": file(2), "p8/.hidden.csv": file(3)}, 0},
		{"constants", "n\nf <default> [1]=[1] [2]=[2]",
			fstest.MapFS{"p64n1.csv": file(1), "p64n2.csv": file(2)}, 0},
		{"other files", "p\nf <default> [8]=[1]",
			fstest.MapFS{"p8.csv": file(1), "README": {Data: []byte("no data")}}, 1},
		{"a copy", "p\nf <default> [16]=[1] [8]=[1]", fstest.MapFS{"run.p8.csv": file(1), "run.p16.csv": file(1)}, 1},
		{"an empty place", "p\nf <default> [16]=[2] [8]=[1]",
			fstest.MapFS{"p8/a.csv": file(1), "p16/a.csv": file(2), "p32/.a.csv": file(3), "v3/.a.csv": file(3)}, 1},
		{"the last node is missing", "\nmain visits []=[1]\nmain time [s] []=[0.005]\nmain inclusive_time [s] []=[0.005]",
			fstest.MapFS{"profile.0.0.0": tauOf(1, "1 userevents\n\"Message size sent to node 1\" 1 8 8 8 64\n")}, 1},
		{"the last node of the name is missing", "p\nmain visits [3]=[1 2]\nmain time [s] [3]=[0.005 0.005]\n" +
			"main inclusive_time [s] [3]=[0.005 0.005]",
			fstest.MapFS{"run.p3/profile.0.0.0": tau, "run.p3/profile.1.0.0": tauOf(2, "")}, 1},
		{"the file of another run", "p\n<root> <default> [32]=[2] [16]=[1]",
			fstest.MapFS{"run.p8.csv": {Data: []byte("p,value\n16,1\n")}, "run.p32.csv": {Data: []byte("p,value\n32,2\n")}}, 1},
		{"all nodes", "\nmain visits []=[1 2]\nmain time [s] []=[0.005 0.005]\nmain inclusive_time [s] []=[0.005 0.005]",
			fstest.MapFS{"profile.0.0.0": tau, "profile.1.0.0": tauOf(2, "")}, 0},
		{"a missing node", "\nmain visits []=[1 2]\nmain time [s] []=[0.005 0.005]\nmain inclusive_time [s] []=[0.005 0.005]",
			fstest.MapFS{"profile.0.0.0": tau, "profile.2.0.0": tauOf(2, ""), "profile.1.0.0/core": {}}, 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d, err := dataset.ReadDir("runs", tc.dir, dataset.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := text(d); got != tc.want || len(d.Warnings) != tc.warnings {
				t.Errorf("dataset =\n%s\nwith warnings %q, want\n%s\nwith %d", got, d.Warnings, tc.want, tc.warnings)
			}
		})
	}
}

// What can be read in two ways in a name is read in one, with a warning.
func TestUnclearNames(t *testing.T) {
	for name, want := range map[string]string{
		"run.n1k.csv": "", "run.n64MiB.r1e.csv": "", "run.p8a.csv": "",
		"run.n1m.csv":    `x: names that can be read in two ways: 1; the first is x/run.n1m.csv, of which "n1m" is read as n = 1; write the whole number, or a factor such as k, M, Ki or Mi`,
		"run.n1kb.csv":   `x: names that can be read in two ways: 1; the first is x/run.n1kb.csv, of which "n1kb" is read as n = 1; write the whole number, or a factor such as k, M, Ki or Mi`,
		"run.n1e3.csv":   `x: names that can be read in two ways: 1; the first is x/run.n1e3.csv, of which "n1e3" is read as n = 1000; write n1.e3 if e3 is a parameter of its own`,
		"run.n1e+03.csv": "",
		"run.n1e999.csv": `x: names that can be read in two ways: 1; the first is x/run.n1e999.csv, of which "n1e999" is not a number and is ignored`,
	} {
		d, err := dataset.ReadDir("x", fstest.MapFS{name: file(1)}, dataset.Options{})
		if err != nil || strings.Join(d.Warnings, "\n") != want {
			t.Errorf("%s: %v, %v, want %s", name, d, err, want)
		}
	}
}

// What a file says about its point is not replaced by its name.
func TestNamesDoNotOverride(t *testing.T) {
	dir := fstest.MapFS{"run.p8.csv": {Data: []byte("p,value\n16,1\n32,2\n")}}
	d, err := dataset.ReadDir("runs", dir, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := text(d), "p\n<root> <default> [16]=[1] [32]=[2]"; got != want {
		t.Errorf("dataset =\n%s\nwant\n%s", got, want)
	}
}

// A damaged file ends the reading of its directory: to leave it out silently would change a model.
func TestReadDirFails(t *testing.T) {
	dir := fstest.MapFS{"p8.csv": file(1), "p16.csv": {Data: []byte("callpath,value\nf,many\n")}}
	if d, err := dataset.ReadDir("runs", dir, dataset.Options{}); err == nil {
		t.Errorf("dataset = %s, want an error", text(d))
	}
}

// Only formats without a number of processes take it from the name of a single file.
func TestReadNamed(t *testing.T) {
	const osu = "# OSU MPI Bcast Latency Test v7.3\n# Size       Avg Latency(us)\n8   1\n"
	for _, tc := range []struct{ file, input, want string }{
		{"data/osu.p64.txt", osu, "p bytes\nBcast Avg Latency(us) [64 8]=[1]"},
		{"p4/osu.txt", osu, "bytes\nBcast Avg Latency(us) [8]=[1]"},
		{"osu.p64k.txt", osu, "p bytes\nBcast Avg Latency(us) [64000 8]=[1]"},
		{"run.p64.csv", "n,value\n1,2\n", "n\n<root> <default> [1]=[2]"},
	} {
		d, _, err := dataset.ReadNamed(tc.file, []byte(tc.input), dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := text(d); got != tc.want {
			t.Errorf("%s =\n%s\nwant\n%s", tc.file, got, tc.want)
		}
	}
}

// A parameter that only the name of a single file has says which file it is.
func TestDropNamed(t *testing.T) {
	const osu = "# OSU MPI Bcast Latency Test v7.3\n# Size       Avg Latency(us)\n8   1\n"
	d, _, err := dataset.ReadNamed("run17.b8.txt", []byte(osu), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if dropped := d.DropNamed(); !slices.Equal(dropped, []string{"run", "b"}) || text(d) != "bytes\nBcast Avg Latency(us) [8]=[1]" {
		t.Errorf("dropped %v, left\n%s", dropped, text(d))
	}
	both := dataset.New()
	for _, name := range []string{"p4.txt", "p8.txt"} {
		d, _, _ := dataset.ReadNamed(name, []byte(osu), dataset.Options{})
		both.Merge(d)
	}
	if dropped := both.DropNamed(); len(dropped) > 0 {
		t.Errorf("%v of two files was dropped", dropped)
	}
}

// Files that links lead to count; what cannot be read is reported.
func TestReadDirLinks(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(t.TempDir(), "data")
	if err := errors.Join(os.WriteFile(data, []byte("p,time\n4,1.5\n8,2.5\n"), 0o666), os.Symlink(data, filepath.Join(dir, "a.csv")),
		os.Symlink("b.csv", filepath.Join(dir, "b.csv")), os.Symlink("nowhere", filepath.Join(dir, "c.csv"))); err != nil {
		t.Fatal(err)
	}
	d, err := dataset.ReadDir("x", os.DirFS(dir), dataset.Options{})
	if err != nil || d.Measurements() != 2 {
		t.Fatalf("%v, %v, want 2 measurements", d, err)
	}
	want := []string{"x/b.csv cannot be read and is passed over", "x/c.csv cannot be read and is passed over"}
	if !slices.Equal(d.Warnings, want) {
		t.Errorf("warnings %q, want %q", d.Warnings, want)
	}
}

// A value of ReFrame that was not measured is not 0.
func TestReframeNull(t *testing.T) {
	text := `{"session_info":{"data_version":"4.0"},"runs":[{"testcases":[{"name":"a","result":"pass",` +
		`"perfvalues":{"s:p:v":[null,1,0,0,"s"],"s:p:w":[2,1,0,0,"s"]}}]}]}`
	d, _, err := dataset.ReadNamed("x", []byte(text), dataset.Options{})
	if err != nil || d.Measurements() != 1 || len(d.Warnings) != 1 {
		t.Errorf("%+v, %v, want 1 measurement and a warning", d, err)
	}
}

// What no profile of TAU can hold is an error with its place.
func TestDamagedTAU(t *testing.T) {
	for _, tc := range [][3]string{
		{"5000 5000", "-5000 5000", `profile.0.0.0:3: the time of "main" is -5000, below 0`},
		{"1 0", "-1 0", `profile.0.0.0:3: the visits of "main" is -1, below 0`},
		{"main", "ma\x1bin", `profile.0.0.0:3: has a control character in the name "ma\x1bin"`},
		{"main", "ma\x00in", `profile.0.0.0:3: has a byte 0`},
	} {
		text := strings.Replace(string(tau.Data), tc[0], tc[1], 1)
		if _, _, err := dataset.Read("profile.0.0.0", []byte(text), ""); err == nil || !strings.Contains(err.Error(), tc[2]) {
			t.Errorf("%q: %v, want %s", tc[1], err, tc[2])
		}
	}
}

// Exclusive and inclusive values of a profile of TAU must fit.
func TestTAUValuesFit(t *testing.T) {
	for row, want := range map[string]int{"1 0 5000 5000": 0, "1 2 4000 5000": 0, "1 2 6000 5000": 1, "1 0 5000 50000": 1} {
		d, _, err := dataset.Read("x", []byte(strings.Replace(string(tau.Data), "1 0 5000 5000", row, 1)), "")
		if err != nil || len(d.Warnings) != want {
			t.Errorf("%s: %v, %v; want %d warnings", row, d, err, want)
		}
	}
}

// A key twice would lose a value; the line is named.
func TestKeysTwice(t *testing.T) {
	for text, want := range map[string]string{
		`{"params":{"p":1},"value":1,"value":2}`: "x:1: is not a line of Extra-P JSON: a key is there twice",
		"{\"context\":{},\n" + `"benchmarks":[{"name":"a","run_type":"iteration","real_time":1,"real_time":2,"time_unit":"ns"}]}`: "x:2: the key \"real_time\" is there twice",
	} {
		if d, _, err := dataset.Read("x", []byte(text), ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v; want %s", text, d, err, want)
		}
	}
}
