package archtest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"slackline/internal/needed"
)

// addition is something that the project is extended by: one file, and one line in a table.
type addition struct {
	file, text  string // the new file
	table, line string // the file with the table, and the line that comes after anchor
	anchor      string
}

// additions has one of each kind of thing that docs/architecture.md describes under "How to extend it".
var additions = []addition{
	{
		file: "cli/greet/greet.go", text: `// Package greet is a verb that a test adds.
package greet

import (
	"fmt"

	"github.com/spf13/cobra"

	"slackline/cli/env"
)

// Verb is the entry of the registry.
var Verb = env.Verb{Name: "greet", Group: env.Others, Job: env.OnceOnly, New: func(a *env.Env) *cobra.Command {
	return &cobra.Command{Use: "greet", Short: "Print a greeting.", RunE: func(*cobra.Command, []string) error {
		_, err := fmt.Fprintln(a.Stdout, "hello")
		return err
	}}
}}
`, table: "cli/root.go", anchor: "var registry = []*env.Verb{", line: "	&greet.Verb,",
	},
	{
		file: "analyze/waits/added.go", text: `package waits

import "slackline/model/timeline"

var added = kind{
	Info: Info{
		Name: "added_state", Title: "Wait that a test adds", Short: "waits while a communicator is freed", Because: "%s came last",
		Meaning: "Time before the last member entered.", Advice: "Balance the work.", Color: Color{"#123456", "#654321"},
	},
	precedence: collectiveNext,
	collectives: []collective{{ops: []timeline.Op{timeline.OpDestroyHandle}, depends: dependsOnAll, detect: waitForLast, completion: NxNCompletion}},
}
`, table: "analyze/waits/kind.go", anchor: "	&openMPIdle,", line: "	&added,",
	},
	{
		file: "model/trace/added.go", text: `package trace

import (
	"fmt"
	"io"
)

var addedFormat = Format{
	Name: "added-trace", Noun: "an added trace", Info: "trace format that a test adds", Suffixes: []string{".added"}, Text: true,
	Stream: func(w io.Writer, t *Trace, _ WriteOptions) ([]string, error) {
		_, err := fmt.Fprintf(w, "%d locations\n", len(t.Locations))
		return nil, err
	},
}
`, table: "model/trace/format.go", anchor: "var formats = []Format{sltFormat", line: ", addedFormat",
	},
	{
		file: "model/dataset/added.go", text: `package dataset

import "bytes"

var addedFormat = Format{
	Name: "added-data", Info: "a dataset format that a test adds",
	Sniff: func(head []byte) bool { return bytes.HasPrefix(head, []byte("added data\n")) },
	Read: func(name string, data []byte) (*Dataset, error) { return csvFormat.Read(name, bytes.TrimPrefix(data, []byte("added data\n"))) },
}
`, table: "model/dataset/format.go", anchor: "var formats = []Format{", line: "addedFormat,",
	},
	{
		file: "model/noise/added.go", text: `package noise

var addedFormat = Format{
	Name: "added-noise", Info: "a noise format that a test adds", Suffixes: []string{".addednoise"}, Text: true,
	Sniff: func(line string) bool { return line == "added noise" },
	Read:  textFormat.Read, Write: textFormat.Write,
}
`, table: "model/noise/format.go", anchor: "var formats = []Format{", line: "addedFormat, ",
	},
	{
		file: "analyze/scaling/added.go", text: `package scaling

type addedRule string

func (r addedRule) functions() []string                  { return []string{string(r)} }
func (r addedRule) check(c *RuleCheck, fits []*Fit) error { c.Verdict, c.Reason = Fail, "as the test wants"; return nil }

var added = RuleKind{
	Name: "added_rule", Short: "a rule that a test adds", Explanation: "It always fails.", Example: "Bcast",
	parse: func(text string) (ruleTest, error) { return addedRule(text), nil },
}
`, table: "analyze/scaling/rules.go", anchor: "	inequality,", line: "	added,",
	},
}

// TestExtend adds one of each, as a file and a line, to an overlay of the sources, and sees them in the program that is built from that.
func TestExtend(t *testing.T) {
	needed.Full(t, "another build of the program")
	root, dir := projectRoot(t), t.TempDir()
	replace := map[string]string{}
	put := func(path, text string) {
		file := filepath.Join(dir, strings.ReplaceAll(path, "/", "_"))
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(root, path)] = file
	}
	for _, a := range additions {
		put(a.file, a.text)
		data, err := os.ReadFile(filepath.Join(root, a.table))
		if err != nil {
			t.Fatal(err)
		}
		before, after, found := strings.Cut(string(data), a.anchor)
		if !found {
			t.Fatalf("%s has no %q", a.table, a.anchor)
		}
		line := a.line
		if strings.HasPrefix(line, "\t") {
			line = "\n" + line
		}
		text := before + a.anchor + line + after
		if name := filepath.Base(filepath.Dir(a.file)); strings.HasPrefix(a.file, "cli/") { // a package of its own is imported, too
			text = strings.Replace(text, "import (\n", "import (\n\t\"slackline/cli/"+name+"\"\n", 1)
		}
		put(a.table, text)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	list, program := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "slackline")
	if err := os.WriteFile(list, overlay, 0o666); err != nil {
		t.Fatal(err)
	}
	// Without optimization: what is built runs little.
	build := exec.Command("go", "build", "-overlay", list, "-gcflags", "slackline/...=-N -l", "-o", program, "./cmd/slackline")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	files := map[string]string{
		"run.trace": "slackline trace 1\nunit us\n\nrank 0\n0 main {\n  0..30  compute\n  30..40 MPI_Comm_free: destroy_handle\n} 40\n\n" +
			"rank 1\n0 main {\n  0..10  compute\n  10..40 MPI_Comm_free: destroy_handle\n} 40\n",
		"data.txt":   "added data\np,callpath,time\n2,Bcast,1\n4,Bcast,2\n8,Bcast,3\n16,Bcast,4\n32,Bcast,5\n",
		"rules.yaml": "rules:\n  - {added_rule: Bcast}\n",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		args string
		want string
	}{
		{"--help", "greet       Print a greeting."},
		{"greet", "hello"},
		{"man greet", "SLACKLINE\\-GREET"},
		{"explain", "added_state"},
		{"explain added_state", "Balance the work."},
		{"explain", "added_rule"},
		{"waits run.trace", "Wait that a test adds"},
		{"waits run.trace --format json", `"metric": "added_state"`},
		{"report run.trace --format json", "Wait that a test adds"},
		{"convert --help", "added-trace"},
		{"convert run.trace --out run.added", ""},
		{"scaling --help", "added-data"},
		{"scaling data.txt", "Bcast"},
		{"noise show --help", "added-noise"},
		{"check rules.yaml data.txt", "as the test wants"},
	} {
		c := exec.Command(program, strings.Fields(tc.args)...)
		c.Dir = dir
		out, _ := c.CombinedOutput()
		text := strings.ReplaceAll(string(out), "\\-", "-")
		if want := strings.ReplaceAll(tc.want, "\\-", "-"); !strings.Contains(text, want) {
			t.Errorf("slackline %s: no %q in\n%s", tc.args, want, out)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "run.added")); err != nil || string(text) != "2 locations\n" {
		t.Errorf("the trace in the added format is %q, %v", text, err)
	}
}
