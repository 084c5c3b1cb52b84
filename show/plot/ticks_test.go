package plot

import (
	"image/color"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"slackline/model/unit"
)

// Every axis has 3 to 12 ticks, rising, inside its range, with labels that differ.
func TestTicksProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := Axis{
			Scale:    rapid.SampledFrom([]Scale{Linear, Log10, Log2}).Draw(t, "scale"),
			Quantity: rapid.SampledFrom([]Quantity{Number, Time, Bytes, Percent}).Draw(t, "quantity"),
		}
		lo := math.Pow(10, rapid.Float64Range(-6, 17).Draw(t, "log lo"))
		hi := lo * math.Pow(10, rapid.Float64Range(0, 12).Draw(t, "log ratio"))
		if rapid.Bool().Draw(t, "close") {
			hi = lo * (1 + rapid.Float64Range(0, 1e-6).Draw(t, "more"))
		}
		if a.Scale == Linear && rapid.Bool().Draw(t, "negative") {
			lo = -lo
		}
		fixed := rapid.Bool().Draw(t, "fixed")
		if fixed {
			a.Min, a.Max = lo, hi
		}
		s, err := a.resolve(interval{lo, hi}, rapid.SampledFrom([]float64{0, 0.05}).Draw(t, "air"))
		if err != nil {
			t.Fatal(err)
		}
		if s.lo > lo || s.hi < hi {
			t.Fatalf("range %g to %g does not hold %g to %g", s.lo, s.hi, lo, hi)
		}
		ticks, _ := s.ticks(rapid.Float64Range(50, 1500).Draw(t, "length"))
		if len(ticks) < 3 || len(ticks) > 12 {
			t.Fatalf("%g to %g has %d ticks: %v", s.lo, s.hi, len(ticks), ticks)
		}
		for i, k := range ticks {
			if k.value < s.lo || k.value > s.hi {
				t.Fatalf("tick %g is not in %g to %g", k.value, s.lo, s.hi)
			}
			if i > 0 && (k.value <= ticks[i-1].value || k.label == ticks[i-1].label) {
				t.Fatalf("ticks %v are not rising or look alike", ticks)
			}
		}
		for _, v := range s.minorTicks() {
			if v < s.lo || v > s.hi {
				t.Fatalf("minor tick %g is not in %g to %g", v, s.lo, s.hi)
			}
		}
	})
}

func TestTickLabels(t *testing.T) {
	us := float64(unit.Microsecond)
	for _, tc := range []struct {
		axis   Axis
		lo, hi float64
		want   string
		unit   string
	}{
		{Axis{}, 0, 10, "0 2 4 6 8 10", ""},
		{Axis{}, -1, 1, "−1.0 −0.5 0.0 0.5 1.0", ""},
		{Axis{}, 0, 1e6, "0 200,000 400,000 600,000 800,000 1,000,000", ""},
		{Axis{Whole: true}, -0.5, 1.5, "0 1", ""},
		{Axis{Whole: true}, -0.5, 0.5, "0", ""},
		{Axis{Quantity: Time}, 0, 18 * us, "0 5 10 15", "µs"},
		{Axis{Quantity: Time}, 0, 900, "0 200 400 600 800", "ps"},
		{Axis{Quantity: Time}, 1000 * us, 1000.4 * us, "1.0000 1.0001 1.0002 1.0003 1.0004", "ms"},
		{Axis{Quantity: Bytes}, 0, 3 << 20, "0 1 2 3", "MiB"},
		{Axis{Quantity: Percent}, 0, 12, "0 2 4 6 8 10 12", "%"},
		{Axis{Scale: Log10}, 1, 1e6, "1 10 100 1,000 10,000 100,000 1,000,000", ""},
		{Axis{Scale: Log10}, 3, 60, "5 10 20 50", ""},
		{Axis{Scale: Log10}, 0.21, 0.29, "0.22 0.24 0.26 0.28", ""},
		{Axis{Scale: Log10, Quantity: Time}, 100, 1e13, "100 ps|1 ns|10 ns|100 ns|1 µs|10 µs|100 µs|1 ms|10 ms|100 ms|1 s|10 s", ""},
		{Axis{Scale: Log2}, 2, 1 << 20, "4 16 64 256 1Ki 4Ki 16Ki 64Ki 256Ki 1Mi", ""},
		{Axis{Scale: Log2}, 64, 1 << 16, "64 128 256 512 1,024 2,048 4,096 8,192 16,384 32,768 65,536", ""},
		{Axis{Scale: Log2, Quantity: Bytes}, 1, 4096, "1 B|4 B|16 B|64 B|256 B|1 KiB|4 KiB", ""},
	} {
		axis := tc.axis
		axis.Min, axis.Max = tc.lo, tc.hi
		s, err := axis.resolve(interval{tc.lo, tc.hi}, 0)
		if err != nil {
			t.Fatal(err)
		}
		ticks, unit := s.ticks(400)
		var labels []string
		for _, k := range ticks {
			labels = append(labels, k.label)
		}
		separator := " "
		if strings.Contains(tc.want, "|") {
			separator = "|"
		}
		if got := strings.Join(labels, separator); got != tc.want || unit != tc.unit {
			t.Errorf("%+v %g to %g: %q in %q, want %q in %q", tc.axis, tc.lo, tc.hi, got, unit, tc.want, tc.unit)
		}
	}
}

func TestPrintTime(t *testing.T) {
	for _, tc := range []struct {
		ps   float64
		want string
	}{{0, "0 ps"}, {999, "999 ps"}, {1500, "1.5 ns"}, {212.345e6, "212.3 µs"}, {18e6, "18 µs"}, {1.23456e9, "1.235 ms"}, {1e12, "1 s"},
		{123456e12, "123,456 s"}, {-2e6, "−2 µs"}} {
		if got := printTime(tc.ps); got != tc.want {
			t.Errorf("printTime(%g) = %q, want %q", tc.ps, got, tc.want)
		}
	}
}

func TestScalePlaces(t *testing.T) {
	for _, tc := range []struct {
		scale  Scale
		lo, hi float64
		v      float64
		want   float64
	}{
		{Linear, 0, 10, 5, 150}, {Linear, -10, 10, 10, 200}, {Log10, 1, 100, 10, 150}, {Log2, 1, 16, 2, 125},
		{Linear, 0, 10, 1e300, farAway}, {Log10, 1, 100, 0, -farAway}, {Log10, 1, 100, -5, -farAway},
	} {
		s := span{Axis: Axis{Scale: tc.scale}, interval: interval{tc.lo, tc.hi}, from: 100, to: 200}
		if got := s.at(tc.v); math.Abs(got-tc.want) > 1e-9 { // rounding of two logarithms
			t.Errorf("scale %d, %g to %g: at(%g) = %g, want %g", tc.scale, tc.lo, tc.hi, tc.v, got, tc.want)
		}
	}
}

func TestRanges(t *testing.T) {
	for _, tc := range []struct {
		what   string
		axis   Axis
		data   interval
		lo, hi float64
	}{
		{"starts at 0 if half is empty", Axis{}, interval{4, 10}, 0, 10.5},
		{"does not if all is at the top", Axis{}, interval{8, 10}, 7.9, 10.1},
		{"does if asked to", Axis{FromZero: true}, interval{8, 10}, 0, 10.5},
		{"never goes below 0 without need", Axis{}, interval{0, 10}, 0, 10.5},
		{"one value", Axis{}, interval{20, 20}, 19, 21},
		{"zero", Axis{}, interval{0, 0}, -1, 1},
		{"one value on a log axis", Axis{Scale: Log2}, interval{8, 8}, 4, 16},
		{"given", Axis{Min: 3, Max: 4}, interval{8, 10}, 3, 4},
	} {
		s, err := tc.axis.resolve(tc.data, defaultAir)
		if err != nil || math.Abs(s.lo-tc.lo) > 1e-9 || math.Abs(s.hi-tc.hi) > 1e-9 { // rounding of the air
			t.Errorf("%s: range %g to %g (%v), want %g to %g", tc.what, s.lo, s.hi, err, tc.lo, tc.hi)
		}
	}
}

func TestRangeErrors(t *testing.T) {
	for _, tc := range []struct {
		axis Axis
		data interval
		want string
	}{
		{Axis{Label: "t", Scale: Log10}, interval{0, 5}, "0 has no logarithm"},
		{Axis{Label: "t"}, emptyInterval(), "no values"},
		{Axis{Label: "t", Min: math.Inf(-1), Max: 3}, interval{0, 5}, "not finite"},
		{Axis{Label: "t", Min: math.NaN()}, interval{0, 5}, "not finite"},
		{Axis{Label: "t"}, interval{-math.MaxFloat64, math.MaxFloat64}, "not finite"},
	} {
		if _, err := tc.axis.resolve(tc.data, 0); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v over %v: error = %v, want %q", tc.axis, tc.data, err, tc.want)
		}
	}
}

// luminance is the brightness that the eye sees, 0 to 1 (relative luminance of sRGB).
func luminance(c color.NRGBA) float64 {
	linear := func(v uint8) float64 { return math.Pow(float64(v)/255, 2.2) }
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}

func TestLooksDifferWithoutColor(t *testing.T) {
	for name, th := range map[string]*theme{"light": &lightTheme, "dark": &darkTheme} {
		for i, a := range th.slots {
			for j, b := range th.slots[:i] {
				if a.marker == b.marker || slices.Equal(a.dash, b.dash) || a.color == b.color {
					t.Errorf("%s: slots %d and %d share color, dash or marker", name, j+1, i+1)
				}
			}
		}
	}
	for name, th := range map[string]*theme{"light": &lightTheme, "dark": &darkTheme} {
		for i, a := range th.spans {
			for j, b := range th.spans[:i] {
				hatched := (a.hatch.A > 0) != (b.hatch.A > 0)
				if d := math.Abs(luminance(a.fill) - luminance(b.fill)); d < 0.12 && !hatched {
					t.Errorf("%s: spans %s and %s differ by %.2f in brightness only", name, spanNames[i], spanNames[j], d)
				}
			}
		}
	}
	if got := lightTheme.look(1 + len(lightTheme.slots)); got.color != lightTheme.look(1).color {
		t.Error("slots do not come round again")
	}
}
