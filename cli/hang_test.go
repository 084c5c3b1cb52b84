package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"slackline/cli/clitest"
	"slackline/internal/needed"
	"slackline/observe/mpi/mpitest"
)

// TestHang looks at a program that stands still: by its folder, by the numbers of its processes, in all formats, and after it was killed.
func TestHang(t *testing.T) {
	libraries := mpitest.Libraries(t)
	mpitest.Crowd(t)
	l := libraries[len(libraries)-1]
	program := mpitest.Build(t, l, filepath.Join("hang", "testdata", "cases.c"), "-g", "-O1")
	out := filepath.Join(t.TempDir(), "app.slt")
	args := append([]string{"record", "--quiet", "--keep-raw", "--yield", "on", "--out", out, "--"}, mpitest.Launch(l, 3)...)
	job := clitest.Program(append(args, program, "wait_never")...)
	var stderr bytes.Buffer
	job.Stderr = &stderr
	if err := job.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	defer func() {
		if !ended {
			_ = job.Process.Signal(syscall.SIGINT)
			_ = job.Wait()
		}
	}()
	look := func(args ...string) (int, string, string) {
		return clitest.Run("", append([]string{"hang", "--quiet"}, args...)...)
	}
	const says = "Rank 0 is in MPI_Wait and waits for a message from rank 1"
	const looks = 400
	for i := 0; ; i++ {
		code, stdout, said := look(out)
		if code == 3 && strings.Contains(stdout, says) {
			break
		}
		if i == looks {
			t.Fatalf("exit code %d: %s%s%s", code, stdout, said, stderr.String())
		}
		time.Sleep(300 * time.Millisecond)
	}
	raw, err := filepath.Glob(filepath.Join(filepath.Dir(out), ".app.slt-raw-*"))
	if err != nil || len(raw) != 1 {
		t.Fatalf("%v, %v", raw, err)
	}
	for _, word := range []string{raw[0], filepath.Dir(out), strconv.Itoa(job.Process.Pid)} {
		if code, stdout, said := look(word); code != 3 || !strings.Contains(stdout, says) {
			t.Errorf("hang %s: exit code %d: %s%s", word, code, stdout, said)
		}
	}
	code, stdout, _ := look(out, "--format", "json")
	if err := holdAgainstSchema("hang", []byte(stdout)); err != nil || code != 3 {
		t.Errorf("exit code %d, %v\n%s", code, err, stdout)
	}
	const columns = "rank,thread,doing,call,since_s,stuck,callpath,source\n0,0,"
	if _, stdout, _ = look(out, "--format", "csv"); strings.Count(stdout, "\n") != 4 || !strings.HasPrefix(stdout, columns) {
		t.Errorf("csv: %s", stdout)
	}
	if os.Geteuid() == 0 {
		if code, _, said := look(strconv.Itoa(otherProcess(t))); code != 1 || !strings.Contains(said, "belongs to another user") {
			t.Errorf("a process of another user: exit code %d, %s", code, said)
		}
	}
	if code, _, said := look(strconv.Itoa(os.Getpid()), "--apart", "0"); code != 3 { // it has started the job
		t.Errorf("the process that started all: exit code %d, %s", code, said)
	}
	_ = job.Process.Signal(syscall.SIGINT)
	_ = job.Wait()
	ended = true
	if code, stdout, said := look(raw[0]); code != 3 || !strings.Contains(stdout, says) {
		t.Errorf("after the end: exit code %d: %s%s", code, stdout, said)
	}
}

// otherProcess starts a process of another user and returns its number.
func otherProcess(t *testing.T) int {
	c := clitest.Program("version")
	c.Path, c.Args = "/bin/sleep", []string{"sleep", "60"}
	const nobody = 65534
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	needed.NoError(t, c.Start()) // only root may
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	return c.Process.Pid
}
