//go:build linux

package job_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"slackline/cli/clitest"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// endless starts a job that does not end by itself, and waits until it has kept something.
func endless(t *testing.T, l *mpi.Library, prepare func(j *clitest.Job)) (j *clitest.Job, kept string) {
	t.Helper()
	kept = filepath.Join(t.TempDir(), "kept.jsonl")
	args := strings.Fields("simulate dissemination --ranks 256 --machine cnl --noise 1000Hz:100us --replicas 10000000 --threads 1 --resume")
	j = clitest.NewJob(t, l, 3, append(args, kept)...)
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

// TestJobsTellWhoDied ends one of the processes of a job in more ways than TestKilledJobsGoOn: the job ends, one message
// says which process it was, where and why, what is finished is kept, and nothing is left over.
func TestJobsTellWhoDied(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range mpitest.Libraries(t) {
		for _, tc := range []struct {
			victim clitest.Process
			signal syscall.Signal
			said   string
		}{
			{clitest.Process{Rank: 2, Part: "child"}, syscall.SIGSEGV, "process 2 on HOST ended with exit code 2: SIGSEGV: segmentation violation"},
			{clitest.Process{Rank: 0, Part: "child"}, syscall.SIGABRT, "process 0 on HOST ended with exit code 2: SIGABRT: abort"},
			{clitest.Process{Rank: 1, Part: "child"}, syscall.SIGTERM, "process 1 on HOST was interrupted"},
			{clitest.Process{Rank: 0, Part: "child"}, syscall.SIGINT, "interrupted"},
			{clitest.Process{Rank: 0, Part: "bridge"}, syscall.SIGKILL, "process 0 on HOST was killed by signal 9 (Killed); unless a user did that"},
			{clitest.Process{Rank: 0, Part: "guard"}, syscall.SIGKILL, "process 0 on HOST was killed by signal 9 (Killed); unless a user did that"},
			{clitest.Process{Rank: 2, Part: "guard"}, syscall.SIGKILL, "process 2 on HOST was killed by signal 9 (Killed); unless a user did that"},
		} {
			t.Run(fmt.Sprintf("%s/%s %d/%d", l.Kind, tc.victim.Part, tc.victim.Rank, tc.signal), func(t *testing.T) {
				t.Parallel()
				j, kept := endless(t, l, nil)
				pid := j.Find(t, tc.victim)
				before := replicasIn(t, kept)
				shared := j.SharedMemory()
				if err := syscall.Kill(pid, tc.signal); err != nil {
					t.Fatal(err)
				}
				if code := j.End(t); code == 0 {
					t.Errorf("exit code 0; stderr:\n%s", j.Errors.String())
				}
				j.NothingLeft(t, shared)
				j.SaidOnce(t, strings.ReplaceAll(tc.said, "HOST", host))
				if after := replicasIn(t, kept); after < before {
					t.Errorf("%d replicas were kept before, %d when it ended", before, after)
				}
			})
		}
	}
}

// terminal makes a pseudo terminal that controls a job, and returns what a user has of it.
func terminal(t *testing.T, j *clitest.Job) *os.File {
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
	send := func(signals ...syscall.Signal) func(t *testing.T, j *clitest.Job, _ io.Writer) {
		return func(t *testing.T, j *clitest.Job, _ io.Writer) {
			for _, s := range signals {
				if err := j.Process.Signal(s); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	stopped := func(victim clitest.Process) func(t *testing.T, j *clitest.Job, _ io.Writer) {
		return func(t *testing.T, j *clitest.Job, w io.Writer) {
			if err := syscall.Kill(j.Find(t, victim), syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			send(syscall.SIGINT)(t, j, w)
		}
	}
	for _, tc := range []struct {
		name      string
		interrupt func(t *testing.T, j *clitest.Job, keyboard io.Writer)
		mpich     int // exit code; 0: any but 0
	}{
		{"launcher", send(syscall.SIGINT), 130},
		{"time limit", send(syscall.SIGTERM), 130},
		{"keyboard", func(t *testing.T, _ *clitest.Job, keyboard io.Writer) {
			if _, err := keyboard.Write([]byte{3}); err != nil {
				t.Fatal(err)
			}
		}, 130},
		{"guard of process 0", func(t *testing.T, j *clitest.Job, _ io.Writer) {
			if err := syscall.Kill(j.Find(t, clitest.Process{Rank: 0, Part: "guard"}), syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
		}, 0},
		{"stopped child", stopped(clitest.Process{Rank: 1, Part: "child"}), 130},
		{"stopped bridge", stopped(clitest.Process{Rank: 1, Part: "bridge"}), 0},
	} {
		for _, l := range mpitest.Libraries(t) {
			t.Run(fmt.Sprintf("%s/%s", tc.name, l.Kind), func(t *testing.T) {
				t.Parallel()
				var keyboard *os.File
				j, kept := endless(t, l, func(j *clitest.Job) { keyboard = terminal(t, j) })
				before := replicasIn(t, kept)
				shared := j.SharedMemory()
				tc.interrupt(t, j, keyboard)
				code := j.End(t)
				j.NothingLeft(t, shared)
				if code == 0 || l.Kind == mpi.MPICH && tc.mpich != 0 && code != tc.mpich {
					t.Errorf("exit code %d; stderr:\n%s", code, j.Errors.String())
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
			t.Run(fmt.Sprintf("%s/%v", l.Kind, signals), func(t *testing.T) {
				t.Parallel()
				j, kept := endless(t, l, nil)
				for _, s := range signals {
					if err := j.Process.Signal(s); err != nil {
						t.Fatal(err)
					}
					time.Sleep(100 * time.Millisecond)
				}
				if code := j.End(t); code == 0 {
					t.Error("exit code 0")
				}
				j.NoneLeft(t)
				if replicasIn(t, kept) == 0 {
					t.Error("nothing is kept")
				}
			})
		}
	}
}

// TestJobFindsADamagedFile: only one process reads the file that is damaged. Its events are read as far as they go,
// and all is as with one process.
func TestJobFindsADamagedFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../testdata/waits/cases/05-allreduce-8")); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, "traces", "7.evt"), 130); err != nil {
		t.Fatal(err)
	}
	args := []string{"waits", filepath.Join(dir, "traces.otf2"), "--format", "csv"}
	_, want, alone := clitest.Run("", args...)
	for _, l := range mpitest.Libraries(t) {
		j := clitest.NewJob(t, l, 3, args...)
		if err := j.Start(); err != nil {
			t.Fatal(err)
		}
		if code := j.End(t); code != 0 || j.Out.String() != want {
			t.Errorf("%s: exit code %d; stdout:\n%s\nwant:\n%s", l, code, j.Out.String(), want)
		}
		warnings := 0
		for line := range strings.Lines(alone) {
			if strings.HasPrefix(line, "slackline: warning: ") {
				j.SaidOnce(t, strings.TrimSpace(line))
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
	cases, err := filepath.Abs("../../testdata/waits/cases/05-allreduce-8")
	if err != nil {
		t.Fatal(err)
	}
	host, _ := os.Hostname()
	for _, l := range mpitest.Libraries(t) {
		j := newSplitJob(t, l, []string{cases, cases, t.TempDir()}, "waits", "traces.otf2")
		if err := j.Start(); err != nil {
			t.Fatal(err)
		}
		if code := j.End(t); code != 1 {
			t.Errorf("%s: exit code %d, want 1; stderr:\n%s", l, code, j.Errors.String())
		}
		j.NoneLeft(t)
		j.SaidOnce(t, "process 2 on "+host+": traces.otf2: no such file")
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
			{"foreign compiler", []string{"PATH=" + foreign}, false, 1, fmt.Sprintf("it belongs to %s, but the MPI compilers found are those of %s",
				l.Kind, other)},
			{"foreign library", []string{"SLACKLINE_MPI=" + other.Compiler}, false, 1, "that MPI does not belong to the launcher"},
			{"broken compiler", []string{"PATH=" + toolsWithout(t, map[string]string{"mpicc": broken})}, false, 1, "cannot compile the bridge"},
			{"no such library", []string{"SLACKLINE_MPI=nompi"}, false, 1, `there is no such MPI as "nompi"`},
			{"cache cannot be written", []string{"XDG_CACHE_HOME=/proc/nothing", "TMPDIR=" + t.TempDir()}, false, 0, "3 processes: "},
		} {
			t.Run(fmt.Sprintf("%s/%s", l.Kind, tc.name), func(t *testing.T) {
				t.Parallel()
				j := clitest.NewJob(t, l, 3, args...)
				program := append([]string{j.Mark}, args...)
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
				if code := j.End(t); code != tc.code {
					t.Errorf("exit code %d, want %d; stderr:\n%s", code, tc.code, j.Errors.String())
				}
				j.NoneLeft(t)
				j.SaidOnce(t, tc.said)
				if tc.name == "broken compiler" && strings.Count(j.Errors.String(), "the compiler is tired") != 1 {
					t.Errorf("what the compiler printed must be shown once; stderr:\n%s", j.Errors.String())
				}
			})
		}
	}
}

// TestJobsOfSrun lets a script stand in for srun: it starts the processes with the launcher of a library, and gives
// them the environment of srun.
func TestJobsOfSrun(t *testing.T) {
	args := strings.Fields("simulate dissemination --ranks 4..6 --machine cnl --noise 1000Hz:100us --replicas 20 --format csv")
	_, want, _ := clitest.Run("", args...)
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
				t.Parallel()
				j := clitest.NewJob(t, l, 3, args...)
				at := len(j.Args) - len(args) - 1
				j.Args = append(append(j.Args[:at:at], script, j.Mark), args...)
				j.Env = append(j.Env, "SRUN_MPI="+plugin)
				if kind == "pmix" { // srun does not tell the library
					j.Env = append(j.Env, "SLACKLINE_MPI="+l.Compiler)
				}
				if err := j.Start(); err != nil {
					t.Fatal(err)
				}
				code := j.End(t)
				if plugin == "none" {
					if code == 0 {
						t.Error("exit code 0")
					}
					j.SaidOnce(t, "srun has started 3 processes without MPI, so that they cannot work together; give srun --mpi=pmix or --mpi=pmi2")
				} else if code != 0 || j.Out.String() != want {
					t.Errorf("exit code %d, stdout:\n%s\nwant:\n%s\nstderr:\n%s", code, j.Out.String(), want, j.Errors.String())
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
		code, want, stderr := clitest.Run("", tc.args...)
		if code != tc.code {
			t.Fatalf("%v alone: exit code %d, want %d: %s", tc.args, code, tc.code, stderr)
		}
		for _, l := range mpitest.Libraries(t) {
			t.Run(fmt.Sprintf("%s %d/%s", tc.args[0], tc.code, l.Kind), func(t *testing.T) {
				t.Parallel()
				j := clitest.NewJob(t, l, 3, tc.args...)
				if err := j.Start(); err != nil {
					t.Fatal(err)
				}
				if code := j.End(t); code != tc.code || j.Out.String() != want {
					t.Errorf("exit code %d, want %d; stdout:\n%s\nwant:\n%s\nstderr:\n%s", code, tc.code, j.Out.String(), want, j.Errors.String())
				}
				if tc.warning != "" {
					j.SaidOnce(t, tc.warning)
				}
			})
		}
	}
}
