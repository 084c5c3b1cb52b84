package tolerance

import (
	"fmt"
	"io"

	"slackline/analyze/tolerance"
	"slackline/cli/env"
	"slackline/internal/phrase"
	"slackline/internal/table"
	"slackline/show/figures"
	"slackline/show/plot"
)

// mappingReport compares mappings.
type mappingReport struct {
	run     *run
	set     *setting
	answers []sharedAnswer // by mapping
}

// runMappings asks the same question with several mappings, which the processes of a job share.
func (r *run) runMappings() error {
	in := r.inputs[0]
	if !r.program.Mapped(in) {
		r.app.Warn("--mappings has no influence: %s has no collectives whose algorithm a mapping would choose", in.Name)
	}
	set, err := r.setting(in.Program.Ranks())
	if err != nil {
		return err
	}
	report := &mappingReport{run: r, set: set}
	if err := report.ask(); err != nil {
		return err
	}
	if err := r.app.SharedDone(r.context); err != nil {
		return err
	}
	return r.app.WriteResult("tolerance", report, &r.result, r.files)
}

// ask asks the question with each mapping; process 0 gets the answers. If curves are drawn for which the user gave no
// range, all get the same one, the widest.
func (m *mappingReport) ask() error {
	r := m.run
	q := r.questionOf(m.set)
	prepared := map[int]*tolerance.Schedule{} // if they are needed once more
	again := r.result.Plot != "" && r.ask.span == ""
	answer := func(i int) (*sharedAnswer, error) {
		s := prepared[i]
		if s == nil {
			var err error
			if s, err = r.prepare(r.inputs[0], r.mappings[i]); err != nil {
				return nil, err
			}
		}
		if again {
			prepared[i] = s
		}
		return ask(s, m.set.network, q)
	}
	var err error
	if m.answers, err = r.round(len(r.mappings), "mapping", answer); err != nil || !again {
		return m.answered(q, err)
	}
	q.Range = &[2]int64{}
	if err := r.app.FromFirst(r.context, q.Range, func() error { *q.Range = m.widest(); return nil }); err != nil {
		return err
	}
	m.answers, err = r.round(len(r.mappings), "mapping", answer)
	return m.answered(q, err)
}

// answered gives the answers the question, which they come without.
func (m *mappingReport) answered(q tolerance.Question, err error) error {
	if err != nil || !m.run.app.IsFirst() {
		return err
	}
	for i := range m.answers {
		m.answers[i].Answers.Question = q
	}
	return nil
}

// widest is the range that holds the curves of all answers.
func (m *mappingReport) widest() (span [2]int64) {
	for i := range m.answers {
		a := m.answers[i].Answers
		from, _ := a.Floor(a.Curve[0])
		to, _ := a.Floor(a.Curve[len(a.Curve)-1])
		if i == 0 {
			span = [2]int64{from, to}
		}
		span = [2]int64{max(span[0], from), max(span[1], to)}
	}
	return span
}

func (m *mappingReport) Rows(*env.Env) env.Rows { return m.table(false) }

func (m *mappingReport) Text(a *env.Env, w io.Writer) {
	a.WriteTitle(w, m.title())
	a.WriteText(w, m.table(true), true)
}

func (m *mappingReport) title() string {
	return m.run.titleOf(m.run.inputs[0].Name, m.answers[0].Ranks, nil)
}

// table has a row for each mapping; times are short for people.
func (m *mappingReport) table(short bool) *table.Table {
	p := m.run.ask.variable()
	columns := table.Columns("mapping", ">ops", ">messages", ">T_ns=T", ">lambda_L", ">lambda_G_bytes=lambda_G",
		">lambda_o", ">rho_L")
	for _, percent := range m.run.ask.percents {
		columns = append(columns, table.Column{Key: keyOf(p) + "_" + percent.Number(), Title: p.String() + " for " + percent.String(),
			Align: table.Right})
	}
	t := table.New(columns...)
	for i, entry := range m.answers {
		a := entry.Answers
		cells := []any{m.run.mappings[i], entry.Ops, entry.Messages,
			table.Cell{Text: a.T.Short(), Value: a.T.NS()}, a.Lambda.L, a.Lambda.Bytes, a.Lambda.O,
			table.Cell{Text: fmt.Sprintf("%.2f %%", float64(a.Share())/10_000), Value: millionths(a.Share())}}
		for _, l := range a.Tolerance {
			text, _ := largestWords(p, l)
			cells = append(cells, table.Cell{Text: text, Value: largestNumber(p, l).cell()})
		}
		if short {
			for _, i := range []int{1, 2} {
				cells[i] = phrase.Grouped(cells[i].(int))
			}
			for _, i := range []int{4, 5, 6} {
				cells[i] = phrase.Grouped(cells[i].(int64))
			}
		}
		t.Add(cells...)
	}
	return t
}

func (m *mappingReport) JSON(*env.Env) (any, error) {
	d := &mappingsDocument{Input: m.run.inputs[0].Name, Ranks: m.answers[0].Ranks, Model: "loggps"}
	for i, entry := range m.answers {
		d.Mappings = append(d.Mappings, mappingAnswers{
			m.run.mappings[i], entry.Ops, entry.Messages, m.run.answersOf(entry.Answers), curvePoints(entry.Answers),
		})
	}
	var err error
	d.Provenance, err = m.run.provenance(m.run.mappings...)
	return d, err
}

func (m *mappingReport) Figure(*env.Env) (fig plot.Figure, title, subtitle string, err error) {
	var answers []*tolerance.Answers
	for _, entry := range m.answers {
		answers = append(answers, entry.Answers)
	}
	return figures.Tolerance(answers, m.run.mappings, m.set.varied), m.title(), subtitleOf(answers), nil
}
