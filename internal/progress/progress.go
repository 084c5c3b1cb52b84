// Package progress shows a waiting user that work goes on.
//
// On a terminal it rewrites one line; in a log it adds a line now and then. Work
// that ends before the first report is due stays silent.
package progress

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"slackline/internal/plain"
)

// How often a report is written: on a terminal often enough to look alive, in a
// log seldom enough not to fill it.
const (
	terminalInterval = 200 * time.Millisecond
	logInterval      = 30 * time.Second
)

// A Line reports on one piece of work. A nil Line is silent. Its methods may be
// called from several goroutines.
type Line struct {
	mu       sync.Mutex
	w        io.Writer
	terminal bool
	width    int
	interval time.Duration
	start    time.Time
	last     time.Time
	shown    bool // the terminal's line has text
	now      func() time.Time
}

// New returns a line on w. If w is a terminal, the line is rewritten and cut to
// width columns.
func New(w io.Writer, terminal bool, width int) *Line {
	return newLine(w, terminal, width, time.Now)
}

func newLine(w io.Writer, terminal bool, width int, now func() time.Time) *Line {
	l := &Line{w: w, terminal: terminal, width: width, interval: logInterval, now: now}
	if terminal {
		l.interval = terminalInterval
	}
	l.start = now()
	l.last = l.start
	return l
}

// Report writes what text returns, with the time since the start, if a report
// is due. Otherwise it does not call text.
func (l *Line) Report(text func() string) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.now()
	if t.Sub(l.last) < l.interval {
		return
	}
	l.last = t
	s := fmt.Sprintf("%s, %s", plain.Name(text()), t.Sub(l.start).Round(time.Second/10))
	if !l.terminal {
		fmt.Fprintln(l.w, s)
		return
	}
	if r := []rune(s); l.width > 1 && len(r) >= l.width {
		s = string(r[:l.width-1])
	}
	fmt.Fprintf(l.w, "\r%s\x1b[K", strings.TrimRight(s, "\n"))
	l.shown = true
}

// Clear removes the line from the terminal, so that something else can be
// written. Later reports bring it back.
func (l *Line) Clear() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shown {
		fmt.Fprint(l.w, "\r\x1b[K")
		l.shown = false
	}
}
