//go:build linux

package clitest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"slackline/observe/mpi"
)

// SharedMemory lists the files in which the processes of a job share memory.
func (j *Job) SharedMemory() []string {
	var list []string
	for pid := range j.processes() {
		maps, _ := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
		list = append(list, regexp.MustCompile(`/dev/shm/\S+`).FindAllString(string(maps), -1)...)
	}
	return list
}

// NothingLeft wants neither processes nor files of the job to be left.
func (j *Job) NothingLeft(t *testing.T, shared []string) {
	t.Helper()
	j.NoneLeft(t)
	for _, file := range shared {
		if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left: %v", file, err)
		}
	}
	for _, v := range j.Environ() { // of several values of a name, the last
		dir, is := strings.CutPrefix(v, "TMPDIR=")
		if !is {
			continue
		}
		_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				t.Errorf("%s is left", path)
			}
			return nil
		})
	}
}

// SaidOnce wants one message of slackline that contains a text.
func (j *Job) SaidOnce(t *testing.T, text string) {
	t.Helper()
	said := 0
	for _, line := range j.Ours() {
		if strings.Contains(line, text) {
			said++
		}
	}
	if said != 1 {
		t.Errorf("%q was said %d times; stderr:\n%s", text, said, j.Errors.String())
	}
}

// jobMark is the variable by which the processes of a job are found.
const jobMark = "SLACKLINE_TEST_MARK"

// Job is a call of slackline by the launcher of an MPI library.
type Job struct {
	*exec.Cmd
	Mark        string
	Out, Errors bytes.Buffer
}

// NewJob prepares a job of so many processes.
func NewJob(t testing.TB, l *mpi.Library, size int, args ...string) *Job {
	t.Helper()
	program := filepath.Join(t.TempDir(), "slackline") // see TestMain
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	words := []string{"-n", strconv.Itoa(size)}
	if l.Kind == mpi.OpenMPI {
		words = append(words, "--oversubscribe")
	}
	j := &Job{Cmd: exec.Command(l.Launcher, append(append(words, program), args...)...), Mark: program}
	j.Env = append(os.Environ(), jobMark+"="+j.Mark, "SLACKLINE_SHARE=always", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	j.Stdout, j.Stderr = &j.Out, &j.Errors
	j.WaitDelay = 5 * time.Second
	return j
}

// JobTimeout is far more than any job here needs to end, also on a host that gives little of its CPUs.
const JobTimeout = 5 * time.Minute

// End waits for the job and returns its exit code. It must end in time.
//
// MPICH's launcher sometimes dies of SIGPIPE when its programs end at once, whatever they are: 17 of 600 runs of true on a busy machine.
// Such a job is started again.
func (j *Job) End(t testing.TB) int {
	t.Helper()
	for tries := 1; ; tries++ {
		j.wait(t)
		if status, ok := j.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGPIPE || tries == 5 || j.Stdin != nil {
			return j.ProcessState.ExitCode()
		}
		j.Cmd = &exec.Cmd{Path: j.Path, Args: j.Args, Env: j.Env, Dir: j.Dir, Stdout: j.Stdout, Stderr: j.Stderr, SysProcAttr: j.SysProcAttr,
			WaitDelay: j.WaitDelay}
		j.Out.Reset()
		j.Errors.Reset()
		if err := j.Start(); err != nil {
			t.Fatal(err)
		}
	}
}

// wait waits for the launcher, and ends the job if it does not end in time.
func (j *Job) wait(t testing.TB) {
	t.Helper()
	var left strings.Builder
	stuck := time.AfterFunc(JobTimeout, func() {
		fmt.Fprintf(&left, "\nlauncher: %s", waitsFor(j.Process.Pid))
		for pid, p := range j.processes() {
			fmt.Fprintf(&left, "\n%s of process %d: %s", p.Part, p.Rank, waitsFor(pid))
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		_ = j.Process.Kill()
	})
	_ = j.Wait()
	if !stuck.Stop() {
		t.Fatalf("%v has not ended after %s:%s\nstderr:\n%s", j.Args, JobTimeout, left.String(), j.Errors.String())
	}
}

// waitsFor says in which state a process is, and what it waits for in the kernel.
func waitsFor(pid int) string {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	place, _ := os.ReadFile(fmt.Sprintf("/proc/%d/wchan", pid))
	_, state, _ := strings.Cut(string(status), ") ")
	return fmt.Sprintf("pid %d, state %.1s, in %s", pid, state, place)
}

// Process is a process of a job: each consists of a guard, which the launcher starts, of the bridge, and of
// slackline, the child of that.
type Process struct {
	Rank int
	Part string // guard, bridge or child
}

// processes finds the processes of the job.
func (j *Job) processes() map[int]Process {
	found := map[int]Process{}
	environments, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range environments {
		data, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(data, []byte(jobMark+"="+j.Mark+"\x00")) {
			continue
		}
		name, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "comm"))
		p := Process{-1, "bridge"}
		if bytes.Contains(data, []byte(mpi.JobVariable+"=joined:")) {
			p.Part = "child"
		} else if strings.TrimSpace(string(name)) == "slackline-guard" {
			p.Part = "guard"
		}
		for v := range strings.SplitSeq(string(data), "\x00") {
			name, value, _ := strings.Cut(v, "=")
			if name == "OMPI_COMM_WORLD_RANK" || name == "PMI_RANK" {
				p.Rank, _ = strconv.Atoi(value)
			}
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil && p.Rank >= 0 {
			found[pid] = p
		}
	}
	return found
}

// Find waits for a process of the job.
func (j *Job) Find(t testing.TB, want Process) int {
	t.Helper()
	for begin := time.Now(); time.Since(begin) < JobTimeout; time.Sleep(20 * time.Millisecond) {
		for pid, p := range j.processes() {
			if p == want {
				return pid
			}
		}
	}
	t.Fatalf("there is no process %+v; stderr:\n%s", want, j.Errors.String())
	return 0
}

// NoneLeft wants all processes of the job to be gone, soon.
func (j *Job) NoneLeft(t testing.TB) {
	t.Helper()
	for begin := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		left := j.processes()
		if len(left) == 0 {
			return
		}
		if time.Since(begin) > JobTimeout {
			t.Errorf("processes are left: %v", left)
			return
		}
	}
}

// Ours are the lines of the standard error that slackline wrote.
func (j *Job) Ours() []string {
	var list []string
	for line := range strings.Lines(j.Errors.String()) {
		if strings.HasPrefix(line, "slackline: ") {
			list = append(list, strings.TrimSpace(line))
		}
	}
	return list
}
