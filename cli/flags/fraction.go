package flags

import (
	"fmt"
	"strconv"
	"strings"
)

// Fraction is a flag with a number from 0 to 1, or a percentage.
type Fraction struct {
	Value float64
	Given bool
}

// Set implements pflag.Value.
func (f *Fraction) Set(s string) error {
	number, scale := s, 1.0
	if cut, ok := strings.CutSuffix(s, "%"); ok {
		number, scale = cut, 100
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return fmt.Errorf("%q is not a number; give a fraction, e.g. 0.1 or 10%%", s)
	}
	v /= scale
	if !(v >= 0 && v <= 1) {
		return fmt.Errorf("%s is not in 0 to 1; give a fraction, e.g. 0.1 or 10%%", s)
	}
	f.Value, f.Given = v, true
	return nil
}

func (f *Fraction) String() string {
	if !f.Given {
		return ""
	}
	return fmt.Sprint(f.Value)
}

// Type implements pflag.Value.
func (f *Fraction) Type() string { return "fraction" }
