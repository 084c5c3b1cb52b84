package machine

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"slackline/internal/suggest"
	"slackline/internal/yamlfile"
)

// readPlacement reads block, cyclic, a list of nodes, or the name of a file with such a list.
func (r *reader) readPlacement(node yamlfile.Node) (p Placement) {
	if r.isLifted {
		return Placement{Nodes: r.lifted}
	}
	if list, ok := node.List(); ok {
		p.Nodes = make([]int32, 0, len(list))
		for _, v := range list {
			text, ok := v.Text("a node of the placement")
			if !ok {
				continue
			}
			n, err := parseNode([]byte(text))
			if err != nil {
				v.Errorf("placement of rank %d: %v", len(p.Nodes), err)
			}
			p.Nodes = append(p.Nodes, n)
		}
		if len(list) == 0 {
			node.Errorf("the placement lists no rank; give the node of each rank, or write block or cyclic")
		}
		return p
	}
	word, ok := node.Text("placement")
	switch {
	case !ok || word == "block":
		return p
	case word == "cyclic":
		return Placement{Cyclic: true}
	case word == "" || isNumber(word):
		node.Errorf("placement is %s; write block, cyclic, a list such as [0, 0, 1, 1], or the name of a file", yamlfile.Quote(word))
		return p
	}
	return Placement{Nodes: r.readPlacementFile(node, word)}
}

// readPlacementFile reads a file with one node number per line. A relative name is looked for
// beside the machine file.
func (r *reader) readPlacementFile(node yamlfile.Node, name string) []int32 {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(r.File), name)
	}
	data, err := readFile(r.from, path)
	if err != nil {
		node.Errorf("placement %s is neither block nor cyclic, nor a file that can be read (%v)%s",
			yamlfile.Quote(name), err, suggest.Phrase(name, []string{"block", "cyclic"}))
		return nil
	}
	list, errs := parseNodeLines(path, data)
	if len(errs) == 0 && len(list) == 0 {
		node.Errorf("placement file %s lists no rank; give one node number per line, by rank", path)
	}
	r.Errors = append(r.Errors, errs...)
	return list
}

// parseNodeLines reads one node number per line. Empty lines and lines that begin with # are
// skipped. It stops after maxShown mistakes.
func parseNodeLines(path string, data []byte) (list []int32, errs FileErrors) {
	list = make([]int32, 0, bytes.Count(data, []byte{'\n'})+1)
	line := 0
	for text := range bytes.Lines(data) {
		line++
		text = bytes.TrimSpace(text)
		if len(text) == 0 || text[0] == '#' {
			continue
		}
		n, err := parseNode(text)
		if err != nil {
			errs = append(errs, &FileError{File: path, Place: yamlfile.Place{Line: line}, Message: fmt.Sprintf("placement of rank %d: %v", len(list),
				err)})
			if len(errs) == maxShown {
				break
			}
		}
		list = append(list, n)
	}
	return list, errs
}

// parseNode reads a node number.
func parseNode(text []byte) (int32, error) {
	n := 0
	for _, c := range text {
		if c < '0' || c > '9' || n > math.MaxInt32 {
			return 0, fmt.Errorf("node %s; give a whole number from 0 to %d", yamlfile.Quote(string(text)), math.MaxInt32-1)
		}
		n = 10*n + int(c-'0')
	}
	if len(text) == 0 || n >= math.MaxInt32 {
		return 0, fmt.Errorf("node %s; give a whole number from 0 to %d", yamlfile.Quote(string(text)), math.MaxInt32-1)
	}
	return int32(n), nil
}

func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

// formatNodes writes a placement list, some numbers to a line.
func formatNodes(b *strings.Builder, nodes []int32) {
	const perLine = 24
	b.WriteByte('[')
	for i, n := range nodes {
		if i > 0 {
			b.WriteByte(',')
			if i%perLine == 0 {
				b.WriteString("\n  ")
			} else {
				b.WriteByte(' ')
			}
		}
		b.WriteString(strconv.Itoa(int(n)))
	}
	b.WriteByte(']')
}
