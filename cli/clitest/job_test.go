//go:build linux

package clitest

import (
	"os"
	"path/filepath"
	"testing"

	"slackline/observe/mpi"
)

// TestJobsAreStartedAgain has launchers that die of SIGPIPE the first time, every time, or of another signal.
func TestJobsAreStartedAgain(t *testing.T) {
	for _, tc := range []struct {
		dies string
		code int
		out  string
	}{
		{"[ -e $0.again ] || { echo lost; touch $0.again; kill -PIPE $$; }", 3, "done\n"},
		{"echo lost; kill -PIPE $$", -1, "lost\n"},
		{"[ -e $0.again ] || { echo lost; touch $0.again; kill -TERM $$; }", -1, "lost\n"},
	} {
		launcher := filepath.Join(t.TempDir(), "launcher")
		if err := os.WriteFile(launcher, []byte("#!/bin/sh\n"+tc.dies+"\necho done\nexit 3\n"), 0o777); err != nil {
			t.Fatal(err)
		}
		j := NewJob(t, &mpi.Library{Kind: mpi.MPICH, Launcher: launcher}, 2)
		if err := j.Start(); err != nil {
			t.Fatal(err)
		}
		if code := j.End(t); code != tc.code || j.Out.String() != tc.out {
			t.Errorf("%s: exit code %d, output %q; want %d, %q", tc.dies, code, j.Out.String(), tc.code, tc.out)
		}
	}
}
