package missing

import "testing"

func TestDoubt(t *testing.T) {
	whole, solver := Run{Name: "a"}, Run{Name: "b", Parts: Parts{Off: 0.5}}
	for _, tc := range []struct {
		runs          []Run
		other, ofTime string
	}{
		{nil, "", ""},
		{[]Run{whole, {Name: "b"}}, "", ""},
		{[]Run{whole, {Name: "b", Parts: Parts{Off: 0.009, Simulated: true}}}, "", ""},
		{[]Run{solver, {Name: "c", Parts: Parts{Off: 0.7}}}, "", ""},
		{[]Run{whole, solver}, "b is recorded in part only, a is not", ""},
		{[]Run{solver, whole}, "b is recorded in part only, a is not", ""},
		{[]Run{{}, solver}, "b is recorded in part only, others are not", ""},
		{[]Run{whole, {Name: "b", Parts: Parts{Off: 0.5, Simulated: true}}}, "b is simulated from a part, a is not",
			"b is simulated from a part, a is not"},
		{[]Run{solver, {Name: "c", Parts: Parts{Off: 0.5, How: "window 1s..2s"}}},
			"c is recorded in part only (window 1s..2s), b is recorded in part only", ""},
		{[]Run{{Name: "b", Parts: Parts{Off: 0.5, How: Ring}}, {Name: "c", Parts: Parts{Off: 0.5, How: Ring}}},
			"b is recorded in part only (ring)", ""},
		{[]Run{{Name: "b", Parts: Parts{Ranks: 1}}, {Name: "c", Parts: Parts{Ranks: 1}}},
			"b is incomplete (events of 1 rank are missing)", "b is incomplete (events of 1 rank are missing)"},
		{[]Run{{Name: "b", Parts: Parts{Only: "0..3"}}, {Name: "c", Parts: Parts{Only: "0..3"}}}, "", ""},
		{[]Run{whole, {Name: "b", Parts: Parts{Files: 2}}}, "b is incomplete (2 files are damaged or missing)",
			"b is incomplete (2 files are damaged or missing)"},
		{[]Run{whole, {Name: "c", Parts: Parts{Only: "0..3"}}}, "c is of ranks 0..3 only, a is not", "c is of ranks 0..3 only, a is not"},
		{[]Run{{Name: "b", Parts: Parts{Begin: 1, End: 2}}, {Name: "c", Parts: Parts{Begin: 1}}},
			"c is of the part from 1s on only, b is of the part from 1s to 2s only",
			"c is of the part from 1s on only, b is of the part from 1s to 2s only"},
		{[]Run{{Name: "a", Machine: "chic"}, {Name: "b", Machine: "chic"}, whole}, "", ""},
		{[]Run{whole, {Name: "b", Machine: "chic"}, {Name: "c", Machine: "altix"}}, "c is of the machine altix, b is of chic",
			"c is of the machine altix, b is of chic"},
		{[]Run{whole, {Name: "c", Parts: Parts{Whole: true}}}, "c is with the start and the end of MPI, a is not", ""},
	} {
		if got := Doubt(tc.runs, Time); got != tc.other {
			t.Errorf("%+v: %q, want %q", tc.runs, got, tc.other)
		}
		if got := Doubt(tc.runs, RunTime); got != tc.ofTime {
			t.Errorf("run times of %+v: %q, want %q", tc.runs, got, tc.ofTime)
		}
	}
}

// TestUnmatched wants messages without partner to matter to waits, and to all that was simulated without them.
func TestUnmatched(t *testing.T) {
	for _, simulated := range []bool{false, true} {
		runs := []Run{{Name: "a"}, {Name: "b", Parts: Parts{Unmatched: 2, Simulated: simulated}}}
		for _, kind := range []Kind{Time, RunTime, Wait} {
			want := ""
			if simulated || kind == Wait {
				want = "b is with unmatched messages or collectives (2)"
			}
			if got := Doubt(runs, kind); got != want || Doubt(runs[1:], kind) != want {
				t.Errorf("kind %d, simulated %v: %q, want %q", kind, simulated, got, want)
			}
		}
	}
}

// TestGuessed wants connections that may be others to matter to waits, and to all that was simulated with them.
func TestGuessed(t *testing.T) {
	for _, simulated := range []bool{false, true} {
		run := Run{Name: "b", Parts: Parts{Guessed: 2, Simulated: simulated}}
		for _, kind := range []Kind{Time, RunTime, Wait} {
			want := ""
			if simulated || kind == Wait {
				want = "b is with guessed connections between started processes (2)"
			}
			if got := Doubt([]Run{run}, kind); got != want {
				t.Errorf("kind %d, simulated %v: %q, want %q", kind, simulated, got, want)
			}
		}
	}
	if (&Parts{Guessed: -1}).Check() == nil {
		t.Error("fewer than no guessed connections")
	}
}

// TestCircles wants wrong clocks to matter to waits alone.
func TestCircles(t *testing.T) {
	runs := []Run{{Name: "a"}, {Name: "b", Parts: Parts{Circles: 2}}}
	want := "b is of wrong clocks (2 wait states depend on each other in circles)"
	for kind, want := range map[Kind]string{Time: "", RunTime: "", Wait: want} {
		if got := Doubt(runs, kind); got != want {
			t.Errorf("kind %d: %q, want %q", kind, got, want)
		}
	}
	if runs[1].IsWhole() || len(Join(nil, runs...)) != 2 {
		t.Error("a run with circles counts as a whole one")
	}
}

func TestJoin(t *testing.T) {
	list := Join(nil, Run{Name: "a"}, Run{Name: "b", Parts: Parts{Ranks: 1}}, Run{Name: "c"}, Run{Name: "d", Parts: Parts{Ranks: 1}})
	if len(list) != 2 || list[0].Name != "a" || list[1].Name != "b" {
		t.Errorf("%+v", list)
	}
}

func TestRanks(t *testing.T) {
	for want, list := range map[string][]int{"": nil, "7": {7}, "0..3,7,9..10": {0, 1, 2, 3, 7, 9, 10}} {
		if got := Ranks(list); got != want {
			t.Errorf("%v: %q, want %q", list, got, want)
		}
	}
}
