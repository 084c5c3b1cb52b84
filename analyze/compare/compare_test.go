package compare

import (
	"strings"
	"testing"
)

// runOf returns a run with a run time and the time of one call path.
func runOf(runTime, solve float64) Run {
	r := NewRun(Times)
	r.add(RunTime, "", runTime)
	r.add(Time, "main/solve", solve)
	return r
}

func runsOf(times ...float64) []Run {
	var list []Run
	for _, t := range times {
		list = append(list, runOf(t, t/2))
	}
	return list
}

func TestCompare(t *testing.T) {
	r := Compare([]Run{runOf(2, 1)}, []Run{runOf(3, 1)}, 0.05)
	if len(r.Changes) != 2 || r.Left != 0 || r.Runs() != [2]int{1, 1} {
		t.Fatalf("%+v", r)
	}
	whole, solve := r.Changes[0], r.Changes[1]
	if whole.Metric != RunTime || whole.Difference != 1 || *whole.Relative != 0.5 || whole.P != nil || !whole.Significant {
		t.Errorf("run time: %+v", whole)
	}
	if solve.Path != "main/solve" || solve.Difference != 0 || solve.Significant {
		t.Errorf("solve: %+v", solve)
	}
}

func TestCompareRepetitions(t *testing.T) {
	r := Compare(runsOf(1, 1.1, 1.2, 1.3), runsOf(2, 2.1, 2.2, 2.3), 0.05)
	if c := r.Changes[0]; c.P == nil || *c.P > 0.05 || !c.Significant {
		t.Errorf("a change in all repetitions is not significant: %+v", c)
	}
	r = Compare(runsOf(1, 2, 1, 2), runsOf(2, 1, 2, 1), 0.05)
	if c := r.Changes[0]; c.Significant {
		t.Errorf("chance is significant: %+v", c)
	}
}

func TestCompareLeavesOutWhatOneSideHas(t *testing.T) {
	a, b := runOf(1, 1), runOf(1, 1)
	b.add(Delay, "main/solve", 1) // a has not measured delays
	if r := Compare([]Run{a}, []Run{b}, 0.05); r.Left != 1 || len(r.Changes) != 2 {
		t.Errorf("left out %d, %d changes; want 1 and 2", r.Left, len(r.Changes))
	}
}

func TestRead(t *testing.T) {
	r, err := Read([]byte(`{"run": {"time_s": 2}, "waits": [
		{"metric": "late_sender", "callpath": "main/MPI_Recv", "seconds": 0.5},
		{"metric": "late_sender_wrong_order", "callpath": "main/MPI_Recv", "seconds": 0.25}], "delays": [{"callpath": "main", "short_s": 1, "long_s": 2}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[Number]float64{
		{RunTime, ""}: 2, {Waiting, ""}: 0.5, {"late_sender_wrong_order", "main/MPI_Recv"}: 0.25, {Delay, "main"}: 3,
	} {
		if r.Values[n] != want {
			t.Errorf("%v = %v, want %v", n, r.Values[n], want)
		}
	}
	if r.Kinds != Waits|Delays {
		t.Errorf("kinds %v, want those of waits and delays", r.Kinds)
	}
	for _, text := range []string{"[]", `{"run": {}}`, "{"} {
		if _, err := Read([]byte(text)); err == nil {
			t.Errorf("%s is taken for a result", text)
		}
	}
}

func TestJudge(t *testing.T) {
	slower := Compare([]Run{runOf(2, 1)}, []Run{runOf(3, 1)}, 0.05)
	for _, tc := range []struct{ condition, want, because string }{
		{"run_time>5%", Failed, "2s to 3s (+50.0 %)"},
		{"run_time>60%", Passed, ""},
		{"run_time<0%", Passed, ""},
		{"run_time<60%", Failed, "2s to 3s (+50.0 %)"},
		{"run_time<40%", Passed, ""},
		{"time@main/solve>-5%", Failed, "(+0.0 %)"},
		{"time@main/solve>-1ms", Failed, "(+0.0 %)"},
		{"time@main/solve>1ms", Passed, ""},
		{"time@*>1ms", Passed, ""},
		{"time@main/other>1%", Inconclusive, "A has no call path main/other"},
		{"late_sender@main/solve>1%", Inconclusive, "not both sides have late_sender in main/solve"},
	} {
		c, err := ParseCondition(tc.condition)
		if err != nil {
			t.Errorf("%s: %v", tc.condition, err)
			continue
		}
		v := slower.Judge(c)
		if v.Verdict != tc.want || !strings.Contains(strings.Join(v.Because, ""), tc.because) {
			t.Errorf("%s: %+v, want %s because %q", tc.condition, v, tc.want, tc.because)
		}
	}
}

func TestParseConditionRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"run_time=5":       "is not METRIC",
		"runtime>5%":       "did you mean run_time?",
		"run_time@main>5%": "that of the whole run",
		"time>5%":          "measured by call path",
		"run_time<-100%":   "more than 100 %",
	} {
		if _, err := ParseCondition(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
