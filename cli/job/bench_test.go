//go:build linux

package job_test

import (
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"slackline/cli/clitest"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// workTime finds how long the runs took, without the start of the program and of MPI.
var workTime = regexp.MustCompile(`messages in (\S+) \(`)

// BenchmarkJobReplicas runs 1,000 replicas with one thread per process: without MPI, and in jobs. It reports replicas
// per second of the work, and what all the rest takes: starting the launcher, MPI and the program.
func BenchmarkJobReplicas(b *testing.B) {
	const replicas = 1000
	args := strings.Fields("simulate dissemination --ranks 2048 --machine chic --noise chic --threads 1 --no-progress --replicas " +
		strconv.Itoa(replicas))
	measure := func(b *testing.B, run func() (stderr string, code int)) {
		var work, all time.Duration
		for range b.N {
			begin := time.Now()
			stderr, code := run()
			all += time.Since(begin)
			found := workTime.FindStringSubmatch(stderr)
			if code != 0 || found == nil {
				b.Fatalf("exit code %d, stderr:\n%s", code, stderr)
			}
			took, err := time.ParseDuration(found[1])
			if err != nil {
				b.Fatal(err)
			}
			work += took
		}
		b.ReportMetric(float64(replicas*b.N)/work.Seconds(), "replicas/s")
		b.ReportMetric((all-work).Seconds()/float64(b.N), "s-to-start")
	}
	b.Run("mpi=none/processes=1", func(b *testing.B) {
		measure(b, func() (string, int) {
			c := clitest.Program(args...)
			var stderr strings.Builder
			c.Stderr = &stderr
			if err := c.Run(); err != nil {
				if _, is := err.(*exec.ExitError); !is {
					b.Fatal(err)
				}
			}
			return stderr.String(), c.ProcessState.ExitCode()
		})
	})
	for _, l := range mpitest.Libraries(b) {
		for _, size := range []int{1, 2} {
			name := mpitest.Name(l.Kind)
			b.Run(fmt.Sprintf("mpi=%s/processes=%d", name, size), func(b *testing.B) {
				measure(b, func() (string, int) { return timedJob(b, l, size, args) })
			})
		}
	}
}

func timedJob(b *testing.B, l *mpi.Library, size int, args []string) (stderr string, code int) {
	j := clitest.NewJob(b, l, size, args...)
	if err := j.Start(); err != nil {
		b.Fatal(err)
	}
	if err := j.Wait(); err != nil {
		if _, is := err.(*exec.ExitError); !is {
			b.Fatal(err)
		}
	}
	return j.Errors.String(), j.ProcessState.ExitCode()
}
