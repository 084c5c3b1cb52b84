package campaign

import (
	"fmt"
	"math"
	"strings"
)

// The values of a parameter: numbers and ranges, parted by commas.
//
//	16           one value
//	1..8         1, 2, ... 8
//	100..500 step 100
//	2^1..2^10    powers: 2, 4, ... 1024

// maxValues is how many values a parameter may have.
const maxValues = 10_000

// parseValues reads the values of a parameter.
func parseValues(text string) ([]float64, error) {
	var list []float64
	for _, part := range strings.Split(text, ",") {
		values, err := parseRange(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		if list = append(list, values...); len(list) > maxValues {
			return nil, fmt.Errorf("%q has more than %d values", text, maxValues)
		}
	}
	return list, nil
}

func parseRange(text string) ([]float64, error) {
	from, to, ranged := strings.Cut(text, "..")
	if !ranged {
		base, exponent, power, err := parsePower(text)
		if err != nil {
			return nil, err
		}
		if power {
			base = math.Pow(base, exponent)
		}
		return checkValues(text, []float64{base})
	}
	to, step, stepped := strings.Cut(to, "step")
	b1, e1, power1, err := parsePower(strings.TrimSpace(from))
	if err != nil {
		return nil, err
	}
	b2, e2, power2, err := parsePower(strings.TrimSpace(to))
	if err != nil {
		return nil, err
	}
	by := 1.0
	if stepped {
		if by, err = parseNumber(strings.TrimSpace(step)); err != nil || by <= 0 {
			return nil, fmt.Errorf("%q: the step must be a number above 0", text)
		}
	}
	if power1 != power2 || power1 && b1 != b2 {
		return nil, fmt.Errorf("%q: both ends must be powers of one base, as in 2^1..2^10, or both numbers", text)
	}
	first, last := b1, b2
	if power1 {
		first, last = e1, e2
	}
	n := math.Floor((last-first)/by+1e-9) + 1
	if n < 1 {
		return nil, fmt.Errorf("%q holds no value; the larger end comes last", text)
	}
	if n > maxValues {
		return nil, fmt.Errorf("%q has more than %d values", text, maxValues)
	}
	list := make([]float64, int(n))
	for i := range list {
		if list[i] = first + float64(i)*by; power1 {
			list[i] = math.Pow(b1, list[i])
		}
	}
	return checkValues(text, list)
}

// parsePower reads a number, or a power such as 2^10.
func parsePower(text string) (base, exponent float64, power bool, err error) {
	left, right, power := strings.Cut(text, "^")
	if base, err = parseNumber(left); err != nil {
		return 0, 0, false, fmt.Errorf("%q is neither a number nor a range such as 2^1..2^10", text)
	}
	if power {
		if exponent, err = parseNumber(right); err != nil {
			return 0, 0, false, fmt.Errorf("%q: the exponent must be a number", text)
		}
	}
	return base, exponent, power, nil
}

func checkValues(text string, list []float64) ([]float64, error) {
	for _, x := range list {
		if !(x > 0) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("%q: values must be above 0", text)
		}
	}
	return list, nil
}
