package machine

import (
	"bytes"
	"fmt"
	"strconv"

	"slackline/internal/source"
	"slackline/internal/yamlfile"
)

// hopMatrix is a topology of which only the numbers of switches between nodes are known.
type hopMatrix struct {
	n    int
	hops []uint16 // by row, then column
}

// maxHops is the largest number of switches between two nodes of a matrix.
const maxHops = 1<<16 - 1

// readHopMatrix reads a file with one line for each node: the numbers of switches between it and
// all nodes, in their order, separated by blanks or commas. Empty lines and what follows a # are
// skipped.
func readHopMatrix(from source.Source, path string) (network, error) {
	data, err := readFile(from, path)
	if err != nil {
		return nil, err
	}
	return parseHopMatrix(path, data)
}

func parseHopMatrix(path string, data []byte) (network, error) {
	fail := func(line int, format string, args ...any) error {
		return &FileError{File: path, Place: yamlfile.Place{Line: line}, Message: fmt.Sprintf(format, args...)}
	}
	m := hopMatrix{}
	rows, line := 0, 0
	separator := func(r rune) bool { return r == ' ' || r == '\t' || r == ',' || r == '\r' || r == '\n' }
	for text := range bytes.Lines(data) {
		line++
		text, _, _ = bytes.Cut(text, []byte{'#'})
		fields := bytes.FieldsFunc(text, separator)
		if len(fields) == 0 {
			continue
		}
		if rows == 0 {
			m.n = len(fields)
			m.hops = make([]uint16, 0, m.n*min(m.n, len(data)/(2*m.n)+1))
		}
		if len(fields) != m.n {
			return nil, fail(line, "row %d of the hop matrix has %d numbers, but the first one has %d; give one for each node", rows, len(fields),
				m.n)
		}
		if rows == m.n {
			return nil, fail(line, "the hop matrix has more rows than the %d columns; give one row for each node", m.n)
		}
		for column, field := range fields {
			h, err := strconv.ParseUint(string(field), 10, 16)
			if err != nil {
				return nil, fail(line, "the switches between nodes %d and %d are %s; give a whole number from 0 to %d",
					rows, column, yamlfile.Quote(string(field)), maxHops)
			}
			m.hops = append(m.hops, uint16(h))
			switch {
			case column == rows && h != 0:
				return nil, fail(line, "there are %d switches between node %d and itself; give 0", h, rows)
			case column < rows && h != uint64(m.hops[column*m.n+rows]):
				return nil, fail(line, "there are %d switches from node %d to node %d, but %d back; give the same number",
					h, rows, column, m.hops[column*m.n+rows])
			}
		}
		rows++
	}
	if rows == 0 {
		return nil, fail(0, "the hop matrix is empty; give a row for each node, e.g. \"0 1 1\"")
	}
	if rows < m.n {
		return nil, fail(0, "the hop matrix has %d rows, but %d columns; give one row for each node", rows, m.n)
	}
	return m, nil
}

func (m hopMatrix) nodes() int64 { return int64(m.n) }

func (m hopMatrix) switches(i, j int) int { return int(m.hops[i*m.n+j]) }

func (m hopMatrix) classes() []string { return []string{"all"} }

func (m hopMatrix) count(i, j int, counts []int) { counts[0] += m.switches(i, j) + 1 }
