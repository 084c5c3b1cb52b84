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
	if r.app.IsFirst() {
		var known []bool
		var err error
		if keeper, known, err = r.openKeeper(answers); err != nil {
			return nil, err
		}
		for i, is := range known {
			if !is {
				missing = append(missing, i)
			}
		}
	}
	err := r.answer(answers, &missing, keeper, what, answer)
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
		for _, w := range a.Warnings {
			r.app.Warn("%s", w)
		}
	}
	return answers, nil
}

// answer lets the processes of a job find the missing answers, of which process 0 knows.
func (r *run) answer(answers []sharedAnswer, missing *[]int, keeper *answerKeeper, what string, answer func(i int) (*sharedAnswer,
	error)) error {
	line := r.app.StartProgress()
	defer line.Clear()
	group := r.app.Group()
	list, err := json.Marshal(missing)
	if err != nil {
		return err
	}
	if list, err = cluster.Broadcast(r.context, group, list); err != nil {
		return err
	}
	if err := json.Unmarshal(list, missing); err != nil {
		return err
	}
	finished := len(answers) - len(*missing)
	return cluster.Tasks(r.context, group, len(*missing), 1, func(ctx context.Context, task int) ([]byte, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		found, err := answer((*missing)[task])
		if err != nil {
			return nil, err
		}
		found.Answers.Question = tolerance.Question{} // all processes know it
		return json.Marshal(found)
	}, func(task int, data []byte) error {
		i := (*missing)[task]
		finished++
		line.Report(func() string { return fmt.Sprintf("%s %d of %d", what, finished, len(answers)) })
		if err := keeper.keep(i, data); err != nil {
			return err
		}
		return json.Unmarshal(data, &answers[i])
	})
}

// solveEach lets the processes of a job solve n independent problems; process 0 gets all solutions, in their order, the
// others none. Solutions have exported fields.
func solveEach[T any](r *run, n int, what string, solve func(i int) (T, error)) ([]T, error) {
	line := r.app.StartProgress()
	defer line.Clear()
	solutions, finished := make([]T, n), 0
	err := cluster.Tasks(r.context, r.app.Group(), n, 1, func(ctx context.Context, i int) ([]byte, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		solution, err := solve(i)
		if err != nil {
			return nil, err
		}
		return json.Marshal(solution)
	}, func(i int, data []byte) error {
		finished++
		line.Report(func() string { return fmt.Sprintf("%s %d of %d", what, finished, n) })
		return json.Unmarshal(data, &solutions[i])
	})
	return solutions, err
}
