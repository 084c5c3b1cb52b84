package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"slackline/analyze/scaling"
	"slackline/analyze/simulate"
	"slackline/analyze/whatif"
	"slackline/internal/phrase"
	"slackline/internal/table"
	"slackline/model/dataset"
	"slackline/model/schedule"
	"slackline/show/figures"
	"slackline/show/plot"
	"slackline/show/tables"
)

// How far a program is scaled unless the user gives numbers of ranks.
const (
	scaleSteps  = 5         // numbers of ranks, each four times the one before
	scaleBudget = 2_000_000 // operations of the largest run
)

// scaled is the program at larger numbers of ranks.
type scaled struct {
	points []whatif.Point
	noise  bool
}

// askScale simulates the program at larger numbers of ranks, with noise if that was named.
func (s *story) askScale() (*scaled, error) {
	a := s.main()
	counts := s.in.Scales
	if len(counts) == 0 {
		counts = defaultScales(a.run.Program)
	}
	series := whatif.Series{
		Counts: counts, Program: a.run.Scaled, Machine: s.in.Machine.Machine, Replicas: 1,
		Options: simulate.Options{Model: s.in.Model, Mapping: s.in.Mapping.Mapping, Threads: s.in.Threads},
	}
	if s.in.Noise != nil {
		series.Noise, series.Replicas = s.in.Noise.Noise, s.in.Noise.Replicas
	}
	points, err := series.Run(s.ctx)
	if err != nil {
		return nil, err
	}
	return &scaled{points: points, noise: s.in.Noise != nil}, nil
}

// defaultScales are numbers of ranks from that of the program on, as far as a report can afford.
func defaultScales(p schedule.Program) []int {
	ops := int64(0)
	var b schedule.Block
	for rank := range p.Ranks() {
		for step := range p.Steps(rank) {
			p.Block(rank, step, &b)
			ops += int64(len(b.Ops))
		}
	}
	counts := []int{p.Ranks()}
	for n := p.Ranks(); len(counts) < scaleSteps; {
		n *= 4
		ops *= 4
		if ops > scaleBudget || n > 1<<20 {
			break
		}
		counts = append(counts, n)
	}
	return counts
}

// tellScale reports how the program will do at larger scale.
func (s *story) tellScale(section *Section) *Missing {
	known := s.tellExtrapolated(section)
	if s.models.asked {
		s.tellModels(section)
		return nil
	}
	if missing := s.notSimulated(); known || missing != nil {
		return missing
	}
	return &Missing{"a schedule file has one number of ranks; give measurements over several, or a recorded run",
		command("report", s.main().run.Words, "runs.json")}
}

// tellExtrapolated shows the simulated runs.
func (s *story) tellExtrapolated(section *Section) bool {
	if !s.scale.asked {
		return false
	}
	if s.scale.err != nil {
		section.doubt("The program cannot be simulated at other numbers of ranks: " + s.scale.err.Error())
		return true
	}
	points := s.scale.value.points
	first, last := points[0].Distribution(), points[len(points)-1].Distribution()
	text := fmt.Sprintf("With as much work per rank as now, the run time goes from %s on %s to %s on %s", first.Median.Short(),
		phrase.Plural(first.Ranks, "rank"), last.Median.Short(), phrase.Plural(last.Ranks, "rank"))
	if s.scale.value.noise {
		text += fmt.Sprintf(" with the noise %s (without it, to %s)", code(s.in.Noise.Name), last.Noiseless.Short())
	} else {
		text += "; no noise was given, so this is the cost of collectives over more ranks"
	}
	section.say(text + ". The ranks are copied: messages stay within their copy, collectives include all ranks.")
	if s.main().run.Machine == "" && !s.main().run.Denoised && s.scale.value.noise {
		section.doubt("The recorded computation contains the noise of the machine where it was recorded; " + code(s.in.Noise.Name) +
			" comes on top. Only the growth is meaningful, not the first value.")
	}
	section.figure(s.scaleFigure(points))
	return true
}

// scaleFigure shows the run time over the number of ranks.
func (s *story) scaleFigure(points []whatif.Point) *Figure {
	var counts []string
	for _, p := range points {
		counts = append(counts, fmt.Sprint(p.Ranks))
	}
	words := append(slices.Clone(s.main().run.Simulate[:1]), "--ranks", strings.Join(counts, ","))
	words = append(append(words, s.main().run.patternWords()...), s.in.Machine.Words...)
	words = append(append(words, s.networkWords()...), s.in.Mapping.Words...)
	f := &Figure{
		ID: "scaling", Title: "Run time over the number of ranks",
		Data: newTable("", "", right("ranks"), right("without noise")),
		draw: func(float64) plot.Figure { return figures.Series(points, s.scale.value.noise) },
	}
	if s.in.Noise != nil {
		words = append(append(words, s.in.Noise.Words...), "--replicas", fmt.Sprint(s.in.Noise.Replicas))
		f.Caption = fmt.Sprintf("Simulated on %s; boxes are %s with different noise each.", s.in.Machine.Name, phrase.Plural(s.in.Noise.Replicas,
			"replica"))
		f.Data.Columns = append(f.Data.Columns, right("median with noise"), right("slowdown"), right("worst"))
	} else {
		words = append(words, s.quietWords()...)
		f.Caption = fmt.Sprintf("Simulated on %s.", s.in.Machine.Name)
	}
	f.Command = command("simulate", words, "--plot", "scaling.svg")
	for i := range points {
		d := points[i].Distribution()
		row := []any{tables.Count(d.Ranks), tables.Time(d.Noiseless)}
		if s.in.Noise != nil {
			row = append(row, tables.Time(d.Median), tables.Number(d.Slowdown.Median), tables.Number(d.Slowdown.Max))
		}
		f.Data.Add(row...)
	}
	return f
}

// patternWords are the words of the run beside its name and its number of ranks.
func (r *Run) patternWords() []string {
	var words []string
	for i := 1; i < len(r.Simulate); i++ {
		switch r.Simulate[i] {
		case "--ranks", "--grid":
			i++ // the value belongs to it
		default:
			words = append(words, r.Simulate[i])
		}
	}
	return words
}

// shownModels is how many models a table shows, shownCurves how many a figure.
const (
	shownModels = 12
	shownCurves = 5
)

// tellModels shows how measurements grow.
func (s *story) tellModels(section *Section) {
	if s.models.err != nil {
		section.doubt("No models were found: " + s.models.err.Error())
		return
	}
	place, err := s.place()
	if err != nil {
		section.doubt("No prediction was made: " + err.Error())
		return
	}
	usable := s.usable()
	if len(usable) == 0 {
		why := "the series have too few points"
		if len(s.models.value) > 0 {
			why = doubtOf(&s.models.value[0])
		}
		section.doubt(fmt.Sprintf("How the measurements grow is unknown: %s. At least %d values of each parameter are needed; %s runs a "+
			"program over a range.", why, scaling.MinPoints, code("slackline campaign")))
		return
	}
	ranked := scaling.Dominating(usable, place)
	at := figures.PlaceText(s.data.Parameters, place)
	section.say(s.modelWords(ranked, at))
	t := newTable("How the measurements grow, and what they will be at "+at, s.scalingCommand(place),
		left("function"), left("metric"), left("model"), left("growth"), right("confidence"), right("there"), right("5 % quantile"),
		right("95 % quantile"))
	t.Limit = shownModels
	for _, r := range ranked {
		f := r.Fit
		t.Add(tables.Path(f.CallPath), tables.Text(f.Metric), tables.Text(f.Model.String()), tables.Text(f.Landau()),
			tables.Number(math.Round(100*f.Confidence)/100),
			measure(r.Prediction.Value, f), measure(r.Prediction.Low, f), highest(r.Prediction, f))
	}
	section.table(t)
	section.figure(s.modelFigure(ranked, place))
}

// usable are the models that can be relied on.
func (s *story) usable() []scaling.Modelled {
	return slices.DeleteFunc(slices.Clone(s.models.value), func(m scaling.Modelled) bool { return m.Err != nil || m.Fit.Doubt != "" })
}

// place is where models predict: the value that the user gave, else four times the largest.
func (s *story) place() ([]float64, error) {
	if s.in.Where > 0 {
		return (&scaling.Target{Value: s.in.Where}).Place(s.data)
	}
	place, err := (&scaling.Target{Named: map[string]float64{}}).Place(s.data)
	if err == nil && len(place) > 0 {
		place[0] *= 4
	}
	return place, err
}

func (s *story) scalingCommand(place []float64, further ...string) string {
	target := fmt.Sprint(place[0])
	if place[0] == math.Trunc(place[0]) && place[0] < 1e15 {
		target = fmt.Sprint(int64(place[0]))
	}
	return command("scaling", s.from, "--target", target, further)
}

// doubtOf is why a series has no reliable model.
func doubtOf(m *scaling.Modelled) string {
	if m.Err != nil {
		return m.Err.Error()
	}
	return m.Fit.Doubt
}

// modelWords is what will matter most.
func (s *story) modelWords(ranked []scaling.Ranked, at string) string {
	first := ranked[0]
	name := code(first.Fit.CallPath)
	if first.Fit.CallPath == "" || first.Fit.CallPath == dataset.RootPath {
		name = "the whole run"
	}
	return fmt.Sprintf("At %s %s will matter most in %s: it grows as %s and is predicted to be %s (%s to %s).", at, name,
		code(first.Fit.Metric),
		first.Fit.Landau(), measure(first.Prediction.Value, first.Fit).Text, measure(first.Prediction.Low, first.Fit).Text,
		highest(first.Prediction, first.Fit).Text)
}

// measure is a cell with a value in the unit of its fit.
func measure(v float64, f *scaling.Fit) table.Cell { return tables.Measured(v, f.Unit) }

// absurd is the multiple of the prediction above which an upper bound is meaningless.
const absurd = 1000

// highest is a cell with the upper end of a prediction.
func highest(p scaling.Prediction, f *scaling.Fit) table.Cell {
	if !(p.High <= absurd*p.Value) {
		return tables.Text("no bound")
	}
	return measure(p.High, f)
}

// modelFigure draws the models that matter most.
func (s *story) modelFigure(ranked []scaling.Ranked, place []float64) *Figure {
	metric := ranked[0].Fit.Metric
	var fits []*scaling.Fit
	for _, r := range ranked {
		if r.Fit.Metric == metric && len(fits) < shownCurves {
			fits = append(fits, r.Fit)
		}
	}
	f := &Figure{
		ID: "models", Title: "Measurements and models", Caption: fmt.Sprintf("%s over %s: points are measured, lines are models.",
			capital(metric), s.data.Parameters[0]),
		Command: s.scalingCommand(place, "--metric", metric, "--plot", "models.svg"),
		Data:    newTable("", "", left("function"), right(s.data.Parameters[0]), right(metric), right("model")),
		draw: func(width float64) plot.Figure {
			return (&figures.Scaling{Place: place, Letters: int(width / 12)}).Models(fits)
		},
	}
	for _, fit := range fits {
		for i, at := range fit.At {
			f.Data.Add(tables.Path(fit.CallPath), tables.Number(at[0]), measure(fit.Values[i], fit), measure(fit.Model.Eval(at...), fit))
		}
	}
	return f
}
