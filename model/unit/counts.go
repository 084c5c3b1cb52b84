package unit

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// MaxCounts is the largest number of values that ParseCounts returns.
const MaxCounts = 1_000_000

// ParseCounts reads a list of counts. Its terms are joined by commas; the values come in the
// order of the terms. A term is one of
//
//	7         one count
//	2^10      a power
//	a..b      all integers from a to b
//	a..b:s    from a up to b in steps of s
//	a..b*f    from a up to b, each f times the one before
//	2^a..2^b  all powers of 2 from 2^a to 2^b (and so for other bases)
//
// b itself is a value only if the steps meet it. More than MaxCounts values are an error.
func ParseCounts(text string) ([]int, error) {
	var list []int
	for term := range strings.SplitSeq(text, ",") {
		r, err := parseCountRange(term)
		if err == nil {
			list, err = r.appendTo(list)
		}
		if err != nil {
			if term == text {
				return nil, fmt.Errorf("count %s %w", quote(term), err)
			}
			return nil, fmt.Errorf("count %s in %s %w", quote(term), quote(text), err)
		}
	}
	return list, nil
}

// countRange is one term: from, and then by adding step or by multiplying with factor.
type countRange struct {
	from, to     int
	step, factor int // one of them is 0
}

func parseCountRange(term string) (r countRange, err error) {
	first, rest, ranged := strings.Cut(term, "..")
	from, base, err := parseCount(first)
	if err != nil {
		return r, err
	}
	r = countRange{from: from, to: from, step: 1}
	if !ranged {
		return r, nil
	}
	last, by, kind := rest, "", byte(0)
	if i := strings.IndexAny(rest, ":*"); i >= 0 {
		last, by, kind = rest[:i], rest[i+1:], rest[i]
	}
	to, lastBase, err := parseCount(last)
	if err != nil {
		return r, err
	}
	r.to = to
	if to < from {
		return r, fmt.Errorf("goes down; write the smaller end first")
	}
	switch {
	case kind == 0 && base >= 2 && base == lastBase:
		r.step, r.factor = 0, base
	case kind == ':':
		if r.step, _, err = parseCount(by); err == nil && r.step < 1 {
			err = fmt.Errorf("has step %s; give 1 or more after the colon", quote(by))
		}
	case kind == '*':
		r.step = 0
		if r.factor, _, err = parseCount(by); err == nil && r.factor < 2 {
			err = fmt.Errorf("has factor %s; give 2 or more after the star", quote(by))
		}
	}
	if err == nil && r.factor != 0 && from == 0 {
		err = fmt.Errorf("multiplies 0; begin at 1 or more")
	}
	return r, err
}

// appendTo appends the values of the range.
func (r countRange) appendTo(list []int) ([]int, error) {
	for v := r.from; ; {
		if len(list) >= MaxCounts {
			return nil, fmt.Errorf("gives more than %d values; use larger steps or fewer terms", MaxCounts)
		}
		list = append(list, v)
		if r.factor != 0 {
			if v > r.to/r.factor {
				return list, nil
			}
			v *= r.factor
		} else {
			if v > r.to-r.step {
				return list, nil
			}
			v += r.step
		}
	}
}

// parseCount reads digits, or digits "^" digits; base is 0 without a power.
func parseCount(text string) (v, base int, err error) {
	whole, exponent, power := strings.Cut(text, "^")
	v, err = parseDigits(whole)
	if err != nil || !power {
		return v, 0, err
	}
	base = v
	n, err := parseDigits(exponent)
	if err != nil {
		return 0, 0, err
	}
	v = 1
	for ; n > 0 && v != 0; n-- {
		if base > 1 && v > math.MaxInt/base {
			return 0, 0, fmt.Errorf("has %s, which is too large; the largest is %d", quote(text), math.MaxInt)
		}
		if base == 1 {
			break
		}
		v *= base
	}
	return v, base, nil
}

func parseDigits(text string) (int, error) {
	if text == "" || digits(text) != len(text) {
		return 0, fmt.Errorf("has %s where a whole number is needed; write e.g. 64, 32..1024:32 or 2^1..2^20", quote(text))
	}
	v, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("has %s, which is too large; the largest is %d", quote(text), math.MaxInt)
	}
	return v, nil
}
