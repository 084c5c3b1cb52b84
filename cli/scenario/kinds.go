package scenario

// What the processes of a job read
//
// Process 0 reads for all of them: readOnce gives the others the small files
// (machines, noise, mappings, settings) that it has read, and input.Share their
// programs. It alone looks at what words name (input.FindKinds) and at whether
// outputs can be written, so a file that is damaged or missing is told once, and
// need not be on a file system that all nodes see. Each process opens by itself
// what it has to read a piece of: schedules of ours in one big simulation, traces
// in waits and profile, the inputs of tolerance that are its tasks.

import (
	"context"

	"slackline/cli/env"
	"slackline/cli/input"
)

// FindKinds finds out what the words of a verb name. In a job process 0 looks at them for all.
func (o *ProgramOptions) FindKinds(ctx context.Context, a *env.Env, words ...string) (err error) {
	if a.Shares() {
		o.Kinds, err = input.FindKinds(ctx, a.Group(), words...)
	}
	return err
}

// ShareWhole lets process 0 open inputs for all processes, which need all of them.
func (o *ProgramOptions) ShareWhole(a *env.Env) {
	o.Share = nil
	if a.Shares() {
		o.Share = &input.Share{Group: a.Group()}
	}
}
