package report

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"slackline/analyze/advise"
	"slackline/analyze/scaling"
	"slackline/internal/parallel"
	"slackline/model/dataset"
)

// story is the report while it is made: what the analyses have answered so far.
type story struct {
	in   *Input
	ctx  context.Context
	runs []*analyzed
	data *dataset.Dataset // measurements, or the metrics of a series of runs
	from []string         // the words that name them

	advice   answer[*advise.Result]
	tolerate answer[*tolerated]
	scale    answer[*scaled]
	models   answer[[]scaling.Modelled]
	judged   answer[*scaling.Report]
}

// answer is what an analysis found, or why it could not.
type answer[T any] struct {
	value T
	err   error
	asked bool
}

// Make asks the analyses and reports what they found. It fails without any input, or if ctx is done.
func Make(ctx context.Context, in *Input) (*Document, error) {
	if len(in.Runs) == 0 && in.Data == nil {
		return nil, errors.New("a report needs a run or measurements")
	}
	s := &story{in: in, ctx: ctx}
	if err := s.analyze(); err != nil {
		return nil, err
	}
	if err := s.askAll(); err != nil {
		return nil, err
	}
	return s.tell(), nil
}

// analyze analyses all runs and makes a dataset of several of them.
func (s *story) analyze() error {
	s.progress("wait states")
	s.runs = make([]*analyzed, len(s.in.Runs))
	each := max(s.in.Threads/max(len(s.in.Runs), 1), 1)
	err := parallel.Try(len(s.in.Runs), s.in.Threads, func(i int) (err error) {
		if s.runs[i], err = analyzeRun(s.ctx, s.in.Runs[i], s.in.Whole, each); err != nil {
			err = fmt.Errorf("%s: %w", s.in.Runs[i].Name, err)
		}
		return err
	})
	if err != nil {
		return err
	}
	s.data, s.from = s.in.Data, s.in.Words
	if s.data == nil && len(s.runs) > 1 && s.in.Of != nil {
		s.data = dataset.New()
		for _, r := range s.runs {
			s.data.Merge(s.in.Of(r.waits))
			s.from = append(s.from, r.run.Words[0])
		}
		s.from = append(s.from, s.main().run.Read...)
		s.data.Keep(func(series *dataset.Series) bool { return !hasZero(series) })
		if err := s.data.Settle(); err != nil {
			s.data = nil
		}
	}
	return nil
}

// hasZero reports whether a series has a value of 0, which no model of growth can describe.
func hasZero(series *dataset.Series) bool {
	return slices.ContainsFunc(series.Points, func(p dataset.Point) bool { return slices.Contains(p.Values, 0) })
}

// askAll asks independent questions in parallel. A question without an answer becomes a section with the reason; only
// an interrupt ends the report.
func (s *story) askAll() error {
	s.progress("what if, tolerance, larger scale")
	var questions []func()
	if len(s.runs) > 0 && s.runs[0].run.Program != nil && !s.runs[0].empty() {
		questions = append(questions, ask(&s.advice, s.askAdvice), ask(&s.tolerate, s.askTolerance))
		if s.runs[0].run.Scaled != nil {
			questions = append(questions, ask(&s.scale, s.askScale))
		}
	}
	if s.data != nil {
		questions = append(questions, ask(&s.models, func() ([]scaling.Modelled, error) { return scaling.Models(s.data, scaling.Options{}, 1) }))
		if s.in.Expectations != nil {
			questions = append(questions, ask(&s.judged, func() (*scaling.Report, error) {
				return scaling.Judge(s.in.Expectations.Expectations, s.data, scaling.Options{})
			}))
		}
	}
	parallel.Each(len(questions), s.in.Threads, func(i int) { questions[i]() })
	return s.ctx.Err()
}

// ask turns a question into a task.
func ask[T any](a *answer[T], question func() (T, error)) func() {
	a.asked = true
	return func() { a.value, a.err = question() }
}

// progress reports what is being done.
func (s *story) progress(what string) {
	if s.in.Progress != nil {
		s.in.Progress(what)
	}
}

// main is the run that the report is about; nil: there are only measurements.
func (s *story) main() *analyzed {
	if len(s.runs) == 0 {
		return nil
	}
	return s.runs[0]
}

// chapters are the sections of a report, in the order in which an engineer asks. Each tells into its section, or returns why it cannot.
var chapters = []struct {
	id, title, question string
	tell                func(*story, *Section) *Missing
}{
	{"run", "What ran", "Which program, where, for how long, and how was it observed?", (*story).tellRun},
	{"compared", "The runs compared", "How do the runs differ?", (*story).tellCompared},
	{"time", "Where the time goes", "What does the run time consist of, and how much of it is useful?", (*story).tellTime},
	{"waits", "Who waits, and why", "Where do ranks wait for others, and what causes it?", (*story).tellWaits},
	{"gain", "What a fix would gain", "What should be changed first, and how long would the run take then?", (*story).tellGain},
	{"tolerance", "What it tolerates", "How much latency, bandwidth and noise does the program tolerate?", (*story).tellTolerance},
	{"scale", "At larger scale", "How will it do with more ranks?", (*story).tellScale},
	{"expectations", "Does it meet its expectations", "Does the program scale as its authors expect?", (*story).tellExpectations},
	{"doubts", "How reliable this is", "What may make these answers wrong?", (*story).tellDoubts},
}

// tell puts the answers into sections; one that has nothing to tell is left out.
func (s *story) tell() *Document {
	s.progress("figures")
	d := &Document{Title: s.in.Title, Provenance: s.in.Record}
	for _, c := range chapters {
		section := &Section{ID: c.id, Title: c.title, Question: c.question}
		if section.Missing = c.tell(s, section); section.Missing != nil || len(section.Blocks) > 0 {
			d.Sections = append(d.Sections, section)
		}
	}
	d.Subtitle = s.subtitle()
	d.Fix = s.fix()
	d.Summary = s.summary(d.Fix)
	return d
}
