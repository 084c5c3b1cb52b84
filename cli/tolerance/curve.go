package tolerance

import (
	"fmt"

	"slackline/analyze/tolerance"
	"slackline/cli/env"
	"slackline/internal/phrase"
	"slackline/internal/table"
	"slackline/show/figures"
	"slackline/show/plot"
)

// curvePoints are the ends of the range and all breakpoints, rounded down to the resolution of the
// parameter and to picoseconds.
func curvePoints(a *tolerance.Answers) []curvePoint {
	p := a.Question.Variable.Parameter
	points := make([]curvePoint, len(a.Curve))
	for i, c := range a.Curve {
		x, t := a.Floor(c)
		points[i] = curvePoint{newValue(p, tolerance.Largest{X: x}), t, c.Before, c.After}
	}
	return points
}

// Rows has a row for each breakpoint.
func (t *report) Rows(*env.Env) env.Rows {
	a := t.answers
	s := table.New(right(keyOf(a.Question.Variable.Parameter)), right("T_ns"), right("slope_before"), right("slope_after"))
	for _, p := range curvePoints(a) {
		s.Add(p.L+p.G+p.O, p.T.NS(), p.Before, p.After) // one of the three is there
	}
	return s
}

// Figure is the curve.
func (t *report) Figure(*env.Env) (fig plot.Figure, title, subtitle string, err error) {
	answers := []*tolerance.Answers{t.answers}
	return figures.Tolerance(answers, []string{"T"}, t.set.varied), t.title(), subtitleOf(answers), nil
}

// subtitleOf says the parameters.
func subtitleOf(answers []*tolerance.Answers) string {
	a := answers[0]
	p := a.Question.Variable.Parameter
	if len(answers) > 1 {
		return ""
	}
	return fmt.Sprintf("T = %s at %s = %s, lambda_L = %s, rho_L = %.2f %%", a.T.Short(), p, valueOf{p, a.Given.X}.short(),
		phrase.Grouped(a.Lambda.L), float64(a.Share())/10_000)
}
