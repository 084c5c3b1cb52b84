package cube

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// valueType defines how a value lies in the file: its size, and its number.
type valueType struct {
	size int
	get  func(order binary.ByteOrder, b []byte) float64
}

var (
	asFloat  = valueType{8, func(o binary.ByteOrder, b []byte) float64 { return math.Float64frombits(o.Uint64(b)) }}
	asUint64 = valueType{8, func(o binary.ByteOrder, b []byte) float64 { return float64(o.Uint64(b)) }}
	asInt64  = valueType{8, func(o binary.ByteOrder, b []byte) float64 { return float64(int64(o.Uint64(b))) }}
	asUint32 = valueType{4, func(o binary.ByteOrder, b []byte) float64 { return float64(o.Uint32(b)) }}
	asInt32  = valueType{4, func(o binary.ByteOrder, b []byte) float64 { return float64(int32(o.Uint32(b))) }}
	asUint16 = valueType{2, func(o binary.ByteOrder, b []byte) float64 { return float64(o.Uint16(b)) }}
	asInt16  = valueType{2, func(o binary.ByteOrder, b []byte) float64 { return float64(int16(o.Uint16(b))) }}
	asUint8  = valueType{1, func(_ binary.ByteOrder, b []byte) float64 { return float64(b[0]) }}
	asInt8   = valueType{1, func(_ binary.ByteOrder, b []byte) float64 { return float64(int8(b[0])) }}
	// An atomic of TAU has number, minimum, maximum, sum and sum of squares, packed; the sum counts.
	asAtomic = valueType{4 + 4*8, func(o binary.ByteOrder, b []byte) float64 { return math.Float64frombits(o.Uint64(b[20:])) }}
	// A rate is a pair of numbers.
	asRate = valueType{16, func(o binary.ByteOrder, b []byte) float64 {
		over, under := math.Float64frombits(o.Uint64(b)), math.Float64frombits(o.Uint64(b[8:]))
		if under == 0 {
			return 0
		}
		return over / under
	}}
)

var valueTypes = map[string]valueType{
	"DOUBLE": asFloat, "FLOAT": asFloat, "MINDOUBLE": asFloat, "MAXDOUBLE": asFloat,
	"UINT64": asUint64, "UNSIGNED INTEGER": asUint64,
	"INT64": asInt64, "INTEGER": asInt64, "SIGNED INTEGER": asInt64,
	"UINT32": asUint32, "UNSIGNED INT": asUint32, "INT32": asInt32, "INT": asInt32, "SIGNED INT": asInt32,
	"UINT16": asUint16, "UNSIGNED SHORT INT": asUint16,
	"INT16": asInt16, "SHORT INT": asInt16, "SIGNED SHORT INT": asInt16,
	"UINT8": asUint8, "CHAR": asUint8, "INT8": asInt8,
	"TAU_ATOMIC": asAtomic, "RATE": asRate,
}

const (
	indexMagic  = "CUBEX.INDEX"
	dataMagic   = "CUBEX.DATA"
	packedMagic = "ZCUBEX.DATA"
	sparse      = 1
)

// readValues reads the values of a metric.
func (f *File) readValues(m *Metric, index, data []byte) error {
	if m.Kind != kindInclusive && m.Kind != kindExclusive {
		f.warnf("the metric %s is of the kind %s, which is not read", m.Name, m.Kind)
		return nil
	}
	kind, ok := valueTypes[m.Type]
	if !ok {
		f.warnf("the metric %s has values of the type %s, which is not read", m.Name, m.Type)
		return nil
	}
	order, numbers, err := f.readIndex(m, index)
	if err != nil || numbers == nil {
		return err
	}
	width := kind.size * len(f.Locations)
	raw, err := rawValues(data, order, int64(width)*int64(len(numbers)))
	if err != nil {
		return err
	}
	if len(raw) < width*len(numbers) {
		return fmt.Errorf("has %d bytes of values, but %d rows of %d bytes are announced", len(raw), len(numbers), width)
	}
	m.rows = make(map[int][]float64, len(numbers))
	for r, number := range numbers {
		row := make([]float64, len(f.Locations))
		for i := range row {
			row[i] = kind.get(order, raw[r*width+i*kind.size:])
		}
		m.rows[number] = row
	}
	return nil
}

// readIndex returns the byte order and the numbers of the nodes that have a row;
// none after a warning.
func (f *File) readIndex(m *Metric, index []byte) (binary.ByteOrder, []int, error) {
	const header = len(indexMagic) + 4 + 2 + 1
	if len(index) < header || string(index[:len(indexMagic)]) != indexMagic {
		return nil, nil, fmt.Errorf("its index does not begin with %s", indexMagic)
	}
	var order binary.ByteOrder = binary.LittleEndian
	b := index[len(indexMagic):]
	if order.Uint32(b) != 1 {
		order = binary.BigEndian
		if order.Uint32(b) != 1 {
			return nil, nil, fmt.Errorf("its index has no byte order")
		}
	}
	if kind := b[6]; kind != sparse {
		f.warnf("the metric %s has an index of type %d, which is not read", m.Name, kind)
		return order, nil, nil
	}
	b = b[7:]
	if len(b) < 4 {
		return nil, nil, fmt.Errorf("its index ends in the middle")
	}
	n := int64(order.Uint32(b))
	if b = b[4:]; n*4 > int64(len(b)) || n > int64(len(f.Nodes)) {
		return nil, nil, fmt.Errorf("its index announces %d rows, but there are %d call nodes and %d bytes", n, len(f.Nodes), len(b))
	}
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = int(int32(order.Uint32(b[4*i:])))
	}
	return order, numbers, nil
}

// rawValues returns the values as they lie in memory, unpacked if needed, at most
// so many bytes.
func rawValues(data []byte, order binary.ByteOrder, want int64) ([]byte, error) {
	if rest, ok := bytes.CutPrefix(data, []byte(dataMagic)); ok {
		return rest, nil
	}
	b, ok := bytes.CutPrefix(data, []byte(packedMagic))
	if !ok || len(b) < 8 {
		return nil, fmt.Errorf("its values begin neither with %s nor with %s", dataMagic, packedMagic)
	}
	pieces := order.Uint64(b)
	b = b[8:]
	if pieces > uint64(len(b))/24 {
		return nil, fmt.Errorf("its values announce %d compressed pieces in %d bytes", pieces, len(b))
	}
	table, body := b[:pieces*24], b[pieces*24:]
	var out bytes.Buffer
	for ; len(table) > 0; table = table[24:] {
		from, size := order.Uint64(table[8:]), order.Uint64(table[16:])
		if size == 0 {
			continue
		}
		if from > uint64(len(body)) || size > uint64(len(body))-from {
			return nil, fmt.Errorf("a compressed piece lies outside of its values")
		}
		r, err := zlib.NewReader(bytes.NewReader(body[from : from+size]))
		if err != nil {
			return nil, err
		}
		if _, err := io.Copy(&out, io.LimitReader(r, want-int64(out.Len())+1)); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}
