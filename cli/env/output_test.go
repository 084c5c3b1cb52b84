package env

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slackline/cli/exit"
	"slackline/internal/table"
)

func newEnv() (*Env, *bytes.Buffer) {
	var out bytes.Buffer
	return New(nil, strings.NewReader(""), &out, io.Discard), &out
}

// A result that fails leaves nothing: no half output, no file.
func TestFailureLeavesNothing(t *testing.T) {
	a, out := newEnv()
	bad := errors.New("bad")
	fill := func(w io.Writer) error {
		fmt.Fprintln(w, "half a result")
		return bad
	}
	path := filepath.Join(t.TempDir(), "result")
	for _, to := range []string{"", "-", path} {
		if err := a.WriteOut(to, nil, fill); !errors.Is(err, bad) {
			t.Errorf("to %q: error %v, want %v", to, err, bad)
		}
	}
	if _, err := os.Stat(path); out.Len() > 0 || err == nil {
		t.Errorf("standard output %q; the file: %v, want none", out, err)
	}
}

// failsOnce is a stream that cannot take the first bytes.
type failsOnce struct{ failed bool }

func (f *failsOnce) Write(p []byte) (int, error) {
	if !f.failed {
		f.failed = true
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

// What writes text need not look at its errors: the first one is the error of the result.
func TestFirstErrorIsKept(t *testing.T) {
	a := New(nil, strings.NewReader(""), &failsOnce{}, io.Discard)
	err := a.WriteOut("", nil, func(w io.Writer) error {
		for range 3 {
			io.WriteString(w, strings.Repeat("x", mostHeld/2+1))
		}
		return nil
	})
	if !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("error %v, want %v", err, io.ErrClosedPipe)
	}
}

// Control characters of names do not reach the terminal; bytes pass as they are.
func TestTextIsEscaped(t *testing.T) {
	const name = "a\x1b[31mb"
	fill := func(w io.Writer) error {
		_, err := io.WriteString(w, name)
		return err
	}
	a, out := newEnv()
	if err := a.WriteOut("", nil, fill); err != nil || strings.Contains(out.String(), "\x1b") {
		t.Errorf("text %q, error %v", out, err)
	}
	out.Reset()
	if err := a.WriteBytes("", nil, fill); err != nil || out.String() != name {
		t.Errorf("bytes %q, want %q, error %v", out, name, err)
	}
}

func TestCheckOutputs(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	if err := os.WriteFile(in, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name    string
		outputs []Output
		want    string // part of the error; empty: none
		usage   bool
	}{
		{"none", []Output{To("out", ""), To("plot", "")}, "", false},
		{"two files", []Output{To("out", out), To("plot", out+".svg")}, "", false},
		{"the standard output twice", []Output{To("out", "-"), To("plot", "-")}, "", false},
		{"one file twice", []Output{To("out", out), To("plot", dir+"/./out")}, "--out and --plot name the same file", true},
		{"an input", []Output{To("out", in)}, "in", false},
		{"a directory", []Output{To("out", dir)}, "is a directory; give the name of a file", false},
		{"no directory", []Output{To("out", filepath.Join(dir, "none", "x"))}, "there is no directory " + filepath.Join(dir, "none"), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := CheckOutputs([]string{in}, tc.outputs...)
			if tc.want == "" {
				if err != nil {
					t.Errorf("error %v, want none", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("error %v, want %q", err, tc.want)
			}
			var usage *exit.UsageError
			if errors.As(err, &usage) != tc.usage {
				t.Errorf("%v: a mistake in the command line: %v, want %v", err, !tc.usage, tc.usage)
			}
		})
	}
}

func TestWriteForm(t *testing.T) {
	list := table.New(table.Column{Key: "name"}, table.Column{Key: "ranks", Align: table.Right})
	list.Add("ring", 4)
	list.Add("halo2d", 16)
	for format, want := range map[string]string{
		FormatText: "name    ranks\nring        4\nhalo2d     16\n",
		FormatCSV:  "name,ranks\nring,4\nhalo2d,16\n",
		FormatJSON: `[{"name":"ring","ranks":4},{"name":"halo2d","ranks":16}]`,
	} {
		a, _ := newEnv()
		var got bytes.Buffer
		if err := a.WriteForm(&got, "list", Table{list}, format); err != nil {
			t.Fatal(err)
		}
		text := got.String()
		if format == FormatJSON {
			text = strings.Join(strings.Fields(text), "")
		}
		if text != want {
			t.Errorf("%s:\n%s\nwant\n%s", format, text, want)
		}
	}
}

// A table that was cut says how much is missing.
func TestWriteCut(t *testing.T) {
	list := table.New(table.Column{Key: "name"})
	list.Add("ring")
	list.Left = 3
	a, _ := newEnv()
	var got bytes.Buffer
	if a.WriteCut(&got, list); !strings.HasSuffix(got.String(), "(3 lines more; --top 0 shows all)\n") {
		t.Errorf("got %q", got.String())
	}
}
