package scenario

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"slackline/cli/env"
	"slackline/model/timeline"
)

// futureOf runs a command that simulates its input and hands over the run.
func futureOf(t *testing.T, args ...string) (f *future, wanted bool, stderr string, err error) {
	t.Helper()
	var said bytes.Buffer
	a := env.New(args, nil, &bytes.Buffer{}, &said)
	a.Quiet = true
	var o RunOptions
	c := &cobra.Command{Use: "test INPUT", Args: cobra.ExactArgs(1), SilenceUsage: true, SilenceErrors: true}
	o.AddTo(a, c)
	c.RunE = func(c *cobra.Command, args []string) error {
		var err error
		if wanted, err = o.Simulated(c, args[0]); err != nil || !wanted {
			return err
		}
		f, err = o.Future.Run(a, c, args[0], true)
		return err
	}
	c.SetArgs(args)
	err = c.ExecuteContext(t.Context())
	return f, wanted, said.String(), err
}

const haloTrace = "../../testdata/waits/cases/10-halo-core/traces.otf2"

func TestFutures(t *testing.T) {
	f, _, _, err := futureOf(t, "skeleton", "--ranks", "16", "--machine", "altix", "--noise", "1000Hz:50us")
	if err != nil {
		t.Fatal(err)
	}
	tl := f.Timeline
	if !tl.Simulated || tl.Ranks != 16 || len(tl.Collectives) == 0 || len(tl.Messages) == 0 || tl.End != f.result.Makespan {
		t.Errorf("a timeline of %d ranks with %d collectives and %d messages until %s", tl.Ranks, len(tl.Collectives), len(tl.Messages), tl.End)
	}
	noisy := false
	for i := range tl.Paths {
		if r := tl.RegionOf(timeline.PathID(i)); r != nil && r.Paradigm == timeline.Noise {
			noisy = noisy || strings.HasSuffix(tl.PathName(timeline.PathID(i)), "compute/[noise]")
		}
	}
	if !noisy {
		t.Error("no noise below computation")
	}
	if files := (&Options{Machine: MachineOptions{Name: "m.yaml"}, Mapping: "default"}).Files("in"); !slices.Equal(files,
		[]string{"in", "m.yaml", "default"}) {
		t.Errorf("files %q", files)
	}
	if len(f.records) != 1 || f.records[0].Kind != "pattern" {
		t.Errorf("records %+v", f.records)
	}
}

// A recorded run is taken as it is, or simulated on a machine.
func TestFuturesOfRecordedRuns(t *testing.T) {
	if _, wanted, _, err := futureOf(t, haloTrace); wanted || err != nil {
		t.Errorf("without a machine: to be simulated %v, error %v", wanted, err)
	}
	f, wanted, said, err := futureOf(t, haloTrace, "-L", "1us", "-o", "1us", "-g", "1us", "-G", "1ns", "--ranks", "18", "--noise",
		"100Hz:10us")
	if err != nil || !wanted {
		t.Fatalf("with a machine: to be simulated %v, error %v", wanted, err)
	}
	if f.Timeline.Ranks != 18 || f.Timeline.PathName(f.Timeline.Locations[17].Calls.Path[0]) != "main" {
		t.Errorf("%d ranks, the first call is %s", f.Timeline.Ranks, f.Timeline.PathName(f.Timeline.Locations[17].Calls.Path[0]))
	}
	if !strings.Contains(said, "--denoise") {
		t.Errorf("no warning of the noise in the run: %q", said)
	}
}

func TestFuturesNeedAMachine(t *testing.T) {
	if _, _, _, err := futureOf(t, "ring", "--ranks", "4"); err == nil || !strings.Contains(err.Error(), "give the machine") {
		t.Errorf("error %v", err)
	}
}
