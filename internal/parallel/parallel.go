// Package parallel spreads independent pieces of work over threads. It knows nothing of the work.
package parallel

import (
	"cmp"
	"sync/atomic"
)

// Each calls work for 0 .. n-1, with up to so many of them at the same time.
func Each(n, threads int, work func(i int)) {
	EachWorker(n, threads, func(_, i int) { work(i) })
}

// Try is Each for work that can fail. It does all of it and returns the first error by number.
func Try(n, threads int, work func(i int) error) error {
	failed := make([]error, n)
	Each(n, threads, func(i int) { failed[i] = work(i) })
	return cmp.Or(failed...)
}

// EachWorker calls work for 0 .. n-1, with up to so many of them at the same time. Calls with the same
// worker, a number below threads, are never made at the same time.
func EachWorker(n, threads int, work func(worker, i int)) {
	threads = min(threads, n)
	if threads <= 1 {
		for i := range n {
			work(0, i)
		}
		return
	}
	var next atomic.Int64
	var all Group
	for worker := range threads {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && !all.Failed(); i = int(next.Add(1)) - 1 {
				work(worker, i)
			}
		})
	}
	all.Wait()
}

// Chunks calls work for parts from .. to-1 of 0 .. n-1 that have up to size members each; see EachWorker.
func Chunks(n, size, threads int, work func(worker, from, to int)) {
	EachWorker((n+size-1)/size, threads, func(worker, i int) {
		work(worker, i*size, min((i+1)*size, n))
	})
}
