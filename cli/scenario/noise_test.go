package scenario

import (
	"testing"

	"slackline/model/unit"
)

func TestDelays(t *testing.T) {
	var d Delays
	for _, text := range []string{"4@0:20us", "0@1ms:5ns"} {
		if err := d.Set(text); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := d.String(), "4@0:20us,0@1ms:5ns"; got != want {
		t.Errorf("String = %q, want %q", got, want)
	}
	if got := d.Of(0); len(got) != 1 || got[0].Length != 5*unit.Nanosecond {
		t.Errorf("of(0) = %v", got)
	}
}
