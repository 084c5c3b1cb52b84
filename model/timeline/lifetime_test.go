package timeline

import (
	"slices"
	"testing"

	"slackline/model/unit"
)

// TestLifetimes: a location without a start of a thread has one for the whole run; others only while their threads live.
func TestLifetimes(t *testing.T) {
	b := NewBuilder(1)
	work := b.Region(Region{Name: "work"})
	b.Location(0, 0, "", "").Event(100) // the end of the run
	l := b.Location(0, 1, "", "")       // two threads, one after the other
	l.ThreadBegin(10)
	l.Enter(12, work)
	l.Leave(15)
	l.ThreadEnd(20)
	l.ThreadBegin(30)
	l.ThreadEnd(60)
	l = b.Location(0, 2, "", "") // never seen to end
	l.ThreadBegin(40)
	l = b.Location(0, 3, "", "") // the end of the first one is its successor
	l.ThreadBegin(50)
	l.ThreadBegin(70)
	l.ThreadEnd(70) // lived for no time
	b.Location(0, 4, "", "").ThreadEnd(5)
	tl := b.Finish(1)
	if tl.Start != 5 || tl.End != 100 {
		t.Fatalf("the run is from %v to %v, want 5 to 100", tl.Start, tl.End)
	}
	alive := [][]Span{nil, {{10, 20}, {30, 60}}, {{40, 100}}, {{50, 70}, {70, 70}}, nil}
	lifetimes := dur(95, 40, 60, 20, 95)
	sum := unit.Duration(0)
	for i, want := range lifetimes {
		if got := tl.Lifetime(int32(i)); got != want || !slices.Equal(tl.Locations[i].Alive, alive[i]) {
			t.Errorf("location %d lived for %v in %v, want %v in %v", i, got, tl.Locations[i].Alive, want, alive[i])
		}
		sum += want
	}
	if got := tl.Lifetimes(); got != unit.SumOf(sum) {
		t.Errorf("all lived for %v, want %v", got, sum)
	}
	if tl.Problems.Unbalanced != 0 {
		t.Errorf("%d unbalanced calls, want none", tl.Problems.Unbalanced)
	}
}

// TestThreadEndsItsCalls: what a thread left open ends with it, which is counted as a mistake.
func TestThreadEndsItsCalls(t *testing.T) {
	b := NewBuilder(1)
	work := b.Region(Region{Name: "work"})
	l := b.Location(0, 0, "", "")
	l.ThreadBegin(0)
	l.Enter(1, work)
	l.Enter(2, work)
	l.ThreadEnd(9)
	l.ThreadBegin(12)
	l.Enter(13, work)
	l.ThreadBegin(20)
	l.Event(30)
	tl := b.Finish(1)
	if got, want := tl.Locations[0].Calls.Leave, dur(9, 9, 20); !slices.Equal(got, want) {
		t.Errorf("calls end at %v, want %v", got, want)
	}
	if tl.Problems.Unbalanced != 3 {
		t.Errorf("%d unbalanced calls, want 3", tl.Problems.Unbalanced)
	}
}

// TestCallsWithoutLife: what calls something lives, and where nothing lives nothing is recorded, whether recording is on or off.
func TestCallsWithoutLife(t *testing.T) {
	b := NewBuilder(1)
	work, off := b.Region(Region{Name: "work"}), b.Region(NotRecorded)
	call := func(l *LocationBuilder, from, to unit.Duration) {
		l.Enter(from, work)
		l.Leave(to)
	}
	call(b.Location(0, 0, "", ""), 0, 100)
	l := b.Location(0, 1, "", "") // a call before the first thread
	call(l, 5, 8)
	l.ThreadBegin(10)
	l.ThreadEnd(20)
	l = b.Location(0, 2, "", "") // after the last one
	l.ThreadBegin(10)
	l.ThreadEnd(20)
	call(l, 30, 35)
	l.ThreadEnd(40)
	l = b.Location(0, 3, "", "") // off after the last one, until the next one
	l.ThreadBegin(10)
	l.ThreadEnd(20)
	l.Off(25, off)
	l.On(30)
	l.ThreadBegin(30)
	l.ThreadEnd(40)
	l = b.Location(0, 4, "", "") // off from the start, until the first one
	l.Off(0, off)
	l.On(30)
	l.ThreadBegin(30)
	call(l, 31, 39)
	l.ThreadEnd(40)
	tl := b.Finish(1)
	for i, want := range [][]Span{nil, {{5, 10}, {10, 20}}, {{10, 20}, {30, 40}}, {{10, 20}, {30, 40}}, {{30, 40}}} {
		if got := &tl.Locations[i]; !slices.Equal(got.Alive, want) || got.Unrecorded != 0 {
			t.Errorf("location %d lived in %v and was not recorded for %v, want %v and 0", i, got.Alive, got.Unrecorded, want)
		}
	}
	if n := tl.Locations[4].Calls.Len(); n != 1 {
		t.Errorf("%d calls of a thread that was recorded from its start, want 1", n)
	}
}

func TestBorn(t *testing.T) {
	l := Location{First: 5, Alive: []Span{{10, 20}, {30, 60}}}
	for at, want := range map[unit.Duration]unit.Duration{0: 5, 9: 5, 10: 10, 20: 10, 29: 10, 30: 30, 99: 30} {
		if got := l.Born(at); got != want {
			t.Errorf("the thread that lives at %v was born at %v, want %v", at, got, want)
		}
	}
	if got := (&Location{First: 7}).Born(100); got != 7 {
		t.Errorf("the only thread of a location was born at %v, want its first event, 7", got)
	}
}

// TestWindowOfLifetimes: lifetimes of two windows that meet add up to those of the run.
func TestWindowOfLifetimes(t *testing.T) {
	b := NewBuilder(1)
	l := b.Location(0, 0, "", "")
	l.ThreadBegin(10)
	l.ThreadEnd(20)
	l.ThreadBegin(30)
	l.ThreadEnd(60)
	tl := b.Finish(1)
	for middle := range unit.Duration(71) {
		before, after := tl.Window(0, middle, 1), tl.Window(middle, 100, 1)
		if got := before.Lifetimes().Plus(after.Lifetimes()); got != unit.SumOf(40) {
			t.Errorf("lives before and after %v are %v long, want 40", middle, got)
		}
	}
	if w := tl.Window(21, 29, 1); w.Locations[0].Alive == nil || w.Lifetimes().Sign() != 0 {
		t.Errorf("between two threads the lives are %v, want an empty list: nil stands for the whole run", w.Locations[0].Alive)
	}
}
