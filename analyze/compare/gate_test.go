package compare

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"slackline/model/missing"
)

// judge is the verdict of a condition.
func judge(t *testing.T, r *Result, condition string) Verdict {
	t.Helper()
	c, err := ParseCondition(condition)
	if err != nil {
		t.Fatal(err)
	}
	return r.Judge(c)
}

// timesOf returns a run of 10 s with the times of call paths.
func timesOf(times map[string]float64) Run {
	r := NewRun(Times)
	r.add(RunTime, "", 10)
	for path, v := range times {
		r.add(Time, path, v)
	}
	return r
}

// TestParseCondition: the limit is a part of one or seconds, whatever the way to write it.
func TestParseCondition(t *testing.T) {
	for text, want := range map[string]Condition{
		"run_time>5%":                   {metric: RunTime, relative: true, limit: 0.05},
		" run_time > +5 % ":             {metric: RunTime, relative: true, limit: 0.05},
		"run_time<-1e1%":                {metric: RunTime, below: true, relative: true, limit: -0.1},
		"run_time>1e-3s":                {metric: RunTime, limit: 1e-3},
		"run_time>2.5E+2ms":             {metric: RunTime, limit: 0.25},
		"waiting>7us":                   {metric: Waiting, limit: 7e-6},
		"waiting@a>b/c>3ns":             {metric: Waiting, path: "a>b/c", limit: 3e-9},
		"time@*<-4ps":                   {metric: Time, path: "*", anyPath: true, below: true, limit: -4e-12},
		"time_median_us@bcast 8 B>5%":   {metric: "time_median_us", path: "bcast 8 B", relative: true, limit: 0.05},
		"late_sender@main/MPI_Recv>0s":  {metric: "late_sender", path: "main/MPI_Recv"},
		"delay@operator<int>::run()>1s": {metric: Delay, path: "operator<int>::run()", limit: 1},
	} {
		c, err := ParseCondition(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if d := c.limit - want.limit; d > 1e-15 || d < -1e-15 {
			t.Errorf("%s: limit %g, want %g", text, c.limit, want.limit)
		}
		want.text, want.limit = text, c.limit
		if *c != want {
			t.Errorf("%s: %+v, want %+v", text, *c, want)
		}
	}
	for _, text := range []string{"", ">5%", "run_time", "run_time>", "run_time>5", "run_time>%", "run_time>5h", "run_time>=5%", "run_time>.%",
		"run_time>1e999s", "waiting@>5%", "waiting@ >5%", "run_time@ < -5%", "run_time>5%5%", "RUN_TIME>5%", "run_time>0x10%", "run_time>1e%"} {
		if c, err := ParseCondition(text); err == nil {
			t.Errorf("%q is taken for %+v", text, *c)
		}
	}
}

// TestJudgeRepetitions: a condition that is met fails if the change is significant, is inconclusive if there are too few repetitions for
// anything to be so, and passes if there are enough and the change may be chance.
func TestJudgeRepetitions(t *testing.T) {
	four, slower := runsOf(10, 11, 12, 13), runsOf(20, 21, 22, 23)
	var many []float64
	for i := range 40 {
		many = append(many, 20+float64(i))
	}
	for _, tc := range []struct {
		name          string
		before, after []Run
		condition     string
		want          string
	}{
		{"all slower", four, slower, "run_time>5%", Failed},
		{"all slower, but by less", four, slower, "run_time>100%", Passed},
		{"all faster", slower, four, "run_time<-5%", Failed},
		{"all faster", slower, four, "run_time>5%", Passed},
		{"three of each", four[:3], slower[:3], "run_time>5%", Inconclusive},
		{"three and four", four[:3], slower, "run_time>5%", Inconclusive}, // 2 of 35 orders are as extreme: p = 0.057
		{"three of each, not met", four[:3], four[:3], "run_time>5%", Passed},
		{"one of each", four[:1], slower[:1], "run_time>5%", Failed},
		{"one and four", four[:1], slower, "run_time>5%", Inconclusive},
		{"four and one", four, slower[:1], "run_time>5%", Inconclusive},
		{"one and four, not met", slower[:1], four, "run_time>5%", Passed},
		{"one and four, asks for a change", slower[:1], four, "run_time>-5%", Inconclusive},
		{"one and forty", four[:1], runsOf(many...), "run_time>5%", Failed}, // p = 2/41
		{"mixed up", runsOf(10, 12, 14, 16), runsOf(11, 13, 15, 30), "run_time>5%", Passed},
		{"asks for a change", slower, four, "run_time>-5%", Passed},
		{"asks for a change, has none", four, four, "run_time>-5%", Failed},
		{"asks for a change, which may be chance", runsOf(10, 12, 14, 16), runsOf(9, 11, 12, 14), "run_time>-5%", Inconclusive},
		{"asks for growth", four, slower, "run_time<5%", Passed},
	} {
		r := Compare(tc.before, tc.after, 0.05)
		v := judge(t, r, tc.condition)
		if v.Verdict != tc.want || (v.Warning != "") != (tc.want == Inconclusive) || (len(v.Because) > 0) != (tc.want != Passed) {
			t.Errorf("%s: %s gives %+v, want %s", tc.name, tc.condition, v, tc.want)
		}
	}
}

// TestJudgeBecause: the reasons of a failure are the numbers that fail, not those that decide nothing.
func TestJudgeBecause(t *testing.T) {
	var before, after []Run
	for i := range 4 {
		x := float64(i)
		before = append(before, timesOf(map[string]float64{"main/large": 100 + 10*x, "main/small": 1}))
		after = append(after, timesOf(map[string]float64{"main/large": 90 + 10*x, "main/small": 1}))
	}
	// The large one shrinks by 10 s of 115 s, which may be chance; the small one stays as it is, which is what the condition is about.
	v := judge(t, Compare(before, after, 0.05), "time@*>-5%")
	if v.Verdict != Failed || len(v.Because) != 1 || !strings.HasPrefix(v.Because[0], "time in main/small: 1s to 1s (+0.0 %") {
		t.Errorf("%+v, want a failure because of main/small alone", v)
	}
}

// TestJudgeNothingCompared: a gate does not pass on what was not compared.
func TestJudgeNothingCompared(t *testing.T) {
	some, other := timesOf(map[string]float64{"main/a": 1}), timesOf(map[string]float64{"main/b": 1})
	measured := NewRun(Waits)
	measured.add(RunTime, "", 10)
	whole, cut := NewRun(Times|Waits|Delays), NewRun(Times|Waits|Delays)
	for _, r := range []Run{whole, cut} {
		r.add(RunTime, "", 10)
		r.add(Time, "main/a", 1)
	}
	broken, second, third, some4 := cut, cut, cut, whole
	cut.Missing, broken.Missing = missing.Parts{Off: 0.5}, missing.Parts{Ranks: 1}
	second.Missing, third.Missing = missing.Parts{Begin: 1, End: 2}, missing.Parts{Begin: 1, End: 3}
	some4.Missing = missing.Parts{Only: "0..3"}
	early, solver := timesOf(map[string]float64{"main/a": 0.5}), timesOf(map[string]float64{"main/a": 0.5})
	for _, r := range []Run{early, solver} {
		r.Values[Number{Metric: RunTime}] = 5
	}
	early.Missing, solver.Missing = broken.Missing, cut.Missing
	both, more := timesOf(map[string]float64{"main/a": 1, "main/b": 1}), timesOf(map[string]float64{"main/a": 2})
	both.Kinds, more.Kinds = 0, 0 // main/b was not measured
	void := timesOf(map[string]float64{"main/a": 0})
	idle := NewRun(Times)
	idle.add(RunTime, "", 0)
	for _, tc := range []struct {
		name          string
		before, after Run
		condition     string
		want, because string
	}{
		{"no call path in common", some, other, "time@*>500s", Inconclusive, "the sides have no call path in common"},
		{"one side has it", some, other, "time@main/a>5%", Inconclusive, "B has no call path main/a"},
		{"only the new side has it", some, other, "time@main/b>5%", Inconclusive, "A has no call path main/b"},
		{"only the old side has it", some, other, "time@main/a<-5%", Inconclusive, "B has no call path main/a"},
		{"the other side has it", some, other, "time@main/b<-500s", Inconclusive, "A has no call path main/b"},
		{"misspelled", some, some, "time@main/aa>5%", Inconclusive, "did you mean main/a?"},
		{"not measured", some, some, "waiting>5%", Inconclusive, "not both sides have waiting"},
		{"measured by one side", some, measured, "waiting>5%", Inconclusive, "not both sides have waiting"},
		{"measured, and none found", measured, measured, "waiting>5%", Passed, ""},
		{"none found, but a change asked for", measured, measured, "waiting>-5%", Inconclusive, "not both sides have waiting"},
		{"recorded in part", whole, cut, "waiting>5%", Inconclusive, "a run of B is recorded in part only, a run of A is not"},
		{"as a whole", cut, whole, "time@main/a>5%", Inconclusive, "a run of A is recorded in part only, a run of B is not"},
		{"both in part", cut, cut, "waiting>5%", Passed, ""},
		{"ended early", whole, broken, "run_time>5%", Inconclusive, "a run of B is incomplete (events of 1 rank are missing)"},
		{"both ended early", broken, broken, "run_time>5%", Inconclusive, "a run of A is incomplete (events of 1 rank are missing)"},
		{"other parts", second, third, "run_time>5%", Inconclusive,
			"a run of B is of the part from 1s to 3s only, a run of A is of the part from 1s to 2s only"},
		{"the same part", third, third, "run_time>5%", Passed, ""},
		{"some ranks", whole, some4, "run_time>5%", Inconclusive, "a run of B is of ranks 0..3 only, a run of A is not"},
		{"the same ranks", some4, some4, "run_time>5%", Passed, ""},
		{"the run time is known", whole, cut, "run_time>5%", Passed, ""},
		{"no time", idle, some, "run_time<-5%", Inconclusive, "a run of A took no time"},
		{"no time after", some, idle, "run_time>5%", Inconclusive, "a run of B took no time"},
		{"no time, and a condition that is met", some, idle, "run_time<-5%", Inconclusive, "a run of B took no time"},
		{"out of nothing", idle, some, "run_time>1000000%", Inconclusive, "a run of A took no time"},
		{"ended early, and a condition that is met", whole, early, "run_time<-5%", Inconclusive,
			"a run of B is incomplete (events of 1 rank are missing)"},
		{"in part, and a condition that is met", whole, solver, "time@*<-5%", Inconclusive, "a run of B is recorded in part only"},
		{"in part, and the run time is known", whole, solver, "run_time<-5%", Failed, "10s to 5s (-50.0 %)"},
		{"no time in a call path", void, void, "time@main/a>5%", Passed, ""},
		{"no time in any call path", void, void, "time@*>5%", Inconclusive, "time is 0 in all call paths of A"},
		{"no time in any call path any more", some, void, "time@*>5%", Inconclusive, "time is 0 in all call paths of B"},
		{"failed all the same", both, more, "time@*>5%", Failed, "time in main/a: 1s to 2s (+100.0 %)"},
	} {
		v := judge(t, Compare([]Run{tc.before}, []Run{tc.after}, 0.05), tc.condition)
		if v.Verdict != tc.want || !strings.Contains(strings.Join(v.Because, "; "), tc.because) {
			t.Errorf("%s: %s gives %+v, want %s because %q", tc.name, tc.condition, v, tc.want, tc.because)
		}
	}
}

// TestJudgeMissingPoint: a measurement is a point, which a side has or has not; a pattern does not pass without it.
func TestJudgeMissingPoint(t *testing.T) {
	before, after := NewRun(0), NewRun(0)
	before.add(Time, "bcast p=4 size=8", 1)
	before.add(Time, "bcast p=4 size=64", 1)
	after.add(Time, "bcast p=4 size=8", 1)
	for _, r := range []*Result{Compare([]Run{before}, []Run{after}, 0.05), Compare([]Run{after}, []Run{before}, 0.05)} {
		v := judge(t, r, "time@*>5%")
		if v.Verdict != Inconclusive || len(v.Because) != 1 || v.Because[0] != "only one side has time in bcast p=4 size=64" {
			t.Errorf("%+v, want it inconclusive because of the point", v)
		}
	}
	if v := judge(t, Compare([]Run{before}, []Run{before}, 0.05), "time@*>5%"); v.Verdict != Passed {
		t.Errorf("the same points: %+v", v)
	}
}

// TestJudgeIsMonotonic: a stricter condition never passes where a milder one fails, and conditions in both directions never both fail.
func TestJudgeIsMonotonic(t *testing.T) {
	severity := map[string]int{Passed: 0, Inconclusive: 1, Failed: 2}
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 1))
		side := func() []Run {
			var list []Run
			for range 1 + random.IntN(5) {
				list = append(list, runOf(1+random.Float64(), 1))
			}
			return list
		}
		r := Compare(side(), side(), 0.05)
		last := 2
		for _, percent := range []int{0, 1, 3, 10, 30, 100} {
			grown := severity[judge(t, r, fmt.Sprintf("run_time>%d%%", percent)).Verdict]
			shrunk := severity[judge(t, r, fmt.Sprintf("run_time<%d%%", -min(percent, 99))).Verdict]
			if grown > last {
				t.Errorf("seed %d: growth by %d %% is judged %d, by less %d", seed, percent, grown, last)
			}
			if grown > 0 && shrunk > 0 {
				t.Errorf("seed %d: the run time grows and shrinks by %d %%", seed, percent)
			}
			last = grown
		}
	}
}

// TestOnlyIn names call paths of one side, unless a side may have more than it lists.
func TestOnlyIn(t *testing.T) {
	a, b := timesOf(map[string]float64{"main": 1, "old": 1, "older": 0}), timesOf(map[string]float64{"main": 1, "new": 1})
	r := Compare([]Run{a, a}, []Run{b}, 0.05)
	if old, fresh := r.OnlyIn(0), r.OnlyIn(1); !slices.Equal(old, []string{"old", "older"}) || !slices.Equal(fresh, []string{"new"}) {
		t.Errorf("only in A %q, only in B %q", old, fresh)
	}
	b.Kinds = Waits
	if list := Compare([]Run{a}, []Run{b}, 0.05).OnlyIn(0); list != nil {
		t.Errorf("%q of a side that lists call paths with waits alone", list)
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

// TestJudgeAtTheLimit: a change by exactly the limit is not beyond it, whatever the division of two times leaves.
func TestJudgeAtTheLimit(t *testing.T) {
	for _, tc := range []struct {
		a, b            float64
		condition, want string
	}{
		{100e-6, 105e-6, "run_time>5%", Passed},
		{100e-6, 105.00001e-6, "run_time>5%", Failed},
		{100e-6, 95e-6, "run_time<-5%", Passed},
		{100e-6, 94.99999e-6, "run_time<-5%", Failed},
		{20e-6, 19e-6, "run_time<-1us", Passed},
		{20e-6, 21e-6, "run_time>1us", Passed},
		{20e-6, 21.00001e-6, "run_time>1us", Failed},
		{3, 3.0000000001, "run_time>0%", Failed},
		{3, 3, "run_time>0%", Passed},
	} {
		c, err := ParseCondition(tc.condition)
		if err != nil {
			t.Fatal(err)
		}
		if v := Compare([]Run{runOf(tc.a, 1)}, []Run{runOf(tc.b, 1)}, 0.05).Judge(c); v.Verdict != tc.want {
			t.Errorf("%g to %g, %s: %s, want %s", tc.a, tc.b, tc.condition, v.Verdict, tc.want)
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
