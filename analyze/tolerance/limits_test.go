package tolerance

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slackline/model/machine"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// readGoal prepares a schedule that is given as text.
func readGoal(t testing.TB, text string) *Schedule {
	t.Helper()
	g, err := schedule.Read("test.goal", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Prepare(g, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// plain are parameters in picoseconds and femtoseconds per byte.
func plain(latency, overhead, perByte int64) machine.Params {
	return machine.Params{
		Latency: unit.Duration(latency), Overhead: machine.One(unit.Duration(overhead)),
		PerByte: machine.One(unit.PerByte(perByte)), Eager: machine.NoLimit,
	}
}

// TestCycle checks what a cycle is called.
func TestCycle(t *testing.T) {
	deadlock := plain(1000, 0, 0)
	deadlock.Eager = 100
	gap := plain(1000, 0, 0)
	gap.Gap = 1
	for _, tc := range []struct {
		name, goal string
		params     machine.Params
		want       string
	}{
		{"rendezvous", "num_ranks 2\nrank 0 {\na: send 200b to 1\nb: recv 200b from 1\nb requires a\n}\n" +
			"rank 1 {\nx: send 200b to 0\ny: recv 200b from 0\ny requires x\n}\n", deadlock,
			"test.goal: cycle: rank 0 a -> rank 0 b -> rank 1 x -> rank 1 y -> rank 0 a"},
		{"eager", "num_ranks 2\nrank 0 {\na: recv 8b from 1\ncalc 1\nc: send 9b to 1\nc requires a\n}\n" +
			"rank 1 {\nx: recv 9b from 0\ny: send 8b to 0\ny requires x\n}\n", deadlock,
			"test.goal: cycle: rank 0 a -> rank 0 c -> rank 1 x -> rank 1 y -> rank 0 a"},
		{"gap", "num_ranks 1\nrank 0 {\nsend 8b to 0\nb: send 8b to 0\nrecv 8b from 0\nd: recv 8b from 0\n}\n", gap, ""},
		{"gap and requires", "num_ranks 1\nrank 0 {\na: send 8b to 0\nb: send 8b to 0\na requires b\nrecv 8b from 0\nrecv 8b from 0\n}\n", gap,
			"test.goal: cycle: rank 0 a -> rank 0 b -> rank 0 a"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := readGoal(t, tc.goal)
			n := network(t, s, tc.params)
			_, evaluated := s.Evaluate(n)
			_, built := s.Build(n, Variable{})
			for _, err := range []error{evaluated, built} {
				var cycle *schedule.CycleError
				if tc.want == "" && err != nil || tc.want != "" && (!errors.As(err, &cycle) || err.Error() != tc.want) {
					t.Errorf("error %v, want %q", err, tc.want)
				}
			}
		})
	}
}

// TestOverflow checks that times that do not fit are refused, and that all that fits is computed.
func TestOverflow(t *testing.T) {
	message := "num_ranks 2\nrank 0 {\na: calc %d\nb: send %db to 1\nb requires a\n}\nrank 1 {\nc: recv 1b from 0\nd: calc %d\n" +
		"d requires c\n}\n"
	const days = 86_400_000_000_000 // in ns
	for _, tc := range []struct {
		name             string
		before, size, at int64
		params           machine.Params
		fits             bool
	}{
		{"fits", 50 * days, 1, 56 * days, plain(1000, 0, 0), true},
		{"calculations", 50 * days, 1, 57 * days, plain(1000, 0, 0), false},
		{"latency", 50 * days, 1, 56 * days, plain(1e18, 0, 0), false},
		{"bytes", 1, 1 << 62, 1, plain(1000, 0, 1_000_000), false},
		{"many bytes", 1, 1 << 40, 1, plain(1000, 0, 1000), true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := readGoal(t, fmt.Sprintf(message, tc.before, tc.size, tc.at))
			n := network(t, s, tc.params)
			e, evaluated := s.Evaluate(n)
			g, built := s.Build(n, Variable{})
			if !tc.fits {
				if !errors.Is(evaluated, ErrOverflow) || !errors.Is(built, ErrOverflow) && g != nil {
					if _, err := g.At(g.Given()); !errors.Is(err, ErrOverflow) {
						t.Errorf("errors %v, %v and %v, want an overflow", evaluated, built, err)
					}
				}
				return
			}
			if evaluated != nil || built != nil {
				t.Fatal(evaluated, built)
			}
			p, err := g.At(g.Given())
			if err != nil || p.T != int64(e.T) {
				t.Errorf("T = %d (error %v), want %d", p.T, err, e.T)
			}
		})
	}
}

// TestLargeValues looks for breakpoints where values are too large for anything but fractions of 128
// bits, and beyond.
func TestLargeValues(t *testing.T) {
	const days = 86_400_000_000_000 // in ns
	s := readGoal(t, fmt.Sprintf(`num_ranks 2
rank 0 {
a: send 1b to 1
b: recv 1b from 1
c: calc %d
c requires b
}
rank 1 {
x: recv 1b from 0
y: calc %d
z: send 1b to 0
z requires x
calc %d
}
`, 3*days, 70*days, 75*days))
	g, err := s.Build(network(t, s, plain(1000, 0, 0)), Variable{})
	if err != nil {
		t.Fatal(err)
	}
	// T = max(75 days, 3 days + 2 L)
	got, err := g.breakpointsWithin(0, 50*days*1000, 0)
	want := []Breakpoint{{Fraction{36 * days * 1000, 0, 1}, 0, 2}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("breakpoints, error %v (-want +got):\n%s", err, diff)
	}
	if _, err := g.breakpointsWithin(0, 60*days*1000, 0); !errors.Is(err, ErrOverflow) {
		t.Errorf("error %v, want an overflow", err)
	}
	if _, err := g.At(-1); err == nil || !strings.Contains(err.Error(), "smallest") {
		t.Errorf("error %v, want one about the smallest value", err)
	}
	lower, upper, err := validAround(g.Search(), 1000)
	if err != nil || lower != 0 || upper != (Largest{X: 36 * days * 1000}) {
		t.Errorf("valid from %d to %+v (error %v)", lower, upper, err)
	}
}

// TestSteepSlopes has slopes over G that do not fit into one edge.
func TestSteepSlopes(t *testing.T) {
	const size = 5<<30 + 1
	var b strings.Builder
	b.WriteString("num_ranks 2\nrank 0 {\n")
	const messages = 4
	for i := range messages {
		fmt.Fprintf(&b, "s%d: send %db to 1 tag %d\n", i, int64(size), i)
		if i > 0 {
			fmt.Fprintf(&b, "r%d: recv 1b from 1 tag %d\ns%d requires r%d\n", i, i, i, i)
		}
	}
	b.WriteString("}\nrank 1 {\n")
	for i := range messages {
		fmt.Fprintf(&b, "r%d: recv 1b from 0 tag %d\n", i, i)
		if i > 0 {
			fmt.Fprintf(&b, "s%d: send 1b to 0 tag %d\ns%d requires r%d\n", i, i, i, i-1)
		}
	}
	b.WriteString("w: calc 70000000\n}\n")
	s := readGoal(t, b.String())
	g, err := s.Build(network(t, s, plain(1000, 0, 1000)), Variable{Parameter: G})
	if err != nil {
		t.Fatal(err)
	}
	p, err := g.At(2000)
	const latencies = (2*messages - 1) * 1000 * 1000 // in fs
	if want := (Point{2000, 70_000_000_000_000, 0, 0}); err != nil || p != want {
		t.Errorf("at 2000: %+v (error %v), want %+v", p, err, want)
	}
	if p, err = g.At(4000); err != nil || p.Right != messages*(size-1) || p.T != latencies+4000*messages*(size-1) {
		t.Errorf("at 4000: %+v (error %v), want slope %d", p, err, int64(messages*(size-1)))
	}
	got, err := g.breakpointsWithin(0, 10_000, 0)
	x := big.NewRat(70_000_000_000_000-latencies, messages*(size-1))
	if err != nil || len(got) != 1 || got[0].X.rat().Cmp(x) != 0 || got[0].After != messages*(size-1) {
		t.Errorf("breakpoints %+v (error %v), want one at %s", got, err, x)
	}
}

// TestTooSteep has a message that is too large for a curve over G, though it costs nothing.
func TestTooSteep(t *testing.T) {
	s := readGoal(t, "num_ranks 1\nrank 0 {\nsend 4611686018427387904b to 0\nrecv 1b from 0\n}\n")
	n := network(t, s, plain(1000, 0, 0))
	if _, err := s.Build(n, Variable{Parameter: G}); !errors.Is(err, errSteep) {
		t.Errorf("error %v, want %v", err, errSteep)
	}
	if _, err := s.Build(n, Variable{}); err != nil {
		t.Error(err)
	}
}

// TestWhatIf makes one of two call paths faster, until the other one is critical.
func TestWhatIf(t *testing.T) {
	build := schedule.NewBuilder(2)
	for rank, cost := range []int64{1000, 700} {
		var b schedule.Block
		b.Calc(cost)
		b.Ops[0].Origin = uint32(rank + 1)
		build.Add(rank, &b)
	}
	build.SetOrigins([]schedule.Origin{{}, {Path: []string{"main", "slow"}}, {Path: []string{"main", "fast"}}})
	s, err := Prepare(build.Graph(), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	e, err := s.Evaluate(network(t, s, plain(0, 0, 0)))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		origin  uint32
		percent string
		want    unit.Duration
	}{
		{1, "0", 1000}, {1, "10", 900}, {1, "12.35", 877}, {1, "50", 700}, {1, "100", 700}, {2, "50", 1000},
	} {
		percent, err := ParsePercent(tc.percent)
		if err != nil {
			t.Fatal(err)
		}
		got, err := e.WhatIf(func(origin uint32) bool { return origin == tc.origin }, percent)
		if err != nil || got != tc.want {
			t.Errorf("%s less of origin %d: T = %d (error %v), want %d", percent, tc.origin, got, err, tc.want)
		}
	}
	if _, err := e.WhatIf(func(uint32) bool { return true }, Percent{value: 101}); err == nil {
		t.Error("101 % less is possible")
	}
	if diff := cmp.Diff([]unit.Duration{0, 1000, 700}, s.Work()); diff != "" {
		t.Errorf("work by origin (-want +got):\n%s", diff)
	}
}

func TestPercent(t *testing.T) {
	for text, want := range map[string]string{
		"5": "5%", "5%": "5%", "0.25%": "0.25%", "1.50": "1.5%", ".5": "0.5%", "0": "0%", "0.0": "0%", "1000000%": "1000000%",
	} {
		if got, err := ParsePercent(text); err != nil || got.String() != want {
			t.Errorf("ParsePercent(%q) = %v, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "%", ".", "-1", "1e3", "5 %", "1000001", "0.1234567890123", "five", "1.2.3"} {
		if got, err := ParsePercent(text); err == nil {
			t.Errorf("ParsePercent(%q) = %v, want an error", text, got)
		}
	}
	if got, ok := (Percent{value: 125, places: 2}).above(1_000_001); !ok || got != 1_012_501 {
		t.Errorf("1.25%% above 1000001 = %d, %v, want 1012501", got, ok)
	}
}

// TestWarnings checks when a receive from any source is called ambiguous.
func TestWarnings(t *testing.T) {
	s := readGoal(t, "num_ranks 3\nrank 0 {\nrecv 1b from -1\nl2: recv 1b from -1 tag 7\nrecv 1b from 2 tag -1\n}\n"+
		"rank 1 {\nsend 1b to 0\nsend 1b to 0 tag 7\n}\nrank 2 {\nsend 1b to 0 tag 7\n}\n")
	if w := s.Warnings(); len(w) != 1 || !strings.HasPrefix(w[0], "1 of the receives from any source, the first is rank 0 l2, ") {
		t.Errorf("warnings %q", w)
	}
	s = readGoal(t, "num_ranks 2\nrank 0 {\nrecv 1b from -1\nrecv 1b from -1\n}\nrank 1 {\nsend 1b to 0\nsend 1b to 0\n}\n")
	if w := s.Warnings(); len(w) > 0 {
		t.Errorf("warnings %q, want none", w)
	}
}
