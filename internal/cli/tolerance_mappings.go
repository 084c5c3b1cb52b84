package cli

import (
	"fmt"
	"io"

	"slackline/analyze/tolerance"
	"slackline/internal/table"
)

// mappingAnswer is what tolerance found out with one mapping of collectives.
type mappingAnswer struct {
	mapping  string
	schedule *tolerance.Schedule
	set      *toleranceSetting
	answers  *tolerance.Answers
}

// mappingReport compares mappings.
type mappingReport struct {
	run     *toleranceRun
	answers []mappingAnswer
}

// runMappings asks the same question with several mappings.
func (r *toleranceRun) runMappings() error {
	in := r.inputs[0]
	if !r.program.mapped(in) {
		r.app.warn("--mappings has no influence: %s has no collectives whose algorithm a mapping would choose", in.Name)
	}
	report := &mappingReport{run: r}
	for _, name := range r.mappings {
		if err := r.context.Err(); err != nil {
			return err
		}
		s, err := r.prepare(in, name)
		if err != nil {
			return err
		}
		set, err := r.setting(s)
		if err != nil {
			return err
		}
		a, err := s.Ask(set.network, r.questionOf(set))
		if err != nil {
			return err
		}
		report.answers = append(report.answers, mappingAnswer{name, s, set, a})
	}
	if r.plot != "" {
		if err := report.draw(); err != nil {
			return err
		}
	}
	return r.app.writeOut(r.out, r.files, report.write)
}

// widen gives all curves the same range, the widest one, if the user gave none.
func (m *mappingReport) widen() error {
	if m.run.ask.span != "" {
		return nil
	}
	var span [2]int64
	for i, entry := range m.answers {
		curve := entry.answers.Curve
		from, to := floorOf(curve[0].X), floorOf(curve[len(curve)-1].X)
		if i == 0 {
			span = [2]int64{from, to}
		}
		span = [2]int64{max(span[0], from), max(span[1], to)}
	}
	for i := range m.answers {
		entry := &m.answers[i]
		q := m.run.questionOf(entry.set)
		q.Range = &span
		a, err := entry.schedule.Ask(entry.set.network, q)
		if err != nil {
			return err
		}
		entry.answers = a
	}
	return nil
}

func (m *mappingReport) write(w io.Writer) error {
	switch m.run.format.value {
	case formatJSON:
		return m.writeJSON(w)
	case formatCSV:
		return m.table(false).WriteCSV(w)
	}
	fmt.Fprintf(w, "%s\n\n", m.title())
	return m.run.app.writeText(w, m.table(true), true)
}

func (m *mappingReport) title() string {
	return m.run.titleOf(m.run.inputs[0].Name, m.answers[0].schedule.Graph().Ranks(), nil)
}

// table has a row for each mapping; times are short for people.
func (m *mappingReport) table(short bool) *table.Table {
	p := m.run.ask.variable()
	columns := []table.Column{{Key: "mapping"}, right("ops"), right("messages"), {Key: "T_ns", Title: "T", Align: table.Right}, right("lambda_L"),
		{Key: "lambda_G_bytes", Title: "lambda_G", Align: table.Right}, right("lambda_o"), right("rho_L")}
	for _, percent := range m.run.ask.percents {
		columns = append(columns, table.Column{Key: keyOf(p) + "_" + percent.Number(), Title: p.String() + " for " + percent.String(), Align: table.Right})
	}
	t := table.New(columns...)
	for _, entry := range m.answers {
		a := entry.answers
		cells := []any{entry.mapping, entry.schedule.Graph().NumOps(), entry.schedule.Messages(),
			table.Cell{Text: a.T.Short(), Value: number(a.T.NS())}, a.Lambda.L, a.Lambda.Bytes, a.Lambda.O,
			table.Cell{Text: fmt.Sprintf("%.2f %%", float64(a.Share())/10_000), Value: millionths(a.Share())}}
		for _, l := range a.Tolerance {
			text, _ := largestWords(p, l)
			cells = append(cells, table.Cell{Text: text, Value: largestNumber(p, l)})
		}
		if short {
			for _, i := range []int{1, 2} {
				cells[i] = grouped(cells[i].(int))
			}
			for _, i := range []int{4, 5, 6} {
				cells[i] = grouped(cells[i].(int64))
			}
		}
		t.Add(cells...)
	}
	return t
}

func (m *mappingReport) writeJSON(w io.Writer) error {
	list := make([]object, len(m.answers))
	for i, entry := range m.answers {
		list[i] = append(object{{"mapping", entry.mapping}, {"ops", entry.schedule.Graph().NumOps()}, {"messages", entry.schedule.Messages()}},
			m.run.answerMembers(entry.answers)...)
		if entry.answers.Curve != nil {
			list[i] = append(list[i], member{"curve", curveMembers(entry.answers)})
		}
	}
	record, err := m.run.provenance(m.run.mappings...)
	if err != nil {
		return err
	}
	return object{
		{"mappings", list}, {"input", m.run.inputs[0].Name}, {"ranks", m.answers[0].schedule.Graph().Ranks()}, {"model", "loggps"}, {"provenance", record},
	}.writeMembers(w)
}

// curveMembers are the points of a curve.
func curveMembers(a *tolerance.Answers) []object {
	rows := curveRows(a)
	list := make([]object, len(rows))
	for i, r := range rows {
		list[i] = object{{keyOf(a.Question.Variable.Parameter), r.x}, {"T_ns", r.t}, {"slope_before", r.before}, {"slope_after", r.after}}
	}
	return list
}

func (m *mappingReport) draw() error {
	if err := m.widen(); err != nil {
		return err
	}
	var answers []*tolerance.Answers
	var names []string
	for _, entry := range m.answers {
		answers, names = append(answers, entry.answers), append(names, entry.mapping)
	}
	figure := m.run.figure(answers, names, m.answers[0].set.varied)
	figure.Title = m.title()
	return m.run.drawFigure(figure)
}
