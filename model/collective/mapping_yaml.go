package collective

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// yamlError is a syntax error with its place, ":line: message".
type yamlError struct {
	line    int
	message string
}

func (e *yamlError) Error() string { return fmt.Sprintf(":%d: %s", e.line, e.message) }

// parseYAML parses a file. The library reports some malformed files by a panic; that becomes an
// error like any other.
func parseYAML(data []byte) (file *ast.File, err error) {
	defer func() {
		if r := recover(); r != nil {
			file, err = nil, &yamlError{1, "this is not YAML"}
		}
	}()
	file, err = parser.ParseBytes(data, 0)
	if err != nil {
		return nil, shortYAMLError(err)
	}
	return file, nil
}

// shortYAMLError takes the line and the first line of the text from an error of the library, which
// begins with "[line:column] ".
func shortYAMLError(err error) error {
	text, _, _ := strings.Cut(err.Error(), "\n")
	e := &yamlError{1, text}
	if rest, ok := strings.CutPrefix(text, "["); ok {
		if place, message, ok := strings.Cut(rest, "] "); ok {
			line, _, _ := strings.Cut(place, ":")
			if n, err := strconv.Atoi(line); err == nil {
				e.line, e.message = n, message
			}
		}
	}
	return e
}

// entry is a key of a YAML mapping with its value.
type entry struct {
	key   string
	at    ast.Node
	value ast.Node
}

// entries returns what stands in a YAML mapping. Each key may stand there once.
func (r *mappingReader) entries(node ast.Node, want string) ([]entry, error) {
	var values []*ast.MappingValueNode
	switch n := node.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	default:
		return nil, r.errorf(node, "this must be %s", want)
	}
	seen := map[string]bool{}
	var list []entry
	for _, v := range values {
		key, err := r.scalar(v.Key)
		if err != nil {
			return nil, err
		}
		if seen[key] {
			return nil, r.errorf(v.Key, "%s stands here twice", key)
		}
		seen[key] = true
		list = append(list, entry{key, v.Key, v.Value})
	}
	return list, nil
}

// text returns the value of an entry as text.
func (r *mappingReader) text(e entry) (string, error) {
	text, err := r.scalar(e.value)
	if err != nil || text == "" {
		return "", r.errorf(e.at, "%s needs a value", e.key)
	}
	return text, nil
}

var errNoScalar = errors.New("this must be a word or a number")

func (r *mappingReader) scalar(node ast.Node) (string, error) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, nil
	}
	return "", r.errorf(node, "%w", errNoScalar)
}
