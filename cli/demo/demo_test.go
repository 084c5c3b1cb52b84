package demo

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slackline/cli/env"
)

// A command is broken where it does not fit, but never between a flag and its value.
func TestTyped(t *testing.T) {
	for _, tc := range []struct{ words, want string }{
		{"slackline", "slackline"},
		{"slackline waits a.slt --top 3", "slackline waits a.slt --top 3"},
		{"slackline waits " + strings.Repeat("a", 78) + " --top 3", "slackline waits " + strings.Repeat("a", 78) + " \\\n    --top 3"},
		{"slackline " + strings.Repeat("a", 80) + " --denoise --top 3", "slackline " + strings.Repeat("a", 80) + " \\\n    --denoise --top 3"},
	} {
		if got := typed(strings.Fields(tc.words)); got != tc.want {
			t.Errorf("typed(%s) =\n%s\nwant\n%s", tc.words, got, tc.want)
		}
	}
	if got := typed([]string{"slackline", "report", "--title", "An ocean"}); got != "slackline report --title 'An ocean'" {
		t.Errorf("a title with a blank: %s", got)
	}
}

// All steps fit into 100 columns, and their inputs are in the example.
func TestSteps(t *testing.T) {
	o := &demoOptions{out: "slackline-demo"}
	written := map[string]bool{}
	for _, step := range demoSteps {
		words := step.words(o)
		for i, word := range words {
			name, inside := strings.CutPrefix(word, "slackline-demo/")
			if !inside {
				continue
			}
			if words[i-1] == "--out" || words[i-1] == "--plot" {
				written[name] = true
				continue
			}
			if _, err := demoData.Open("demodata/" + name); err != nil {
				t.Errorf("%s: %v", step.title, err)
			}
		}
		for _, line := range strings.Split("$ "+typed(append([]string{"slackline"}, words...)), "\n") {
			if len(line) > env.DefaultWidth {
				t.Errorf("%s: a line of %d columns: %s", step.title, len(line), line)
			}
		}
		if step.title == "" || step.why == "" {
			t.Errorf("the step %v has no title, or no reason", words)
		}
	}
	if !written["report.html"] {
		t.Error("no step writes the report that the last sentence names")
	}
}

// The example is unpacked as it is, also over an old one; a file in the place of the directory is not replaced.
func TestUnpack(t *testing.T) {
	dir := t.TempDir()
	o := &demoOptions{out: filepath.Join(dir, "a", "b")}
	for range 2 {
		if err := o.unpack(); err != nil {
			t.Fatal(err)
		}
		want, err := demoData.ReadFile("demodata/ocean.c")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(o.file("ocean.c")); err != nil || !bytes.Equal(got, want) {
			t.Errorf("ocean.c has %d bytes, want %d; error %v", len(got), len(want), err)
		}
		if err := os.WriteFile(o.file("ocean.c"), []byte("changed"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(o.file("ocean.slt")); err != nil || info.Size() == 0 {
		t.Errorf("no run in the example: %v", err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := (&demoOptions{out: file}).unpack(); err == nil {
		t.Error("a file was taken for a directory")
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "mine" {
		t.Errorf("the file is %q, error %v", got, err)
	}
}

func TestParagraph(t *testing.T) {
	var b bytes.Buffer
	if err := paragraph(&b, strings.Repeat("word ", 30)); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(strings.TrimSpace(b.String()), "\n"); len(lines) != 2 || len(lines[0]) != 99 {
		t.Errorf("30 words are on %d lines, the first of %d columns", len(lines), len(lines[0]))
	}
}
