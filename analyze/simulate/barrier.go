package simulate

import (
	"runtime"
	"sync/atomic"
	"time"
)

// barrier lets a fixed number of threads wait for each other. Windows are short, so it spins; a
// thread that waits for long lets others run.
type barrier struct {
	threads int32
	arrived atomic.Int32
	phase   atomic.Uint32
}

// spins is how often a thread looks before it yields (some microseconds), yields how often it
// yields before it sleeps: then some other thread has lost its core.
const (
	spins  = 4000
	yields = 64
	nap    = 20 * time.Microsecond
)

func (b *barrier) wait() {
	if b.threads == 1 {
		return
	}
	phase := b.phase.Load()
	if b.arrived.Add(1) == b.threads {
		b.arrived.Store(0)
		b.phase.Add(1)
		return
	}
	for i := 0; b.phase.Load() == phase; i++ {
		switch {
		case i < spins:
		case i < spins+yields:
			runtime.Gosched()
		default:
			time.Sleep(nap)
		}
	}
}
