package noise_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slackline/cli/clitest"
)

// What periodic noise takes is known.
func TestStats(t *testing.T) {
	code, stdout, stderr := clitest.Run("", "noise", "stats", "1000Hz:25us", "--format", "json")
	var d struct {
		Detours  int
		Overhead float64 `json:"overhead_percent"`
		Sources  []struct {
			Count int
			Rate  float64 `json:"rate_per_second"`
		}
	}
	if err := json.Unmarshal([]byte(stdout), &d); err != nil || code != 0 {
		t.Fatalf("exit code %d, %v\n%s", code, err, stderr)
	}
	if d.Detours != 1 || d.Overhead != 2.5 || len(d.Sources) != 1 || d.Sources[0].Rate != 1000 {
		t.Errorf("%+v, want one detour, 2.5 %%, 1000 per second", d)
	}
	if _, stdout, _ = clitest.Run("", "noise", "stats", "1000Hz:25us", "--format", "csv"); !strings.Contains(stdout,
		"\ntotal,1000Hz:25us,1,1000,25000,2.5,100,25000,") {
		t.Errorf("csv =\n%s", stdout)
	}
}

// What is written in a format is the same noise when it is read again.
func TestShow(t *testing.T) {
	_, want, _ := clitest.Run("", "noise", "stats", "400Hz:25us", "--format", "csv")
	for _, format := range []string{"text", "binary"} {
		path := filepath.Join(t.TempDir(), "noise")
		if code, _, stderr := clitest.Run("", "noise", "show", "400Hz:25us", "--to", format, "--out", path); code != 0 {
			t.Fatalf("%s: exit code %d\n%s", format, code, stderr)
		}
		code, got, stderr := clitest.Run("", "noise", "stats", path, "--format", "csv")
		if code != 0 || figures(got) != figures(want) || figures(want) == "" {
			t.Errorf("%s: exit code %d\n%s\nwant\n%s\n%s", format, code, got, want, stderr)
		}
	}
}

// figures are those of the whole, without the name of the noise.
func figures(csv string) string {
	for line := range strings.Lines(csv) {
		if words := strings.SplitN(line, ",", 3); words[0] == "total" {
			return words[2]
		}
	}
	return ""
}

// Nothing is drawn for periodic noise.
func TestSeedWithoutInfluence(t *testing.T) {
	if code, _, stderr := clitest.Run("", "noise", "stats", "1000Hz:25us", "--seed", "2"); code != 0 || !strings.Contains(stderr,
		"--seed has no influence") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

func TestPlot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "noise.svg")
	code, _, stderr := clitest.Run("", "noise", "stats", "1000Hz:25us", "--plot", path, "--plot-time", "10ms")
	if data, err := os.ReadFile(path); code != 0 || err != nil || !strings.Contains(string(data), "</svg>") {
		t.Errorf("exit code %d, %v\n%s", code, err, stderr)
	}
}

func TestMistakes(t *testing.T) {
	for _, tc := range []struct {
		code int
		want string
		args []string
	}{
		{1, "did you mean altix?", []string{"stats", "altx"}},
		{2, "--plot-time needs --plot FILE", []string{"stats", "altix", "--plot-time", "1s"}},
		{2, "--plot-time: give a time above 0", []string{"stats", "altix", "--plot", "x.svg", "--plot-time", "0"}},
		{2, "did you mean text?", []string{"show", "altix", "--to", "txt"}},
		{1, "100", []string{"stats", "1000Hz:2ms"}}, // more noise than time
	} {
		code, stdout, stderr := clitest.Run("", append([]string{"noise"}, tc.args...)...)
		if code != tc.code || stdout != "" || !strings.Contains(stderr, tc.want) {
			t.Errorf("%v: exit code %d, output %q; want %d and %q\n%s", tc.args, code, stdout, tc.code, tc.want, stderr)
		}
	}
}
