//go:build linux

package campaign_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"slackline/cli/clitest"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// campaignJob prepares a job that carries out plan.yaml in a directory.
func campaignJob(t *testing.T, l *mpi.Library, size int, dir string, flags ...string) *clitest.Job {
	t.Helper()
	j := clitest.NewJob(t, l, size, append([]string{"campaign", "run", "plan.yaml"}, flags...)...)
	j.Dir = dir
	if err := j.Start(); err != nil {
		t.Fatal(err)
	}
	return j
}

// collected are the measurements of the runs in a directory.
func collected(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "all.csv")
	if code, _, stderr := clitest.Run("", "campaign", "collect", filepath.Join(dir, "plan.yaml"), "--out", path); code != 0 {
		t.Fatalf("collect: exit code %d: %s", code, stderr)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// alone are the measurements of a plan that one process carries out.
func alone(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := campaignFiles(t, files)
	c := clitest.Program("campaign", "run", "plan.yaml")
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return collected(t, dir)
}

// TestCampaignInJob: the processes of a job come to the same measurements as one process, and share the runs as it is
// right for them.
func TestCampaignInJob(t *testing.T) {
	slow := map[string]string{"slow.sh": slowProgram, "plan.yaml": killPlan}
	sim := map[string]string{"plan.yaml": `parameters: {p: 2^2..2^6}
repetitions: 2
command: slackline simulate dissemination --ranks {p} --machine cnl --noise 1000Hz:100us --format json --seed {repetition}
metrics: [output]
cores: 1
seed: 1
`}
	for _, tc := range []struct {
		name  string
		files map[string]string
		size  int
		flags string
		said  string
	}{
		{"measured", slow, 3, "", "3 processes on one host share the runs, one run at a time: one on each host"},
		{"asked for", slow, 2, "--jobs 5", "2 processes on one host share the runs, 5 runs at a time"},
		{"computed", sim, 4, "", "4 processes on one host share the runs, 4 runs at a time"},
		{"one process", slow, 1, "", "20 runs in the order of seed 3"},
	} {
		inPath(t)
		want := alone(t, tc.files)
		for _, l := range mpitest.Libraries(t) {
			t.Run(fmt.Sprintf("%s/%s", tc.name, l.Kind), func(t *testing.T) {
				dir := campaignFiles(t, tc.files)
				j := campaignJob(t, l, tc.size, dir, strings.Fields(tc.flags)...)
				code := j.End(t)
				j.NoneLeft(t)
				if code != 0 || !strings.Contains(j.Errors.String(), tc.said) {
					t.Fatalf("exit code %d, stderr:\n%s\nwant: %s", code, j.Errors.String(), tc.said)
				}
				if got := collected(t, dir); got != want {
					t.Errorf("measurements:\n%s\nwant:\n%s", got, want)
				}
			})
		}
	}
}

// inPath lets runs find slackline.
func inPath(t *testing.T) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, "slackline")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	mpitest.AllowRoot(t)
}

// TestCampaignOfJobsInJob: a run of a campaign in a job may itself be a job, of any MPI, whose processes work together.
func TestCampaignOfJobsInJob(t *testing.T) {
	inPath(t)
	for _, outer := range mpitest.Libraries(t) {
		for _, inner := range mpitest.Libraries(t) {
			t.Run(fmt.Sprintf("%s in %s", inner.Kind, outer.Kind), func(t *testing.T) {
				launch := inner.Launcher
				if inner.Kind == mpi.OpenMPI {
					launch += " --oversubscribe"
				}
				dir := campaignFiles(t, map[string]string{"plan.yaml": `parameters: {p: [2, 3, 4]}
launch: ` + launch + ` -n {p} {command}
command: slackline simulate ring --ranks 64 --machine chic --format json
metrics: [{regex: '"processes": *(?P<processes>[0-9]+)'}]
jobs: 2
`})
				j := campaignJob(t, outer, 2, dir)
				if code := j.End(t); code != 0 {
					t.Fatalf("exit code %d, stderr:\n%s", code, j.Errors.String())
				}
				const want = "callpath,metric,p,repetition,value\nslackline,processes,2,0,2\nslackline,processes,3,0,3\nslackline,processes,4,0,4\n"
				if got := collected(t, dir); got != want {
					t.Errorf("processes of the inner jobs:\n%s\nwant:\n%s", got, want)
				}
			})
		}
	}
}

// stuckProgram is a run that goes on, for p above 3, only when a file is there.
const stuckProgram = `#!/bin/sh
if test $1 -gt 3; then
  touch waits.$1
  until test -e fast; do sleep 0.05; done
fi
echo "time: $(( $1 * 2 ))"
`

// TestKilledCampaignJobsGoOn kills a process of a job, or interrupts it: the job ends, finished runs are not done
// again, and the next start does the rest.
func TestKilledCampaignJobsGoOn(t *testing.T) {
	const plan = `parameters: {p: 1..8}
command: ./stuck.sh {p}
metrics: [{regex: 'time: (?P<time>[0-9]+)'}]
seed: 4
jobs: 3
`
	files := map[string]string{"stuck.sh": stuckProgram, "plan.yaml": plan}
	fast := map[string]string{"stuck.sh": stuckProgram, "plan.yaml": plan, "fast": ""}
	want := alone(t, fast)
	for _, l := range mpitest.Libraries(t) {
		for _, tc := range []struct {
			name   string
			victim clitest.Process // rank -1: the launcher
			signal syscall.Signal
		}{
			{"child", clitest.Process{Rank: 1, Part: "child"}, syscall.SIGKILL},
			{"first child", clitest.Process{Rank: 0, Part: "child"}, syscall.SIGKILL},
			{"bridge", clitest.Process{Rank: 2, Part: "bridge"}, syscall.SIGKILL},
			{"launcher", clitest.Process{Rank: -1}, syscall.SIGINT},
		} {
			t.Run(fmt.Sprintf("%s/%s", l.Kind, tc.name), func(t *testing.T) {
				dir := campaignFiles(t, files)
				j := campaignJob(t, l, 3, dir)
				pid := j.Process.Pid
				if tc.victim.Rank >= 0 {
					pid = j.Find(t, tc.victim)
				}
				for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
					if stuck, _ := filepath.Glob(filepath.Join(dir, "waits.*")); len(stuck) == 3 {
						break
					}
					if time.Since(begin) > clitest.JobTimeout {
						t.Fatalf("the runs have not begun; stderr:\n%s", j.Errors.String())
					}
				}
				if err := syscall.Kill(pid, tc.signal); err != nil {
					t.Fatal(err)
				}
				if code := j.End(t); code == 0 {
					t.Errorf("exit code 0; stderr:\n%s", j.Errors.String())
				}
				j.NoneLeft(t)
				finished, _ := runsEnded(t, dir)
				if err := os.WriteFile(filepath.Join(dir, "fast"), nil, 0o644); err != nil {
					t.Fatal(err)
				}
				again := campaignJob(t, l, 2, dir)
				if code := again.End(t); code != 0 || !strings.Contains(again.Out.String(), "8 of 8 runs finished") {
					t.Fatalf("when it went on: exit code %d, %s%s", code, again.Out.String(), again.Errors.String())
				}
				ended, begun := runsEnded(t, dir)
				for run, n := range ended {
					if n != 1 || finished[run] == 1 && begun[run] != 1 {
						t.Errorf("run %s ended well %d times and was begun %d times; it ended %d times before", run, n, begun[run], finished[run])
					}
				}
				if got := collected(t, dir); got != want {
					t.Errorf("measurements:\n%s\nwant:\n%s", got, want)
				}
			})
		}
	}
}

// runsEnded counts by the journal how often each run ended well, and how often it was begun.
func runsEnded(t *testing.T, dir string) (ended, begun map[string]int) {
	t.Helper()
	ended, begun = map[string]int{}, map[string]int{}
	for _, line := range clitest.Lines(t, filepath.Join(dir, "plan.runs", "journal.jsonl")) {
		var l struct{ Event, Run, Status string }
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		if l.Event == "begin" {
			begun[l.Run]++
		}
		if l.Event == "end" && l.Status == "ok" {
			ended[l.Run]++
		}
	}
	return ended, begun
}
