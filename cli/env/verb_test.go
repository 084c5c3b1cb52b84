package env

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

// tree is a program with a verb that has two below it, one of which has a role of its own.
func tree() (root, verb, below, own *cobra.Command) {
	root, below, own = &cobra.Command{Use: "slackline"}, &cobra.Command{Use: "noise"}, &cobra.Command{Use: "clocks"}
	v := Verb{Name: "measure", Group: Observe, Job: Shared, New: func(*Env) *cobra.Command { return &cobra.Command{Use: "measure"} }}
	verb = v.Command(nil)
	Outside.Assign(own)
	verb.AddCommand(below, own)
	root.AddCommand(verb)
	return root, verb, below, own
}

// TestRoles: a command below a verb takes part in a job as the verb does, unless it has a role of its own.
func TestRoles(t *testing.T) {
	root, verb, below, own := tree()
	for _, tc := range []struct {
		c     *cobra.Command
		role  Role
		joins bool
		group Group
		name  string
	}{
		{root, OnceOnly, false, Others, "slackline"},
		{verb, Shared, true, Observe, "measure"},
		{below, Shared, true, Observe, "measure noise"},
		{own, Outside, false, Observe, "measure clocks"},
	} {
		if got := roleOf(tc.c); got != tc.role || got.joins() != tc.joins || groupOf(tc.c) != tc.group || verbOf(tc.c) != tc.name {
			t.Errorf("%s: role %d, joins %v, group %s, name %s", tc.name, got, got.joins(), groupOf(tc.c), verbOf(tc.c))
		}
	}
}

// TestAsksHelp: what follows -- belongs to another program.
func TestAsksHelp(t *testing.T) {
	for args, want := range map[string]bool{
		"": true, "help": true, "help waits": true, "waits -h": true, "waits x --help": true, "waits x": false, "record -- ./app -h": false,
		"record -h -- ./app": true, "record -- help": false, "-- help": true,
	} {
		a := New(strings.Fields(args), strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{})
		if got := a.asksHelp(); got != want {
			t.Errorf("slackline %s asks for help: %v", args, got)
		}
	}
}

// TestStream: the system's names for the streams of the program are these streams.
func TestStream(t *testing.T) {
	a, _ := newEnv()
	for _, name := range []string{"", "-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"} {
		if a.Stream(name) != a.Stdout {
			t.Errorf("%q is not the standard output", name)
		}
	}
	for _, name := range []string{"/dev/stderr", "/dev/fd/2", "/proc/self/fd/2"} {
		if a.Stream(name) != a.Stderr {
			t.Errorf("%q is not the standard error", name)
		}
	}
	for _, name := range []string{"/dev/fd/3", "stdout", "./-"} {
		if a.Stream(name) != nil {
			t.Errorf("%q is not a file", name)
		}
	}
}

// TestVariables: of one process those settings hold that its variables give; an empty variable gives none.
func TestVariables(t *testing.T) {
	t.Setenv(VariableOf("machine"), "chic")
	t.Setenv(VariableOf("threads"), "")
	a, _ := newEnv()
	got, err := a.AgreeOnVariables(t.Context(), []string{"machine", "threads", "noise"})
	if diff := cmp.Diff(map[string]string{"machine": "chic"}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestHeld: more than is kept in memory goes to the stream before all is there, in order and whole.
func TestHeld(t *testing.T) {
	var out bytes.Buffer
	w := &held{w: &out}
	piece := bytes.Repeat([]byte("0123456789abcdef"), 1<<20) // 16 MiB
	for range 4 {
		if _, err := w.Write(piece); err != nil || out.Len() > 0 {
			t.Fatalf("%d bytes went out early, %v", out.Len(), err)
		}
	}
	if _, err := w.Write([]byte("end")); err != nil || out.Len() != mostHeld {
		t.Errorf("%d bytes went out, want %d, %v", out.Len(), mostHeld, err)
	}
	if w.release(); w.err != nil || out.Len() != mostHeld+3 || !bytes.HasSuffix(out.Bytes(), []byte("defend")) {
		t.Errorf("%d bytes in the end, %v", out.Len(), w.err)
	}
}
