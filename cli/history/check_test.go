package history_test

import (
	"encoding/json"
	"strings"
	"testing"

	"slackline/cli/clitest"
)

// history is one of 22 commits, of which one made solve slower and another one changed the law of Bcast.
const history = "../../testdata/history"

func TestCheck(t *testing.T) {
	code, stdout, stderr := clitest.Run("", "history", "check", "--dir", history, "--format", "json")
	var d struct {
		Verdict         string
		Commits, Series int
		Changes         []struct {
			CallPath, Kind, Verdict, Before, After string
			LawFrom                                string `json:"law_from"`
			LawTo                                  string `json:"law_to"`
		}
	}
	if err := json.Unmarshal([]byte(stdout), &d); err != nil || code != 3 {
		t.Fatalf("exit code %d, %v\n%s", code, err, stderr)
	}
	if d.Verdict != "worse" || d.Commits != 22 || d.Series != 3 || len(d.Changes) != 2 {
		t.Fatalf("%+v, want 2 changes for the worse in 3 series over 22 commits", d)
	}
	if c := d.Changes[0]; c.CallPath != "main->solve" || c.Kind != "level" || c.After != "454021de7556" || c.LawFrom != c.LawTo {
		t.Errorf("first change = %+v", c)
	}
	if c := d.Changes[1]; c.CallPath != "main->solve->Bcast" || c.After != "5c55827df1c8" || c.LawFrom != "O(log p)" || c.LawTo != "O(p)" {
		t.Errorf("second change = %+v", c)
	}
}

// Changes up to a commit can be accepted.
func TestSince(t *testing.T) {
	for since, want := range map[string]int{"454021de75": 3, "5c55827df1": 0, "d5336963ee": 0} {
		if code, stdout, stderr := clitest.Run("", "history", "check", "--dir", history, "--since", since); code != want {
			t.Errorf("since %s: exit code %d, want %d\n%s%s", since, code, want, stdout, stderr)
		}
	}
}

// A comment names what changed, and in which commits.
func TestMarkdown(t *testing.T) {
	_, stdout, _ := clitest.Run("", "history", "check", "--dir", history, "--format", "markdown")
	for _, want := range []string{
		"<!-- slackline history -->\n## Performance: worse: 2 worse in 3 series over 22 commits\n",
		"🔴 worse", "| `main->solve` | `time` | level |",
		"* `454021de75 solve: block size 32`", "at most 1",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in\n%s", want, stdout)
		}
	}
}

func TestShow(t *testing.T) {
	code, stdout, stderr := clitest.Run("", "history", "show", "--dir", history, "--top", "2")
	if code != 0 || !strings.Contains(stdout, "(1 line more; --top 0 shows all)") || !strings.Contains(stdout, "3 series in 22 commits") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	if _, stdout, _ = clitest.Run("", "history", "show", "--dir", history, "--format", "csv"); !strings.Contains(stdout, "454021de7556") ||
		strings.Count(stdout, "\n") < 3*22 {
		t.Errorf("csv has %d lines", strings.Count(stdout, "\n"))
	}
}

func TestMistakes(t *testing.T) {
	for _, tc := range []struct {
		code int
		want string
		args []string
	}{
		{2, "the history has no commit nope", []string{"check", "--dir", history, "--since", "nope"}},
		{2, "--top: -1 is too few; give 0 or more", []string{"show", "--dir", history, "--top", "-1"}},
		{2, "name the same file", []string{"check", "--dir", history, "--out", "x", "--comment", "x"}},
		{1, "there is no directory", []string{"check", "--dir", history, "--comment", "no/such/directory/c.md"}},
	} {
		code, stdout, stderr := clitest.Run("", append([]string{"history"}, tc.args...)...)
		if code != tc.code || stdout != "" || !strings.Contains(stderr, tc.want) {
			t.Errorf("%v: exit code %d, output %q; want %d and %q\n%s", tc.args, code, stdout, tc.code, tc.want, stderr)
		}
	}
}
