package dataset

import (
	"encoding/binary"
	"math"
)

// appendBits appends a number such that equal numbers give equal bytes.
func appendBits(b []byte, v float64) []byte {
	if v == 0 {
		v = 0 // -0 is 0
	}
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
}
