package sqlite

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pageSize is that of the databases of these tests, the smallest that the format knows.
const pageSize = 512

// appendVarint appends a number as SQLite writes it.
func appendVarint(b []byte, v uint64) []byte {
	if v >= 1<<56 {
		for shift := 57; shift > 1; shift -= 7 {
			b = append(b, byte(v>>shift)|0x80)
		}
		return append(b, byte(v))
	}
	start := len(b)
	for b = append(b, byte(v&0x7f)); v > 0x7f; {
		v >>= 7
		b = append(b, byte(v&0x7f)|0x80)
	}
	for i, j := start, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	return b
}

// record is a row: nil, integers, numbers, texts, bytes.
func record(values ...any) []byte {
	var kinds, data []byte
	for _, v := range values {
		switch v := v.(type) {
		case nil:
			kinds = appendVarint(kinds, 0)
		case bool:
			kinds = appendVarint(kinds, map[bool]uint64{false: 8, true: 9}[v])
		case int8:
			kinds, data = appendVarint(kinds, 1), append(data, byte(v))
		case int:
			kinds, data = appendVarint(kinds, 6), binary.BigEndian.AppendUint64(data, uint64(v))
		case float64:
			kinds, data = appendVarint(kinds, 7), binary.BigEndian.AppendUint64(data, math.Float64bits(v))
		case string:
			kinds, data = appendVarint(kinds, uint64(13+2*len(v))), append(data, v...)
		case []byte:
			kinds, data = appendVarint(kinds, uint64(12+2*len(v))), append(data, v...)
		}
	}
	return append(appendVarint(nil, uint64(len(kinds)+1)), append(kinds, data...)...)
}

// cell is a row with its id and length, as it is in a leaf.
func cell(id uint64, record []byte) []byte {
	return append(appendVarint(appendVarint(nil, uint64(len(record))), id), record...)
}

// page is a page of a table: a leaf (13) with rows, or an inner page (5) with pages and a last one.
func page(kind byte, head int, last uint32, cells ...[]byte) []byte {
	p := make([]byte, pageSize)
	p[head] = kind
	binary.BigEndian.PutUint16(p[head+3:], uint16(len(cells)))
	at := head + 8
	if kind == 5 {
		binary.BigEndian.PutUint32(p[head+8:], last)
		at += 4
	}
	end := pageSize
	for i, c := range cells {
		end -= len(c)
		copy(p[end:], c)
		binary.BigEndian.PutUint16(p[at+2*i:], uint16(end))
	}
	return p
}

// database has a table "t" with its root at page 2, and the pages from there on.
func database(sql string, pages ...[]byte) []byte {
	first := page(13, 100, 0, cell(1, record("table", "t", "t", int8(2), sql)), cell(2, record("index", "i", "t", int8(9), "")))
	copy(first, Magic)
	binary.BigEndian.PutUint16(first[16:], pageSize)
	binary.BigEndian.PutUint32(first[56:], 1)
	return append(first, bytes.Join(pages, nil)...)
}

func open(data []byte) (*DB, error) { return Open(bytes.NewReader(data), int64(len(data))) }

// rows are the rows of the table t, as "id: number text".
func rows(t *testing.T, data []byte) (list []string, err error) {
	t.Helper()
	db, err := open(data)
	if err != nil {
		t.Fatal(err)
	}
	table := db.Tables["t"]
	err = table.Each(func(r Row) error {
		list = append(list, fmt.Sprintf("%d: %d %s", r.Int(table.Column("id")), r.Int(table.Column("n")), r.Text(table.Column("s"))))
		return nil
	})
	return list, err
}

const statement = "CREATE TABLE t (id INTEGER PRIMARY KEY, n INT, s TEXT)"

func row(id int, n int8, s string) []byte { return cell(uint64(id), record(nil, n, s)) }

// A row that does not fit into its page goes on in others; inner pages lead to leaves in the order of ids.
func TestEach(t *testing.T) {
	long := strings.Repeat("0123456789", 120)
	payload := record(nil, int8(3), long)
	least := (pageSize-12)*32/255 - 23
	local := least + (len(payload)-least)%(pageSize-4)
	if local > pageSize-35 {
		local = least
	}
	big := append(appendVarint(appendVarint(nil, uint64(len(payload))), 300), payload[:local]...)
	big = binary.BigEndian.AppendUint32(big, 5)
	rest := payload[local:]
	var overflow [][]byte
	for next := uint32(6); len(rest) > 0; next++ {
		n := min(len(rest), pageSize-4)
		p := append(binary.BigEndian.AppendUint32(nil, next), rest[:n]...)
		overflow, rest = append(overflow, append(p, make([]byte, pageSize-len(p))...)), rest[n:]
	}
	inner := page(5, 0, 4, appendVarint(binary.BigEndian.AppendUint32(nil, 3), 2))
	pages := append([][]byte{inner, page(13, 0, 0, row(1, 7, "a"), row(2, -8, "b")), page(13, 0, 0, big)}, overflow...)
	got, err := rows(t, database(statement, pages...))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1: 7 a", "2: -8 b", "300: 3 " + long}, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

// The caller ends the walk.
func TestEachEnds(t *testing.T) {
	db, err := open(database(statement, page(13, 0, 0, row(1, 7, "a"), row(2, 8, "b"))))
	if err != nil {
		t.Fatal(err)
	}
	enough, seen := errors.New("enough"), 0
	if err := db.Tables["t"].Each(func(Row) error { seen++; return enough }); err != enough || seen != 1 {
		t.Errorf("error %v after %d rows, want that of the caller after 1", err, seen)
	}
}

func TestValues(t *testing.T) {
	r, err := decode(record(nil, false, true, int8(-5), 1<<40, 12.0, 12.5, "text", []byte("blob"), 1e300), 77, 0)
	if err != nil {
		t.Fatal(err)
	}
	for column, want := range map[int]struct {
		n     int64
		known bool
		text  string
	}{
		0: {77, true, ""}, // the row id
		1: {0, true, ""}, 2: {1, true, ""}, 3: {-5, true, ""}, 4: {1 << 40, true, ""}, 5: {12, true, ""},
		6: {12, false, ""}, // not an integer
		7: {0, false, "text"}, 8: {0, false, ""}, 10: {0, false, ""}, -1: {0, false, ""},
	} {
		n, known := r.Known(column)
		if n != want.n || known != want.known || r.Text(column) != want.text {
			t.Errorf("column %d = %d, %v, %q; want %+v", column, n, known, r.Text(column), want)
		}
	}
	if _, known := r.Known(9); known {
		t.Error("1e300 is taken for an integer")
	}
}

func TestVarint(t *testing.T) {
	for _, v := range []uint64{0, 1, 127, 128, 1 << 14, 1<<56 - 1, 1 << 56, math.MaxInt64, math.MaxUint64} {
		b := appendVarint(nil, v)
		if got, n := varint(b); uint64(got) != v || n != len(b) {
			t.Errorf("varint(% x) = %d of %d bytes, want %d of %d", b, uint64(got), n, v, len(b))
		}
		if _, n := varint(b[:len(b)-1]); n != 0 {
			t.Errorf("varint(% x), cut, has %d bytes", b[:len(b)-1], n)
		}
	}
}

func TestColumns(t *testing.T) {
	for _, tc := range []struct {
		sql   string
		want  map[string]int
		rowID int
		ok    bool
	}{
		{statement, map[string]int{"id": 0, "n": 1, "s": 2}, 0, true},
		{"CREATE TABLE \"t\" (\"a b\" INT -- first, with a comma\n, `c` DECIMAL(3,4), [d] TEXT, PRIMARY KEY (c, d))",
			map[string]int{"a": 0, "c": 1, "d": 2}, -1, true}, // of a name with a blank its first word
		{"CREATE TABLE t (a INT PRIMARY KEY, UNIQUE (a))", map[string]int{"a": 0}, -1, true}, // INT is not the row id
		{"CREATE TABLE t (a TEXT PRIMARY KEY) WITHOUT ROWID", nil, -1, false},
		{"CREATE TABLE t AS SELECT 1", nil, -1, false},
	} {
		places, rowID, ok := columns(tc.sql)
		if !cmp.Equal(places, tc.want) || rowID != tc.rowID || ok != tc.ok {
			t.Errorf("columns(%s) = %v, %d, %v; want %v, %d, %v", tc.sql, places, rowID, ok, tc.want, tc.rowID, tc.ok)
		}
	}
}

// Tables without row ids cannot be read; they are left out.
func TestWithoutRowID(t *testing.T) {
	db, err := open(database("CREATE TABLE t (a TEXT PRIMARY KEY) WITHOUT ROWID", page(10, 0, 0)))
	if err != nil || len(db.Tables) != 0 {
		t.Errorf("%d tables, error %v; want none", len(db.Tables), err)
	}
}

func TestDamagedTables(t *testing.T) {
	good := database(statement, page(13, 0, 0, row(1, 7, "a"), row(2, 8, "b")))
	change := func(at int, with ...byte) []byte {
		b := bytes.Clone(good)
		copy(b[at:], with)
		return b
	}
	for name, tc := range map[string]struct {
		data []byte
		rows int // before the damage
		want string
	}{
		"another kind":     {change(pageSize, 10), 0, "page 2: it is not one of a table"},
		"too many cells":   {change(pageSize+3, 0xff, 0xff), 0, "more cells than fit"},
		"outside":          {change(pageSize+10, 0x01, 0xff), 1, "a cell lies outside of it"},
		"cut":              {good[:len(good)-1], 0, "page 2: the file ends inside of it"},
		"circle":           {database(statement, page(5, 0, 2)), 0, "form a circle"},
		"no such page":     {database(statement, page(5, 0, 99)), 0, "page 99 is named, of 2"},
		"too long":         {database(statement, page(13, 0, 0, []byte{0xc0, 0x80, 0x80, 0x80, 0x00, 1, 0, 0})), 0, "no valid length"},
		"over its end":     {database(statement, page(13, 0, 0, []byte{50, 1, 2, 1})), 0, "a record reaches over its end"},
		"header":           {database(statement, page(13, 0, 0, []byte{4, 1, 9, 1, 1, 1})), 0, "no valid header"},
		"value":            {database(statement, page(13, 0, 0, []byte{2, 1, 2, 6, 0, 0})), 0, "over the end of its record"},
		"overflow to none": {database(statement, page(13, 0, 0, append([]byte{0x90, 0x00, 1}, make([]byte, 400)...))), 0, "page 0 is named"},
	} {
		got, err := rows(t, tc.data)
		if err == nil || !strings.Contains(err.Error(), tc.want) || len(got) != tc.rows {
			t.Errorf("%s: %d rows, error %v; want %d rows and an error with %q", name, len(got), err, tc.rows, tc.want)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	good := database(statement)
	change := func(at int, with ...byte) []byte {
		b := bytes.Clone(good)
		copy(b[at:], with)
		return b
	}
	for want, data := range map[string][]byte{
		"not a database of SQLite":            []byte("PK\x03\x04"),
		"the size of a page is 511":           change(16, 1, 255),
		"33 bytes of each page are reserved":  change(20, 33),
		"its text is UTF-16; export it again": change(56, 0, 0, 0, 2),
	} {
		if _, err := open(data); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}
