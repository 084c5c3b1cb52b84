package cluster

import (
	"slices"
	"sync"
	"testing"
)

// The value of process 0 comes to all, in place of what they have: also a field that is zero there, which gob does not send.
func TestBroadcastValue(t *testing.T) {
	type thing struct {
		A, B int
		L    []string
	}
	groups := Local(3)
	got := make([]thing, len(groups))
	var all sync.WaitGroup
	for i, g := range groups {
		all.Go(func() {
			got[i] = thing{A: i, B: 7 * i, L: make([]string, i)}
			if i == 0 {
				got[i] = thing{A: 5, L: []string{"x"}}
			}
			if err := BroadcastValue(t.Context(), g, &got[i]); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for i, v := range got {
		if v.A != 5 || v.B != 0 || !slices.Equal(v.L, []string{"x"}) {
			t.Errorf("process %d has %+v, want 5, 0 and x", i, v)
		}
	}
}
