package tables

import (
	"testing"

	"slackline/analyze/advise"
	"slackline/model/unit"
)

// advised are two changes: one of a call path with an interval, one of the machine without.
func advised() []advise.Advice {
	return []advise.Advice{
		{Change: advise.Change{Kind: "faster", Target: "main/solve", Value: "2x"}, Sentence: "Halving main/solve", Gain: 0.25, Low: 0.2,
			High:    0.3,
			RunTime: unit.Nanoseconds(75 * unit.Millisecond), Before: unit.Nanoseconds(100 * unit.Millisecond),
			PaysFrom: "1.1x", Command: "slackline simulate a.slt --change 'faster main/solve 2x'"},
		{Change: advise.Change{Kind: "latency", Value: "1us"}, Sentence: "A latency of 1 us", Gain: 0.05, Low: 0.05, High: 0.05,
			RunTime: unit.Nanoseconds(95 * unit.Millisecond)},
	}
}

func TestAdvice(t *testing.T) {
	tab := Advice(advised(), 0)
	wantText(t, tab.Pick("gain", "interval", "run time", "kind", "change", "pays from", "callpath"), `
  gain        interval  run time  kind     change  pays from  callpath
25.0 %  20.0 to 30.0 %      75ms  faster   2x           1.1x  main/solve
 5.0 %           5.0 %      95ms  latency  1us`)
	if c := tab.Rows[0][10]; c.Mark != "command" || c.Value != advised()[0].Command {
		t.Errorf("the command is %+v", c)
	}
	want := "Halving main/solve saves 25.0 % (20.0 to 30.0 %) of the run time: 75ms instead of 100ms."
	if got := tab.Rows[0][9].Text; got != want {
		t.Errorf("the sentence is %q, want %q", got, want)
	}
	if got := tab.Rows[1][6].Text; got != "" {
		t.Errorf("a change of the machine is at the call path %q", got)
	}
	for limit, want := range map[int]int{0: 2, 1: 1, 2: 2, 3: 2} {
		if got := len(Advice(advised(), limit).Rows); got != want {
			t.Errorf("limit %d: %d rows, want %d", limit, got, want)
		}
	}
}

func TestCeilings(t *testing.T) {
	wantText(t, Ceilings([]advise.Ceiling{
		{Name: "perfect balance", RunTime: unit.Nanoseconds(80 * unit.Millisecond), Gain: 0.2},
		{Name: "ideal network", RunTime: unit.Nanoseconds(100 * unit.Millisecond)},
	}), `
ceiling          run time    gain
perfect balance      80ms  20.0 %
ideal network       100ms     0 %`)
}
