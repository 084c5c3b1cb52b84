package simulate

import (
	"fmt"

	"github.com/spf13/cobra"

	"slackline/analyze/simulate"
	"slackline/cli/input"
	"slackline/internal/phrase"
	"slackline/model/machine"
	"slackline/show/figures"
	"slackline/show/plot"
)

// The figures of a simulation.
const (
	figureAuto     = "auto"
	figureMessages = "messages"
	figureFinish   = "finish"
)

// figure draws a simulation whose result is known. A message diagram needs a
// timeline: the run is then simulated once more, which takes no time since only
// small runs have one.
func (o *simulateOptions) figure(c *cobra.Command, in *input.Input, m *machine.Machine, so simulate.Options,
	r *simulate.Result) (plot.Figure, error) {
	small := len(r.Finish) <= plot.MaxDiagramRows && r.Messages <= plot.MaxDiagramArrows && r.Ops <= plot.MaxDiagramSpans
	kind := o.plotKind
	if kind == figureMessages && !small {
		return nil, fmt.Errorf("--plot-kind messages: %s and %s are too many for a diagram (at most %d and %d); take finish",
			phrase.Plural(len(r.Finish), "rank"), phrase.Plural(r.Messages, "message"), plot.MaxDiagramRows, plot.MaxDiagramArrows)
	}
	if kind == figureAuto && so.Model == simulate.LogGPS {
		small = false // the static model has no timeline
	}
	if small && kind != figureFinish {
		so.Detail, so.Progress = true, nil
		again, err := simulate.Run(c.Context(), in.Program, m, so)
		if err != nil {
			return nil, err
		}
		if again.Detail == nil {
			return nil, fmt.Errorf("--plot-kind messages: the model %s has no timeline; take finish", so.Model)
		}
		return figures.Diagram(again.Detail, o.Noise.Delays), nil
	}
	return &plot.FinishProfile{Finish: r.Finish}, nil
}
