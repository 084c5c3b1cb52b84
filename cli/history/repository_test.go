package history_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"slackline/cli/clitest"
)

// repo is a git repository, the working directory of the test, with a history beside it.
type repo struct {
	*testing.T
	dir string // of the history
}

func newRepo(t *testing.T) *repo {
	t.Helper()
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		t.Setenv("GIT_"+who+"_NAME", "a")
		t.Setenv("GIT_"+who+"_EMAIL", "a@invalid")
	}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Chdir(t.TempDir())
	r := &repo{t, filepath.Join(t.TempDir(), "perf")}
	r.git("init", "--quiet", "--initial-branch", "main")
	return r
}

func (r *repo) git(words ...string) string {
	r.Helper()
	out, err := exec.Command("git", words...).CombinedOutput()
	if err != nil {
		r.Fatalf("git %v: %v\n%s", words, err, out)
	}
	return strings.TrimSpace(string(out))
}

// measure makes a commit at a minute, and adds a value of it; its noise is that of a number.
func (r *repo) measure(number, minute int, value float64) (id string) {
	r.Helper()
	r.Setenv("GIT_COMMITTER_DATE", fmt.Sprintf("2026-04-01T10:%02d:00Z", minute))
	r.git("commit", "--quiet", "--allow-empty", "--message", fmt.Sprint("number ", number))
	value *= 1 + 0.001*float64(number*7%5)
	code, _, stderr := clitest.Run(fmt.Sprintf("p,time\n4,%g\n", value), "history", "add", "-", "--dir", r.dir)
	if code != 0 {
		r.Fatal(stderr)
	}
	return r.git("rev-parse", "HEAD")
}

// check is the exit code of a check.
func (r *repo) check(want int, holds string, words ...string) {
	r.Helper()
	code, stdout, stderr := clitest.Run("", append([]string{"history", "check", "--dir", r.dir}, words...)...)
	if code != want || !strings.Contains(stdout+stderr, holds) {
		r.Errorf("check %v: exit code %d, want %d and %q\n%s%s", words, code, want, holds, stdout, stderr)
	}
}

// The repository orders commits of the same time, and those that are dated before their parents. Without it the order is not known, and
// nothing passes.
func TestOrder(t *testing.T) {
	for name, minute := range map[string]func(i int) int{
		"the same time":   func(int) int { return 0 },
		"dated backwards": func(i int) int { return 30 - i },
		"dated back once": func(i int) int { return (i + 13) % 20 },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			var ids []string
			for i := range 20 {
				value := 1.0
				if i >= 10 {
					value = 3
				}
				ids = append(ids, r.measure(i, minute(i), value))
			}
			r.check(3, ids[9][:10]+".."+ids[10][:10])
			r.check(0, "unchanged", "--since", ids[10])
			t.Chdir(t.TempDir())
			if name == "the same time" {
				r.check(4, "warning: the order of commits with the same time is not known")
			}
		})
	}
}

// A pull request is compared with what it is based on, although what is newer on the main branch has been measured.
func TestUntil(t *testing.T) {
	r := newRepo(t)
	for i := range 8 {
		r.measure(i, 2*i, 1)
	}
	r.git("checkout", "--quiet", "-b", "slow")
	slow := r.measure(8, 15, 10)
	r.git("checkout", "--quiet", "main")
	var newer string
	for i := 8; i < 14; i++ {
		newer = r.measure(i, 2*i, 1)
	}
	r.git("commit", "--quiet", "--allow-empty", "--message", "not measured")
	r.check(0, "unchanged")
	r.check(0, "over 14 commits", "--until", newer)
	r.check(2, "--until: the history has no commit nowhere", "--until", "nowhere")
	r.check(2, "--until: nothing was measured at main, which is ", "--until", "main")
	r.check(4, "over 9 commits", "--until", "slow")
	r.check(4, "over 9 commits", "--until", slow, "--since", newer)
	r.check(0, "unchanged", "--until", slow, "--since", slow)
	if code, stdout, stderr := clitest.Run("", "history", "show", "--dir", r.dir, "--until", slow); !strings.Contains(stdout, "in 9 commits") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	t.Chdir(t.TempDir())
	r.check(4, "over 9 commits", "--until", slow)
	r.check(2, "--until: the history has no commit slow", "--until", "slow")
}
