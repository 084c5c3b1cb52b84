package tolerance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"slackline/analyze/tolerance"
	"slackline/analyze/whatif"
	"slackline/internal/cluster"
)

// sharedAnswer is what a process found out about one of several runs, in the form in which it goes to process 0.
type sharedAnswer struct {
	Answers  *tolerance.Answers // with the sums of the critical path, but without its operations
	Points   []tolerance.Point
	Ranks    int
	Warnings []string

	Ops, Messages int         // of the schedule
	Input         *inputFacts `json:",omitempty"` // of one of several
}

// ask answers a question in the form of a sharedAnswer.
func ask(s *tolerance.Schedule, n tolerance.Network, q tolerance.Question) (*sharedAnswer, error) {
	a, err := s.Ask(n, q)
	if err != nil {
		return nil, err
	}
	a.Path = &tolerance.CriticalPath{T: a.Path.T, Profile: a.Path.Profile}
	return &sharedAnswer{Answers: a, Ranks: s.Ranks(), Warnings: s.Warnings(),
		Ops: a.Size.Ops, Messages: a.Size.Messages}, nil
}

// each lets the processes of a job answer n questions of one kind; process 0 gets all answers, in their order. Others
// end with an error when that is done.
func (r *run) each(n int, what string, answer func(i int) (*sharedAnswer, error)) ([]sharedAnswer, error) {
	answers, err := r.round(n, what, answer)
	if err != nil {
		return nil, err
	}
	return answers, r.app.SharedDone(r.context)
}

// round is each for questions after which there are more.
func (r *run) round(n int, what string, answer func(i int) (*sharedAnswer, error)) ([]sharedAnswer, error) {
	if err := r.findDigests(); err != nil {
		return nil, err
	}
	answers := make([]sharedAnswer, n)
	var keeper *answerKeeper
	var missing []int
	err := r.app.FromFirst(r.context, &missing, func() error {
		var known []bool
		var err error
		keeper, known, err = r.openKeeper(answers)
		for i, is := range known {
			if !is {
				missing = append(missing, i)
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	err = r.share(missing, n, what, func(i int) (any, error) {
		found, err := answer(i)
		if err == nil {
			found.Answers.Question = tolerance.Question{} // all processes know it
		}
		return found, err
	}, func(i int, data []byte) error {
		if err := keeper.keep(i, data); err != nil {
			return err
		}
		return json.Unmarshal(data, &answers[i])
	})
	if closed := keeper.close(); err == nil {
		err = closed
	}
	if err != nil {
		if r.spread.resume != "" && r.app.IsFirst() && (whatif.Interrupted(err) || errors.Is(err, cluster.ErrBroken)) {
			r.app.Note("the same command goes on from %s", r.spread.resume)
		}
		return nil, err
	}
	for _, a := range answers {
		r.app.WarnAll(a.Warnings)
	}
	return answers, nil
}

// share lets the processes of a job work on some of n tasks; process 0 takes the results as JSON.
func (r *run) share(tasks []int, n int, what string, work func(i int) (any, error), take func(i int, data []byte) error) error {
	line := r.app.StartProgress()
	defer line.Clear()
	finished := n - len(tasks)
	return cluster.Tasks(r.context, r.app.Group(), len(tasks), 1, func(ctx context.Context, task int) ([]byte, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		found, err := work(tasks[task])
		if err != nil {
			return nil, err
		}
		return json.Marshal(found)
	}, func(task int, data []byte) error {
		finished++
		line.Report(func() string { return fmt.Sprintf("%s %d of %d", what, finished, n) })
		return take(tasks[task], data)
	})
}

// solveEach lets the processes of a job solve n independent problems; process 0 gets all solutions, in their order, the
// others none. Solutions have exported fields.
func solveEach[T any](r *run, n int, what string, solve func(i int) (T, error)) ([]T, error) {
	solutions, tasks := make([]T, n), make([]int, n)
	for i := range tasks {
		tasks[i] = i
	}
	return solutions, r.share(tasks, n, what, func(i int) (any, error) { return solve(i) },
		func(i int, data []byte) error { return json.Unmarshal(data, &solutions[i]) })
}
