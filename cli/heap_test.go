package cli

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"time"
)

func TestTighten(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	const large = 256 << 20
	list := make([]int64, large/8)
	for _, want := range []int{tightGC, 100} {
		runtime.GC()
		tighten(large)
		if got := debug.SetGCPercent(100); got != want {
			t.Errorf("the heap may grow by %d %%, want %d %%", got, want)
		}
		runtime.KeepAlive(list)
		list = nil
	}
}

func TestAfterCollection(t *testing.T) {
	var calls atomic.Int32
	afterCollection(func() { calls.Add(1) })
	for want := int32(1); want <= 3; want++ {
		for deadline := time.Now().Add(time.Minute); calls.Load() < want; {
			if time.Now().After(deadline) {
				t.Fatalf("%d calls, want %d", calls.Load(), want)
			}
			runtime.GC()
		}
	}
}
