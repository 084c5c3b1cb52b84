package env

// What the processes of a job read
//
// Process 0 reads for all of them: readOnce gives the others the small files
// (machines, noise, mappings, settings) that it has read, and input.Share their
// programs. It alone looks at what words name (input.FindKinds) and at whether
// outputs can be written, so a file that is damaged or missing is reported once, and
// need not be on a file system that all nodes see. Each process opens by itself
// what it has to read a piece of: schedules of ours in one big simulation, traces
// in waits and profile, the inputs of tolerance that are its tasks.

import (
	"context"
	"io"

	"slackline/internal/cluster"
	"slackline/internal/source"
)

// ReadOnce returns what load makes of files. In a job process 0 reads them; the others load what it has read. An error
// of process 0 ends the job before the others have seen a file. Load asks for the same files on all processes.
func ReadOnce[T any](ctx context.Context, a *Env, load func(from source.Source) (T, error)) (T, error) {
	if !a.Shares() {
		return load(source.Disk)
	}
	var loaded T
	err := cluster.Stream(ctx, a.Group(), func(w io.Writer) error {
		var p source.Bundle
		var err error
		if loaded, err = load(p.Record(source.Disk)); err != nil {
			return err
		}
		return p.Write(w)
	}, func(r io.Reader) error {
		p, err := source.ReadBundle(r)
		if err != nil {
			return err
		}
		loaded, err = load(p.Read)
		return err
	})
	return loaded, err
}

// FromFirst gives all processes of a job the value that find fills on process 0, whose error ends the job.
func (a *Env) FromFirst(ctx context.Context, value any, find func() error) error {
	if !a.Shares() {
		return find()
	}
	if a.IsFirst() {
		if err := find(); err != nil {
			return err
		}
	}
	return cluster.BroadcastValue(ctx, a.Group(), value)
}

// Shares reports whether this process shares the verb with others.
func (a *Env) Shares() bool { return a.Job.Several() && !a.Alone }
