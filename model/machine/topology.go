package machine

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"slackline/internal/suggest"
	"slackline/internal/yamlfile"
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

var topologyKeys = yamlfile.Keys{
	Names:   []string{"kind", "wire", "switch", "k", "g", "a", "p", "h", "q", "dims"},
	Example: "{kind: fattree, k: 16}",
}

// readTopology checks the kind and the keys of a topology; the values are kept as they are
// written, for the analysis that uses them.
func readTopology(node yamlfile.Node) map[string]string {
	values := map[string]string{}
	entries := node.Mapping("topology", &topologyKeys)
	for _, e := range entries {
		if text, ok := e.Value.Text("topology " + e.Key); ok {
			values[e.Key] = text
		}
	}
	if node.Kind() != yamlfile.Mapping {
		return nil // the mistake is noted
	}
	kind, ok := topologyKinds[values["kind"]]
	if !ok {
		node.Errorf("topology has kind %s; write kind: fattree, dragonfly, slimfly or torus%s",
			yamlfile.Quote(values["kind"]), suggest.Phrase(values["kind"], topologyWords))
		return values
	}
	checkTopology(node, entries, values, kind)
	return values
}

func checkTopology(node yamlfile.Node, entries []yamlfile.Entry, values map[string]string, kind topologyKind) {
	allowed := slices.Concat([]string{"kind", "wire", "switch"}, kind.needed, kind.optional)
	for _, e := range entries {
		text, given := values[e.Key]
		switch {
		case !given: // the mistake is noted
		case !slices.Contains(allowed, e.Key):
			e.Errorf("a topology of kind %s has no key %s; its keys are %s", values["kind"], e.Key, strings.Join(allowed, ", "))
		case e.Key == "kind":
		case e.Key == "wire" || e.Key == "switch":
			if _, err := unit.ParseDuration(text); err != nil {
				e.Value.Errorf("topology %s: %v", e.Key, err)
			}
		case e.Key == "dims":
			for dim := range strings.SplitSeq(text, "x") {
				if !isCount(dim) {
					e.Value.Errorf("topology dims is %s; write the extent of each dimension, e.g. 4x4x2", yamlfile.Quote(text))
					break
				}
			}
		case !isCount(text):
			e.Value.Errorf("topology %s is %s; give a whole number of at least 1", e.Key, yamlfile.Quote(text))
		}
	}
	for _, key := range kind.needed {
		if _, given := values[key]; !given {
			node.Errorf("a topology of kind %s needs the key %s", values["kind"], key)
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
