package otf2

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"

	"slackline/model/trace/damage"
)

// Bytes reads values from a piece of a chunk. What is not there reads as 0 and sets short: newer
// versions append fields, older files lack the last ones.
type Bytes struct {
	Data  []byte
	At    int
	Big   bool // byte order
	Short bool
	Bad   bool // a value is cut off in the middle, or its length is impossible
}

func (r *Bytes) Left() int { return len(r.Data) - r.At }

// Take returns the next n bytes, nil if they are not there.
func (r *Bytes) Take(n uint64) []byte {
	if left := r.Left(); n > uint64(left) {
		r.Short, r.Bad = true, r.Bad || left > 0
		r.At = len(r.Data)
		return nil
	}
	r.At += int(n)
	return r.Data[r.At-int(n) : r.At]
}

func (r *Bytes) U8() uint8 {
	if b := r.Take(1); b != nil {
		return b[0]
	}
	return 0
}

// Full reads a number of n bytes.
func (r *Bytes) Full(n int) uint64 { return assemble(r.Take(uint64(n)), r.Big) }

// assemble returns the number that up to 8 bytes stand for.
func assemble(b []byte, big bool) (v uint64) {
	if big {
		for _, c := range b {
			v = v<<8 | uint64(c)
		}
		return v
	}
	for i, c := range b {
		v |= uint64(c) << (8 * i)
	}
	return v
}

// mask keeps the low bytes of a number, by their count.
var mask = [9]uint64{0, 1<<8 - 1, 1<<16 - 1, 1<<24 - 1, 1<<32 - 1, 1<<40 - 1, 1<<48 - 1, 1<<56 - 1, math.MaxUint64}

// U64 reads a compressed number.
func (r *Bytes) U64() uint64 {
	at := r.At
	if len(r.Data)-at > 8 && !r.Big { // the common case, without branches on the length
		if n := r.Data[at]; n <= 8 {
			r.At = at + 1 + int(n)
			return binary.LittleEndian.Uint64(r.Data[at+1:]) & mask[n]
		}
	}
	return r.slow64()
}

func (r *Bytes) slow64() uint64 {
	switch n := r.U8(); {
	case n == 0xff:
		return Undefined64
	case n > 8:
		r.Short, r.Bad = true, true
		r.At = len(r.Data)
		return 0
	default:
		return assemble(r.Take(uint64(n)), r.Big)
	}
}

// U32 reads a compressed number; undefined is all ones here too. One that is too large is Bad.
func (r *Bytes) U32() uint32 {
	v := r.U64()
	if v > math.MaxUint32 && v != Undefined64 {
		r.Bad = true
	}
	return uint32(v)
}

// str reads bytes up to a 0.
func (r *Bytes) str() string {
	end := bytes.IndexByte(r.Data[r.At:], 0)
	if end < 0 {
		r.Take(Undefined64)
		return ""
	}
	return string(r.Take(uint64(end) + 1)[:end])
}

// length reads the length of a record.
func (r *Bytes) length() uint64 {
	n := uint64(r.U8())
	if n == 0xff {
		n = r.Full(8)
	}
	return n
}

// body returns the bytes of a record after its length.
func (r *Bytes) body() Bytes {
	n := r.length()
	return Bytes{Data: r.Take(n), Big: r.Big}
}

// ErrBad means that a record is not what was written: Bad is set.
var ErrBad = errors.New("a value of the record is cut off, too large, or has an impossible length")

// File reads a file of chunks.
type File struct {
	In   io.Reader
	Show string
	Size int   // of a chunk
	Step int   // what to read first: the size of a small file
	base int64 // where the current chunk begins
	next int64 // and where the next one begins
	sum  uint32
	Bytes
}

// NextChunk moves to the next chunk. io.EOF: there is none.
func (f *File) NextChunk() error {
	f.base = f.next
	// Memory grows with what is there, not with the size that the anchor file tells.
	b := f.Data[:0]
	for len(b) < f.Size {
		n := min(f.Size-len(b), max(f.Step, len(b)))
		b = slices.Grow(b, n)
		got, err := io.ReadFull(f.In, b[len(b):len(b)+n])
		b = b[:len(b)+got]
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			f.Bytes = Bytes{Data: b[:0]}
			return err
		}
	}
	f.next += int64(len(b))
	f.sum = crc32.Update(f.sum, castagnoli, b)
	f.Bytes = Bytes{Data: b}
	if len(b) == 0 {
		return io.EOF
	}
	if len(b) < ChunkHeader {
		f.At = len(b)
		return errCut
	}
	if b[0] != ChunkBegin || b[1] != Little && b[1] != Big {
		return fmt.Errorf("a chunk begins with the bytes % x; is the size of chunks right?", b[:2])
	}
	f.Big = b[1] == Big
	f.At = ChunkHeader
	return nil
}

// Damage gives an error the name of the file and the current place.
func (f *File) Damage(err error) error {
	if errors.Is(err, io.EOF) {
		err = errCut
	}
	return damage.At(f.Show, f.base+int64(f.At), "%v", err)
}

// special handles ids that all files have. It reports whether the current record was one, and returns io.EOF
// at the end of the file.
func (f *File) special(id uint8) (bool, error) {
	switch id {
	case endOfChunk:
		if err := f.NextChunk(); err != nil {
			return true, f.Damage(err)
		}
		return true, nil
	case EndOfBuffer, EndOfFile:
		return true, io.EOF
	case ChunkBegin:
		return true, f.Damage(errors.New("a chunk begins inside of another one"))
	}
	return false, nil
}

// Definition reads the next record of a file of definitions; io.EOF at its end.
func (f *File) Definition() (id uint8, body Bytes, err error) {
	for {
		start := f.At
		id = f.U8()
		if f.Short {
			return 0, body, f.Damage(errCut)
		}
		if special, err := f.special(id); err != nil {
			return 0, body, err
		} else if special {
			continue
		}
		body = f.body()
		if f.Short {
			f.At = start
			return 0, body, f.Damage(errCut)
		}
		return id, body, nil
	}
}

// Event is an event as written in the file.
type Event struct {
	ID         uint8
	Time       uint64
	Value      uint64 // of those without length
	Body       Bytes  // of the others
	Attributes []byte // the list before it, after its length
}

// Event reads the next event; io.EOF at the end of the file. The time and the slices of e are those of
// the event until the next call.
func (f *File) Event(e *Event) error {
	e.Attributes = nil
	for {
		start := f.At
		id := f.U8()
		switch {
		case f.Short:
		case id > AttributeList:
			e.ID = id
			if noLength(id) {
				e.Value = f.U64()
			} else {
				e.Body = f.body()
			}
			if !f.Short {
				return nil
			}
		case id == Timestamp:
			if b := f.Take(8); b != nil && !f.Big {
				e.Time = binary.LittleEndian.Uint64(b)
			} else {
				e.Time = assemble(b, f.Big)
			}
		case id == AttributeList:
			e.Attributes = f.body().Data
		default:
			if special, err := f.special(id); err != nil {
				return err
			} else if !special {
				return f.Damage(fmt.Errorf("there is no record %d", id))
			}
		}
		if f.Short {
			f.At = start
			return f.Damage(errCut)
		}
	}
}
