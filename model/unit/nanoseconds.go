package unit

import "fmt"

// AppendNS appends the duration in nanoseconds: whole ones as an integer, otherwise with up to
// three decimals, never with an exponent.
func (d Duration) AppendNS(dst []byte) []byte {
	dst, v := d.magnitude(dst)
	return appendScaled(dst, v, uint64(Nanosecond))
}

// NS returns what AppendNS appends.
func (d Duration) NS() string { return string(d.AppendNS(make([]byte, 0, 20))) }

// Nanoseconds is a Duration that is written in JSON as an exact number of nanoseconds.
type Nanoseconds Duration

// Short prints it for people, as a Duration.
func (n Nanoseconds) Short() string { return Duration(n).Short() }

// MarshalJSON returns the number of nanoseconds with up to three decimals.
func (n Nanoseconds) MarshalJSON() ([]byte, error) {
	return Duration(n).AppendNS(make([]byte, 0, 20)), nil
}

// UnmarshalJSON reads a number of nanoseconds with up to three decimals, without an exponent.
func (n *Nanoseconds) UnmarshalJSON(data []byte) error {
	text := string(data)
	if text == "null" {
		return nil
	}
	negative := text != "" && text[0] == '-'
	if negative {
		text = text[1:]
	}
	d, rest, ok := cutDecimal(text)
	if !ok || rest != "" {
		return fmt.Errorf("%s is not a number of nanoseconds; write e.g. 1500 or 0.25", quote(string(data)))
	}
	v, fault := d.times(uint64(Nanosecond))
	switch fault {
	case tooFine:
		return fmt.Errorf("%s ns is finer than 1ps; give at most three decimals", quote(string(data)))
	case tooLarge:
		return fmt.Errorf("%s ns is too large; the largest is %s", quote(string(data)), durations.largest)
	}
	if negative {
		v = -v
	}
	*n = Nanoseconds(v)
	return nil
}

// AppendNSList appends a JSON array of durations, given in picoseconds, as exact numbers of
// nanoseconds.
func AppendNSList[T ~int64](dst []byte, list []T) []byte {
	dst = append(dst, '[')
	for i, d := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = Duration(d).AppendNS(dst)
	}
	return append(dst, ']')
}
