package scenario

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"slackline/cli/env"
	"slackline/cli/flags"
	"slackline/model/clock"
	"slackline/model/timeline"
	"slackline/model/trace"
	"slackline/model/unit"
)

// opened runs a command that opens its input as a run, and returns what was said beside it.
func opened(t *testing.T, args ...string) (r *Run, stderr string, err error) {
	t.Helper()
	var said bytes.Buffer
	a := env.New(args, nil, &bytes.Buffer{}, &said)
	a.Quiet = true
	var o RunOptions
	c := &cobra.Command{Use: "test INPUT", Args: cobra.ExactArgs(1), SilenceUsage: true, SilenceErrors: true}
	o.AddTo(a, c)
	a.AddGroup(c, "Changes", o.Future.AddChangeFlags)
	c.RunE = func(c *cobra.Command, args []string) error {
		r, err = o.OpenRun(a, c, args[0], false)
		return err
	}
	c.SetArgs(args)
	err = c.ExecuteContext(t.Context())
	return r, said.String(), err
}

// traceFile writes a run of two ranks over 40 us as text, with more lines if given.
func traceFile(t *testing.T, more string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.trace")
	const text = "slackline trace 1\nunit us\nrank 0\n0 main {\n  30..32 MPI_Send: send to 1 size 8\n} 40\n" +
		"rank 1\n0 main {\n  10..33 MPI_Recv: recv from 0 size 8\n} 40\n"
	if err := os.WriteFile(path, []byte(text+more), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// A part of a run is what lies between two moments, of recorded and of simulated runs alike.
func TestOpenRunParts(t *testing.T) {
	path := traceFile(t, "")
	for _, tc := range []struct {
		args string
		time unit.Duration
		want string // error
	}{
		{"", 40 * unit.Microsecond, ""},
		{"--begin 10us", 30 * unit.Microsecond, ""},
		{"--end 25us", 25 * unit.Microsecond, ""},
		{"--begin 10us --end 25us", 15 * unit.Microsecond, ""},
		{"--end 1s", 40 * unit.Microsecond, ""},
		{"--begin 25us --end 10us", 0, "--end: give a time after 25us, where the part begins"},
		{"--begin 10us --end 10us", 0, "--end: give a time after 10us, where the part begins"},
		{"--begin 1s", 0, "--begin: " + path + " ends before 1s; give an earlier time"},
		{"--begin 40us", 0, "--begin: " + path + " ends before 40us; give an earlier time"},
	} {
		for _, machine := range []string{"", " -L 0 -o 0 -g 0 -G 0"} { // a network without costs takes no longer than the run did
			r, _, err := opened(t, append(strings.Fields(tc.args+machine), path)...)
			switch {
			case tc.want != "":
				if err == nil || err.Error() != tc.want {
					t.Errorf("%s%s: error %v, want %s", tc.args, machine, err, tc.want)
				}
			case err != nil:
				t.Errorf("%s%s: %v", tc.args, machine, err)
			case machine == "" && r.Timeline.End-r.Timeline.Start != tc.time:
				t.Errorf("%s: run time %s, want %s", tc.args, r.Timeline.End-r.Timeline.Start, tc.time)
			case machine != "" && r.Timeline.End-r.Timeline.Start > tc.time:
				t.Errorf("%s%s: run time %s, want at most %s", tc.args, machine, r.Timeline.End-r.Timeline.Start, tc.time)
			}
		}
	}
}

// Flags without influence are named: those of recorded runs on simulated ones, and the other way round.
func TestOpenRunWarnings(t *testing.T) {
	path := traceFile(t, "")
	const network = " -L 1us -o 1us -g 1us -G 1ns"
	for _, tc := range []struct {
		args string
		want []string
	}{
		{path, nil},
		{path + network + " --strict", nil},
		{path + " --strict --whole --clock none --only-ranks 0..1", nil},
		{path + network + " --whole --clock none --only-ranks 0", []string{"only-ranks", "whole"}},
		{"ring --ranks 4 --strict" + network, []string{"strict"}},
		{path + " --model loggps --delay 0@0:1us --size 8", []string{"model", "delay", "size"}},
	} {
		_, said, err := opened(t, strings.Fields(tc.args)...)
		if err != nil {
			t.Fatalf("%s: %v", tc.args, err)
		}
		for _, name := range tc.want {
			if !strings.Contains(said, "--"+name+" has no influence") {
				t.Errorf("%s: no word of --%s in %q", tc.args, name, said)
			}
		}
		if n := strings.Count(said, "has no influence"); n != len(tc.want) {
			t.Errorf("%s: %d warnings, want %d:\n%s", tc.args, n, len(tc.want), said)
		}
	}
}

// --strict refuses a damaged run, whether it is analyzed as it is or simulated.
func TestOpenRunStrict(t *testing.T) {
	path := traceFile(t, "device host 0 0\ndevice stream 0 0 \"0:7\"\ndevice activity 0 20000000 80000000 0 1 \"gemm\"\n"+
		"device activity 0 10000000 90000000 0 1 \"gemm\"\n")
	for _, machine := range []string{"", "--machine recorded", "-L 1us -o 1us -g 1us -G 1ns"} {
		args := append(strings.Fields(machine), path)
		if _, said, err := opened(t, args...); err != nil || !strings.Contains(said, "as far as they are whole") {
			t.Errorf("%s: error %v, want a warning of the damage in %q", machine, err, said)
		}
		if _, _, err := opened(t, append(args, "--strict")...); err == nil || !strings.Contains(err.Error(), "of a device is not possible") {
			t.Errorf("%s --strict: error %v", machine, err)
		}
	}
}

// What would have to be simulated needs a machine, and says so.
func TestOpenRunNeedsAMachine(t *testing.T) {
	path := traceFile(t, "")
	for args, want := range map[string]string{
		path + " --what-if main=-20%": "--balance, --what-if and --change simulate the run again; give the machine",
		path + " --balance main":      "--balance, --what-if and --change simulate the run again; give the machine",
		"ring --ranks 4":              "give the machine",
		"no-such-run":                 "no-such-run",
	} {
		if _, _, err := opened(t, strings.Fields(args)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", args, err, want)
		}
	}
}

// The last dimension of a grid runs fastest; its size is that of the run.
func TestApplyGrid(t *testing.T) {
	grid := func(dims ...int) *RunOptions {
		o := &RunOptions{}
		o.Future.Program.grid = flags.Grid(dims)
		return o
	}
	tl := &timeline.Timeline{Ranks: 6}
	if err := grid(2, 3).ApplyGrid(tl); err != nil {
		t.Fatal(err)
	}
	want := [][]int{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}}
	if diff := cmp.Diff(want, tl.Grid.Coords); diff != "" || !slices.Equal(tl.Grid.Dims, []int{2, 3}) || len(tl.Grid.Periodic) != 2 {
		t.Errorf("coordinates (-want +got):\n%s", diff)
	}
	err := grid(4, 2).ApplyGrid(tl)
	if want := "--grid: 4x2 has 8 places, but the run has 6 ranks"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	own := &timeline.Grid{Dims: []int{2, 3}} // that of a simulated pattern, in its own order
	simulated := &timeline.Timeline{Ranks: 6, Simulated: true, Grid: own}
	if err := grid(2, 3).ApplyGrid(simulated); err != nil || simulated.Grid != own {
		t.Errorf("the grid of a pattern is replaced, error %v", err)
	}
	none := &timeline.Timeline{Ranks: 6}
	if err := grid().ApplyGrid(none); err != nil || none.Grid != nil {
		t.Errorf("without the flag there is a grid %v, error %v", none.Grid, err)
	}
}

func TestRunWords(t *testing.T) {
	locations := make([]timeline.Location, 8)
	for _, tc := range []struct {
		run         Run
		where, size string
	}{
		{Run{Timeline: &timeline.Timeline{Ranks: 1, Locations: locations[:1]}}, "", "1 rank"},
		{Run{Timeline: &timeline.Timeline{Ranks: 2, Locations: locations, Simulated: true}}, ", simulated", "2 ranks, 8 threads"},
		{Run{Timeline: &timeline.Timeline{Ranks: 8, Locations: locations, Simulated: true}, Machine: "cnl"}, ", simulated on cnl", "8 ranks"},
	} {
		if where, size := tc.run.Where(), tc.run.Size(); where != tc.where || size != tc.size {
			t.Errorf("%q, %q; want %q, %q", where, size, tc.where, tc.size)
		}
	}
	r := Run{Name: "a.slt", Timeline: &timeline.Timeline{Ranks: 1, Locations: locations[:1], Start: 1e6, End: 43e6}}
	if got, want := r.Headline(), "a.slt: 1 rank, run time 42us"; got != want {
		t.Errorf("headline %q, want %q", got, want)
	}
}

// warned is what is said about a run.
func warned(f func(a *env.Env)) string {
	var said bytes.Buffer
	f(env.New(nil, nil, &bytes.Buffer{}, &said))
	return said.String()
}

// Each problem of a run is a line of its own, with how often it occurs and where first.
func TestWarnOfProblems(t *testing.T) {
	for _, tc := range []struct {
		problems timeline.Problems
		want     string
	}{
		{timeline.Problems{}, ""},
		{timeline.Problems{UnmatchedSends: 1, Sends: []timeline.Unmatched{{Rank: 3, Call: "MPI_Isend", Peer: 5, Tag: 7, Time: 2e6}}},
			"slackline: warning: 1 send without receive, the first is MPI_Isend of rank 3 with rank 5, tag 7, at 2us; left out\n"},
		{timeline.Problems{UnmatchedReceives: 2000}, "slackline: warning: 2,000 receives without send; left out\n"},
		{timeline.Problems{PendingRequests: 1}, "slackline: warning: 1 request never completed\n"},
		{timeline.Problems{Violations: 2, WorstViolation: 5e6},
			"slackline: warning: 2 messages arrived before they were sent, by up to 5us: the clocks are wrong; --clock clc corrects them\n"},
		{timeline.Problems{EarlyCollectives: 1, WorstViolation: 5e6},
			"slackline: warning: 1 collective ended before it could, by 5us: the clocks are wrong; --clock clc corrects them\n"},
		{timeline.Problems{MissingRanks: []int{4, 9}}, "slackline: warning: 2 ranks missing, the first is rank 4\n"},
		{timeline.Problems{CutMessages: 1, Notes: []string{"a", "b"}},
			"slackline: 1 message recorded at one end only, left out: recording was off at the other\n" +
				"slackline: warning: a\nslackline: warning: b\n"},
	} {
		tl := &timeline.Timeline{Problems: tc.problems}
		if got := warned(func(a *env.Env) { WarnOfProblems(a, tl) }); got != tc.want {
			t.Errorf("%+v: %q, want %q", tc.problems, got, tc.want)
		}
	}
}

func TestNoteOfClocks(t *testing.T) {
	if got := warned(func(a *env.Env) { NoteOfClocks(a, &trace.ClockReport{}) }); got != "" {
		t.Errorf("clocks without a fault: %q", got)
	}
	r := &trace.ClockReport{Before: clock.Violations{Messages: 3, Groups: 1, Worst: 5e6}, Moved: 10, Furthest: 2e6, Unknown: []int{1, 2}}
	const want = "slackline: 3 messages arrived before they were sent and 1 collective ended before it could, by up to 5us: " +
		"the controlled logical clock moved 10 moments by up to 2us\n" +
		"slackline: warning: the clocks of 2 ranks were not compared with that of rank 0: their times may be wrong\n"
	if got := warned(func(a *env.Env) { NoteOfClocks(a, r) }); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
