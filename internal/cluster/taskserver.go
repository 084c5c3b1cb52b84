package cluster

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"slackline/internal/chunk"
)

// server is the queue of process 0, which serves those of the others.
type server struct {
	group Group
	tasks int
	open  int // others that have not finished

	taking sync.Mutex
	next   int // task that is given out next

	finishing sync.Mutex // one result at a time
	done      func(i int, result []byte) error
}

// grantTime is how long the tasks that a process gets at once should last: so
// long that asking costs nothing, so short that no process waits for long at the end.
const grantTime = 40 * time.Millisecond

// take returns up to so many tasks.
func (s *server) take(most int) (from, to int) {
	s.taking.Lock()
	defer s.taking.Unlock()
	from = s.next
	s.next = min(s.next+most, s.tasks)
	return from, s.next
}

// Next is that of Queue.
func (s *server) Next(ctx context.Context) (int, bool) {
	if ctx.Err() != nil {
		return 0, false
	}
	from, to := s.take(1)
	return from, to > from
}

// Finish is that of Queue.
func (s *server) Finish(_ context.Context, i int, result []byte) error {
	s.finishing.Lock()
	defer s.finishing.Unlock()
	return s.done(i, result)
}

// serve gives tasks to other processes and takes their results until all of them
// have finished.
func (s *server) serve(ctx context.Context) error {
	for s.open > 0 {
		from, data, err := s.group.Receive(ctx)
		if err != nil {
			return err
		}
		r, err := parseReport(data)
		if err != nil {
			return fmt.Errorf("process %d: %w", from, err)
		}
		for len(r.results) > 0 {
			i, result, err := r.nextResult(s.tasks)
			if err != nil {
				return fmt.Errorf("process %d: %w", from, err)
			}
			if err := s.Finish(ctx, i, result); err != nil {
				return err
			}
		}
		switch r.kind {
		case reportLast:
			s.open--
		case reportAsks:
			first, last := s.take(s.share(r))
			if err := s.group.Send(ctx, from, grant(first, last)); err != nil {
				return err
			}
		}
	}
	return nil
}

// share is how many tasks a process should get at once.
func (s *server) share(r *report) int {
	s.taking.Lock()
	left := s.tasks - s.next
	s.taking.Unlock()
	each := 1
	if r.each > 0 {
		each = max(int(grantTime/r.each), 1)
	}
	return max(min(r.threads*each, left/(2*s.group.Size())), 1)
}

func (s *server) end(context.Context, bool) error { return nil }

// The kinds of reports of a process to process 0.
const (
	reportResults = iota // results alone
	reportAsks           // and more tasks are wanted
	reportLast           // and that is all
)

// report is a message to process 0.
type report struct {
	kind    byte
	threads int           // that work
	each    time.Duration // that a task takes; 0: not known yet
	results []byte        // one after the other: task, length, bytes
}

// head is what precedes the results.
func (r *report) head() []byte {
	data := []byte{r.kind}
	data = binary.AppendUvarint(data, uint64(r.threads))
	return binary.AppendUvarint(data, uint64(r.each))
}

// errReport means that a message is not a report: the processes do different things.
var errReport = errors.New("a message about tasks is not in order")

func parseReport(data []byte) (*report, error) {
	c := chunk.Column{B: data}
	r := &report{kind: c.Byte(), threads: int(c.Uint()), each: time.Duration(c.Uint())}
	if c.Bad {
		return nil, errReport
	}
	r.results = data[c.At:]
	return r, nil
}

// nextResult takes the first result.
func (r *report) nextResult(tasks int) (i int, result []byte, err error) {
	c := chunk.Column{B: r.results}
	task := c.Uint()
	result = slices.Clip(c.Bytes(c.Uint()))
	if c.Bad || task >= uint64(tasks) {
		return 0, nil, errReport
	}
	r.results = r.results[c.At:]
	return int(task), result, nil
}

// grant is the answer to a process that asks: tasks from .. to-1; none: there are
// no more.
func grant(from, to int) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(nil, uint64(from)), uint64(to))
}

func parseGrant(data []byte) (from, to int, err error) {
	c := chunk.Column{B: data}
	first, last := c.Uint(), c.Uint()
	if c.Bad || last < first {
		return 0, 0, errReport
	}
	return int(first), int(last), nil
}
