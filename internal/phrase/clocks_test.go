package phrase

import "testing"

func TestEarly(t *testing.T) {
	for _, tc := range []struct {
		messages, collectives int64
		want                  string
	}{
		{1, 0, "1 message arrived before it was sent, by 5us"},
		{2000, 0, "2,000 messages arrived before they were sent, by up to 5us"},
		{0, 1, "1 collective ended before it could, by 5us"},
		{0, 2000, "2,000 collectives ended before they could, by up to 5us"},
		{2, 1, "2 messages arrived before they were sent and 1 collective ended before it could, by up to 5us"},
		{1, 1, "1 message arrived before it was sent and 1 collective ended before it could, by up to 5us"},
	} {
		if got := Early(tc.messages, tc.collectives, "5us"); got != tc.want {
			t.Errorf("%d messages, %d collectives: %q, want %q", tc.messages, tc.collectives, got, tc.want)
		}
	}
}
