package machine

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"slackline/internal/plain"
	"slackline/internal/source"
	"slackline/internal/suggest"
	"slackline/internal/yamlfile"
	"slackline/model/unit"
)

// MaxFile is the largest machine file or placement file that is read, in bytes.
const MaxFile = 64 << 20

// maxShown is how many mistakes of a list of nodes are reported.
const maxShown = yamlfile.MaxShown

// FileError is one mistake in a machine file.
type FileError = yamlfile.Error

// FileErrors are the mistakes in a machine file, in the order of their places.
type FileErrors = yamlfile.Errors

var fileRules = yamlfile.Rules{
	Thing:    "machine",
	MaxBytes: 32 << 10, // beside a long placement
	MaxKeys:  2000,
	Long:     "put a long placement into a file of its own, one node number per line",
	Deep:     "a machine file has lists of plain values only",
	Empty:    "is empty; give at least L, o, g and G",
	Second:   "a second YAML document begins; give each machine a file of its own",
}

// paramWords are words that people use for the parameters.
var paramWords = []yamlfile.Word{
	{Word: "latency", Key: "L"}, {Word: "overhead", Key: "o"}, {Word: "gap", Key: "g"},
	{Word: "gap_per_byte", Key: "G"}, {Word: "per_byte", Key: "G"}, {Word: "overhead_per_byte", Key: "O"},
	{Word: "eager", Key: "S"}, {Word: "eager_limit", Key: "S"}, {Word: "threshold", Key: "S"},
	{Word: "rendezvous", Key: "S"},
}

var topKeys = yamlfile.Keys{
	Names: []string{
		"name", "note", "L", "o", "g", "G", "O", "S", "gamma", "ranks_per_node", "nodes_per_switch",
		"nic", "classes", "placement", "noise", "topology", "nccl",
	},
	Words:   paramWords,
	Example: "L: 1.2us",
}

var paramKeys = yamlfile.Keys{
	Names:   []string{"L", "o", "g", "G", "O", "S"},
	Words:   paramWords,
	Example: "{L: 0.3us, G: 0.02ns}",
}

var classKeys = yamlfile.Keys{
	Names:   []string{"node", "switch", "far"},
	Example: "node: {L: 0.3us}",
}

// Load reads a machine file.
func Load(path string) (*Machine, error) { return load(source.Disk, path) }

func load(from source.Source, path string) (*Machine, error) {
	data, err := readFile(from, path)
	if err != nil {
		return nil, err
	}
	return read(from, path, data)
}

// Read reads the text of a machine file. The name is for messages; the file of a placement is
// looked for beside it. The error is a FileErrors with all mistakes found.
func Read(name string, data []byte) (*Machine, error) { return read(source.Disk, name, data) }

func read(from source.Source, name string, data []byte) (*Machine, error) {
	r := &reader{Document: yamlfile.New(name, &fileRules), from: from}
	m := r.read(data)
	if err := r.Err(); err != nil {
		return nil, err
	}
	return m, nil
}

// reader turns one machine file into a Machine.
type reader struct {
	*yamlfile.Document
	from     source.Source // of further files
	top      partial
	classes  [NumClasses]partial
	listed   yamlfile.Place // of the key "classes"
	lifted   []int32        // a long placement, read before the YAML
	isLifted bool
}

func (r *reader) read(data []byte) *Machine {
	if len(data) > MaxFile {
		r.Errorf(yamlfile.Place{}, "has %d bytes, more than the limit of %d", len(data), MaxFile)
		return nil
	}
	data = r.liftPlacement(yamlfile.Clean(data))
	if len(r.Errors) > 0 {
		return nil
	}
	root, ok := r.Parse(data)
	switch {
	case !ok || len(r.Errors) > 0:
		return nil
	case root.Kind() != yamlfile.Mapping:
		root.Errorf("a machine file must be keys with values, as in \"%s\"", topKeys.Example)
		return nil
	}
	m := &Machine{RanksPerNode: 1}
	for _, e := range root.Mapping("the machine file", &topKeys) {
		r.readKey(m, e)
	}
	if m.Name == "" {
		base := filepath.Base(r.File)
		m.Name = strings.TrimSuffix(base, filepath.Ext(base))
	}
	m.Name = plain.Name(m.Name) // it is part of lines
	r.resolve(m, root.At)
	return m
}

// readKey reads one key of the top level.
func (r *reader) readKey(m *Machine, e yamlfile.Entry) {
	switch e.Key {
	case "name":
		m.Name, _ = e.Value.Text(e.Key)
	case "note":
		m.Note, _ = e.Value.Text(e.Key)
	case "noise":
		if m.Noise, _ = e.Value.Text(e.Key); strings.ContainsAny(m.Noise, "\r\n") {
			e.Value.Errorf("noise has several lines; give the name or the file of one profile")
		}
	case "gamma":
		m.Gamma = parsed(e.Value, e.Key, unit.ParsePerByte)
	case "ranks_per_node":
		m.RanksPerNode = count(e)
	case "nodes_per_switch":
		m.NodesPerSwitch = count(e)
	case "nic":
		m.SharedNIC = readNIC(e.Value)
	case "classes":
		r.readClasses(e)
	case "placement":
		m.Placement = r.readPlacement(e.Value)
	case "topology":
		m.Topology = r.readTopology(e.Value)
	case "nccl":
		m.NCCL = readNCCL(e)
	default:
		r.readParam(&r.top, e)
	}
}

func readNIC(node yamlfile.Node) (shared bool) {
	word, ok := node.Text("nic")
	if ok && word != "rank" && word != "node" {
		node.Errorf("nic is %s; write rank (one NIC per rank) or node (one for all ranks of a node)%s",
			yamlfile.Quote(word), suggest.Phrase(word, []string{"rank", "node"}))
	}
	return word == "node"
}

func (r *reader) readClasses(classes yamlfile.Entry) {
	r.listed = classes.At
	for _, e := range classes.Value.Mapping("classes", &classKeys) {
		for c := range r.classes {
			if Class(c).String() != e.Key {
				continue
			}
			for _, p := range e.Value.Mapping("class "+e.Key, &paramKeys) {
				r.readParam(&r.classes[c], p)
			}
		}
	}
}

// count reads a whole number of at least 1.
func count(e yamlfile.Entry) int {
	text, ok := e.Value.Text(e.Key)
	if !ok {
		return 1
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil || n == 0 {
		e.Value.Errorf("%s is %s; give a whole number from 1 to %d", e.Key, yamlfile.Quote(text), MaxRanks)
		return 1
	}
	return int(n)
}

// parsed reads a value with a unit and notes the mistake if there is one.
func parsed[T any](node yamlfile.Node, what string, parse func(string) (T, error)) (v T) {
	text, ok := node.Text(what)
	if !ok {
		return v
	}
	v, err := parse(text)
	if err != nil {
		node.Errorf("%s: %v", what, err)
	}
	return v
}

// readFile reads a file of bounded size.
func readFile(from source.Source, path string) ([]byte, error) {
	data, err := from(path, MaxFile+1)
	switch {
	case errors.Is(err, syscall.EISDIR):
		return nil, fmt.Errorf("%s is a directory; give a file", path)
	case err != nil:
		return nil, err
	case len(data) > MaxFile:
		return nil, fmt.Errorf("%s has more than %d bytes, the limit for machine and placement files", path, MaxFile)
	}
	return data, nil
}
