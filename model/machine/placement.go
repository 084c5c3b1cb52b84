package machine

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"slackline/internal/suggest"
)

// readPlacement reads block, cyclic, a list of nodes, or the name of a file with such a list.
func (r *reader) readPlacement(node ast.Node) (p Placement) {
	if r.isLifted {
		return Placement{Nodes: r.lifted}
	}
	if list, ok := node.(*ast.SequenceNode); ok {
		p.Nodes = make([]int32, 0, len(list.Values))
		for _, v := range list.Values {
			text, ok := r.scalar(v, "a node of the placement")
			if !ok {
				continue
			}
			n, err := parseNode([]byte(text))
			if err != nil {
				r.errorf(start(v), "placement of rank %d: %v", len(p.Nodes), err)
			}
			p.Nodes = append(p.Nodes, n)
		}
		if len(list.Values) == 0 {
			r.errorf(start(node), "the placement lists no rank; give the node of each rank, or write block or cyclic")
		}
		return p
	}
	word, ok := r.scalar(node, "placement")
	switch {
	case !ok || word == "block":
		return p
	case word == "cyclic":
		return Placement{Cyclic: true}
	case word == "" || digitsOnly(word):
		r.errorf(start(node), "placement is %s; write block, cyclic, a list such as [0, 0, 1, 1], or the name of a file", quoted(word))
		return p
	}
	return Placement{Nodes: r.readPlacementFile(node, word)}
}

// readPlacementFile reads a file with one node number per line. A relative name is looked for
// beside the machine file.
func (r *reader) readPlacementFile(node ast.Node, name string) []int32 {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(r.file), name)
	}
	data, err := readFile(path)
	if err != nil {
		r.errorf(start(node), "placement %s is neither block nor cyclic, nor a file that can be read (%v)%s",
			quoted(name), err, suggest.Phrase(name, []string{"block", "cyclic"}))
		return nil
	}
	list, errs := parseNodeLines(path, data)
	if len(errs) == 0 && len(list) == 0 {
		r.errorf(start(node), "placement file %s lists no rank; give one node number per line, by rank", path)
	}
	r.errs = append(r.errs, errs...)
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
			errs = append(errs, &FileError{File: path, Line: line, Message: fmt.Sprintf("placement of rank %d: %v", len(list), err)})
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
			return 0, fmt.Errorf("node %s; give a whole number from 0 to %d", quoted(string(text)), math.MaxInt32-1)
		}
		n = 10*n + int(c-'0')
	}
	if len(text) == 0 || n >= math.MaxInt32 {
		return 0, fmt.Errorf("node %s; give a whole number from 0 to %d", quoted(string(text)), math.MaxInt32-1)
	}
	return int32(n), nil
}

func digitsOnly(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

// longPlacement is the length in bytes from which a placement list is read without the YAML
// parser, which needs about a kilobyte for each number.
const longPlacement = 32 << 10

// liftPlacement takes a long list of the form "placement: [0, 1, ...]" out of the text, which
// must begin a line. The lines that follow keep their numbers in messages.
func (r *reader) liftPlacement(data []byte) []byte {
	if len(data) < longPlacement {
		return data
	}
	const key = "placement:"
	start := 0
	if !bytes.HasPrefix(data, []byte(key)) {
		start = bytes.Index(data, []byte("\n"+key)) + 1
		if start == 0 {
			return data
		}
	}
	from := start + len(key)
	for from < len(data) && (data[from] == ' ' || data[from] == '\n' || data[from] == '\r') {
		from++
	}
	if from == len(data) || data[from] != '[' {
		return data
	}
	length := bytes.IndexByte(data[from:], ']')
	if length < longPlacement {
		return data
	}
	list, to := data[from+1:from+length], from+length+1
	before := bytes.Count(data[:from], []byte{'\n'}) + 1
	r.lifted, r.isLifted = r.parseLifted(list, before), true
	r.liftedLine = bytes.Count(data[:start], []byte{'\n'}) + 1
	r.liftedLines = bytes.Count(data[start:to], []byte{'\n'})
	return bytes.Join([][]byte{data[:start], []byte(key + " [0]"), data[to:]}, nil)
}

// parseLifted reads node numbers between commas. It stops after maxShown mistakes.
func (r *reader) parseLifted(list []byte, line int) []int32 {
	nodes := make([]int32, 0, bytes.Count(list, []byte{','})+1)
	mistakes := 0
	for len(list) > 0 && mistakes < maxShown {
		item, rest, more := bytes.Cut(list, []byte{','})
		list = rest
		text := bytes.TrimSpace(item)
		if !more && len(text) == 0 {
			break // a comma may follow the last number
		}
		n, err := parseNode(text)
		if err != nil {
			at := line + bytes.Count(item[:len(item)-len(bytes.TrimLeft(item, " \t\r\n"))], []byte{'\n'})
			r.errs = append(r.errs, &FileError{File: r.file, Line: at, Message: fmt.Sprintf("placement of rank %d: %v", len(nodes), err)})
			mistakes++
		}
		nodes = append(nodes, n)
		line += bytes.Count(item, []byte{'\n'})
	}
	return nodes
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
