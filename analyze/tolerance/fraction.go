package tolerance

// newFraction returns whole + num/den, for num >= 0 and den > 0.
func newFraction(whole, num, den int64) Fraction {
	whole += num / den
	num %= den
	a, b := den, num
	for b != 0 {
		a, b = b, a%b
	}
	return Fraction{whole, num / a, den / a}
}

// Float returns the number rounded to a float64, for figures.
func (f Fraction) Float() float64 { return float64(f.Whole) + float64(f.Num)/float64(f.Den) }
