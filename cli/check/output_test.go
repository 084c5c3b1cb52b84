package check_test

import (
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slackline/cli/clitest"
)

// measured writes a dataset of functions of p, three equal measurements at each of 2 to 64.
func measured(t *testing.T, functions map[string]func(p float64) float64) string {
	t.Helper()
	text := "callpath,metric,p,value\n"
	for name, f := range functions {
		for p := 2.0; p <= 64; p *= 2 {
			for range 3 {
				text += fmt.Sprintf("%s,time,%g,%g\n", name, p, f(p))
			}
		}
	}
	path := filepath.Join(t.TempDir(), "data.csv")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func linear(p float64) float64 { return 3 * p }
func constant(float64) float64 { return 7 }

// verdictsOf runs check in one of its forms.
func verdictsOf(t *testing.T, want int, args ...string) string {
	t.Helper()
	code, stdout, stderr := clitest.Run("", append([]string{"check"}, args...)...)
	if code != want {
		t.Fatalf("check %v: exit code %d, want %d\n%s%s", args, code, want, stdout, stderr)
	}
	return stdout
}

// Two datasets are columns of one table, and rows of CSV and JSON; all say the same, and the worst of them is the verdict.
func TestSeveralDatasets(t *testing.T) {
	rules, _ := files(t, "  - {function: solve, expect: \"O(1)\"}\nrules:\n  - {rule: \"solve <= other\"}\n")
	good := measured(t, map[string]func(float64) float64{"solve": constant, "other": func(float64) float64 { return 8 }})
	bad := measured(t, map[string]func(float64) float64{"solve": linear, "other": constant})
	args := []string{rules, "new=" + bad, "old=" + good}
	records, err := csv.NewReader(strings.NewReader(verdictsOf(t, 3, append(args, "--format", "csv")...))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, row := range records[1:] {
		got = append(got, strings.Join(row[:3], " "))
	}
	want := []string{"new fail solve", "new fail solve <= other", "old pass solve", "old pass solve <= other"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("rows %q, want %q", got, want)
	}
	var d struct {
		Verdict  string
		Datasets []struct {
			Label, Verdict string
			Checks         []struct{ Function, Status string }
			Rules          []struct {
				Rule, Status string
				Violated     []float64 `json:"violated_at"`
			}
		}
	}
	if err := json.Unmarshal([]byte(verdictsOf(t, 3, append(args, "--format", "json")...)), &d); err != nil {
		t.Fatal(err)
	}
	if d.Verdict != "fail" || len(d.Datasets) != 2 || d.Datasets[0].Label != "new" || d.Datasets[0].Verdict != "fail" ||
		d.Datasets[1].Verdict != "pass" {
		t.Fatalf("%+v", d)
	}
	// 3p is above 7 from 4 on.
	if v := d.Datasets[0].Rules[0].Violated; fmt.Sprint(v) != "[4 8 16 32 64]" || len(d.Datasets[1].Rules[0].Violated) != 0 {
		t.Errorf("violated at %v, and at %v", v, d.Datasets[1].Rules[0].Violated)
	}
	text := verdictsOf(t, 3, args...)
	for _, want := range []string{"function        expectation  new", "solve <= other  rule         fail", "\nfail: 2 pass, 2 fail\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// JUnit counts as the other forms do: what fails is a failure, what is skipped is neither, and names stay valid XML.
func TestJUnitCounts(t *testing.T) {
	rules, _ := files(t, "  - {function: solve, expect: \"O(1)\"}\n  - {function: other, expect: \"O(1)\"}\n"+
		"  - {function: gone, expect: \"O(1)\", optional: true}\n  - {function: \"a<b>&c\", expect: \"O(p)\", xfail: \"issue 7\"}\n")
	data := measured(t, map[string]func(float64) float64{"solve": linear, "other": constant,
		"a<b>&c": func(p float64) float64 { return p * p }})
	var all struct {
		Suites []struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Skipped  int `xml:"skipped,attr"`
			Cases    []struct {
				Name    string    `xml:"name,attr"`
				Failure *struct{} `xml:"failure"`
				Skipped *struct {
					Message string `xml:"message,attr"`
				} `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(verdictsOf(t, 3, rules, data, "--format", "junit")), &all); err != nil {
		t.Fatal(err)
	}
	s := all.Suites[0]
	if s.Tests != 4 || s.Failures != 1 || s.Skipped != 2 || s.Cases[0].Failure == nil || s.Cases[1].Failure != nil ||
		s.Cases[1].Skipped != nil {
		t.Errorf("%d tests, %d failures, %d skipped; want 4, 1, 2: %+v", s.Tests, s.Failures, s.Skipped, s.Cases)
	}
	if last := s.Cases[3]; last.Name != "a<b>&c time: O(p)" || last.Skipped == nil || !strings.Contains(last.Skipped.Message, "issue 7") {
		t.Errorf("the expected failure is %+v", last)
	}
	if text := verdictsOf(t, 3, rules, data); !strings.HasSuffix(text, "\nfail: 1 pass, 1 fail, 1 xfail, 1 skipped\n") {
		t.Errorf("summary of\n%s", text)
	}
}

// A target is predicted, and a limit tells up to where it holds: 3p is 300 at 100.
func TestPredictionAndWall(t *testing.T) {
	rules, _ := files(t, "  - {function: solve, expect: \"O(p)\", target: 100, max: 600}\n")
	data := measured(t, map[string]func(float64) float64{"solve": linear})
	text := verdictsOf(t, 0, rules, data)
	for _, want := range []string{"solve: 300 predicted at p = 100 (90 %: 300..300)\n", "solve: within 600 up to p = 200\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	var d struct {
		Checks []struct {
			Prediction, Wall float64
			Formula          string
		}
	}
	if err := json.Unmarshal([]byte(verdictsOf(t, 0, rules, data, "--format", "json")), &d); err != nil {
		t.Fatal(err)
	}
	if c := d.Checks[0]; c.Prediction < 299.999 || c.Prediction > 300.001 || c.Wall != 200 {
		t.Errorf("%+v, want 300 at the target and a wall at 200", c)
	}
}
