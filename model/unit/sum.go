package unit

import (
	"cmp"
	"math/big"
	"math/bits"
)

// Sum is a sum of durations of many threads, exact in 128 bits: High * 2^64 + Low picoseconds. Its zero value is 0.
type Sum struct {
	High int64
	Low  uint64
}

// SumOf is a duration as a sum.
func SumOf(d Duration) Sum { return Sum{int64(d) >> 63, uint64(d)} }

// Add adds a duration.
func (s *Sum) Add(d Duration) { s.AddSum(SumOf(d)) }

// AddSum adds another sum.
func (s *Sum) AddSum(o Sum) {
	low, carry := bits.Add64(s.Low, o.Low, 0)
	s.Low = low
	s.High += o.High + int64(carry)
}

// Plus is both together.
func (s Sum) Plus(o Sum) Sum {
	s.AddSum(o)
	return s
}

// Minus is what s has more than o.
func (s Sum) Minus(o Sum) Sum {
	low, borrow := bits.Sub64(s.Low, o.Low, 0)
	return Sum{s.High - o.High - int64(borrow), low}
}

// Times is n times the sum; both are 0 or more.
func (s Sum) Times(n int64) Sum {
	high, low := bits.Mul64(s.Low, uint64(n))
	return Sum{s.High*n + int64(high), low}
}

// Scaled is s * num / den, rounded down, and the rest of that division. All are 0 or more, and num is at most den.
func (s Sum) Scaled(num, den uint64) (whole Sum, rest uint64) {
	middle, low := bits.Mul64(s.Low, num)
	high := uint64(0)
	if s.High == 0 {
		if middle < den { // one division is enough
			whole.Low, rest = bits.Div64(middle, low, den)
			return whole, rest
		}
	} else {
		var first, carry uint64
		high, first = bits.Mul64(uint64(s.High), num)
		middle, carry = bits.Add64(middle, first, 0)
		high += carry
	}
	quotient, rest := bits.Div64(high, middle, den) // high is below den: num is at most that, and s.High below 2^63
	whole.High = int64(quotient)
	whole.Low, rest = bits.Div64(rest, low, den)
	return whole, rest
}

// Mean is an n-th of the sum, rounded towards 0.
func (s Sum) Mean(n int) Sum {
	if s.High < 0 {
		return Sum{}.Minus(Sum{}.Minus(s).Mean(n))
	}
	mean, _ := s.Scaled(1, uint64(n))
	return mean
}

// Duration is the sum as a duration, which it must be (see Fits), as the mean of durations is.
func (s Sum) Duration() Duration { return Duration(s.Low) }

// Fits reports whether the sum is a duration.
func (s Sum) Fits() bool { return s == SumOf(s.Duration()) }

// Cmp is below 0 if s is less than o, 0 if they are equal, else above 0.
func (s Sum) Cmp(o Sum) int {
	if s.High != o.High {
		return cmp.Compare(s.High, o.High)
	}
	return cmp.Compare(s.Low, o.Low)
}

// Sign is below 0, 0 or above 0, as the sum is.
func (s Sum) Sign() int { return s.Cmp(Sum{}) }

// Float is the number of picoseconds.
func (s Sum) Float() float64 {
	if s.Fits() {
		return float64(s.Duration())
	}
	v, _ := new(big.Float).SetInt(s.Big()).Float64()
	return v
}

// InSeconds is the number of seconds.
func (s Sum) InSeconds() float64 { return s.Float() / float64(Second) }

// Over is the quotient of two sums; 0 if the second one is.
func (s Sum) Over(whole Sum) float64 {
	if whole.Sign() == 0 {
		return 0
	}
	return s.Float() / whole.Float()
}

// String is that of a duration.
func (s Sum) String() string {
	if s.Fits() {
		return s.Duration().String()
	}
	return s.Seconds() + "s"
}

// Short is that of a duration.
func (s Sum) Short() string {
	if s.Fits() {
		return s.Duration().Short()
	}
	v := s.Big()
	half := big.NewInt(int64(Second / 2))
	half.Mul(half, big.NewInt(int64(v.Sign()))) // half up is away from 0
	return v.Quo(v.Add(v, half), big.NewInt(int64(Second))).String() + "s"
}

// NS is that of a duration.
func (s Sum) NS() string { return s.scaled(Nanosecond) }

// Seconds is that of a duration.
func (s Sum) Seconds() string { return s.scaled(Second) }

// MarshalJSON returns the number of nanoseconds, as Nanoseconds does.
func (s Sum) MarshalJSON() ([]byte, error) { return []byte(s.NS()), nil }

// scaled is the exact number of units.
func (s Sum) scaled(of Duration) string {
	v := s.Big()
	dst := make([]byte, 0, 48)
	if v.Sign() < 0 {
		dst = append(dst, '-')
	}
	whole, rest := v.QuoRem(v.Abs(v), big.NewInt(int64(of)), new(big.Int))
	dst = whole.Append(dst, 10)
	if rest.Sign() != 0 {
		dst = append(dst, appendScaled(nil, rest.Uint64(), uint64(of))[1:]...) // without its 0
	}
	return string(dst)
}

// Big is the number of picoseconds.
func (s Sum) Big() *big.Int {
	v := big.NewInt(s.High)
	return v.Add(v.Lsh(v, 64), new(big.Int).SetUint64(s.Low))
}
