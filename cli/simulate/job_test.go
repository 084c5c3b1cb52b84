package simulate_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"slackline/cli/clitest"
)

// TestSimulateInJobs wants the same results from MPI jobs of several processes as from one process: patterns, files
// of all kinds, wildcards, large messages, noise, shared NICs, recorded runs.
func TestSimulateInJobs(t *testing.T) {
	dir := t.TempDir()
	slk := filepath.Join(dir, "halo.slk")
	if _, stderr, err := clitest.RunJob(t, nil, 1, "", "generate", "skeleton", "--ranks", "48", "--iterations", "3", "--out",
		slk); err != nil {
		t.Fatal(stderr)
	}
	nodes := filepath.Join(dir, "nodes.yaml")
	machine := "name: nodes\nL: 1.2us\no: 0.7us\ng: 0.9us\nG: 0.05ns\nS: 64KiB\nranks_per_node: 4\nnic: node\nplacement: cyclic\n" +
		"classes:\n  node: {L: 0.3us, o: 0.2us}\n"
	if err := os.WriteFile(nodes, []byte(machine), 0o666); err != nil {
		t.Fatal(err)
	}
	goal, err := os.ReadFile("../../testdata/tolerance/16-halo-jitter.goal")
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name  string
		stdin string
		args  []string
	}{
		{"pattern", "", []string{"dissemination", "--ranks", "1000", "--machine", "cnl"}},
		{"noise", "", []string{"dissemination", "--ranks", "300", "--machine", "cnl", "--noise", "1000Hz:100us", "--breakdown"}},
		{"large messages", "", []string{"halo2d", "--ranks", "60", "--size", "256KiB", "--iterations", "3", "--machine", "chic", "-S", "64KiB"}},
		{"shared NICs", "", []string{"skeleton", "--ranks", "60", "--size", "8KiB", "--machine", nodes}},
		{"slk", "", []string{slk, "--machine", "chic", "--breakdown"}},
		{"goal", "", []string{"../../testdata/tolerance/16-halo-jitter.goal", "--machine", "chic"}},
		{"stdin", string(goal), []string{"-", "--machine", "chic"}},
		{"wildcards", "", []string{"../../testdata/tolerance/13-wildcards.goal", "--machine", "chic"}},
		{"static model", "", []string{"../../testdata/tolerance/13-wildcards.goal", "--machine", "chic", "--model", "loggps"}},
		{"recorded run", "", []string{"../../testdata/traces/late-sender.trace", "--machine", "chic"}},
	}
	all := clitest.Launchers(t)
	for i, tc := range cases {
		args := append([]string{"simulate", "--format", "json", "--threads", "1"}, tc.args...)
		want, stderr, err := clitest.RunJob(t, nil, 1, tc.stdin, args...)
		if err != nil {
			t.Fatalf("%s: %v\n%s", tc.name, err, stderr)
		}
		for name, more := range all {
			processes := []int{3, 2, 4}[i%3]
			t.Run(fmt.Sprintf("%s/%s/%d", tc.name, name, processes), func(t *testing.T) {
				got, stderr, err := clitest.RunJob(t, append([]string{name}, more...), processes, tc.stdin, args...)
				if err != nil {
					t.Fatalf("%v\n%s", err, stderr)
				}
				if got, want := clitest.WithoutProvenance(t, got), clitest.WithoutProvenance(t, want); got != want {
					t.Errorf("result\n%s\nwant\n%s", got, want)
				}
			})
		}
	}
}

// TestJobThatIsSlower shares runs of next to no work in a window, and a trace of such a run, over TCP: process 0 notices
// that it is faster alone, says so, and comes to the same result, also of an input that it cannot read again. Where exchanges
// are quick, some of these runs may be shared to the end, but not the pattern, which is five times as long as it would have to be here:
// TestSharedRunThatIsSlower has a network that is slow in any case.
func TestJobThatIsSlower(t *testing.T) {
	dir := t.TempDir()
	file, recorded := filepath.Join(dir, "ring.slk"), filepath.Join(dir, "ring.slt")
	ring := []string{"ring", "--ranks", "2", "--iterations", "20000"}
	if _, stderr, err := clitest.RunJob(t, nil, 1, "", append([]string{"generate", "--out", file}, ring...)...); err != nil {
		t.Fatal(stderr)
	}
	if _, stderr, err := clitest.RunJob(t, nil, 1, "",
		append([]string{"simulate", "--machine", "chic", "--trace", recorded}, ring...)...); err != nil {
		t.Fatal(stderr)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(clitest.ByBridge, "1")
	t.Setenv("FI_PROVIDER", "tcp")
	t.Setenv("OMPI_MCA_btl", "tcp,self")
	alone := 0
	for name, tc := range map[string]struct {
		stdin string
		words []string
	}{
		"pattern": {"", []string{"simulate", "--machine", "chic", "ring", "--ranks", "2", "--iterations", "100000"}},
		"file":    {"", []string{"simulate", "--machine", "chic", file}},
		"stdin":   {string(data), []string{"simulate", "--machine", "chic", "-"}},
		"trace":   {"", []string{"waits", "--critical-path", recorded}},
	} {
		args := append(tc.words, "--format", "json", "--threads", "1", "--share", "auto")
		want, stderr, err := clitest.RunJob(t, nil, 1, tc.stdin, args...)
		if err != nil {
			t.Fatal(stderr)
		}
		for launcher, more := range clitest.Launchers(t) {
			got, stderr, err := clitest.RunJob(t, append([]string{launcher}, more...), 2, tc.stdin, args...)
			if err != nil {
				t.Errorf("%s, %s: %v\n%s", name, launcher, err, stderr)
				continue
			}
			var record struct {
				Provenance struct {
					Cluster struct {
						Processes int
						Exchanges int64
						Alone     string
					}
				}
			}
			if err := json.Unmarshal([]byte(got), &record); err != nil {
				t.Fatal(err)
			}
			c := record.Provenance.Cluster
			if c.Processes != 2 || c.Exchanges == 0 || c.Alone != "" && strings.Count(stderr, c.Alone) != 1 {
				t.Errorf("%s, %s: cluster = %+v, stderr:\n%s", name, launcher, c, stderr)
			}
			if c.Alone != "" {
				alone++
			}
			if clitest.WithoutProvenance(t, got) != clitest.WithoutProvenance(t, want) {
				t.Errorf("%s, %s: another result than alone", name, launcher)
			}
		}
	}
	if alone == 0 {
		t.Error("no run went on with process 0 alone")
	}
}

// TestJobOnTooFewCores starts more processes than there are cores: process 0 works alone, from the start, and says so.
func TestJobOnTooFewCores(t *testing.T) {
	args := []string{"simulate", "ring", "--ranks", "4", "--machine", "chic", "--format", "csv", "--share", "auto"}
	want, stderr, err := clitest.RunJob(t, nil, 1, "", args...)
	if err != nil {
		t.Fatal(stderr)
	}
	for launcher, more := range clitest.Launchers(t) {
		got, stderr, err := clitest.RunJob(t, append([]string{launcher}, more...), runtime.NumCPU()+1, "", args...)
		if err != nil || got != want || strings.Count(stderr, "process 0 works alone, and the others wait") != 1 {
			t.Errorf("%s: %v, result\n%s\nwant\n%s\nstderr:\n%s", launcher, err, got, want, stderr)
		}
	}
}

// TestSimulateFailsInJobs wants one message, that of a single process, when all processes find the same fault, and one
// that names the process when one of them cannot go on.
func TestSimulateFailsInJobs(t *testing.T) {
	for name, more := range clitest.Launchers(t) {
		launcher := append([]string{name}, more...)
		args := []string{"simulate", "../../testdata/tolerance/12-unmatched.goal", "--machine", "chic"}
		_, want, _ := clitest.RunJob(t, nil, 1, "", args...)
		stdout, stderr, err := clitest.RunJob(t, launcher, 2, "", args...)
		reason := strings.TrimPrefix(strings.TrimSpace(want), "slackline: ")
		if err == nil || stdout != "" || strings.Count(stderr, reason) != 1 {
			t.Errorf("%s: %v, stdout %q, stderr %q; want one %q", name, err, stdout, stderr, reason)
		}
		_, stderr, err = clitest.RunJob(t, launcher, 3, "", "simulate", "no-such-file.goal", "--machine", "chic")
		if err == nil || strings.Count(stderr, "no such file") != 1 {
			t.Errorf("%s: %v, stderr %q; want one message of the file", name, err, stderr)
		}
	}
}

// BenchmarkSimulateJob is dissemination on 2^20 ranks by one process and by MPI jobs, one thread each. On a machine
// that others use too, the CPU time of the busiest process says more than the time on the clock.
func BenchmarkSimulateJob(b *testing.B) {
	args := []string{"simulate", "dissemination", "--ranks", "2^20", "--size", "1B", "--machine", "cnl", "--threads", "1", "--format",
		"json", "--quiet"}
	type provenance struct {
		Provenance struct {
			Cluster struct {
				Exchanges, Bytes, Crossed int64
				PeakMemory                int64   `json:"peak_memory"`
				CPUSeconds                float64 `json:"cpu_seconds"`
			}
		}
	}
	b.Run("alone", func(b *testing.B) {
		for b.Loop() {
			if _, stderr, err := clitest.RunJob(b, nil, 1, "", args...); err != nil {
				b.Fatal(stderr)
			}
		}
	})
	for name, more := range clitest.Launchers(b) {
		for _, processes := range []int{1, 2, 4} {
			b.Run(fmt.Sprintf("%s/processes=%d", name, processes), func(b *testing.B) {
				var last provenance
				for b.Loop() {
					stdout, stderr, err := clitest.RunJob(b, append([]string{name}, more...), processes, "", args...)
					if err != nil {
						b.Fatal(stderr)
					}
					if err := json.Unmarshal([]byte(stdout), &last); err != nil {
						b.Fatal(err)
					}
				}
				if job := last.Provenance.Cluster; processes > 1 {
					b.ReportMetric(job.CPUSeconds, "CPU-s/busiest")
					b.ReportMetric(float64(job.PeakMemory)/(1<<20), "MiB/largest")
					b.ReportMetric(float64(job.Exchanges), "exchanges")
					b.ReportMetric(float64(job.Bytes), "bytes")
				}
			})
		}
	}
}
