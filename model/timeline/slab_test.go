package timeline

import (
	"testing"
)

// TestSlab: elements keep their places, and are found again by their numbers.
func TestSlab(t *testing.T) {
	var s slab[int32]
	var places []*int32
	for i := range int32(1000) {
		p := s.add(nil)
		*p = i
		places = append(places, p)
	}
	next := int32(0)
	s.each(func(v *int32) {
		if *v != next || s.at(next) != places[next] || v != places[next] {
			t.Fatalf("element %d = %d, moved: %t", next, *v, v != places[next])
		}
		next++
	})
	if next != 1000 || s.n != 1000 {
		t.Errorf("%d elements of %d, want 1000", next, s.n)
	}
	s.free(nil)
	if *s.add(nil) != 0 || s.n != 1 {
		t.Errorf("after free: %d elements", s.n)
	}
}
