package cluster

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// squares does n tasks on a group of goroutines and returns what process 0 got.
func squares(t *testing.T, size, threads, n int, pause func(i int) time.Duration) []int {
	t.Helper()
	got := make([]int, n)
	together(t, size, func(g Group) error {
		return Tasks(context.Background(), g, n, threads,
			func(_ context.Context, i int) ([]byte, error) {
				if pause != nil {
					time.Sleep(pause(i))
				}
				return fmt.Append(nil, i*i), nil
			},
			func(i int, result []byte) error {
				if g.Rank() != 0 {
					return errors.New("a result came to another process than 0")
				}
				if got[i] != 0 {
					return fmt.Errorf("task %d was done twice", i)
				}
				_, err := fmt.Sscan(string(result), &got[i])
				return err
			})
	})
	return got
}

func TestEveryTaskIsDoneOnce(t *testing.T) {
	for _, size := range []int{1, 2, 3, 8} {
		for _, threads := range []int{1, 4} {
			for _, n := range []int{0, 1, 5, 3000} {
				for i, s := range squares(t, size, threads, n, nil) {
					if s != i*i {
						t.Fatalf("%d processes, %d threads, %d tasks: result of %d = %d", size, threads, n, i, s)
					}
				}
			}
		}
	}
}

// TestPlaceForAnswers wants one place more than threads that compute, while tasks are given out and no longer.
func TestPlaceForAnswers(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	var most atomic.Int64
	for _, size := range []int{1, 3} {
		most.Store(0)
		together(t, size, func(g Group) error {
			return Tasks(context.Background(), g, 50, 1,
				func(context.Context, int) ([]byte, error) {
					most.Store(max(most.Load(), int64(runtime.GOMAXPROCS(0))))
					return nil, nil
				},
				func(int, []byte) error { return nil })
		})
		want := before
		if size > 1 {
			want++
		}
		if got := int(most.Load()); got != want {
			t.Errorf("%d processes: GOMAXPROCS = %d while they work, want %d", size, got, want)
		}
		if got := runtime.GOMAXPROCS(0); got != before {
			t.Errorf("%d processes: GOMAXPROCS = %d afterwards, want %d", size, got, before)
		}
	}
}

// TestAskAhead: who takes the last task at hand asks for more, unless tasks are so long that waiting costs nothing.
func TestAskAhead(t *testing.T) {
	for _, tc := range []struct {
		each          time.Duration
		threads, held int
		want          bool
	}{
		{8 * time.Millisecond, 1, 3, true},
		{8 * time.Millisecond, 1, 4, false},
		{8 * time.Millisecond, 4, 12, true},
		{30 * time.Millisecond, 1, 1, true},
		{30 * time.Millisecond, 1, 2, false},
		{time.Second, 1, 1, false},
		{time.Second, 1, 0, true},
		{0, 1, 1, false}, // not known yet
		{0, 1, 0, true},
	} {
		c := newClient(Alone(), tc.threads)
		c.held = make([]int, tc.held)
		if tc.each > 0 {
			const many = 1000
			c.finished, c.began = many*tc.threads, time.Now().Add(-many*tc.each)
		}
		if got := c.scarce(); got != tc.want {
			t.Errorf("tasks of %s, %d threads, %d at hand: asks %v, want %v", tc.each, tc.threads, tc.held, got, tc.want)
		}
	}
}

func TestTasksOfDifferentLengths(t *testing.T) {
	pause := func(i int) time.Duration { return time.Duration(i%7) * time.Millisecond }
	for i, s := range squares(t, 3, 2, 100, pause) {
		if s != i*i {
			t.Fatalf("result of %d = %d", i, s)
		}
	}
}

// TestLongTasksAreSpread wants every process to get one of as many long tasks as there are processes.
func TestLongTasksAreSpread(t *testing.T) {
	const size = 4
	var busy atomic.Int32
	all := make(chan struct{})
	together(t, size, func(g Group) error {
		return Tasks(context.Background(), g, size, 1, func(ctx context.Context, i int) ([]byte, error) {
			if busy.Add(1) == size {
				close(all)
			}
			select {
			case <-all: // only if nobody has two
			case <-time.After(time.Minute):
				return nil, errors.New("the others have no task")
			}
			return nil, nil
		}, func(int, []byte) error { return nil })
	})
}

// TestSeveralRoundsOfTasks lets processes begin the next round as soon as they can.
func TestSeveralRoundsOfTasks(t *testing.T) {
	together(t, 4, func(g Group) error {
		for round := range 30 {
			sum := 0
			err := Tasks(context.Background(), g, 40, 2,
				func(_ context.Context, i int) ([]byte, error) { return []byte{byte(i + round)}, nil },
				func(_ int, result []byte) error { sum += int(result[0]); return nil })
			if err != nil {
				return err
			}
			if want := 40*39/2 + 40*round; g.Rank() == 0 && sum != want {
				return fmt.Errorf("round %d: sum = %d, want %d", round, sum, want)
			}
			word, err := Broadcast(context.Background(), g, fmt.Append(nil, g.Rank(), round))
			if want := fmt.Sprint(0, round); err != nil || string(word) != want {
				return fmt.Errorf("process 0 said %q, %v, want %q", word, err, want)
			}
		}
		return nil
	})
}

// TestAFailedTaskEndsAll wants all processes to end, and those that fail to know why.
func TestAFailedTaskEndsAll(t *testing.T) {
	luck := errors.New("out of luck")
	for _, size := range []int{1, 2, 4} {
		errs := make([]error, size)
		var wrong atomic.Bool
		var got atomic.Int32
		done := make(chan int, size)
		for _, m := range Local(size) {
			go func() {
				errs[m.Rank()] = Tasks(context.Background(), m, 200, 2, func(_ context.Context, i int) ([]byte, error) {
					if i == 50 {
						return nil, luck
					}
					time.Sleep(time.Millisecond)
					return nil, nil
				}, func(i int, _ []byte) error { got.Add(1); wrong.CompareAndSwap(false, i == 50); return nil })
				if errs[m.Rank()] != nil {
					m.Break()
				}
				done <- m.Rank()
			}()
		}
		for range size {
			<-done
		}
		lucky := 0
		for p, err := range errs {
			switch {
			case errors.Is(err, luck):
				lucky++
			case !errors.Is(err, ErrBroken):
				t.Errorf("%d processes: process %d ended with %v", size, p, err)
			}
		}
		if lucky != 1 || wrong.Load() || got.Load() == 0 {
			t.Errorf("%d processes: %d failures, wrong result %v, %d results", size, lucky, wrong.Load(), got.Load())
		}
	}
}

func TestAnInterruptEndsTasks(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	members := Local(3)
	done := make(chan error, len(members))
	for _, m := range members {
		go func() {
			done <- Tasks(ctx, m, 1000, 2, func(ctx context.Context, i int) ([]byte, error) {
				if i == 20 {
					cancel()
				}
				time.Sleep(time.Millisecond)
				return nil, ctx.Err()
			}, func(int, []byte) error { return nil })
		}()
	}
	for range members {
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("tasks ended with %v", err)
		}
	}
}

func TestDamagedReports(t *testing.T) {
	good := append((&report{kind: reportAsks, threads: 3, each: 5}).head(), 2, 3, 'a', 'b', 'c')
	for end := range good {
		r, err := parseReport(good[:end])
		for err == nil && len(r.results) > 0 {
			_, _, err = r.nextResult(10)
		}
		if err == nil && end != 3 {
			t.Errorf("the first %d bytes of a report are taken for one", end)
		}
	}
	r, err := parseReport(good)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.nextResult(2); err == nil {
		t.Error("a task that does not exist has a result")
	}
}

// A process that has got all tasks need not ask whether there are more.
func TestFeedEndsWhenOneHasDoneAll(t *testing.T) {
	const n = 1 // of more tasks that are short it asks ahead
	for range 20 {
		taken := make(chan struct{})
		results := 0
		together(t, 2, func(g Group) error {
			return Feed(context.Background(), g, n, 1, func(int, []byte) error { results++; return nil }, func(ctx context.Context, q Queue) error {
				if g.Rank() == 0 {
					<-taken
					if _, ok := q.Next(ctx); ok {
						return errors.New("there is a task left")
					}
					return nil
				}
				defer close(taken)
				for range n {
					i, ok := q.Next(ctx)
					if !ok {
						return errors.New("there are too few tasks")
					}
					if err := q.Finish(ctx, i, nil); err != nil {
						return err
					}
				}
				return nil
			})
		})
		if results != n {
			t.Fatalf("%d results, want %d", results, n)
		}
	}
}
