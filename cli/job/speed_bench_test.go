//go:build linux

package job_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"slackline/cli/clitest"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// way is how a command is run: by itself, or as a job of so many processes.
type way struct {
	name    string
	library *mpi.Library // nil: by itself
	size    int
	join    bool // over MPI even if it is the only process
	took    []time.Duration
	cpu     []time.Duration
}

// run runs a command once and notes its time and the CPU time of all of its processes.
func (w *way) run(b *testing.B, args []string) {
	b.Helper()
	c := clitest.Program(args...)
	if w.library != nil {
		c = clitest.NewJob(b, w.library, w.size, args...).Cmd
	}
	if w.join {
		c.Env = append(c.Env, mpi.JobVariable+"=on")
	}
	begin := time.Now()
	if err := c.Run(); err != nil {
		if _, is := err.(*exec.ExitError); is {
			b.Fatalf("%s: exit code %d", w.name, c.ProcessState.ExitCode())
		}
		b.Fatal(err)
	}
	w.took = append(w.took, time.Since(begin))
	w.cpu = append(w.cpu, c.ProcessState.UserTime()+c.ProcessState.SystemTime())
}

func median(list []time.Duration) float64 {
	list = slices.Sorted(slices.Values(list))
	return (list[(len(list)-1)/2] + list[len(list)/2]).Seconds() / 2
}

// BenchmarkJobSpeed runs the commands that a job should make faster, one thread for each process, in turns: by itself, as
// a job of one process without MPI and with it, and as a job of two. It reports the median of whole commands (s-...), the
// CPU time of all processes (cpu-...) and how many times faster than by itself they are (x-...). A machine changes its
// speed in the course of minutes, so that only turns can be compared: -benchtime 7x on a quiet machine.
func BenchmarkJobSpeed(b *testing.B) {
	trace := filepath.Join(b.TempDir(), "run.slt")
	for _, tc := range []struct{ name, prepare, args string }{
		{"dissemination", "", "simulate dissemination --ranks 2^20 --size 1B --machine chic --threads 1 --quiet"},
		{"pop", "", "simulate pop --ranks 16384 --iterations 1 --machine chic --noise chic --threads 1 --share always --quiet"},
		{"amg", "", "simulate amg --ranks 4096 --iterations 1 --machine chic --noise chic --threads 1 --share always --quiet"},
		{"sweep3d", "", "simulate sweep3d --ranks 4096 --iterations 1 --machine chic --threads 1 --share always --quiet"},
		{"replicas", "", "simulate dissemination --ranks 4096 --machine altix --noise 1000Hz:100us --replicas 1000 --threads 1 --quiet"},
		{"waits", "simulate skeleton --ranks 1024 --iterations 450 --machine chic --noise 1000Hz:10us --quiet --trace " + trace,
			"waits " + trace + " --threads 1 --quiet --format csv"},
	} {
		b.Run(tc.name, func(b *testing.B) {
			if _, err := os.Stat(trace); tc.prepare != "" && err != nil {
				if out, err := clitest.Program(strings.Fields(tc.prepare)...).CombinedOutput(); err != nil {
					b.Fatalf("%v: %s", err, out)
				}
			}
			ways := []*way{{name: "alone"}}
			for _, l := range mpitest.Libraries(b) {
				name := mpitest.Name(l.Kind)
				ways = append(ways, &way{name: name + "-1", library: l, size: 1},
					&way{name: name + "-1-joined", library: l, size: 1, join: true}, &way{name: name + "-2", library: l, size: 2})
			}
			for range b.N {
				for _, w := range ways {
					w.run(b, strings.Fields(tc.args))
				}
			}
			for _, w := range ways {
				b.ReportMetric(median(w.took), "s-"+w.name)
				b.ReportMetric(median(w.cpu), "cpu-"+w.name)
				if w.size > 0 {
					b.ReportMetric(median(ways[0].took)/median(w.took), "x-"+w.name)
				}
			}
			b.ReportMetric(0, "ns/op") // of all ways together
		})
	}
}
