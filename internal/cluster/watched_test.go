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

// TestWatched exchanges parts of all lengths, until process 0 stops all of them in the same exchange.
func TestWatched(t *testing.T) {
	const size, most = 4, 2000
	steps, errs := make([]int, size), make([]error, size)
	var wg sync.WaitGroup
	for rank, member := range Local(size) {
		wg.Go(func() {
			g := Watch(member, func() bool { return true })
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
