package flags

import (
	"testing"

	"slackline/model/unit"
)

func TestQuantity(t *testing.T) {
	var q Quantity[unit.Duration]
	if q.Pointer() != nil || q.String() != "" {
		t.Errorf("before it is given: %v, %q; want nothing, so that the help claims no default", q.Pointer(), q.String())
	}
	if err := q.Set("2 parsec"); err == nil || q.Given {
		t.Errorf("a wrong unit: error %v, given %t", err, q.Given)
	}
	if err := q.Set("2.5us"); err != nil || *q.Pointer() != 2500*unit.Nanosecond || q.String() != "2.5us" {
		t.Errorf("2.5us: %v, %v, %q", err, q.Pointer(), q.String())
	}
}

func TestFactor(t *testing.T) {
	var f Factor
	for _, text := range []string{"", "0", "-1", "Inf", "NaN", "1e999", "x"} {
		if err := f.Set(text); err == nil || f.Given {
			t.Errorf("Set(%q) is accepted as %g", text, f.Value)
		}
	}
	if err := f.Set("0.1"); err != nil || f.Value != 0.1 || f.String() != "0.1" {
		t.Errorf("0.1: %v, %g, %q", err, f.Value, f.String())
	}
}
