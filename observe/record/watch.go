package record

import (
	"context"
	"time"

	"slackline/internal/fault"
	"slackline/observe/mpi"
)

// watch looks at the files of a run now and then while it goes on. When no rank has made a call of MPI for a while, it says so once, and
// again when the program has moved on and stands still anew. The returned function ends it.
func (r *run) watch(ctx context.Context) (end func(), err error) {
	functions, err := mpi.Functions()
	if err != nil || r.Watchdog <= 0 {
		return func() {}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	w := &watcher{dir: r.raw, kinds: callKinds(functions), known: map[string]pulse{}, moved: time.Now()}
	fault.Go(func() {
		defer close(done)
		const parts, most = 10, 5 * time.Second // looks within the time; time between them
		tick := time.NewTicker(min(r.Watchdog/parts, most))
		defer tick.Stop()
		told := false
		for {
			select {
			case <-ctx.Done():
				return
			case now := <-tick.C:
				if w.look(now) {
					told = false
				}
				if told || now.Sub(w.moved) < r.Watchdog {
					continue
				}
				if sight, err := Look(ctx, []string{r.raw}, 300*time.Millisecond); err == nil && ctx.Err() == nil {
					told = true
					r.Standstill(sight, now.Sub(w.moved))
				}
			}
		}
	})
	return func() { cancel(); <-done }, nil
}

// watcher is what was seen of the threads of a run.
type watcher struct {
	dir   string
	kinds []callKind
	known map[string]pulse
	hot   string    // the file of a thread that moved when it was looked at
	moved time.Time // when one did
}

// look reports whether a thread has made a call since the last look. The first one that did is enough: it is asked first the next time.
func (w *watcher) look(now time.Time) bool {
	paths, err := eventFiles([]string{w.dir})
	if err != nil || len(paths) == 0 {
		w.moved = now // nothing has begun
		return true
	}
	if w.hot != "" {
		paths = append([]string{w.hot}, paths...)
	}
	for _, path := range paths {
		before, known := w.known[path]
		next := pulseOf(path, w.kinds)
		w.known[path] = next
		if !known || before.movedTo(next) {
			w.hot, w.moved = path, now
			return true
		}
	}
	return false
}
