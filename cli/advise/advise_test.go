package advise_test

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"slackline/cli/clitest"
)

// The best advice is to balance the computation, which saves the 10 us that rank 0 has too much.
func TestBalance(t *testing.T) {
	input := clitest.LateSenderTrace(t)
	code, stdout, stderr := clitest.Run("", "advise", input, "--machine", "chic", "--format", "json")
	var d struct {
		RunTime float64 `json:"run_time_ns"`
		Advice  []struct {
			Change  string
			RunTime float64 `json:"run_time_ns"`
			Gain    float64
		}
	}
	if err := json.Unmarshal([]byte(stdout), &d); err != nil || code != 0 || len(d.Advice) != 2 {
		t.Fatalf("exit code %d, %v, %d changes\n%s", code, err, len(d.Advice), stderr)
	}
	if best := d.Advice[0]; best.Change != "balance:even@main/compute" || best.RunTime != d.RunTime-10_000 ||
		math.Abs(best.Gain-10_000/d.RunTime) > 1e-9 { // a quotient
		t.Errorf("of %g ns, the best advice is %+v, want 10 us less", d.RunTime, best)
	}
	if d.Advice[1].Gain > d.Advice[0].Gain || d.Advice[1].Gain <= 0 {
		t.Errorf("gains are %g and %g, want the larger one first", d.Advice[0].Gain, d.Advice[1].Gain)
	}
}

// The text has as many changes as wanted, each with the command that proves it.
func TestTop(t *testing.T) {
	input := clitest.LateSenderTrace(t)
	for top, commands := range map[string]int{"1": 1, "0": 2} {
		code, stdout, stderr := clitest.Run("", "advise", input, "--machine", "chic", "--top", top)
		if n := strings.Count(stdout, "\n   slackline waits "); code != 0 || n != commands {
			t.Errorf("--top %s: exit code %d, %d commands, want %d\n%s%s", top, code, n, commands, stdout, stderr)
		}
	}
}

func TestMistakes(t *testing.T) {
	input := clitest.LateSenderTrace(t)
	for _, tc := range []struct {
		code int
		want string
		args []string
	}{
		{2, "--replicas: 0 is too few; give 1 or more", []string{input, "--replicas", "0"}},
		{2, "is negative; give 0 or more", []string{input, "--budget", "-1s"}},
		{2, "advise needs", nil},
		{1, "no such file", []string{filepath.Join(t.TempDir(), "none.slt"), "--machine", "chic"}},
		{1, "also an input", []string{input, "--machine", "chic", "--out", input}},
		{1, "did you mean chic?", []string{input, "--machine", "chick"}},
	} {
		code, stdout, stderr := clitest.Run("", append([]string{"advise"}, tc.args...)...)
		if code != tc.code || stdout != "" || !strings.Contains(stderr, tc.want) {
			t.Errorf("%v: exit code %d, output %q; want %d and %q\n%s", tc.args, code, stdout, tc.code, tc.want, stderr)
		}
	}
}
