package scenario

import (
	"context"

	"slackline/cli/env"
	"slackline/cli/input"
)

// FindKinds finds out what the words of a verb name; it is an error if that is nothing. In a job process 0 looks at them for all.
func (o *ProgramOptions) FindKinds(ctx context.Context, a *env.Env, words ...string) (err error) {
	if a.Shares() {
		o.Kinds, err = input.FindKinds(ctx, a.Group(), words...)
		return err
	}
	for _, word := range words {
		if err := input.Check(word); err != nil {
			return err
		}
	}
	return nil
}

// ShareWhole lets process 0 open inputs for all processes, which need all of them.
func (o *ProgramOptions) ShareWhole(a *env.Env) {
	o.Share = nil
	if a.Shares() {
		o.Share = &input.Share{Group: a.Group()}
	}
}
