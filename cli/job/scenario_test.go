//go:build linux

package job_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"slackline/cli/clitest"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// process is how one process of a job is started.
type process struct {
	env     string // words NAME=VALUE, or options of env
	program string // empty: this one
	args    string
}

// newMixedJob prepares a job whose processes were started in different ways.
func newMixedJob(t testing.TB, l *mpi.Library, parts ...process) *clitest.Job {
	t.Helper()
	j := clitest.NewJob(t, l, 1)
	program := j.Args[len(j.Args)-1]
	words := slices.Clone(j.Args[:len(j.Args)-1])
	for i, p := range parts {
		if i > 0 {
			words = append(words, ":", "-n", "1")
		}
		words = append(append(words, "env"), strings.Fields(p.env)...)
		if p.program == "" {
			p.program = program
		}
		words = append(append(words, p.program), strings.Fields(p.args)...)
	}
	mixed := exec.Command(words[0], words[1:]...)
	mixed.Env, mixed.Stdout, mixed.Stderr, mixed.WaitDelay = j.Env, j.Stdout, j.Stderr, j.WaitDelay
	j.Cmd = mixed
	return j
}

const (
	noisyRun = "simulate dissemination --ranks 48 --machine cnl --noise 1000Hz:100us --format csv"
	callRun  = "simulate allreduce --ranks 24 --size 32KiB --machine cnl --format csv"
)

// TestScenarioOfProcess0 starts the processes of a job with different environments: all do what process 0 does.
func TestScenarioOfProcess0(t *testing.T) {
	dir := t.TempDir()
	settings := filepath.Join(dir, "config")
	if err := os.MkdirAll(filepath.Join(settings, "slackline"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(settings, "slackline", "config.yaml"), []byte("seed: 11\nmapping: mpich\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	// Two directories with different files of the same names.
	here, there := filepath.Join(dir, "here"), filepath.Join(dir, "there")
	for place, ranks := range map[string]string{here: "24", there: "12"} {
		if err := os.Mkdir(place, 0o777); err != nil {
			t.Fatal(err)
		}
		if code, _, stderr := clitest.Run("", "generate", "ring", "--ranks", ranks, "--out", filepath.Join(place, "run.slk")); code != 0 {
			t.Fatal(stderr)
		}
	}
	for _, tc := range []struct {
		name  string
		envs  [2]string // of the processes
		args  string
		asked string // what process 0 does, without a job
	}{
		{"seed", [2]string{"SLACKLINE_SEED=5", ""}, noisyRun, noisyRun + " --seed 5"},
		{"model", [2]string{"SLACKLINE_MODEL=loggps", ""}, callRun, callRun + " --model loggps"},
		{"mapping", [2]string{"SLACKLINE_MAPPING=mpich", ""}, callRun, callRun + " --mapping mpich"},
		{"flags before variables", [2]string{"", "SLACKLINE_SEED=7"}, noisyRun + " --seed 2", noisyRun + " --seed 2"},
		{"threads of each", [2]string{"SLACKLINE_THREADS=1", "SLACKLINE_THREADS=2"}, noisyRun, noisyRun},
		{"settings of process 0", [2]string{"XDG_CONFIG_HOME=" + settings, ""}, noisyRun, noisyRun + " --seed 11"},
		{"settings of the other", [2]string{"", "XDG_CONFIG_HOME=" + settings}, callRun, callRun},
		{"replicas", [2]string{"SLACKLINE_SEED=5", ""}, noisyRun + " --replicas 8 --samples", noisyRun + " --replicas 8 --samples --seed 5"},
		{"directory", [2]string{"-C " + here, "-C " + there}, "simulate run.slk --machine chic --format csv",
			"simulate " + here + "/run.slk --machine chic --format csv"},
	} {
		code, want, stderr := clitest.Run("", strings.Fields(tc.asked)...)
		if code != 0 {
			t.Fatalf("%s: exit code %d: %s", tc.name, code, stderr)
		}
		for _, l := range mpitest.Libraries(t) {
			t.Run(fmt.Sprintf("%s/%s", tc.name, l.Kind), func(t *testing.T) {
				t.Parallel()
				j := newMixedJob(t, l, process{env: tc.envs[0], args: tc.args}, process{env: tc.envs[1], args: tc.args})
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

// TestProcessesThatDiffer wants one message that names process, host and both values, and no result.
func TestProcessesThatDiffer(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other")
	if out, err := exec.Command("go", "build", "-ldflags", "-X slackline/internal/provenance.version=9.8.7", "-o", other,
		"slackline/cmd/slackline").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, tc := range []struct {
		name          string
		first, second process
		code          int
		said          []string
	}{
		{"program", process{args: noisyRun}, process{args: noisyRun, program: other}, 1,
			[]string{"process 1 on " + host + " runs slackline 9.8.7, build ", "but process 0 on " + host + " runs slackline "}},
		{"arguments", process{args: noisyRun + " --seed 1"}, process{args: noisyRun + " --seed 2"}, 1,
			[]string{"process 1 on " + host + `: argument 12 is "2" here, but "1" at process 0`}},
		{"arguments that are wrong", process{args: noisyRun}, process{args: noisyRun + " --bogus"}, 1,
			[]string{"process 1 on " + host + `: argument 11 is "--bogus" here, but missing at process 0`}},
		{"verbs", process{args: "machine list"}, process{args: noisyRun}, 1,
			[]string{"process 1 on " + host + `: argument 1 is "simulate" here, but "machine" at process 0`}},
		{"unknown verb", process{args: noisyRun}, process{args: "simulatt"}, 2,
			[]string{"process 1 on " + host + `: unknown verb simulatt`}},
		{"seed", process{env: "SLACKLINE_SEED=3", args: noisyRun}, process{env: "SLACKLINE_SEED=4", args: noisyRun}, 1,
			[]string{"process 1 on " + host + `: SLACKLINE_SEED is "4" here, but "3" at process 0`}},
		{"model of one", process{args: callRun}, process{env: "SLACKLINE_MODEL=loggps", args: callRun}, 1,
			[]string{"process 1 on " + host + `: SLACKLINE_MODEL is "loggps" here, but not set at process 0`}},
	} {
		for _, l := range mpitest.Libraries(t) {
			t.Run(fmt.Sprintf("%s/%s", tc.name, l.Kind), func(t *testing.T) {
				t.Parallel()
				j := newMixedJob(t, l, tc.first, tc.second)
				if err := j.Start(); err != nil {
					t.Fatal(err)
				}
				code := j.End(t)
				j.NoneLeft(t)
				if ours := j.Ours(); code != tc.code || j.Out.Len() > 0 || len(ours) != 1 ||
					slices.ContainsFunc(tc.said, func(s string) bool { return !strings.Contains(ours[0], s) }) {
					t.Errorf("exit code %d, want %d; stdout %q, stderr:\n%s\nwant one line with %q",
						code, tc.code, j.Out.String(), j.Errors.String(), tc.said)
				}
			})
		}
	}
}
