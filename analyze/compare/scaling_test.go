package compare

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"slackline/analyze/profile"
	"slackline/model/unit"
)

// TestScaling: the factors of the computation are those of POP, and their product is that of the useful times.
func TestScaling(t *testing.T) {
	read := func(text string) Run {
		t.Helper()
		r, err := Read([]byte(`{"run": {"time_s": 1}, "computation": ` + text + `}`))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	a := read(`{"useful_s": 8, "useful_instructions": 32e9, "useful_cycles": 16e9, "ipc": 2, "frequency_hz": 2e9, "counters": []}`)
	b := read(`{"useful_s": 16, "useful_instructions": 36e9, "useful_cycles": 24e9, "ipc": 1.5, "frequency_hz": 1.5e9, "counters": []}`)
	r := Compare([]Run{a}, []Run{b}, 0.05)
	s := r.Scaling()
	if s == nil || s.Instructions != 32.0/36 || s.IPC != 0.75 || s.Frequency != 0.75 || math.Abs(s.Computation-0.5) > 1e-15 {
		t.Fatalf("%+v", s)
	}
	if first := r.Changes[0]; first.Metric != UsefulTime || first.Unit != "" {
		t.Errorf("the largest change of a time comes first: %+v", first)
	}
	for condition, want := range map[string]string{"ipc<-20%": Failed, "useful_instructions>20%": Passed, "frequency<-10%": Failed} {
		c, err := ParseCondition(condition)
		if err != nil {
			t.Fatal(err)
		}
		if v := r.Judge(c); v.Verdict != want {
			t.Errorf("%s: %+v, want %s", condition, v, want)
		}
	}
	v := r.Judge(&Condition{metric: IPC, below: true, relative: true})
	if !strings.Contains(strings.Join(v.Because, ""), "ipc: 2 to 1.5 (-25.0 %)") {
		t.Errorf("%+v", v)
	}
	if r := Compare([]Run{a}, []Run{runOf(1, 1)}, 0.05); r.Scaling() != nil || r.Left() < 4 {
		t.Errorf("one side without counters: %+v, %d left out", r.Scaling(), r.Left())
	}
	for text, want := range map[string]string{"ipc@main>1%": "that of the whole run", "ipc>1s": "ipc is not a time"} {
		if _, err := ParseCondition(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestScalingOf: the factors of two runs, worked out by hand; without the counters of both there are none.
func TestScalingOf(t *testing.T) {
	a := &profile.Counts{Instructions: 100, IPC: 2, Frequency: 4e9}
	s := ScalingOf(a, &profile.Counts{Instructions: 400, IPC: 1, Frequency: 2e9})
	want := []Factor{{"computation_scaling", 0.0625}, {"instruction_scaling", 0.25}, {"ipc_scaling", 0.5}, {"frequency_scaling", 0.5}}
	if got := s.Factors(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if s := ScalingOf(a, a); *s != (Scaling{1, 1, 1, 1}) {
		t.Errorf("of a run to itself: %+v", s)
	}
	product := 1.0
	for _, f := range s.Factors()[1:] {
		product *= f.Value
	}
	if product != s.Computation {
		t.Errorf("the product of the factors is %g, that of all %g", product, s.Computation)
	}
	for name, b := range map[string]*profile.Counts{
		"nothing": nil, "no cycles": {Instructions: 1}, "no instructions": {IPC: 1, Frequency: 1}, "no frequency": {Instructions: 1, IPC: 1},
		"none of them": {},
	} {
		if x, y := ScalingOf(a, b), ScalingOf(b, a); x != nil || y != nil {
			t.Errorf("%s: %+v, %+v", name, x, y)
		}
	}
}

// TestOfHasCounts: a run with counters has their numbers, as far as they were counted.
func TestOfHasCounts(t *testing.T) {
	r := NewRun(0)
	r.countsOf(nil)
	r.countsOf(&profile.Counts{})
	if len(r.Values) != 0 {
		t.Errorf("nothing was counted: %v", r.Values)
	}
	r.countsOf(&profile.Counts{Useful: unit.SumOf(3 * unit.Second), Instructions: 7, IPC: 0.5})
	want := map[Number]float64{{UsefulTime, ""}: 3, {Instructions, ""}: 7, {IPC, ""}: 0.5}
	if !maps.Equal(r.Values, want) {
		t.Errorf("%v, want %v", r.Values, want)
	}
}
