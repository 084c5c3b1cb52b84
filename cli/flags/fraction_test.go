package flags

import (
	"testing"
)

func TestFraction(t *testing.T) {
	for text, want := range map[string]float64{"0": 0, "0.25": 0.25, "10%": 0.1, "100%": 1} {
		var f Fraction
		if err := f.Set(text); err != nil || f.Value != want {
			t.Errorf("Set(%q) = %v, %v; want %v", text, f.Value, err, want)
		}
	}
	for _, text := range []string{"", "x", "-0.1", "1.1", "101%", "NaN", "0.1x", "%"} {
		var f Fraction
		if err := f.Set(text); err == nil {
			t.Errorf("Set(%q) = %v, want an error", text, f.Value)
		}
	}
	for text, valid := range map[string]bool{"0": false, "100%": false, "NaN": false, "-0.1": false, "0.05": true, "99%": true} {
		if f := (Fraction{Between: true}); (f.Set(text) == nil) != valid {
			t.Errorf("between 0 and 1: Set(%q) = %v", text, f.Value)
		}
	}
}
