package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"slackline/analyze/whatif"
	"slackline/internal/source"
	"slackline/model/noise"
	"slackline/model/unit"
)

func TestDelays(t *testing.T) {
	var o NoiseOptions
	fs := pflag.NewFlagSet("noise", pflag.ContinueOnError)
	o.AddFlags(fs)
	if err := fs.Parse([]string{"--delay", "4@0:20us", "--delay", "0@1ms:5ns"}); err != nil {
		t.Fatal(err)
	}
	if want := []whatif.Delay{{Rank: 4, Length: 20 * unit.Microsecond}, {From: unit.Millisecond, Length: 5 * unit.Nanosecond}}; !slices.Equal(
		o.Delays, want) {
		t.Errorf("delays %v, want %v", o.Delays, want)
	}
	for text, want := range map[string]string{
		"4":         `cannot read "4"; give RANK@TIME:DURATION`,
		"4@0":       `cannot read "4@0"; give RANK@TIME:DURATION`,
		"-1@0:1us":  `"-1" is not a rank; give RANK@TIME:DURATION`,
		"x@0:1us":   `"x" is not a rank`,
		"4@-1us:1s": "is negative; give 0 or more",
		"4@0:-1us":  "is negative; give 0 or more",
		"4@0:fast":  `"fast"`,
	} {
		if _, err := parseDelay(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("--delay %s: %v, want %q", text, err, want)
		}
	}
}

// TestRankList: ranks in order, each once, whatever the order and form of the list.
func TestRankList(t *testing.T) {
	for text, want := range map[string][]int{
		"3": {3}, "8..10": {8, 9, 10}, "5,1,5": {1, 5}, "2^1..2^3": {2, 4, 8}, "-1": nil, "": nil, "a": nil,
	} {
		var r RankList
		if err := r.Set(text); (err == nil) != (want != nil) {
			t.Errorf("%q: %v", text, err)
		}
		if diff := cmp.Diff(want, r.List); diff != "" || want != nil && r.String() != text {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

// described is the noise of some flags on four ranks, in words, or the error.
func described(t *testing.T, drawn bool, args ...string) string {
	t.Helper()
	var o NoiseOptions
	fs := pflag.NewFlagSet("x", pflag.ContinueOnError)
	o.AddFlags(fs)
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	o.Aligned = fs.Changed("offsets")
	if err := o.Check(); err != nil {
		return err.Error()
	}
	n, err := o.Describe(source.Disk, 4, 7, drawn)
	if err != nil {
		return err.Error()
	}
	text := fmt.Sprintf("seed %d, %s", n.Seed, map[noise.Alignment]string{noise.ByNode: "by node", noise.CoScheduled: "together"}[n.Alignment])
	if n.Profile == nil {
		text += " none"
	}
	if n.AtZero {
		text += " from 0"
	}
	if n.Clock == noise.CPUClock {
		text += " by CPU"
	}
	return fmt.Sprint(text, " ", n.Only, " ", n.Offsets, " ", len(n.Delays))
}

// TestDescribe: what the flags of noise mean together, and which contradict each other.
func TestDescribe(t *testing.T) {
	file, err := filepath.Abs("../../model/noise/testdata/two.txt")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"four": "0\n10\n20\n30\n", "two": "0\n10\n"} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	const periodic = "--noise 1000Hz:100us "
	for _, tc := range []struct{ args, want string }{
		{"", "seed 7,  none [] [] 0"},
		{"--noise none", "seed 7,  none [] [] 0"},
		{"--noise none --delay 3@0:1us", "seed 7,  none [] [] 1"},
		{periodic, "seed 7,  [] [] 0"},
		{periodic + "--offsets node", "seed 7, by node [] [] 0"},
		{periodic + "--offsets coscheduled", "seed 7, together [] [] 0"},
		{periodic + "--noise-clock cpu --noise-ranks 3,1", "seed 7,  by CPU [1 3] [] 0"},
		{periodic + "--noise-offsets four", "seed 7,  [] [0 10000 20000 30000] 0"},
		{periodic + "--noise-offsets two", "two: 2 offsets for 4 ranks; give one for each rank"},
		{periodic + "--noise-offsets three", "open three: no such file or directory"},
		{periodic + "--noise-file x", "give --noise or --noise-file, not both"},
		{periodic + "--noise-offsets four --offsets node", "give --noise-offsets or --offsets node, not both"},
		{periodic + "--noise-ranks 0..4", "--noise-ranks: rank 4 does not exist; the program has 4 ranks (0..3)"},
		{"--delay 4@0:1us", "--delay: rank 4 does not exist; the program has 4 ranks (0..3)"},
		{"--noise-ranks 1", "--noise-ranks needs --noise or --noise-file"},
		{"--offsets node", "--offsets needs --noise or --noise-file"},
		{"--noise-offsets four", "--noise-offsets needs --noise or --noise-file"},
		{"--noise none --noise-clock cpu", "--noise-clock needs --noise or --noise-file"},
	} {
		if got := described(t, false, strings.Fields(tc.args)...); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.args, got, tc.want)
		}
	}
	for _, tc := range []struct {
		drawn bool
		args  []string
		want  string
	}{
		{false, nil, "seed 7,  from 0 [] [] 0"},
		{true, nil, "seed 7,  [] [] 0"},
		{false, []string{"--offsets", "independent"}, "seed 7,  [] [] 0"}, // who asks for offsets gets them
		{false, []string{"--offsets", "coscheduled"}, "seed 7, together [] [] 0"},
	} {
		if got := described(t, tc.drawn, append(tc.args, "--noise-file", file)...); got != tc.want {
			t.Errorf("%v with a file, drawn %v: %s, want %s", tc.args, tc.drawn, got, tc.want)
		}
	}
}
