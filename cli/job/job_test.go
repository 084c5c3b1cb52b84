//go:build linux

package job_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"slackline/cli/clitest"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// waitForFile waits until a job has kept some replicas.
func waitForFile(t testing.TB, path string) {
	t.Helper()
	const some = 100 // commas; the head of the file has fewer
	for begin := time.Now(); time.Since(begin) < clitest.JobTimeout; time.Sleep(20 * time.Millisecond) {
		if data, err := os.ReadFile(path); err == nil && bytes.Count(data, []byte(",")) > some {
			return
		}
	}
	t.Fatalf("%s is not written", path)
}

// replicasIn counts the replicas that a file keeps.
func replicasIn(t testing.TB, path string) int {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(data, []byte(","))
}

// work waits until a process has worked for a while, however little of a CPU it gets.
func work(t testing.TB, pid int) {
	t.Helper()
	ticks := func() int64 {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			t.Fatal(err)
		}
		var n int64
		fmt.Sscan(strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))[11], &n) // in user mode, in 1/100 s
		return n
	}
	for enough := ticks() + 20; ticks() < enough; {
		time.Sleep(10 * time.Millisecond)
	}
}

// TestJobsGiveTheSameResult compares jobs of several numbers of processes with a process that is alone.
func TestJobsGiveTheSameResult(t *testing.T) {
	series := strings.Fields("simulate dissemination --ranks 4..6,33 --machine cnl --noise 1000Hz:100us --replicas 40 --samples --format csv")
	for _, tc := range []struct {
		sizes []int
		args  []string
	}{
		{[]int{1, 3, 8}, series},
		{[]int{2}, append(series, "--threads", "3")},
		{[]int{3}, strings.Fields("simulate ring --ranks 2^1..2^6 --machine chic --format csv")},
		{[]int{3}, strings.Fields("simulate dissemination --machine cnl --noise 1000Hz:100us --replicas 9 --bottleneck=2 --ranks 2..128 " +
			"--job-size 128 --format csv")},
		{[]int{2}, strings.Fields("simulate ring --ranks 8 --machine chic --format csv")},
		{[]int{2, 4}, strings.Fields("tolerance dissemination --ranks 16 --machine cnl --noise 1000Hz:100us --replicas 12 --format csv")},
		{[]int{3}, strings.Fields("tolerance dissemination --ranks 16 --machine cnl --map-G 0.1ns:1ns:4 --range 0:20us")},
		{[]int{2}, strings.Fields("tolerance dissemination --ranks 16 --machine cnl")},
		{[]int{1, 3, 8}, strings.Fields("simulate ../../testdata/tolerance/16-halo-jitter.goal --machine cnl --noise 1000Hz:100us " +
			"--replicas 40 --samples --format csv")},
		{[]int{4}, strings.Fields("simulate ../../testdata/tolerance/13-wildcards.goal --machine cnl --noise 1000Hz:100us --replicas 20 " +
			"--samples --format csv")},
		{[]int{1, 3, 8}, strings.Fields("tolerance ../../testdata/waits/cases/05-allreduce-8/traces.otf2 --machine cnl --mappings " +
			"default,openmpi,mpich --format csv")},
		{[]int{3}, strings.Fields("tolerance ../../testdata/tolerance/16-halo-jitter.goal --machine cnl --pairs 6")},
	} {
		code, want, stderr := clitest.Run("", tc.args...)
		if code != 0 {
			t.Fatalf("%v: exit code %d: %s", tc.args, code, stderr)
		}
		for _, l := range mpitest.Libraries(t) {
			for _, size := range tc.sizes {
				t.Run(fmt.Sprintf("%s/%s/%d", strings.Join(tc.args[:2], " "), l.Kind, size), func(t *testing.T) {
					t.Parallel()
					j := clitest.NewJob(t, l, size, tc.args...)
					if err := j.Start(); err != nil {
						t.Fatal(err)
					}
					if code := j.End(t); code != 0 || j.Out.String() != want {
						t.Errorf("exit code %d, stdout:\n%s\nwant:\n%s\nstderr:\n%s", code, j.Out.String(), want, j.Errors.String())
					}
				})
			}
		}
	}
}

// TestJobReadsStandardInput: process 0 reads it, for all, also among other inputs.
func TestJobReadsStandardInput(t *testing.T) {
	code, schedule, stderr := clitest.Run("", "generate", "dissemination", "--ranks", "16", "--to", "goal")
	if code != 0 {
		t.Fatal(stderr)
	}
	data, err := os.ReadFile(clitest.ResampledData)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ stdin, args string }{
		{schedule, "simulate - --machine cnl --noise 1000Hz:100us --replicas 20 --samples --format csv"},
		{schedule, "tolerance - --machine cnl --map-G 0.1ns:1ns:4 --range 0:20us --format csv"},
		{schedule, "tolerance ../../testdata/tolerance/16-halo-jitter.goal - ../../testdata/tolerance/20-allreduce-rd-16.goal --machine cnl " +
			"--format csv"},
		{schedule, "tolerance - --machine cnl --format csv"},
		{string(data), "scaling - --bootstrap 100 --seed 3 --format csv"},
	} {
		args := strings.Fields(tc.args)
		_, want, _ := clitest.Run(tc.stdin, args...)
		for _, l := range mpitest.Libraries(t) {
			j := clitest.NewJob(t, l, 3, args...)
			j.Stdin = strings.NewReader(tc.stdin)
			if err := j.Start(); err != nil {
				t.Fatal(err)
			}
			if code := j.End(t); code != 0 || j.Out.String() != want || want == "" {
				t.Errorf("%s, %s: exit code %d, stdout:\n%s\nwant:\n%s\nstderr:\n%s", l, tc.args, code, j.Out.String(), want, j.Errors.String())
			}
		}
	}
}

// TestJobTellsOfAMistakeOnce: all processes find the same damaged file or wrong flag.
func TestJobTellsOfAMistakeOnce(t *testing.T) {
	damaged := filepath.Join(t.TempDir(), "damaged.goal")
	if err := os.WriteFile(damaged, []byte("num_ranks 2\nrank 0 {\nl1: snd 8b to 1\n}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		code int
		want string
		args string
	}{
		{1, "damaged.goal:", "simulate " + damaged + " --machine cnl --noise 1000Hz:100us --replicas 20"},
		{2, "--replicas: 0 is not in 1 to", "simulate ring --ranks 8 --machine cnl --replicas 0"},
		{2, "unknown verb", "simulat ring"},
	} {
		for _, l := range mpitest.Libraries(t) {
			j := clitest.NewJob(t, l, 3, strings.Fields(tc.args)...)
			if err := j.Start(); err != nil {
				t.Fatal(err)
			}
			code := j.End(t)
			said := 0
			for _, line := range j.Ours() {
				if strings.Contains(line, tc.want) {
					said++
				}
			}
			if code != tc.code || said != 1 {
				t.Errorf("%s, %s: exit code %d, want %d; said %d times; stderr:\n%s", l, tc.args, code, tc.code, said, j.Errors.String())
			}
		}
	}
}

// TestKilledJobsGoOn kills one of the processes of a job: the whole job ends, says why, and goes on from what is
// finished to the same result.
func TestKilledJobsGoOn(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	const replicas = 3000
	args := func(kept string) []string {
		return append(strings.Fields("simulate dissemination --ranks 256 --machine cnl --noise 1000Hz:100us --samples --format csv --threads 1"),
			"--replicas", strconv.Itoa(replicas), "--resume", kept)
	}
	_, want, _ := clitest.Run("", args(filepath.Join(t.TempDir(), "all"))...)
	for _, l := range mpitest.Libraries(t) {
		for _, tc := range []struct {
			name   string
			victim clitest.Process
			signal syscall.Signal
			said   string
			keeps  bool // what is finished is kept when the job ends
		}{
			{"child", clitest.Process{Rank: 1, Part: "child"}, syscall.SIGKILL,
				"process 1 on " + host + " was killed by signal 9 (Killed), with ", true},
			{"first child", clitest.Process{Rank: 0, Part: "child"}, syscall.SIGKILL,
				"process 0 on " + host + " was killed by signal 9 (Killed), with ", false},
			{"bridge", clitest.Process{Rank: 1, Part: "bridge"}, syscall.SIGKILL,
				"process 1 on " + host + " was killed by signal 9 (Killed); unless a user did that", true},
			{"interrupted child", clitest.Process{Rank: 2, Part: "child"}, syscall.SIGINT, "process 2 on " + host + " was interrupted", true},
		} {
			t.Run(fmt.Sprintf("%s/%s", l.Kind, tc.name), func(t *testing.T) {
				t.Parallel()
				kept := filepath.Join(t.TempDir(), "kept.jsonl")
				// Far more replicas than can be done, so that the job does not end by itself.
				many := append(args(kept), "--replicas", "10000000")
				j := clitest.NewJob(t, l, 3, many...)
				if err := j.Start(); err != nil {
					t.Fatal(err)
				}
				pid := j.Find(t, tc.victim)
				waitForFile(t, kept)
				before := replicasIn(t, kept)
				work(t, j.Find(t, clitest.Process{Rank: 0, Part: "child"})) // the next ones; they are kept only when the job ends
				if err := syscall.Kill(pid, tc.signal); err != nil {
					t.Fatal(err)
				}
				code := j.End(t)
				j.NoneLeft(t)
				said := 0
				for _, line := range j.Ours() {
					if strings.Contains(line, tc.said) {
						said++
					}
				}
				if code == 0 || said != 1 {
					t.Errorf("exit code %d, said %d times; stderr:\n%s", code, said, j.Errors.String())
				}
				if after := replicasIn(t, kept); tc.keeps && after <= before {
					t.Errorf("%d replicas were kept before, %d when it ended", before, after)
				}
				again := clitest.NewJob(t, l, 2, args(kept)...)
				if err := again.Start(); err != nil {
					t.Fatal(err)
				}
				if code := again.End(t); code != 0 || again.Out.String() != want {
					t.Errorf("when it went on: exit code %d, another result; stderr:\n%s", code, again.Errors.String())
				}
				if !strings.Contains(again.Errors.String(), "kept.jsonl holds ") {
					t.Errorf("nothing was kept:\n%s", again.Errors.String())
				}
			})
		}
	}
}

// TestJobOfOneProcessNeedsNoMPI: it works without a bridge, which could not be made here, unless it is made to join.
func TestJobOfOneProcessNeedsNoMPI(t *testing.T) {
	args := strings.Fields("simulate dissemination --ranks 64 --machine cnl --noise 1000Hz:100us --replicas 20 --samples --format csv")
	_, want, _ := clitest.Run("", args...)
	for _, l := range mpitest.Libraries(t) {
		for _, tc := range []struct {
			env  string
			code int
			want string
		}{
			{"SLACKLINE_MPI=mpicc.none", 0, want},
			{mpi.JobVariable + "=on", 0, want},
			{mpi.JobVariable + "=on SLACKLINE_MPI=mpicc.none", 1, ""},
		} {
			j := clitest.NewJob(t, l, 1, args...)
			j.Env = append(j.Env, strings.Fields(tc.env)...)
			if err := j.Start(); err != nil {
				t.Fatal(err)
			}
			if code := j.End(t); code != tc.code || j.Out.String() != tc.want {
				t.Errorf("%s, %s: exit code %d, stdout:\n%s\nstderr:\n%s", l, tc.env, code, j.Out.String(), j.Errors.String())
			}
		}
	}
}

// TestJobCanBeLeft: with SLACKLINE_MPI_JOB=off every process works by itself.
func TestJobCanBeLeft(t *testing.T) {
	for _, l := range mpitest.Libraries(t) {
		j := clitest.NewJob(t, l, 2, "simulate", "ring", "--ranks", "8", "--machine", "chic", "--format", "csv")
		j.Env = append(j.Env, mpi.JobVariable+"=off")
		if err := j.Start(); err != nil {
			t.Fatal(err)
		}
		if code := j.End(t); code != 0 || strings.Count(j.Out.String(), "rank,finish_ns") != 2 {
			t.Errorf("%s: exit code %d, stdout:\n%s\nstderr:\n%s", l, code, j.Out.String(), j.Errors.String())
		}
	}
}
