package progress

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// clock is a time that moves when it is told to.
type clock struct{ t time.Time }

func (c *clock) now() time.Time          { return c.t }
func (c *clock) advance(d time.Duration) { c.t = c.t.Add(d) }
func newClock() *clock                   { return &clock{time.Unix(1000, 0)} }

func TestTerminal(t *testing.T) {
	var out bytes.Buffer
	c := newClock()
	l := newLine(&out, true, 20, c.now)
	calls := 0
	text := func() string { calls++; return "12 messages" }
	l.Report(text)
	c.advance(100 * time.Millisecond)
	l.Report(text)
	if calls != 0 || out.Len() != 0 {
		t.Errorf("after 100 ms: %d calls, output %q; want none", calls, out.String())
	}
	c.advance(100 * time.Millisecond)
	l.Report(text)
	l.Report(text)
	if want := "\r12 messages, 200ms\x1b[K"; out.String() != want {
		t.Errorf("output = %q, want %q", out.String(), want)
	}
	out.Reset()
	l.Clear()
	l.Clear()
	if want := "\r\x1b[K"; out.String() != want {
		t.Errorf("Clear wrote %q, want %q", out.String(), want)
	}
	out.Reset()
	c.advance(time.Second)
	l.Report(func() string { return strings.Repeat("x", 50) })
	if want := "\r" + strings.Repeat("x", 19) + "\x1b[K"; out.String() != want {
		t.Errorf("long line = %q, want it cut to 19 letters", out.String())
	}
}

func TestLog(t *testing.T) {
	var out bytes.Buffer
	c := newClock()
	l := newLine(&out, false, 0, c.now)
	for range 100 {
		c.advance(time.Second)
		l.Report(func() string { return "at work" })
	}
	l.Clear()
	if want := "at work, 30s\nat work, 1m0s\nat work, 1m30s\n"; out.String() != want {
		t.Errorf("output = %q, want %q", out.String(), want)
	}
}

func TestNilIsSilent(t *testing.T) {
	var l *Line
	l.Report(func() string { t.Error("text called"); return "" })
	l.Clear()
}

func TestNewUsesTheClock(t *testing.T) {
	var out bytes.Buffer
	New(&out, true, 80).Report(func() string { return "early" })
	if out.Len() != 0 {
		t.Errorf("output = %q, want none at the start", out.String())
	}
}
