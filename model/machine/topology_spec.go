package machine

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"slackline/internal/source"
	"slackline/internal/suggest"
	"slackline/internal/yamlfile"
)

// TopologyHelp defines how a topology is written on the command line, for messages and help texts.
const TopologyHelp = "fattree:k=16, dragonfly:g=8,a=4,p=8[,h=2], slimfly:q=5,p=4, torus:4x4x2[,p=2], matrix:FILE"

// topologyKind names the keys of one kind of network, beside kind, wire and switch.
type topologyKind struct {
	needed, optional []string
	positional       string // the key whose value stands without it in a specification
	build            func(from source.Source, values map[string]string, n numbers) (network, error)
}

// numbers are the values of the keys that are counts.
type numbers map[string]int

func fromNumbers(build func(numbers) (network, error)) func(source.Source, map[string]string, numbers) (network, error) {
	return func(_ source.Source, _ map[string]string, n numbers) (network, error) { return build(n) }
}

var topologyKinds = map[string]topologyKind{
	"fattree":   {needed: []string{"k"}, build: fromNumbers(newFatTree)},
	"dragonfly": {needed: []string{"g", "a", "p"}, optional: []string{"h"}, build: fromNumbers(newDragonfly)},
	"slimfly":   {needed: []string{"q", "p"}, build: fromNumbers(newSlimFly)},
	"torus": {
		needed: []string{"dims"}, optional: []string{"p"}, positional: "dims",
		build: func(_ source.Source, values map[string]string, n numbers) (network, error) {
			dims, err := parseDims(values["dims"])
			if err != nil {
				return nil, err
			}
			return newTorus(n, dims)
		},
	},
	"matrix": {
		needed: []string{"file"}, positional: "file",
		build: func(from source.Source, values map[string]string, _ numbers) (network, error) {
			return readHopMatrix(from, values["file"])
		},
	},
}

var topologyWords = []string{"fattree", "dragonfly", "slimfly", "torus", "matrix"}

// ParseTopology reads a topology as written on the command line: see TopologyHelp. A matrix is
// read from its file in the source.
func ParseTopology(from source.Source, spec string) (*Topology, error) {
	word, rest, _ := strings.Cut(spec, ":")
	kind, ok := topologyKinds[word]
	if !ok {
		return nil, fmt.Errorf("there is no topology %s%s; give one of %s", yamlfile.Quote(word), suggest.Phrase(word, topologyWords),
			TopologyHelp)
	}
	values := map[string]string{"kind": word}
	parts := strings.Split(rest, ",")
	switch {
	case word == "matrix":
		parts = []string{rest} // names of files may have commas
	case rest == "":
		parts = nil
	}
	for i, part := range parts {
		key, value, ok := strings.Cut(part, "=")
		if i == 0 && kind.positional != "" && (!ok || word == "matrix") {
			key, value = kind.positional, part
		}
		if err := kind.take(values, word, key, value); err != nil {
			return nil, err
		}
	}
	for _, key := range kind.needed {
		if values[key] == "" {
			return nil, fmt.Errorf("%s needs %s; write %s", word, key, exampleOf(word))
		}
	}
	return newTopology(from, values)
}

// take notes one key of a specification.
func (k *topologyKind) take(values map[string]string, word, key, value string) error {
	allowed := slices.Concat(k.needed, k.optional)
	if !slices.Contains(allowed, key) {
		return fmt.Errorf("%s has no parameter %s; write %s", word, yamlfile.Quote(key), exampleOf(word))
	}
	if _, twice := values[key]; twice {
		return fmt.Errorf("%s: %s is given twice; keep one of them", word, key)
	}
	if key != k.positional && !isCount(value) {
		return fmt.Errorf("%s: %s is %s; give a whole number of at least 1", word, key, yamlfile.Quote(value))
	}
	values[key] = value
	return nil
}

// exampleOf is the part of TopologyHelp about a kind.
func exampleOf(word string) string {
	for example := range strings.SplitSeq(TopologyHelp, ", ") {
		if strings.HasPrefix(example, word+":") {
			return example
		}
	}
	return TopologyHelp
}

// newTopology builds the topology whose keys and values were checked one by one.
func newTopology(from source.Source, values map[string]string) (*Topology, error) {
	word := values["kind"]
	kind := topologyKinds[word]
	n := numbers{}
	for key, text := range values {
		if v, err := strconv.Atoi(text); err == nil {
			n[key] = v
		}
	}
	network, err := kind.build(from, values, n)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", word, err)
	}
	nodes := network.nodes()
	if nodes <= 0 || nodes > MaxRanks {
		return nil, fmt.Errorf("%s: it has more than %d nodes; give smaller numbers", word, MaxRanks)
	}
	return &Topology{spec: specOf(word, kind, values), nodes: int(nodes), network: network}, nil
}

func specOf(word string, kind topologyKind, values map[string]string) string {
	var parts []string
	for _, key := range slices.Concat(kind.needed, kind.optional) {
		switch text := values[key]; {
		case text == "":
		case key == kind.positional:
			parts = append(parts, text)
		default:
			parts = append(parts, key+"="+text)
		}
	}
	return word + ":" + strings.Join(parts, ",")
}

// maxDims is the largest number of dimensions of a torus.
const maxDims = 32

func parseDims(text string) ([]int, error) {
	var dims []int
	for word := range strings.SplitSeq(text, "x") {
		n, err := strconv.ParseUint(word, 10, 31)
		if err != nil || n == 0 {
			return nil, fmt.Errorf("the extents are %s; write that of each dimension, e.g. 4x4x2", yamlfile.Quote(text))
		}
		dims = append(dims, int(n))
	}
	if len(dims) > maxDims {
		return nil, fmt.Errorf("it has %d dimensions, more than %d; give fewer", len(dims), maxDims)
	}
	return dims, nil
}

func isCount(text string) bool {
	n, err := strconv.ParseUint(text, 10, 31)
	return err == nil && n > 0
}

// FindTopologyFrom returns the topology that the machine file describes, with files from a source; nil: it describes none.
func (m *Machine) FindTopologyFrom(from source.Source) (*Topology, error) {
	if len(m.Topology) == 0 {
		return nil, nil
	}
	values := maps.Clone(m.Topology)
	delete(values, "wire")
	delete(values, "switch")
	return newTopology(from, values)
}
