package cli

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

const (
	largeHeap = 64 << 20 // bytes in use from which on the heap is kept tight
	tightGC   = 10       // by how much a large heap may grow before garbage is collected, in per cent
)

// keepTight lets a large heap grow by little beyond what is in use. Large are runs, schedules and the state of simulated ranks: long
// lists of numbers without pointers, which the collector need not look at. Collecting often costs them little, and the usual 100 per
// cent would double the memory that a run needs. A user who sets GOGC has decided.
var keepTight = sync.OnceFunc(func() {
	if os.Getenv("GOGC") == "" {
		h := &heapGrowth{other: tightGC, set: debug.SetGCPercent}
		afterCollection(func() { h.choose(largeHeap) })
	}
})

// heapGrowth is by how much the heap may grow.
type heapGrowth struct {
	tight bool
	other int                   // what it is when tight changes
	set   func(percent int) int // and returns what it was
}

// choose chooses the growth by what the last collection left in use. It does not touch that of a small heap: where time is measured,
// collection is off.
func (h *heapGrowth) choose(large uint64) {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	if tight := live[0].Value.Uint64() >= large; tight != h.tight {
		h.tight, h.other = tight, h.set(h.other)
	}
}

// collected is an object that nobody holds. It is large enough to be alone in its block.
type collected [64]byte

// afterCollection calls f after each collection: when the collector finds an object that nobody holds.
func afterCollection(f func()) {
	runtime.AddCleanup(new(collected), func(f func()) {
		f()
		afterCollection(f)
	}, f)
}
