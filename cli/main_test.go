package cli_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"slackline/cli"
	"slackline/cli/clitest"
	"slackline/internal/needed"
)

func TestMain(m *testing.M) { clitest.Main(m) }

// TestScripts runs the end-to-end tests in testdata/script.
func TestScripts(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("ROOT", root)
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, "config"))
			if cache, err := os.UserCacheDir(); err == nil { // what was compiled for other tests serves scripts, too, which have no home
				e.Setenv("XDG_CACHE_HOME", cache)
			}
			return nil
		},
		Condition: func(cond string) (bool, error) {
			if cond != "ci" {
				return false, fmt.Errorf("unknown condition %q", cond)
			}
			return needed.InCI(), nil
		},
		Cmds: scriptCommands,
	})
}

// brokenPipe is an output that nobody reads.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestBrokenPipeIsQuiet(t *testing.T) {
	var stderr bytes.Buffer
	code := cli.Main([]string{"simulate", "ring", "--ranks", "8", "--machine", "chic", "--quiet"}, nil, brokenPipe{}, &stderr)
	if code != 0 || stderr.Len() > 0 {
		t.Errorf("exit code = %d, stderr = %q; want 0 and silence", code, stderr.String())
	}
}
