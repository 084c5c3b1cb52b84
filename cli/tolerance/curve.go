package tolerance

import (
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"strings"

	"slackline/analyze/tolerance"
	"slackline/cli/flags"
	"slackline/cli/phrase"
	"slackline/internal/table"
	"slackline/model/unit"
	"slackline/show/curves"
	"slackline/show/plot"
)

// curveRow is a point of T as a function of the parameter, in nanoseconds.
type curveRow struct {
	x, t          json.Number
	before, after int64
}

// curveRows are the ends of the range and all breakpoints, rounded down to the resolution of the
// parameter and to picoseconds.
func curveRows(a *tolerance.Answers) []curveRow {
	p := a.Question.Variable.Parameter
	rows := make([]curveRow, len(a.Curve))
	for i, c := range a.Curve {
		t := floorOf(c.T)
		if p == tolerance.G {
			t /= 1000 // it is in femtoseconds
		}
		rows[i] = curveRow{valueOf{p, floorOf(c.X)}.number(), phrase.Number(unit.Duration(t).NS()), c.Before, c.After}
	}
	return rows
}

func floorOf(r *big.Rat) int64 { return new(big.Int).Div(r.Num(), r.Denom()).Int64() }

func (t *toleranceReport) writeCSV(w io.Writer) error {
	a := t.answers
	s := table.New(right(keyOf(a.Question.Variable.Parameter)), right("T_ns"), right("slope_before"), right("slope_after"))
	for _, r := range curveRows(a) {
		s.Add(r.x, r.t, r.before, r.after)
	}
	return s.WriteCSV(w)
}

// draw draws the curve.
func (t *toleranceReport) draw() error {
	figure := t.run.figure([]*tolerance.Answers{t.answers}, []string{"T"}, t.set.varied)
	figure.Title = t.title()
	return t.run.drawFigure(figure)
}

func (r *toleranceRun) drawFigure(figure plot.Figure) error {
	err := r.app.WriteBytes(r.plot, r.files, func(w io.Writer) error {
		return plot.Write(w, figure, r.plot, plot.Options{})
	})
	if err == nil {
		r.app.Note("drew %s", r.plot)
	}
	return err
}

// figure draws T, its slope and the share of the parameter over the range, for one answer or several
// with their names. The zones of the tolerances are those of the first answer.
func (r *toleranceRun) figure(answers []*tolerance.Answers, names []string, varied string) *plot.Stack {
	p := answers[0].Question.Variable.Parameter
	axis := plot.Axis{Label: parameterName(p)}
	if varied != "" {
		axis.Label += " " + varied
	}
	if p == tolerance.G {
		axis.Label += " in ps per byte"
	} else {
		axis.Quantity = plot.Time
	}
	parts := []plot.StackPart{
		{Y: plot.Axis{Label: "runtime T", Quantity: plot.Time}, Weight: 1.5},
		{Y: plot.Axis{Label: "slope: " + slopeName(p), FromZero: true}},
		{Y: plot.Axis{Label: "rho_" + p.String() + ", share of T", Quantity: plot.Percent, FromZero: true}},
	}
	first := curves.NewRuntime(answers[0])
	for i := range parts {
		given, zone := "", func(int) string { return "" }
		if i == 0 {
			given, zone = "given "+p.String(), func(i int) string { return "up to " + r.ask.percents[i].Number() + " %" }
		}
		if len(answers) == 1 {
			parts[i].Layers = first.Zones(zone)
		}
		parts[i].Layers = append(parts[i].Layers, first.Given(given)...)
	}
	for i, a := range answers {
		slot, curve := i+1, curves.NewRuntime(a)
		parts[0].Layers = append(parts[0].Layers, curve.Curve(names[i], slot))
		parts[1].Layers = append(parts[1].Layers, curve.Slope(slot))
		parts[2].Layers = append(parts[2].Layers, shareLine(a, curve, slot))
	}
	caption := flags.Tool + " " + strings.Join(r.app.Args, " ")
	return &plot.Stack{X: axis, Parts: parts, Caption: caption, Subtitle: r.subtitle(answers)}
}

// subtitle says the parameters.
func (r *toleranceRun) subtitle(answers []*tolerance.Answers) string {
	a := answers[0]
	p := a.Question.Variable.Parameter
	if len(answers) > 1 {
		return ""
	}
	return fmt.Sprintf("T = %s at %s = %s, lambda_L = %s, rho_L = %.2f %%", a.T.Short(), p, valueOf{p, a.Given.X}.short(),
		phrase.Grouped(a.Lambda.L), float64(a.Share())/10_000)
}

func parameterName(p tolerance.Parameter) string {
	switch p {
	case tolerance.G:
		return "G, time"
	case tolerance.O:
		return "overhead o"
	}
	return "latency L"
}

func slopeName(p tolerance.Parameter) string {
	switch p {
	case tolerance.G:
		return "lambda_G, bytes"
	case tolerance.O:
		return "lambda_o"
	}
	return "lambda_L"
}

// shareSamples is the number of places at which a share is computed, over the whole range.
const shareSamples = 240

// shareLine is the share of T that the parameter has, X times slope by T, which is no straight line
// between the corners and jumps at them.
func shareLine(a *tolerance.Answers, curve *curves.Runtime, slot int) *plot.Line {
	line := &plot.Line{Slot: slot}
	xs, ts := curve.X, curve.T
	whole := xs[len(xs)-1] - xs[0]
	for i := range len(xs) - 1 {
		n := max(1, int(shareSamples*(xs[i+1]-xs[i])/whole))
		for j := range n + 1 {
			f := float64(j) / float64(n)
			x, t := xs[i]+f*(xs[i+1]-xs[i]), ts[i]+f*(ts[i+1]-ts[i])
			share := 0.0
			if t > 0 {
				share = 100 * x * float64(a.Curve[i].After) / t
			}
			line.X, line.Y = append(line.X, x), append(line.Y, share)
		}
	}
	return line
}
