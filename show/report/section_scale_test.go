package report_test

import (
	"math"
	"strconv"
	"testing"

	"slackline/analyze/replay"
	"slackline/analyze/simulate"
	"slackline/model/schedule"
	"slackline/model/trace/tracetest"
)

// The run is simulated at the given numbers of ranks, and the figure has the makespans.
func TestScaleSection(t *testing.T) {
	in := inputOf(t, tracetest.LateSender)
	in.Scales = []int{2, 8}
	in.Runs[0].Scaled = func(ranks int) (schedule.Program, error) {
		return replay.New(in.Runs[0].Timeline, replay.Options{Ranks: ranks})
	}
	section := sectionOf(documentOf(t, in), "scale")
	if section.Missing != nil || figureOf(section, "scaling") == nil {
		t.Fatalf("the section has no figure (%+v)", section.Missing)
	}
	for _, ranks := range in.Scales {
		p, err := in.Runs[0].Scaled(ranks)
		if err != nil {
			t.Fatal(err)
		}
		r, err := simulate.Run(t.Context(), p, in.Machine.Machine, simulate.Options{Mapping: in.Mapping.Mapping})
		if err != nil {
			t.Fatal(err)
		}
		wantRow(t, section, strconv.Itoa(ranks), strconv.FormatInt(int64(r.Makespan)/1000, 10)) // ns
	}
}

// Measurements get models, and the largest ones are listed with their prediction.
func TestModelsOfMeasurements(t *testing.T) {
	in := dataOf(func(p float64) float64 { return 0.002 * math.Log2(p) })
	section := sectionOf(documentOf(t, in), "scale")
	wantRow(t, section, "main->solve", "time", "O(log p)")
	if figureOf(section, "models") == nil {
		t.Error("no figure of measurements and models")
	}
}
