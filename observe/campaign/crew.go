package campaign

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"slackline/internal/cluster"
	"slackline/internal/fault"
	"slackline/internal/parallel"
)

// Process 0 has the queue and the journal. It prepares an attempt and asks another process to supervise it; that one
// starts the supervisor on its host, waits, and reports the result. Nothing else goes between them, so what is finished
// is in the directory of the runs whatever becomes of the processes.

// errand is what process 0 asks another process to do.
type errand struct {
	Number  int
	Dir     string
	Attempt int
	Last    bool // there is nothing more to do
}

// answer is what became of an errand.
type answer struct {
	Number  int
	Result  *result // of the supervisor; nil: it left none
	Trouble string  // why there was no attempt
	Last    bool
}

// crew is what process 0 knows of the others.
type crew struct {
	group cluster.Group

	mu      sync.Mutex
	next    int
	waiting map[int]chan *answer
}

func newCrew(g cluster.Group) *crew { return &crew{group: g, waiting: map[int]chan *answer{}} }

// ask lets a process supervise an attempt, and waits for its end. No result means that the supervisor left none.
func (c *crew) ask(ctx context.Context, at place, dir string, attempt int) (*result, error) {
	reply := make(chan *answer, 1)
	if err := c.send(ctx, at.process, errand{Dir: dir, Attempt: attempt}, reply); err != nil {
		return nil, err
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case a := <-reply:
		if a.Trouble != "" {
			return nil, fmt.Errorf("process %d on %s: %s", at.process, at.host, a.Trouble)
		}
		return a.Result, nil
	}
}

// send gives an errand to a process.
func (c *crew) send(ctx context.Context, process int, e errand, reply chan *answer) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.Number = c.next
	c.next++
	if reply != nil {
		c.waiting[e.Number] = reply
	}
	data, err := cluster.Encode(&e)
	if err != nil {
		return err
	}
	return c.group.Send(ctx, process, data)
}

// lead takes the answers of the others, and lets them go when the work is done. The work ends when ctx does.
func (c *crew) lead(ctx context.Context, work func()) error {
	listening := make(chan error, 1)
	fault.Go(func() { listening <- c.listen(ctx) })
	worked := make(chan struct{})
	fault.Go(func() { work(); close(worked) })
	select {
	case err := <-listening: // too soon
		return err
	case <-worked:
	}
	if err := ctx.Err(); err != nil {
		return errors.Join(err, <-listening)
	}
	for p := 1; p < c.group.Size(); p++ {
		if err := c.send(ctx, p, errand{Last: true}, nil); err != nil {
			return err
		}
	}
	return <-listening
}

// listen takes answers until all other processes have sent their last one.
func (c *crew) listen(ctx context.Context) error {
	for open := c.group.Size() - 1; open > 0; {
		_, data, err := c.group.Receive(ctx)
		if err != nil {
			return err
		}
		a := new(answer)
		if err := cluster.Decode(data, a); err != nil {
			return err
		}
		if a.Last {
			open--
			continue
		}
		c.mu.Lock()
		reply := c.waiting[a.Number]
		delete(c.waiting, a.Number)
		c.mu.Unlock()
		if reply == nil {
			return cluster.ErrGarbled
		}
		reply <- a
	}
	return nil
}

// Help does runs of a campaign that process 0 of the group carries out, until there are no more. When ctx is done, or
// another process has failed, runs at work are ended. Of the options Self, Name, Environment, Group and Host count.
func Help(ctx context.Context, o Options) error {
	if _, err := allHosts(ctx, o.Group, o.host()); err != nil {
		return err
	}
	closeInherited()
	h := &helper{options: o}
	inner, cancel := context.WithCancel(ctx)
	err := h.serve(ctx, inner)
	if err != nil {
		cancel()
	}
	h.working.Wait()
	cancel()
	return err
}

// helper does the errands of process 0.
type helper struct {
	options Options
	sending sync.Mutex
	working parallel.Group
}

// serve takes errands, which end with a context of their own.
func (h *helper) serve(ctx, errands context.Context) error {
	for {
		_, data, err := h.options.Group.Receive(ctx)
		if err != nil {
			return err
		}
		var e errand
		if err := cluster.Decode(data, &e); err != nil {
			return err
		}
		if e.Last {
			return h.send(ctx, &answer{Last: true})
		}
		h.working.Go(func() { _ = h.send(errands, h.do(errands, &e)) }) // what cannot be sent is found by Receive, too
	}
}

func (h *helper) send(ctx context.Context, a *answer) error {
	data, err := cluster.Encode(a)
	if err != nil {
		return err
	}
	h.sending.Lock()
	defer h.sending.Unlock()
	return h.options.Group.Send(ctx, 0, data)
}

// do does an errand.
func (h *helper) do(ctx context.Context, e *errand) *answer {
	a := &answer{Number: e.Number}
	err := awaitOrder(ctx, e.Dir, e.Attempt)
	if err == nil {
		err = h.options.launch(ctx, e.Dir, e.Attempt)
	}
	if err == nil {
		a.Result, err = readResult(e.Dir, e.Attempt)
	}
	if err != nil {
		a.Trouble = err.Error()
	}
	return a
}

// awaitOrder waits until this host sees the order that another one has written.
func awaitOrder(ctx context.Context, dir string, attempt int) error {
	const patience, step = 30 * time.Second, 50 * time.Millisecond
	path := filepath.Join(dir, orderFile)
	for start := time.Now(); ; {
		o, err := readOrder(path)
		if err == nil && o.Attempt == attempt {
			return nil
		}
		if time.Since(start) > patience {
			if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("%s is not there: the directory of the runs must be on a file system that all hosts see; give one with --dir", dir)
			}
			return fmt.Errorf("%s is not that of attempt %d after %v (%v)", path, attempt, patience, err)
		}
		if err := pause(ctx, step); err != nil {
			return err
		}
	}
}
