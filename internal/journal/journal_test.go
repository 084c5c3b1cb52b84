package journal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

type entry struct {
	N    int    `json:"n"`
	Text string `json:"text"`
}

func write(t *testing.T, path string, from, to int) {
	t.Helper()
	j, lines, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) != from {
		t.Fatalf("%d lines, want %d", len(lines), from)
	}
	for n := from; n < to; n++ {
		if err := j.Append(entry{n, "a <b>\n"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// A file that is cut at any byte loses only the line that was cut, and goes on from there.
func TestCutAnywhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	write(t, path, 0, 3)
	write(t, path, 3, 5)
	full, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(full) {
		if err := os.WriteFile(path, full[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		write(t, path, bytes.Count(full[:cut], []byte("\n")), 5)
		if got, _ := os.ReadFile(path); !bytes.Equal(got, full) {
			t.Fatalf("cut at %d: the file differs after it was completed", cut)
		}
	}
}

// Every change inside is noticed.
func TestDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	write(t, path, 0, 4)
	full, _ := os.ReadFile(path)
	lines := strings.SplitAfter(string(full), "\n")
	for name, text := range map[string]string{
		"moved":   lines[0] + lines[2] + lines[1] + lines[3],
		"left":    lines[0] + lines[2] + lines[3],
		"doubled": lines[0] + lines[0] + lines[1],
		"joined":  strings.ReplaceAll(string(full), "\n", "\r"),
		"end":     strings.TrimSuffix(string(full), "\n") + "\v",
		"changed": strings.Replace(string(full), `"n":1`, `"n":7`, 1),
	} {
		_, _, err := Lines("j", []byte(text))
		if err == nil || !strings.Contains(err.Error(), "the line is damaged") {
			t.Errorf("%s: error = %v, want that a line is damaged", name, err)
		}
	}
}

func TestOneAtATime(t *testing.T) {
	patience = 30 * time.Millisecond
	path := filepath.Join(t.TempDir(), "journal")
	j, _, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Open(path); !errors.Is(err, ErrInUse) {
		t.Errorf("second Open: %v, want %v", err, ErrInUse)
	}
	j.Close()
	write(t, path, 0, 1)
}

func FuzzLines(f *testing.F) {
	var sum Chain
	line, _ := sum.Encode(entry{1, "x"})
	f.Add(line)
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		lines, whole, err := Lines("fuzz", data)
		if err == nil && (whole > len(data) || len(lines) != bytes.Count(data[:whole], []byte("\n"))) {
			t.Errorf("%d lines in %d bytes", len(lines), whole)
		}
	})
}
