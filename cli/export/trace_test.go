package export

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Suffixes of traces may have two parts; --to wins.
func TestTraceFormat(t *testing.T) {
	for _, tc := range []struct{ to, out, want string }{
		{"", "a.slt", "slt"}, {"", "A.SLT", "slt"}, {"", "a.speedscope.json", "speedscope"}, {"", "a.json", ""}, {"", "a.pb.gz", "pprof"},
		{"otf2", "a.slt", "otf2"}, {"goal", "a.slt", ""}, {"", "", ""},
	} {
		f, ok := (&ScheduleOutput{to: tc.to, Out: tc.out}).TraceFormat()
		if f.Name != tc.want || ok != (tc.want != "") {
			t.Errorf("--to %q --out %q: %q, %v; want %q", tc.to, tc.out, f.Name, ok, tc.want)
		}
	}
	for _, suffix := range TraceSuffixes() {
		if f, err := TraceFormatOf("a" + suffix); err != nil || !slices.Contains(f.Suffixes, suffix) ||
			!slices.Contains(TraceFormatNames(), f.Name) {
			t.Errorf("a%s is %s, error %v", suffix, f.Name, err)
		}
	}
	_, err := TraceFormatOf("a.xyz")
	if want := `a.xyz: no format of traces has the suffix ".xyz"; there are ` + strings.Join(TraceSuffixes(), ", "); err == nil ||
		err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// A trace of several files needs a path that is not its input and does not exist, unless it may be replaced.
func TestCheckTraceOut(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"in.slt", "old.slt"} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	anchor := filepath.Join("in.slt", "traces.otf2")
	if err := os.WriteFile(anchor, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		to, out, word string
		force         bool
		want          string
	}{
		{"slt", "new.slt", "in.slt", false, ""},
		{"slt", "old.slt", "in.slt", true, ""},
		{"slt", "old.slt", "in.slt", false, "old.slt exists; give another name, or --force to replace it"},
		{"slt", "in.slt", "in.slt", true, "in.slt is also the input; give another name"},
		{"slt", "./in.slt", anchor, true, "./in.slt is also the input; give another name"},
		{"slt", "", "in.slt", false, "slt is several files; give --out PATH"},
		{"otf2", "-", "in.slt", false, "otf2 is several files; give --out PATH"},
		{"slt", "none/new.slt", "in.slt", false, "none/new.slt: there is no directory none"},
		{"trace-text", "-", "in.slt", false, ""},
		{"trace-text", anchor, anchor, true, anchor},
	} {
		f, ok := (&ScheduleOutput{to: tc.to}).TraceFormat()
		if !ok {
			t.Fatalf("no format %s", tc.to)
		}
		err := CheckTraceOut(tc.out, f, tc.word, tc.force)
		if (err == nil) != (tc.want == "") || err != nil && !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%s to %q from %s: %v, want %q", tc.to, tc.out, tc.word, err, tc.want)
		}
	}
}
