package cluster

import (
	"context"

	"slackline/internal/fault"
	"slackline/internal/parallel"
)

// Queue hands out tasks to the threads of one process.
type Queue interface {
	// Next returns the next task for this process; false: there are no more, or
	// the work has been given up.
	Next(ctx context.Context) (i int, ok bool)
	// Finish gives back the result of a task. It does not keep it.
	Finish(ctx context.Context, i int, result []byte) error
}

// Tasks does the tasks 0 .. n-1, spread over the threads of all processes: who
// is free gets the next one. Work is called on any process, on up to so many
// threads at the same time; done is called on process 0, for one result at a
// time, as they arrive. All processes call it with the same n, and none returns
// before all tasks are done.
//
// What is made of the results must not depend on the order in which they come.
// A task that fails ends the work; process 0 has been given what was finished
// by then.
func Tasks(ctx context.Context, g Group, n, threads int,
	work func(ctx context.Context, i int) ([]byte, error), done func(i int, result []byte) error) error {
	threads = max(min(threads, n), 1)
	return Feed(ctx, g, n, threads, done, func(ctx context.Context, q Queue) error {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		var all parallel.Group
		for range threads {
			all.Go(func() {
				for i, ok := q.Next(ctx); ok; i, ok = q.Next(ctx) {
					result, err := safely(ctx, i, work)
					if err == nil {
						err = q.Finish(ctx, i, result)
					}
					if err != nil {
						cancel(err)
						return
					}
				}
			})
		}
		all.Wait()
		return context.Cause(ctx)
	})
}

// safely does the work of a task; a mistake of the program is an error.
func safely(ctx context.Context, i int, work func(ctx context.Context, i int) ([]byte, error)) (result []byte, err error) {
	defer fault.Catch(&err)
	return work(ctx, i)
}

// Feed is Tasks for work that takes its tasks itself: body is called once on each
// process, takes tasks until there are no more and finishes all that it has
// taken, up to so many at the same time. Its methods may be called by several
// goroutines.
func Feed(ctx context.Context, g Group, n, threads int, done func(i int, result []byte) error,
	body func(ctx context.Context, q Queue) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var q interface {
		Queue
		serve(ctx context.Context) error // beside the body
		// end follows the body; after a failed one it only gives what is finished.
		end(ctx context.Context, failed bool) error
	}
	if g.Rank() == 0 {
		q = &server{group: g, tasks: n, done: done, open: g.Size() - 1}
	} else {
		q = newClient(g, threads)
	}
	if g.Size() > 1 {
		defer oneMore()()
	}
	served := make(chan struct{})
	fault.Go(func() {
		defer close(served)
		if err := q.serve(ctx); err != nil {
			cancel(err)
		}
	})
	failed := body(ctx, q)
	if err := q.end(ctx, failed != nil); failed == nil {
		failed = err
	}
	if failed != nil {
		cancel(failed)
	}
	<-served
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if g.Size() == 1 {
		return nil
	}
	_, err := g.Exchange(ctx, make([][]byte, g.Size())) // all wait here while others still ask for tasks
	return err
}
