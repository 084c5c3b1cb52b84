package record

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"slackline/observe/mpi/mpitest"
)

// BenchmarkCall measures in C what recording adds to a call, by the kind of call paths, at a depth of 12 functions.
// The times are CPU time, the least of nine batches, so that other load counts little.
func BenchmarkCall(b *testing.B) {
	for _, l := range mpitest.Libraries(b) {
		program := build(b, l, "cost.c", "-O1", mpitest.Spinning)
		command := append(mpitest.Launch(l, 1), program)
		plain, err := exec.Command(command[0], command[1:]...).Output()
		if err != nil {
			b.Fatal(err)
		}
		without := costs(string(plain))
		for _, paths := range []string{"off", "caller", "full"} {
			b.Run(fmt.Sprintf("mpi=%s/callpath=%s", mpitest.Name(l.Kind), paths), func(b *testing.B) {
				for b.Loop() {
					var out strings.Builder
					quiet := func(string, ...any) {}
					o := Options{
						Command: command, CallPath: paths, Out: filepath.Join(b.TempDir(), "cost.slt"),
						Stdout: &out, Stderr: &out, Note: quiet, Warn: quiet,
					}
					if _, err := Run(b.Context(), o); err != nil {
						b.Fatal(err)
					}
					with := costs(out.String())
					for _, call := range []string{"send", "recv", "barrier", "iprobe", "put", "flush", "fence", "neighbors", "alltoallv"} {
						b.ReportMetric(with[call]-without[call], "ns/"+call)
					}
					b.ReportMetric((with["isend+wait"]-without["isend+wait"])/3, "ns/nonblocking")
					b.ReportMetric((with["start+wait"]-without["start+wait"])/2, "ns/persistent") // 0: there is no MPI-4
					b.ReportMetric((with["epochs"]-without["epochs"])/4, "ns/epoch")              // MPI_Win_post, start, complete, wait
				}
			})
		}
	}
}

func costs(text string) map[string]float64 {
	m := map[string]float64{}
	for line := range strings.Lines(text) {
		var name string
		var ns float64
		if n, _ := fmt.Sscan(line, &name, &ns); n == 2 {
			m[name] = ns
		}
	}
	return m
}
