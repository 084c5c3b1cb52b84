//go:build quiet

package inject_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"slackline/cli/clitest"
)

// medians are those of the columns of a program's output.
func medians(t *testing.T, text []byte, columns int) []float64 {
	t.Helper()
	values := make([][]float64, columns)
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		fields := strings.Fields(line)
		if len(fields) != columns {
			t.Fatalf("%q: %d fields, want %d", line, len(fields), columns)
		}
		for i, f := range fields {
			v, err := strconv.ParseFloat(f, 64)
			if err != nil {
				t.Fatal(err)
			}
			values[i] = append(values[i], v)
		}
	}
	list := make([]float64, columns)
	for i, v := range values {
		slices.Sort(v)
		list[i] = v[len(v)/2]
	}
	return list
}

// Two sends in a row arrive each later by the latency, the sender takes as long as before: within 5 % or 5 us, medians of
// 200 repetitions (figure 8).
func TestInjectedLatency(t *testing.T) {
	slackline := clitest.BuiltProgram(t)
	clitest.EachMPI(t, "../../observe/inject/testdata/figure8.c", func(t *testing.T, mpi, program string) {
		times := func(us int) []float64 {
			out := clitest.Output(t, slackline, "inject", "--quiet", "--latency", fmt.Sprintf("%dus",
				us), "--", "mpirun."+mpi, "-n", "2", program, strconv.Itoa(us*1000), "200")
			return medians(t, out, 5)
		}
		clitest.Thrice(t, func() (string, bool) {
			before := times(0)
			text, good := fmt.Sprintf("without: two sends %.1f us, messages %.1f and %.1f us", before[0]/1e3, before[1]/1e3, before[2]/1e3), true
			for _, us := range []int{100, 200, 500, 1000} {
				got, added := times(us), float64(us)*1e3
				allowed := max(0.05*added, 5e3)
				for i, more := range map[int]float64{0: 0, 1: added, 2: added, 4: added} {
					good = good && math.Abs(got[i]-before[i]-more) <= allowed
				}
				good = good && got[3] >= 3*added && got[3] <= 3*added+allowed // a late receiver is not held
				text += fmt.Sprintf("; +%d us: two sends %.1f us, messages %.1f and %.1f us, late receiver %.1f us, probe %.1f us",
					us, got[0]/1e3, got[1]/1e3, got[2]/1e3, got[3]/1e3, got[4]/1e3)
			}
			return text, good
		})
	})
}

// A program that hides latency by computation is slowed as tolerance predicts, within 5 %, and one that does not hide it too.
func TestInjectionMeetsTolerance(t *testing.T) {
	slackline := clitest.BuiltProgram(t)
	latencyLine := regexp.MustCompile(`(?m)^L: *([0-9.]+)(ns|us)`)
	for _, name := range []string{"halo", "hidden", "cg"} {
		t.Run(name, func(t *testing.T) {
			clitest.EachMPI(t, "../../examples/validation/"+name+".c", func(t *testing.T, mpi, program string) {
				dir := t.TempDir()
				machine, trace := filepath.Join(dir, "machine.yaml"), filepath.Join(dir, "run.slt")
				launch := []string{"--", "mpirun." + mpi, "-n", "2", program}
				clitest.Thrice(t, func() (string, bool) {
					if err := clitest.MeasuredMachine(slackline, mpi, machine); err != nil {
						return err.Error(), false
					}
					data, err := os.ReadFile(machine)
					if err != nil {
						t.Fatal(err)
					}
					m := latencyLine.FindStringSubmatch(string(data))
					if m == nil {
						t.Fatalf("no latency in\n%s", data)
					}
					own, _ := strconv.ParseFloat(m[1], 64)
					if m[2] == "ns" {
						own /= 1000
					}
					clitest.Output(t, slackline, append([]string{"record", "--force", "--quiet", "--sample", "off", "--callpath", "off", "--out", trace},
						launch...)...)
					text, good := "", true
					for _, us := range []int{0, 100, 400} {
						var predicted struct {
							T float64 `json:"T_ns"`
						}
						out := clitest.Output(t, slackline, "tolerance", trace, "--machine", machine, "-L", fmt.Sprintf("%.3fus",
							own+float64(us)), "--format", "json", "--quiet")
						if err := json.Unmarshal(out, &predicted); err != nil {
							t.Fatal(err)
						}
						var runs []float64
						for range 3 {
							out := clitest.Output(t, slackline, append([]string{"inject", "--quiet", "--latency", fmt.Sprintf("%dus", us)}, launch...)...)
							runs = append(runs, medians(t, out, 1)[0])
						}
						slices.Sort(runs)
						off := 100 * (predicted.T/runs[0] - 1)
						good = good && math.Abs(off) <= 5
						text += fmt.Sprintf("+%d us: predicted %.1f ms, measured %.1f ms (%+.1f %%); ", us, predicted.T/1e6, runs[0]/1e6, off)
					}
					return text, good
				})
			})
		})
	}
}

// A detour costs a program whose ranks wait for each other its length, 5 % and 20 us at most: medians of pieces of a run in
// which nothing else took a CPU.
func TestDetourCostsItsLength(t *testing.T) {
	dir := t.TempDir()
	slackline := filepath.Join(dir, "slackline")
	clitest.Output(t, "go", "build", "-o", slackline, "slackline/cmd/slackline")
	for _, mpi := range []string{"openmpi", "mpich"} {
		t.Run(mpi, func(t *testing.T) {
			program := filepath.Join(dir, mpi+"detours")
			clitest.Output(t, "mpicc."+mpi, "-O2", "../../observe/inject/testdata/detours.c", "-o", program)
			clitest.Thrice(t, func() (string, bool) {
				text, good := "", true
				for _, us := range []int{100, 500} {
					out := clitest.Output(t, slackline, "inject", "--quiet", "--noise", fmt.Sprintf("100Hz:%dus",
						us), "--seed", "1", "--", "mpirun."+mpi, "-n", "2", program, "2", "2000")
					cost, without, with := costOfDetour(t, out)
					good = good && without > 100 && with > 20 && cost >= 0.95*float64(us) && cost <= 1.05*float64(us)+20
					text += fmt.Sprintf("a detour of %d us costs %.1f us (%d pieces with one, %d without); ", us, cost, with, without)
				}
				return text, good
			})
		})
	}
}

// costOfDetour is the median time of pieces with one detour less that of pieces with none, in microseconds, and how many of
// both there were.
func costOfDetour(t *testing.T, text []byte) (cost float64, without, with int) {
	t.Helper()
	var times [2][]float64
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		var ns, lost, first, second int
		if _, err := fmt.Sscan(line, &ns, &lost, &first, &second); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if lost == 0 && first+second <= 1 {
			times[first+second] = append(times[first+second], float64(ns)/1e3)
		}
	}
	if len(times[0]) == 0 || len(times[1]) == 0 {
		return 0, len(times[0]), len(times[1])
	}
	for _, list := range times {
		slices.Sort(list)
	}
	return times[1][len(times[1])/2] - times[0][len(times[0])/2], len(times[0]), len(times[1])
}
