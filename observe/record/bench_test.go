package record

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// BenchmarkCall measures in C what recording adds to a call of each kind, by the kind of call paths, at a depth of 12 functions: see
// testdata/cost.c. Of kinds that take several calls it is the mean of these.
func BenchmarkCall(b *testing.B) {
	for _, l := range mpitest.Libraries(b) {
		program := build(b, l, "cost.c", "-O1", mpitest.Spinning)
		for _, paths := range []string{"off", "caller", "full"} {
			b.Run(fmt.Sprintf("mpi=%s/callpath=%s", mpitest.Name(l.Kind), paths), func(b *testing.B) {
				for b.Loop() {
					for _, c := range costs(b, l, program, paths) {
						b.ReportMetric(c.ns, "ns/"+c.kind)
					}
				}
			})
		}
	}
}

// callCost is what recording adds to a call.
type callCost struct {
	kind string
	ns   float64
}

// costs runs cost.c under the recorder.
func costs(tb testing.TB, l *mpi.Library, program, paths string) (list []callCost) {
	var out strings.Builder
	quiet := func(string, ...any) {}
	o := Options{
		Command: append(mpitest.Launch(l, 1), program), CallPath: paths, Out: filepath.Join(tb.TempDir(), "cost.slt"),
		Stdout: &out, Stderr: &out, Note: quiet, Warn: quiet,
	}
	if _, err := Run(tb.Context(), o); err != nil {
		tb.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		var c callCost
		var plain float64
		if n, _ := fmt.Sscan(line, &c.kind, &c.ns, &plain); n == 3 {
			list = append(list, c)
		}
	}
	return list
}
