package record_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"slackline/cli/clitest"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// composition is what profile says of a run: its time, the share of it without a CPU, and the seconds of each rank by category.
type composition struct {
	time  float64
	noCPU float64
	parts map[string][]float64
}

func profiled(t *testing.T, args ...string) composition {
	t.Helper()
	code, stdout, stderr := clitest.Run("", append([]string{"profile", "--format", "json", "--quiet"}, args...)...)
	if code != 0 {
		t.Fatalf("profile %v: exit code = %d, %s", args, code, stderr)
	}
	var result struct {
		Run struct {
			Time  float64 `json:"time_s"`
			NoCPU float64 `json:"no_cpu_share"`
		}
		Composition []struct {
			Name   string
			ByRank []float64 `json:"by_rank_s"`
		}
	}
	if err := json.Unmarshal([]byte(stdout), &result); err != nil {
		t.Fatal(err)
	}
	c := composition{result.Run.Time, result.Run.NoCPU, map[string][]float64{}}
	for _, part := range result.Composition {
		c.parts[part.Name] = part.ByRank
	}
	return c
}

// shares are the categories of a rank as parts of the time that was recorded, without what the load of the machine decides.
func (c *composition) shares(rank int) map[string]float64 {
	shares := map[string]float64{}
	total := 0.0
	for name, seconds := range c.parts {
		if name != "not_recorded" && name != "no_cpu" {
			shares[name] = seconds[rank]
			total += seconds[rank]
		}
	}
	for name := range shares {
		shares[name] /= total
	}
	return shares
}

// TestWindowIsPartOfTheRun compares a recorded window with the same part of a run that was recorded as a whole: it covers as much, and
// has the same categories in it.
func TestWindowIsPartOfTheRun(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		command := append(mpitest.Launch(l, 2), mpitest.Build(t, l, "testdata/uneven.c"))
		record := func(name string, flags ...string) string {
			t.Helper()
			trace := filepath.Join(t.TempDir(), name)
			args := append(append([]string{"record", "--quiet", "--out", trace}, flags...), append([]string{"--"}, command...)...)
			if code, _, stderr := clitest.Run("", args...); code != 0 {
				t.Fatalf("%v: exit code = %d, %s", args, code, stderr)
			}
			return trace
		}
		// A rank that gets no CPU when the window opens or closes covers more or less of the run: other programs decide that, but not each time.
		var problems []string
		for range 3 {
			if problems = compareWindow(t, record); len(problems) == 0 {
				return
			}
		}
		t.Error(strings.Join(problems, "\n"))
	})
}

// compareWindow records a window and a whole run and returns what differs.
func compareWindow(t *testing.T, record func(name string, flags ...string) string) (problems []string) {
	t.Helper()
	problem := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	const from, to = 0.3, 0.8 // s
	window := profiled(t, record("window.slt", "--window", fmt.Sprintf("%gs..%gs", from, to)))
	whole := record("whole.slt")
	all := profiled(t, whole)
	// The run is the same from step to step, so that its middle is as good as any other part.
	part := profiled(t, whole, "--begin", fmt.Sprintf("%.3fs", all.time/2), "--end", fmt.Sprintf("%.3fs", all.time/2+to-from))
	bound := 0.15 + max(window.noCPU, part.noCPU) // on a loaded machine, both ranks wait for each other's CPU
	for rank := range 2 {
		covered := window.time - window.parts["not_recorded"][rank]
		if math.Abs(covered-(to-from)) > 0.15 || math.Abs(part.time-(to-from)) > 0.15 {
			problem("rank %d: the window covers %.3f s, the part %.3f s; want %.3f s", rank, covered, part.time, to-from)
		}
		got, want := window.shares(rank), part.shares(rank)
		names := maps.Clone(got)
		maps.Copy(names, want)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			if math.Abs(got[name]-want[name]) > bound {
				problem("rank %d: %s is %.1f %% of the window, %.1f %% of the part", rank, name, 100*got[name], 100*want[name])
			}
		}
		if rank == 0 && got["nxn"] < 0.4 {
			problem("rank 0 waits for %.1f %% of the window, want about 80 %%: %v", 100*got["nxn"], got)
		}
	}
	return problems
}

// TestNothingInWindow wants the reason for which nothing was recorded: the program was over, or in one call or one computation all
// the time.
func TestNothingInWindow(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		command := append(mpitest.Launch(l, 2), mpitest.Build(t, l, "testdata/long.c"))
		for window, why := range map[string]string{
			"100ms..200ms": "no MPI call began in --window 100ms..200ms, and no sample was taken",
			"1h..":         "the program ended before --window 1h.. began",
		} {
			args := []string{"record", "--sample", "off", "--window", window, "--out", filepath.Join(t.TempDir(), "run.slt"), "--"}
			code, _, stderr := clitest.Run("", append(args, command...)...)
			if code != 0 || !strings.Contains(stderr, "nothing was recorded: "+why+"\n") {
				t.Errorf("%s: exit code %d, %s", window, code, stderr)
			}
		}
	})
}
