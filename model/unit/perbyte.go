package unit

import "math/bits"

// PerByte is a cost per byte in femtoseconds (G, O and gamma of a machine); 1 ns per byte is
// 1,000,000.
type PerByte int64

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
