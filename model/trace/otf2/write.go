package otf2

import (
	"encoding/binary"
	"io"
	"math"
	"strings"
)

// Record builds the fields of a record, little-endian.
type Record struct {
	Data []byte
	Most int // the largest length that fields of these types can have
}

func (r *Record) Reset() { r.Data, r.Most = r.Data[:0], 0 }

func (r *Record) U8(values ...uint8) {
	r.Data = append(r.Data, values...)
	r.Most += len(values)
}

// U32 and u64 write compressed numbers.
func (r *Record) U32(values ...uint32) {
	for _, v := range values {
		r.Most += 5
		r.compressed(uint64(v), v == Undefined32)
	}
}

func (r *Record) U64(values ...uint64) {
	for _, v := range values {
		r.Most += 9
		r.compressed(v, v == Undefined64)
	}
}

func (r *Record) compressed(v uint64, undefined bool) {
	if undefined {
		r.Data = append(r.Data, 0xff)
		return
	}
	at := len(r.Data)
	r.Data = append(r.Data, 0)
	for ; v > 0; v >>= 8 {
		r.Data = append(r.Data, byte(v))
	}
	r.Data[at] = byte(len(r.Data) - at - 1)
}

func (r *Record) full32(v uint32) {
	r.Data = binary.LittleEndian.AppendUint32(r.Data, v)
	r.Most += 4
}

func (r *Record) Full64(values ...uint64) {
	for _, v := range values {
		r.Data = binary.LittleEndian.AppendUint64(r.Data, v)
		r.Most += 8
	}
}

func (r *Record) F64(v float64) { r.Full64(math.Float64bits(v)) }

// str writes a text; bytes 0, which would end it, are left out.
func (r *Record) str(texts ...string) {
	for _, s := range texts {
		s = strings.ReplaceAll(s, "\x00", "")
		r.Data = append(append(r.Data, s...), 0)
		r.Most += len(s) + 1
	}
}

// Writer writes a file of chunks.
type Writer struct {
	w      io.Writer
	size   int
	Buffer []byte // the current chunk
	Count  uint64 // records written; of definitions they are not counted
	plain  bool   // a file of definitions
	Err    error
}

// NewWriter begins a file. definitions says which kind of file it is.
func NewWriter(w io.Writer, size int, definitions bool) *Writer {
	c := &Writer{w: w, size: size, plain: definitions}
	c.begin()
	return c
}

// begin begins a chunk.
func (c *Writer) begin() {
	c.Buffer = append(c.Buffer[:0], ChunkBegin, Little)
	c.Buffer = binary.LittleEndian.AppendUint64(c.Buffer, c.Count+1)
	c.Buffer = binary.LittleEndian.AppendUint64(c.Buffer, 0)
}

// write writes the current chunk.
func (c *Writer) write() {
	if !c.plain {
		binary.LittleEndian.PutUint64(c.Buffer[10:], c.Count)
	}
	if c.Err == nil {
		_, c.Err = c.w.Write(c.Buffer)
	}
}

// Room makes room for n bytes and the end of the file. It reports whether that needed a new chunk.
func (c *Writer) Room(n int) bool {
	if len(c.Buffer)+n+2 <= c.size {
		return false
	}
	for len(c.Buffer) < c.size {
		c.Buffer = append(c.Buffer, endOfChunk)
	}
	c.write()
	c.begin()
	return true
}

// Frame is the largest number of bytes before the fields of a record: id and length.
const Frame = 10

// Record writes a record with a length.
func (c *Writer) Record(id uint8, r *Record) {
	c.Buffer = append(c.Buffer, id)
	if r.Most < 255 {
		c.Buffer = append(c.Buffer, byte(len(r.Data)))
	} else {
		c.Buffer = binary.LittleEndian.AppendUint64(append(c.Buffer, 0xff), uint64(len(r.Data)))
	}
	c.Buffer = append(c.Buffer, r.Data...)
}

// Finish ends the file.
func (c *Writer) Finish() error {
	c.Buffer = append(c.Buffer, EndOfFile, EndOfBuffer)
	c.write()
	return c.Err
}

// DefinitionWriter collects the global definitions.
type DefinitionWriter struct {
	Records [][]byte // id, then the fields
	Most    []int    // how long the fields could be
	Strings map[string]uint32
	texts   uint32 // strings so far
}

// Add adds a record; f writes its fields.
func (d *DefinitionWriter) Add(id uint8, f func(r *Record)) {
	r := Record{Data: []byte{id}}
	f(&r)
	d.Records = append(d.Records, r.Data)
	d.Most = append(d.Most, r.Most)
}

// Text returns the reference of a string.
func (d *DefinitionWriter) Text(s string) uint32 {
	if id, ok := d.Strings[s]; ok {
		return id
	}
	return d.NewText(s)
}

// NewText defines a string, also if it is known.
func (d *DefinitionWriter) NewText(s string) uint32 {
	id := d.texts
	d.texts++
	d.Strings[s] = id
	d.Add(DefString, func(r *Record) {
		r.U32(id)
		r.str(s)
	})
	return id
}

// Group defines a group.
func (d *DefinitionWriter) Group(id uint32, kind, paradigm uint8, members []uint64) {
	legacy := uint8(0)
	if paradigm == ParadigmMPI {
		legacy = map[uint8]uint8{GroupCommLocations: 6, GroupCommGroup: 4}[kind]
	}
	d.Add(DefGroup, func(r *Record) {
		r.U32(id, 0) // no name
		r.U8(legacy)
		r.U32(uint32(len(members)))
		r.U64(members...)
		r.U8(kind, paradigm)
		r.U32(0) // flags
	})
}

// Comm defines a communicator without parent.
func (d *DefinitionWriter) Comm(id, name, group, flags uint32) {
	d.Add(DefComm, func(r *Record) { r.U32(id, name, group, Undefined32, flags) })
}
