package kineto

import (
	"testing"
)

func TestMicros(t *testing.T) {
	for text, want := range map[string][3]int64{
		"5000000207.123": {5000000207, 123000, 1}, "1790862026000000": {1790862026000000, 0, 1}, "0.0000019": {0, 1, 1}, `"12.5"`: {12, 500000, 1},
		"-0.25": {-1, 750000, 1}, "-3": {-3, 0, 1}, "1.5e3": {1500, 0, 1}, "25e-1": {2, 500000, 1}, "1e400": {}, "": {}, "x": {},
		"-": {}, "1e": {},
		"99999999999999999999": {},
	} {
		us, ps, ok := micros([]byte(text))
		if want == [3]int64{} {
			if ok {
				t.Errorf("micros(%s) = %d, %d, want none", text, us, ps)
			}
		} else if !ok || us != want[0] || ps != want[1] {
			t.Errorf("micros(%s) = %d, %d, %v, want %d, %d", text, us, ps, ok, want[0], want[1])
		}
	}
}
