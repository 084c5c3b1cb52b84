package machine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"slackline/model/unit"
)

// Format returns the machine as the text of a machine file. Read gives an equal machine. The
// top level has the parameters of class far; other classes list what differs.
func Format(m *Machine) []byte {
	var b strings.Builder
	line := func(key, value string) { fmt.Fprintf(&b, "%s: %s\n", key, value) }
	line("name", plainOrQuoted(m.Name))
	if m.Note != "" {
		line("note", quotedYAML(m.Note))
	}
	far := &m.Classes[Far]
	for _, p := range far.pairs(nil) {
		if p.key == "S" && !m.sameLimits() {
			continue // a class without limit could not be distinguished from one that takes S from here
		}
		line(p.key, p.value)
	}
	if m.Gamma != 0 {
		line("gamma", m.Gamma.String())
	}
	if m.RanksPerNode > 1 {
		line("ranks_per_node", strconv.Itoa(m.RanksPerNode))
	}
	if m.NodesPerSwitch > 0 {
		line("nodes_per_switch", strconv.Itoa(m.NodesPerSwitch))
	}
	if m.SharedNIC {
		line("nic", "node")
	}
	m.formatClasses(&b)
	switch {
	case m.Placement.Nodes != nil:
		b.WriteString("placement: ")
		formatNodes(&b, m.Placement.Nodes)
		b.WriteByte('\n')
	case m.Placement.Cyclic:
		line("placement", "cyclic")
	}
	if m.Noise != "" {
		line("noise", plainOrQuoted(m.Noise))
	}
	if len(m.Topology) > 0 {
		b.WriteString("topology: ")
		formatTopology(&b, m.Topology)
		b.WriteByte('\n')
	}
	m.NCCL.format(&b)
	return []byte(b.String())
}

// sameLimits reports whether S can stand at the top level: all classes have a limit, or none.
func (m *Machine) sameLimits() bool {
	for c := range m.Classes {
		if (m.Classes[c].Eager == NoLimit) != (m.Classes[Far].Eager == NoLimit) {
			return false
		}
	}
	return true
}

func (m *Machine) formatClasses(b *strings.Builder) {
	far := &m.Classes[Far]
	begun := false
	for _, c := range [...]Class{Node, Switch, Far} {
		pairs := m.Classes[c].pairs(far)
		if !m.sameLimits() && m.Classes[c].Eager != NoLimit && (c == Far || m.Classes[c].Eager == far.Eager) {
			pairs = append(pairs, pair{"S", unit.Size(m.Classes[c].Eager).String()})
		}
		if len(pairs) == 0 {
			continue
		}
		if !begun {
			b.WriteString("classes:\n")
			begun = true
		}
		fmt.Fprintf(b, "  %s: {", c)
		for i, p := range pairs {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(p.key + ": " + p.value)
		}
		b.WriteString("}\n")
	}
}

// pair is a key of a machine file with its value.
type pair struct{ key, value string }

// pairs returns the parameters that differ from those of top, all if that is nil. No limit is no
// pair.
func (p *Params) pairs(top *Params) []pair {
	var list []pair
	add := func(key string, same bool, value string) {
		if top == nil || !same {
			list = append(list, pair{key, value})
		}
	}
	q := top
	if q == nil {
		q = p
	}
	add("L", p.Latency == q.Latency, p.Latency.String())
	add("o", slices.Equal(p.Overhead, q.Overhead), formatPieces(p.Overhead))
	add("g", p.Gap == q.Gap, p.Gap.String())
	add("G", slices.Equal(p.PerByte, q.PerByte), formatPieces(p.PerByte))
	add("O", p.CPUByte == q.CPUByte, p.CPUByte.String())
	if p.Eager != NoLimit {
		add("S", p.Eager == q.Eager, unit.Size(p.Eager).String())
	}
	return list
}

func formatPieces[T unit.Duration | unit.PerByte](p Pieces[T]) string {
	if len(p) == 1 {
		return fmt.Sprint(p[0].Value)
	}
	parts := make([]string, len(p))
	for i, piece := range p {
		parts[i] = fmt.Sprintf("%s: %v", unit.Size(piece.From), piece.Value)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// plainOrQuoted returns text as it is if it is a plain word or number, else in quotes.
func plainOrQuoted(text string) string {
	for i, c := range []byte(text) {
		alnum := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !alnum && (i == 0 || c != '-' && c != '_' && c != '.') {
			return quotedYAML(text)
		}
	}
	switch strings.ToLower(text) {
	case "", "null", "true", "false", "yes", "no", "on", "off", "y", "n":
		return quotedYAML(text)
	}
	return text
}

// quotedYAML returns text in double quotes. Bytes that are not UTF-8 are replaced, since YAML
// cannot hold them.
func quotedYAML(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range strings.ToValidUTF8(text, "\ufffd") {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < ' ' || c >= 0x7f && !strconv.IsPrint(c):
			if c > 0xffff {
				fmt.Fprintf(&b, `\U%08x`, c)
			} else {
				fmt.Fprintf(&b, `\u%04x`, c)
			}
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
