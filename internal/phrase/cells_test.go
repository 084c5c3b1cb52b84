package phrase

import (
	"math"
	"testing"

	"slackline/internal/table"
)

// Rates have four digits and no exponent, however they round; values stay exact.
func TestCells(t *testing.T) {
	for _, tc := range []struct {
		cell table.Cell
		want string
	}{
		{RateCell(0), "0Hz"}, {RateCell(0.5), "0.5Hz"}, {RateCell(1234.56), "1235Hz"}, {RateCell(9999.4), "9999Hz"},
		{RateCell(9999.6), "10000Hz"},
		{RateCell(10000), "10000Hz"}, {RateCell(1e9), "1000000000Hz"},
		{PercentCell(12.345), "12.3 %"}, {PercentCell(100), "100 %"}, {PercentCell(0), "0 %"},
		{NumberCell(1.25, "%.1f"), "1.2"}, {NumberCell(math.NaN(), "%.1f"), "-"}, {NumberCell(math.Inf(1), "%g"), "-"},
	} {
		if tc.cell.Text != tc.want {
			t.Errorf("%v is %q, want %q", tc.cell.Value, tc.cell.Text, tc.want)
		}
	}
	if got := RateCell(9999.6).Value; got != 9999.6 {
		t.Errorf("the value of 9999.6 per second is %v", got)
	}
}
