package compare_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slackline/cli/clitest"
)

// write writes a run in which rank 0 computes for so many microseconds before it sends, and rank 1 waits for it from 10 us on.
func write(t *testing.T, name string, computes int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name+".trace")
	text := fmt.Sprintf("slackline trace 1\nunit us\nrank 0\n0 main {\n0..%d compute\n%d..%d MPI_Send: send to 1 size 8\n} %d\n"+
		"rank 1\n0 main {\n0..10 compute\n10..%d MPI_Recv: recv from 0 size 8\n} %d\n", computes, computes, computes+2, computes+10, computes+3,
		computes+10)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

type result struct {
	Runs    [2]int
	Changes []struct {
		Metric      string
		CallPath    string
		A           float64 `json:"a_s"`
		B           float64 `json:"b_s"`
		P           *float64
		Significant bool
	}
	Verdicts []struct {
		Condition, Verdict string
	}
}

func compared(t *testing.T, want int, args ...string) *result {
	t.Helper()
	code, stdout, stderr := clitest.Run("", append([]string{"compare", "--format", "json"}, args...)...)
	var r result
	if err := json.Unmarshal([]byte(stdout), &r); err != nil || code != want {
		t.Fatalf("%v: exit code %d, want %d, %v\n%s", args, code, want, err, stderr)
	}
	return &r
}

// What rank 0 saves is saved in the run, in its computation and in the wait that it caused.
func TestTwoRuns(t *testing.T) {
	r := compared(t, 0, write(t, "a", 30), write(t, "b", 20))
	got := map[string]string{}
	for _, c := range r.Changes {
		got[c.Metric+"@"+c.CallPath] = fmt.Sprintf("%.0f to %.0f", 1e6*c.A, 1e6*c.B)
	}
	for key, want := range map[string]string{
		"run_time@": "40 to 30", "waiting@": "20 to 10", "time@main/compute": "40 to 30", "delay@main/compute": "20 to 10",
		"late_sender@main/MPI_Recv": "20 to 10", "time@main/MPI_Send": "2 to 2",
	} {
		if got[key] != want {
			t.Errorf("%s = %q, want %q", key, got[key], want)
		}
	}
	if r.Changes[0].Metric != "run_time" || r.Runs != [2]int{1, 1} {
		t.Errorf("the first change is %+v, of %v runs", r.Changes[0], r.Runs)
	}
}

// A change of repeated runs is held against chance: four against four that do not overlap are; three cannot be.
func TestRepetitions(t *testing.T) {
	var before, after []string
	for i := range 4 {
		before, after = append(before, write(t, "a", 30+i)), append(after, write(t, "b", 50+i))
	}
	r := compared(t, 3, strings.Join(before, ","), strings.Join(after, ","), "--fail-if", "run_time>20%")
	if c := r.Changes[0]; c.P == nil || *c.P > 0.05 || !c.Significant || r.Runs != [2]int{4, 4} || r.Verdicts[0].Verdict != "failed" {
		t.Errorf("four runs: %+v, verdicts %+v", c, r.Verdicts)
	}
	r = compared(t, 4, strings.Join(before[:3], ","), strings.Join(after[:3], ","), "--fail-if", "run_time>20%")
	if c := r.Changes[0]; c.Significant || r.Verdicts[0].Verdict == "failed" {
		t.Errorf("three runs: %+v, verdicts %+v; want nothing significant", c, r.Verdicts)
	}
}

func TestConditions(t *testing.T) {
	a, b := write(t, "a", 30), write(t, "b", 20)
	for condition, want := range map[string]int{
		"run_time<-20%": 3, "run_time<-30%": 0, "run_time>5%": 0, "waiting<-5us": 3, "waiting@main/MPI_Recv<-5us": 3, "time@main/compute<-20%": 3,
		"time@main/MPI_Send<-1%": 0,
	} {
		if code, stdout, stderr := clitest.Run("", "compare", a, b, "--fail-if", condition); code != want ||
			strings.Contains(stdout, "failed: "+condition) != (want == 3) {
			t.Errorf("%s: exit code %d, want %d\n%s%s", condition, code, want, stdout, stderr)
		}
	}
}

func TestMistakes(t *testing.T) {
	a := write(t, "a", 30)
	for _, tc := range []struct {
		code int
		want string
		args []string
	}{
		{2, "needs A and B", []string{a}},
		{2, "--top: -1 is too few; give 0 or more", []string{a, a, "--top", "-1"}},
		{2, `"run_time" is not METRIC[@CALLPATH]>CHANGE`, []string{a, a, "--fail-if", "run_time"}},
		{1, "no such file", []string{a, filepath.Join(t.TempDir(), "none.slt")}},
		{1, "also an input", []string{a, a, "--out", a}},
	} {
		code, stdout, stderr := clitest.Run("", append([]string{"compare"}, tc.args...)...)
		if code != tc.code || stdout != "" || !strings.Contains(stderr, tc.want) {
			t.Errorf("%v: exit code %d, output %q; want %d and %q\n%s", tc.args, code, stdout, tc.code, tc.want, stderr)
		}
	}
}

// TestChrome: a run in JSON is a run, as it is when it is packed.
func TestChrome(t *testing.T) {
	const chrome = "../../model/trace/testdata/chrome/two.json"
	packed := filepath.Join(t.TempDir(), "packed.json.gz")
	var b bytes.Buffer
	data, err := os.ReadFile(chrome)
	if err != nil {
		t.Fatal(err)
	}
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Close(), os.WriteFile(packed, b.Bytes(), 0o666)); err != nil {
		t.Fatal(err)
	}
	if r := compared(t, 0, chrome, packed); len(r.Changes) == 0 || r.Changes[0].A != r.Changes[0].B {
		t.Errorf("%+v", r.Changes)
	}
}

// A result that is not UTF-8 has other call paths than were written, which a warning says.
func TestNotUTF8(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.json")
	text := `{"run": {"time_s": 1}, "callpaths": [{"callpath": "ma` + "\xff" + `in", "exclusive_s": 1}]}`
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := clitest.Run("", "compare", file, file, "--fail-if", "run_time>5%")
	if want := "warning: " + file + ": is not UTF-8 text"; code != 0 || !strings.Contains(stderr, want) {
		t.Errorf("exit code %d, %q; want 0 and %q", code, stderr, want)
	}
}

// The table says how many rows it leaves out; there are none that did not change.
func TestText(t *testing.T) {
	a, b := write(t, "a", 30), write(t, "b", 20)
	_, stdout, _ := clitest.Run("", "compare", a, b, "--top", "2")
	if !strings.Contains(stdout, "(the whole run)") || strings.Contains(stdout, "main/compute") ||
		!strings.Contains(stdout, "\n(5 lines more; --top 0 shows all)\n") || strings.Contains(stdout, "  p  ") {
		t.Errorf("--top 2 shows\n%s", stdout)
	}
	if _, stdout, _ = clitest.Run("", "compare", a, b, "--top", "0"); !strings.Contains(stdout, "main/compute") ||
		strings.Contains(stdout, "main/MPI_Send") || strings.Contains(stdout, "--top 0") {
		t.Errorf("--top 0 shows\n%s", stdout)
	}
}

// A run that a side has twice would make chance look like a change; copies, and a run that both sides have, cause a warning.
func TestSameRuns(t *testing.T) {
	a, b := write(t, "a", 30), write(t, "b", 20)
	data, err := os.ReadFile(a)
	if err != nil {
		t.Fatal(err)
	}
	copied, link := filepath.Join(filepath.Dir(b), "copy.trace"), filepath.Join(filepath.Dir(b), "link.trace")
	if err := errors.Join(os.WriteFile(copied, data, 0o666), os.Symlink(a, link)); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		code       int
		want, a, b string
	}{
		{2, b + " is in B twice", a, b + "," + b},
		{2, link + " is in A twice", a + "," + link, b},
		{0, "warning: " + copied + " holds the same bytes as " + a + ": if it is a copy, its measurements count twice", a + "," + copied, b},
		{0, "warning: " + link + " is in A and in B: it is compared with itself", a + "," + b, link},
		{0, "warning: " + copied + " in B holds the same bytes as " + a + " in A: if it is a copy, the run is compared with itself", a, copied},
	} {
		for _, more := range [][]string{{"--fail-if", "run_time>500%"}, nil} {
			code, _, stderr := clitest.Run("", append([]string{"compare", tc.a, tc.b}, more...)...)
			if code != tc.code || !strings.Contains(stderr, tc.want) {
				t.Errorf("%s and %s %q: exit code %d, want %d and %q\n%s", tc.a, tc.b, more, code, tc.code, tc.want, stderr)
			}
		}
	}
	_, machine, _ := clitest.Run("", "machine", "show", "chic")
	file := filepath.Join(t.TempDir(), "chic.yaml")
	if err := os.WriteFile(file, []byte(machine), 0o666); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := clitest.Run("", "compare", "ring,halo2d", "sweep3d", "--ranks", "4", "--machine", file)
	if code != 0 || strings.Contains(stderr, "same bytes") {
		t.Errorf("simulated on one machine: exit code %d\n%s", code, stderr)
	}
}

// Names that files bring along do not begin lines of their own in warnings and verdicts.
func TestNamesInMessages(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.json")
	if err := os.WriteFile(file, []byte(`{"run": {"time_s": 1}, "callpaths": [{"callpath": "a\n::error ::b", "exclusive_s": 1}]}`), 0o666); err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(file, "a.json", "b.json", 1)
	if err := os.WriteFile(other, []byte(`{"run": {"time_s": 2}, "callpaths": [{"callpath": "c", "exclusive_s": 1}]}`), 0o666); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := clitest.Run("", "compare", file, other, "--fail-if", "time@c>5%")
	if code != 4 || strings.Contains(stdout+stderr, "\n::err") || !strings.Contains(stderr, `only in A: a\n::error ::b`) {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
}
