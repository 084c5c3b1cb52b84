package campaign

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Run is one start of the program that a plan asks for.
type Run struct {
	Name       string    // e.g. p16.n100.r2, which is also the name of its directory
	At         []float64 // by parameter
	Repetition int       // from 1
	Cores      float64

	plan *Plan
}

// runs returns the runs of the plan, in an order that only the seed decides: what changes slowly on a
// machine must not look like the effect of a parameter.
func (p *Plan) runs(seed uint64) ([]*Run, error) {
	runs, err := p.ordered()
	if err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(seed, 0x5eed))
	random.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
	return runs, nil
}

// maxCores is more than the largest machines have.
const maxCores = 1 << 31

// ordered returns the runs by point and repetition.
func (p *Plan) ordered() ([]*Run, error) {
	points, err := p.points()
	if err != nil {
		return nil, err
	}
	var runs []*Run
	for _, at := range points {
		cores := p.cores.value(p.named(at))
		if !(cores > 0) || cores != math.Trunc(cores) || cores > maxCores {
			return nil, fmt.Errorf("cores: %s is %s at %s; it must be a whole number from 1 to 2^31", p.cores.text, decimal(cores), p.place(at))
		}
		for r := 1; r <= p.Repetitions; r++ {
			runs = append(runs, &Run{Name: p.runName(at, r), At: at, Repetition: r, Cores: cores, plan: p})
		}
	}
	return runs, nil
}

// combinations are the combinations of values that the design has.
func (p *Plan) combinations() ([][]float64, error) {
	combinations := 1
	for _, q := range p.Parameters {
		if combinations *= len(q.Values); combinations > maxRuns {
			return nil, fmt.Errorf("the parameters have more than %d combinations", maxRuns)
		}
	}
	var points [][]float64
	places := make([]int, len(p.Parameters))
	for i := range combinations {
		at := make([]float64, len(p.Parameters))
		for k := len(at) - 1; k >= 0; k-- {
			values := p.Parameters[k].Values
			places[k] = i % len(values)
			at[k] = values[places[k]]
			i /= len(values)
		}
		if !p.lines || p.onLines(places) {
			points = append(points, at)
		}
	}
	return points, nil
}

// onLines reports whether a combination, given by the places of its values, belongs to the design of lines: along each
// parameter with the others at their smallest value, which is what models of one parameter need and costs least; and
// where several parameters have their middle value, which shows whether they are multiplied or added.
func (p *Plan) onLines(places []int) bool {
	away, middle := 0, 0
	for k, place := range places {
		if place > 0 {
			away++
		}
		if place > 0 && place == len(p.Parameters[k].Values)/2 {
			middle++
		}
	}
	return away <= 1 || away == middle
}

// points are the combinations of values that pass the filters.
func (p *Plan) points() ([][]float64, error) {
	points, err := p.combinations()
	if err != nil {
		return nil, err
	}
	points = slices.DeleteFunc(points, func(at []float64) bool { return !p.wanted(at) })
	if len(points) == 0 {
		return nil, fmt.Errorf("no combination of the parameters passes the filters under only")
	}
	if len(points)*p.Repetitions > maxRuns {
		return nil, fmt.Errorf("the plan has %d runs; at most %d are done", len(points)*p.Repetitions, maxRuns)
	}
	return points, nil
}

func (p *Plan) wanted(at []float64) bool {
	named := p.named(at)
	for _, f := range p.only {
		if v := f.value(named); v == 0 || math.IsNaN(v) {
			return false
		}
	}
	return true
}

// named are the values of a point by the names of the parameters.
func (p *Plan) named(at []float64) map[string]float64 {
	m := make(map[string]float64, len(at))
	for i, q := range p.Parameters {
		m[q.Name] = at[i]
	}
	return m
}

// place prints a point for people.
func (p *Plan) place(at []float64) string {
	parts := make([]string, len(at))
	for i, q := range p.Parameters {
		parts[i] = q.Name + " = " + decimal(at[i])
	}
	return strings.Join(parts, ", ")
}

func (p *Plan) runName(at []float64, repetition int) string {
	var b strings.Builder
	for i, q := range p.Parameters {
		b.WriteString(q.Name + decimal(at[i]) + ".")
	}
	return b.String() + "r" + strconv.Itoa(repetition)
}

// words returns the command of the run, with its launcher; dir is the directory of the run.
func (r *Run) words(dir string) []string {
	at, texts := r.plan.named(r.At), r.texts(dir)
	var command []string
	for _, t := range r.plan.command {
		command = append(command, t.fill(at, texts))
	}
	texts["command"] = Quote(command)
	var words []string
	for _, t := range r.plan.launch {
		if t.is("command") {
			words = append(words, command...)
		} else {
			words = append(words, t.fill(at, texts))
		}
	}
	return words
}

// texts are the names that templates know.
func (r *Run) texts(dir string) map[string]string {
	return map[string]string{"repetition": strconv.Itoa(r.Repetition), "run": r.Name, "dir": dir}
}

// environment are the variables that the run has beside those of the campaign.
func (r *Run) environment(dir string) []string {
	var list []string
	for _, v := range r.plan.environment {
		list = append(list, v.name+"="+v.value.fill(r.plan.named(r.At), r.texts(dir)))
	}
	return list
}
