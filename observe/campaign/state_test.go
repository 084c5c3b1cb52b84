package campaign

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slackline/internal/needed"
	"slackline/internal/trusted"
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

// TestJournalWithoutResults: a journal that does not know of what was done is refused, instead of doing it again.
func TestJournalWithoutResults(t *testing.T) {
	dir := planFiles(t, "parameters: {p: [2, 4]}\ncommand: sh program.sh\n", "echo x >> calls")
	t.Chdir(dir)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	carryOut := func() error {
		c, err := Open("plan.yaml", "")
		if err != nil {
			return err
		}
		defer c.Close()
		_, err = c.Run(t.Context(), Options{Self: []string{self, "supervise"}, Name: "test"})
		return err
	}
	if err := carryOut(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "plan.runs", journalFile)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	for name, data := range map[string][]byte{"empty": nil, "without its last run": bytes.Join(lines[:4], nil), "its head alone": lines[0]} {
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := carryOut(); err == nil || !strings.Contains(err.Error(), "does not know of") || !strings.Contains(err.Error(), journalFile) {
			t.Errorf("%s: %v, want that the journal is cut off", name, err)
		}
	}
	if err := os.WriteFile(path, whole, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := carryOut(); err != nil || len(linesOf(t, "calls")) != 2 {
		t.Errorf("whole: %v, calls %q, want two", err, linesOf(t, "calls"))
	}
}

// TestDamagedRun: what is damaged of a run that an earlier session started is named. It is done again only if it cannot be at work.
func TestDamagedRun(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const order1, result1 = `{"run":"p1.r1","attempt":1,"command":["x"]}`, `{"attempt":1,"status":"ended","exit":0}`
	room := strings.Repeat("\n", complaintRoom)
	for _, tc := range []struct {
		name  string
		files map[string]string
		calls int    // of the program
		says  string // a note, or the error if there are no calls
	}{
		{"as it should be", map[string]string{resultFile: result1, lockFile: "", complaintFile: room}, 0, ""},
		{"never started", map[string]string{}, 1, "p1.r1, started by an earlier session, lost: it ended without a result; it is done again"},
		{"result", map[string]string{resultFile: result1[:20], lockFile: "", complaintFile: room}, 1, ": result.json is damaged; it is"},
		{"empty result", map[string]string{resultFile: "", lockFile: "", complaintFile: room}, 1, ": result.json is damaged; it is"},
		{"messages", map[string]string{lockFile: "", complaintFile: ""}, 1, "supervisor, is damaged: it has 0 bytes instead of at least 1024"},
		{"no messages", map[string]string{lockFile: ""}, 1, "supervisor, is damaged: it has 0 bytes"},
		{"no lock", map[string]string{complaintFile: room}, 0, "p1.r1/lock: no such file or directory: whether the run"},
		{"another lock", map[string]string{lockFile + "/x": "", complaintFile: room}, 0, "put an empty file there, and start again"},
		{"no lock, but a result", map[string]string{resultFile: result1, complaintFile: room}, 0, ""},
		{"lock with content", map[string]string{resultFile: result1, lockFile: "x", complaintFile: room}, 0, ""},
	} {
		files := map[string]string{"p1.r1/" + orderFile: order1}
		for name, text := range tc.files {
			files["p1.r1/"+name] = text
		}
		file := campaignOf(t, "parameters: {p: 1}\ncommand: ./x {p}\n", files, head, begin1)
		calls := filepath.Join(filepath.Dir(file), "x.calls")
		if err := os.WriteFile(filepath.Join(filepath.Dir(file), "x"), []byte("#!/bin/sh\necho >> "+calls+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		c, err := Open(file, "")
		if err != nil {
			t.Fatal(err)
		}
		said := ""
		o := Options{Self: []string{self, "supervise"}, Name: "test", Note: func(text string) { said += text + "\n" }}
		s, err := c.Run(t.Context(), o)
		c.Close()
		if err != nil {
			said += err.Error()
		}
		data, _ := os.ReadFile(calls)
		if len(data) != tc.calls || !strings.Contains(said, tc.says) || (s.Done == 1) != (tc.says == "" || tc.calls == 1) {
			t.Errorf("%s: %d calls, %+v, %q, want %d and %q", tc.name, len(data), s, said, tc.calls, tc.says)
		}
	}
}

// TestJournalWithoutStarts: a journal that does not know of a run that was started, and may be at work, is refused; an order alone was not.
func TestJournalWithoutStarts(t *testing.T) {
	const order1, plan = `{"run":"p1.r1","attempt":1,"command":["x"]}`, "parameters: {p: 1}\ncommand: ./x {p}\n"
	for name, refused := range map[string]bool{lockFile: true, scriptFile: true, stdoutFile: false} {
		c, err := Open(campaignOf(t, plan, map[string]string{"p1.r1/" + orderFile: order1, "p1.r1/" + name: ""}, head), "")
		if refused != (err != nil && strings.Contains(err.Error(), "does not know of")) {
			t.Errorf("%s: %v, want that it is refused: %t", name, err, refused)
		}
		if err == nil {
			c.Close()
		}
	}
}

// TestDirectoryOfOthers: a directory, or a link to one, that another user owns is refused, and nothing is made there.
func TestDirectoryOfOthers(t *testing.T) {
	needed.That(t, os.Getuid() == 0, "root, who can plant files of other users,")
	const stranger = 54321
	top := t.TempDir()
	plan, victim, link := filepath.Join(top, "plan.yaml"), filepath.Join(top, "victim"), filepath.Join(top, "link")
	err := errors.Join(os.WriteFile(plan, []byte("parameters: {p: 2}\ncommand: prog {p}\n"), 0o666), os.Mkdir(victim, 0o777),
		os.Symlink(victim, link), os.Lchown(link, stranger, stranger))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(plan, link); !errors.Is(err, trusted.ErrUntrusted) || !strings.Contains(err.Error(), "--dir") {
		t.Errorf("Open = %v, want it refused with a way out", err)
	}
	if made, err := os.ReadDir(victim); err != nil || len(made) > 0 {
		t.Errorf("%v was made there (%v)", made, err)
	}
}
