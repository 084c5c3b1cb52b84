package machine

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"slackline/internal/suggest"
	"slackline/internal/yamlfile"
	"slackline/model/unit"
)

var topologyKeys = yamlfile.Keys{
	Names:   []string{"kind", "wire", "switch", "k", "g", "a", "p", "h", "q", "dims", "file"},
	Example: "{kind: fattree, k: 16}",
}

// readTopology reads the key topology of a machine file: what FindTopologyFrom builds the network from,
// and the latencies of a wire and of a switch. The file of a matrix is looked for beside the
// machine file.
func (r *reader) readTopology(node yamlfile.Node) map[string]string {
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
		node.Errorf("topology has kind %s; write kind: fattree, dragonfly, slimfly, torus or matrix%s",
			yamlfile.Quote(values["kind"]), suggest.Phrase(values["kind"], topologyWords))
		return values
	}
	before := len(r.Errors)
	checkTopology(node, entries, values, kind)
	if file := values["file"]; file != "" && !filepath.IsAbs(file) {
		values["file"] = filepath.Join(filepath.Dir(r.File), file)
	}
	if len(r.Errors) == before {
		if _, err := (&Machine{Topology: values}).FindTopologyFrom(r.from); err != nil {
			node.Errorf("topology %v", err)
		}
	}
	return values
}

// checkTopology checks the keys and their values one by one.
func checkTopology(node yamlfile.Node, entries []yamlfile.Entry, values map[string]string, kind topologyKind) {
	allowed := slices.Concat([]string{"kind", "wire", "switch"}, kind.needed, kind.optional)
	for _, e := range entries {
		text, given := values[e.Key]
		switch {
		case !given: // the mistake is noted
		case !slices.Contains(allowed, e.Key):
			e.Errorf("a topology of kind %s has no key %s; its keys are %s", values["kind"], e.Key, strings.Join(allowed, ", "))
		case e.Key == "kind" || e.Key == "file":
		case e.Key == "wire" || e.Key == "switch":
			if _, err := unit.ParseDuration(text); err != nil {
				e.Value.Errorf("topology %s: %v", e.Key, err)
			}
		case e.Key == "dims":
			if _, err := parseDims(text); err != nil {
				e.Value.Errorf("topology dims: %v", err)
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

// TopologyLatencies returns the latencies of a wire and of a switch that the topology of a machine
// file gives; nil: it gives none.
func (m *Machine) TopologyLatencies() (wire, perSwitch *unit.Duration) {
	of := func(key string) *unit.Duration {
		if d, err := unit.ParseDuration(m.Topology[key]); err == nil {
			return &d
		}
		return nil
	}
	return of("wire"), of("switch")
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
