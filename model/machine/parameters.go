package machine

import (
	"cmp"
	"slices"
	"strings"

	"slackline/internal/yamlfile"
	"slackline/model/unit"
)

// partial are the parameters that the top level or a class gives; what it leaves out is nil.
type partial struct {
	latency  *unit.Duration
	overhead Pieces[unit.Duration]
	gap      *unit.Duration
	perByte  Pieces[unit.PerByte]
	cpuByte  *unit.PerByte
	eager    *unit.Size
}

// readParam reads one of L, o, g, G, O, S. A parameter with a mistake counts as given, so that it
// is not called missing as well.
func (r *reader) readParam(p *partial, e yamlfile.Entry) {
	switch e.Key {
	case "L":
		p.latency = new(parsed(e.Value, e.Key, unit.ParseDuration))
	case "o":
		p.overhead = readPieces(e, unit.ParseDuration)
	case "g":
		p.gap = new(parsed(e.Value, e.Key, unit.ParseDuration))
	case "G":
		p.perByte = readPieces(e, unit.ParsePerByte)
	case "O":
		p.cpuByte = new(parsed(e.Value, e.Key, unit.ParsePerByte))
	case "S":
		p.eager = new(parsed(e.Value, e.Key, unit.ParseSize))
	}
}

// readPieces reads one value, or a mapping of sizes to values, and returns at least one piece.
func readPieces[T unit.Duration | unit.PerByte](e yamlfile.Entry, parse func(string) (T, error)) Pieces[T] {
	entries, ok := e.Value.Entries()
	if !ok {
		return One(parsed(e.Value, e.Key, parse))
	}
	var list Pieces[T]
	sound := true
	for _, piece := range entries {
		from, err := unit.ParseSize(piece.Key)
		if err != nil {
			piece.Errorf("%s: piece from %v", e.Key, err)
			sound = false
			continue
		}
		what := e.Key + " from " + piece.Key
		if slices.ContainsFunc(list, func(p Piece[T]) bool { return p.From == int64(from) }) {
			piece.Errorf("%s: two pieces begin at %s; keep one of them", e.Key, from)
			continue
		}
		if len(list) == maxPieces {
			piece.Errorf("%s has more than %d pieces; give fewer", e.Key, maxPieces)
			break
		}
		list = append(list, Piece[T]{From: int64(from), Value: parsed(piece.Value, what, parse)})
	}
	slices.SortFunc(list, func(a, b Piece[T]) int { return cmp.Compare(a.From, b.From) })
	if sound && (len(list) == 0 || list[0].From != 0) {
		e.Value.Errorf("%s has no piece for the smallest messages; let one begin at 0B", e.Key)
	}
	if len(list) == 0 {
		return One[T](0)
	}
	return list
}

// maxPieces bounds the pieces of one parameter: they are searched for each message.
const maxPieces = 200

// resolve fills in the parameters of all classes: what a class leaves out it takes from the top
// level, and O and S have defaults. Class switch must be complete only if it can occur.
func (r *reader) resolve(m *Machine, at yamlfile.Place) {
	missing := map[string][]string{}
	for c := range m.Classes {
		p, lacks := r.classes[c].over(&r.top)
		m.Classes[c] = p
		if Class(c) == Switch && m.NodesPerSwitch == 0 {
			continue
		}
		for _, key := range lacks {
			missing[key] = append(missing[key], Class(c).String())
		}
	}
	if _, lacks := r.classes[Switch].over(&r.top); len(lacks) > 0 {
		m.Classes[Switch] = m.Classes[Far] // no pair is of this class, but its values must be sound
	}
	if r.listed.Line > 0 {
		at = r.listed
	}
	for _, key := range []string{"L", "o", "g", "G"} {
		switch classes := missing[key]; {
		case len(classes) == 0:
		case r.listed.Line == 0:
			r.Errorf(at, "%s is missing; give it, e.g. \"%s: %s\"", key, key, paramExamples[key])
		default:
			r.Errorf(at, "%s is missing for class %s; give it there, or at the top level for all classes",
				key, strings.Join(classes, " and "))
		}
	}
}

var paramExamples = map[string]string{"L": "1.2us", "o": "0.7us", "g": "0.9us", "G": "0.05ns"}

// over returns the parameters with those of top where p has none, and the keys found in neither.
func (p *partial) over(top *partial) (v Params, lacks []string) {
	v.Eager = NoLimit
	if d := cmp.Or(p.latency, top.latency); d != nil {
		v.Latency = *d
	} else {
		lacks = append(lacks, "L")
	}
	if v.Overhead = p.overhead; v.Overhead == nil {
		v.Overhead = slices.Clone(top.overhead)
	}
	if v.Overhead == nil {
		lacks = append(lacks, "o")
	}
	if d := cmp.Or(p.gap, top.gap); d != nil {
		v.Gap = *d
	} else {
		lacks = append(lacks, "g")
	}
	if v.PerByte = p.perByte; v.PerByte == nil {
		v.PerByte = slices.Clone(top.perByte)
	}
	if v.PerByte == nil {
		lacks = append(lacks, "G")
	}
	if d := cmp.Or(p.cpuByte, top.cpuByte); d != nil {
		v.CPUByte = *d
	}
	if s := cmp.Or(p.eager, top.eager); s != nil {
		v.Eager = int64(*s)
	}
	return v, lacks
}
