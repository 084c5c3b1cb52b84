package tolerance

// newFraction returns whole + num/den, for num >= 0 and den > 0.
func newFraction(whole, num, den int64) Fraction {
	whole += num / den
	num %= den
	common := gcd(den, num)
	return Fraction{whole, num / common, den / common}
}

// gcd returns the greatest common divisor of two numbers; that of 0 and another one is the other one.
func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}
