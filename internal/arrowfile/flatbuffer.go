package arrowfile

import (
	"encoding/binary"
	"fmt"
)

// table is a table of flatbuffers: its fields by their numbers in the .fbs files of Arrow, nil where one is left at its default.
// A field is a bool, uint8, int16, int32 or int64, or refers to a string, table, []table or structs.
type table []any

// structs is a vector of structs that have so many 64-bit words each.
type structs struct {
	words int
	list  []int64
}

// flatbuffer is written from front to back: what a field refers to comes after it.
type flatbuffer []byte

// encode is a flatbuffer with a root.
func encode(root table) []byte {
	b := make(flatbuffer, 4, 1<<10)
	b.refer(0, root)
	return b
}

// refer appends an object, and puts its distance into a place.
func (b *flatbuffer) refer(place int, object any) {
	at := b.object(object)
	binary.LittleEndian.PutUint32((*b)[place:], uint32(at-place))
}

// object appends what a field can refer to, and returns where it is.
func (b *flatbuffer) object(object any) (at int) {
	switch v := object.(type) {
	case string:
		at = b.count(len(v), 4)
		*b = append(append(*b, v...), 0)
	case []table:
		at = b.count(len(v), 4)
		*b = append(*b, make([]byte, 4*len(v))...)
		for i, t := range v {
			b.refer(at+4+4*i, t)
		}
	case structs:
		at = b.count(len(v.list)/v.words, 8)
		for _, word := range v.list {
			*b = binary.LittleEndian.AppendUint64(*b, uint64(word))
		}
	case table:
		at = b.table(v)
	default:
		panic(fmt.Sprintf("arrowfile: %T in a flatbuffer", object))
	}
	return at
}

// align pads, so that the place that is so many bytes ahead is a multiple of a size.
func (b *flatbuffer) align(size, ahead int) {
	*b = append(*b, make([]byte, padding(len(*b)+ahead, size))...)
}

// count appends the length of a vector whose elements are aligned to a size.
func (b *flatbuffer) count(n, size int) (at int) {
	b.align(size, 4)
	*b = binary.LittleEndian.AppendUint32(*b, uint32(n))
	return len(*b) - 4
}

// table appends the places of the fields, then the fields, then what they refer to.
func (b *flatbuffer) table(t table) (at int) {
	b.align(2, 0)
	places := len(*b)
	*b = binary.LittleEndian.AppendUint16(*b, uint16(4+2*len(t)))
	*b = append(*b, make([]byte, 2+2*len(t))...)
	b.align(8, 0)
	at = len(*b)
	*b = binary.LittleEndian.AppendUint32(*b, uint32(at-places))
	for i, field := range t {
		if field == nil {
			continue
		}
		b.align(sizeOf(field), 0)
		binary.LittleEndian.PutUint16((*b)[places+4+2*i:], uint16(len(*b)-at))
		switch v := field.(type) {
		case bool:
			*b = append(*b, bit(v))
		case uint8:
			*b = append(*b, v)
		case int16:
			*b = binary.LittleEndian.AppendUint16(*b, uint16(v))
		case int32:
			*b = binary.LittleEndian.AppendUint32(*b, uint32(v))
		case int64:
			*b = binary.LittleEndian.AppendUint64(*b, uint64(v))
		default:
			*b = append(*b, 0, 0, 0, 0)
		}
	}
	binary.LittleEndian.PutUint16((*b)[places+2:], uint16(len(*b)-at))
	for i, field := range t {
		if field != nil && !isScalar(field) {
			b.refer(at+int(binary.LittleEndian.Uint16((*b)[places+4+2*i:])), field)
		}
	}
	return at
}

func isScalar(field any) bool {
	switch field.(type) {
	case bool, uint8, int16, int32, int64:
		return true
	}
	return false
}

// sizeOf is the size of a field in its table, to which it is also aligned.
func sizeOf(field any) int {
	if isScalar(field) {
		return binary.Size(field)
	}
	return 4
}

func bit(v bool) byte {
	if v {
		return 1
	}
	return 0
}

// padding is how far a length is from the next multiple of a size.
func padding[N int | int64](length N, size N) N { return -length & (size - 1) }
