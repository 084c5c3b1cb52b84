package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"slackline/analyze/tolerance"
	"slackline/internal/cluster"
)

// sharedAnswer is what a process found out about one of several runs, in the form in which it goes to process 0.
type sharedAnswer struct {
	Answers  *tolerance.Answers // with the sums of the critical path, but without its operations
	Points   []tolerance.Point
	Ranks    int
	Warnings []string
}

// ask answers a question in the form of a sharedAnswer.
func ask(s *tolerance.Schedule, n tolerance.Network, q tolerance.Question) (*sharedAnswer, error) {
	a, err := s.Ask(n, q)
	if err != nil {
		return nil, err
	}
	a.Path = &tolerance.CriticalPath{T: a.Path.T, Profile: a.Path.Profile}
	return &sharedAnswer{Answers: a, Ranks: s.Graph().Ranks(), Warnings: s.Warnings()}, nil
}

// each lets the processes of a job answer n questions of one kind; process 0 gets all answers, in their order. Others
// end with an error when that is done.
func (r *toleranceRun) each(n int, what string, answer func(i int) (*sharedAnswer, error)) ([]sharedAnswer, error) {
	line := r.app.startProgress()
	defer line.Clear()
	answers := make([]sharedAnswer, n)
	finished := 0
	err := cluster.Tasks(r.context, r.app.group(), n, 1, func(_ context.Context, i int) ([]byte, error) {
		found, err := answer(i)
		if err != nil {
			return nil, err
		}
		question := found.Answers.Question
		found.Answers.Question = tolerance.Question{} // all processes know it
		data, err := json.Marshal(found)
		found.Answers.Question = question
		return data, err
	}, func(i int, data []byte) error {
		finished++
		line.Report(func() string { return fmt.Sprintf("%s %d of %d", what, finished, n) })
		return json.Unmarshal(data, &answers[i])
	})
	if err != nil {
		return nil, err
	}
	for _, a := range answers {
		for _, w := range a.Warnings {
			r.app.warn("%s", w)
		}
	}
	return answers, r.app.sharedDone(r.context)
}
