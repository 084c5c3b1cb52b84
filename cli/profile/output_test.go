package profile_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"slackline/cli/clitest"
)

// The parts of the time add up to run time x ranks, in all forms: of 80 us rank 0 computes 38 and rank 1 17, 20 are waiting and 5 the rest
// of both calls.
func TestParts(t *testing.T) {
	path := clitest.LateSenderTrace(t)
	code, stdout, stderr := clitest.Run("", "profile", path, "--format", "json")
	var d struct {
		Composition []struct {
			Kind    string
			Seconds float64
			Share   float64
			ByRank  []float64 `json:"by_rank_s"`
		}
		Efficiency struct {
			Parallel      float64 `json:"parallel_efficiency"`
			LoadBalance   float64 `json:"load_balance"`
			Communication float64 `json:"communication_efficiency"`
		}
	}
	if err := json.Unmarshal([]byte(stdout), &d); err != nil || code != 0 {
		t.Fatalf("exit code %d, %v, %s", code, err, stderr)
	}
	sum, share, kinds := 0.0, 0.0, map[string]float64{}
	for _, p := range d.Composition {
		sum, share = sum+p.Seconds, share+p.Share
		kinds[p.Kind] += p.Seconds
		ranks := 0.0
		for _, x := range p.ByRank {
			ranks += x
		}
		if math.Abs(ranks-p.Seconds) > 1e-15 {
			t.Errorf("%s: %g s, its ranks have %g s", p.Kind, p.Seconds, ranks)
		}
	}
	near := func(got, want float64) bool { return math.Abs(got-want) < 1e-12 }
	if !near(sum, 80e-6) || !near(share, 1) || !near(kinds["computation"], 55e-6) || !near(kinds["waiting"], 20e-6) ||
		!near(kinds["mpi_point_to_point"], 5e-6) {
		t.Errorf("parts %v of %g s, shares of %g", kinds, sum, share)
	}
	// Useful are 38 and 17 of 40 us.
	if e := d.Efficiency; !near(e.Parallel, 55.0/80) || !near(e.LoadBalance, 27.5/38) || !near(e.Communication, 38.0/40) {
		t.Errorf("efficiencies %+v", e)
	}
	_, text, _ := clitest.Run("", "profile", path)
	for _, want := range []string{"computation", "55us", "68.8 %", "waiting: late sender", "20us", "25.0 %"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// The times by rank add up to those by call path, and the exclusive ones to the time of the run.
func TestRanksAddUp(t *testing.T) {
	path := clitest.LateSenderTrace(t)
	sums := func(args ...string) (map[string]float64, float64) {
		code, stdout, stderr := clitest.Run("", append([]string{"profile", path, "--format", "csv"}, args...)...)
		records, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
		if code != 0 || err != nil {
			t.Fatalf("exit code %d, %v, %s", code, err, stderr)
		}
		by, all := map[string]float64{}, 0.0
		at := map[string]int{}
		for i, name := range records[0] {
			at[name] = i
		}
		for _, row := range records[1:] {
			var v float64
			if _, err := fmt.Sscan(row[at["exclusive_s"]], &v); err != nil {
				t.Fatal(err)
			}
			by[row[at["callpath"]]] += v
			all += v
		}
		return by, all
	}
	whole, total := sums()
	if math.Abs(total-80e-6) > 1e-12 || len(whole) < 3 {
		t.Errorf("%d call paths with %g s, want 80 us", len(whole), total)
	}
	ranks, _ := sums("--by-rank")
	for path, v := range whole {
		if math.Abs(ranks[path]-v) > 1e-15 {
			t.Errorf("%s: %g s, its ranks have %g s", path, v, ranks[path])
		}
	}
}

// The durations of iterations add up to no more than the run, and the text says that the last one was left out: 20 steps have 19.
func TestIterationsOfARun(t *testing.T) {
	run := filepath.Join("..", "..", "examples", "late", "late.slt")
	var d struct {
		Run struct {
			Time float64 `json:"time_s"`
		}
		Iterations struct {
			List []struct {
				Duration float64 `json:"duration_s"`
				MPI      float64 `json:"mpi_s"`
				Waiting  float64 `json:"waiting_s"`
			}
		}
	}
	code, stdout, stderr := clitest.Run("", "profile", run, "--format", "json", "--quiet")
	if err := json.Unmarshal([]byte(stdout), &d); err != nil || code != 0 {
		t.Fatalf("exit code %d, %v, %s", code, err, stderr)
	}
	sum := 0.0
	for i, it := range d.Iterations.List {
		sum += it.Duration
		if it.Waiting > it.MPI || it.MPI > it.Duration {
			t.Errorf("iteration %d: %+v", i+1, it)
		}
	}
	if sum < 0.9*d.Run.Time || sum > d.Run.Time {
		t.Errorf("the iterations take %g s, the run %g s", sum, d.Run.Time)
	}
	_, text, _ := clitest.Run("", "profile", run, "--quiet")
	want := "19 iterations, one from each main/step/exchange to the next (the last one has no known end and is left out)"
	if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
		t.Errorf("no %q in\n%s", want, text)
	}
}
