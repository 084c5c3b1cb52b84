// Package yamlfile reads small YAML files that people write by hand, and is strict with them: a
// key that is unknown or given twice is a mistake, and so is all of YAML that such files do not
// need (anchors, tags, several documents). All mistakes of a file are collected, each with its
// place and how to fix it.
//
// The package knows nothing of what the files describe. A reader makes a Document with Rules,
// parses the text and walks the nodes from the root; scalars are text, whatever YAML takes them
// for.
package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// The time to parse grows with the square of these. With the limits, and some ten kilobytes, it
// stays below a second.
const (
	maxLines = 4000
	maxDepth = 8 // of lists and mappings in brackets, and of lists with dashes in one line
)

// Rules define what files of one kind are like. All fields but the last two are needed.
type Rules struct {
	Thing    string // what a file describes, such as "machine"; files are then called machine files
	MaxBytes int    // size of a file; the time to parse may grow with its square
	MaxKeys  int    // keys of all mappings together; likewise

	// Parts of messages.
	Long   string // what to do with a file that is too long
	Deep   string // what to do with lists that are nested too deeply
	Empty  string // the message for a file without content
	Second string // the message for a second document in the file

	PlainKeys bool // messages show known keys without quotes
	LinesOnly bool // messages name lines, not columns
}

// Document is a YAML file and the mistakes found in it so far.
type Document struct {
	File   string // its name in messages
	Errors Errors

	rules              *Rules
	cutAfter, cutLines int
}

// New returns a document that is not parsed yet.
func New(file string, rules *Rules) *Document { return &Document{File: file, rules: rules} }

// Clean returns the text without byte order mark, and with LF at the ends of lines. Parse does the
// same.
func Clean(data []byte) []byte {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte{'\n'})
	return bytes.ReplaceAll(data, []byte{'\r'}, []byte{'\n'})
}

// CutLines declares before Parse that so many lines after the given one were taken out of the text, so
// that places are those in the file.
func (d *Document) CutLines(after, lines int) { d.cutAfter, d.cutLines = after, lines }

// Errorf notes a mistake.
func (d *Document) Errorf(at Place, format string, args ...any) {
	d.Errors = append(d.Errors, &Error{d.File, at, fmt.Sprintf(format, args...)})
}

// firstInvalid is the place of the first byte that is not UTF-8.
func (d *Document) firstInvalid(data []byte) Place {
	at := 0
	for at < len(data) {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	before := data[:at]
	line := 1 + bytes.Count(before, []byte{'\n'})
	column := 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	if line > d.cutAfter {
		line += d.cutLines
	}
	return Place{line, column}
}

// Parse returns the root of the only document in the text, or false after noting mistakes. Parts
// that are not read, such as anchors, are noted as well, but do not keep the rest from being
// walked.
func (d *Document) Parse(data []byte) (root Node, ok bool) {
	data = Clean(data)
	lines := bytes.Count(data, []byte{'\n'})
	switch {
	case len(data) > d.rules.MaxBytes:
		d.Errorf(Place{}, "has %d bytes of YAML, more than the limit of %d; %s", len(data), d.rules.MaxBytes, d.rules.Long)
		return root, false
	case lines > maxLines:
		d.Errorf(Place{}, "has %d lines, more than the limit of %d; %s", lines, maxLines, d.rules.Long)
		return root, false
	case !utf8.Valid(data):
		d.Errorf(d.firstInvalid(data), "is not UTF-8 text; save it as UTF-8")
		return root, false
	case bytes.IndexByte(data, 0) >= 0:
		d.Errorf(Place{}, "holds a zero byte; a %s file is YAML text", d.rules.Thing)
		return root, false
	}
	file, err := d.parseTokens(string(data))
	if err != nil {
		if syntax := (*yaml.SyntaxError)(nil); errors.As(err, &syntax) {
			d.Errorf(d.place(syntax.Token), "%s", firstLine(syntax.Message))
		} else {
			d.Errorf(Place{}, "%s", firstLine(err.Error()))
		}
	}
	if file == nil {
		return root, false
	}
	for _, doc := range file.Docs {
		switch {
		case doc.Body == nil:
		case ok:
			d.Errorf(d.node(doc.Body, Place{}).At, "%s", d.rules.Second)
			return Node{}, false
		default:
			root, ok = d.node(doc.Body, Place{}), true
		}
	}
	if !ok {
		d.Errorf(Place{}, "%s", d.rules.Empty)
	}
	return root, ok
}

// parseTokens parses text. It returns neither a file nor an error if it has noted mistakes itself.
func (d *Document) parseTokens(text string) (file *ast.File, err error) {
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

// checkTokens notes the first token of what is not read. It reports whether the tokens can be
// parsed without nesting deeply.
func (d *Document) checkTokens(tokens token.Tokens) bool {
	keys, depth, line, dashes, refused := 0, 0, 0, 0, 0
	for _, t := range tokens {
		if message := notRead(t.Type); message != "" {
			if refused == 0 {
				d.Errorf(d.place(t), message, d.rules.Thing+" files")
			}
			if refused++; refused > maxDepth { // each may be inside the one before
				return false
			}
		}
		switch t.Type {
		case token.MappingValueType:
			if keys++; keys > d.rules.MaxKeys {
				d.Errorf(d.place(t), "has more than %d keys; a %s needs far fewer", d.rules.MaxKeys, d.rules.Thing)
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
			d.Errorf(d.place(t), "lists are nested more than %d deep; %s", maxDepth, d.rules.Deep)
			return false
		}
	}
	return true
}

// notRead returns the message for a token that is not read, or nothing. %s are the files.
func notRead(t token.Type) string {
	switch t {
	case token.AnchorType, token.AliasType, token.MergeKeyType:
		return "anchors and aliases are not read in %s; write the value itself"
	case token.TagType, token.DirectiveType:
		return "YAML tags and directives are not read in %s; leave them out"
	case token.MappingKeyType:
		return "keys marked with a question mark are not read in %s; write \"key: value\""
	}
	return ""
}
