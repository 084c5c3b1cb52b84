package input

import (
	"bytes"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"slackline/analyze/simulate"
	"slackline/model/collective"
	"slackline/model/machine"
	"slackline/model/pattern"
	"slackline/model/schedule"
)

// TestWholeRunsAlike simulates random programs, as they were read and as other processes get them from process 0.
func TestWholeRunsAlike(t *testing.T) {
	workdir(t)
	m, err := machine.Named("chic")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"skeleton", "halo2d", "ring", "allreduce", "alltoall"}).Draw(t, "pattern")
		params := pattern.Params{
			Ranks: rapid.IntRange(2, 24).Draw(t, "ranks"), Seed: rapid.Uint64().Draw(t, "seed"), Size: rapid.Int64Range(1, 1<<20).Draw(t, "size"),
		}
		if name == "skeleton" || name == "halo2d" {
			params.Iterations, params.Jitter = rapid.IntRange(1, 3).Draw(t, "iterations"), 0.3
		}
		program, err := pattern.New(name, params)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if rapid.Bool().Draw(t, "goal") {
			_, err = schedule.WriteGOAL(&b, schedule.Materialize(collective.Expand(program, collective.DefaultMapping(), 0)))
		} else {
			err = schedule.WriteSLK(&b, program)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("drawn", b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		inputs, err := openTogether(t.Context(), "drawn", "", rapid.IntRange(2, 4).Draw(t, "processes"), nil)
		if err != nil {
			t.Fatal(err)
		}
		var want *simulate.Result
		for i, in := range inputs {
			got, err := simulate.Run(t.Context(), in.Program, m, simulate.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				want = got
			}
			if !slices.Equal(got.Finish, want.Finish) || got.Messages != want.Messages || got.Ops != want.Ops || got.Engine != want.Engine {
				t.Fatalf("process %d: %+v, want %+v", i, got, want)
			}
		}
	})
}
