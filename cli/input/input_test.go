package input

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slackline/model/pattern"
)

const goal = "num_ranks 2\nrank 0 {\nl1: send 8b to 1\n}\nrank 1 {\nl1: recv 8b from 0\n}\n"

// workdir changes to a directory with two files: one.goal, and ring, which has
// the name of a pattern.
func workdir(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"one.goal", "ring", "misnamed.slk"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(goal), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "bcast"), 0o777); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
}

func TestOpen(t *testing.T) {
	workdir(t)
	for _, tc := range []struct {
		word, pattern, format string
		ranks, notes          int
	}{
		{"one.goal", "", "goal", 2, 0},
		{"./one.goal", "", "goal", 2, 0},
		{"misnamed.slk", "", "goal", 2, 0}, // the content counts
		{"ring", "", "goal", 2, 1},
		{"-", "", "goal", 2, 0},
		{"dissemination", "dissemination", "", 16, 0},
		{"bcast", "bcast", "", 16, 0}, // a directory of that name does no harm
	} {
		in, err := Open(t.Context(), tc.word, Options{Stdin: strings.NewReader(goal), Params: pattern.Params{Ranks: 16}, Hash: true})
		if err != nil {
			t.Errorf("Open(%q): %v", tc.word, err)
			continue
		}
		if in.Pattern != tc.pattern || in.Format != tc.format || in.Program.Ranks() != tc.ranks || len(in.Notes) != tc.notes {
			t.Errorf("Open(%q) = pattern %q, format %q, %d ranks, notes %q; want %q, %q, %d, %d notes",
				tc.word, in.Pattern, in.Format, in.Program.Ranks(), in.Notes, tc.pattern, tc.format, tc.ranks, tc.notes)
		}
		if in.IsFile() != (tc.pattern == "") || IsFile(tc.word) != in.IsFile() {
			t.Errorf("IsFile(%q) = %v", tc.word, in.IsFile())
		}
		if in.IsFile() && (in.Record.Bytes != int64(len(goal)) || len(in.Record.SHA256) != 64) {
			t.Errorf("record of %q = %+v", tc.word, in.Record)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	workdir(t)
	if err := os.WriteFile("empty", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("folder", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(".killed run.slt-raw-12", 0o777); err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string]string{
		"killed run.slt": "'slackline record --recover '.killed run.slt-raw-12''",
		"disemination":   "did you mean dissemination?",
		"no/such/file":   "no such file",
		"missing.goal":   "missing.goal: no such file",
		"zzzzzzzz":       "generate --list",
		"empty":          "empty: the file is empty",
		"folder":         "is a directory",
		"dissemination":  "ranks",
	} {
		_, err := Open(t.Context(), word, Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Open(%q) = %v, want an error with %q", word, err, want)
		}
	}
	if _, err := Open(t.Context(), "-", Options{Stdin: strings.NewReader("num_ranks x")}); err == nil ||
		!strings.Contains(err.Error(), "stdin:1") {
		t.Errorf("a bad standard input gives %v, want its line", err)
	}
	if _, err := Open(t.Context(), "-", Options{}); err == nil {
		t.Error("no standard input, but no error")
	}
}

func TestRecordFile(t *testing.T) {
	workdir(t)
	r, err := RecordFile("one.goal", "machine")
	if err != nil || r.Bytes != int64(len(goal)) || r.Kind != "machine" || r.SHA256 != hash([]byte(goal)) {
		t.Errorf("RecordFile = %+v, %v", r, err)
	}
	if _, err := RecordFile("missing", "machine"); err == nil {
		t.Error("RecordFile of a missing file succeeded")
	}
}

// endless is a stream without end that counts what was read of it.
type endless struct{ n int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(i*7 + 200)
	}
	e.n += len(p)
	return len(p), nil
}

// An endless input of no known format is not read to its end.
func TestEndlessGarbage(t *testing.T) {
	var e endless
	_, err := Open(t.Context(), Stdin, Options{Stdin: &e})
	if err == nil || !strings.Contains(err.Error(), "neither GOAL text") {
		t.Errorf("Open = %v, want an error about the format", err)
	}
	if e.n > 2*headBytes {
		t.Errorf("%d bytes were read of an endless input", e.n)
	}
}

// An input longer than the head is read as a whole.
func TestLongInput(t *testing.T) {
	text := "num_ranks 1\nrank 0 {\n" + strings.Repeat("calc 1\n", headBytes/7) + strings.Repeat("// a comment\n", 1000) + "}\n"
	in, err := Open(t.Context(), Stdin, Options{Stdin: strings.NewReader(text)})
	if err != nil {
		t.Fatal(err)
	}
	if got := in.Graph.NumOps(); got != headBytes/7 {
		t.Errorf("%d operations, want %d", got, headBytes/7)
	}
}

// TestRecordOfLinks: the hash of a run in a directory is that of its files, whatever the name of the directory or of a link to it.
func TestRecordOfLinks(t *testing.T) {
	const run = "../../examples/late/late.slt"
	dir := t.TempDir()
	full, err := filepath.Abs(run)
	if err != nil {
		t.Fatal(err)
	}
	copied, link := filepath.Join(dir, "copy.slt"), filepath.Join(dir, "link.slt")
	if err := errors.Join(os.CopyFS(copied, os.DirFS(run)), os.Symlink(full, link)); err != nil {
		t.Fatal(err)
	}
	want, err := OpenTrace(t.Context(), run, TraceOptions{Hash: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{copied, link} {
		got, err := OpenTrace(t.Context(), word, TraceOptions{Hash: true})
		if err != nil {
			t.Fatal(err)
		}
		if got.Record.SHA256 != want.Record.SHA256 || got.Record.Bytes != want.Record.Bytes || got.Record.Path != word {
			t.Errorf("%s: %+v, want the bytes and the hash of %+v", word, got.Record, want.Record)
		}
	}
}
