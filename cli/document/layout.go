package document

import "bytes"

// lineWidth is how long an object may be that is written on one line.
const lineWidth = 120

// layOut appends JSON text in a form that people can read: a member or an element per line, but lists of plain values
// and what is short on one line.
func layOut(dst, text []byte, depth int) []byte {
	if text[0] != '{' && text[0] != '[' || len(text) == 2 || isPlainList(text) {
		return append(dst, text...)
	}
	short := depth > 0 && len(text)+2*depth <= lineWidth
	separate := func(dst []byte, depth int) []byte {
		return append(append(dst, '\n'), bytes.Repeat([]byte("  "), depth)...)
	}
	dst = append(dst, text[0])
	for i, part := range split(text[1 : len(text)-1]) {
		switch {
		case !short:
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = separate(dst, depth+1)
		case i > 0:
			dst = append(dst, ", "...)
		}
		if text[0] == '{' {
			name := stringEnd(part)
			dst = append(append(dst, part[:name]...), ": "...)
			part = part[name+1:]
		}
		dst = layOut(dst, part, depth+1)
	}
	if !short {
		dst = separate(dst, depth)
	}
	return append(dst, text[len(text)-1])
}

// isPlainList reports whether no element of a list is a list or an object.
func isPlainList(text []byte) bool {
	if text[0] != '[' {
		return false
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '[', '{':
			return false
		case '"':
			i += stringEnd(text[i:]) - 1
		}
	}
	return true
}

// split cuts the inside of a list or an object at its commas.
func split(text []byte) [][]byte {
	var parts [][]byte
	from, depth := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i += stringEnd(text[i:]) - 1
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case ',':
			if depth == 0 {
				parts = append(parts, text[from:i])
				from = i + 1
			}
		}
	}
	return append(parts, text[from:])
}

// stringEnd is the length of the string at the start of a text.
func stringEnd(text []byte) int {
	for i := 1; ; i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}
