package timeline

import (
	"sync"
	"sync/atomic"
)

// parallel calls work for 0 .. n-1, with up to so many of them at the same time.
func parallel(n, threads int, work func(i int)) {
	threads = min(threads, n)
	if threads <= 1 {
		for i := range n {
			work(i)
		}
		return
	}
	var next atomic.Int64
	var all sync.WaitGroup
	for range threads {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				work(i)
			}
		})
	}
	all.Wait()
}
