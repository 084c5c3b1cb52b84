package chakra

import (
	"encoding/binary"
	"math"
)

// Kinds of encoding of a field (wire types of protobuf).
const (
	asVarint = 0
	asFixed8 = 1
	asBytes  = 2
	asFixed4 = 5
)

// field is a field of a message: its number, and a number or bytes.
type field struct {
	number uint64
	kind   uint64
	value  uint64
	bytes  []byte
}

// next takes the next field from a message.
func next(b []byte) (f field, rest []byte, ok bool) {
	key, b, ok := varint(b)
	if !ok {
		return f, nil, false
	}
	f.number, f.kind = key>>3, key&7
	switch f.kind {
	case asVarint:
		f.value, b, ok = varint(b)
		return f, b, ok && f.number > 0
	case asFixed8:
		if len(b) < 8 {
			return f, nil, false
		}
		f.value, b = binary.LittleEndian.Uint64(b), b[8:]
	case asFixed4:
		if len(b) < 4 {
			return f, nil, false
		}
		f.value, b = uint64(binary.LittleEndian.Uint32(b)), b[4:]
	case asBytes:
		n, after, ok := varint(b)
		if !ok || n > uint64(len(after)) {
			return f, nil, false
		}
		f.bytes, b = after[:n], after[n:]
	default:
		return f, nil, false
	}
	return f, b, f.number > 0
}

// varint takes a number from the start of b.
func varint(b []byte) (value uint64, rest []byte, ok bool) {
	value, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, nil, false
	}
	return value, b[n:], true
}

// each calls take for the fields of a message, until it refuses one. It reports whether all were taken.
func each(b []byte, take func(f field) bool) bool {
	for len(b) > 0 {
		f, rest, ok := next(b)
		if !ok || !take(f) {
			return false
		}
		b = rest
	}
	return true
}

// decode reads a node, which has a type; fields that are not known are skipped.
func (n *Node) decode(b []byte) bool {
	const id, name, kind, dataDeps, duration, attribute = 1, 2, 3, 5, 7, 10
	return each(b, func(f field) bool {
		switch {
		case f.number == id && f.kind == asVarint:
			n.ID = f.value
		case f.number == name && f.kind == asBytes:
			n.Name = string(f.bytes)
		case f.number == kind && f.kind == asVarint:
			n.Type = Type(min(f.value, math.MaxUint8))
		case f.number == duration && f.kind == asVarint:
			n.Duration = f.value
		case f.number == dataDeps && f.kind == asVarint:
			n.DataDeps = append(n.DataDeps, f.value)
		case f.number == dataDeps && f.kind == asBytes:
			for list := f.bytes; len(list) > 0; {
				dep, rest, ok := varint(list)
				if !ok {
					return false
				}
				n.DataDeps, list = append(n.DataDeps, dep), rest
			}
		case f.number == attribute && f.kind == asBytes:
			return n.decodeAttribute(f.bytes)
		}
		return true
	}) && n.Type > 0
}

// decodeAttribute reads an attribute of a node: its name, and its value in the field that stands for its type.
func (n *Node) decodeAttribute(b []byte) bool {
	const name, remark = 1, 2
	var called []byte
	var value field
	ok := each(b, func(f field) bool {
		switch {
		case f.number == name && f.kind == asBytes:
			called = f.bytes
		case f.number != remark:
			value = f
		}
		return true
	})
	switch string(called) {
	case "comm_type":
		n.Operation = value.whole()
	case "comm_size":
		n.Size = value.whole()
	case "comm_src":
		n.Source = value.whole()
	case "comm_dst":
		n.Destination = value.whole()
	case "comm_root", "root_rank":
		n.Root = value.whole()
	case "comm_tag":
		n.Tag = value.whole()
	case "num_ops":
		n.Operations = value.whole()
	case "tid":
		n.Thread = value.whole()
	case "is_cpu_op":
		n.OnHost = value.whole().Value != 0
	case "pg_name":
		if value.kind == asBytes {
			n.Group = string(value.bytes)
		}
	}
	return ok
}

// whole returns the value of an attribute that is a whole number. Its type differs from version to version.
func (f *field) whole() Number {
	const (
		double, float                    = 3, 5
		int32s, int64s, uint32s, uint64s = 7, 9, 11, 13
		sint32s, sint64s                 = 15, 17
		fixed32, fixed64                 = 19, 21
		sfixed32, sfixed64               = 23, 25
		boolean                          = 27
	)
	var v int64
	switch f.number {
	case double:
		return wholeFloat(math.Float64frombits(f.value))
	case float:
		return wholeFloat(float64(math.Float32frombits(uint32(f.value))))
	case sint32s, sint64s:
		v = int64(f.value>>1) ^ -int64(f.value&1)
	case sfixed32:
		v = int64(int32(f.value))
	case int32s, int64s, uint32s, uint64s, fixed32, fixed64, sfixed64, boolean:
		v = int64(f.value)
	default:
		return Number{}
	}
	return Number{v, f.kind != asBytes}
}

// wholeFloat returns a number without a fraction.
func wholeFloat(v float64) Number {
	if v != math.Trunc(v) || math.Abs(v) >= 1<<63 {
		return Number{}
	}
	return Number{int64(v), true}
}
