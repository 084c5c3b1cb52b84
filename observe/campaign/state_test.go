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

// lines of a journal.
const (
	head     = `{"slackline_campaign":1,"event":"head","seed":7,"what":"command: ./x '{p}'"}`
	begin1   = `{"event":"begin","run":"p1.r1","attempt":1,"time":"t","command":["x"]}`
	begin2   = `{"event":"begin","run":"p1.r1","attempt":2,"time":"t","command":["x"]}`
	failed1  = `{"event":"end","run":"p1.r1","status":"failed","reason":"no","cores":2,"attempt":1,"exit":3,"wall_s":10}`
	unread1  = `{"event":"end","run":"p1.r1","status":"unread","reason":"no number","cores":2,"attempt":1,"exit":0,"wall_s":10}`
	ok1      = `{"event":"end","run":"p1.r1","status":"ok","cores":2,"attempt":1,"exit":0,"wall_s":10}`
	ok2      = `{"event":"end","run":"p1.r1","status":"ok","cores":2,"attempt":2,"exit":0,"wall_s":5}`
	session1 = `{"event":"session","time":"t","host":"h","version":"v","platform":"p","plan_sha256":"00"}`
)

func rawLines(list ...string) (out [][]byte) {
	for _, l := range list {
		out = append(out, []byte(l))
	}
	return out
}

// TestReplay: what the journal knows of a run after its lines.
func TestReplay(t *testing.T) {
	for _, c := range []struct {
		name     string
		lines    []string
		attempts int
		open, ok bool
		used     float64 // core seconds
	}{
		{"nothing", []string{head}, 0, false, false, 0},
		{"started", []string{head, begin1}, 1, true, false, 0},
		{"ended", []string{head, begin1, ok1}, 1, false, true, 20},
		{"failed", []string{head, begin1, failed1}, 1, false, false, 20},
		{"again", []string{head, begin1, failed1, begin2}, 2, true, false, 20},
		{"again, with luck", []string{head, begin1, failed1, begin2, ok2}, 2, false, true, 30},
		{"taken over by another session", []string{head, session1, begin1, session1, ok1}, 1, false, true, 20},
		{"read again later: it ran once", []string{head, begin1, unread1, ok1}, 1, false, true, 20},
		{"an end without a start", []string{head, ok1}, 0, false, true, 20},
	} {
		s, err := replay("j", rawLines(c.lines...))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		h := s.run("p1.r1")
		if h.attempts != c.attempts || h.open != c.open || h.ok() != c.ok || s.used != c.used {
			t.Errorf("%s: %d attempts, open %t, ok %t, %v core seconds, want %d, %t, %t, %v", c.name, h.attempts, h.open, h.ok(), s.used,
				c.attempts, c.open, c.ok, c.used)
		}
	}
	if s, err := replay("j", nil); err != nil || s.head != nil {
		t.Errorf("an empty journal: %+v, %v", s, err)
	}
}

// TestReplayDamage: an error names the line.
func TestReplayDamage(t *testing.T) {
	for want, lines := range map[string][]string{
		"j:1: expected the journal of a campaign":                                    {begin1, head},
		"j:2: the event \"pause\" is unknown; the file is of a newer slackline":      {head, `{"event":"pause"}`},
		"j:1: has version 2; this slackline reads 1":                                 {`{"slackline_campaign":2,"event":"head"}`},
		"j:3: invalid character":                                                     {head, begin1, "x"},
		"j:2: json: cannot unmarshal string into Go struct field End.cores of type ": {head, `{"event":"end","cores":"many"}`},
	} {
		if _, err := replay("j", rawLines(lines...)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", lines, err, want)
		}
	}
}

// TestEndIsWrittenAndRead: the status of an end takes the place of that of the result of its supervisor.
func TestEndIsWrittenAndRead(t *testing.T) {
	end := End{Event: eventEnd, Run: "p1.r1", Status: Unread, Reason: "no number", Cores: 2,
		result: result{Attempt: 3, Status: endedItself, Reason: "other", Exit: 0, Wall: 1.5, CPU: 2.5, MaxRSS: 4096, Host: "h"}}
	text, err := json.Marshal(&end)
	if err != nil || strings.Count(string(text), `"status"`) != 1 || !strings.Contains(string(text), `"status":"unread"`) {
		t.Fatalf("%s, %v", text, err)
	}
	var got End
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	end.result.Status, end.result.Reason = "", ""
	if got != end {
		t.Errorf("read again: %+v, want %+v", got, end)
	}
}

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
	_, err = c.Collect()
	if err == nil || !strings.HasPrefix(err.Error(), "p1.r1: ") || !strings.HasSuffix(err.Error(), "there is no such file") {
		t.Errorf("an output that is gone: %v", err)
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none.yaml"), ""); !os.IsNotExist(err) {
		t.Errorf("a plan that is not there: %v", err)
	}
}

// TestPlaces: which runs a directory holds, which ended well, and where a file of one is.
func TestPlaces(t *testing.T) {
	file := campaignOf(t, twoPoints, map[string]string{
		"p1.r1/" + orderFile:  `{"run":"p1.r1","attempt":2,"command":["x"],"point":[{"name":"p","value":1}]}`,
		"p1.r1/" + resultFile: `{"attempt":2,"status":"ended","exit":0}`,
		"p1.r1/a/b/trace.slt": "",
		"p2.r1/" + orderFile:  `{"run":"p2.n0.5.r1","attempt":2,"command":["x"]}`,
		"p2.r1/" + resultFile: `{"attempt":1,"status":"ended","exit":0}`, // of an attempt before
		"p3.r1/" + orderFile:  `{"run":"p3.r1","attempt":1,"command":["x"],"point":[{"name":"p","value":3}]}`,
		"p3.r1/" + resultFile: `{"attempt":1,"status":"ended","exit":1}`,
		"p4.r1/" + orderFile:  `{"run":"p4.r1","attempt":1,"command":["x"],"point":[{"name":"p","value":4}]}`,
		"p4.r1/" + resultFile: `{"attempt":1,"status":"timeout","exit":0}`,
		"p5.r1/" + orderFile:  `{"run":"p5.r1","attempt":1}`, // no command: not an order
		"p6.r1/x":             "",
	}, head)
	dir := filepath.Join(filepath.Dir(file), "plan.runs")
	finished, all, err := FinishedRuns(dir)
	if want := []string{filepath.Join(dir, "runs", "p1.r1")}; err != nil || !slices.Equal(finished, want) || all != 4 {
		t.Errorf("finished %q of %d, %v, want %q of 4", finished, all, err, want)
	}
	for path, want := range map[string][]Value{
		"runs/p1.r1":                   {{"p", 1}},
		"runs/p1.r1/stdout":            {{"p", 1}},
		"runs/p1.r1/a/b/trace.slt":     {{"p", 1}},
		"runs/p1.r1/a/b/c/d/trace.slt": nil, // deeper than a run makes directories
		"runs/p2.r1/x":                 {{"p", 2}, {"n", 0.5}},
		"runs/p5.r1/x":                 nil,
		"x":                            nil,
	} {
		if got := PointOf(filepath.Join(dir, path)); !slices.Equal(got, want) {
			t.Errorf("%s is at %v, want %v", path, got, want)
		}
	}
	if !IsDir(dir) || IsDir(filepath.Join(dir, "runs")) || IsDir(filepath.Join(dir, "none")) {
		t.Error("the directory of a campaign is not known, or another one is")
	}
	if _, _, err := FinishedRuns(filepath.Join(dir, "none")); !os.IsNotExist(err) {
		t.Errorf("a directory that is not there: %v", err)
	}
}
