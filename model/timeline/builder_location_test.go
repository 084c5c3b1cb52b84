package timeline

import (
	"slices"
	"testing"
)

// TestPolled: a call stands for several if the recorder said so of the innermost call.
func TestPolled(t *testing.T) {
	b := NewBuilder(1)
	test := b.Region(Region{Name: "MPI_Test"})
	l := b.Location(0, 0, "", "")
	for k := range 5 {
		l.Enter(dur(10 * k)[0], test)
		if k%2 == 1 {
			l.Polls(int64(k))
			l.Polls(10)
		}
		l.Leave(dur(10*k + 5)[0])
	}
	l.Polls(1) // in no call
	tl := b.Finish(1)
	if got, want := tl.Locations[0].Polls, []Poll{{1, 11}, {3, 13}}; !slices.Equal(got, want) {
		t.Errorf("polls = %v, want %v", got, want)
	}
	for call := range int32(5) {
		if got := tl.Locations[0].Polled(call); got != (call%2 == 1) {
			t.Errorf("call %d stands for several: %t", call, got)
		}
	}
	if got, want := tl.Window(20, 100, 1).Locations[0].Polls, []Poll{{1, 13}}; !slices.Equal(got, want) {
		t.Errorf("polls of the window = %v, want %v", got, want)
	}
	if want := []string{"1 records outside of any call, left out (on rank 0)"}; !slices.Equal(tl.Problems.Notes, want) {
		t.Errorf("notes = %q, want %q", tl.Problems.Notes, want)
	}
}

// TestPollsOfNestedCalls: polls are by call, also where those of a call come after those of a call inside of it.
func TestPollsOfNestedCalls(t *testing.T) {
	b := NewBuilder(1)
	test := b.Region(Region{Name: "MPI_Test"})
	l := b.Location(0, 0, "", "")
	l.Enter(0, test)
	l.Enter(1, test)
	l.Polls(1)
	l.Leave(2)
	l.Polls(2)
	l.Enter(3, test)
	l.Polls(4)
	l.Leave(4)
	l.Polls(8)
	l.Leave(5)
	tl := b.Finish(1)
	if got, want := tl.Locations[0].Polls, []Poll{{0, 10}, {1, 1}, {2, 4}}; !slices.Equal(got, want) {
		t.Errorf("polls = %v, want %v", got, want)
	}
}
