package timeline

import (
	"testing"
)

// TestRootWord: each member of an intercommunicator has its own word for the root; within one group all have the same.
func TestRootWord(t *testing.T) {
	tl := &Timeline{Comms: []Comm{{Members: []int32{4, 5, 6}}, {Members: []int32{0, 1}, Remote: []int32{2, 3, 4}}}}
	for _, c := range []struct {
		comm, root int32
		want       []int32 // by member
	}{
		{0, -1, []int32{-1, -1, -1}},
		{0, 2, []int32{2, 2, 2}},
		{1, -1, []int32{-1, -1, -1, -1, -1}},
		{1, 1, []int32{RootGroup, RootSelf, 1, 1, 1}},
		{1, 4, []int32{2, 2, RootGroup, RootGroup, RootSelf}}, // the third one of the remote group
	} {
		for member, want := range c.want {
			if got := tl.RootWord(&Collective{Comm: c.comm, Root: c.root}, member); got != want {
				t.Errorf("communicator %d, root %d: member %d says %d, want %d", c.comm, c.root, member, got, want)
			}
		}
	}
}

// TestSeries: every communicator, window, file and connection has its own number, and the number says which it is.
func TestSeries(t *testing.T) {
	tl := &Timeline{Comms: make([]Comm, 3), Windows: []Object{{Comm: 2}, {Comm: 0}}, Files: []Object{{Comm: 1}}}
	if tl.Series() != 9 {
		t.Errorf("%d series, want 3 communicators, 2 windows, 1 file, 3 connections", tl.Series())
	}
	type scope struct {
		Scope        Scope
		Object, Comm int32
	}
	want := []scope{{ByComm, 0, 0}, {ByComm, 1, 1}, {ByComm, 2, 2}, {ByWindow, 0, 2}, {ByWindow, 1, 0}, {ByFile, 0, 1},
		{ByConnection, 0, 0}, {ByConnection, 1, 1}, {ByConnection, 2, 2}}
	for number, w := range want {
		var got scope
		if got.Scope, got.Object, got.Comm = tl.scopeOf(number); got != w {
			t.Errorf("series %d is %+v, want %+v", number, got, w)
		}
		c := Collective{Scope: w.Scope, Object: w.Object, Comm: w.Comm}
		if got := tl.SeriesOf(&c); got != number {
			t.Errorf("%+v is in series %d, want %d", w, got, number)
		}
	}
	for _, c := range []Collective{{Scope: ByWindow, Object: 2}, {Scope: ByFile, Object: -1}, {Comm: 3}, {Scope: ByConnection, Comm: -1}} {
		if got := tl.SeriesOf(&c); got != -1 {
			t.Errorf("%+v is in series %d, want none", c, got)
		}
	}
}
