package plot

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// tick is a marked value of an axis.
type tick struct {
	value float64
	label string
}

// unitStep is a unit of a quantity: its size in the base of the axis, and its name.
type unitStep struct {
	size float64
	name string
}

var (
	timeUnits = []unitStep{{1, "ps"}, {1e3, "ns"}, {1e6, "µs"}, {1e9, "ms"}, {1e12, "s"}}
	byteUnits = []unitStep{{1, "B"}, {1 << 10, "KiB"}, {1 << 20, "MiB"}, {1 << 30, "GiB"}, {1 << 40, "TiB"}}
)

// unitFor returns the largest unit that is not larger than v.
func unitFor(units []unitStep, v float64) unitStep {
	best := units[0]
	for _, u := range units {
		if u.size <= v*(1+1e-9) {
			best = u
		}
	}
	return best
}

// ticks returns the labelled ticks of an axis, 3 to 12 of them, rising and inside its range, and
// the unit that belongs to the axis label ("" if there is none or the ticks carry it).
func (s span) ticks(length float64) (ticks []tick, unit string) {
	values := s.tickValues(length)
	labels, unit := s.labels(values)
	for i, v := range values {
		ticks = append(ticks, tick{v, labels[i]})
	}
	return ticks, unit
}

func (s span) tickValues(length float64) []float64 {
	switch s.Scale {
	case Log10:
		if values := decadeTicks(s.lo, s.hi); len(values) >= 3 {
			return values
		}
	case Log2:
		if values := powerTicks(s.lo, s.hi, 2, 12); len(values) >= 3 {
			return values
		}
	}
	least := 3
	if length > 260 {
		least = 4
	}
	base := s.linearUnit().size
	values := linearTicks(s.lo/base, s.hi/base, least, s.Whole)
	for i := range values {
		values[i] = math.Min(math.Max(values[i]*base, s.lo), s.hi)
	}
	return values
}

// linearUnit is the one unit of a linear axis. For numbers beyond all units it holds a power of
// ten, so that labels stay short.
func (s span) linearUnit() unitStep {
	largest := math.Max(math.Abs(s.lo), math.Abs(s.hi))
	u := unitStep{1, ""}
	switch s.Quantity {
	case Time:
		u = unitFor(timeUnits, largest)
	case Bytes:
		u = unitFor(byteUnits, largest)
	case Percent:
		u.name = "%"
	}
	if v := largest / u.size; v > 0 && (v >= 1e10 || v < 1e-3) {
		exponent := 3 * int(math.Floor(math.Log10(v)/3))
		u = unitStep{u.size * math.Pow10(exponent), strings.TrimSpace(fmt.Sprintf("1e%d %s", exponent, u.name))}
	}
	return u
}

// linearTicks returns the multiples of the largest step of the form 1, 2 or 5 times a power of ten
// of which at least the given number lie in the range. Neighboring steps differ by at most 2.5,
// so there are fewer than 2.5 times as many, plus one. With whole, steps below 1 are not used.
func linearTicks(lo, hi float64, least int, whole bool) []float64 {
	exponent := int(math.Floor(math.Log10(hi-lo))) + 1
	for ; ; exponent-- {
		for _, m := range []float64{5, 2, 1} {
			first, last := math.Ceil(tickRatio(lo, m, exponent)), math.Floor(tickRatio(hi, m, exponent))
			smallest := whole && exponent == 0 && m == 1
			if last-first+1 < float64(least) && !smallest {
				continue
			}
			var values []float64
			for k := first; k <= last; k++ {
				v := k * m * math.Pow10(exponent)
				if exponent < 0 {
					v = k * m / math.Pow10(-exponent) // exact where the quotient is
				}
				// Rounding may put an outer tick just outside; the sum has no negative zero.
				values = append(values, math.Min(math.Max(v, lo), hi)+0)
			}
			return values
		}
	}
}

// tickRatio returns v / (m * 10^exponent), pulled to a whole number that it misses by rounding.
func tickRatio(v, m float64, exponent int) float64 {
	q := v / m / math.Pow10(exponent)
	if exponent < 0 {
		q = v / m * math.Pow10(-exponent)
	}
	if r := math.Round(q); math.Abs(q-r) < 1e-12*math.Max(1, math.Abs(r)) {
		return r
	}
	return q
}

// powerTicks returns the powers of base in the range, at equal distances, at most limit of them.
func powerTicks(lo, hi, base float64, limit int) []float64 {
	first := int(math.Ceil(math.Log(lo)/math.Log(base) - 1e-9))
	last := int(math.Floor(math.Log(hi)/math.Log(base) + 1e-9))
	stride := 1
	for (last-first)/stride+1 > limit {
		stride++
	}
	var values []float64
	for k := first; k <= last; k++ {
		// Multiples of the stride, so that 1 is a tick wherever it can be.
		if k%stride != 0 {
			continue
		}
		if v := math.Pow(base, float64(k)); v >= lo && v <= hi {
			values = append(values, v)
		}
	}
	return values
}

// decadeTicks returns powers of ten, or for less than three of them also their double and
// fivefold.
func decadeTicks(lo, hi float64) []float64 {
	if values := powerTicks(lo, hi, 10, 12); len(values) >= 3 {
		return values
	}
	var values []float64
	for k := int(math.Floor(math.Log10(lo))); k <= int(math.Ceil(math.Log10(hi))); k++ {
		for _, m := range []float64{1, 2, 5} {
			if v := m * math.Pow10(k); v >= lo && v <= hi {
				values = append(values, v)
			}
		}
	}
	return values
}

// minorTicks returns the unlabelled ticks of a logarithmic axis: the multiples of powers of ten.
func (s span) minorTicks() []float64 {
	first, last := int(math.Floor(math.Log10(s.lo))), int(math.Ceil(math.Log10(s.hi)))
	if s.Scale != Log10 || last-first > 8 {
		return nil
	}
	var values []float64
	for k := first; k <= last; k++ {
		for m := 2.0; m <= 9; m++ {
			if v := m * math.Pow10(k); v >= s.lo && v <= s.hi {
				values = append(values, v)
			}
		}
	}
	return values
}

// labels prints tick values: on linear axes in one unit with as many decimals as the step needs,
// on logarithmic ones each in its own unit.
func (s span) labels(values []float64) (labels []string, unit string) {
	if s.Scale != Linear {
		binary := s.Scale == Log2 && len(values) > 0 && values[len(values)-1] >= 1<<20 // Ki and Mi on the whole axis, or nowhere
		for _, v := range values {
			labels = append(labels, s.ownLabel(v, binary))
		}
		if s.Quantity == Percent {
			unit = "%"
		}
		return labels, unit
	}
	u := s.linearUnit()
	decimals := 0
	if len(values) > 1 {
		step := (values[1] - values[0]) / u.size
		decimals = int(math.Max(0, -math.Floor(math.Log10(step*(1+1e-9)))))
	}
	for _, v := range values {
		labels = append(labels, grouped(strconv.FormatFloat(v/u.size, 'f', decimals, 64)))
	}
	return labels, u.name
}

// ownLabel prints one value of a logarithmic axis, numbers with binary prefixes if they are wanted.
func (s span) ownLabel(v float64, binary bool) string {
	switch s.Quantity {
	case Time:
		u := unitFor(timeUnits, v)
		return short(v/u.size) + " " + u.name
	case Bytes:
		u := unitFor(byteUnits, v)
		return short(v/u.size) + " " + u.name
	}
	if binary {
		for _, u := range []unitStep{{1 << 30, "Gi"}, {1 << 20, "Mi"}, {1 << 10, "Ki"}} {
			if v >= u.size && v == math.Trunc(v/u.size)*u.size {
				return short(v/u.size) + u.name
			}
		}
	}
	return short(v)
}

// short prints a number with few digits.
func short(v float64) string {
	if a := math.Abs(v); a >= 1e9 || (a < 1e-4 && a > 0) {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	s := strconv.FormatFloat(v, 'f', 9, 64)
	return grouped(strings.TrimRight(strings.TrimRight(s, "0"), "."))
}

// grouped puts commas between the thousands.
func grouped(s string) string {
	sign, rest := "", s
	if strings.HasPrefix(s, "-") {
		sign, rest = "−", s[1:]
	}
	whole, fraction, hasFraction := strings.Cut(rest, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if hasFraction {
		whole += "." + fraction
	}
	return sign + whole
}

// printTime prints a time with four digits in its own unit, for captions.
func printTime(ps float64) string {
	u := unitFor(timeUnits, math.Abs(ps))
	v := ps / u.size
	digits := 3 - int(math.Floor(math.Log10(math.Max(math.Abs(v), 1))))
	s := strconv.FormatFloat(v, 'f', max(digits, 0), 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return fmt.Sprintf("%s %s", grouped(s), u.name)
}

// printCount prints a whole number for captions.
func printCount(n int) string { return grouped(strconv.Itoa(n)) }
