package report

import (
	"fmt"

	"slackline/analyze/tolerance"
	"slackline/internal/phrase"
	"slackline/internal/table"
	"slackline/model/unit"
	"slackline/show/figures"
	"slackline/show/plot"
	"slackline/show/tables"
)

// tolerated is how much slower the network may be.
type tolerated struct {
	answers []*tolerance.Answers // by parameter
}

// The growth of the run time that is asked for.
var tolerances = tolerance.WholePercents(1, 2, 5)

// maxToleranceOps is how many operations a program may have whose tolerance a report asks for: the static model holds
// all of them in memory.
const maxToleranceOps = 20_000_000

// askTolerance asks how the run time depends on latency, bandwidth and overhead.
func (s *story) askTolerance() (*tolerated, error) {
	a := s.main()
	layout, err := s.in.Machine.Layout(a.run.Program.Ranks())
	if err != nil {
		return nil, err
	}
	prepared, err := tolerance.Prepare(a.run.Program, s.in.Mapping.Mapping.On(layout), s.in.Machine.Gamma)
	if err != nil {
		return nil, err
	}
	if n := prepared.Size().Ops; n > maxToleranceOps {
		return nil, fmt.Errorf("%s are too many for a report", phrase.Plural(n, "operation"))
	}
	e, err := prepared.Evaluate(tolerance.Network{Layout: layout})
	if err != nil {
		return nil, err
	}
	t := &tolerated{}
	for _, p := range []tolerance.Parameter{tolerance.L, tolerance.G, tolerance.O} {
		if err := s.ctx.Err(); err != nil {
			return nil, err
		}
		answers, err := e.Ask(tolerance.Question{Variable: tolerance.Variable{Parameter: p}, Percents: tolerances, Around: p != tolerance.O})
		if err != nil {
			return nil, err
		}
		t.answers = append(t.answers, answers)
	}
	return t, nil
}

// tellTolerance reports how much latency, bandwidth and noise the program tolerates.
func (s *story) tellTolerance(section *Section) *Missing {
	if missing := s.notSimulated(); missing != nil {
		return missing
	}
	if s.tolerate.err != nil {
		return &Missing{"the static model has no answer: " + s.tolerate.err.Error(), ""}
	}
	t := s.tolerate.value
	section.say(s.toleranceWords(t))
	section.table(s.toleranceTable(t))
	for i, a := range t.answers[:2] {
		section.figure(s.toleranceFigure(a, []string{"latency", "bandwidth"}[i]))
	}
	s.tellNoise(section)
	return nil
}

// toleranceWords is the answer about latency in words.
func (s *story) toleranceWords(t *tolerated) string {
	a := t.answers[0]
	text := fmt.Sprintf("On %s the program takes %s, of which %s are latencies of messages on the critical path. ",
		s.in.Machine.Name, a.T.Short(), phrase.Percent(float64(a.Share())/1e6, 1))
	switch l := a.Tolerance[0]; {
	case l.Unbounded:
		return text + "No latency, however large, makes it slower."
	default:
		last := a.Tolerance[len(a.Tolerance)-1]
		text += fmt.Sprintf("The latency may grow from %s to %s before the run takes 1 %% longer", valueWords(tolerance.L, a.Given.X),
			valueWords(tolerance.L, l.X))
		if !last.Unbounded {
			text += fmt.Sprintf(", and to %s before it takes 5 %% longer", valueWords(tolerance.L, last.X))
		}
		return text + "."
	}
}

// valueWords prints a value of a parameter.
func valueWords(p tolerance.Parameter, v int64) string {
	if p == tolerance.G {
		return fmt.Sprintf("%.4g ns/B", float64(v)/1e6)
	}
	return unit.Duration(v).Short()
}

// parameterNames are the names of the parameters for people.
var parameterNames = map[tolerance.Parameter]string{tolerance.L: "latency L", tolerance.G: "time per byte G",
	tolerance.O: "CPU time of a message, o"}

// toleranceTable lists the largest values.
func (s *story) toleranceTable(t *tolerated) *table.Table {
	list := newTable("Largest value at which the run takes at most so much longer (each parameter by itself)", s.toleranceCommand("L"),
		left("parameter"), right("given"))
	for _, p := range tolerances {
		list.Columns = append(list.Columns, right("+"+p.String()))
	}
	list.Columns = append(list.Columns, right("on the critical path"))
	on := []string{"latency", "byte", "overhead"}
	for i, a := range t.answers {
		p := a.Question.Variable.Parameter
		row := []any{tables.Text(parameterNames[p]), table.Cell{Text: valueWords(p, a.Given.X), Value: a.Given.X}}
		for _, l := range a.Tolerance {
			cell := table.Cell{Text: valueWords(p, l.X), Value: l.X}
			if l.Unbounded {
				cell = tables.Text("any")
			}
			row = append(row, cell)
		}
		n := []int64{a.Lambda.L, a.Lambda.Bytes, a.Lambda.O}[i]
		noun := on[i]
		if noun == "latency" && n != 1 {
			noun = "latencie"
		}
		list.Add(append(row, table.Cell{Text: phrase.Plural(n, noun), Value: n})...)
	}
	return list
}

func (s *story) toleranceCommand(parameter string, further ...string) string {
	words := s.main().run.Simulate
	if parameter != "L" {
		further = append([]string{"--parameter", parameter}, further...)
	}
	return command("tolerance", words, s.in.Machine.Words, s.in.Mapping.Words, further)
}

// toleranceFigure draws the run time over a parameter.
func (s *story) toleranceFigure(a *tolerance.Answers, name string) *Figure {
	if len(a.Curve) < 2 {
		return nil
	}
	p := a.Question.Variable.Parameter
	f := &Figure{
		ID: name, Title: "Run time over " + name, Command: s.toleranceCommand(p.String(), "--plot", name+".svg"),
		Caption: "The curve is exact: its corners are where another path becomes critical. Zones show how far the run time grows by " +
			"at most 1, 2 and 5 %.",
		Data: newTable("", "", right(parameterNames[p]), right("run time"), right("slope before"), right("slope after")),
		draw: func(float64) plot.Figure { return toleranceStack(a) },
	}
	if name == "bandwidth" {
		f.Caption = "Run time over the time per byte G, the inverse of the bandwidth. " + f.Caption
	}
	for _, c := range a.Curve {
		x, t := a.Floor(c)
		f.Data.Add(table.Cell{Text: valueWords(p, x), Value: x}, tables.Time(t), tables.Count(c.Before), tables.Count(c.After))
	}
	return f
}

// toleranceStack is the run time and its slope; the share of the parameter is left out.
func toleranceStack(a *tolerance.Answers) *plot.Stack {
	s := figures.Tolerance([]*tolerance.Answers{a}, []string{"T"}, "")
	s.Parts = s.Parts[:2]
	s.Parts[1].Weight = 0.7
	return s
}

// tellNoise reports what noise does to the run at its own size.
func (s *story) tellNoise(section *Section) {
	if s.in.Noise == nil {
		section.Blocks = append(section.Blocks, Block{Text: "The tolerance of noise is not part of this report, because no noise was given. " +
			code(command("report", s.main().run.Simulate, s.givenMachine(), "--noise", "1000Hz:25us")) + " adds it."})
		return
	}
	if s.scale.err != nil || s.scale.value == nil || len(s.scale.value.points) == 0 {
		return
	}
	d := s.scale.value.points[0].Distribution()
	section.say(fmt.Sprintf("With the noise %s on every rank, %s takes %s instead of %s on %s (median of %s), %s more; the "+
		"worst replica %s more.",
		code(s.in.Noise.Name), code(s.main().run.Name), d.Median.Short(), d.Noiseless.Short(), phrase.Plural(d.Ranks, "rank"),
		phrase.Plural(d.Replicas, "replica"),
		phrase.Percent(d.Slowdown.Median-1, 1), phrase.Percent(d.Slowdown.Max-1, 1)))
}
