package scaling_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slackline/cli/clitest"
)

// syntheticRun is a run of p ranks as text: work of 1024*size/p us, p messages around a ring, then every second rank
// does 4*p us more while the others wait in a barrier.
func syntheticRun(p, size int) string {
	var b strings.Builder
	b.WriteString("slackline trace 1\nunit us\n")
	work, extra := 1024*size/p, 4*p
	for rank := range p {
		fmt.Fprintf(&b, "rank %d\n0 main {\n  0..%d work\n", rank, work)
		at := work
		for _, what := range []string{fmt.Sprintf("MPI_Send: send to %d", (rank+1)%p), fmt.Sprintf("MPI_Recv: recv from %d", (rank+p-1)%p)} {
			for range p {
				fmt.Fprintf(&b, "  %d..%d %s size 8\n", at, at+1, what)
				at++
			}
		}
		begin := at
		if rank%2 == 0 {
			fmt.Fprintf(&b, "  %d..%d more\n", at, at+extra)
			begin += extra
		}
		fmt.Fprintf(&b, "  %d..%d MPI_Barrier: barrier\n} %d\n", begin, at+extra+1, at+extra+1)
	}
	return b.String()
}

// syntheticRuns writes runs of 2 to 32 ranks into a directory.
func syntheticRuns(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, p := range []int{2, 4, 8, 16, 32} {
		path := filepath.Join(dir, fmt.Sprintf("run%02d.trace", p))
		if err := os.WriteFile(path, []byte(syntheticRun(p, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// mixedRuns returns the same runs, of which some are in other formats.
func mixedRuns(t *testing.T) []string {
	t.Helper()
	dir := syntheticRuns(t)
	var list []string
	for _, p := range []int{2, 4, 8, 16, 32} {
		path := filepath.Join(dir, fmt.Sprintf("run%02d.trace", p))
		if format := map[int]string{4: "slt", 8: "otf2"}[p]; format != "" {
			out := strings.TrimSuffix(path, "trace") + format
			if code, _, stderr := clitest.Run("", "convert", path, "--to", format, "--out", out, "--quiet"); code != 0 {
				t.Fatalf("convert: exit code %d: %s", code, stderr)
			}
			path = out
		}
		list = append(list, path)
	}
	return list
}

// scalingModels returns the formulas of models by call path and metric, and the ranking.
func scalingModels(t *testing.T, args ...string) (formulas map[string]string, ranking []string) {
	t.Helper()
	code, stdout, stderr := clitest.Run("", append([]string{"scaling", "--format", "json", "--quiet"}, args...)...)
	if code != 0 {
		t.Fatalf("scaling %v: exit code %d: %s", args, code, stderr)
	}
	var result struct {
		Models []struct {
			CallPath, Metric, Formula string
		}
		Ranking []struct {
			CallPath, Metric string
		}
	}
	if err := json.Unmarshal([]byte(stdout), &result); err != nil {
		t.Fatal(err)
	}
	formulas = map[string]string{}
	for _, m := range result.Models {
		formulas[m.CallPath+" "+m.Metric] = m.Formula
	}
	for _, r := range result.Ranking {
		ranking = append(ranking, r.CallPath+" "+r.Metric)
	}
	return formulas, ranking
}

func checkFormulas(t *testing.T, got, want map[string]string) {
	t.Helper()
	for key, formula := range want {
		if got[key] != formula {
			t.Errorf("%s = %s, want %s", key, got[key], formula)
		}
	}
	if t.Failed() {
		t.Logf("all: %q", got)
	}
}

func TestScalingOfRuns(t *testing.T) {
	dir := syntheticRuns(t)
	got, ranking := scalingModels(t, dir, "--target", "4096")
	mixed, _ := scalingModels(t, mixedRuns(t)...)
	checkFormulas(t, mixed, got)
	checkFormulas(t, got, map[string]string{
		"main->work time":           "0.001024 * p^(-1)",
		"main->work visits":         "1",
		"main->MPI_Send messages":   "1 * p",
		"main->MPI_Send bytes":      "8 * p",
		"main->MPI_Recv visits":     "1 * p",
		"main->MPI_Barrier waiting": "2e-06 * p",
		"main->more delay":          "2e-06 * p",
		"main->more time":           "2e-06 * p",
	})
	for _, key := range []string{"main->work messages", "main->MPI_Send waiting", "main->work delay"} {
		if formula, ok := got[key]; ok {
			t.Errorf("%s = %s, want no model of what never happens", key, formula)
		}
	}
	place := map[string]int{}
	for i, r := range ranking {
		place[r] = i + 1
	}
	if barrier, work := place["main->MPI_Barrier time"], place["main->work time"]; barrier == 0 || work == 0 || barrier > work {
		t.Errorf("ranking = %q, want the barrier before the work", ranking)
	}
	sums, _ := scalingModels(t, dir, "--sum-locations", "--only-path", "work", "--metric", "time")
	checkFormulas(t, sums, map[string]string{"main->work time": "0.001024"})
}

// The results of profile and waits say the same as the traces.
func TestScalingOfResults(t *testing.T) {
	runs := mixedRuns(t)
	traces, _ := scalingModels(t, runs...)
	var results []string
	for _, run := range runs {
		for _, verb := range []string{"profile", "waits"} {
			out := filepath.Join(t.TempDir(), verb+".json")
			if code, _, stderr := clitest.Run("", verb, run, "--format", "json", "--out", out, "--quiet"); code != 0 {
				t.Fatalf("%s %s: exit code %d: %s", verb, run, code, stderr)
			}
			results = append(results, out)
		}
	}
	got, _ := scalingModels(t, results...)
	if len(got) != len(traces) {
		t.Errorf("%d models of results, %d of traces", len(got), len(traces))
	}
	checkFormulas(t, got, traces)
}

// Further parameters stand before the inputs.
func TestScalingOfRunsWithPlaces(t *testing.T) {
	dir := t.TempDir()
	var args []string
	for _, size := range []int{1, 2, 4, 8, 16} {
		for _, p := range []int{2, 4, 8, 16, 32} {
			path := filepath.Join(dir, fmt.Sprintf("%d-%d.trace", p, size))
			if err := os.WriteFile(path, []byte(syntheticRun(p, size)), 0o644); err != nil {
				t.Fatal(err)
			}
			args = append(args, fmt.Sprintf("n=%d:%s", size, path))
		}
	}
	got, _ := scalingModels(t, append(args, "--metric", "time", "--only-path", "work")...)
	checkFormulas(t, got, map[string]string{"main->work time": "0.001024 * n * p^(-1)"})
}
