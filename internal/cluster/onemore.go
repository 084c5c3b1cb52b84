package cluster

import (
	"runtime"
	"sync"
)

// A goroutine that waits for a message sleeps in a system call. When the message is there, it needs one of the
// GOMAXPROCS places to go on; if all are taken by goroutines that compute, it gets one only when one of these is
// interrupted, 10 to 20 ms later, and again after every further call. That is longer than tasks at hand last, so
// that others run out of work. While tasks are given out there is therefore one place more than threads that
// compute: it is hardly ever used, but then at once.
var places struct {
	sync.Mutex
	users  int // calls of oneMore that have not ended
	before int // places without them
}

// oneMore adds a place for a goroutine that answers. What it returns takes it away again.
func oneMore() (end func()) {
	places.Lock()
	defer places.Unlock()
	if places.users++; places.users == 1 {
		places.before = runtime.GOMAXPROCS(0)
		runtime.GOMAXPROCS(places.before + 1)
	}
	return func() {
		places.Lock()
		defer places.Unlock()
		if places.users--; places.users == 0 {
			runtime.GOMAXPROCS(places.before)
		}
	}
}
