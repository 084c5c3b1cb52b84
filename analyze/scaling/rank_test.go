package scaling

import "testing"

// TestRankOf: what lies on a limit is within it; the limit of an expectation is half of its leading exponent.
func TestRankOf(t *testing.T) {
	linear, log := termOf3(0, 6, 0), termOf3(0, 0, 6)
	for _, tc := range []struct {
		lead, expected Term
		want           Rank
	}{
		{linear, linear, Total}, {termOf3(0, 9, 0), linear, Approximate}, {termOf3(0, 3, 0), linear, Approximate},
		{termOf3(0, 10, 0), linear, NoMatch}, {termOf3(0, 9, 1), linear, NoMatch},
		{termOf3(0, 2, 0), linear, Better}, {termOf3(0, 3, -1), linear, Better},
		{termOf3(0, 6, 60), linear, Approximate}, {termOf3(1, 0, 0), linear, NoMatch},
		{Term{}, log, Better}, {termOf3(0, 0, 9), log, Approximate}, {termOf3(0, 0, 10), log, NoMatch},
		{termOf3(0, 0, 3), Term{}, Approximate}, {termOf3(0, 0, 6), Term{}, NoMatch}, {termOf3(0, -1, 0), Term{}, Better},
	} {
		if got := RankOf(tc.lead, tc.expected, DefaultLimit(tc.expected)); got != tc.want {
			t.Errorf("O(%s) instead of O(%s): %s, want %s", tc.lead.landau("p"), tc.expected.landau("p"), got, tc.want)
		}
	}
	if d := Divergence(termOf3(0, 12, 0), linear); d != linear {
		t.Errorf("between p^2 and p: O(%s)", d.landau("p"))
	}
}
