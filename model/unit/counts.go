package unit

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// MaxCounts is the largest number of values that a list may have.
const MaxCounts = 1_000_000

// ParseCounts reads a list of whole numbers of 0 or more. Its terms are separated by commas; the values come in the
// order of the terms. A term is one of
//
//	7              one number
//	2^10           a power
//	a..b           all integers from a to b; a-b is the same, as in CPU lists
//	a..b:s         from a up to b in steps of s
//	a..b*f         from a up to b, each f times the one before
//	2^a..2^b       all powers of 2 from 2^a to 2^b (also with other bases)
//	a..b step s    as a..b:s; between powers of one base: every s-th power
//
// b itself is a value only if the steps hit it. More than MaxCounts values are an error.
func ParseCounts(text string) ([]int, error) { return parseList(text, counts) }

// ParseNumbers reads a list of numbers in the grammar of ParseCounts, without a-b. They may have fractions and exponents,
// and underscores between their digits.
func ParseNumbers(text string) ([]float64, error) { return parseList(text, numbers) }

// ParseInterval reads one term of ParseCounts that is a number or a range of successive integers.
func ParseInterval(text string) (low, high int, err error) {
	p, err := counts.parse(strings.TrimSpace(text))
	if err != nil || p.factor != 0 || p.base != 0 && p.from != p.to || p.step != 1 {
		return 0, 0, fmt.Errorf("expected a number or a range such as 0..15, got %s", quote(text))
	}
	return p.from, p.to, nil
}

// ParseSizes reads a list of sizes: terms of ParseCounts, in bytes, and sizes with a unit such as 64KiB.
func ParseSizes(text string) ([]Size, error) {
	var list []Size
	for term := range strings.SplitSeq(text, ",") {
		if size, err := ParseSize(strings.TrimSpace(term)); err == nil {
			list = append(list, size)
			continue
		}
		values, err := ParseCounts(term)
		if err != nil {
			return nil, fmt.Errorf("expected a list of sizes such as 8,64KiB or 2^3..2^10, got %s", quote(text))
		}
		for _, v := range values {
			list = append(list, Size(v))
		}
	}
	return list, nil
}

// ParseSpan reads FROM:TO, or FROM:TO:N for N evenly spaced values; n is 0 where it is not given. The ends are read by
// parse; the example is for messages.
func ParseSpan[T int64 | Duration | PerByte](text, example string, parse func(string) (T, error)) (from, to T, n int, err error) {
	parts := strings.Split(text, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return 0, 0, 0, fmt.Errorf("expected FROM:TO or FROM:TO:N such as %s, got %s", example, quote(text))
	}
	if from, err = parse(parts[0]); err != nil {
		return 0, 0, 0, err
	}
	if to, err = parse(parts[1]); err != nil {
		return 0, 0, 0, err
	}
	if from >= to {
		return 0, 0, 0, fmt.Errorf("expected the smaller end of a range first, got %s", quote(text))
	}
	if len(parts) == 3 {
		if n, err = parseDigits(parts[2]); err != nil || n < 2 {
			return 0, 0, 0, fmt.Errorf("expected at least 2 values as N in FROM:TO:N, got %s", quote(text))
		}
	}
	return from, to, n, nil
}

// ParseNumber reads a finite number; underscores may separate its digits.
func ParseNumber(text string) (float64, error) {
	x, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
		return 0, fmt.Errorf("expected a number, got %s", quote(text))
	}
	return x, nil
}

var errSyntax = errors.New("a list such as 2,4,8 or 2^1..2^10")

func parseList[N int | float64](text string, g grammar[N]) ([]N, error) {
	var list []N
	for term := range strings.SplitSeq(text, ",") {
		p, err := g.parse(strings.TrimSpace(term))
		if err == nil {
			list, err = g.appendTo(list, p)
		}
		if err == nil && len(list) > MaxCounts {
			err = fmt.Errorf("expected at most %d values, got more with %s", MaxCounts, quote(term))
		}
		if errors.Is(err, errSyntax) {
			return nil, fmt.Errorf("expected %w, got %s", err, quote(text))
		}
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// progression is one term: from, and then by adding step or by multiplying by factor. With a base, from and to are
// exponents.
type progression[N int | float64] struct {
	base, from, to N
	step, factor   N // one of them is 0
}

// grammar holds what differs between whole numbers and others.
type grammar[N int | float64] struct {
	dashes bool // a-b is a range
	number func(text string) (N, error)
	power  func(base, exponent N) (N, error)
	steps  func(span, step N) float64 // how many steps fit into a span
}

var (
	counts  = grammar[int]{true, parseDigits, powerOf, func(span, step int) float64 { return float64(span / step) }}
	numbers = grammar[float64]{false,
		func(text string) (float64, error) {
			x, err := ParseNumber(text)
			if err != nil {
				return 0, errSyntax
			}
			return x, nil
		},
		func(base, exponent float64) (float64, error) { return math.Pow(base, exponent), nil },
		func(span, step float64) float64 { return math.Floor(span/step + 1e-9) }} // 0.1..0.3:0.1 has 3 values
)

func (g grammar[N]) parse(term string) (p progression[N], err error) {
	first, rest, ranged := strings.Cut(term, "..")
	if !ranged && g.dashes {
		first, rest, ranged = strings.Cut(term, "-")
	}
	last, by, kind := rest, "", ""
	for _, k := range []string{":", "*", "step"} {
		if before, after, found := strings.Cut(rest, k); found {
			last, by, kind = before, after, k
		}
	}
	if !ranged {
		last = first
	}
	from, base, exponent, err := g.parseEnd(first)
	if err != nil {
		return p, err
	}
	to, lastBase, lastExponent, err := g.parseEnd(last)
	if err != nil {
		return p, err
	}
	p = progression[N]{from: from, to: to, step: 1}
	if ranged && base > 1 && base == lastBase && (kind == "" || kind == "step") {
		p.base, p.from, p.to = base, exponent, lastExponent
	}
	if kind != "" {
		if p.step, err = g.number(strings.TrimSpace(by)); err != nil {
			return p, err
		}
	}
	switch {
	case kind == "" && base > 1 && lastBase > 1 && base != lastBase:
		err = fmt.Errorf("expected powers of one base, got %s; write %v..%v for all numbers between", quote(term), from, to)
	case p.to < p.from:
		err = fmt.Errorf("expected the smaller end of a range first, got %s", quote(term))
	case kind == "*":
		p.step, p.factor = 0, p.step
		if p.factor <= 1 {
			err = fmt.Errorf("expected a factor above 1 after the star, got %s", quote(term))
		} else if p.from <= 0 {
			err = fmt.Errorf("expected products to start above 0, got %s", quote(term))
		}
	case p.step <= 0:
		err = fmt.Errorf("expected a step above 0, got %s", quote(term))
	}
	return p, err
}

// appendTo appends the values of a progression, at most one more than a list may have.
func (g grammar[N]) appendTo(list []N, p progression[N]) ([]N, error) {
	room := MaxCounts + 1 - len(list)
	if p.factor != 0 {
		for v := p.from; room > 0; v, room = v*p.factor, room-1 {
			list = append(list, v)
			if v > p.to/p.factor {
				break
			}
		}
		return list, nil
	}
	for i := range int(min(g.steps(p.to-p.from, p.step)+1, float64(room))) {
		v := p.from + N(i)*p.step
		if p.base != 0 {
			var err error
			if v, err = g.power(p.base, v); err != nil {
				return nil, err
			}
		}
		list = append(list, v)
	}
	return list, nil
}

// parseEnd reads a number, or a power such as 2^10; base is 0 without a power.
func (g grammar[N]) parseEnd(text string) (v, base, exponent N, err error) {
	whole, raised, power := strings.Cut(strings.TrimSpace(text), "^")
	if v, err = g.number(whole); err != nil || !power {
		return v, 0, 0, err
	}
	base = v
	if exponent, err = g.number(raised); err == nil {
		v, err = g.power(base, exponent)
	}
	return v, base, exponent, err
}

func powerOf(base, exponent int) (int, error) {
	v := 1
	for n := exponent; n > 0 && v != 0 && base != 1; n-- {
		if base > 1 && v > math.MaxInt/base {
			return 0, fmt.Errorf("expected numbers up to %d, got %d^%d", math.MaxInt, base, exponent)
		}
		v *= base
	}
	return v, nil
}

func parseDigits(text string) (int, error) {
	if text == "" || digits(text) != len(text) {
		return 0, errSyntax
	}
	v, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("expected numbers up to %d, got %s", math.MaxInt, quote(text))
	}
	return v, nil
}
