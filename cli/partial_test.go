package cli_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"slackline/cli/clitest"
)

// TestUnreadableEventsAreErrors takes the events of ranks away from a trace: no verb has a result, unless a part is enough.
func TestUnreadableEventsAreErrors(t *testing.T) {
	const good = "../examples/late/late.slt"
	fill := func(t *testing.T) (dir string, events []string) {
		dir = filepath.Join(t.TempDir(), "run.slt")
		if err := os.CopyFS(dir, os.DirFS(good)); err != nil {
			t.Fatal(err)
		}
		events, err := filepath.Glob(filepath.Join(dir, "[0-9]*-*.slt"))
		if err != nil || len(events) < 2 {
			t.Fatalf("events: %q, %v", events, err)
		}
		return dir, events
	}
	each := func(change func(path string) error) func([]string) error {
		return func(files []string) error {
			var errs []error
			for _, f := range files {
				errs = append(errs, change(f))
			}
			return errors.Join(errs...)
		}
	}
	empty := func(path string) error { return os.Truncate(path, 0) }
	header := func(path string) error { return os.Truncate(path, 20) }
	for _, tc := range []struct {
		name    string
		damage  func(files []string) error
		partial bool // something is left
	}{
		{"all missing", each(os.Remove), false},
		{"all empty", each(empty), false},
		{"all cut in the header", each(header), false},
		{"one missing", func(files []string) error { return os.Remove(files[1]) }, true},
		{"one empty", func(files []string) error { return empty(files[1]) }, true},
		{"one cut in the header", func(files []string) error { return header(files[1]) }, true},
		{"one that cannot be opened", func(files []string) error {
			return errors.Join(os.Remove(files[1]), os.Symlink(filepath.Base(files[1]), files[1]))
		}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir, events := fill(t)
			if err := tc.damage(events); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{
				{"waits", dir}, {"profile", dir}, {"compare", dir, good, "--fail-if", "run_time>5%"},
				{"compare", good, dir, "--fail-if", "run_time>5%"},
				{"simulate", dir, "--machine", "chic"}, {"tolerance", dir, "--machine", "chic"}, {"scaling", dir},
				{"convert", dir, "--to", "trace-text"}, {"report", dir, "--format", "json"},
			} {
				code, stdout, stderr := clitest.Run("", args...)
				if code != 1 || stdout != "" || !strings.Contains(stderr, "run.slt") {
					t.Errorf("%q: exit code %d, stdout %.40q, stderr %q; want 1 and the file", args, code, stdout, stderr)
				}
				if !tc.partial && args[0] == "waits" || args[0] == "convert" && tc.partial {
					code, stdout, stderr := clitest.Run("", append(args, "--partial")...)
					if tc.partial == (code != 0) || tc.partial == (stdout == "") {
						t.Errorf("%q --partial: exit code %d, stdout %.40q, stderr %q", args, code, stdout, stderr)
					}
				}
			}
			if tc.partial {
				if code, _, stderr := clitest.Run("", "profile", dir, "--partial"); code != 0 || !strings.Contains(stderr, "warning: ") {
					t.Errorf("profile --partial: exit code %d, stderr %q; want a warning", code, stderr)
				}
			}
		})
	}
}

// TestPlacesInMessages: errors name file and line, and a trace with a damaged header is one.
func TestPlacesInMessages(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	damaged := write("traces.otf2", "xTF2\x00\x01 and so on")
	text := write("run.trace", "slackljne trace 1\nrank 0\n")
	yaml := write("machine.yaml", "name: x\nlatency: 1us\n# caf\xe9\n")
	hosts := write("hosts", "\n \n")
	for _, tc := range []struct {
		want string
		args []string
	}{
		{"traces.otf2: the header of the trace is damaged", []string{"waits", damaged}},
		{"traces.otf2: the header of the trace is damaged", []string{"profile", damaged}},
		{"traces.otf2: the header of the trace is damaged", []string{"simulate", damaged, "--machine", "chic"}},
		{"traces.otf2: the header of the trace is damaged", []string{"report", damaged, "--format", "json"}},
		{"run.trace: the header of the trace is damaged", []string{"waits", text}},
		{"machine.yaml:3:6: is not UTF-8 text", []string{"simulate", "ring", "--ranks", "2", "--machine", yaml}},
		{"hosts names no nodes", []string{"tolerance", "ring", "--ranks", "4", "--machine", "chic", "--placement", "2", "--inter", "1us,1ns",
			"--rank-file", filepath.Join(dir, "rf"), "--hosts", hosts}},
	} {
		code, stdout, stderr := clitest.Run("", tc.args...)
		if code != 1 || stdout != "" || !strings.Contains(stderr, tc.want) {
			t.Errorf("%q: exit code %d, stderr %q, want 1 and %q", tc.args, code, stderr, tc.want)
		}
	}
}

// TestAnonymousReport looks for paths, hosts and users in a report that must not have them; commands in reports are quoted.
func TestAnonymousReport(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "jo doe")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	run := filepath.Join(dir, "it's run.trace")
	trace := "slackline trace 1\nunit us\nmachine login7.site.example\ncommand \"/home/alice/my app/solver\" /scratch/alice/in.dat\n" +
		"launch mpirun -H node42,node43 \"/home/alice/my app/solver\"\n" +
		"region 0 name /home/alice/my.py:f user at /home/alice/my.py 3\nrank 0 host node42.site.example\n0 0 {\n0..30 compute\n" +
		"30..40 MPI_Barrier: barrier\n} 40\n" +
		"rank 1 host node43\n0 0 {\n0..10 compute\n10..40 MPI_Barrier: barrier\n} 40\n"
	if err := os.WriteFile(run, []byte(trace), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Setenv("USER", "alice")
	for _, format := range []string{"json", "html"} {
		out := filepath.Join(dir, "out."+format)
		code, _, stderr := clitest.Run("", "report", run, "--format", format, "--out", out, "--anonymous", "--title", "A $(id) of alice")
		if code != 0 {
			t.Fatalf("report: exit code %d: %s", code, stderr)
		}
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		host, _ := os.Hostname()
		for _, secret := range []string{"/home", "/scratch", "jo doe", "alice", "node42", "node43", "login7", filepath.Dir(dir), `"host": "` + host} {
			if at := strings.Index(string(text), secret); at >= 0 {
				t.Errorf("%s: has %q in %q", format, secret, text[max(at-60, 0):min(at+40, len(text))])
			}
		}
		if format == "html" && !strings.Contains(string(text), "&#39;A $(id) of user&#39;") {
			t.Error("the title in the command of the report is not quoted")
		}
	}
}

// TestUnsearchable: a directory whose files may not be looked at is not one without a trace, and the message says what helps.
func TestUnsearchable(t *testing.T) {
	const trace = "../examples/late/late.slt"
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir) // that of this user may be closed to others
	for path := dir; path != "/" && path != filepath.Clean(os.TempDir()); path = filepath.Dir(path) {
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	folder := func(name, file string) string {
		path := filepath.Join(dir, name)
		err := errors.Join(os.Mkdir(path, 0o755), os.WriteFile(filepath.Join(path, file), []byte("{}"), 0o644), os.Chmod(path, 0o444))
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	folders := []string{folder("data", "x.json"), folder("text", "r0.trace"), folder("ranks", "a.goal"), folder("raw", "run.json")}
	slt := filepath.Join(dir, "run.slt")
	if err := errors.Join(os.CopyFS(slt, os.DirFS(trace)), os.Chmod(slt, 0o444)); err != nil {
		t.Fatal(err)
	}
	machine := []string{"--machine", "chic"}
	verbs := [][]string{
		{"profile"}, {"waits"}, {"scaling"}, {"hang"}, {"record", "--recover"}, append([]string{"advise"}, machine...),
		{"report", "--out", filepath.Join(dir, "r.html")}, append([]string{"simulate"}, machine...), append([]string{"tolerance"}, machine...),
		{"compare"}, {"generate", "--to", "goal"}, {"convert", "--to", "goal"},
	}
	for _, path := range append(folders, slt) {
		for _, verb := range verbs {
			args := append(slices.Clone(verb), path)
			if verb[0] == "compare" {
				args = append(args, path)
			}
			var code int
			var stderr string
			asNobody(t, func() { code, _, stderr = clitest.Run("", args...) })
			if code != 1 || !strings.Contains(stderr, "permission denied; you may not search the directory "+path) {
				t.Errorf("%v: code %d, %q, want that the permission is missing and what helps", args, code, stderr)
			}
		}
	}
}
