package unit

// Size is a number of bytes.
type Size int64

// The units of size.
const (
	Byte Size = 1
	KiB       = 1024 * Byte
	MiB       = 1024 * KiB
	GiB       = 1024 * MiB
)
