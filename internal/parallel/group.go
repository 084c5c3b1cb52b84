package parallel

import (
	"sync"
	"sync/atomic"

	"slackline/internal/fault"
)

// A Group is a number of goroutines that one waits for. The zero value is ready.
type Group struct {
	all   sync.WaitGroup
	first atomic.Pointer[fault.Error]
}

// Go starts a goroutine of the group.
func (g *Group) Go(f func()) {
	g.all.Go(func() {
		defer func() {
			if value := recover(); value != nil {
				g.first.CompareAndSwap(nil, fault.New(value))
			}
		}()
		f()
	})
}

// Failed reports whether one of the goroutines has panicked, so that the others need not go on.
func (g *Group) Failed() bool { return g.first.Load() != nil }

// Wait waits for all goroutines of the group. If one of them has panicked, it does so too, on the goroutine of the caller.
func (g *Group) Wait() {
	g.all.Wait()
	if e := g.first.Load(); e != nil {
		panic(e)
	}
}
