package scenario

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"slackline/model/pattern"
	"slackline/model/timeline"
)

// programOf are the options of some flags.
func programOf(t *testing.T, args ...string) (*ProgramOptions, *pflag.FlagSet) {
	t.Helper()
	o := &ProgramOptions{}
	fs := pflag.NewFlagSet("x", pflag.ContinueOnError)
	o.AddFlags(fs)
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	return o, fs
}

// Nothing that was not asked for is the pattern's own; a zero that was asked for is none.
func TestParams(t *testing.T) {
	o, fs := programOf(t)
	if p := o.Params(fs); p.Size != 0 || p.Compute != 0 || p.Jitter != 0 || p.Gradients != 0 || p.Ranks != 0 || p.Seed != 0 {
		t.Errorf("without flags: %+v", p)
	}
	o, fs = programOf(t, "--size", "0", "--compute", "0", "--jitter", "0", "--gradients", "0")
	if p := o.Params(fs); p.Size != pattern.None || p.Compute != pattern.None || p.Jitter != pattern.None || p.Gradients != pattern.None {
		t.Errorf("zeros: size %d, compute %d, jitter %g, gradients %d", p.Size, p.Compute, p.Jitter, p.Gradients)
	}
	o, fs = programOf(t, "--ranks", "2^10", "--size", "64KiB", "--grid", "4x2", "--jitter", "10%", "--without", "p2p,collectives",
		"--seed", "7",
		"--compute", "1ms", "--straggler", "1:50%", "--straggler", "2:0.1", "--root", "3")
	p := o.Params(fs)
	if p.Ranks != 1024 || p.Size != 65536 || !slices.Equal(p.Grid, []int{4, 2}) || p.Jitter != 0.1 || len(p.Without) != 2 || p.Seed != 7 ||
		p.Compute != 1e9 || len(p.Stragglers) != 2 || p.Stragglers[0].Slower != 0.5 || p.Root != 3 {
		t.Errorf("parameters %+v", p)
	}
}

// --without names kinds of communication; --denoise has a value of its own.
func TestReplayOptions(t *testing.T) {
	o, fs := programOf(t, "--without", "p2p", "--scale-compute", "0.5", "--denoise", "--ranks", "16")
	r, err := o.Replay(fs)
	if err != nil || !r.WithoutMessages || r.WithoutCollectives || r.ScaleCompute != 0.5 || !r.Denoise || r.Quantile != 0.1 ||
		r.Ranks != 16 || r.CutOpen {
		t.Errorf("%+v, error %v", r, err)
	}
	o, fs = programOf(t, "--without", "collectives", "--denoise=0.25", "--ranks", "16,32")
	if r, err = o.Replay(fs); err != nil || r.WithoutMessages || !r.WithoutCollectives || r.Quantile != 0.25 || !r.CutOpen {
		t.Errorf("%+v, error %v", r, err)
	}
	o, fs = programOf(t, "--without", "p2p,io")
	if _, err = o.Replay(fs); err == nil || !strings.Contains(err.Error(), `--without: "io" is neither p2p nor collectives`) {
		t.Errorf("error %v", err)
	}
}

// The parameters that were given, in the order of the pattern package, whatever the order of the flags.
func TestGiven(t *testing.T) {
	o, fs := programOf(t, "--seed", "1", "--size", "8", "--ranks", "4", "--denoise")
	want := []string{}
	for _, p := range pattern.Parameters() {
		if slices.Contains([]string{"ranks", "size", "seed"}, p.Name) {
			want = append(want, p.Name)
		}
	}
	if got := o.Given(fs); !slices.Equal(got, want) || len(want) != 3 {
		t.Errorf("given %v, want %v", got, want)
	}
	o.SeedUsed = true // by noise
	if got := o.Given(fs); slices.Contains(got, "seed") || len(got) != 2 {
		t.Errorf("given %v, want no seed", got)
	}
}

// Each number of repetitions is 1 or more, and one number of ranks is needed where one makes sense.
func TestOpenMistakes(t *testing.T) {
	const machine = " -L 1us -o 1us -g 1us -G 1ns"
	for args, want := range map[string]string{
		"ring --ranks 4 --iterations 0":           "0 is too few; give 1 or more",
		"ring --ranks 4 --iterations=-3":          "-3 is too few; give 1 or more",
		"llm --ranks 8 --layers 0":                "0 is too few; give 1 or more",
		"ring --ranks 2,4":                        "--ranks: 2 counts are given, but one is needed",
		"ring":                                    "the pattern ring needs --ranks",
		"ring --ranks 4 --machine recorded":       "a recorded run with accelerators, which ring is not",
		"rong --ranks 4":                          "rong",
		"allreduce --ranks 4 --algorithm nothing": "nothing",
	} {
		if !strings.Contains(args, "--machine") {
			args += machine
		}
		if _, _, err := opened(t, strings.Fields(args)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", args, err, want)
		}
	}
}

// The grid of a run counts if its ranks follow the last dimension first.
func TestGridOf(t *testing.T) {
	grid := func(dims []int, coords ...[]int) *timeline.Timeline {
		return &timeline.Timeline{Ranks: len(coords), Grid: &timeline.Grid{Dims: dims, Coords: coords}}
	}
	o := &ProgramOptions{}
	for _, tc := range []struct {
		tl   *timeline.Timeline
		want []int
	}{
		{nil, nil},
		{&timeline.Timeline{Ranks: 4}, nil},
		{grid([]int{2, 2}, []int{0, 0}, []int{0, 1}, []int{1, 0}, []int{1, 1}), []int{2, 2}},
		{grid([]int{2, 2}, []int{0, 0}, []int{1, 0}, []int{0, 1}, []int{1, 1}), nil}, // the first dimension first
		{grid([]int{2, 2}, []int{0, 0}, []int{0}, []int{1, 0}, []int{1, 1}), nil},
		{grid([]int{3}, []int{0}, []int{1}, []int{2}), []int{3}},
	} {
		if got := o.gridOf(tc.tl); !slices.Equal(got, tc.want) {
			t.Errorf("grid %v, want %v", got, tc.want)
		}
	}
	o.grid = []int{4, 1}
	if got := o.gridOf(grid([]int{3}, []int{0}, []int{1}, []int{2})); !slices.Equal(got, []int{4, 1}) {
		t.Errorf("the flag is not what counts: %v", got)
	}
}

// Names for completion: sorted, each once.
func TestNames(t *testing.T) {
	names := AlgorithmNames()
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) || !slices.Contains(names, "ring") {
		t.Errorf("algorithms %v", names)
	}
	found, _ := CompleteInput(nil, nil, "halo")
	if len(found) == 0 || slices.ContainsFunc(found, func(s string) bool { return !strings.HasPrefix(s, "halo") }) {
		t.Errorf("patterns that start with halo: %v", found)
	}
	if found, _ := CompleteInput(nil, []string{"ring"}, ""); found != nil {
		t.Errorf("a second input is offered: %v", found)
	}
}
