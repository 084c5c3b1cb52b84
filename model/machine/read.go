package machine

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"slackline/internal/suggest"
	"slackline/model/unit"
)

// MaxFile is the largest machine file or placement file that is read, in bytes.
const MaxFile = 64 << 20

// paramWords are words that people use for the parameters.
var paramWords = map[string]string{
	"latency": "L", "overhead": "o", "gap": "g", "gap_per_byte": "G", "per_byte": "G",
	"overhead_per_byte": "O", "eager": "S", "eager_limit": "S", "threshold": "S", "rendezvous": "S",
}

// otherWords are the keys of paramWords in a fixed order, so that hints do not vary.
var otherWords = []string{
	"latency", "overhead", "gap", "gap_per_byte", "per_byte", "overhead_per_byte", "eager",
	"eager_limit", "threshold", "rendezvous",
}

var topKeys = keySet{
	keys: []string{
		"name", "note", "L", "o", "g", "G", "O", "S", "gamma", "ranks_per_node", "nodes_per_switch",
		"nic", "classes", "placement", "noise", "topology",
	},
	meant:   paramWords,
	example: "L: 1.2us",
}

var paramKeys = keySet{
	keys:    []string{"L", "o", "g", "G", "O", "S"},
	meant:   paramWords,
	example: "{L: 0.3us, G: 0.02ns}",
}

var classKeys = keySet{
	keys:    []string{"node", "switch", "far"},
	example: "node: {L: 0.3us}",
}

// Load reads a machine file.
func Load(path string) (*Machine, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return Read(path, data)
}

// Read reads the text of a machine file. The name stands in messages; the file of a placement is
// looked for beside it. The error is a FileErrors with all mistakes found.
func Read(name string, data []byte) (*Machine, error) {
	r := &reader{document: document{file: name}}
	m := r.read(data)
	if err := r.errs.err(); err != nil {
		return nil, err
	}
	return m, nil
}

// reader turns one machine file into a Machine.
type reader struct {
	document
	top      partial
	classes  [NumClasses]partial
	listed   *token.Token // key "classes"
	lifted   []int32      // a long placement, read before the YAML
	isLifted bool
}

func (r *reader) read(data []byte) *Machine {
	if len(data) > MaxFile {
		r.errorf(nil, "has %d bytes, more than the limit of %d", len(data), MaxFile)
		return nil
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte{'\n'})
	data = r.liftPlacement(bytes.ReplaceAll(data, []byte{'\r'}, []byte{'\n'}))
	if len(r.errs) > 0 {
		return nil
	}
	body := r.parse(data)
	if body == nil {
		return nil
	}
	if _, ok := body.(ast.MapNode); !ok {
		r.errorf(start(body), "a machine file must be keys with values, as in \"%s\"", topKeys.example)
		return nil
	}
	m := &Machine{RanksPerNode: 1}
	for _, e := range r.mapping(body, "the machine file", &topKeys) {
		r.readKey(m, e)
	}
	if m.Name == "" {
		base := filepath.Base(r.file)
		m.Name = strings.TrimSuffix(base, filepath.Ext(base))
	}
	r.resolve(m, start(body))
	return m
}

// readKey reads one key of the top level.
func (r *reader) readKey(m *Machine, e entry) {
	switch e.key {
	case "name":
		m.Name, _ = r.scalar(e.value, e.key)
	case "note":
		m.Note, _ = r.scalar(e.value, e.key)
	case "noise":
		if m.Noise, _ = r.scalar(e.value, e.key); strings.ContainsAny(m.Noise, "\r\n") {
			r.errorf(start(e.value), "noise has several lines; give the name or the file of one profile")
		}
	case "gamma":
		m.Gamma = parsed(r, e.value, e.key, unit.ParsePerByte)
	case "ranks_per_node":
		m.RanksPerNode = r.count(e)
	case "nodes_per_switch":
		m.NodesPerSwitch = r.count(e)
	case "nic":
		m.SharedNIC = r.readNIC(e.value)
	case "classes":
		r.readClasses(e)
	case "placement":
		m.Placement = r.readPlacement(e.value)
	case "topology":
		m.Topology = r.readTopology(e.value)
	default:
		r.readParam(&r.top, e)
	}
}

func (r *reader) readNIC(node ast.Node) (shared bool) {
	word, ok := r.scalar(node, "nic")
	if ok && word != "rank" && word != "node" {
		r.errorf(start(node), "nic is %s; write rank (one NIC per rank) or node (one for all ranks of a node)%s",
			quoted(word), suggest.Phrase(word, []string{"rank", "node"}))
	}
	return word == "node"
}

func (r *reader) readClasses(classes entry) {
	r.listed = classes.at
	for _, e := range r.mapping(classes.value, "classes", &classKeys) {
		for c := range r.classes {
			if Class(c).String() != e.key {
				continue
			}
			for _, p := range r.mapping(e.value, "class "+e.key, &paramKeys) {
				r.readParam(&r.classes[c], p)
			}
		}
	}
}

// count reads a whole number of at least 1.
func (r *reader) count(e entry) int {
	text, ok := r.scalar(e.value, e.key)
	if !ok {
		return 1
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil || n == 0 {
		r.errorf(start(e.value), "%s is %s; give a whole number from 1 to %d", e.key, quoted(text), MaxRanks)
		return 1
	}
	return int(n)
}

// parsed reads a value with a unit and notes the mistake if there is one.
func parsed[T any](r *reader, node ast.Node, what string, parse func(string) (T, error)) (v T) {
	text, ok := r.scalar(node, what)
	if !ok {
		return v
	}
	v, err := parse(text)
	if err != nil {
		r.errorf(start(node), "%s: %v", what, err)
	}
	return v
}

// readFile reads a regular file of bounded size.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s is a directory; give a file", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > MaxFile {
		return nil, fmt.Errorf("%s has more than %d bytes, the limit for machine and placement files", path, MaxFile)
	}
	return data, nil
}
