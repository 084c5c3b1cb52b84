package machine

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"slackline/internal/suggest"
)

const (
	maxYAML  = 32 << 10 // bytes beside a long placement; the time to parse may grow with their square
	maxLines = 4000     // lines beside a long placement; the time to parse grows with their square
	maxKeys  = 2000     // keys of all mappings together; the time to parse grows with their square
	maxDepth = 8        // nesting of lists and mappings; a machine file needs 3
)

// document is a parsed YAML file and the mistakes found in it so far.
type document struct {
	file string
	errs FileErrors

	// A list that was taken out before parsing: the lines after this one are further down.
	liftedLine, liftedLines int
}

// entry is a key of a mapping with its value.
type entry struct {
	key   string
	at    *token.Token
	value ast.Node
}

// errorf notes a mistake at the token.
func (d *document) errorf(at *token.Token, format string, args ...any) {
	e := &FileError{File: d.file, Message: fmt.Sprintf(format, args...)}
	if at != nil && at.Position != nil {
		e.Line, e.Column = at.Position.Line, at.Position.Column
		if d.liftedLines > 0 && e.Line > d.liftedLine {
			e.Line += d.liftedLines
		}
	}
	d.errs = append(d.errs, e)
}

// parse returns the body of the only YAML document, or nil after noting mistakes.
func (d *document) parse(data []byte) ast.Node {
	switch {
	case len(data) > maxYAML:
		d.errorf(nil, "has %d bytes of YAML, more than the limit of %d; put a long placement into a file of its own, one node number per line",
			len(data), maxYAML)
		return nil
	case bytes.Count(data, []byte{'\n'}) > maxLines:
		d.errorf(nil, "has %d lines, more than the limit of %d; put a long placement into a file of its own, one node number per line",
			bytes.Count(data, []byte{'\n'}), maxLines)
		return nil
	case !utf8.Valid(data):
		d.errorf(nil, "is not UTF-8 text; save it as UTF-8")
		return nil
	case bytes.IndexByte(data, 0) >= 0:
		d.errorf(nil, "holds a zero byte; a machine file is YAML text")
		return nil
	}
	file, err := d.parseTokens(string(data))
	if err != nil {
		if syntax := (*yaml.SyntaxError)(nil); errors.As(err, &syntax) {
			d.errorf(syntax.Token, "%s", firstLine(syntax.Message))
		} else {
			d.errorf(nil, "%s", firstLine(err.Error()))
		}
		return nil
	}
	if file == nil {
		return nil
	}
	var body ast.Node
	for _, doc := range file.Docs {
		switch {
		case doc.Body == nil:
		case body != nil:
			d.errorf(start(doc.Body), "a second YAML document begins; give each machine a file of its own")
			return nil
		default:
			body = doc.Body
		}
	}
	if body == nil {
		d.errorf(nil, "is empty; give at least L, o, g and G")
	}
	return body
}

// parseTokens parses text. It returns neither a file nor an error if it has noted mistakes itself.
func (d *document) parseTokens(text string) (file *ast.File, err error) {
	defer func() {
		// The YAML parser must not take the program down, whatever the file holds.
		if p := recover(); p != nil {
			file, err = nil, fmt.Errorf("is not YAML that can be read (%v)", p)
		}
	}()
	tokens := lexer.Tokenize(text)
	if !d.checkTokens(tokens) {
		return nil, nil
	}
	return parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
}

// checkTokens refuses what machine files do not need and what would make the parser nest deeply.
func (d *document) checkTokens(tokens token.Tokens) bool {
	keys, depth, line, dashes := 0, 0, 0, 0
	for _, t := range tokens {
		switch t.Type {
		case token.AnchorType, token.AliasType, token.MergeKeyType:
			d.errorf(t, "anchors and aliases are not read in machine files; write the value itself")
			return false
		case token.TagType, token.DirectiveType:
			d.errorf(t, "YAML tags and directives are not read in machine files; leave them out")
			return false
		case token.MappingKeyType:
			d.errorf(t, "keys marked with a question mark are not read in machine files; write \"key: value\"")
			return false
		case token.MappingValueType:
			if keys++; keys > maxKeys {
				d.errorf(t, "has more than %d keys; a machine needs far fewer", maxKeys)
				return false
			}
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		case token.SequenceEntryType:
			if t.Position.Line != line {
				line, dashes = t.Position.Line, 0
			}
			dashes++
		}
		if depth > maxDepth || dashes > maxDepth {
			d.errorf(t, "lists are nested more than %d deep; a machine file has lists of plain values only", maxDepth)
			return false
		}
	}
	return true
}

// mapping returns the entries of a mapping whose keys are known and given once; it notes all
// others. what names the mapping in messages.
func (d *document) mapping(node ast.Node, what string, known *keySet) []entry {
	m, ok := node.(ast.MapNode)
	if !ok {
		d.errorf(start(node), "%s must be keys with values, as in \"%s\"", what, known.example)
		return nil
	}
	var list []entry
	first := map[string]int{}
	for it := m.MapRange(); it.Next(); {
		e := entry{at: it.Key().GetToken(), value: it.Value()}
		e.key = e.at.Value
		line := e.at.Position.Line
		if !known.has(e.key) {
			d.errorf(e.at, "unknown key %s in %s; %s", quoted(e.key), what, known.hint(e.key))
			continue
		}
		if before, twice := first[e.key]; twice {
			d.errorf(e.at, "key %s is given twice in %s, first in line %d; keep one of them", quoted(e.key), what, before)
			continue
		}
		first[e.key] = line
		if e.value == nil {
			d.errorf(e.at, "key %s has no value; give one or leave the key out", quoted(e.key))
			continue
		}
		list = append(list, e)
	}
	return list
}

// start returns the first token of a node. A mapping without braces begins at its first key.
func start(node ast.Node) *token.Token {
	switch n := node.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return n.Values[0].Key.GetToken()
		}
	case *ast.MappingValueNode:
		return n.Key.GetToken()
	}
	return node.GetToken()
}

// scalar returns the text of a plain value, whatever YAML takes it for.
func (d *document) scalar(node ast.Node, what string) (string, bool) {
	switch n := node.(type) {
	case *ast.NullNode:
		d.errorf(n.GetToken(), "%s has no value; give one or leave the key out", what)
		return "", false
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	case *ast.SequenceNode:
		d.errorf(n.GetToken(), "%s is a list; give one value", what)
	case ast.MapNode:
		d.errorf(start(node), "%s is a mapping; give one value", what)
	default:
		d.errorf(start(node), "%s must be one value", what)
	}
	return "", false
}

// keySet are the keys that a mapping may have.
type keySet struct {
	keys    []string
	meant   map[string]string // other words for keys, in lower case
	example string
}

func (k *keySet) has(key string) bool {
	for _, known := range k.keys {
		if key == known {
			return true
		}
	}
	return false
}

// hint says which key was probably meant, else which there are.
func (k *keySet) hint(key string) string {
	words := append([]string{}, k.keys...)
	for _, w := range otherWords {
		if k.meant[w] != "" {
			words = append(words, w)
		}
	}
	if near := suggest.Nearest(key, words); near != "" {
		if k.meant[near] != "" {
			return fmt.Sprintf("did you mean %s (%s)?", k.meant[near], near)
		}
		return fmt.Sprintf("did you mean %s?", near)
	}
	return "the keys are " + strings.Join(k.keys, ", ")
}

// quoted puts text of a file into quotes, cut if it is long.
func quoted(text string) string {
	const longest = 40
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "..."
	}
	return strconv.Quote(text)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
