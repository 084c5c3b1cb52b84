package phrase

import "testing"

func TestEarly(t *testing.T) {
	for n, want := range map[int64]string{
		1:    "1 message arrived before it was sent, by 5us",
		2000: "2,000 messages arrived before they were sent, by up to 5us",
	} {
		if got := Early(n, "5us"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
