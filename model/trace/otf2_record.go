package trace

import (
	"encoding/binary"
	"io"
	"math"
	"strings"
)

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
	b     []byte // the chunk in hand
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

// write writes the chunk in hand.
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
