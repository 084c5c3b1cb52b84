//go:build linux

package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// endless starts a job that does not end by itself, and waits until it has kept something.
func endless(t *testing.T, l *mpi.Library, prepare func(j *jobRun)) (j *jobRun, kept string) {
	t.Helper()
	kept = filepath.Join(t.TempDir(), "kept.jsonl")
	args := strings.Fields("simulate dissemination --ranks 256 --machine cnl --noise 1000Hz:100us --replicas 10000000 --threads 1 --resume")
	j = newJob(t, l, 3, append(args, kept)...)
	j.Env = append(j.Env, "TMPDIR="+t.TempDir())
	if prepare != nil {
		prepare(j)
	}
	if err := j.Start(); err != nil {
		t.Fatal(err)
	}
	waitForFile(t, kept)
	return j, kept
}

// sharedMemory lists the files in which the processes of a job share memory.
func (j *jobRun) sharedMemory() []string {
	var list []string
	for pid := range j.processes() {
		maps, _ := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
		list = append(list, regexp.MustCompile(`/dev/shm/\S+`).FindAllString(string(maps), -1)...)
	}
	return list
}

// nothingLeft wants neither processes nor files of the job to be left.
func (j *jobRun) nothingLeft(t *testing.T, shared []string) {
	t.Helper()
	j.noneLeft(t)
	for _, file := range shared {
		if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left: %v", file, err)
		}
	}
	for _, v := range j.Env {
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

// saidOnce wants one message of slackline that contains a text.
func (j *jobRun) saidOnce(t *testing.T, text string) {
	t.Helper()
	said := 0
	for _, line := range j.ours() {
		if strings.Contains(line, text) {
			said++
		}
	}
	if said != 1 {
		t.Errorf("%q was said %d times; stderr:\n%s", text, said, j.stderr.String())
	}
}

// TestJobsTellWhoDied ends one of the processes of a job in more ways than TestKilledJobsGoOn: the job ends, one message
// says which process it was, where and why, what is finished is kept, and nothing is left over.
func TestJobsTellWhoDied(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range mpitest.Libraries(t) {
		for _, tc := range []struct {
			victim jobProcess
			signal syscall.Signal
			said   string
		}{
			{jobProcess{2, "child"}, syscall.SIGSEGV, "process 2 on HOST ended with exit code 2: SIGSEGV: segmentation violation"},
			{jobProcess{0, "child"}, syscall.SIGABRT, "process 0 on HOST ended with exit code 2: SIGABRT: abort"},
			{jobProcess{1, "child"}, syscall.SIGTERM, "process 1 on HOST was interrupted"},
			{jobProcess{0, "child"}, syscall.SIGINT, "interrupted"},
			{jobProcess{0, "bridge"}, syscall.SIGKILL, "process 0 on HOST was killed by signal 9 (Killed); if nobody did that"},
			{jobProcess{0, "guard"}, syscall.SIGKILL, "process 0 on HOST was killed by signal 9 (Killed); if nobody did that"},
			{jobProcess{2, "guard"}, syscall.SIGKILL, "process 2 on HOST was killed by signal 9 (Killed); if nobody did that"},
		} {
			t.Run(fmt.Sprintf("%s/%s %d/%d", l.Kind, tc.victim.part, tc.victim.rank, tc.signal), func(t *testing.T) {
				j, kept := endless(t, l, nil)
				pid := j.find(t, tc.victim)
				before := replicasIn(t, kept)
				shared := j.sharedMemory()
				if err := syscall.Kill(pid, tc.signal); err != nil {
					t.Fatal(err)
				}
				if code := j.end(t); code == 0 {
					t.Errorf("exit code 0; stderr:\n%s", j.stderr.String())
				}
				j.nothingLeft(t, shared)
				j.saidOnce(t, strings.ReplaceAll(tc.said, "HOST", host))
				if after := replicasIn(t, kept); after < before {
					t.Errorf("%d replicas were kept before, %d when it ended", before, after)
				}
			})
		}
	}
}

// terminal makes a pseudo terminal that controls a job, and returns what a user has of it.
func terminal(t *testing.T, j *jobRun) *os.File {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { user.Close() })
	if err := unix.IoctlSetPointerInt(int(user.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(user.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close() })
	j.Stdin = program
	j.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	return user
}

// TestJobsAreInterrupted interrupts jobs in all ways: all processes end, what is finished is kept, and nothing is left.
// Open MPI's launcher has its own exit code.
func TestJobsAreInterrupted(t *testing.T) {
	send := func(signals ...syscall.Signal) func(t *testing.T, j *jobRun, _ io.Writer) {
		return func(t *testing.T, j *jobRun, _ io.Writer) {
			for _, s := range signals {
				if err := j.Process.Signal(s); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	stopped := func(victim jobProcess) func(t *testing.T, j *jobRun, _ io.Writer) {
		return func(t *testing.T, j *jobRun, w io.Writer) {
			if err := syscall.Kill(j.find(t, victim), syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			send(syscall.SIGINT)(t, j, w)
		}
	}
	for _, tc := range []struct {
		name      string
		interrupt func(t *testing.T, j *jobRun, keyboard io.Writer)
		mpich     int // exit code; 0: any but 0
	}{
		{"launcher", send(syscall.SIGINT), 130},
		{"time limit", send(syscall.SIGTERM), 130},
		{"keyboard", func(t *testing.T, _ *jobRun, keyboard io.Writer) {
			if _, err := keyboard.Write([]byte{3}); err != nil {
				t.Fatal(err)
			}
		}, 130},
		{"guard of process 0", func(t *testing.T, j *jobRun, _ io.Writer) {
			if err := syscall.Kill(j.find(t, jobProcess{0, "guard"}), syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
		}, 0},
		{"stopped child", stopped(jobProcess{1, "child"}), 130},
		{"stopped bridge", stopped(jobProcess{1, "bridge"}), 0},
	} {
		for _, l := range mpitest.Libraries(t) {
			t.Run(fmt.Sprintf("%s/%s", tc.name, l.Kind), func(t *testing.T) {
				var keyboard *os.File
				j, kept := endless(t, l, func(j *jobRun) { keyboard = terminal(t, j) })
				before := replicasIn(t, kept)
				shared := j.sharedMemory()
				tc.interrupt(t, j, keyboard)
				code := j.end(t)
				j.nothingLeft(t, shared)
				if code == 0 || l.Kind == mpi.MPICH && tc.mpich != 0 && code != tc.mpich {
					t.Errorf("exit code %d; stderr:\n%s", code, j.stderr.String())
				}
				if after := replicasIn(t, kept); after < before {
					t.Errorf("%d replicas were kept before, %d when it ended", before, after)
				}
			})
		}
	}
}

// TestJobsAreInterruptedTwice interrupts the launcher twice and kills it: the processes do not live on without it.
func TestJobsAreInterruptedTwice(t *testing.T) {
	for _, l := range mpitest.Libraries(t) {
		for _, signals := range [][]syscall.Signal{{syscall.SIGINT, syscall.SIGINT}, {syscall.SIGKILL}} {
			j, kept := endless(t, l, nil)
			for _, s := range signals {
				if err := j.Process.Signal(s); err != nil {
					t.Fatal(err)
				}
				time.Sleep(100 * time.Millisecond)
			}
			if code := j.end(t); code == 0 {
				t.Errorf("%s, %v: exit code 0", l, signals)
			}
			j.noneLeft(t)
			if replicasIn(t, kept) == 0 {
				t.Errorf("%s, %v: nothing is kept", l, signals)
			}
		}
	}
}

// TestJobFindsADamagedFile: only one process reads the file that is damaged. Its events are read as far as they go,
// and all is as with one process.
func TestJobFindsADamagedFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../testdata/waits/cases/05-allreduce-8")); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, "traces", "7.evt"), 130); err != nil {
		t.Fatal(err)
	}
	args := []string{"waits", filepath.Join(dir, "traces.otf2"), "--format", "csv"}
	_, want, alone := slackline("", args...)
	for _, l := range mpitest.Libraries(t) {
		j := newJob(t, l, 3, args...)
		if err := j.Start(); err != nil {
			t.Fatal(err)
		}
		if code := j.end(t); code != 0 || j.stdout.String() != want {
			t.Errorf("%s: exit code %d; stdout:\n%s\nwant:\n%s", l, code, j.stdout.String(), want)
		}
		warnings := 0
		for line := range strings.Lines(alone) {
			if strings.HasPrefix(line, "slackline: warning: ") {
				j.saidOnce(t, strings.TrimSpace(line))
				warnings++
			}
		}
		if warnings == 0 || !strings.Contains(alone, "7.evt") {
			t.Errorf("one process says of it:\n%s", alone)
		}
	}
}

// TestJobMissesAFile: one process does not see the input, as on a host without the file system.
func TestJobMissesAFile(t *testing.T) {
	cases, err := filepath.Abs("../testdata/waits/cases/05-allreduce-8")
	if err != nil {
		t.Fatal(err)
	}
	host, _ := os.Hostname()
	for _, l := range mpitest.Libraries(t) {
		j := newSplitJob(t, l, []string{cases, cases, t.TempDir()}, "waits", "traces.otf2")
		if err := j.Start(); err != nil {
			t.Fatal(err)
		}
		if code := j.end(t); code != 1 {
			t.Errorf("%s: exit code %d, want 1; stderr:\n%s", l, code, j.stderr.String())
		}
		j.noneLeft(t)
		j.saidOnce(t, "process 2 on "+host+": traces.otf2: no such file")
	}
}

// toolsWithout makes a directory with all programs of PATH but the compilers of MPI, and with those named.
func toolsWithout(t *testing.T, compilers map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for _, from := range []string{"/bin", "/usr/bin", "/usr/local/bin"} {
		entries, _ := os.ReadDir(from)
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), "mpi") {
				_ = os.Symlink(filepath.Join(from, e.Name()), filepath.Join(dir, e.Name())) // the first of a name
			}
		}
	}
	for name, text := range compilers {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestJobsThatCannotBeJoined: the bridge cannot be compiled, or does not fit. One message says what to do, and the job
// ends, also if only one process has the trouble.
func TestJobsThatCannotBeJoined(t *testing.T) {
	args := strings.Fields("simulate ring --ranks 8 --machine chic --format csv")
	for _, l := range mpitest.Libraries(t) {
		other := mpitest.Other(t, l)
		through := func(path string) string { return "#!/bin/sh\nexec " + path + " \"$@\"\n" }
		broken := "#!/bin/sh\nfor a; do [ \"$a\" = guard.c ] && echo the compiler is tired >&2 && exit 1; done\nexec " + l.Compiler + " \"$@\"\n"
		none, foreign := toolsWithout(t, nil), toolsWithout(t, map[string]string{"mpicc": through(other.Compiler)})
		for _, tc := range []struct {
			name string
			set  []string // in the environment of the processes
			last bool     // only of the last one
			code int
			said string
		}{
			{"no compiler", []string{"PATH=" + none}, false, 1, "no MPI compiler found"},
			{"no compiler on one", []string{"PATH=" + none}, true, 1, "process 2 of 3, on "},
			{"foreign compiler", []string{"PATH=" + foreign}, false, 1, fmt.Sprintf("it belongs to %s, but the MPI compilers found are those of %s", l.Kind, other)},
			{"foreign library", []string{"SLACKLINE_MPI=" + other.Compiler}, false, 1, "that MPI does not belong to the launcher"},
			{"broken compiler", []string{"PATH=" + toolsWithout(t, map[string]string{"mpicc": broken})}, false, 1, "cannot compile the bridge"},
			{"no such library", []string{"SLACKLINE_MPI=nompi"}, false, 1, `there is no such MPI as "nompi"`},
			{"cache cannot be written", []string{"XDG_CACHE_HOME=/proc/nothing", "TMPDIR=" + t.TempDir()}, false, 0, "3 processes: "},
		} {
			t.Run(fmt.Sprintf("%s/%s", l.Kind, tc.name), func(t *testing.T) {
				j := newJob(t, l, 3, args...)
				program := append([]string{j.mark}, args...)
				env := append([]string{"/usr/bin/env", "XDG_CACHE_HOME=" + t.TempDir()}, tc.set...)
				at := len(j.Args) - len(program)
				j.Args = append(j.Args[:at:at], append(env, program...)...)
				if tc.last {
					j.Args = append(j.Args[:at:at], program...)
					j.Args[2] = "2"
					j.Args = append(append(append(j.Args, ":", "-n", "1"), env...), program...)
				}
				if err := j.Start(); err != nil {
					t.Fatal(err)
				}
				if code := j.end(t); code != tc.code {
					t.Errorf("exit code %d, want %d; stderr:\n%s", code, tc.code, j.stderr.String())
				}
				j.noneLeft(t)
				j.saidOnce(t, tc.said)
				if tc.name == "broken compiler" && strings.Count(j.stderr.String(), "the compiler is tired") != 1 {
					t.Errorf("what the compiler said is to be told once; stderr:\n%s", j.stderr.String())
				}
			})
		}
	}
}

// TestJobsOfSrun lets a script stand in for srun: it starts the processes with the launcher of a library, and gives
// them the environment of srun.
func TestJobsOfSrun(t *testing.T) {
	args := strings.Fields("simulate dissemination --ranks 4..6 --machine cnl --noise 1000Hz:100us --replicas 20 --format csv")
	_, want, _ := slackline("", args...)
	const task = `#!/bin/sh
rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
export SLURM_JOB_ID=1 SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=3 SLURM_NTASKS=3 SLURM_PROCID=$rank SLURM_LOCALID=$rank
case $SRUN_MPI in
pmix) unset OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE ;;
none) unset OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE PMIX_RANK PMI_RANK PMI_SIZE ;;
esac
exec "$@"
`
	script := filepath.Join(t.TempDir(), "task")
	if err := os.WriteFile(script, []byte(task), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, l := range mpitest.Libraries(t) {
		kind := map[mpi.Kind]string{mpi.OpenMPI: "pmix", mpi.MPICH: "pmi2"}[l.Kind]
		for _, plugin := range []string{kind, "none"} {
			t.Run(plugin+"/"+string(l.Kind), func(t *testing.T) {
				j := newJob(t, l, 3, args...)
				at := len(j.Args) - len(args) - 1
				j.Args = append(append(j.Args[:at:at], script, j.mark), args...)
				j.Env = append(j.Env, "SRUN_MPI="+plugin)
				if kind == "pmix" { // srun does not tell the library
					j.Env = append(j.Env, "SLACKLINE_MPI="+l.Compiler)
				}
				if err := j.Start(); err != nil {
					t.Fatal(err)
				}
				code := j.end(t)
				if plugin == "none" {
					if code == 0 {
						t.Error("exit code 0")
					}
					j.saidOnce(t, "srun has started 3 processes without MPI, so that they cannot work together; give srun --mpi=pmix or --mpi=pmi2")
				} else if code != 0 || j.stdout.String() != want {
					t.Errorf("exit code %d, stdout:\n%s\nwant:\n%s\nstderr:\n%s", code, j.stdout.String(), want, j.stderr.String())
				}
			})
		}
	}
}

// TestVerbsInJobs runs verbs that do not share their work: one process works, one says so, and the exit code is that of
// one process.
func TestVerbsInJobs(t *testing.T) {
	dir := t.TempDir()
	var data bytes.Buffer
	data.WriteString("p,callpath,metric,value\n")
	for p := 1; p <= 64; p *= 2 {
		fmt.Fprintf(&data, "%d,Bcast,time,%d\n", p, 10*p)
	}
	files := map[string]string{
		"data.csv": data.String(),
		"log.yaml": "expectations:\n  - function: Bcast\n    expect: O(log p)\n",
		"few.csv":  "p,callpath,metric,value\n1,Bcast,time,10\n2,Bcast,time,20\n",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	path := func(name string) string { return filepath.Join(dir, name) }
	for _, tc := range []struct {
		code    int
		warning string
		args    []string
	}{
		{0, "generate cannot be shared", []string{"generate", "ring", "--ranks", "4", "--to", "goal"}},
		{3, "check cannot be shared", []string{"check", path("log.yaml"), path("data.csv")}},
		{4, "check cannot be shared", []string{"check", path("log.yaml"), path("few.csv")}},
		{1, "check cannot be shared", []string{"check", path("log.yaml"), path("none.csv")}},
		{2, "unknown flag --foo", []string{"check", "--foo"}},
		{0, "", []string{"version"}},
		{0, "", []string{"waits", "--help"}},
	} {
		code, want, stderr := slackline("", tc.args...)
		if code != tc.code {
			t.Fatalf("%v alone: exit code %d, want %d: %s", tc.args, code, tc.code, stderr)
		}
		for _, l := range mpitest.Libraries(t) {
			t.Run(fmt.Sprintf("%s %d/%s", tc.args[0], tc.code, l.Kind), func(t *testing.T) {
				j := newJob(t, l, 3, tc.args...)
				if err := j.Start(); err != nil {
					t.Fatal(err)
				}
				if code := j.end(t); code != tc.code || j.stdout.String() != want {
					t.Errorf("exit code %d, want %d; stdout:\n%s\nwant:\n%s\nstderr:\n%s", code, tc.code, j.stdout.String(), want, j.stderr.String())
				}
				if tc.warning != "" {
					j.saidOnce(t, tc.warning)
				}
			})
		}
	}
}
