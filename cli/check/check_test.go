package check_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slackline/cli/clitest"
)

const cases = "../../testdata/scaling/check/"

// files are a dataset of Bcast, which is linear, and of Reduce, which is logarithmic, and expectations of both.
func files(t *testing.T, expectations string) (rules, data string) {
	t.Helper()
	rules = filepath.Join(t.TempDir(), "expect.yaml")
	if err := os.WriteFile(rules, []byte("expectations:\n"+expectations), 0o666); err != nil {
		t.Fatal(err)
	}
	return rules, cases + "fail-linear-for-log.json"
}

const (
	bcast  = "  - {function: Bcast, expect: \"O(log p)\", limit: \"sqrt(p)\"}\n"
	reduce = "  - {function: Reduce, expect: \"O(log p)\", limit: \"sqrt(p)\"}\n"
)

// The exit code is the verdict.
func TestExitCodes(t *testing.T) {
	var expected map[string]int
	clitest.ReadJSON(t, cases+"expected.json", &expected)
	for name, want := range expected {
		if code, stdout, stderr := clitest.Run("", "check", cases+name+".yaml", cases+name+".json"); code != want {
			t.Errorf("%s: exit code %d, want %d\n%s%s", name, code, want, stdout, stderr)
		}
	}
}

// A failure that is expected does not count; one that does not come is reported, and counts with --strict.
func TestExpectedFailures(t *testing.T) {
	for name, tc := range map[string]struct {
		text    string
		flags   []string
		code    int
		summary string
	}{
		"fails":       {bcast + reduce, nil, 3, "fail: 1 pass, 1 fail"},
		"expected":    {strings.Replace(bcast, "}", ", xfail: known}", 1) + reduce, nil, 0, "pass: 1 pass, 1 xfail"},
		"did not":     {strings.Replace(reduce, "}", ", xfail: known}", 1), nil, 0, "pass: 1 xpass"},
		"strict":      {strings.Replace(reduce, "}", ", xfail: known}", 1), []string{"--strict"}, 3, "fail: 1 xpass"},
		"litmus":      {strings.Replace(bcast, "}", ", litmus: true}", 1) + reduce, nil, 0, "pass: 1 pass, 1 fail"},
		"not there":   {"  - {function: Scan, expect: \"O(1)\", optional: true}\n" + reduce, nil, 0, "pass: 1 pass, 1 skipped"},
		"below Theta": {"  - {function: Reduce, expect: \"O(p)\"}\n", []string{"--two-sided"}, 4, "inconclusive: 1 inconclusive"},
		"below O":     {"  - {function: Reduce, expect: \"O(p)\"}\n", nil, 0, "pass: 1 pass"},
	} {
		rules, data := files(t, tc.text)
		code, stdout, stderr := clitest.Run("", append([]string{"check", rules, data}, tc.flags...)...)
		lines := strings.Split(strings.TrimSpace(stdout), "\n")
		if code != tc.code || lines[len(lines)-1] != tc.summary {
			t.Errorf("%s: exit code %d, %q; want %d, %q\n%s", name, code, lines[len(lines)-1], tc.code, tc.summary, stderr)
		}
	}
}

// The forms for continuous integration, all written by one call.
func TestForms(t *testing.T) {
	rules, data := files(t, bcast+reduce+"  - {function: Scan, expect: \"O(1)\", optional: true}\n")
	dir := t.TempDir()
	args := []string{"check", rules, "all=" + data}
	for _, form := range []string{"junit", "github", "azure", "gitlab", "markdown", "json", "csv"} {
		args = append(args, "--also", form+"="+filepath.Join(dir, form))
	}
	if code, _, stderr := clitest.Run("", args...); code != 3 {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	read := func(form string) string {
		data, err := os.ReadFile(filepath.Join(dir, form))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	var suites struct {
		Suites []struct {
			Name     string `xml:"name,attr"`
			Tests    int    `xml:"tests,attr"`
			Failures int    `xml:"failures,attr"`
			Skipped  int    `xml:"skipped,attr"`
			Cases    []struct {
				Name    string `xml:"name,attr"`
				Failure *struct {
					Message string `xml:"message,attr"`
				} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(read("junit")), &suites); err != nil {
		t.Fatal(err)
	}
	if s := suites.Suites; len(s) != 1 || s[0].Name != "scaling all" || s[0].Tests != 3 || s[0].Failures != 1 || s[0].Skipped != 1 ||
		s[0].Cases[0].Name != "Bcast time: O(log p)" || s[0].Cases[0].Failure == nil || s[0].Cases[1].Failure != nil {
		t.Errorf("junit = %+v", s)
	}
	const found = "Bcast time: O(log p): fail; found O(p), "
	for form, want := range map[string]string{
		"github":   "::error file=" + rules + ",line=2,title=scaling%3A fail::" + found,
		"azure":    "##vso[task.logissue type=error;sourcepath=" + rules + ";linenumber=2]" + found,
		"markdown": "## Scaling: fail: 1 pass, 1 fail, 1 skipped\n\n| data | verdict | function |",
		"csv":      "data,verdict,function,metric,expect,found,rank,why\nall,fail,Bcast,time,O(log p),O(p),none,",
	} {
		if got := read(form); !strings.HasPrefix(got, want) {
			t.Errorf("%s = %s\nwant it to start with %s", form, got, want)
		}
	}
	if got := read("markdown"); !strings.Contains(got, "\n| `all` | fail | `Bcast` | `time` | O(log p) |") {
		t.Errorf("names in Markdown are no code spans:\n%s", got)
	}
	var issues []struct {
		Description, Severity string
		Location              struct {
			Path  string
			Lines struct{ Begin int }
		}
	}
	if err := json.Unmarshal([]byte(read("gitlab")), &issues); err != nil || len(issues) != 1 || issues[0].Severity != "major" ||
		issues[0].Location.Path != rules || issues[0].Location.Lines.Begin != 2 || !strings.HasPrefix(issues[0].Description, found) {
		t.Errorf("gitlab = %+v, %v", issues, err)
	}
	var result struct {
		Verdict  string
		Datasets []struct {
			Label  string
			Checks []struct{ Verdict string }
		}
	}
	if err := json.Unmarshal([]byte(read("json")), &result); err != nil || result.Verdict != "fail" || len(result.Datasets) != 1 ||
		result.Datasets[0].Label != "all" || len(result.Datasets[0].Checks) != 3 || result.Datasets[0].Checks[1].Verdict != "pass" {
		t.Errorf("json = %+v, %v", result, err)
	}
}

// The first call stores a baseline, which compares nothing; a slower program is a failure against it, within the tolerance it is not.
func TestBaseline(t *testing.T) {
	dir := t.TempDir()
	baseline, fast, slow := filepath.Join(dir, "b.json"), filepath.Join(dir, "fast.csv"), filepath.Join(dir, "slow.csv")
	for path, text := range map[string]string{
		fast: "p,time\n1,1.0\n2,2.0\n4,4.0\n8,8.0\n16,16.0\n32,32.0\n",
		slow: "p,time\n1,1.2\n2,2.4\n4,4.8\n8,9.6\n16,19.2\n32,38.4\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		data  string
		flags []string
		code  int
	}{
		{fast, nil, 4}, {fast, nil, 0}, {slow, nil, 3}, {slow, []string{"--tolerance", "0.5"}, 0}, {slow, []string{"--update-baseline"}, 3},
		{slow, nil, 0},
	} {
		args := append([]string{"check", step.data, "--baseline", baseline}, step.flags...)
		if code, stdout, stderr := clitest.Run("", args...); code != step.code {
			t.Fatalf("%v: exit code %d, want %d\n%s%s", args, code, step.code, stdout, stderr)
		}
	}
}

// TestUpdateOfPart: what flags leave out stays in the baseline as it was, also where the parameters are in another order.
func TestUpdateOfPart(t *testing.T) {
	dir := t.TempDir()
	baseline, data, flipped := filepath.Join(dir, "b.json"), filepath.Join(dir, "a.csv"), filepath.Join(dir, "flipped.csv")
	table := func(header string, g float64, row func(p, n int, v float64) string) string {
		var b strings.Builder
		b.WriteString(header)
		for p := 1; p <= 32; p *= 2 {
			for n := 10; n <= 50; n += 10 {
				b.WriteString("f,time," + row(p, n, float64(p)) + "\ng,time," + row(p, n, g*float64(n)) + "\nf,bytes," + row(p, n, 8) + "\n")
			}
		}
		return b.String()
	}
	for path, text := range map[string]string{
		data:    table("callpath,metric,p,n,value\n", 1, func(p, n int, v float64) string { return fmt.Sprintf("%d,%d,%g", p, n, v) }),
		flipped: table("callpath,metric,n,p,value\n", 100, func(p, n int, v float64) string { return fmt.Sprintf("%d,%d,%g", n, p, v) }),
	} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		data   string
		flags  []string
		code   int
		stderr string
	}{
		{data, []string{"--update-baseline"}, 0, "stored the baseline " + baseline + ": 3 models\n"},
		{flipped, []string{"--update-baseline", "--only-path", "f", "--metric", "time"}, 0,
			"1 model; kept as they were, because they were not chosen: 2"},
		{flipped, nil, 3, ""},
		{data, nil, 0, ""},
	} {
		args := append([]string{"check", step.data, "--baseline", baseline}, step.flags...)
		if code, stdout, stderr := clitest.Run("", args...); code != step.code || !strings.Contains(stderr, step.stderr) {
			t.Fatalf("%v: exit code %d, want %d and %q\n%s%s", args, code, step.code, step.stderr, stdout, stderr)
		}
	}
}

func TestMistakes(t *testing.T) {
	rules, data := files(t, bcast)
	bad, _ := files(t, "  - {function: Bcast, expekt: \"O(1)\"}\n")
	for _, tc := range []struct {
		code int
		want string
		args []string
	}{
		{2, "--also: \"pdf=x\" is not FORMAT=FILE with a format of text, json", []string{rules, data, "--also", "pdf=x"}},
		{2, "--plot-function needs --plot FILE", []string{rules, data, "--plot-function", "Bcast"}},
		{2, "--update-baseline needs --baseline FILE", []string{rules, data, "--update-baseline"}},
		{2, "--tolerance: give a fraction of 0 or more", []string{data, "--baseline", "b", "--tolerance", "-1"}},
		{2, "leave out --method paper", []string{data, "--baseline", "b", "--method", "paper"}},
		{2, "name the same file", []string{rules, data, "--out", "x", "--also", "json=x"}},
		{1, "did you mean expect?", []string{bad, data}},
		{1, "no such file", []string{filepath.Join(t.TempDir(), "none.yaml"), data}},
	} {
		code, stdout, stderr := clitest.Run("", append([]string{"check"}, tc.args...)...)
		if code != tc.code || stdout != "" || !strings.Contains(stderr, tc.want) {
			t.Errorf("%v: exit code %d, output %q, want %d and %q\n%s", tc.args, code, stdout, tc.code, tc.want, stderr)
		}
	}
}
