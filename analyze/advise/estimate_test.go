package advise_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"slackline/analyze/advise"
	"slackline/model/machine"
	"slackline/model/timeline"
	"slackline/model/trace"
	"slackline/model/trace/tracetest"
)

// recorded reads a run that is written as text, in us, with the times as they are.
func recorded(t *testing.T, text string) *timeline.Timeline {
	t.Helper()
	tl, err := trace.ToTimeline(tracetest.Open(t, "slackline trace 1\nunit us\n"+text), trace.TimelineOptions{Clock: trace.ClockNone})
	if err != nil {
		t.Fatal(err)
	}
	return tl
}

// exchange is a message of a size: rank 0 sends it in a call from one time to another, rank 1 receives it in the same way.
type exchange struct {
	size                   int
	send, sent, recv, came int64
}

func exchanges(list ...exchange) string {
	text := [2]string{"rank 0\n", "rank 1\n"}
	for _, x := range list {
		text[0] += fmt.Sprintf("%v..%v MPI_Send: send to 1 size %d\n", x.send, x.sent, x.size)
		text[1] += fmt.Sprintf("%v..%v MPI_Recv: recv from 0 size %d\n", x.recv, x.came, x.size)
	}
	return text[0] + text[1]
}

// TestEstimate: parameters from messages, worked out by hand.
func TestEstimate(t *testing.T) {
	for _, tc := range []struct {
		name, run string
		want      string // flags
	}{
		{"nothing", "rank 0\n0..1 f\n", "-L 0 -o 0 -g 0 -G 0"},
		// The receiver waits, the message takes 9 us, of which the sender is in its call for 2: o is 2, L what is left of 9 after 2 o.
		{"a small message", exchanges(exchange{8, 10, 12, 0, 19}), "-L 5us -o 2us -g 2us -G 0"},
		// A send that takes longer than a third of the way is not all overhead.
		{"a slow send", exchanges(exchange{8, 10, 18, 0, 19}), "-L 3us -o 3us -g 3us -G 0"},
		// Quick ones count: of 9, 9, 9 and 900 us the lower quartile is 9.
		{"one that waited for a CPU", exchanges(exchange{8, 10, 12, 0, 19}, exchange{8, 30, 32, 21, 39}, exchange{8, 50, 52, 41, 59},
			exchange{8, 70, 72, 61, 970}), "-L 5us -o 2us -g 2us -G 0"},
		// 100,000 bytes take 9 + 100 us: 1 ns each.
		{"a large message", exchanges(exchange{8, 10, 12, 0, 19}, exchange{100000, 30, 33, 20, 139}), "-L 5us -o 2us -g 2us -G 1ns"},
		// A receiver that comes late: small sends are done before, one of 50,000 bytes waits. S is the largest that did not wait.
		{"an eager limit", exchanges(exchange{1000, 0, 2, 10, 11}, exchange{4000, 20, 22, 30, 31}, exchange{8000, 40, 60, 50, 60}),
			"-L 0 -o 0 -g 0 -G 0 -S 4000B"},
		{"all sends wait", exchanges(exchange{5000, 40, 60, 50, 60}), "-L 0 -o 0 -g 0 -G 0 -S 4999B"},
		{"no send waits", exchanges(exchange{5000, 40, 42, 50, 60}), "-L 0 -o 0 -g 0 -G 0"},
		{"the size does not tell", exchanges(exchange{5000, 0, 20, 10, 20}, exchange{6000, 40, 42, 50, 60}), "-L 0 -o 0 -g 0 -G 0"},
		// A send that waits goes on when the receiver comes: 50 us for 50,000 bytes.
		{"a large send that waits", exchanges(exchange{50000, 0, 60, 10, 60}), "-L 0 -o 0 -g 0 -G 1ns -S 49999B"},
		// Without messages, from the last that comes to the last that leaves: 12 us for the two steps of a tree of four.
		{"a barrier", "rank 0\n0..22 MPI_Barrier: barrier\nrank 1\n1..21 MPI_Barrier: barrier\nrank 2\n10..22 MPI_Barrier: barrier\n" +
			"rank 3\n2..20 MPI_Barrier: barrier\n", "-L 2us -o 2us -g 2us -G 0"},
		{"a barrier of one", "rank 0\n0..22 MPI_Barrier: barrier\n", "-L 0 -o 0 -g 0 -G 0"},
	} {
		m := advise.Estimate(recorded(t, tc.run))
		if got := strings.Join(advise.Flags(m), " "); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

// TestEstimateOfShiftedClocks: when the run began does not matter, not even if it began before 0.
func TestEstimateOfShiftedClocks(t *testing.T) {
	for _, run := range []func(start int64) string{
		func(s int64) string {
			return exchanges(exchange{8, s + 10, s + 12, s, s + 19}, exchange{100000, s + 30, s + 33, s + 20, s + 139},
				exchange{20000, s + 200, s + 300, s + 250, s + 300})
		},
		func(s int64) string {
			return fmt.Sprintf("rank 0\n%v..%v MPI_Barrier: barrier\nrank 1\n%v..%v MPI_Barrier: barrier\n", s, s+30, s+10, s+30)
		},
	} {
		want := advise.Flags(advise.Estimate(recorded(t, run(0))))
		if !slices.ContainsFunc(want, func(word string) bool { return strings.HasSuffix(word, "us") }) {
			t.Errorf("nothing was estimated: %v", want)
		}
		for _, start := range []int64{1e6, -100, -1e6} {
			if got := advise.Flags(advise.Estimate(recorded(t, run(start)))); !slices.Equal(got, want) {
				t.Errorf("from %v us on: %v, want %v", start, got, want)
			}
		}
	}
}

// TestEstimateOfOddClocks: messages that arrive before they were sent, as clocks that differ show them, give no negative times.
func TestEstimateOfOddClocks(t *testing.T) {
	for name, run := range map[string]string{
		"small":      exchanges(exchange{8, 50, 52, 0, 10}),
		"most small": exchanges(exchange{8, 50, 52, 0, 10}, exchange{8, 70, 72, 20, 30}, exchange{8, 80, 81, 40, 90}),
		"large":      exchanges(exchange{100000, 50, 52, 0, 10}),
	} {
		p := &advise.Estimate(recorded(t, run)).Classes[machine.Far]
		if p.Latency < 0 || p.Gap < 0 || p.Overhead[0].Value < 0 || p.PerByte[0].Value < 0 {
			t.Errorf("%s: %v", name, advise.Flags(advise.Estimate(recorded(t, run))))
		}
	}
}

// TestSourceOf: where the code of a call path is, as far as the run knows it.
func TestSourceOf(t *testing.T) {
	tl := recorded(t, `
region solve user function at /home/me/code/solve.c 120
rank 0
0 main {
  0..5 solve
} 10
`)
	at := advise.SourceOf(tl)
	if at("main/solve") != "solve.c:120" || at("main") != "" || at("solve") != "" || at("") != "" {
		t.Errorf("%q, %q, %q", at("main/solve"), at("main"), at("solve"))
	}
}
