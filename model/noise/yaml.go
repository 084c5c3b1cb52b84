package noise

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"slackline/internal/suggest"
	"slackline/model/unit"
)

// A profile file describes a model or a mixture:
//
//	name: altix                    # default: the name of the file
//	note: "where it comes from"    # optional
//	parts:                         # none: no noise
//	  - label: timer               # optional
//	    arrivals: periodic         # or poisson
//	    rate: 250Hz                # or the time between two detours
//	    length: uniform:1us:8us    # as in a specification, or a list of lengths
//	    jitter: 20%                # optional, periodic only
//	    phase: 1ms                 # optional, periodic only
//	  - label: recorded
//	    trace: detours.txt         # a trace in any format, beside this file
//
// Other keys, keys given twice, anchors and tags are errors.

// The time to parse YAML may grow with the square of its size, so it is bounded.
const (
	maxYAML      = 64 << 10
	maxYAMLDepth = 6
)

// yamlReader reads one profile file; the first mistake ends it.
type yamlReader struct {
	file string
	dir  string // of the file; "-": traces are not looked for
}

func (r *yamlReader) errorf(at *token.Token, format string, args ...any) error {
	e := &FileError{File: r.file, Message: fmt.Sprintf(format, args...)}
	if at != nil && at.Position != nil {
		e.Line = at.Position.Line
	}
	return e
}

func readYAML(name string, data []byte) (*Profile, error) {
	r := &yamlReader{file: name, dir: filepath.Dir(name)}
	body, err := r.parse(data)
	if err != nil {
		return nil, err
	}
	p := &Profile{}
	err = r.mapping(body, "the profile", []string{"name", "note", "parts"}, func(key string, value ast.Node) (err error) {
		switch key {
		case "name":
			p.Name, err = r.scalar(value, key)
		case "note":
			p.Note, err = r.scalar(value, key)
			p.Note = strings.TrimSpace(p.Note)
		case "parts":
			p.Parts, err = r.parts(value)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if p.Name == "" {
		base := filepath.Base(name)
		p.Name = strings.TrimSuffix(base, filepath.Ext(base))
	}
	if err := p.Check(); err != nil {
		return nil, r.errorf(nil, "%s", strings.TrimPrefix(err.Error(), "noise: "))
	}
	return p, nil
}

// parse returns the body of the only YAML document.
func (r *yamlReader) parse(data []byte) (ast.Node, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte{'\n'})
	switch {
	case len(data) > maxYAML:
		return nil, r.errorf(nil, "has %d bytes, more than the limit of %d for profiles; put long lists into a trace", len(data), maxYAML)
	case !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
		return nil, r.errorf(nil, "is neither a trace nor a profile: it is not UTF-8 text")
	}
	file, err := r.parseTokens(string(data))
	if err != nil {
		if syntax := (*yaml.SyntaxError)(nil); errors.As(err, &syntax) {
			line, _, _ := strings.Cut(syntax.Message, "\n")
			return nil, r.errorf(syntax.Token, "%s", line)
		}
		if at := (*FileError)(nil); errors.As(err, &at) {
			return nil, err
		}
		line, _, _ := strings.Cut(err.Error(), "\n")
		return nil, r.errorf(nil, "%s", line)
	}
	var body ast.Node
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if body != nil {
			return nil, r.errorf(doc.Body.GetToken(), "a second YAML document begins; give each profile a file of its own")
		}
		body = doc.Body
	}
	if body == nil {
		return nil, r.errorf(nil, "is empty; a profile without noise needs at least a name")
	}
	return body, nil
}

// parseTokens parses text, without what profiles do not need and what would nest deeply.
func (r *yamlReader) parseTokens(text string) (file *ast.File, err error) {
	defer func() {
		// The YAML parser must not take the program down, whatever the file holds.
		if p := recover(); p != nil {
			file, err = nil, fmt.Errorf("is not YAML that can be read (%v)", p)
		}
	}()
	tokens := lexer.Tokenize(text)
	depth, line, dashes := 0, 0, 0
	for _, t := range tokens {
		switch t.Type {
		case token.AnchorType, token.AliasType, token.MergeKeyType, token.TagType, token.DirectiveType, token.MappingKeyType:
			return nil, r.errorf(t, "anchors, aliases, tags, directives and marked keys are not read in profiles; write the value itself")
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
		if depth > maxYAMLDepth || dashes > maxYAMLDepth {
			return nil, r.errorf(t, "lists are nested more than %d deep", maxYAMLDepth)
		}
	}
	return parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
}

// mapping calls take for each entry of a mapping with known keys.
func (r *yamlReader) mapping(node ast.Node, what string, known []string, take func(key string, value ast.Node) error) error {
	m, ok := node.(ast.MapNode)
	if !ok {
		return r.errorf(node.GetToken(), "%s must be keys with values; the keys are %s", what, strings.Join(known, ", "))
	}
	first := map[string]int{}
	for it := m.MapRange(); it.Next(); {
		at := it.Key().GetToken()
		key := at.Value
		if !slices.Contains(known, key) {
			return r.errorf(at, "unknown key %s in %s%s (known: %s)", quoted(key), what, suggest.Phrase(key, known), strings.Join(known, ", "))
		}
		if before, twice := first[key]; twice {
			return r.errorf(at, "key %s is given twice in %s, first in line %d", key, what, before)
		}
		first[key] = at.Position.Line
		value := it.Value()
		if _, null := value.(*ast.NullNode); value == nil || null {
			return r.errorf(at, "key %s has no value; give one or leave the key out", key)
		}
		if err := take(key, value); err != nil {
			return err
		}
	}
	return nil
}

// scalar returns the text of a plain value, whatever YAML takes it for.
func (r *yamlReader) scalar(node ast.Node, what string) (string, error) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, nil
	case *ast.LiteralNode:
		return n.Value.Value, nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, nil
	}
	return "", r.errorf(node.GetToken(), "%s must be one value", what)
}

func (r *yamlReader) parts(node ast.Node) ([]Part, error) {
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		return nil, r.errorf(node.GetToken(), "parts must be a list: begin each part with \"- \"")
	}
	parts := make([]Part, 0, len(list.Values))
	for _, n := range list.Values {
		if n == nil {
			return nil, r.errorf(list.GetToken(), "a part is empty")
		}
		part, err := r.part(n)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

var partKeys = []string{"label", "arrivals", "rate", "length", "jitter", "phase", "trace"}

func (r *yamlReader) part(node ast.Node) (part Part, err error) {
	part.Kind = KindPeriodic
	given := map[string]bool{}
	err = r.mapping(node, "a part", partKeys, func(key string, value ast.Node) error {
		given[key] = true
		if list, ok := value.(*ast.SequenceNode); ok && key == "length" {
			part.Length, err = r.empirical(list)
			return err
		}
		text, err := r.scalar(value, key)
		if err == nil {
			if err = r.partValue(&part, key, text); err != nil && !errors.As(err, new(*FileError)) {
				err = r.errorf(value.GetToken(), "%s", err)
			}
		}
		return err
	})
	if err != nil {
		return part, err
	}
	at := node.GetToken()
	if m, ok := node.(*ast.MappingNode); ok && len(m.Values) > 0 {
		at = m.Values[0].Key.GetToken()
	}
	switch {
	case given["trace"] && (given["rate"] || given["length"] || given["arrivals"] || given["jitter"] || given["phase"]):
		return part, r.errorf(at, "a part with a trace has no other key but label")
	case !given["trace"] && (!given["rate"] || !given["length"]):
		return part, r.errorf(at, "a part needs rate and length, or trace")
	}
	if err := part.check(); err != nil {
		return part, r.errorf(at, "%s", strings.TrimPrefix(err.Error(), "noise: "))
	}
	return part, nil
}

func (r *yamlReader) partValue(part *Part, key, text string) (err error) {
	switch key {
	case "label":
		part.Label = text
	case "arrivals":
		switch text {
		case "periodic":
		case "poisson":
			part.Kind = KindPoisson
		default:
			known := []string{"periodic", "poisson"}
			return fmt.Errorf("arrivals %s is unknown%s (known: %s)", quoted(text), suggest.Phrase(text, known), strings.Join(known, ", "))
		}
	case "rate":
		part.Every, err = ParseRate(text)
	case "length":
		part.Length, err = ParseLengths(text)
	case "jitter":
		part.Jitter, err = parsePercent(text)
	case "phase":
		var d unit.Duration
		d, err = unit.ParseDuration(text)
		part.Phase = int64(d)
	case "trace":
		err = r.traceFile(part, text)
	}
	return err
}

// traceFile reads the trace of a part.
func (r *yamlReader) traceFile(part *Part, path string) error {
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.dir, path)
	}
	data, err := readFile(path)
	if err != nil {
		return err
	}
	format := Sniff(data)
	if format == FormatYAML {
		return fmt.Errorf("trace %s is a profile; give a trace", quoted(path))
	}
	p, err := readAs(format, path, data)
	if err != nil {
		return err
	}
	part.Kind, part.Trace = KindTrace, p.Parts[0].Trace
	return nil
}

func (r *yamlReader) empirical(list *ast.SequenceNode) (Lengths, error) {
	var lengths Empirical
	for _, n := range list.Values {
		if n == nil {
			return nil, r.errorf(list.GetToken(), "a length is empty")
		}
		text, err := r.scalar(n, "a length")
		if err != nil {
			return nil, err
		}
		d, err := unit.ParseDuration(text)
		if err != nil {
			return nil, r.errorf(n.GetToken(), "%s", err)
		}
		lengths = append(lengths, int64(d))
	}
	if err := lengths.check(); err != nil {
		return nil, r.errorf(list.GetToken(), "%s", err)
	}
	return lengths, nil
}

// WriteYAML writes a model as a profile file. A trace cannot stand in one: it is an error.
func WriteYAML(w io.Writer, p *Profile) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "name: %s\n", strconv.Quote(strings.ToValidUTF8(p.Name, "?")))
	if p.Note != "" {
		fmt.Fprintf(&b, "note: %s\n", yamlText(strings.ToValidUTF8(p.Note, "?")))
	}
	if len(p.Parts) > 0 {
		b.WriteString("parts:\n")
	}
	for i := range p.Parts {
		part := &p.Parts[i]
		if part.Kind == KindTrace {
			return fmt.Errorf("noise: part %d of %s is a trace, which a profile file cannot hold; write the trace to a file of its own", i+1, p.title())
		}
		arrivals := "periodic"
		if part.Kind == KindPoisson {
			arrivals = "poisson"
		}
		lead := "  - "
		line := func(key, value string) {
			fmt.Fprintf(&b, "%s%s: %s\n", lead, key, value)
			lead = "    "
		}
		if part.Label != "" {
			line("label", strconv.Quote(strings.ToValidUTF8(part.Label, "?")))
		}
		line("arrivals", arrivals)
		line("rate", FormatRate(part.Every))
		line("length", strconv.Quote(part.Length.String()))
		if part.Jitter != 0 {
			line("jitter", strconv.FormatFloat(part.Jitter, 'g', -1, 64))
		}
		if part.Phase != 0 {
			line("phase", unit.Duration(part.Phase).String())
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// yamlText returns a text as a YAML value: plain lines as a block, so that people can read them,
// everything else in quotes.
func yamlText(text string) string {
	lines := strings.Split(text, "\n")
	for _, line := range lines {
		odd := func(r rune) bool { return !unicode.IsPrint(r) }
		if line == "" || strings.TrimSpace(line) != line || strings.ContainsFunc(line, odd) {
			return strconv.Quote(text)
		}
	}
	if len(lines) == 1 {
		return strconv.Quote(text)
	}
	return "|\n  " + strings.Join(lines, "\n  ")
}
