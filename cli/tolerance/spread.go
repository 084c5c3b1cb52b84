package tolerance

import (
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"slackline/analyze/tolerance"
	"slackline/analyze/whatif"
	"slackline/cli/document"
	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/cli/scenario"
	"slackline/internal/phrase"
	"slackline/internal/source"
	"slackline/internal/table"
	"slackline/model/noise"
)

// spreadOptions are the flags that ask how sure the answers are.
type spreadOptions struct {
	noise    scenario.NoiseOptions
	replicas int
	resume   string
}

// spreadReplicas is the number of replicas unless another one is given.
const spreadReplicas = 20

// maxSpreadReplicas bounds the replicas: the answers to all of them stay in memory.
const maxSpreadReplicas = 100_000

func (o *spreadOptions) addFlags(fs *pflag.FlagSet) {
	flags.AddNumber(fs, &o.replicas, "replicas", spreadReplicas, flags.Between(1, maxSpreadReplicas),
		"`number` of runs with noise on the computation, which differ by the offsets of the ranks in it")
	o.noise.AddStaticFlags(fs)
	fs.StringVar(&o.resume, "resume", "", "keep the answers for finished replicas, inputs or values of --map-G in this `file`, and go "+
		"on from what it holds")
}

func (o *spreadOptions) check(r *run) error {
	o.noise.Aligned = r.given("offsets")
	if err := o.noise.Check(); err != nil {
		return err
	}
	switch {
	case r.given("replicas") && !o.noise.Random():
		return exit.Usagef("--replicas needs --noise or --noise-file")
	case o.resume != "" && !o.noise.Random() && !r.ask.mapG.given && len(r.command.Flags().Args()) < 2:
		return exit.Usagef("--resume needs several runs: --noise, --map-G, or several inputs")
	case o.resume != "" && len(r.mappings) > 0:
		return exit.Usagef("--resume does not go with --mappings")
	case o.noise.Offsets != "" && o.replicas > 1 && r.given("replicas"):
		return exit.Usagef("--noise-offsets gives the offsets of one run; leave it out, or --replicas")
	}
	if o.noise.Offsets != "" {
		o.replicas = 1
	}
	for _, name := range []string{"noise-offsets", "offsets", "noise-ranks", "delay"} {
		if r.given(name) && !o.noise.Random() {
			return exit.Usagef("--%s needs --noise or --noise-file", name)
		}
	}
	return nil
}

// sample are the answers to one run.
type sample struct {
	name    string // of an input
	seed    uint64 // of the offsets of a replica
	answers *tolerance.Answers
}

// spreadReport is the distribution of the answers.
type spreadReport struct {
	run      *run
	ranks    int
	quiet    *tolerance.Answers // without noise; nil: several inputs
	samples  []sample
	measures []spreadMeasure
}

// spreadMeasure is one number of all answers.
type spreadMeasure struct {
	key, title string
	show       func(int64) (text string, value number)
	of         func(*tolerance.Answers) tolerance.Largest
}

// runSpread asks the same question about several runs.
func (r *run) runSpread() error {
	report := &spreadReport{run: r}
	report.findMeasures()
	var err error
	if r.spread.noise.Random() {
		err = report.runNoisy()
	} else {
		err = report.runInputs()
	}
	if err != nil {
		return err
	}
	return r.app.WriteResult("tolerance", report, &r.result, r.files)
}

// runInputs takes one sample from each input.
func (s *spreadReport) runInputs() error {
	r := s.run
	answers, err := r.each(len(r.inputs), "input", r.answerInput)
	if err != nil {
		return err
	}
	if err := r.takeInputs(answers); err != nil {
		return err
	}
	for i, a := range answers {
		in := r.inputs[i]
		if s.ranks != 0 && s.ranks != a.Ranks {
			return fmt.Errorf("%s has %s, but %s has %d; give runs of one program with the same number", r.inputs[0].Name, phrase.Plural(s.ranks,
				"rank"), in.Name, a.Ranks)
		}
		s.ranks = a.Ranks
		s.samples = append(s.samples, sample{name: in.Name, answers: a.Answers})
	}
	return nil
}

// runNoisy takes samples of one input with different noise.
func (s *spreadReport) runNoisy() error {
	r := s.run
	schedule, err := r.prepare(r.inputs[0], r.mapping)
	if err != nil {
		return err
	}
	s.ranks = schedule.Ranks()
	set, err := r.setting(schedule.Ranks())
	if err != nil {
		return err
	}
	question := r.questionOf(set)
	if s.quiet, err = schedule.Ask(set.network, question); err != nil {
		return err
	}
	described, err := env.ReadOnce(r.context, r.app, func(from source.Source) (whatif.Noise, error) {
		return r.spread.noise.Describe(from, s.ranks, r.program.Seed, true)
	})
	if err != nil {
		return err
	}
	answers, err := r.each(r.spread.replicas, "replica", func(replica int) (*sharedAnswer, error) {
		injection, err := described.Injection(set.network.Layout, replica)
		if err != nil {
			return nil, err
		}
		noisy, err := schedule.WithNoise(injection)
		if err != nil {
			return nil, err
		}
		return ask(noisy, set.network, question)
	})
	if err != nil {
		return err
	}
	for replica, a := range answers {
		seed := r.program.Seed
		if replica > 0 {
			seed = noise.ReplicaSeed(seed, replica)
		}
		s.samples = append(s.samples, sample{seed: seed, answers: a.Answers})
	}
	return nil
}

// findMeasures lists the numbers whose distribution is reported.
func (s *spreadReport) findMeasures() {
	p := s.run.ask.variable()
	times := func(v int64) (string, number) {
		return valueOf{tolerance.L, v}.short(), valueOf{tolerance.L, v}.number()
	}
	values := func(v int64) (string, number) { return valueOf{p, v}.short(), valueOf{p, v}.number() }
	whole := func(v int64) (string, number) { return phrase.Grouped(v), number(fmt.Sprint(v)) }
	s.measures = []spreadMeasure{
		{"T_ns", "T", times, func(a *tolerance.Answers) tolerance.Largest { return tolerance.Largest{X: int64(a.T)} }},
		{"lambda_L", "lambda_L", whole, func(a *tolerance.Answers) tolerance.Largest { return tolerance.Largest{X: a.Lambda.L} }},
		{"rho_L", "rho_L", func(v int64) (string, number) {
			return fmt.Sprintf("%.2f %%", float64(v)/10_000), millionths(v)
		}, func(a *tolerance.Answers) tolerance.Largest { return tolerance.Largest{X: a.Share()} }},
	}
	for i, percent := range s.run.ask.percents {
		s.measures = append(s.measures, spreadMeasure{
			keyOf(p) + "_" + percent.Number(), p.String() + " for " + percent.String(), values,
			func(a *tolerance.Answers) tolerance.Largest { return a.Tolerance[i] },
		})
	}
	if s.run.ask.limit.Given {
		s.measures = append(s.measures, spreadMeasure{keyOf(p) + "_limit", p.String() + " for T at most " + s.run.ask.limit.String(), values,
			func(a *tolerance.Answers) tolerance.Largest { return *a.Limit }})
	}
}

// spread is the distribution of one number.
func (s *spreadReport) spread(m spreadMeasure) tolerance.Spread {
	values := make([]tolerance.Largest, len(s.samples))
	for i, sample := range s.samples {
		values[i] = m.of(sample.answers)
	}
	return tolerance.NewSpread(values)
}

// answer is an answer in words, and for programs.
func (m spreadMeasure) answer(l tolerance.Largest) (text string, value number) {
	switch {
	case l.Infeasible:
		return "none", "null"
	case l.Unbounded:
		return "any", "null"
	}
	return m.show(l.X)
}

func (m spreadMeasure) cell(l tolerance.Largest) table.Cell {
	text, value := m.answer(l)
	return table.Cell{Text: text, Value: value.cell()}
}

func (m spreadMeasure) number(l tolerance.Largest) number {
	_, value := m.answer(l)
	return value
}

func (s *spreadReport) Text(a *env.Env, w io.Writer) {
	r := s.run
	name, last := r.inputs[0].Name, fmt.Sprintf("noise %s, %s, seed %d", r.spread.noise.Name(), phrase.Plural(len(s.samples), "replica"),
		r.program.Seed)
	if s.quiet == nil {
		name, last = fmt.Sprintf("%d inputs", len(r.inputs)), "quantiles over the inputs"
	}
	a.WriteTitle(w, r.titleOf(name, s.ranks, r.usedMapping(r.inputs[0]))+", "+last)
	columns := table.Columns("answer")
	if s.quiet != nil {
		columns = append(columns, right("without noise"))
	}
	for _, q := range []string{"min", "5 %", "25 %", "median", "75 %", "95 %", "max"} {
		columns = append(columns, right(q))
	}
	if s.quiet != nil {
		columns = append(columns, table.Column{Key: "in 5-95 %"})
	}
	t := table.New(columns...)
	for _, m := range s.measures {
		spread := s.spread(m)
		cells := []any{m.title}
		if s.quiet != nil {
			cells = append(cells, m.cell(m.of(s.quiet)))
		}
		for _, q := range quantilesOf(&spread) {
			cells = append(cells, m.cell(q))
		}
		if s.quiet != nil {
			remark := "outside"
			if spread.Holds(m.of(s.quiet)) {
				remark = "within"
			}
			cells = append(cells, remark)
		}
		t.Add(cells...)
	}
	a.WriteText(w, t, true)
	if s.quiet != nil {
		fmt.Fprintf(w, "\nIn 5-95 %%: whether the answer without noise lies between these quantiles.\n")
	}
	s.writeSeeds(w)
}

// maxListedSeeds is how many seeds the text lists.
const maxListedSeeds = 20

// writeSeeds lists what reproduces each replica.
func (s *spreadReport) writeSeeds(w io.Writer) {
	if s.quiet == nil {
		return
	}
	text := ""
	for _, sample := range s.samples[:min(len(s.samples), maxListedSeeds)] {
		text += fmt.Sprintf(" %d", sample.seed)
	}
	if len(s.samples) > maxListedSeeds {
		text += " ... (--format csv or json has all)"
	}
	fmt.Fprintln(w)
	s.run.app.WriteWrapped(w, "Seeds of the offsets:"+text)
}

func quantilesOf(s *tolerance.Spread) []tolerance.Largest {
	return []tolerance.Largest{s.Min, s.Q05, s.Q25, s.Median, s.Q75, s.Q95, s.Max}
}

// Rows has a row for each run.
func (s *spreadReport) Rows(*env.Env) env.Rows {
	columns := table.Columns("input")
	if s.quiet != nil {
		columns = table.Columns(">replica", ">seed")
	}
	for _, m := range s.measures {
		columns = append(columns, right(m.key))
	}
	t := table.New(columns...)
	for i, sample := range s.samples {
		cells := []any{sample.name}
		if s.quiet != nil {
			cells = []any{i, sample.seed}
		}
		for _, m := range s.measures {
			cells = append(cells, m.cell(m.of(sample.answers)))
		}
		t.Add(cells...)
	}
	return t
}

func (s *spreadReport) JSON(*env.Env) (any, error) {
	r := s.run
	d := &spreadDocument{Ranks: s.ranks, Model: "loggps"}
	if s.quiet != nil {
		a := r.answersOf(s.quiet)
		d.answers, d.Input, d.Noise = &a, r.inputs[0].Name, r.spread.noise.Name()
	}
	for _, m := range s.measures {
		x := s.spread(m)
		q := quantiles{m.number(x.Min), m.number(x.Q05), m.number(x.Q25), m.number(x.Median), m.number(x.Q75), m.number(x.Q95), m.number(x.Max),
			"", nil}
		if s.quiet != nil {
			within := x.Holds(m.of(s.quiet))
			q.WithoutNoise, q.Within = m.number(m.of(s.quiet)), &within
		}
		d.Uncertainty = append(d.Uncertainty, document.Member[quantiles]{Name: m.key, Value: q})
	}
	for i, sample := range s.samples {
		row := document.Members[any]{{Name: "input", Value: sample.name}}
		if s.quiet != nil {
			row = document.Members[any]{{Name: "replica", Value: i}, {Name: "seed", Value: sample.seed}}
		}
		for _, m := range s.measures {
			row = append(row, document.Member[any]{Name: m.key, Value: m.number(m.of(sample.answers))})
		}
		d.Samples = append(d.Samples, row)
	}
	var err error
	d.Provenance, err = r.provenance(r.usedMapping(r.inputs[0])...)
	return d, err
}
