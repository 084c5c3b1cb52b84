package document

import "bufio"

// lineWidth is how long an object may be that is written on one line.
const lineWidth = 120

// layOut writes JSON text in a form that people can read: a member or an element per line, but lists of plain values
// and what is short on one line.
func layOut(w *bufio.Writer, text []byte, depth int) {
	if text[0] != '{' && text[0] != '[' || len(text) == 2 || isPlainList(text) {
		w.Write(text)
		return
	}
	short := depth > 0 && len(text)+2*depth <= lineWidth
	newLine := func(depth int) {
		if !short {
			w.WriteByte('\n')
			for range depth {
				w.WriteString("  ")
			}
		}
	}
	w.WriteByte(text[0])
	for i, part := range split(text[1 : len(text)-1]) {
		switch {
		case i > 0 && short:
			w.WriteString(", ")
		case i > 0:
			w.WriteByte(',')
		}
		newLine(depth + 1)
		if text[0] == '{' {
			name := stringEnd(part)
			w.Write(part[:name])
			w.WriteString(": ")
			part = part[name+1:]
		}
		layOut(w, part, depth+1)
	}
	newLine(depth)
	w.WriteByte(text[len(text)-1])
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
