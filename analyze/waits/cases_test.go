package waits

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"slackline/model/timeline"
	"slackline/model/trace"
	"slackline/model/unit"
)

// wanted is the expected output of a reference case.
type wanted struct {
	Waits []struct {
		Metric, CallPath string
		Rank             int
		Seconds          float64
	}
	Delays []struct {
		Rank     int
		CallPath string
		Short    float64 `json:"short_s"`
		Long     float64 `json:"long_s"`
	}
	Totals struct {
		Waiting      float64 `json:"waiting_s"`
		Delay        float64 `json:"delay_s"`
		Unattributed float64 `json:"unattributed_s"`
	}
	Direct      float64 `json:"direct_s"`
	Indirect    float64 `json:"indirect_s"`
	Propagating float64 `json:"propagating_s"`
	Terminal    float64 `json:"terminal_s"`
}

// tolerance is how much values may differ from the reference, in seconds.
const tolerance = 2e-9

// caseTraces are the traces of the reference cases: those of METRICS.md are archives, those of METRICS2.md archives, texts, or both.
func caseTraces(t *testing.T) []string {
	t.Helper()
	var traces []string
	for _, pattern := range []string{"waits/cases/*/traces.otf2", "waits2/cases/*/traces.otf2", "waits2/cases/*/trace.txt"} {
		list, err := filepath.Glob("../../testdata/" + pattern)
		if err != nil || len(list) < 20 {
			t.Fatalf("%d reference cases %s, want at least 20: %v", len(list), pattern, err)
		}
		traces = append(traces, list...)
	}
	return traces
}

// readCase reads a reference case.
func readCase(t *testing.T, file string) (*timeline.Timeline, *wanted) {
	t.Helper()
	dir, name := filepath.Split(file)
	data, err := os.ReadFile(filepath.Join(dir, "want.json"))
	if err != nil {
		t.Fatal(err)
	}
	want := &wanted{}
	if err := json.Unmarshal(data, want); err != nil {
		t.Fatal(err)
	}
	return timelineOf(t, openTrace(t, dir, name)), want
}

// openTrace opens a trace until the end of the test.
func openTrace(t *testing.T, dir, name string) *trace.Trace {
	t.Helper()
	tr, err := trace.Open(os.DirFS(dir), name, trace.Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	if tr.Close != nil {
		t.Cleanup(func() { tr.Close() })
	}
	return tr
}

func timelineOf(t *testing.T, tr *trace.Trace) *timeline.Timeline {
	t.Helper()
	tl, err := trace.ToTimeline(tr, trace.TimelineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return tl
}

func TestCases(t *testing.T) {
	for _, file := range caseTraces(t) {
		name := filepath.Base(filepath.Dir(file)) + "/" + filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			tl, want := readCase(t, file)
			r := analyze(t, tl, 2)
			compareCase(t, r, want)
			checkLaws(t, name, r)
		})
	}
}

// compareCase compares a result with the reference; what is missing on one side counts as 0.
func compareCase(t *testing.T, r *Result, want *wanted) {
	t.Helper()
	differences := map[string]float64{}
	add := func(sign, value float64, key ...any) { differences[fmt.Sprintln(key...)] += sign * value }
	second := func(d unit.Duration) float64 { return float64(d) / float64(unit.Second) }
	for _, w := range want.Waits {
		add(-1, w.Seconds, w.Metric, w.Rank, w.CallPath)
	}
	for i := range r.Waits {
		w := &r.Waits[i]
		add(1, second(w.Amount.Duration()), w.Metric.String(), w.Rank, r.Paths.Names[w.Path])
	}
	for _, d := range want.Delays {
		add(-1, d.Short, "short", d.Rank, d.CallPath)
		add(-1, d.Long, "long", d.Rank, d.CallPath)
	}
	for i := range r.Delays {
		d := &r.Delays[i]
		add(1, second(d.Short.Duration()), "short", d.Rank, r.Paths.Names[d.Path])
		add(1, second(d.Long.Duration()), "long", d.Rank, r.Paths.Names[d.Path])
	}
	total := &r.Totals
	for name, pair := range map[string][2]float64{
		"waiting":      {second(total.Waiting.Amount.Duration()), want.Totals.Waiting},
		"delay":        {second(total.Delay.Sum().Duration()), want.Totals.Delay},
		"unattributed": {second(total.Unattributed.Duration()), want.Totals.Unattributed},
		"direct":       {second(total.Waiting.Direct.Duration()), want.Direct},
		"indirect":     {second(total.Waiting.Indirect.Duration()), want.Indirect},
		"propagating":  {second(total.Waiting.Propagating.Duration()), want.Propagating},
		"terminal":     {second(total.Waiting.Terminal.Duration()), want.Terminal},
	} {
		add(1, pair[0]-pair[1], name)
	}
	for key, d := range differences {
		if math.Abs(d) > tolerance {
			t.Errorf("%s differs by %g s", key, d)
		}
	}
}
