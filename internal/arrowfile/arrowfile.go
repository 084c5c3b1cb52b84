// Package arrowfile writes tables in the file format of Arrow IPC, with a footer, so that readers can map them and take single
// batches of rows: numbers, truth values and dictionary-encoded strings, each of which may be missing. Buffers start at multiples
// of 64 bytes in the file.
//
// Dictionaries precede all rows, so that a file can also be read from front to back: their strings must be known before the first
// row is added. Arrow allows for parts of dictionaries between the rows, too, but not every reader takes them.
package arrowfile

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
	"unsafe"
)

// Type is the type of a column.
type Type uint8

// The types.
const (
	Bool Type = iota
	Int32
	Int64
	Float64
	String
)

// Field describes a column.
type Field struct {
	Name     string
	Type     Type
	Nullable bool
	Metadata [][2]string // pairs of key and value
}

// Writer writes a file. All its strings are appended to their columns first, then WriteSchema is called, then the values of all
// rows are appended to all columns and written by Flush, which bounds what is held in memory, then Close is called.
type Writer struct {
	Columns []Column

	to      *bufio.Writer
	at      int64
	schema  table
	texts   structs // blocks of the dictionaries
	batches structs // blocks of the rows
	err     error
}

// Column takes the values of a column, those of one batch at a time.
type Column struct {
	kind     Type
	nullable bool
	rows     int
	nulls    int64
	valid    []byte // a bit for each row, if values may be missing
	values   []byte

	// Strings that are appended before the dictionary is complete become a part of it, and are no rows.
	complete bool
	texts    []string
	index    map[string]int32 // of the texts
	recent   [256]recent      // by address of the text
}

// recent is a string that was looked up: most callers have few, and append the same ones again and again.
type recent struct {
	text  *byte
	size  int
	index int32
}

// magic begins and ends a file.
const magic = "ARROW1"

// alignment is that of buffers in the file, for vector instructions on mapped files.
const alignment = 64

// version is that of the metadata: Arrow 1.0 and later.
const version = int16(4)

// NewWriter returns a writer of a file with columns and metadata.
func NewWriter(w io.Writer, fields []Field, metadata [][2]string) *Writer {
	f := &Writer{to: bufio.NewWriterSize(w, 1<<16), texts: structs{words: 3}, batches: structs{words: 3}}
	list := make([]table, len(fields))
	for i, field := range fields {
		c := Column{kind: field.Type, nullable: field.Nullable}
		number, kind := typeOf(field.Type)
		var dictionary any
		if field.Type == String {
			c.index = map[string]int32{}
			_, position := typeOf(Int32)
			dictionary = table{int64(i), position}
		}
		list[i] = table{field.Name, field.Nullable, number, kind, dictionary, []table{}, pairs(field.Metadata)}
		f.Columns = append(f.Columns, c)
	}
	f.schema = table{int16(0), list, pairs(metadata)}
	return f
}

// typeOf is the number and the table of a type in the metadata.
func typeOf(t Type) (uint8, table) {
	switch t {
	case Bool:
		return 6, table{}
	case Int32:
		return 2, table{int32(32), true}
	case Int64:
		return 2, table{int32(64), true}
	case Float64:
		return 3, table{int16(2)}
	}
	return 5, table{}
}

func pairs(list [][2]string) []table {
	tables := make([]table, len(list))
	for i, p := range list {
		tables[i] = table{p[0], p[1]}
	}
	return tables
}

// AppendNull appends a missing value. It panics if none may be missing.
func (c *Column) AppendNull() {
	if !c.nullable {
		panic("arrowfile: a value is missing in a column that is not nullable")
	}
	if c.kind == String && !c.complete {
		return
	}
	c.nulls++
	switch c.kind {
	case Bool:
		c.values = appendBit(c.values, c.rows, false)
	case Int32, String:
		c.values = append(c.values, 0, 0, 0, 0)
	default:
		c.values = append(c.values, 0, 0, 0, 0, 0, 0, 0, 0)
	}
	c.row(false)
}

func (c *Column) row(valid bool) {
	if c.nullable {
		c.valid = appendBit(c.valid, c.rows, valid)
	}
	c.rows++
}

func appendBit(bits []byte, n int, v bool) []byte {
	if n%8 == 0 {
		bits = append(bits, 0)
	}
	bits[n/8] |= bit(v) << (n % 8)
	return bits
}

// AppendBool appends a truth value.
func (c *Column) AppendBool(v bool) {
	c.values = appendBit(c.values, c.rows, v)
	c.row(true)
}

// AppendInt appends an integer of 32 or 64 bits.
func (c *Column) AppendInt(v int64) {
	if c.kind == Int32 {
		c.values = binary.LittleEndian.AppendUint32(c.values, uint32(v))
	} else {
		c.values = binary.LittleEndian.AppendUint64(c.values, uint64(v))
	}
	c.row(true)
}

// AppendFloat appends a floating-point number.
func (c *Column) AppendFloat(v float64) {
	c.values = binary.LittleEndian.AppendUint64(c.values, math.Float64bits(v))
	c.row(true)
}

// AppendText appends a string: before WriteSchema to the dictionary, if it is not there, and then as a value. It panics if the
// dictionary does not have the value.
func (c *Column) AppendText(text string) {
	address := unsafe.StringData(text)
	r := &c.recent[uintptr(unsafe.Pointer(address))/8%uintptr(len(c.recent))]
	if address == nil || r.text != address || r.size != len(text) {
		*r = recent{address, len(text), c.lookup(text)}
	}
	if c.complete {
		c.values = binary.LittleEndian.AppendUint32(c.values, uint32(r.index))
		c.row(true)
	}
}

// lookup is the place of a string in the dictionary.
func (c *Column) lookup(text string) int32 {
	at, ok := c.index[text]
	if !ok {
		if c.complete {
			panic("arrowfile: " + text + " is not in the dictionary")
		}
		at = int32(len(c.texts))
		c.index[text] = at
		c.texts = append(c.texts, text)
	}
	return at
}

// write writes bytes, after an error nothing.
func (f *Writer) write(p []byte) {
	if f.err == nil {
		_, f.err = f.to.Write(p)
	}
	f.at += int64(len(p))
}

var zeros [alignment]byte

// pad writes zeros up to a multiple of the alignment.
func (f *Writer) pad() { f.write(zeros[:padding(f.at, alignment)]) }

// The kinds of messages.
const (
	aSchema     = uint8(1)
	aDictionary = uint8(2)
	aBatch      = uint8(3)
)

// message writes a message with its buffers, and returns its block in the footer.
func (f *Writer) message(kind uint8, header table, buffers ...[]byte) []int64 {
	size := int64(0)
	for _, b := range buffers {
		size += padded(b)
	}
	data := encode(table{version, kind, header, size})
	begin := f.at
	prefix := binary.LittleEndian.AppendUint32(nil, math.MaxUint32)
	length := int64(len(data)) + padding(begin+8+int64(len(data)), alignment)
	f.write(binary.LittleEndian.AppendUint32(prefix, uint32(length)))
	f.write(data)
	f.pad()
	for _, b := range buffers {
		f.write(b)
		f.pad()
	}
	return []int64{begin, 8 + length, size}
}

// padded is how much space a buffer takes.
func padded(b []byte) int64 { return int64(len(b)) + padding(int64(len(b)), alignment) }

// batch describes rows, whose columns have pairs of lengths and numbers of missing values, and their buffers.
func batch(rows int, nodes []int64, buffers [][]byte) table {
	places := structs{words: 2}
	at := int64(0)
	for _, b := range buffers {
		places.list = append(places.list, at, int64(len(b)))
		at += padded(b)
	}
	return table{int64(rows), structs{2, nodes}, places}
}

// WriteSchema writes the description of the columns and the dictionaries.
func (f *Writer) WriteSchema() error {
	f.write([]byte(magic + "\x00\x00"))
	f.message(aSchema, f.schema)
	for i := range f.Columns {
		c := &f.Columns[i]
		if c.complete = true; c.kind != String {
			continue
		}
		offsets, data := make([]byte, 4, 4+4*len(c.texts)), []byte(nil)
		for _, text := range c.texts {
			data = append(data, strings.ToValidUTF8(text, "\uFFFD")...)
			if len(data) > math.MaxInt32 {
				return fmt.Errorf("the strings of a column take more than %d bytes", math.MaxInt32)
			}
			offsets = binary.LittleEndian.AppendUint32(offsets, uint32(len(data)))
		}
		buffers := [][]byte{nil, offsets, data}
		f.texts.list = append(f.texts.list, f.message(aDictionary,
			table{int64(i), batch(len(c.texts), []int64{int64(len(c.texts)), 0}, buffers), false}, buffers...)...)
	}
	return f.err
}

// Rows is the number of rows that were appended since the last batch.
func (f *Writer) Rows() int {
	if len(f.Columns) == 0 {
		return 0
	}
	return f.Columns[0].rows
}

// Flush writes what was appended to the columns as a batch, if there is anything. It panics if they do not have the same number of
// rows.
func (f *Writer) Flush() error {
	rows := f.Rows()
	if rows == 0 {
		return f.err
	}
	var nodes []int64
	var buffers [][]byte
	for i := range f.Columns {
		c := &f.Columns[i]
		if c.rows != rows {
			panic(fmt.Sprintf("arrowfile: %d rows in column %d, %d in the first", c.rows, i, rows))
		}
		nodes = append(nodes, int64(rows), c.nulls)
		if c.nulls == 0 {
			c.valid = c.valid[:0]
		}
		buffers = append(buffers, c.valid, c.values)
	}
	f.batches.list = append(f.batches.list, f.message(aBatch, batch(rows, nodes, buffers), buffers...)...)
	for i := range f.Columns {
		c := &f.Columns[i]
		c.rows, c.nulls, c.valid, c.values = 0, 0, c.valid[:0], c.values[:0]
	}
	return f.err
}

// Close writes the last batch and the footer. It does not close the file below.
func (f *Writer) Close() error {
	if err := f.Flush(); err != nil {
		return err
	}
	f.write([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}) // the end of the messages
	footer := encode(table{version, f.schema, f.texts, f.batches})
	f.write(footer)
	f.write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(footer))), magic...))
	if f.err != nil {
		return f.err
	}
	return f.to.Flush()
}
