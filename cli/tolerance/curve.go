package tolerance

import (
	"encoding/json"
	"fmt"
	"io"
	"math/big"

	"slackline/analyze/tolerance"
	"slackline/cli/phrase"
	"slackline/internal/table"
	"slackline/model/unit"
	"slackline/show/figures"
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
	return t.run.drawAnswers([]*tolerance.Answers{t.answers}, []string{"T"}, t.set.varied, t.title())
}

// drawAnswers draws one answer, or several with their names.
func (r *toleranceRun) drawAnswers(answers []*tolerance.Answers, names []string, varied, title string) error {
	return r.app.Draw(r.plot, r.files, figures.Tolerance(answers, names, varied), title, r.subtitle(answers))
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
