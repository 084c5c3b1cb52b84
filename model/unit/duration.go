// Package unit holds the quantities that every other package speaks of: durations, sizes, costs
// per byte and ranges of counts, with one way to read and to print each of them.
//
// Durations are whole picoseconds, so that results compare with == and never depend on the order
// of a sum. The package knows nothing of machines, schedules or files.
package unit

// Duration is a span of time or a point in time, in whole picoseconds (up to 106 days).
type Duration int64

// The units of time.
const (
	Picosecond  Duration = 1
	Nanosecond           = 1000 * Picosecond
	Microsecond          = 1000 * Nanosecond
	Millisecond          = 1000 * Microsecond
	Second               = 1000 * Millisecond
)
