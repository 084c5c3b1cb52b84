package state

import "testing"

// A series knows its last calls by their numbers, and none that is forgotten or to come.
func TestSeries(t *testing.T) {
	var none *Series
	if none.At(0) != nil {
		t.Error("a series that does not exist has a call")
	}
	s := &Series{}
	for n := range int64(3 * Remembered) {
		s.Add(Collective{Name: "MPI_Bcast", Sent: n})
		oldest := max(n+1-Remembered, 0)
		for _, at := range []int64{-1, oldest - 1, n + 1} {
			if c := s.At(at); c != nil {
				t.Fatalf("after %d calls, call %d is %+v, want none", n+1, at, *c)
			}
		}
		for _, at := range []int64{oldest, n} {
			if c := s.At(at); c == nil || c.Sent != at {
				t.Fatalf("after %d calls, call %d is %+v", n+1, at, c)
			}
		}
		if s.Count != n+1 || len(s.Last) != int(min(n+1, Remembered)) {
			t.Fatalf("%d calls, %d of them known, want %d", s.Count, len(s.Last), n+1)
		}
	}
}
