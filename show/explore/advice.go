package explore

import (
	"context"
	"errors"
	"fmt"

	"slackline/analyze/advise"
	"slackline/internal/fault"
	"slackline/internal/phrase"
	"slackline/model/unit"
)

// adviceEffort is how many operations are simulated for the list of changes: some seconds.
const adviceEffort = 100_000_000

// answerAdvice gives the changes that pay.
func answerAdvice(ctx context.Context, v *view, _ *query) (any, error) {
	if v.opened.Advise == nil {
		return nil, notFound("this run cannot be simulated")
	}
	return await(ctx, v, &v.advice, v.makeAdvice, "changes are still being tried; try again in a moment")
}

func (v *view) makeAdvice() (_ *Advice, err error) {
	defer fault.Catch(&err)
	if !affords(v.counts.calls) {
		return nil, notFound(fmt.Sprintf("there is not enough memory to simulate %d calls beside the timeline; end the explorer and ask "+
			"'slackline advise %s'", v.counts.calls, v.name))
	}
	say, end := v.works.begin(workAdvice)
	defer end()
	say("reading the calls as a program", 0)
	program, err := v.program(v.opened.OwnMachine != "")
	if err != nil {
		return nil, err
	}
	q, err := v.opened.Advise(program)
	if err != nil {
		return nil, err
	}
	q.Threads, q.Effort = v.threads, adviceEffort
	q.Progress = func(done, all int) {
		say(fmt.Sprintf("%d of %d changes tried", done, all), float64(done)/float64(max(all, 1)))
	}
	r, err := advise.Search(v.context, *q)
	if err != nil && !errors.Is(err, context.Canceled) {
		return nil, notFound("this run cannot be simulated: " + err.Error())
	}
	if err != nil {
		return nil, err
	}
	answer := &Advice{
		Machine: q.Machine.Name, RunTime: int64(unit.Duration(r.RunTime)), Noise: r.Noise.Share, Nothing: r.Nothing(), Left: r.Left,
		Changes: entries(r.Advice), Upgrades: entries(r.Upgrades), Ceilings: []AdviceCeiling{},
	}
	for _, c := range r.Ceilings {
		answer.Ceilings = append(answer.Ceilings, AdviceCeiling{c.Name, int64(unit.Duration(c.RunTime)), c.Gain})
	}
	if t := r.Together; t != nil {
		answer.Together = &TogetherEntry{t.Changes, int64(unit.Duration(t.RunTime)), t.Gain, t.Sum, t.Command}
	}
	return answer, nil
}

func entries(list []advise.Advice) []AdviceEntry {
	out := []AdviceEntry{}
	for i := range list {
		a := &list[i]
		out = append(out, AdviceEntry{a.Text, phrase.Spaced(a.Say()), int64(unit.Duration(a.RunTime)), a.Gain, a.Interval(), a.Command})
	}
	return out
}
