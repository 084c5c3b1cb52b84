package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
)

// TestBalance decides about steps of known lengths.
func TestBalance(t *testing.T) {
	type phase struct {
		rounds      int
		took, alone time.Duration
	}
	const ms = time.Millisecond
	for name, tc := range map[string]struct {
		phases []phase
		stops  int // in which step; 0: never
	}{
		"slow network":                 {[]phase{{1000, ms, 10 * time.Microsecond}}, 256},
		"slower network":               {[]phase{{10, 100 * ms, ms}}, 3},
		"half as fast":                 {[]phase{{10000, ms, ms / 2}}, 0}, // the loss never exceeds the work
		"fast network":                 {[]phase{{100000, 100 * time.Microsecond, 150 * time.Microsecond}}, 0},
		"short":                        {[]phase{{200, ms, 0}}, 0},
		"one disturbance":              {[]phase{{10, ms, 2 * ms}, {1, 200 * ms, ms}, {1000, ms, 2 * ms}}, 0},
		"little work first":            {[]phase{{200, ms, ms / 100}, {1000, 2 * ms, 4 * ms}}, 0},
		"little work later":            {[]phase{{100, ms, 2 * ms}, {10000, ms, ms / 100}}, 661},
		"a loss long ago, then a gain": {[]phase{{128, ms, 0}, {1, 123 * ms, 124 * ms}, {50, ms, 3 * ms}}, 0},
	} {
		asked, round := 0, 0
		p := balance{leave: func() bool { asked++; return true }}
		stopped := 0
		for _, ph := range tc.phases {
			for range ph.rounds {
				round++
				p.add(ph.took, ph.alone)
				if p.stop && stopped == 0 {
					stopped = round
				}
			}
		}
		near := tc.stops / 10 // the limits are sums of times
		if stopped < tc.stops-near || stopped > tc.stops+near || asked > 1 {
			t.Errorf("%s: stops in step %d, want about %d; asked %d times", name, stopped, tc.stops, asked)
		}
	}
}

// TestSharedCores decides about two processes on one core and on two: each sees 1 ms pass before an exchange that takes 0.2 ms.
func TestSharedCores(t *testing.T) {
	const steps = 2000
	for name, tc := range map[string]struct {
		cpu   time.Duration // that each uses in a step
		core  bool          // they share one
		stops bool
	}{
		"own cores":                     {time.Millisecond, false, false},
		"own cores, others use them":    {200 * time.Microsecond, false, false}, // they would hinder one process, too
		"one core, little work":         {200 * time.Microsecond, true, true},
		"one core, nothing is lost":     {500 * time.Microsecond, true, false},
		"one core, several threads":     {3 * time.Millisecond, true, false}, // of which none worked longer than all of the step
		"one core, more lost than done": {250 * time.Microsecond, true, true},
	} {
		ended := make([]int, 2)
		var wg sync.WaitGroup
		for rank, member := range Local(2) {
			wg.Go(func() {
				var passed, used time.Duration
				var cpu func() time.Duration
				if tc.core {
					cpu = func() time.Duration { return used }
				}
				g := Watch(&waiting{member, &passed}, cpu, func() bool { return true })
				g.now = func() time.Time { return time.Time{}.Add(passed) }
				g.begin(g.now())
				for ended[rank] = range steps {
					passed, used = passed+time.Millisecond, used+tc.cpu
					if _, err := g.Exchange(context.Background(), make([][]byte, 2)); err != nil {
						return
					}
				}
			})
		}
		wg.Wait()
		if stopped := ended[0] < steps-1; stopped != tc.stops || ended[0] != ended[1] {
			t.Errorf("%s: the processes end in steps %v of %d; they are to stop early: %v", name, ended, steps, tc.stops)
		}
	}
}

// waiting is a group in whose exchanges time passes.
type waiting struct {
	Group
	passed *time.Duration
}

func (w *waiting) Exchange(ctx context.Context, out [][]byte) ([][]byte, error) {
	in, err := w.Group.Exchange(ctx, out)
	*w.passed += 200 * time.Microsecond
	return in, err
}

// TestWatched exchanges parts of all lengths, until process 0 stops all of them in the same exchange.
func TestWatched(t *testing.T) {
	const size, most = 4, 2000
	steps, errs := make([]int, size), make([]error, size)
	var wg sync.WaitGroup
	for rank, member := range Local(size) {
		wg.Go(func() {
			g := Watch(member, nil, func() bool { return true })
			for i := range most {
				out := make([][]byte, size)
				for p := range out {
					out[p] = slices.Repeat([]byte{byte(i), byte(rank), byte(p)}, i*(rank+p)%50)
				}
				kept := fmt.Sprint(out)
				if i > 20 {
					time.Sleep(5 * time.Millisecond * time.Duration(rank)) // process 3 is slow, and so is all of it
					g.begun = time.Now()                                   // without having worked
				}
				in, err := g.Exchange(context.Background(), out)
				if err != nil {
					steps[rank], errs[rank] = i, err
					return
				}
				for p := range in {
					if want := slices.Repeat([]byte{byte(i), byte(p), byte(rank)}, i*(rank+p)%50); !slices.Equal(in[p], want) {
						errs[rank] = fmt.Errorf("exchange %d: process %d gave %v, want %v", i, p, in[p], want)
						member.Break()
						return
					}
				}
				if fmt.Sprint(out) != kept {
					errs[rank] = errors.New("a part has changed")
					member.Break()
					return
				}
			}
		})
	}
	wg.Wait()
	for rank, err := range errs {
		var slower *SlowerError
		if !errors.As(err, &slower) || steps[rank] != steps[0] || steps[rank] < 20 {
			t.Errorf("process %d ends in step %d (process 0: %d) with %v", rank, steps[rank], steps[0], err)
		}
	}
}
