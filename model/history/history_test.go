package history

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"slackline/model/dataset"
)

func entry(id string, at time.Time, v ...float64) *Entry {
	d := dataset.New("p")
	d.Get("main->solve", "time").Add([]float64{8}, v...)
	return &Entry{Commit: Commit{ID: id, Time: at, Subject: "solve <faster>"}, Runs: true, Data: d}
}

var noon = time.Date(2026, 4, 12, 12, 0, 0, 0, time.UTC)

func file(t testing.TB, e *Entry) (string, []byte) {
	t.Helper()
	name, data, err := e.Encode("1.0")
	if err != nil {
		t.Fatal(err)
	}
	return name, data
}

// Entries come back in the order of their commits' times, whatever their names are; those of one commit are joined, and
// what is not an entry is passed over.
func TestReadAndJoin(t *testing.T) {
	folder := fstest.MapFS{"README.md": {Data: []byte("x")}, ".slackline-123.tmp": {Data: []byte("{")}}
	for i, e := range []*Entry{entry("c3", noon.Add(2*time.Hour), 3), entry("a1", noon, 1), entry("b2", noon.Add(time.Hour), 2),
		entry("a1", noon, 1.5)} {
		name, data := file(t, e)
		if folder[name] != nil {
			t.Fatalf("entry %d: %s is there already", i, name)
		}
		folder[name] = &fstest.MapFile{Data: data}
	}
	entries, err := Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, s := range States(entries) {
		got += fmt.Sprintf("%s %v %q %v\n", s.ID, s.Runs, s.Subject, s.Data.Series[0].Points[0].Values)
	}
	if want := "a1 true \"solve <faster>\" [1 1.5]\nb2 true \"solve <faster>\" [2]\nc3 true \"solve <faster>\" [3]\n"; got != want &&
		got != strings.Replace(want, "[1 1.5]", "[1.5 1]", 1) {
		t.Errorf("states =\n%s, want\n%s", got, want)
	}
}

// What has the name of an entry and is none, as a directory or a link to nothing, is an error: history would lack it.
func TestReadFails(t *testing.T) {
	name, _ := file(t, entry("a1", noon, 1))
	for what, f := range map[string]*fstest.MapFile{
		"directory": {Mode: fs.ModeDir | 0o777}, "link": {Mode: fs.ModeSymlink | 0o777, Data: []byte("nowhere")},
	} {
		if entries, err := Read(fstest.MapFS{name: f}); err == nil {
			t.Errorf("a %s: %d entries and no error", what, len(entries))
		}
	}
}

// The same entry is the same file, another value another one.
func TestNames(t *testing.T) {
	a, _ := file(t, entry("feature/x", noon, 1))
	b, _ := file(t, entry("feature/x", noon.In(time.FixedZone("", 3600)), 1))
	c, _ := file(t, entry("feature/x", noon, 2))
	if a != b || a == c || !entryName.MatchString(a) || !strings.HasPrefix(a, "20260412T120000Z-feature_x-") {
		t.Errorf("names = %s, %s, %s", a, b, c)
	}
}

func TestBadEntries(t *testing.T) {
	name, data := file(t, entry("a1", noon, 1))
	for _, tc := range []struct{ name, data, want string }{
		{name, strings.Replace(string(data), "[1]", "[2]", 1), "its content is not what was written"},
		{name, string(data[:len(data)-5]), "is not an entry of a history"},
		{name, `{"slackline_dataset":1,"parameters":[],"series":[]}`, "names no commit"},
		{name, strings.Replace(string(data), `"slackline_history":1`, `"slackline_history":7`, 1), "version 7; this slackline reads 1 to 1"},
	} {
		if _, err := Decode(tc.name, []byte(tc.data)); err == nil || !strings.Contains(err.Error(),
			tc.want) || !strings.HasPrefix(err.Error(), name) {
			t.Errorf("Decode = %v, want %s: ... %q", err, name, tc.want)
		}
	}
	for _, id := range []string{"", "-x", "a b", "a\nb", strings.Repeat("a", 200)} {
		if _, _, err := entry(id, noon, 1).Encode("1.0"); err == nil {
			t.Errorf("the commit %q is written", id)
		}
	}
	if _, _, err := entry("a", time.Time{}, 1).Encode("1.0"); err == nil {
		t.Error("an entry without a time is written")
	}
}

func FuzzEntry(f *testing.F) {
	name, data := file(f, entry("a1", noon, 1))
	f.Add(name, data)
	f.Add(name, []byte(`{"provenance":{"slackline_history":1}}`))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		e, err := Decode(name, data)
		if err != nil {
			return
		}
		if _, _, err := e.Encode("1.0"); err != nil && e.Time.Year() >= 1970 && e.Time.Year() <= 9999 {
			t.Fatal(err)
		}
	})
}
