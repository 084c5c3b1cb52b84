package flags

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// Fraction is a flag with a number from 0 to 1, or a percentage.
type Fraction struct {
	Value   float64
	Given   bool
	Between bool // 0 and 1 are not in the range
}

// Set implements pflag.Value.
func (f *Fraction) Set(s string) error {
	v, err := parseRatio(s)
	switch {
	case err != nil:
	case f.Between && !(v > 0 && v < 1):
		err = fmt.Errorf("%s is not between 0 and 1; give a fraction, e.g. 0.1 or 10%%", s)
	case !(v >= 0 && v <= 1):
		err = fmt.Errorf("%s is not in 0 to 1; give a fraction, e.g. 0.1 or 10%%", s)
	}
	if err == nil {
		f.Value, f.Given = v, true
	}
	return err
}

// parseRatio reads a number or a percentage.
func parseRatio(s string) (float64, error) {
	number, scale := s, 1.0
	if cut, ok := strings.CutSuffix(s, "%"); ok {
		number, scale = cut, 100
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is not a number; give a fraction, e.g. 0.1 or 10%%", s)
	}
	return v / scale, nil
}

// Ratio is a flag with a number or a percentage that has a default and a range of its own, which the verb checks.
type Ratio float64

// AddRatio adds such a flag.
func AddRatio(fs *pflag.FlagSet, ratio *float64, name string, value float64, usage string) {
	*ratio = value
	fs.Var((*Ratio)(ratio), name, usage)
}

// Set implements pflag.Value.
func (r *Ratio) Set(s string) error {
	v, err := parseRatio(s)
	if err == nil {
		*r = Ratio(v)
	}
	return err
}

func (r *Ratio) String() string { return strconv.FormatFloat(float64(*r), 'g', -1, 64) }

// Type implements pflag.Value.
func (r *Ratio) Type() string { return "fraction" }

func (f *Fraction) String() string {
	if !f.Given {
		return ""
	}
	return fmt.Sprint(f.Value)
}

// Type implements pflag.Value.
func (f *Fraction) Type() string { return "fraction" }
