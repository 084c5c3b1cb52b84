package campaign

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"slackline/internal/journal"
)

// campaignOf writes a plan with its runs and their journal, and returns the file of the plan.
func campaignOf(t *testing.T, plan string, files map[string]string, lines ...string) string {
	t.Helper()
	dir := t.TempDir()
	all := map[string]string{"plan.yaml": plan}
	for name, text := range files {
		all["plan.runs/runs/"+name] = text
	}
	for name, text := range all {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if len(lines) > 0 {
		runs := filepath.Join(dir, "plan.runs")
		if err := os.MkdirAll(runs, 0o755); err != nil {
			t.Fatal(err)
		}
		j, _, err := journal.Open(filepath.Join(runs, journalFile))
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		for _, l := range lines {
			if err := j.Append(json.RawMessage(l)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return filepath.Join(dir, "plan.yaml")
}

const twoPoints = "parameters: {p: [1, 2]}\ncommand: ./x {p}\nmetrics: [{regex: '(?P<steps>[0-9]+) steps'}]\n"

// TestLoad: a campaign is looked at without a change to its directory; what has ended well is not left.
func TestLoad(t *testing.T) {
	file := campaignOf(t, twoPoints, map[string]string{"p1.r1/stdout": "40 steps\n"}, head, session1, begin1, ok1)
	c, err := Load(file, "")
	if err != nil {
		t.Fatal(err)
	}
	var left, states []string
	for _, r := range c.Left() {
		left = append(left, r.Name+": "+Quote(c.Command(r)))
	}
	for _, s := range c.States() {
		states = append(states, fmt.Sprint(s.Name, " ", s.Attempts, " ", s.Done()))
	}
	if want := []string{"p2.r1: ./x 2"}; !slices.Equal(left, want) {
		t.Errorf("left %q, want %q", left, want)
	}
	if want := []string{"p1.r1 1 true", "p2.r1 0 false"}; !slices.Equal(states, want) {
		t.Errorf("states %q, want %q", states, want)
	}
	if !c.Started() || len(c.Sessions()) != 1 || c.Seed != 7 || c.Used() != 20.0/3600 || c.Plan.IsBatch() {
		t.Errorf("started %t, %d sessions, seed %d, %v core hours", c.Started(), len(c.Sessions()), c.Seed, c.Used())
	}
	d, err := c.Collect()
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Series) != 1 || d.Series[0].Metric != "steps" || d.Series[0].CallPath != "x" || d.Series[0].Points[0].Values[0] != 40 {
		t.Errorf("collected %+v", d.Series)
	}
	if blanks := d.Blanks(d.Series[0]); len(blanks) != 1 || blanks[0][0] != 2 {
		t.Errorf("no value at %v, want that of the plan without a run", blanks)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(file), "plan.runs", lockFile)); err == nil {
		t.Error("looking at a campaign made a file")
	}
}

// TestLoadOthers: runs of something else are refused with both commands; nothing finished gives nothing to collect.
func TestLoadOthers(t *testing.T) {
	other := strings.Replace(head, "./x", "./y", 1)
	_, err := Load(campaignOf(t, twoPoints, nil, other), "")
	if err == nil || !strings.Contains(err.Error(), "these are runs of something else") ||
		!strings.Contains(err.Error(), "command: ./y '{p}'") || !strings.Contains(err.Error(), "command: ./x '{p}'") {
		t.Errorf("runs of another program: %v", err)
	}
	var c *Campaign
	c, err = Load(campaignOf(t, twoPoints+"seed: 5\n", nil), "")
	if err != nil || c.Started() || c.Seed != 5 || len(c.Left()) != 2 {
		t.Fatalf("a campaign that was never started: %+v, %v", c, err)
	}
	if _, err := c.Collect(); err == nil || !strings.HasSuffix(err.Error(), "no run is finished yet") {
		t.Errorf("nothing to collect: %v", err)
	}
	c, err = Load(campaignOf(t, twoPoints, nil, head, begin1, ok1), "")
	if err != nil {
		t.Fatal(err)
	}
	written := map[string]string{"p1.r1/stdout": "40 steps\n", "p1.r1/stderr": ""}
	sum, err := outputSum(filepath.Join(filepath.Dir(campaignOf(t, twoPoints, written)), "plan.runs", "runs", "p1.r1"))
	if err != nil {
		t.Fatal(err)
	}
	for stdout, want := range map[string]int{"40 steps\n": 0, "41 steps\n": 1} {
		written["p1.r1/stdout"] = stdout
		l, err := Load(campaignOf(t, twoPoints, written, head, begin1, strings.Replace(ok1, "{", `{"output_crc32c":"`+sum+`",`, 1)), "")
		if err != nil {
			t.Fatal(err)
		}
		if d, err := l.Collect(); err != nil || len(d.Warnings) != want || want > 0 && !strings.Contains(d.Warnings[0],
			"p1.r1: stdout or stderr is not what the run wrote; it was changed afterwards") {
			t.Errorf("output %q: %+v, %v, want %d warnings", stdout, d, err, want)
		}
	}
	_, err = c.Collect()
	if err == nil || !strings.HasPrefix(err.Error(), "p1.r1: ") || !strings.HasSuffix(err.Error(), "there is no such file") {
		t.Errorf("an output that is gone: %v", err)
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none.yaml"), ""); !os.IsNotExist(err) {
		t.Errorf("a plan that is not there: %v", err)
	}
}
