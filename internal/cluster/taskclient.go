package cluster

import (
	"context"
	"encoding/binary"
	"sync"
	"time"
)

// client is the queue of a process that gets its tasks from process 0.
type client struct {
	group   Group
	threads int
	asks    chan struct{} // a request is on its way
	over    chan struct{} // closed when there will be no more requests

	mu       sync.Mutex
	changed  *sync.Cond
	held     []int // tasks that have not been started, first ones first
	asked    bool
	drained  bool // there are no more
	gaveUp   bool // a process has failed
	results  []byte
	sent     time.Time // when results were last sent
	began    time.Time // when the first tasks came
	finished int
}

func newClient(g Group, threads int) *client {
	c := &client{group: g, threads: max(threads, 1), asks: make(chan struct{}, 1), over: make(chan struct{}), sent: time.Now()}
	c.changed = sync.NewCond(&c.mu)
	return c
}

const (
	// askAhead is how long the tasks at hand last when more are asked for.
	askAhead = 20 * time.Millisecond
	// longTask is so long that waiting for the next one costs nothing, and holding
	// one that another process could do costs more.
	longTask = 5 * askAhead
	// results are sent when the last ones were sent so long ago, or are so many
	resultTime  = 20 * time.Millisecond
	resultBytes = 1 << 18
)

// each is how long a task takes; 0: not known yet.
func (c *client) each() time.Duration {
	if c.finished == 0 {
		return 0
	}
	return max(time.Since(c.began)*time.Duration(c.threads)/time.Duration(c.finished), 1)
}

// scarce reports whether it is time to ask for more tasks: when those at hand, of which one is about to be taken, do
// not last until the answer comes.
func (c *client) scarce() bool {
	if len(c.held) == 0 {
		return true
	}
	each := c.each()
	atHand := (askAhead + each - 1) / max(each, 1) // for each thread
	return each > 0 && each < longTask && len(c.held) <= c.threads*int(atHand)
}

// Next is that of Queue.
func (c *client) Next(ctx context.Context) (int, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for ctx.Err() == nil && !c.gaveUp {
		if !c.asked && !c.drained && c.scarce() {
			if c.report(ctx, reportAsks) != nil {
				return 0, false // serve finds the same
			}
			c.asked = true
			c.asks <- struct{}{}
		}
		if len(c.held) > 0 {
			i := c.held[0]
			c.held = c.held[1:]
			return i, true
		}
		if c.drained {
			return 0, false
		}
		c.changed.Wait()
	}
	return 0, false
}

// report sends the results that are there.
func (c *client) report(ctx context.Context, kind byte) error {
	r := report{kind: kind, threads: c.threads, each: c.each()}
	err := c.group.Send(ctx, 0, append(r.head(), c.results...))
	c.results, c.sent = c.results[:0], time.Now()
	return err
}

// Finish is that of Queue.
func (c *client) Finish(ctx context.Context, i int, result []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.finished++
	c.results = binary.AppendUvarint(c.results, uint64(i))
	c.results = binary.AppendUvarint(c.results, uint64(len(result)))
	c.results = append(c.results, result...)
	if time.Since(c.sent) < resultTime && len(c.results) < resultBytes {
		return nil
	}
	return c.report(ctx, reportResults)
}

// serve takes the tasks that were asked for, until there are no more.
func (c *client) serve(ctx context.Context) (err error) {
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.gaveUp = err != nil || ctx.Err() != nil
		c.changed.Broadcast()
	}()
	for {
		if more, err := c.expect(ctx); !more {
			return err
		}
		_, data, err := c.group.Receive(ctx)
		if err != nil {
			return err
		}
		from, to, err := parseGrant(data)
		if err != nil {
			return err
		}
		c.mu.Lock()
		if c.began.IsZero() {
			c.began = time.Now()
		}
		for i := from; i < to; i++ {
			c.held = append(c.held, i)
		}
		c.asked, c.drained = false, from == to
		drained := c.drained
		c.changed.Broadcast()
		c.mu.Unlock()
		if drained {
			return nil
		}
	}
}

// expect waits for the next request, of which there may be none: who takes no more tasks than there are may have got
// all of them, and need not ask whether there are more.
func (c *client) expect(ctx context.Context) (more bool, err error) {
	select {
	case <-c.asks:
		return true, nil
	case <-c.over:
		select {
		case <-c.asks: // it is answered, and the answer must not be left to others
			return true, nil
		default:
			return false, nil
		}
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// end sends the last results.
func (c *client) end(ctx context.Context, failed bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.over)
	if failed {
		return c.report(ctx, reportResults)
	}
	return c.report(ctx, reportLast)
}
