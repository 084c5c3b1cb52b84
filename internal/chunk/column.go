package chunk

import "encoding/binary"

// Column reads numbers from a piece of a chunk. It never reads past the end: Bad is set then,
// and when a number is too large.
type Column struct {
	B   []byte
	At  int
	Bad bool
}

// Left is the number of bytes that have not been read.
func (c *Column) Left() int { return len(c.B) - c.At }

// Uint reads an unsigned LEB128 number of up to 64 bits.
func (c *Column) Uint() uint64 {
	if at := c.At; at < len(c.B) && c.B[at] < 0x80 {
		c.At++
		return uint64(c.B[at])
	}
	return c.LongUint()
}

// LongUint is Uint for numbers of several bytes.
func (c *Column) LongUint() uint64 {
	v, n := binary.Uvarint(c.B[c.At:])
	if n <= 0 {
		c.fail()
		return 0
	}
	c.At += n
	return v
}

// Int reads a number in zigzag form.
func (c *Column) Int() int64 { return Unzigzag(c.Uint()) }

// Bytes returns the next n bytes, or nothing if they are not there.
func (c *Column) Bytes(n uint64) []byte {
	if n > uint64(c.Left()) {
		c.fail()
		return nil
	}
	c.At += int(n)
	return c.B[c.At-int(n) : c.At]
}

// Uint64 reads a number of eight bytes.
func (c *Column) Uint64() uint64 {
	if b := c.Bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// Byte reads a byte.
func (c *Column) Byte() byte {
	if b := c.Bytes(1); b != nil {
		return b[0]
	}
	return 0
}

// String reads a length and as many bytes.
func (c *Column) String() string { return string(c.Bytes(c.Uint())) }

func (c *Column) fail() {
	c.Bad = true
	c.At = len(c.B)
}

// AppendString appends what String reads.
func AppendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// AppendInt appends what Int reads.
func AppendInt(b []byte, v int64) []byte { return binary.AppendUvarint(b, Zigzag(v)) }

// Zigzag maps 0, -1, 1, -2, ... to 0, 1, 2, 3, ...
func Zigzag(v int64) uint64 { return uint64(v)<<1 ^ uint64(v>>63) }

// Unzigzag is the inverse of Zigzag.
func Unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }
