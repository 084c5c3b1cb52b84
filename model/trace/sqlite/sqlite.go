// Package sqlite reads the tables of SQLite databases, row by row: the b-trees of tables with row ids, as the file format of SQLite 3
// defines them (https://www.sqlite.org/fileformat2.html). It knows no indices, no queries and no journals. What is damaged ends a table
// with an error; the rows before it are valid.
package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// Magic is what a database begins with.
const Magic = "SQLite format 3\x00"

// DB is a database.
type DB struct {
	file     io.ReaderAt
	pages    int64 // in the file
	size     int   // of a page
	usable   int   // bytes of a page without what is reserved
	Tables   map[string]*Table
	overflow []byte
}

// Table is a table.
type Table struct {
	Name    string
	Columns map[string]int // by name: place in a row
	db      *DB
	root    int64
	rowID   int // the column that stands for the row id, -1: none
}

// limits of what a file may demand
const (
	maxDepth  = 40
	maxRecord = 64 << 20
)

// Open reads what tables there are.
func Open(file io.ReaderAt, size int64) (*DB, error) {
	head := make([]byte, 100)
	if _, err := file.ReadAt(head, 0); err != nil || string(head[:16]) != Magic {
		return nil, errors.New("the file is not a database of SQLite")
	}
	db := &DB{file: file, size: int(binary.BigEndian.Uint16(head[16:])), Tables: map[string]*Table{}}
	if db.size == 1 {
		db.size = 1 << 16
	}
	if db.size < 512 || db.size&(db.size-1) != 0 {
		return nil, fmt.Errorf("the size of a page is %d", db.size)
	}
	if db.usable = db.size - int(head[20]); db.usable < 480 {
		return nil, fmt.Errorf("%d bytes of each page are reserved", head[20])
	}
	if encoding := binary.BigEndian.Uint32(head[56:]); encoding > 1 {
		return nil, errors.New("its text is UTF-16; export it again with UTF-8")
	}
	db.pages = (size + int64(db.size) - 1) / int64(db.size)
	schema := &Table{Name: "sqlite_schema", db: db, root: 1, rowID: -1}
	err := schema.Each(func(row Row) error {
		if row.Text(0) != "table" {
			return nil
		}
		t := &Table{Name: row.Text(1), db: db, root: row.Int(3)}
		var whole bool
		if t.Columns, t.rowID, whole = columns(row.Text(4)); whole {
			db.Tables[t.Name] = t
		}
		return nil
	})
	return db, err
}

// page reads a page, in memory of its own.
func (db *DB) page(number int64) ([]byte, error) {
	if number < 1 || number > db.pages {
		return nil, fmt.Errorf("page %d is named, of %d", number, db.pages)
	}
	data := make([]byte, db.size)
	if n, err := db.file.ReadAt(data, (number-1)*int64(db.size)); n < db.size {
		if err == io.EOF {
			err = errors.New("the file ends inside of it")
		}
		return nil, fmt.Errorf("page %d: %w", number, err)
	}
	return data, nil
}

// Each calls yield for the rows of a table, in the order of their ids. A row is valid until yield returns.
func (t *Table) Each(yield func(row Row) error) error {
	left := t.db.pages // each page is there once
	return t.walk(t.root, maxDepth, &left, yield)
}

func (t *Table) walk(number int64, depth int, left *int64, yield func(row Row) error) error {
	if *left--; *left < 0 || depth == 0 {
		return fmt.Errorf("table %s: its pages form a circle", t.Name)
	}
	page, err := t.db.page(number)
	if err != nil {
		return fmt.Errorf("table %s: %w", t.Name, err)
	}
	bad := func(what string) error { return fmt.Errorf("table %s: page %d: %s", t.Name, number, what) }
	head := 0
	if number == 1 {
		head = 100
	}
	cells := int(binary.BigEndian.Uint16(page[head+3:]))
	inner := page[head] == 5
	if !inner && page[head] != 13 {
		return bad("it is not one of a table")
	}
	at := head + 8
	if inner {
		at += 4
	}
	if at+2*cells > t.db.usable {
		return bad("it has more cells than fit")
	}
	for i := range cells {
		cell := int(binary.BigEndian.Uint16(page[at+2*i:]))
		if cell+4 > t.db.usable {
			return bad("a cell lies outside of it")
		}
		if inner {
			if err := t.walk(int64(binary.BigEndian.Uint32(page[cell:])), depth-1, left, yield); err != nil {
				return err
			}
			continue
		}
		size, n := varint(page[cell:t.db.usable])
		id, m := varint(page[cell+n : t.db.usable])
		if n == 0 || m == 0 || size < 0 || size > maxRecord {
			return bad("a cell has no valid length")
		}
		record, err := t.db.record(page, cell+n+m, int(size))
		if err != nil {
			return bad(err.Error())
		}
		row, err := decode(record, id, t.rowID)
		if err != nil {
			return bad(err.Error())
		}
		if err := yield(row); err != nil {
			return err
		}
	}
	if inner {
		return t.walk(int64(binary.BigEndian.Uint32(page[head+8:])), depth-1, left, yield)
	}
	return nil
}

// record is the payload of a cell, of which further pages hold the rest.
func (db *DB) record(page []byte, at, size int) ([]byte, error) {
	local := size
	if most := db.usable - 35; size > most {
		least := (db.usable-12)*32/255 - 23
		if local = least + (size-least)%(db.usable-4); local > most {
			local = least
		}
	}
	end := at + local
	if local < size {
		end += 4
	}
	if end > db.usable {
		return nil, errors.New("a record reaches over its end")
	}
	if local == size {
		return page[at:end], nil
	}
	db.overflow = append(db.overflow[:0], page[at:at+local]...)
	next := int64(binary.BigEndian.Uint32(page[at+local:]))
	for len(db.overflow) < size { // each page brings some bytes, so that it ends
		more, err := db.page(next)
		if err != nil {
			return nil, err
		}
		next = int64(binary.BigEndian.Uint32(more))
		db.overflow = append(db.overflow, more[4:min(db.usable, 4+size-len(db.overflow))]...)
	}
	return db.overflow, nil
}

// varint reads a number of 1 to 9 bytes; its length is 0 if it is cut.
func varint(b []byte) (int64, int) {
	v := uint64(0)
	for i := 0; i < 9 && i < len(b); i++ {
		if i == 8 {
			return int64(v<<8 | uint64(b[i])), 9
		}
		if v = v<<7 | uint64(b[i]&0x7f); b[i] < 0x80 {
			return int64(v), i + 1
		}
	}
	return 0, 0
}

// Row is the values of a row.
type Row struct {
	id     int64
	rowID  int
	values []value
}

// value is a value by its type in the file.
type value struct {
	kind int64
	data []byte
}

// decode reads a record.
func decode(record []byte, id int64, rowID int) (Row, error) {
	row := Row{id: id, rowID: rowID}
	size, at := varint(record)
	if at == 0 || size < int64(at) || size > int64(len(record)) {
		return row, errors.New("a record has no valid header")
	}
	data := int(size)
	for at < int(size) {
		kind, n := varint(record[at:size])
		if n == 0 || kind < 0 {
			return row, errors.New("a record has no valid header")
		}
		at += n
		length := int64(0)
		switch {
		case kind >= 12:
			length = (kind - 12) / 2
		case kind < 8:
			length = int64([...]int{0, 1, 2, 3, 4, 6, 8, 8}[kind])
		}
		if length > int64(len(record)-data) {
			return row, errors.New("a value reaches over the end of its record")
		}
		row.values = append(row.values, value{kind, record[data : data+int(length)]})
		data += int(length)
	}
	return row, nil
}

// Int is an integer of a row; 0 if it is none.
func (r Row) Int(column int) int64 {
	v, _ := r.Known(column)
	return v
}

// Known is an integer of a row; false if it is none.
func (r Row) Known(column int) (int64, bool) {
	if column == r.rowID && column >= 0 {
		return r.id, true
	}
	if column < 0 || column >= len(r.values) {
		return 0, false
	}
	v := r.values[column]
	switch {
	case v.kind == 7:
		f := math.Float64frombits(binary.BigEndian.Uint64(v.data))
		return int64(f), f == math.Trunc(f) && math.Abs(f) < 1<<53
	case v.kind == 8 || v.kind == 9:
		return v.kind - 8, true
	case v.kind == 0 || v.kind > 9:
		return 0, false
	}
	n := int64(int8(v.data[0]))
	for _, b := range v.data[1:] {
		n = n<<8 | int64(b)
	}
	return n, true
}

// Text is a text of a row; empty if it is none.
func (r Row) Text(column int) string {
	if column < 0 || column >= len(r.values) || r.values[column].kind < 13 || r.values[column].kind%2 == 0 {
		return ""
	}
	return string(r.values[column].data)
}

// columns finds the columns in the statement that made a table, and the one that stands for the row id. False if it has no row ids.
func columns(sql string) (places map[string]int, rowID int, ok bool) {
	var text strings.Builder // without comments
	for rest := sql; rest != ""; {
		before, after, cut := strings.Cut(rest, "--")
		text.WriteString(before)
		if rest = ""; cut {
			_, rest, _ = strings.Cut(after, "\n")
		}
		text.WriteByte(' ')
	}
	from, to := strings.IndexByte(text.String(), '('), strings.LastIndexByte(text.String(), ')')
	if from < 0 || to < from || strings.Contains(strings.ToUpper(text.String()[to:]), "WITHOUT") {
		return nil, -1, false
	}
	places, rowID = map[string]int{}, -1
	depth, start := 0, from+1
	for i := start; i <= to; i++ {
		switch c := text.String()[i]; {
		case c == '(':
			depth++
		case c == ')' && i < to:
			depth--
		case i == to || c == ',' && depth == 0:
			words := strings.Fields(text.String()[start:i])
			start = i + 1
			if len(words) == 0 {
				continue
			}
			switch strings.ToUpper(words[0]) {
			case "PRIMARY", "FOREIGN", "UNIQUE", "CHECK", "CONSTRAINT":
				continue
			}
			upper := strings.ToUpper(strings.Join(words, " "))
			if len(words) > 1 && strings.EqualFold(words[1], "INTEGER") && strings.Contains(upper, "PRIMARY KEY") {
				rowID = len(places)
			}
			places[strings.Trim(words[0], "\"`[]'")] = len(places)
		}
	}
	return places, rowID, true
}

// Column is the place of a column; -1 if there is none.
func (t *Table) Column(name string) int {
	if i, ok := t.Columns[name]; ok {
		return i
	}
	return -1
}
