package simulate

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/analyze/simulate"
	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/cli/input"
	"slackline/cli/scenario"
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

// figureOptions are the flags that ask for a picture of a simulation.
type figureOptions struct {
	path string
	kind flags.Choice
}

func newFigureOptions() figureOptions {
	return figureOptions{kind: flags.NewChoice(figureAuto, figureAuto, figureMessages, figureFinish)}
}

func (o *figureOptions) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.path, "plot", "", "draw the run into `FILE.svg|png`")
	fs.Var(&o.kind, "plot-kind", "what to draw: a message diagram (of a small run), a finish-time profile (of a large one), "+
		"or what fits its size")
}

// check finds mistakes before anything is simulated.
func (o *figureOptions) check() error {
	if o.path == "" {
		if o.kind.Value != figureAuto {
			return exit.Usagef("--plot-kind needs --plot FILE")
		}
		return nil
	}
	return env.CheckPlot(o.path)
}

// draw draws a simulation whose result is known. A message diagram needs a
// timeline: the run is then simulated once more, which takes no time since only
// small runs have one.
func (o *figureOptions) draw(a *env.Env, c *cobra.Command, in *input.Input, m *machine.Machine, so simulate.Options, delays scenario.Delays,
	r *simulate.Result) error {
	small := len(r.Finish) <= plot.MaxDiagramRows && r.Messages <= plot.MaxDiagramArrows && r.Ops <= plot.MaxDiagramSpans
	kind := o.kind.Value
	if kind == figureMessages && !small {
		return fmt.Errorf("--plot-kind messages: %s and %s are too many for a diagram (at most %d and %d); take finish",
			phrase.Plural(len(r.Finish), "rank"), phrase.Plural(r.Messages, "message"), plot.MaxDiagramRows, plot.MaxDiagramArrows)
	}
	if kind == figureAuto && so.Model == simulate.LogGPS {
		small = false // the static model has no timeline
	}
	title := in.Name
	subtitle := fmt.Sprintf("%s on %s, makespan %s", phrase.Plural(len(r.Finish), "rank"), m.Name, r.Makespan.Short())
	var figure plot.Figure
	if small && kind != figureFinish {
		so.Detail, so.Progress = true, nil
		again, err := simulate.Run(c.Context(), in.Program, m, so)
		if err != nil {
			return err
		}
		if again.Detail == nil {
			return fmt.Errorf("--plot-kind messages: the model %s has no timeline; take finish", so.Model)
		}
		figure = figures.Diagram(again.Detail, delays)
	} else {
		figure = &plot.FinishProfile{Finish: r.Finish}
	}
	return a.Draw(o.path, []string{in.Name}, figure, title, subtitle)
}
