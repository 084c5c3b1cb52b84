package noise

import (
	"errors"
	"strings"
	"testing"
)

// All mistakes of a profile are reported, in the order of their lines.
func TestProfileMistakes(t *testing.T) {
	const text = "naem: x\nparts:\n  - rate: 5Xz\n    length: [1us, 2, [3us]]\n    phase:\n  - label: a\n  - rate: 5Hz\n    length: 1us\n"
	_, err := Read("f", []byte(text))
	if err == nil {
		t.Fatal("no error")
	}
	want := []string{
		`f:1: unknown key "naem" in the profile; did you mean name?`, `f:3: rate "5Xz"`, `f:4: duration "2" needs a unit`,
		"f:4: a length must be one value", "f:5: key phase has no value", "f:6: a part needs rate and length, or trace",
	}
	got := strings.Split(err.Error(), "\n")
	if len(got) != len(want) {
		t.Fatalf("%d mistakes, want %d:\n%v", len(got), len(want), err)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("mistake %d: %s, want %s", i, got[i], want[i])
		}
	}
	if first := (*FileError)(nil); !errors.As(err, &first) || first.Line != 1 {
		t.Errorf("the first mistake = %v, want one in line 1", first)
	}
	_, err = Read("f", []byte("parts:\n"+strings.Repeat("  - 5\n", 50)))
	if err == nil || !strings.HasSuffix(err.Error(), "\nf: and 30 more errors") {
		t.Errorf("many mistakes: %v", err)
	}
}
