// Package unit holds the quantities that every other package uses: durations, sizes, costs
// per byte and ranges of counts, with one way to read and to print each of them.
//
// Durations are whole picoseconds, so that results compare with == and never depend on the order
// of a sum. Reading is exact: a value that cannot be kept exactly is an error, never rounded. The
// package knows nothing of machines, schedules or files.
package unit

import "time"

// Duration is a span of time or a point in time, in whole picoseconds (up to 106 days).
type Duration int64

// The units of time.
const (
	Picosecond  Duration = 1
	Nanosecond           = 1000 * Picosecond
	Microsecond          = 1000 * Nanosecond
	Millisecond          = 1000 * Microsecond
	Second               = 1000 * Millisecond
	Minute               = 60 * Second
	Hour                 = 60 * Minute
)

var durations = quantity{
	name: "duration",
	units: []scale{
		{"ps", uint64(Picosecond)}, {"ns", uint64(Nanosecond)}, {"us", uint64(Microsecond)},
		{"\u00b5s", uint64(Microsecond)}, {"\u03bcs", uint64(Microsecond)}, // micro sign, Greek mu
		{"ms", uint64(Millisecond)}, {"s", uint64(Second)}, {"min", uint64(Minute)}, {"h", uint64(Hour)},
	},
	names:   "ps, ns, us, ms, s, min or h",
	example: "2.5us",
	tooFine: "is finer than 1ps; round it to whole picoseconds",
	largest: "9223372s (106 days)",
}

// ParseDuration reads a duration such as "2.5us" or "1500ns". Units are ps, ns, us (also µs), ms,
// s, min and h; only 0 may come without one. The value must be a whole number of picoseconds
// of at least 0.
func ParseDuration(text string) (Duration, error) {
	v, err := durations.parse(text)
	return Duration(v), err
}

// tidyUnits are the units that durations are printed in, largest first.
var tidyUnits = [...]struct {
	name string
	size uint64
}{
	{"s", uint64(Second)}, {"ms", uint64(Millisecond)}, {"us", uint64(Microsecond)},
	{"ns", uint64(Nanosecond)}, {"ps", uint64(Picosecond)},
}

// String returns the exact duration in the largest unit of ps, ns, us, ms and s that keeps it at
// 1 or more, e.g. "2.5us". Zero is "0".
func (d Duration) String() string {
	if d == 0 {
		return "0"
	}
	dst, v := d.magnitude(make([]byte, 0, 24))
	for _, u := range tidyUnits {
		if v >= u.size {
			return string(append(appendScaled(dst, v, u.size), u.name...))
		}
	}
	return string(dst) // not reached: v is at least 1ps
}

// Short returns the duration rounded half up to four significant digits, for tables, e.g.
// "157.7us". Whole seconds are never cut.
func (d Duration) Short() string {
	dst, v := d.magnitude(make([]byte, 0, 16))
	if v == 0 {
		return "0"
	}
	if step := roundingStep(v); step > 1 {
		v = (v + step/2) / step * step
	}
	for _, u := range tidyUnits {
		if v >= u.size {
			return string(append(appendScaled(dst, v, u.size), u.name...))
		}
	}
	return string(dst) // not reached: v is at least 1ps
}

// Elapsed prints the time that something took, for people.
func Elapsed(d time.Duration) string { return (Duration(d.Nanoseconds()) * Nanosecond).Short() }

// roundingStep returns the power of ten that leaves four digits of v, at most a second.
func roundingStep(v uint64) uint64 {
	step := uint64(1)
	for v/step >= 10000 && step < uint64(Second) {
		step *= 10
	}
	return step
}

// magnitude appends the sign of d, if it is negative, and returns its absolute value.
func (d Duration) magnitude(dst []byte) ([]byte, uint64) {
	if d < 0 {
		return append(dst, '-'), -uint64(d)
	}
	return dst, uint64(d)
}
