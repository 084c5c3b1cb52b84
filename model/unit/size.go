package unit

import (
	"fmt"
	"strconv"
)

// Size is a number of bytes.
type Size int64

// The units of size.
const (
	Byte Size = 1
	KiB       = 1024 * Byte
	MiB       = 1024 * KiB
	GiB       = 1024 * MiB
	TiB       = 1024 * GiB
)

var sizes = quantity{
	name: "size",
	units: []scale{
		{"B", uint64(Byte)},
		{"KiB", uint64(KiB)}, {"MiB", uint64(MiB)}, {"GiB", uint64(GiB)}, {"TiB", uint64(TiB)},
		{"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12},
	},
	names:   "B, KiB, MiB, GiB, TiB (powers of 1024), kB, MB, GB or TB (powers of 1000)",
	plain:   uint64(Byte),
	example: "64KiB",
	tooFine: "is not a whole number of bytes; write it in B",
	largest: "9223372036854775807B",
}

// ParseSize reads a size such as "64KiB", "1MB" or "65535". A plain number is in bytes. A
// fraction must give whole bytes.
func ParseSize(text string) (Size, error) {
	v, err := sizes.parse(text)
	return Size(v), err
}

// Short returns the size for people: with four digits at most, in the unit that suits it.
func (s Size) Short() string {
	if s < KiB {
		return fmt.Sprintf("%d B", int64(s))
	}
	v, units := float64(s)/float64(KiB), []string{"KiB", "MiB", "GiB", "TiB", "PiB"}
	for v >= 1024 && len(units) > 1 {
		v /= 1024
		units = units[1:]
	}
	return fmt.Sprintf("%.4g %s", v, units[0])
}

// String returns the size in the largest unit of B, KiB, MiB, GiB and TiB that gives a whole number.
func (s Size) String() string {
	units := [...]struct {
		name string
		size Size
	}{{"TiB", TiB}, {"GiB", GiB}, {"MiB", MiB}, {"KiB", KiB}}
	for _, u := range units {
		if s != 0 && s%u.size == 0 {
			return strconv.FormatInt(int64(s/u.size), 10) + u.name
		}
	}
	return strconv.FormatInt(int64(s), 10) + "B"
}
