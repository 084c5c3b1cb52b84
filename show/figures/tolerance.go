package figures

import (
	"slackline/analyze/tolerance"
	"slackline/show/plot"
)

// Tolerance draws T, its slope and the share of the parameter over the range, for one answer or for several with their
// names. With one answer, the zones of its tolerances are shown. Varied names the latencies that the parameter is, if not
// all.
func Tolerance(answers []*tolerance.Answers, names []string, varied string) *plot.Stack {
	p := answers[0].Question.Variable.Parameter
	info := parameters[p]
	axis := plot.Axis{Label: info.axis, Quantity: info.quantity}
	if varied != "" {
		axis.Label += " " + varied
	}
	axis.Label += info.unit
	parts := []plot.StackPart{
		{Y: plot.Axis{Label: "run time T", Quantity: plot.Time}, Weight: 1.5},
		{Y: plot.Axis{Label: "slope: " + info.slope, FromZero: true}},
		{Y: plot.Axis{Label: "rho_" + p.String() + ", share of T", Quantity: plot.Percent, FromZero: true}},
	}
	first := newRuntime(answers[0])
	axis.Min, axis.Max = first.axis()
	for i := range parts {
		given, zone := "", func(int) string { return "" }
		if i == 0 {
			percents := answers[0].Question.Percents
			given, zone = "given "+p.String(), func(i int) string { return "up to " + percents[i].Number() + " %" }
		}
		if len(answers) == 1 {
			parts[i].Layers = first.zones(zone)
		}
		parts[i].Layers = append(parts[i].Layers, first.given(given)...)
	}
	for i, a := range answers {
		slot, r := i+1, newRuntime(a)
		parts[0].Layers = append(parts[0].Layers, r.curve(names[i], slot))
		parts[1].Layers = append(parts[1].Layers, r.slope(slot))
		parts[2].Layers = append(parts[2].Layers, r.share(slot))
	}
	return &plot.Stack{X: axis, Parts: parts}
}

// ToleranceMap draws T over the latency, one curve for each answer.
func ToleranceMap(answers []*tolerance.Answers, names []string) *plot.Chart {
	c := &plot.Chart{X: plot.Axis{Label: "latency L", Quantity: plot.Time}, Y: plot.Axis{Label: "run time T", Quantity: plot.Time}}
	for i, a := range answers {
		c.Layers = append(c.Layers, newRuntime(a).curve(names[i], i+1))
	}
	return c
}

// parameters are the labels of the axes.
var parameters = map[tolerance.Parameter]struct {
	axis, unit, slope string
	quantity          plot.Quantity
}{
	tolerance.L: {"latency L", "", "lambda_L", plot.Time},
	tolerance.G: {"G, time", " in ps per byte", "lambda_G (B)", plot.Number},
	tolerance.O: {"overhead o", "", "lambda_o", plot.Time},
}
