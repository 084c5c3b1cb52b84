package chunk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
)

var layout = Layout{Magic: "TESTTEST", End: "TEND", Version: 2, What: "test file"}

// file returns a file of the given chunks and an index.
func file(t testing.TB, contents ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b, &layout)
	for _, c := range contents {
		w.Chunk("DATA", []byte(c))
	}
	if err := w.Finish("INDX", []byte("index")); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// read returns the contents of a file up to an error other than io.EOF.
func read(data []byte) (contents []string, err error) {
	r, err := NewReader(bytes.NewReader(data), &layout, "INDX")
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for {
		kind, raw, err := r.Next()
		if errors.Is(err, io.EOF) {
			return contents, nil
		}
		if err != nil {
			return contents, err
		}
		contents = append(contents, kind+" "+string(raw))
	}
}

func TestChunks(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 300_000)
	got, err := read(file(t, "one", "", long))
	if want := []string{"DATA one", "DATA ", "DATA " + long, "INDX index"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%d chunks, error %v", len(got), err)
	}
}

// Whatever is cut off or changed is noticed, and what comes before is given.
func TestDamage(t *testing.T) {
	data := file(t, "one", "two")
	whole, err := read(data)
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, damaged []byte) {
		got, err := read(damaged)
		if err == nil || len(got) > len(whole) || !slices.Equal(got, whole[:len(got)]) {
			t.Errorf("%s: chunks %q, error %v", what, got, err)
		}
	}
	for i := range data {
		check(fmt.Sprintf("cut at %d", i), data[:i])
		if _, err := read(data[:i]); i > 0 && !errors.Is(err, ErrTruncated) {
			t.Errorf("cut at %d: %v, want %v", i, err, ErrTruncated)
		}
		changed := slices.Clone(data)
		changed[i] ^= 4
		check(fmt.Sprintf("changed at %d", i), changed)
	}
	check("longer", append(slices.Clone(data), 0))
}

// The identity of a file is found at its end. With the sum of the chunks in the index it stands for all of them.
func TestIdentity(t *testing.T) {
	file := func(contents ...string) (data []byte, id Identity) {
		var b bytes.Buffer
		w := NewWriter(&b, &layout)
		for _, c := range contents {
			w.Chunk("DATA", []byte(c))
		}
		if err := w.Finish("INDX", binary.LittleEndian.AppendUint32(nil, w.Sum())); err != nil {
			t.Fatal(err)
		}
		return b.Bytes(), w.Identity()
	}
	seen := map[Identity]bool{}
	for _, contents := range [][]string{{}, {"one"}, {"one", "two"}, {"two", "one"}, {"one", "owt"}} {
		data, want := file(contents...)
		id, err := layout.Identify(bytes.NewReader(data), int64(len(data)))
		if err != nil || id != want || seen[id] {
			t.Errorf("Identify = %v, %v, want %v, as no other", id, err, want)
		}
		seen[id] = true
		r, err := NewReader(bytes.NewReader(data), &layout, "INDX")
		if err != nil {
			t.Fatal(err)
		}
		for kind := ""; kind != "INDX"; {
			var raw []byte
			if kind, raw, err = r.Next(); err != nil {
				t.Fatal(err)
			}
			if kind == "INDX" && binary.LittleEndian.Uint32(raw) != r.Sum() {
				t.Errorf("Sum = %x, the index has %x", r.Sum(), raw)
			}
		}
		r.Close()
		for n := range data {
			if id, err := layout.Identify(bytes.NewReader(data[:n]), int64(n)); err == nil {
				t.Errorf("Identify of %d bytes = %v", n, id)
			}
		}
	}
}

func TestHeader(t *testing.T) {
	newer := layout
	newer.Version = 3
	zero := layout
	zero.Version = 0
	for want, head := range map[string][]byte{
		"not a test file":                []byte("something else"),
		"this one reads versions 1 to 2": newer.Header(),
		"version 0":                      zero.Header(),
	} {
		if err := layout.CheckHeader(head); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("CheckHeader = %v, want %q", err, want)
		}
	}
	older := layout
	older.Version = 1
	if err := layout.CheckHeader(older.Header()); err != nil {
		t.Errorf("an older version: %v", err)
	}
}

// A chunk that is too large is not written; one that claims to be is not read.
func TestTooLarge(t *testing.T) {
	zip, err := NewZip()
	if err != nil {
		t.Fatal(err)
	}
	defer zip.Close()
	if _, err := zip.Append(nil, "DATA", make([]byte, MaxRaw+1)); err == nil {
		t.Error("a chunk that is too large was written")
	}
}

func TestColumn(t *testing.T) {
	numbers := []int64{0, -1, 1, 63, -64, 64, 1 << 40, math.MaxInt64, math.MinInt64}
	var b []byte
	for _, v := range numbers {
		b = AppendInt(b, v)
	}
	b = AppendString(b, "text")
	c := Column{B: b}
	for _, want := range numbers {
		if got := c.Int(); got != want {
			t.Errorf("Int = %d, want %d", got, want)
		}
	}
	if got := c.String(); got != "text" || c.Bad || c.Left() != 0 {
		t.Errorf("String = %q, bad %v, %d bytes left", got, c.Bad, c.Left())
	}
	for name, c := range map[string]*Column{
		"nothing":  {},
		"cut off":  {B: []byte{0x80}},
		"too long": {B: bytes.Repeat([]byte{0xff}, 11)},
	} {
		if v := c.Uint(); v != 0 || !c.Bad {
			t.Errorf("%s: Uint = %d, bad %v", name, v, c.Bad)
		}
	}
	short := Column{B: []byte{5, 'a'}}
	if s := short.String(); s != "" || !short.Bad || short.Byte() != 0 {
		t.Errorf("String = %q, bad %v", s, short.Bad)
	}
}
