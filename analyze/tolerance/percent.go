package tolerance

import (
	"cmp"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// Percent is an exact decimal percentage: value / 10^places percent.
type Percent struct {
	value  int64
	places uint8
}

// maxPlaces bounds the decimals of a percentage, and maxPercent its value, so that products with a
// time fit into 128 bits.
const (
	maxPlaces  = 9
	maxPercent = 1_000_000
)

// ParsePercent reads a percentage such as "5%", "0.25%" or "5".
func ParsePercent(text string) (Percent, error) {
	digits := strings.TrimSuffix(text, "%")
	whole, fraction, _ := strings.Cut(digits, ".")
	fraction = strings.TrimRight(fraction, "0")
	if len(fraction) > maxPlaces {
		return Percent{}, fmt.Errorf("%q has more than %d decimals; round it", text, maxPlaces)
	}
	isDigit := func(c rune) bool { return '0' <= c && c <= '9' }
	if strings.TrimFunc(whole+fraction, isDigit) != "" || whole+fraction == "" && !strings.Contains(digits, "0") {
		return Percent{}, fmt.Errorf("expected a percentage such as 5%% or 0.25%%, got %q", text)
	}
	whole = cmp.Or(whole, "0")
	if w, err := strconv.ParseInt(whole, 10, 64); err != nil || w > maxPercent {
		return Percent{}, fmt.Errorf("%q is too large; the largest percentage is %d%%", text, maxPercent)
	}
	value, err := strconv.ParseInt(whole+fraction, 10, 64)
	if err != nil {
		return Percent{}, fmt.Errorf("expected a percentage such as 5%% or 0.25%%, got %q", text)
	}
	return Percent{value, uint8(len(fraction))}, nil
}

// WholePercents are percentages without decimals.
func WholePercents(values ...int64) []Percent {
	list := make([]Percent, len(values))
	for i, v := range values {
		list[i].value = v
	}
	return list
}

// Number returns the exact decimal without the percent sign, e.g. "0.25".
func (p Percent) Number() string {
	if p.places == 0 {
		return strconv.FormatInt(p.value, 10)
	}
	digits := fmt.Sprintf("%0*d", int(p.places)+1, p.value)
	at := len(digits) - int(p.places)
	return digits[:at] + "." + digits[at:]
}

// String returns the percentage as ParsePercent reads it.
func (p Percent) String() string { return p.Number() + "%" }

// MarshalJSON returns the exact decimal.
func (p Percent) MarshalJSON() ([]byte, error) { return []byte(p.Number()), nil }

// Rest returns what is left of the whole without the percentage, as a fraction; ok is false if it is more than 100 %.
func (p Percent) Rest() (num, den uint64, ok bool) {
	full := 100 * p.scale()
	return uint64(max(full-p.value, 0)), uint64(full), p.value <= full
}

// scale returns 10^places.
func (p Percent) scale() int64 {
	scale := int64(1)
	for range p.places {
		scale *= 10
	}
	return scale
}

// above returns (1 + p/100)*t rounded down, and whether it fits.
func (p Percent) above(t int64) (int64, bool) {
	full := uint64(100) * uint64(p.scale())
	hi, lo := bits.Mul64(uint64(t), full+uint64(p.value))
	if hi >= full {
		return 0, false
	}
	q, _ := bits.Div64(hi, lo, full)
	return int64(q), q <= uint64(maxTime)
}
