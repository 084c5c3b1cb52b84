package machine

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"slackline/internal/suggest"
	"slackline/model/unit"
)

// topologyKind names the keys of one kind of network, beside kind, wire and switch.
type topologyKind struct {
	needed, optional []string
}

var topologyKinds = map[string]topologyKind{
	"fattree":   {needed: []string{"k"}},
	"dragonfly": {needed: []string{"g", "a", "p"}, optional: []string{"h"}},
	"slimfly":   {needed: []string{"q", "p"}},
	"torus":     {needed: []string{"dims"}, optional: []string{"p"}},
}

var topologyWords = []string{"fattree", "dragonfly", "slimfly", "torus"}

// readTopology checks the kind and the keys of a topology; the values are kept as they are
// written, for the analysis that uses them.
func (r *reader) readTopology(node ast.Node) map[string]string {
	known := &keySet{
		keys:    []string{"kind", "wire", "switch", "k", "g", "a", "p", "h", "q", "dims"},
		example: "{kind: fattree, k: 16}",
	}
	values := map[string]string{}
	entries := r.mapping(node, "topology", known)
	for _, e := range entries {
		if text, ok := r.scalar(e.value, "topology "+e.key); ok {
			values[e.key] = text
		}
	}
	if _, ok := node.(ast.MapNode); !ok {
		return nil // the mistake is noted
	}
	kind, ok := topologyKinds[values["kind"]]
	if !ok {
		r.errorf(start(node), "topology has kind %s; write kind: fattree, dragonfly, slimfly or torus%s",
			quoted(values["kind"]), suggest.Phrase(values["kind"], topologyWords))
		return values
	}
	r.checkTopology(node, entries, values, kind)
	return values
}

func (r *reader) checkTopology(node ast.Node, entries []entry, values map[string]string, kind topologyKind) {
	allowed := slices.Concat([]string{"kind", "wire", "switch"}, kind.needed, kind.optional)
	for _, e := range entries {
		text, given := values[e.key]
		switch {
		case !given: // the mistake is noted
		case !slices.Contains(allowed, e.key):
			r.errorf(e.at, "a topology of kind %s has no key %s; its keys are %s", values["kind"], e.key, strings.Join(allowed, ", "))
		case e.key == "kind":
		case e.key == "wire" || e.key == "switch":
			if _, err := unit.ParseDuration(text); err != nil {
				r.errorf(start(e.value), "topology %s: %v", e.key, err)
			}
		case e.key == "dims":
			for dim := range strings.SplitSeq(text, "x") {
				if !isCount(dim) {
					r.errorf(start(e.value), "topology dims is %s; write the extent of each dimension, e.g. 4x4x2", quoted(text))
					break
				}
			}
		case !isCount(text):
			r.errorf(start(e.value), "topology %s is %s; give a whole number of at least 1", e.key, quoted(text))
		}
	}
	for _, key := range kind.needed {
		if _, given := values[key]; !given {
			r.errorf(start(node), "a topology of kind %s needs the key %s", values["kind"], key)
		}
	}
}

func isCount(text string) bool {
	n, err := strconv.ParseUint(text, 10, 31)
	return err == nil && n > 0
}

// formatTopology writes a topology, its kind first.
func formatTopology(b *strings.Builder, values map[string]string) {
	keys := slices.Sorted(maps.Keys(values))
	if i := slices.Index(keys, "kind"); i > 0 {
		keys = slices.Insert(slices.Delete(keys, i, i+1), 0, "kind")
	}
	b.WriteByte('{')
	for i, key := range keys {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(key + ": " + plainOrQuoted(values[key]))
	}
	b.WriteByte('}')
}
