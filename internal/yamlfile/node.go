package yamlfile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"slackline/internal/suggest"
)

// Node is a value in a document.
type Node struct {
	At Place // where it starts; a mapping without braces starts at its first key

	doc  *Document
	node ast.Node
}

// Kind is the kind of a node.
type Kind uint8

// The kinds.
const (
	Other  Kind = iota // what is not read, such as an anchor
	Null               // no value
	Scalar             // one value
	List
	Mapping
)

// Kind returns the kind of the node.
func (n Node) Kind() Kind {
	switch n.node.(type) {
	case nil, *ast.NullNode:
		return Null
	case *ast.StringNode, *ast.LiteralNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return Scalar
	case *ast.SequenceNode:
		return List
	case ast.MapNode:
		return Mapping
	}
	return Other
}

// Errorf notes a mistake where the node starts.
func (n Node) Errorf(format string, args ...any) { n.doc.Errorf(n.At, format, args...) }

// Scalar returns the text of a scalar, whatever YAML takes it for, and false for other kinds.
func (n Node) Scalar() (string, bool) {
	switch v := n.node.(type) {
	case *ast.StringNode:
		return v.Value, true
	case *ast.LiteralNode:
		return v.Value.Value, true
	}
	if n.Kind() != Scalar {
		return "", false
	}
	return n.node.GetToken().Value, true
}

// Text returns the text of a scalar. It notes a mistake if the node is of another kind; what names
// it in messages.
func (n Node) Text(what string) (string, bool) {
	text, ok := n.Scalar()
	switch n.Kind() {
	case Null:
		n.Errorf("%s has no value; give one or leave the key out", what)
	case List:
		n.Errorf("%s is a list; give one value", what)
	case Mapping:
		n.Errorf("%s is a mapping; give one value", what)
	case Other:
		n.Errorf("%s must be one value", what)
	}
	return text, ok
}

// Bool returns the value of true or false without quotes, and whether the node is one of them.
func (n Node) Bool() (value, ok bool) {
	if b, ok := n.node.(*ast.BoolNode); ok {
		return b.Value, true
	}
	return false, false
}

// List returns the entries of a list, and false for other kinds.
func (n Node) List() ([]Node, bool) {
	s, ok := n.node.(*ast.SequenceNode)
	if !ok {
		return nil, false
	}
	list := make([]Node, len(s.Values))
	for i, v := range s.Values {
		list[i] = n.doc.node(v, n.At)
	}
	return list, true
}

// Entry is a key of a mapping with its value.
type Entry struct {
	Key   string
	At    Place // of the key
	Value Node
}

// Errorf notes a mistake at the key.
func (e Entry) Errorf(format string, args ...any) { e.Value.doc.Errorf(e.At, format, args...) }

// Entries returns the entries of a mapping as written, whatever their keys, and false for
// other kinds.
func (n Node) Entries() ([]Entry, bool) {
	m, ok := n.node.(ast.MapNode)
	if !ok {
		return nil, false
	}
	var list []Entry
	for it := m.MapRange(); it.Next(); {
		t := it.Key().GetToken()
		at := n.doc.place(t)
		list = append(list, Entry{t.Value, at, n.doc.node(it.Value(), at)})
	}
	return list, true
}

// Keys are the keys that a mapping may have.
type Keys struct {
	Names   []string
	Words   []Word // further words that people use
	Example string // a mapping in one line
}

// Word is a word that people use for a key.
type Word struct{ Word, Key string }

// Mapping returns the entries whose keys are known and given once; it notes all others, and a node
// that is not a mapping. what names the mapping in messages; it may be empty.
func (n Node) Mapping(what string, keys *Keys) []Entry {
	entries, ok := n.Entries()
	if !ok {
		n.Errorf("%s must be keys with values, as in \"%s\"", cmp.Or(what, "the file"), keys.Example)
		return nil
	}
	if what != "" {
		what = " in " + what
	}
	first := map[string]int{}
	return slices.DeleteFunc(entries, func(e Entry) bool {
		before, twice := first[e.Key]
		switch {
		case !slices.Contains(keys.Names, e.Key):
			e.Errorf("unknown key %s%s; %s", Quote(e.Key), what, keys.hint(e.Key))
		case twice:
			shown := Quote(e.Key)
			if n.doc.rules.PlainKeys {
				shown = e.Key
			}
			e.Errorf("key %s is given twice%s, first in line %d; keep one of them", shown, what, before)
		default:
			first[e.Key] = e.At.Line
			return false
		}
		return true
	})
}

// hint is the key that was probably meant, else the list of keys.
func (k *Keys) hint(key string) string {
	words := slices.Clone(k.Names)
	for _, w := range k.Words {
		words = append(words, w.Word)
	}
	near := suggest.Nearest(key, words)
	if i := slices.IndexFunc(k.Words, func(w Word) bool { return w.Word == near }); i >= 0 {
		return fmt.Sprintf("did you mean %s (%s)?", k.Words[i].Key, near)
	}
	if near != "" {
		return fmt.Sprintf("did you mean %s?", near)
	}
	return "the keys are " + strings.Join(k.Names, ", ")
}

// node returns a node of the tree. If that does not have its place, it is at the place given.
func (d *Document) node(node ast.Node, fallback Place) Node {
	n := Node{At: fallback, doc: d, node: node}
	if node == nil {
		return n
	}
	t := node.GetToken()
	switch m := node.(type) {
	case *ast.MappingNode:
		if !m.IsFlowStyle && len(m.Values) > 0 {
			t = m.Values[0].Key.GetToken()
		}
	case *ast.MappingValueNode:
		t = m.Key.GetToken()
	}
	if at := d.place(t); at != (Place{}) {
		n.At = at
	}
	return n
}

// place returns the place of a token in the file.
func (d *Document) place(t *token.Token) Place {
	if t == nil || t.Position == nil {
		return Place{}
	}
	at := Place{t.Position.Line, t.Position.Column}
	if at.Line > d.cutAfter {
		at.Line += d.cutLines
	}
	return at
}
