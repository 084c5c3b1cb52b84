package waits_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"slackline/internal/cluster"
	"slackline/model/trace"
)

// BenchmarkWaitsInJobs analyses a trace of 1024 ranks and 20 million events: halo exchanges, and an allreduce of all ranks in
// every iteration, with noise. One process by itself, one in an MPI job, several; one thread each. Speed is
// also given per second of CPU time of the busiest process, as if each had a core of its own, which means
// something on a busy machine too; memory is the peak of the largest process.
func BenchmarkWaitsInJobs(b *testing.B) {
	dir := b.TempDir()
	run := filepath.Join(dir, "run.slt")
	self, err := exec.LookPath("slackline") // which TestMain provides
	if err != nil {
		b.Fatal(err)
	}
	if out, err := exec.Command(self, "simulate", "skeleton", "--ranks", "1024", "--iterations", "450", "--machine", "chic", "--noise",
		"1000Hz:10us",
		"--trace", run, "--quiet").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	events := eventsOf(b, run)
	for _, k := range []struct {
		launcher  string
		processes int
	}{{"", 1}, {"mpirun.mpich", 1}, {"mpirun.mpich", 2}, {"mpirun.mpich", 4}, {"mpirun.mpich", 8}} {
		b.Run(fmt.Sprintf("launcher=%s/processes=%d", k.launcher, k.processes), func(b *testing.B) {
			args := []string{self, "waits", run, "--threads", "1", "--quiet", "--format", "csv", "--out", filepath.Join(dir, "out.csv")}
			if k.launcher != "" {
				args = append([]string{k.launcher, "-n", strconv.Itoa(k.processes)}, args...)
			}
			var cpu time.Duration
			var memory int64
			for b.Loop() {
				c := exec.Command(args[0], args[1:]...)
				if out, err := c.CombinedOutput(); err != nil {
					b.Fatalf("%v: %s", err, out)
				}
				usage := c.ProcessState.SysUsage().(*syscall.Rusage) // of the descendants, too
				cpu += c.ProcessState.UserTime() + c.ProcessState.SystemTime()
				memory = max(memory, usage.Maxrss)
			}
			all := float64(events) * float64(b.N)
			b.ReportMetric(all/b.Elapsed().Seconds(), "events/s")
			b.ReportMetric(all/(cpu.Seconds()/float64(k.processes)), "events/cpu-s-per-process")
			b.ReportMetric(float64(memory)/1024, "MiB/process")
			b.ReportMetric(float64(events), "events")
		})
	}
}

// eventsOf counts the events of a trace.
func eventsOf(b *testing.B, name string) (events uint64) {
	b.Helper()
	t, err := trace.OpenPart(context.Background(), cluster.Alone(), os.DirFS(filepath.Dir(name)), filepath.Base(name), trace.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for i := range t.Locations {
		events += t.Locations[i].Events
	}
	return events
}
