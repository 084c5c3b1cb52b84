package unit

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// scale is the name of a unit and its worth in the base unit of the quantity.
type scale struct {
	name  string
	worth uint64
}

// quantity describes how one kind of number with a unit is read.
type quantity struct {
	name    string  // in messages, e.g. "duration"
	units   []scale // accepted units
	names   string  // the units, in messages
	plain   uint64  // worth of a number without unit; 0: only the number 0 needs none
	example string  // what to write after a number that lacks its unit
	tooFine string  // what is wrong with a fraction that is finer than the base unit
	largest string  // the largest value, in messages
}

// parse reads a number with a unit exactly: the result is in the base unit, or there is an error.
func (q *quantity) parse(text string) (int64, error) {
	fail := func(format string, args ...any) (int64, error) {
		return 0, fmt.Errorf("%s %s %s", q.name, quote(text), fmt.Sprintf(format, args...))
	}
	switch {
	case text == "":
		return 0, fmt.Errorf("empty %s; write e.g. %s", q.name, q.example)
	case strings.ContainsAny(text, " \t\r\n"):
		return fail("has a blank in it; write number and unit together, e.g. %s", q.example)
	case text[0] == '-':
		return fail("is negative; give 0 or more")
	}
	d, name, ok := cutDecimal(text)
	if !ok {
		return fail("does not begin with a number such as 12 or 0.5; write e.g. %s", q.example)
	}
	worth := q.plain
	if name != "" {
		if worth = q.worth(name); worth == 0 {
			return fail("has the unknown unit %s; use %s", quote(name), q.names)
		}
	} else if worth == 0 {
		if d == (decimal{}) {
			return 0, nil
		}
		return fail("needs a unit; use %s, e.g. %s", q.names, q.example)
	}
	v, fault := d.times(worth)
	switch fault {
	case tooFine:
		return fail("%s", q.tooFine)
	case tooLarge:
		return fail("is too large; the largest is %s", q.largest)
	}
	return v, nil
}

// worth returns the worth of the named unit, 0 if there is none of this name.
func (q *quantity) worth(name string) uint64 {
	for _, u := range q.units {
		if u.name == name {
			return u.worth
		}
	}
	return 0
}

// decimal is a number of at least 0 as it was written: whole + frac / 10^places. The last
// decimal is not 0.
type decimal struct {
	whole  uint64
	frac   uint64
	places int
	huge   bool // whole does not fit
	fine   bool // frac does not fit
}

// maxPlaces is the largest number of decimals whose value always fits into 64 bits.
const maxPlaces = 19

// cutDecimal reads digits [ "." digits ] at the start of text and returns what follows.
func cutDecimal(text string) (d decimal, rest string, ok bool) {
	n := digits(text)
	if n == 0 {
		return d, text, false
	}
	whole, err := strconv.ParseUint(text[:n], 10, 64)
	d.whole, d.huge = whole, err != nil
	rest = text[n:]
	if !strings.HasPrefix(rest, ".") {
		return d, rest, true
	}
	rest = rest[1:]
	n = digits(rest)
	if n == 0 {
		return d, text, false
	}
	frac := strings.TrimRight(rest[:n], "0")
	d.places = len(frac)
	if d.places > maxPlaces {
		d.fine = true
	} else if frac != "" {
		d.frac, _ = strconv.ParseUint(frac, 10, 64) // fits: at most 19 digits
	}
	return d, rest[n:], true
}

// fault is why a decimal has no value as a whole number of base units.
type fault uint8

const (
	tooFine fault = iota + 1
	tooLarge
)

// times returns d * worth if that is a whole number below 2^63.
func (d decimal) times(worth uint64) (int64, fault) {
	if d.huge {
		return 0, tooLarge
	}
	hi, v := bits.Mul64(d.whole, worth)
	if hi != 0 || v > math.MaxInt64 {
		return 0, tooLarge
	}
	if d.fine {
		return 0, tooFine
	}
	if d.frac != 0 {
		power := uint64(1)
		for range d.places {
			power *= 10
		}
		hi, lo := bits.Mul64(d.frac, worth)
		part, rest := bits.Div64(hi, lo, power) // frac < power, so the quotient is below worth
		if rest != 0 {
			return 0, tooFine
		}
		if v += part; v > math.MaxInt64 {
			return 0, tooLarge
		}
	}
	return int64(v), 0
}

// digits counts the decimal digits at the start of text.
func digits(text string) int {
	n := 0
	for n < len(text) && '0' <= text[n] && text[n] <= '9' {
		n++
	}
	return n
}

// quote puts text into quotes for a message, cut if it is long.
func quote(text string) string {
	const longest = 40
	if len(text) > longest {
		text = text[:longest] + "..."
	}
	return strconv.Quote(text)
}

// appendScaled appends v / unit as a decimal number without trailing zeros. unit is a power of
// ten.
func appendScaled(dst []byte, v, unit uint64) []byte {
	dst = strconv.AppendUint(dst, v/unit, 10)
	rest := v % unit
	if rest == 0 {
		return dst
	}
	dst = append(dst, '.')
	for rest != 0 {
		unit /= 10
		dst = append(dst, byte('0'+rest/unit))
		rest %= unit
	}
	return dst
}
