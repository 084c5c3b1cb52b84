package cli

import (
	"slices"
	"strings"
	"testing"
)

func TestParseSettings(t *testing.T) {
	got, err := parseSettings("f", []byte("machine: chic # mine\nthreads: 2\nquiet: true\n"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"machine": "chic", "threads": "2", "quiet": "true"} {
		if got[name].value != want {
			t.Errorf("%s = %q, want %q", name, got[name].value, want)
		}
	}
	if got, err := parseSettings("f", nil); err != nil || len(got) != 0 {
		t.Errorf("an empty file gives %v, %v", got, err)
	}
	quoted, err := parseSettings("f", []byte("---\r\nmachine: \"my machine.yaml\" # x\r\n\r\nmapping: 'b'\r\n  # end"))
	if err != nil || quoted["machine"].value != "my machine.yaml" || quoted["mapping"].value != "b" {
		t.Errorf("quotes: %v, %v", quoted, err)
	}
	negative, err := parseSettings("f", []byte("threads: -1\n")) // the flag refuses it, and gives the reason
	if err != nil || negative["threads"].value != "-1" {
		t.Errorf("a negative number: %v, %v", negative, err)
	}
	for _, text := range []string{"machine: - a\n", "machine: -\n", "machine:\n", "machine: \n", "machine:chic\n", " machine: chic\n",
		"machine: \"chic\n", "machine: 'a' b\n", "machine: |\n", "- a\n", "machine\n",
		"machine: [a]\n", "foo: 1\n", "a: b: c\n", "machine: chic\nmachine: xt4\n"} {
		if got, err := parseSettings("f", []byte(text)); err == nil {
			t.Errorf("%q gives %v, want an error", text, got)
		}
	}
}

// FuzzParseSettings: whatever a settings file contains, there is an error that
// names the file, or settings that exist.
func FuzzParseSettings(f *testing.F) {
	for _, text := range []string{"machine: chic\n", "threads: 2\nquiet: true", "{machine: a, seed: 0x10}", "? a\n: b", "a: &x b\nc: *x",
		"machine: |\n  a\n  b\n", "---\n...\n---\n", "<<: {machine: a}"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		settings, err := parseSettings("file", data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "file") {
				t.Errorf("the error does not name the file: %v", err)
			}
			return
		}
		for name := range settings {
			if !slices.Contains(settingNames, name) {
				t.Errorf("unknown setting %q was accepted", name)
			}
		}
	})
}
