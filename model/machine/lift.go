package machine

import (
	"bytes"

	"slackline/internal/yamlfile"
)

// longPlacement is the length in bytes from which a placement list is read without the YAML
// parser, which needs about a kilobyte for each number.
const longPlacement = 8 << 10

// liftPlacement takes a long placement list out of the text, whose lines end in LF. The key must
// begin a line; the list is either in brackets, or has one "- number" per line. The lines that
// follow keep their numbers in messages.
func (r *reader) liftPlacement(data []byte) []byte {
	const key = "placement:"
	start := 0
	if !bytes.HasPrefix(data, []byte(key)) {
		start = bytes.Index(data, []byte("\n"+key)) + 1
		if start == 0 {
			return data
		}
	}
	from := start + len(key)
	for from < len(data) && (data[from] == ' ' || data[from] == '\n') {
		from++
	}
	if len(data)-from < longPlacement {
		return data
	}
	line := bytes.Count(data[:from], []byte{'\n'}) + 1
	to := from
	switch data[from] {
	case '[':
		length := bytes.IndexByte(data[from:], ']')
		if length < longPlacement {
			return data
		}
		to += length + 1
		r.parseLifted(data[from+1:to-1], ',', line)
	case '-':
		if to += dashLines(data[from:]); to-from < longPlacement {
			return data
		}
		r.parseLifted(bytes.TrimSuffix(data[from:to], []byte{'\n'}), '\n', line)
	default:
		return data
	}
	r.isLifted = true
	lines := bytes.Count(data[start:to], []byte{'\n'})
	end := ""
	if data[from] == '-' {
		end = "\n" // the lines taken out include their ends; one of them stays
		lines--
	}
	r.CutLines(bytes.Count(data[:start], []byte{'\n'})+1, lines)
	return bytes.Join([][]byte{data[:start], []byte(key + " [0]" + end), data[to:]}, nil)
}

// dashLines returns the length of the lines at the start that begin with a dash.
func dashLines(data []byte) int {
	n := 0
	for line := range bytes.Lines(data) {
		if !bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte("- ")) {
			break
		}
		n += len(line)
	}
	return n
}

// parseLifted reads the node numbers between separators; with line ends as separators each has a
// dash before it. It stops after maxShown mistakes.
func (r *reader) parseLifted(list []byte, separator byte, line int) {
	list = dropComments(list)
	r.lifted = make([]int32, 0, bytes.Count(list, []byte{separator})+1)
	mistakes := 0
	for len(list) > 0 && mistakes < maxShown {
		item, rest, more := bytes.Cut(list, []byte{separator})
		list = rest
		text := bytes.TrimLeft(item, " \t\n")
		line += bytes.Count(item[:len(item)-len(text)], []byte{'\n'})
		after := bytes.Count(text, []byte{'\n'})
		if separator == '\n' {
			text = bytes.TrimPrefix(text, []byte("- "))
			after++
		}
		text = bytes.TrimSpace(text)
		if !more && len(text) == 0 {
			break // a comma may follow the last number
		}
		n, err := parseNode(text)
		if err != nil {
			r.Errorf(yamlfile.Place{Line: line}, "placement of rank %d: %v", len(r.lifted), err)
			mistakes++
		}
		r.lifted = append(r.lifted, n)
		line += after
	}
}

// dropComments returns the text without what follows a # up to the end of the line.
func dropComments(text []byte) []byte {
	if bytes.IndexByte(text, '#') < 0 {
		return text
	}
	kept := make([]byte, 0, len(text))
	for line := range bytes.Lines(text) {
		before, _, found := bytes.Cut(line, []byte{'#'})
		kept = append(kept, before...)
		if found && line[len(line)-1] == '\n' {
			kept = append(kept, '\n')
		}
	}
	return kept
}
