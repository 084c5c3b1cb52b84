package waits_test

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"slackline/cli/clitest"
)

// waitsAnswer is what the JSON output of waits has in common with the reference.
type waitsAnswer struct {
	Waits []struct {
		Metric   string  `json:"metric"`
		Rank     int     `json:"rank"`
		CallPath string  `json:"callpath"`
		Seconds  float64 `json:"seconds"`
	} `json:"waits"`
	Delays []struct {
		Rank     int     `json:"rank"`
		CallPath string  `json:"callpath"`
		Short    float64 `json:"short_s"`
		Long     float64 `json:"long_s"`
	} `json:"delays"`
	Totals struct {
		Waiting      float64 `json:"waiting_s"`
		Delay        float64 `json:"delay_s"`
		Unattributed float64 `json:"unattributed_s"`
	} `json:"totals"`
	Direct      float64 `json:"direct_s"`
	Indirect    float64 `json:"indirect_s"`
	Propagating float64 `json:"propagating_s"`
	Terminal    float64 `json:"terminal_s"`
}

// numbers returns all numbers of an answer by what they are.
func (a *waitsAnswer) numbers() map[string]float64 {
	n := map[string]float64{
		"waiting": a.Totals.Waiting, "delay": a.Totals.Delay, "unattributed": a.Totals.Unattributed,
		"direct": a.Direct, "indirect": a.Indirect, "propagating": a.Propagating, "terminal": a.Terminal,
	}
	for _, w := range a.Waits {
		n[fmt.Sprintf("%s of rank %d in %s", w.Metric, w.Rank, w.CallPath)] += w.Seconds
	}
	for _, d := range a.Delays {
		n[fmt.Sprintf("short of rank %d in %s", d.Rank, d.CallPath)] += d.Short
		n[fmt.Sprintf("long of rank %d in %s", d.Rank, d.CallPath)] += d.Long
	}
	return n
}

// TestWaitsCases runs waits on the reference cases: values may differ by 2 ns, those that are missing count as 0.
func TestWaitsCases(t *testing.T) {
	dirs, err := filepath.Glob("../../testdata/waits/cases/*")
	if err != nil || len(dirs) < 20 {
		t.Fatalf("%d cases, want 20: %v", len(dirs), err)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			var want, got waitsAnswer
			clitest.ReadJSON(t, filepath.Join(dir, "want.json"), &want)
			code, stdout, stderr := clitest.Run("", "waits", filepath.Join(dir, "traces.otf2"), "--format", "json")
			if code != 0 {
				t.Fatalf("exit code %d\n%s", code, stderr)
			}
			if err := json.Unmarshal([]byte(stdout), &got); err != nil {
				t.Fatal(err)
			}
			wanted, found := want.numbers(), got.numbers()
			for key, w := range wanted {
				if math.Abs(found[key]-w) > 2e-9 {
					t.Errorf("%s = %v, want %v", key, found[key], w)
				}
			}
			for key, f := range found {
				if math.Abs(f-wanted[key]) > 2e-9 {
					t.Errorf("%s = %v, want %v", key, f, wanted[key])
				}
			}
		})
	}
}
