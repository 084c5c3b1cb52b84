package cli

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

func TestHeapGrowth(t *testing.T) {
	const large = 256 << 20
	percent := 70
	h := heapGrowth{other: tightGC, set: func(p int) int {
		before := percent
		percent = p
		return before
	}}
	check := func(want int) {
		t.Helper()
		runtime.GC()
		h.choose(large)
		if percent != want {
			t.Errorf("the heap may grow by %d %%, want %d %%", percent, want)
		}
	}
	check(70)
	list := make([]int64, large/8)
	check(tightGC)
	check(tightGC)
	runtime.KeepAlive(list)
	list = nil
	check(70)
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
