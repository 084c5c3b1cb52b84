package cli

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
	"io"

	"slackline/internal/cluster"
	"slackline/internal/input"
	"slackline/internal/source"
)

// readOnce returns what load makes of files. In a job process 0 reads them; the others load what it has read. An error
// of process 0 ends the job before the others have seen a file. Load asks for the same files on all processes.
func readOnce[T any](ctx context.Context, a *app, load func(from source.Source) (T, error)) (T, error) {
	if !a.shares() {
		return load(source.Disk)
	}
	var loaded T
	err := cluster.Stream(ctx, a.group(), func(w io.Writer) error {
		var p source.Parcel
		var err error
		if loaded, err = load(p.Record(source.Disk)); err != nil {
			return err
		}
		return p.Write(w)
	}, func(r io.Reader) error {
		p, err := source.ReadParcel(r)
		if err != nil {
			return err
		}
		loaded, err = load(p.Read)
		return err
	})
	return loaded, err
}

// fromFirst gives all processes of a job the value that find fills on process 0, whose error ends the job.
func (a *app) fromFirst(ctx context.Context, value any, find func() error) error {
	if !a.shares() {
		return find()
	}
	var data []byte
	if a.isFirst() {
		err := find()
		if err == nil {
			data, err = cluster.Encode(value)
		}
		if err != nil {
			return err
		}
	}
	data, err := cluster.Broadcast(ctx, a.group(), data)
	if err != nil || a.isFirst() {
		return err
	}
	return cluster.Decode(data, value)
}

// shares reports whether this process shares the verb with others.
func (a *app) shares() bool { return a.job.several() && !a.alone }

// findKinds finds out what the words of a verb name. In a job process 0 looks at them for all.
func (o *programOptions) findKinds(ctx context.Context, a *app, words ...string) (err error) {
	if a.shares() {
		o.kinds, err = input.FindKinds(ctx, a.group(), words...)
	}
	return err
}

// shareWhole lets process 0 open inputs for all processes, which need all of them.
func (o *programOptions) shareWhole(a *app) {
	o.share = nil
	if a.shares() {
		o.share = &input.Share{Group: a.group()}
	}
}
