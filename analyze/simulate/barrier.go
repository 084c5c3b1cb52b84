package simulate

import (
	"runtime"
	"sync/atomic"
)

// barrier lets a fixed number of threads wait for each other. Windows are short, so it spins; a
// thread that waits for long yields its core.
type barrier struct {
	threads int32
	arrived atomic.Int32
	phase   atomic.Uint32
}

// spins is how often a thread looks before it yields: some microseconds.
const spins = 4000

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
		if i >= spins {
			runtime.Gosched()
		}
	}
}
