package simulate

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/analyze/simulate"
	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/cli/input"
	"slackline/cli/phrase"
	"slackline/cli/scenario"
	"slackline/model/machine"
	"slackline/model/timeline"
	"slackline/model/unit"
	"slackline/show/plot"
)

// figureOptions are the flags that ask for a picture of a simulation.
type figureOptions struct {
	path string
	kind flags.Choice
}

func newFigureOptions() figureOptions {
	return figureOptions{kind: flags.NewChoice(flags.FigureAuto, flags.FigureAuto, flags.FigureMessages, flags.FigureFinish)}
}

func (o *figureOptions) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.path, "plot", "", "draw the run into `FILE.svg|png`")
	fs.Var(&o.kind, "plot-kind", "what to draw: a message diagram (of a small run), a finish-time profile (of a large one), or what fits its size")
}

func (o *figureOptions) complete(c *cobra.Command) {
	flags.Complete(c, "plot-kind", o.kind.Allowed)
}

// check finds mistakes before anything is simulated.
func (o *figureOptions) check() error {
	if o.path == "" {
		if o.kind.Value != flags.FigureAuto {
			return exit.Usagef("--plot-kind needs --plot FILE")
		}
		return nil
	}
	if _, err := plot.FormatOf(o.path); err != nil {
		return exit.Usagef("--plot: %v", err)
	}
	return nil
}

// draw draws a simulation whose result is known. A message diagram needs a
// timeline: the run is then simulated once more, which takes no time since only
// small runs have one.
func (o *figureOptions) draw(a *env.Env, c *cobra.Command, in *input.Input, m *machine.Machine, so simulate.Options, delays scenario.Delays, r *simulate.Result) error {
	small := len(r.Finish) <= plot.MaxDiagramRows && r.Messages <= plot.MaxDiagramArrows && r.Ops <= plot.MaxDiagramSpans
	kind := o.kind.Value
	if kind == flags.FigureMessages && !small {
		return fmt.Errorf("--plot-kind messages: %s and %s are too many for a diagram (at most %d and %d); take finish",
			phrase.Plural(len(r.Finish), "rank"), phrase.Plural(r.Messages, "message"), plot.MaxDiagramRows, plot.MaxDiagramArrows)
	}
	if kind == flags.FigureAuto && so.Model == simulate.LogGPS {
		small = false // the static model has no timeline
	}
	title := in.Name
	subtitle := fmt.Sprintf("%s on %s, makespan %s", phrase.Plural(len(r.Finish), "rank"), m.Name, r.Makespan.Short())
	caption := flags.Tool + " " + strings.Join(a.Args, " ")
	var figure plot.Figure
	if small && kind != flags.FigureFinish {
		so.Detail, so.Progress = true, nil
		again, err := simulate.Run(c.Context(), in.Program, m, so)
		if err != nil {
			return err
		}
		if again.Detail == nil {
			return fmt.Errorf("--plot-kind messages: the model %s has no timeline; take finish", so.Model)
		}
		d := diagram(again.Detail, delays)
		d.Title, d.Subtitle, d.Caption = title, subtitle, caption
		figure = d
	} else {
		figure = &plot.FinishProfile{Title: title, Subtitle: subtitle, Caption: caption, Finish: r.Finish}
	}
	err := a.WriteBytes(o.path, []string{in.Name}, func(w io.Writer) error {
		return plot.Write(w, figure, o.path, plot.Options{})
	})
	if err != nil {
		return err
	}
	a.Note("drew %s", o.path)
	return nil
}

var spanKinds = map[timeline.Kind]plot.SpanKind{
	timeline.Compute: plot.Compute,
	timeline.Send:    plot.Send,
	timeline.Receive: plot.Receive,
	timeline.Blocked: plot.Blocked,
}

// diagram turns a timeline into a message diagram. Delays are drawn as what they
// are: work that they interrupt is cut in two.
func diagram(t *timeline.Detail, held scenario.Delays) *plot.MessageDiagram {
	d := &plot.MessageDiagram{}
	for row := range t.Tracks {
		l := &t.Tracks[row]
		d.Rows = append(d.Rows, plot.DiagramRow{Label: fmt.Sprint(l.Rank), Finish: l.Finish, Finished: true})
		mine := held.Of(l.Rank)
		for _, e := range mine {
			if e.From < t.End {
				d.Spans = append(d.Spans, plot.Span{Row: row, Start: e.From, End: min(e.From+e.Length, t.End), Kind: plot.Noise})
			}
		}
		for _, act := range l.Activities {
			for _, part := range without(span{act.Start, act.End}, mine) {
				d.Spans = append(d.Spans, plot.Span{Row: row, Start: part.from, End: part.to, Kind: spanKinds[act.Kind]})
			}
		}
	}
	sizes := map[int64]bool{}
	for i := range t.Messages {
		sizes[t.Messages[i].Size] = true
	}
	for i := range t.Messages {
		m := &t.Messages[i]
		label := ""
		if len(sizes) > 1 {
			label = unit.Size(m.Size).String()
		}
		d.Arrows = append(d.Arrows, plot.Arrow{
			From: int(m.From), To: int(m.To), Depart: min(m.SendEnd, m.Arrival), Arrive: m.Arrival, Label: label,
		})
	}
	return d
}

type span struct{ from, to unit.Duration }

// without returns the parts of s in which no delay holds.
func without(s span, held scenario.Delays) []span {
	parts := []span{s}
	for _, e := range held {
		var next []span
		for _, p := range parts {
			to := e.From + e.Length
			if to <= p.from || e.From >= p.to {
				next = append(next, p)
				continue
			}
			if p.from < e.From {
				next = append(next, span{p.from, e.From})
			}
			if to < p.to {
				next = append(next, span{to, p.to})
			}
		}
		parts = next
	}
	return parts
}
