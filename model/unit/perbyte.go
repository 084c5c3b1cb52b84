package unit

import (
	"math/bits"
	"strings"
)

// PerByte is a cost per byte in femtoseconds (G, O and gamma of a machine); 1 ns per byte is
// 1,000,000.
type PerByte int64

var perBytes = quantity{
	name: "cost per byte",
	units: []scale{
		{"fs", 1}, {"ps", 1e3}, {"ns", 1e6}, {"us", 1e9}, {"\u00b5s", 1e9}, {"\u03bcs", 1e9},
		{"ms", 1e12}, {"s", 1e15},
	},
	names:   "fs, ps, ns, us, ms or s",
	example: "0.05ns",
	tooFine: "is finer than 0.000001ns; give at most 6 decimals of a nanosecond",
	largest: "9223s",
}

// ParsePerByte reads a cost per byte such as "0.018ns" or "18ps"; "/B" may follow. Units are fs,
// ps, ns, us (also µs), ms and s; only 0 may come without one. The value must be a whole number
// of femtoseconds of at least 0.
func ParsePerByte(text string) (PerByte, error) {
	v, err := perBytes.parse(strings.TrimSuffix(text, "/B"))
	return PerByte(v), err
}

// String returns the exact cost in nanoseconds, e.g. "0.018ns". Zero is "0".
func (p PerByte) String() string {
	if p == 0 {
		return "0"
	}
	dst := make([]byte, 0, 24)
	v := uint64(p)
	if p < 0 {
		dst, v = append(dst, '-'), -v
	}
	return string(append(appendScaled(dst, v, 1e6), "ns"...))
}

// Times returns bytes * p in picoseconds, computed in 128 bits and rounded half up once. ok is
// false if the product does not fit into a Duration; the result is then the largest Duration.
// Negative byte counts count as 0.
func (p PerByte) Times(bytes int64) (d Duration, ok bool) {
	if bytes <= 0 || p <= 0 {
		return 0, true
	}
	hi, lo := bits.Mul64(uint64(bytes), uint64(p))
	lo, carry := bits.Add64(lo, 500, 0)
	hi += carry
	if hi >= 1000 {
		return maxDuration, false
	}
	q, _ := bits.Div64(hi, lo, 1000)
	if q > uint64(maxDuration) {
		return maxDuration, false
	}
	return Duration(q), true
}

const maxDuration = Duration(1<<63 - 1)
