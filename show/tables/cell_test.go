package tables

import (
	"encoding/json"
	"math"
	"testing"

	"slackline/internal/table"
	"slackline/model/unit"
)

// The text of a cell is rounded for people, its value is exact.
func TestCells(t *testing.T) {
	for _, tc := range []struct {
		name  string
		cell  table.Cell
		text  string
		value any
	}{
		{"no value", Text("x"), "x", nil},
		{"a time", Time(unit.Duration(123_456_789)), "123.5us", json.Number("123456.789")},
		{"all digits of a time", ExactTime(unit.Duration(123_456_789)), "123.456789us", json.Number("123456.789")},
		{"the smallest time", Time(unit.Duration(1)), "1ps", json.Number("0.001")},
		{"no time", Time(unit.Duration(0)), "0", json.Number("0")},
		{"a gain of time", Time(-2 * unit.Microsecond), "-2us", json.Number("-2000")},
		{"the longest time", Time(unit.Duration(math.MaxInt64)), "9223372s", json.Number("9223372036854775.807")},
		{"a count", Count(1234567), "1,234,567", int64(1234567)},
		{"a negative count", Count(int64(-1000)), "-1,000", int64(-1000)},
		{"bytes", size(1536), "1.5 KiB", int64(1536)},
		{"few bytes", size(1023), "1023 B", int64(1023)},
		{"a share", Share(0.1234), "12.3 %", 0.1234},
		{"all", Share(1), "100.0 %", 1.0},
		{"nearly all", Share(0.99999), "> 99.9 %", 0.99999},
		{"nearly nothing", Share(1e-9), "< 0.1 %", 1e-9},
		{"nothing", Share(0), "0 %", 0.0},
		{"an unknown share", Share(math.NaN()), "-", nil},
		{"a number", Number(1234.56), "1235", 1234.56},
		{"a small number", Number(0.000012345), "1.234e-05", 0.000012345},
		{"an unknown number", Number(math.Inf(1)), "-", nil},
	} {
		if tc.cell.Text != tc.text || tc.cell.Value != tc.value {
			t.Errorf("%s: %q, %v (%T); want %q, %v (%T)", tc.name, tc.cell.Text, tc.cell.Value, tc.cell.Value, tc.text, tc.value, tc.value)
		}
	}
}

// A bar is never longer than its cell and never points to the left, whatever the share is.
func TestShareBar(t *testing.T) {
	for _, tc := range []struct{ share, bar float64 }{{0.25, 0.25}, {0, 0}, {1, 1}, {1.5, 1}, {-0.5, 0}, {math.NaN(), 0}} {
		if got := Share(tc.share).Share; got != tc.bar {
			t.Errorf("the bar of %g is %g, want %g", tc.share, got, tc.bar)
		}
	}
}

// Seconds and bytes are printed in the unit that suits them, as far as that can represent them; others keep theirs.
func TestMeasured(t *testing.T) {
	for _, tc := range []struct {
		value      float64
		unit, text string
	}{
		{0.0000123, "s", "12.3us"}, {1e-12, "s", "1ps"}, {1e-14, "s", "0"}, {999_999, "s", "999999s"}, {1e6, "s", "1e+06 s"},
		{-0.5, "s", "-500ms"},
		{2048, "B", "2 KiB"}, {2047.6, "B", "2 KiB"}, {1e18, "B", "1e+18 B"}, {-1, "B", "-1 B"}, {0, "B", "0 B"},
		{42, "", "42"}, {1.5, "Hz", "1.5 Hz"}, {math.NaN(), "s", "-"}, {math.Inf(-1), "Hz", "-"},
	} {
		if got := Measured(tc.value, tc.unit); got.Text != tc.text {
			t.Errorf("Measured(%g, %q) = %q, want %q", tc.value, tc.unit, got.Text, tc.text)
		}
	}
	if got := Measured(0.5, "s").Value; got != 0.5 {
		t.Errorf("the value of half a second is %v, want 0.5 in the unit of the data", got)
	}
}

func TestPath(t *testing.T) {
	for name, text := range map[string]string{"": "(no call)", "<root>": "(the whole run)", "main/a b": "main/a b"} {
		if got := Path(name); got.Text != text || got.Value != name {
			t.Errorf("Path(%q) = %q, %v; want %q and the name", name, got.Text, got.Value, text)
		}
	}
}
