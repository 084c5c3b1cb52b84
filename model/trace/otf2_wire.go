package trace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"slackline/model/trace/damage"
)

// otf2Bytes reads values from a piece of a chunk. What is not there reads as 0 and sets short: newer
// versions append fields, older files lack the last ones.
type otf2Bytes struct {
	b     []byte
	at    int
	big   bool // byte order
	short bool
}

func (r *otf2Bytes) left() int { return len(r.b) - r.at }

// take returns the next n bytes, nil if they are not there.
func (r *otf2Bytes) take(n uint64) []byte {
	if n > uint64(r.left()) {
		r.short = true
		r.at = len(r.b)
		return nil
	}
	r.at += int(n)
	return r.b[r.at-int(n) : r.at]
}

func (r *otf2Bytes) u8() uint8 {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

// full reads a number of n bytes.
func (r *otf2Bytes) full(n int) uint64 { return assemble(r.take(uint64(n)), r.big) }

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

// otf2Mask keeps the low bytes of a number, by their count.
var otf2Mask = [9]uint64{0, 1<<8 - 1, 1<<16 - 1, 1<<24 - 1, 1<<32 - 1, 1<<40 - 1, 1<<48 - 1, 1<<56 - 1, math.MaxUint64}

// u64 reads a compressed number.
func (r *otf2Bytes) u64() uint64 {
	at := r.at
	if len(r.b)-at > 8 && !r.big { // the common case, without branches on the length
		if n := r.b[at]; n <= 8 {
			r.at = at + 1 + int(n)
			return binary.LittleEndian.Uint64(r.b[at+1:]) & otf2Mask[n]
		}
	}
	return r.slow64()
}

func (r *otf2Bytes) slow64() uint64 {
	switch n := r.u8(); {
	case n == 0xff:
		return undefined64
	case n > 8:
		r.short = true
		r.at = len(r.b)
		return 0
	default:
		return assemble(r.take(uint64(n)), r.big)
	}
}

// u32 reads a compressed number; undefined is all ones here too.
func (r *otf2Bytes) u32() uint32 { return uint32(r.u64()) }

// str reads bytes up to a 0.
func (r *otf2Bytes) str() string {
	end := bytes.IndexByte(r.b[r.at:], 0)
	if end < 0 {
		r.take(undefined64)
		return ""
	}
	return string(r.take(uint64(end) + 1)[:end])
}

// length reads the length of a record.
func (r *otf2Bytes) length() uint64 {
	n := uint64(r.u8())
	if n == 0xff {
		n = r.full(8)
	}
	return n
}

// body returns the bytes of a record after its length.
func (r *otf2Bytes) body() otf2Bytes {
	n := r.length()
	return otf2Bytes{b: r.take(n), big: r.big}
}

// otf2File reads a file of chunks.
type otf2File struct {
	in   io.Reader
	show string
	size int   // of a chunk
	step int   // what to read first: the size of a small file
	base int64 // where the current chunk begins
	next int64 // and where the next one begins
	otf2Bytes
}

// nextChunk moves to the next chunk. io.EOF: there is none.
func (f *otf2File) nextChunk() error {
	f.base = f.next
	// Memory grows with what is there, not with the size that the anchor file tells.
	b := f.b[:0]
	for len(b) < f.size {
		n := min(f.size-len(b), max(f.step, len(b)))
		b = slices.Grow(b, n)
		got, err := io.ReadFull(f.in, b[len(b):len(b)+n])
		b = b[:len(b)+got]
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			f.otf2Bytes = otf2Bytes{b: b[:0]}
			return err
		}
	}
	f.next += int64(len(b))
	f.otf2Bytes = otf2Bytes{b: b}
	if len(b) == 0 {
		return io.EOF
	}
	if len(b) < otf2ChunkHeader {
		f.at = len(b)
		return errOTF2Cut
	}
	if b[0] != otf2ChunkBegin || b[1] != otf2Little && b[1] != otf2Big {
		return fmt.Errorf("a chunk begins with the bytes % x; is the size of chunks right?", b[:2])
	}
	f.big = b[1] == otf2Big
	f.at = otf2ChunkHeader
	return nil
}

// damage gives an error the name of the file and the current place.
func (f *otf2File) damage(err error) error {
	if errors.Is(err, io.EOF) {
		err = errOTF2Cut
	}
	return damage.At(f.show, f.base+int64(f.at), "%v", err)
}

// special handles ids that all files have. It reports whether the current record was one, and returns io.EOF
// at the end of the file.
func (f *otf2File) special(id uint8) (bool, error) {
	switch id {
	case otf2EndOfChunk:
		if err := f.nextChunk(); err != nil {
			return true, f.damage(err)
		}
		return true, nil
	case otf2EndOfBuffer, otf2EndOfFile:
		return true, io.EOF
	case otf2ChunkBegin:
		return true, f.damage(errors.New("a chunk begins inside of another one"))
	}
	return false, nil
}

// definition reads the next record of a file of definitions; io.EOF at its end.
func (f *otf2File) definition() (id uint8, body otf2Bytes, err error) {
	for {
		start := f.at
		id = f.u8()
		if f.short {
			return 0, body, f.damage(errOTF2Cut)
		}
		if special, err := f.special(id); err != nil {
			return 0, body, err
		} else if special {
			continue
		}
		body = f.body()
		if f.short {
			f.at = start
			return 0, body, f.damage(errOTF2Cut)
		}
		return id, body, nil
	}
}

// otf2Event is an event as written in the file.
type otf2Event struct {
	id         uint8
	time       uint64
	value      uint64    // of those without length
	body       otf2Bytes // of the others
	attributes []byte    // the list before it, after its length
}

// event reads the next event; io.EOF at the end of the file. The time and the slices of e are those of
// the event until the next call.
func (f *otf2File) event(e *otf2Event) error {
	e.attributes = nil
	for {
		start := f.at
		id := f.u8()
		switch {
		case f.short:
		case id > otf2Attributes:
			e.id = id
			if noLength(id) {
				e.value = f.u64()
			} else {
				e.body = f.body()
			}
			if !f.short {
				return nil
			}
		case id == otf2Timestamp:
			if b := f.take(8); b != nil && !f.big {
				e.time = binary.LittleEndian.Uint64(b)
			} else {
				e.time = assemble(b, f.big)
			}
		case id == otf2Attributes:
			e.attributes = f.body().b
		default:
			if special, err := f.special(id); err != nil {
				return err
			} else if !special {
				return f.damage(fmt.Errorf("there is no record %d", id))
			}
		}
		if f.short {
			f.at = start
			return f.damage(errOTF2Cut)
		}
	}
}

// otf2Record builds the fields of a record, little-endian.
type otf2Record struct {
	b    []byte
	most int // the largest length that fields of these types can have
}

func (r *otf2Record) reset() { r.b, r.most = r.b[:0], 0 }

func (r *otf2Record) u8(values ...uint8) {
	r.b = append(r.b, values...)
	r.most += len(values)
}

// u32 and u64 write compressed numbers.
func (r *otf2Record) u32(values ...uint32) {
	for _, v := range values {
		r.most += 5
		r.compressed(uint64(v), v == undefined32)
	}
}

func (r *otf2Record) u64(values ...uint64) {
	for _, v := range values {
		r.most += 9
		r.compressed(v, v == undefined64)
	}
}

func (r *otf2Record) compressed(v uint64, undefined bool) {
	if undefined {
		r.b = append(r.b, 0xff)
		return
	}
	at := len(r.b)
	r.b = append(r.b, 0)
	for ; v > 0; v >>= 8 {
		r.b = append(r.b, byte(v))
	}
	r.b[at] = byte(len(r.b) - at - 1)
}

func (r *otf2Record) full32(v uint32) {
	r.b = binary.LittleEndian.AppendUint32(r.b, v)
	r.most += 4
}

func (r *otf2Record) full64(values ...uint64) {
	for _, v := range values {
		r.b = binary.LittleEndian.AppendUint64(r.b, v)
		r.most += 8
	}
}

func (r *otf2Record) f64(v float64) { r.full64(math.Float64bits(v)) }

// str writes a text; bytes 0, which would end it, are left out.
func (r *otf2Record) str(texts ...string) {
	for _, s := range texts {
		s = strings.ReplaceAll(s, "\x00", "")
		r.b = append(append(r.b, s...), 0)
		r.most += len(s) + 1
	}
}

// otf2Chunks writes a file of chunks.
type otf2Chunks struct {
	w     io.Writer
	size  int
	b     []byte // the current chunk
	count uint64 // records written; of definitions they are not counted
	plain bool   // a file of definitions
	err   error
}

// newOTF2Chunks begins a file. definitions says which kind of file it is.
func newOTF2Chunks(w io.Writer, size int, definitions bool) *otf2Chunks {
	c := &otf2Chunks{w: w, size: size, plain: definitions}
	c.begin()
	return c
}

// begin begins a chunk.
func (c *otf2Chunks) begin() {
	c.b = append(c.b[:0], otf2ChunkBegin, otf2Little)
	c.b = binary.LittleEndian.AppendUint64(c.b, c.count+1)
	c.b = binary.LittleEndian.AppendUint64(c.b, 0)
}

// write writes the current chunk.
func (c *otf2Chunks) write() {
	if !c.plain {
		binary.LittleEndian.PutUint64(c.b[10:], c.count)
	}
	if c.err == nil {
		_, c.err = c.w.Write(c.b)
	}
}

// room makes room for n bytes and the end of the file. It reports whether that needed a new chunk.
func (c *otf2Chunks) room(n int) bool {
	if len(c.b)+n+2 <= c.size {
		return false
	}
	for len(c.b) < c.size {
		c.b = append(c.b, otf2EndOfChunk)
	}
	c.write()
	c.begin()
	return true
}

// frame is the largest number of bytes before the fields of a record: id and length.
const otf2Frame = 10

// record writes a record with a length.
func (c *otf2Chunks) record(id uint8, r *otf2Record) {
	c.b = append(c.b, id)
	if r.most < 255 {
		c.b = append(c.b, byte(len(r.b)))
	} else {
		c.b = binary.LittleEndian.AppendUint64(append(c.b, 0xff), uint64(len(r.b)))
	}
	c.b = append(c.b, r.b...)
}

// finish ends the file.
func (c *otf2Chunks) finish() error {
	c.b = append(c.b, otf2EndOfFile, otf2EndOfBuffer)
	c.write()
	return c.err
}
