package tolerance

import (
	"fmt"
	"io"

	"slackline/analyze/tolerance"
	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/internal/phrase"
	"slackline/internal/table"
	"slackline/model/machine"
	"slackline/model/unit"
	"slackline/show/figures"
	"slackline/show/plot"
)

// runMap prints T over a grid of L and G.
func (r *run) runMap() error {
	s, err := r.prepare(r.inputs[0], r.mapping)
	if err != nil {
		return err
	}
	lowest, err := r.lowest(s)
	if err != nil {
		return err
	}
	latencies := spaced(max(r.ask.from, lowest), r.ask.to, gridDefault)
	rows, err := r.mapRows(s, latencies)
	if err != nil {
		return err
	}
	report := &gridReport{run: r, schedule: s, latencies: latencies, rows: rows}
	return r.app.WriteResult("tolerance", report, &r.result, r.files)
}

// lowest is the smallest latency that can be.
func (r *run) lowest(s *tolerance.Schedule) (int64, error) {
	set, err := r.setting(s.Ranks())
	if err != nil {
		return 0, err
	}
	g, err := s.Build(set.network, set.variable)
	if err != nil {
		return 0, err
	}
	if g.Lowest() >= r.ask.to {
		return 0, exit.Usagef("--range: the smallest latency is %s: those of all classes move together and cannot be negative",
			unit.Duration(g.Lowest()))
	}
	return g.Lowest(), nil
}

// mapRow is T as a function of L at one G.
type mapRow struct {
	perByte unit.PerByte
	answers *tolerance.Answers
	points  []tolerance.Point
}

// mapRows finds T at each G.
func (r *run) mapRows(s *tolerance.Schedule, latencies []int64) ([]mapRow, error) {
	values := r.ask.mapG.values
	answers, err := r.each(len(values), "G", func(i int) (*sharedAnswer, error) {
		changed := *r
		changed.on = machine.Override{PerByte: &values[i]}.Apply(r.on)
		set, err := changed.setting(s.Ranks())
		if err != nil {
			return nil, err
		}
		row, err := ask(s, set.network, r.questionOf(set))
		if err != nil {
			return nil, err
		}
		g, err := s.Build(set.network, set.variable)
		if err != nil {
			return nil, err
		}
		row.Points, err = g.AtAll(latencies)
		return row, err
	})
	if err != nil {
		return nil, err
	}
	set, err := r.setting(s.Ranks())
	if err != nil {
		return nil, err
	}
	rows := make([]mapRow, len(answers))
	for i, a := range answers {
		a.Answers.Question = r.questionOf(set) // it is the same at each G
		rows[i] = mapRow{perByte: values[i], answers: a.Answers, points: a.Points}
	}
	return rows, nil
}

// gridReport is T over L and G.
type gridReport struct {
	run       *run
	schedule  *tolerance.Schedule
	latencies []int64
	rows      []mapRow
}

func (m *gridReport) Text(a *env.Env, w io.Writer) {
	in := m.run.inputs[0]
	a.WriteTitle(w, m.run.titleOf(in.Name, m.schedule.Ranks(), m.run.usedMapping(in)))
	fmt.Fprint(w, "T over L and G\n\n")
	a.WriteText(w, m.square(), true)
	fmt.Fprintln(w, "\nAt the given L")
	fmt.Fprintln(w)
	a.WriteText(w, m.atGiven(), true)
}

// square has a row for each G and a column for each L.
func (m *gridReport) square() *table.Table {
	columns := table.Columns(">G")
	for _, l := range m.latencies {
		columns = append(columns, right("L="+unit.Duration(l).Short()))
	}
	s := table.New(columns...)
	for _, row := range m.rows {
		cells := []any{row.perByte.String()}
		for _, p := range row.points {
			cells = append(cells, unit.Duration(p.T).Short())
		}
		s.Add(cells...)
	}
	return s
}

// atGiven lists for each G what L may become.
func (m *gridReport) atGiven() *table.Table {
	columns := table.Columns(">G", ">T", ">lambda_L", ">lambda_G", ">rho_L")
	for _, p := range m.run.ask.percents {
		columns = append(columns, right("L for "+p.String()))
	}
	s := table.New(columns...)
	for _, row := range m.rows {
		a := row.answers
		cells := []any{row.perByte.String(), a.T.Short(), phrase.Grouped(a.Lambda.L), phrase.Grouped(a.Lambda.Bytes), fmt.Sprintf("%.2f %%",
			float64(a.Share())/10_000)}
		for _, l := range a.Tolerance {
			short, _ := largestWords(tolerance.L, l)
			cells = append(cells, short)
		}
		s.Add(cells...)
	}
	return s
}

// Rows has a row for each pair of L and G.
func (m *gridReport) Rows(*env.Env) env.Rows {
	s := table.Of(">G_ns", ">L_ns", ">T_ns", ">slope_before", ">slope_after")
	for _, row := range m.rows {
		g := valueOf{tolerance.G, int64(row.perByte)}.number()
		for _, p := range row.points {
			s.Add(g, valueOf{tolerance.L, p.X}.number(), unit.Duration(p.T).NS(), p.Left, p.Right)
		}
	}
	return s
}

func (m *gridReport) JSON(*env.Env) (any, error) {
	in := m.run.inputs[0]
	d := &gridDocument{Input: in.Name, Ranks: m.schedule.Ranks(), Model: "loggps"}
	for _, l := range m.latencies {
		d.Latencies = append(d.Latencies, unit.Duration(l))
	}
	for _, row := range m.rows {
		x := gridRow{PerByte: row.perByte, answers: m.run.answersOf(row.answers)}
		for _, p := range row.points {
			x.Times, x.Slopes = append(x.Times, unit.Duration(p.T)), append(x.Slopes, p.Right)
		}
		d.Rows = append(d.Rows, x)
	}
	var err error
	d.Provenance, err = m.run.provenance(m.run.usedMapping(in)...)
	return d, err
}

func (m *gridReport) Figure(*env.Env) (fig plot.Figure, title, subtitle string, err error) {
	var answers []*tolerance.Answers
	var names []string
	for _, row := range m.rows {
		answers, names = append(answers, row.answers), append(names, "G = "+row.perByte.String())
	}
	title = m.run.titleOf(m.run.inputs[0].Name, m.schedule.Ranks(), nil)
	return figures.ToleranceMap(answers, names), title, "one curve for each G", nil
}
