package inject

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"slackline/model/noise"
	"slackline/model/unit"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// panelTimes are the least times of the repetitions of figure8.c, in nanoseconds: load does not make them smaller.
type panelTimes struct{ sender, first, second, late int64 }

func leastTimes(t *testing.T, text string) panelTimes {
	t.Helper()
	var least panelTimes
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		var p panelTimes
		if _, err := fmt.Sscan(line, &p.sender, &p.first, &p.second, &p.late); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if i == 0 {
			least = p
		}
		least = panelTimes{min(least.sender, p.sender), min(least.first, p.first), min(least.second, p.second), min(least.late, p.late)}
	}
	return least
}

// TestPanels tells the panels b, c and d of the paper's figure 8 apart.
func TestPanels(t *testing.T) {
	const latency = 20 * unit.Millisecond
	ns := int64(latency / unit.Nanosecond)
	mpitest.Both(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "figure8.c")
		for _, panel := range []string{"b", "c", "d"} {
			o := Options{Base: -1, Panel: panel, Sleep: "on", Command: []string{fmt.Sprint(ns), "4"}}
			oneOfNine(t, l, program, o, latency.String(), func(r *injected) (wrong string) {
				got := leastTimes(t, r.stdout)
				if got.first < ns || got.second < ns {
					t.Errorf("%s: a message came after %d and %d ns, earlier than the latency", panel, got.first, got.second)
				}
				twice := got.second >= 2*ns-ns/10
				switch delayed := got.sender >= 2*ns; {
				case panel == "b" && !delayed:
					t.Errorf("%s: two sends took %d ns", panel, got.sender)
				case panel == "c" && !twice:
					t.Errorf("%s: the second message came after %d ns", panel, got.second)
				case panel != "b" && delayed, panel != "c" && twice, panel == "d" && got.late >= 4*ns:
					wrong = fmt.Sprintf("%s: later than the latency explains: %+v", panel, got)
				}
				return wrong
			})
		}
	})
}

// TestPairs wants the latency for the messages it was asked for, and for no others.
func TestPairs(t *testing.T) {
	const ns = 20_000_000
	mpitest.Both(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "figure8.c")
		for latency, held := range map[string]bool{"20ms@0>1": true, "20ms@1>0": false, "20ms@0-1": true, "20ms@1..3>*": false} {
			o := Options{Base: 0, Sleep: "on", Command: []string{fmt.Sprint(ns), "3"}}
			r := oneOfNine(t, l, program, o, latency, func(r *injected) (wrong string) {
				switch got := leastTimes(t, r.stdout).first; {
				case held && got < ns:
					t.Errorf("%s: a message from 0 to 1 took %d ns", latency, got)
				case !held && got >= ns:
					wrong = fmt.Sprintf("%s: a message from 0 to 1 took %d ns", latency, got)
				}
				return wrong
			})
			if sum := r.Sum(func(x *RankReport) int64 { return x.Held }); sum > 0 != held {
				t.Errorf("%s: %d calls were held", latency, sum)
			}
		}
	})
}

// TestNoise wants the CPU to be taken for as long as the profile says, and calls that sleep not to be cut short.
func TestNoise(t *testing.T) {
	profile, err := noise.Parse("100Hz:2ms")
	if err != nil {
		t.Fatal(err)
	}
	mpitest.Both(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "noisy.c")
		r := inject(t, l, 2, program, Options{Base: -1, Noise: profile, Seed: 3})
		if r.err != nil || r.ExitCode != 0 {
			t.Fatalf("%v, exit code = %d\n%s%s", r.err, r.ExitCode, r.stdout, r.stderr)
		}
		for _, x := range r.ByRank {
			// A detour is noise until its end, whenever the signal came; on a busy machine some are slept through.
			if x.Detours+x.DetoursSlept < x.NoiseNS/10_000_000-2 || x.Detours+x.DetoursSlept > x.NoiseNS/10_000_000+2 {
				t.Errorf("rank %d: %d detours and %d slept through in %d ns, want one every 10 ms", x.Rank, x.Detours, x.DetoursSlept, x.NoiseNS)
			}
			if x.Detours == 0 || x.DetourNS > x.NoiseNS {
				t.Errorf("rank %d: %d detours of %d ns together", x.Rank, x.Detours, x.DetourNS)
			}
		}
		for _, line := range strings.Split(strings.TrimSpace(r.stdout), "\n") {
			var slept, spun, free int64
			if _, err := fmt.Sscan(line, &slept, &spun, &free); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			if slept < 300_000_000 {
				t.Errorf("a sleep of 0.3 s ended after %d ns", slept)
			}
			if spun > 0 && free > spun {
				t.Errorf("of %d ns %d were free", spun, free)
			}
			if lost := spun - free; lost < spun/10 {
				t.Errorf("of %d ns only %d were lost, want a fifth", spun, lost)
			}
		}
	})
}

// TestSignals wants signals of the program to come as without noise: all of them, to its own thread, and no other ones. A program that
// blocked all of them first has noise, too, and sees them blocked.
func TestSignals(t *testing.T) {
	profile, err := noise.Parse("500Hz:200us")
	if err != nil {
		t.Fatal(err)
	}
	mpitest.Both(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "signals.c")
		for how, least := range map[string]int64{"later": 10, "first": 1} {
			want := plainRun(t, l, 1, program, how)
			r := inject(t, l, 1, program, Options{Base: -1, Noise: profile, Command: []string{how}})
			if got := sortedLines(r.stdout); r.err != nil || r.ExitCode != 0 || got != want {
				t.Errorf("%s: %v, exit code %d:\n%s%s\nwant\n%s", how, r.err, r.ExitCode, got, r.stderr, want)
			}
			if r.ByRank[0].Detours < least {
				t.Errorf("%s: %d detours: nothing was put to the test", how, r.ByRank[0].Detours)
			}
		}
	})
}

// TestGentle wants what programs wait for, sleep for and do with signals to come out as without noise: the rows of the table of
// docs/verbs/record.md, but for the signals that another thread takes while one of the noise waits for main.
func TestGentle(t *testing.T) {
	profile, err := noise.Parse("500Hz:400us")
	if err != nil {
		t.Fatal(err)
	}
	rows := func(text string) (list []string) {
		for line := range strings.Lines(text) {
			if !strings.HasPrefix(line, "signals to the process while main cannot run ") {
				list = append(list, strings.TrimSpace(line))
			}
		}
		return list
	}
	mpitest.Both(t, func(t *testing.T, l *mpi.Library) {
		program := mpitest.Build(t, l, filepath.Join("..", "record", "testdata", "gentle.c"), "-O1", "-pthread", "-lrt")
		want := rows(plainRun(t, l, 1, program))
		r := inject(t, l, 1, program, Options{Base: -1, Noise: profile})
		got := rows(sortedLines(r.stdout))
		for _, line := range want {
			if !slices.Contains(got, line) {
				t.Errorf("no %q, as without noise; the program wrote\n%s%s", line, r.stdout, r.stderr)
			}
		}
		if r.ExitCode != 0 || len(want) < 40 || r.ByRank[0].Detours < 100 {
			t.Errorf("exit code %d, %d rows, %d detours: something was not put to the test", r.ExitCode, len(want), r.ByRank[0].Detours)
		}
	})
}
