package record_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"slackline/cli/clitest"
	"slackline/model/trace"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// TestInterrupt wants no process of a job to be left when record, or inject around it, has ended after a signal to all of its group, as
// from a terminal, and a trace of what was recorded until then. Killed alone, it takes the job with it.
func TestInterrupt(t *testing.T) {
	const ranks = 2
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		program := mpitest.Build(t, l, filepath.Join("testdata", "endless.c"))
		for _, how := range []string{"terminated", "interrupted under injection", "killed"} {
			dir := t.TempDir()
			out := filepath.Join(dir, "run.slt")
			args := slices.Concat([]string{"record", "--max-size", "1MiB", "--ring", "--out", out, "--"}, mpitest.Launch(l, ranks),
				[]string{program, dir})
			c := clitest.Program(args...)
			if how == "interrupted under injection" {
				c = clitest.Program(slices.Concat([]string{"inject", "--latency", "10us", "--base", "0", "--", "slackline"}, args)...)
			}
			var stderr bytes.Buffer
			c.Dir, c.Stderr = dir, &stderr
			c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- c.Wait() }()
			pids := waitForRanks(t, dir, ranks, ended, &stderr)
			signal, who := syscall.SIGTERM, -c.Process.Pid
			switch how {
			case "interrupted under injection":
				signal = syscall.SIGINT
			case "killed":
				signal, who = syscall.SIGKILL, c.Process.Pid
			}
			if err := syscall.Kill(who, signal); err != nil {
				t.Fatal(err)
			}
			if how == "killed" {
				for end := time.Now().Add(30 * time.Second); len(running(pids)) > 0 && time.Now().Before(end); {
					time.Sleep(20 * time.Millisecond)
				}
			} else {
				<-ended
			}
			left := running(pids)
			for _, pid := range left {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			if how == "killed" {
				<-ended // when its job has closed the standard error
			}
			if len(left) > 0 {
				t.Errorf("%s: processes %v are left\n%s", how, left, stderr.String())
			}
			if how == "killed" {
				raw, _ := filepath.Glob(filepath.Join(dir, ".run.slt-raw-*"))
				if code, _, said := clitest.Run("", append([]string{"record", "--recover"}, raw...)...); code != 0 {
					t.Errorf("recovery of %q: exit code %d\n%s", raw, code, said)
				}
			} else if code := c.ProcessState.ExitCode(); code != 130 {
				t.Errorf("%s: exit code = %d, want 130\n%s", how, code, stderr.String())
			}
			read, err := trace.Open(os.DirFS(dir), "run.slt", trace.Options{})
			if err != nil || read.Ranks != ranks {
				t.Errorf("%s: trace = %+v, %v, want %d ranks\n%s", how, read, err, ranks, stderr.String())
			}
		}
	})
}

// waitForRanks returns the process numbers of the ranks when all of them have begun.
func waitForRanks(t *testing.T, dir string, ranks int, ended <-chan error, stderr *bytes.Buffer) (pids []int) {
	t.Helper()
	for end := time.Now().Add(5 * time.Minute); len(pids) < ranks; time.Sleep(20 * time.Millisecond) {
		select {
		case err := <-ended:
			t.Fatalf("it ended: %v\n%s", err, stderr.String())
		default:
		}
		if pids = nil; time.Now().After(end) {
			t.Fatal("the ranks have not begun")
		}
		files, _ := filepath.Glob(filepath.Join(dir, "pid.*"))
		for _, file := range files {
			text, err := os.ReadFile(file)
			pid, errNumber := strconv.Atoi(string(text))
			if err = errors.Join(err, errNumber); err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
	}
	return pids
}

// running are those of the processes that have not ended.
func running(pids []int) (list []int) {
	for _, pid := range pids {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if _, rest, ok := strings.Cut(string(stat), ") "); err == nil && ok && !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X") {
			list = append(list, pid)
		}
	}
	return list
}
