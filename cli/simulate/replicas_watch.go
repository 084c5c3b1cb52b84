package simulate

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"slackline/analyze/whatif"
	"slackline/cli/env"
	"slackline/internal/atomicfile"
	"slackline/internal/cluster"
	"slackline/internal/phrase"
	"slackline/model/unit"
)

// watcher shows the progress of a series and keeps what is finished.
type watcher struct {
	a     *env.Env
	run   *seriesRun
	begin time.Time
	lock  sync.Mutex // of the following four: runs report from several threads
	first float64    // share of the work at the start; negative: not known yet
	last  whatif.Progress
	at    time.Time // of the last report

	messages int64
	written  time.Time
	pause    time.Duration // between two writes
	failed   bool          // the user knows
}

// watch begins a series: it loads what is kept of an earlier one.
func (r *seriesRun) watch(a *env.Env) (*watcher, error) {
	w := &watcher{a: a, run: r, begin: time.Now(), first: -1, written: time.Now(), pause: firstPause}
	if !a.IsFirst() {
		return w, nil // process 0 keeps the accounts
	}
	if path := r.replicas.resume; path != "" {
		known, err := r.loadKnown(path)
		if err != nil {
			return nil, err
		}
		if line := known.Torn(); line > 0 {
			a.Note("%s:%d: the file ends in the middle of this line; what it held is run again", path, line)
		}
		if n := known.Replicas(); n > 0 {
			a.Note("%s holds %s", path, phrase.Plural(n, "replica"))
		}
		r.series.Known = known
	}
	a.StartProgress()
	r.series.Progress = w.progress
	r.series.Options.Progress = func(unit.Duration, int64) { w.show() }
	return w, nil
}

const (
	firstPause = time.Second / 2 // before finished replicas are written for the first time; then twice as long each time
	writePause = 5 * time.Second // but no longer than this, unless writing takes long
)

// progress takes note of a finished run, and keeps it now and then.
func (w *watcher) progress(p whatif.Progress) {
	w.lock.Lock()
	if w.first < 0 {
		w.first = p.Share
	}
	w.last, w.at = p, time.Now()
	w.messages += p.Messages
	w.lock.Unlock()
	w.show()
	if w.run.replicas.resume == "" || time.Since(w.written) < w.pause {
		return
	}
	begin := time.Now()
	if err := w.write(); err != nil && !w.failed {
		w.failed = true
		w.a.Warn("finished replicas cannot be kept: %v", err)
	}
	w.written = time.Now()
	w.pause = max(min(2*w.pause, writePause), 50*time.Since(begin)) // writing is not to slow the work down
}

// show shows how far the series is, if that is due.
func (w *watcher) show() {
	w.a.Progress.Report(func() string {
		w.lock.Lock()
		defer w.lock.Unlock()
		p, all := w.last, w.run.series.Replicas
		if p.Ranks == 0 {
			return w.run.input.Name + ": without noise"
		}
		text := fmt.Sprintf("%s: %s, replica %s of %s", w.run.input.Name, phrase.Plural(p.Ranks, "rank"), phrase.Grouped(p.Replicas),
			phrase.Grouped(all))
		if w.run.replicas.threshold.Given {
			return text // the end of the search is unknown
		}
		text += fmt.Sprintf(", %.1f %%", 100*p.Share)
		if done := p.Share - w.first; done > 0 {
			left := time.Duration(float64(w.at.Sub(w.begin))*(1-p.Share)/done) - time.Since(w.at)
			text += fmt.Sprintf(", %s left", max(left, 0).Round(time.Second))
		}
		return text
	})
}

func (w *watcher) write() error {
	return atomicfile.Write(w.run.replicas.resume, w.run.series.Known.Write)
}

// end ends a series: it keeps what is finished, and says what was done. The
// error is what the series ended with.
func (w *watcher) end(points []whatif.Point, failed error) error {
	if !w.a.IsFirst() {
		return failed
	}
	w.a.Progress.Clear()
	r := w.run
	kept := r.replicas.resume != ""
	if kept {
		err := w.write()
		if kept = err == nil; w.a.Postpone(err) != nil {
			return err
		}
	}
	for _, p := range points {
		w.a.WarnAll(p.Warnings)
	}
	switch {
	case whatif.Interrupted(failed), errors.Is(failed, cluster.ErrBroken):
		if kept {
			w.a.Note("the same command goes on from %s", r.replicas.resume)
		} else if r.replicas.resume == "" && len(points) > 0 {
			w.a.Note("with --resume FILE finished replicas are kept, and a later run goes on from there")
		}
	case failed == nil && w.messages > 0:
		took := time.Since(w.begin)
		w.a.Note("%s in %s (%s)", phrase.Plural(w.messages, "message"), unit.Elapsed(took), phrase.Rate(w.messages, took))
	}
	if failed != nil && !whatif.Interrupted(failed) {
		return failed
	}
	return nil
}
