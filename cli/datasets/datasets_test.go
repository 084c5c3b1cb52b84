package datasets

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slackline/analyze/scaling"
	"slackline/cli/env"
	"slackline/cli/exit"
)

// write makes a file in the current directory, which is a temporary one.
func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestSplitLabels(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "a=b.json", "{}")
	write(t, "n=5:x.json", "{}")
	dir := string(filepath.Separator)
	got := SplitLabels([]string{"x.json", "new=y.json", "n=1000:z.json", "new=v.json", "a=b.json", "n=5:x.json", "=u", "d" + dir + "e=f"})
	want := []Labelled{
		{"", []string{"x.json", "n=1000:z.json", "a=b.json", "n=5:x.json", "=u", "d" + dir + "e=f"}}, {"new", []string{"y.json", "v.json"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	files := []string{"x.json", "z.json", "a=b.json", "n=5:x.json", "=u", "d" + dir + "e=f", "y.json", "v.json"}
	if diff := cmp.Diff(files, Files(got)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestCutPlace(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "p=4:there.csv", "")
	for word, want := range map[string][2]string{
		"n=1000:run.slt": {"n=1000", "run.slt"}, "n=1e3,p=4:a:b": {"n=1e3,p=4", "a:b"}, "run.slt": {"", "run.slt"},
		"p=4:there.csv": {"", "p=4:there.csv"}, "n=x:run.slt": {"", "n=x:run.slt"}, "C:run.slt": {"", "C:run.slt"},
	} {
		if place, path := CutPlace(word); place != want[0] || path != want[1] {
			t.Errorf("%s = %q, %q; want %q", word, place, path, want)
		}
	}
}

func TestParseTarget(t *testing.T) {
	for text, want := range map[string]*scaling.Target{
		"": nil, "65536": {Value: 65536}, "2^16": {Value: 65536}, "p=64": {Named: map[string]float64{"p": 64}},
		"p=2^6,n=1e3": {Named: map[string]float64{"p": 64, "n": 1000}},
	} {
		if got, err := ParseTarget(text); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%q = %+v, %v; want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"0", "-1", "inf", "p", "p=", "=4", "p=0", "p=4,", "p=nan", "64,128", "2^3..2^5"} {
		var usage *exit.UsageError
		if got, err := ParseTarget(text); !errors.As(err, &usage) {
			t.Errorf("%q = %+v, %v; want a mistake in the command line", text, got, err)
		}
	}
}

// load reads measurements; the warnings come with them.
func load(t *testing.T, o DataOptions, words ...string) (points string, err error) {
	t.Helper()
	var stderr bytes.Buffer
	a := env.New(nil, strings.NewReader(""), io.Discard, &stderr)
	d, records, err := o.Load(t.Context(), a, words)
	if err != nil {
		return "", err
	}
	if len(records) != len(words) {
		t.Errorf("%d inputs are recorded, of %d", len(records), len(words))
	}
	var b bytes.Buffer
	if err := d.WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	return b.String(), nil
}

const data = "callpath,metric,p,value\nmain,time,1,10\nmain,time,2,20\nmain,time,4,40\nmain,memory,1,5\nmain,memory,2,5\n"

func TestLoad(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "a.csv", data)
	write(t, "b.csv", strings.ReplaceAll(data, "0\n", "1\n"))
	plain, err := load(t, DataOptions{Metric: "time"}, "a.csv")
	if err != nil || strings.Contains(plain, "memory") || !strings.Contains(plain, "40") {
		t.Errorf("one metric: %v\n%s", err, plain)
	}
	one, err := load(t, DataOptions{Metric: "time", Where: []string{"p=2"}}, "a.csv")
	if err != nil || strings.Contains(one, "40") || !strings.Contains(one, "20") {
		t.Errorf("where p=2: %v\n%s", err, one)
	}
	both, err := load(t, DataOptions{Metric: "time"}, "n=1:a.csv", "n=2:b.csv")
	if err != nil || !strings.Contains(both, "n") || strings.Count(both, "\n") != 7 {
		t.Errorf("two files with a parameter each: %v\n%s", err, both)
	}
	set, err := load(t, DataOptions{Metric: "time", set: []string{"n=64"}}, "a.csv")
	if err != nil || strings.Count(set, ",64,") != 3 {
		t.Errorf("set n=64: %v\n%s", err, set)
	}
}

// The number in the name of a single file is no parameter beside another one, but can be selected.
func TestLoadNamed(t *testing.T) {
	t.Chdir(t.TempDir())
	const osu = "# OSU MPI Bcast Latency Test v7.3\n# Size       Avg Latency(us)\n8   1\n"
	write(t, "o1.txt", osu)
	write(t, "o2.txt", osu)
	for _, o := range []DataOptions{{}, {Where: []string{"o=1"}}} {
		if one, err := load(t, o, "o1.txt"); err != nil || one != "callpath,metric,bytes,repetition,value\nBcast,Avg Latency(us),8,0,1\n" {
			t.Errorf("%+v: %v\n%s", o, err, one)
		}
	}
	if both, err := load(t, DataOptions{}, "o1.txt", "o2.txt"); err != nil || !strings.Contains(both, "metric,o,bytes,") {
		t.Errorf("two files: %v\n%s", err, both)
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "a.csv", data)
	for want, o := range map[string]DataOptions{
		`--metric: there is no metric "tiem" in the measurements, only time, memory; did you mean time?`: {Metric: "tiem"},
		`--set: "n" is not NAME=VALUE`:                                {set: []string{"n"}},
		`--where: "p=-1" is not NAME=VALUE with a number`:             {Where: []string{"p=-1"}},
		`--only-path: no call path of the measurements holds "solve"`: {path: "solve"},
		"q": {Where: []string{"q=4"}}, // there is no such parameter
		"p": {set: []string{"p=4"}},   // it is there
	} {
		if got, err := load(t, o, "a.csv"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want an error with %q\n%s", o, err, want, got)
		}
	}
	if _, err := load(t, DataOptions{}, "none.csv"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}
