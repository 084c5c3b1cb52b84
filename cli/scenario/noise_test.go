package scenario

import (
	"testing"
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
}
