package collective

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"slackline/internal/suggest"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// A mapping file is a mapping in YAML:
//
//	name: mine
//	info: what it is good for    # optional
//	base: default                # optional; named mapping for all that is not said here
//	allreduce:                   # an operation, as MPI calls it
//	  - {max_size: 2KiB, use: recursive-doubling}
//	  - {min_ranks: 512, use: rabenseifner}
//	  - {use: ring}
//	bcast:
//	  - {use: "chain:segment=64KiB"}
//
// The first rule of which all conditions hold decides. Conditions:
//
//	min_size, max_size, size_below      size of the call; in a v-variant the mean
//	min_total, max_total, total_below   size of the call times the number of ranks
//	min_share, max_share, share_below   size of the call divided by the number of ranks
//	min_ranks, max_ranks, ranks_below   number of ranks
//	power_of_two: true or false         whether the number of ranks is one
//	varying: true or false              whether the call is a v-variant
//
// A maximum is included in the range, what is called below is not. Anything else in the file is an
// error that names the line.

// maxMappingFile bounds the size of a mapping file. The YAML library takes quadratic time for deep
// nesting; with this bound it stays in the range of a second.
const maxMappingFile = 64 << 10

// ReadMapping reads a mapping file. The name is used in error messages, and as the name of the
// mapping if the file gives none.
func ReadMapping(name string, data []byte) (*Mapping, error) {
	m, err := parseMapping(name, data)
	if err != nil {
		return nil, err
	}
	if m.base == nil {
		m.base = DefaultMapping()
	}
	return m, nil
}

// parseMapping reads a mapping whose base, if the file names none, stays nil.
func parseMapping(name string, data []byte) (*Mapping, error) {
	if len(data) > maxMappingFile {
		return nil, fmt.Errorf("%s: a mapping of %d bytes; at most %d are read", name, len(data), maxMappingFile)
	}
	file, err := parseYAML(data)
	if err != nil {
		return nil, fmt.Errorf("%s%w", name, err)
	}
	r := mappingReader{name: name, m: &Mapping{Name: name, rules: map[schedule.Operation][]rule{}}}
	var body ast.Node
	for _, doc := range file.Docs {
		switch {
		case doc.Body == nil:
		case body != nil:
			return nil, r.errorf(doc.Body, "a second document; a mapping file has one")
		default:
			body = doc.Body
		}
	}
	if body == nil {
		return nil, fmt.Errorf("%s: the mapping is empty; write e.g. allreduce: [{use: ring}]", name)
	}
	if err := r.document(body); err != nil {
		return nil, err
	}
	return r.m, nil
}

// mappingReader turns the nodes of a YAML file into a mapping.
type mappingReader struct {
	name string
	m    *Mapping
}

func (r *mappingReader) errorf(at ast.Node, format string, args ...any) error {
	line := 1
	if at != nil && at.GetToken() != nil {
		line = at.GetToken().Position.Line
	}
	return fmt.Errorf("%s:%d: %w", r.name, line, fmt.Errorf(format, args...))
}

func (r *mappingReader) document(body ast.Node) error {
	entries, err := r.entries(body, "a mapping of operations to rules, such as allreduce: [{use: ring}]")
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch e.key {
		case "name":
			r.m.Name, err = r.text(e)
		case "info":
			r.m.Info, err = r.text(e)
		case "base":
			var base string
			if base, err = r.text(e); err == nil {
				if r.m.base, err = NamedMapping(base); err != nil {
					err = r.errorf(e.value, "base: %w", err)
				}
			}
		default:
			err = r.operation(e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *mappingReader) operation(e entry) error {
	op, err := LookupOperation(e.key)
	if err != nil {
		known := []string{"name", "info", "base"}
		for _, op := range schedule.Operations() {
			known = append(known, op.String())
		}
		return r.errorf(e.at, "unknown key %q%s (known: %s)",
			e.key, suggest.Phrase(e.key, known), strings.Join(known, ", "))
	}
	list, ok := e.value.(*ast.SequenceNode)
	if !ok || len(list.Values) == 0 {
		return r.errorf(e.at, "%s needs a list of rules, such as [{max_size: 2KiB, use: %s}]", op, Algorithms(op)[0].Name)
	}
	for _, node := range list.Values {
		rule, err := r.rule(op, node)
		if err != nil {
			return err
		}
		r.m.rules[op] = append(r.m.rules[op], rule)
	}
	return nil
}

var ruleKeys = []string{
	"use", "min_size", "max_size", "size_below", "min_total", "max_total", "total_below",
	"min_share", "max_share", "share_below", "min_ranks", "max_ranks", "ranks_below", "power_of_two", "varying",
}

func (r *mappingReader) rule(op schedule.Operation, node ast.Node) (rule, error) {
	var out rule
	entries, err := r.entries(node, fmt.Sprintf("a rule, such as {max_size: 2KiB, use: %s}", Algorithms(op)[0].Name))
	if err != nil {
		return out, err
	}
	for _, e := range entries {
		switch e.key {
		case "use":
			var text string
			if text, err = r.text(e); err == nil {
				if out.use, err = parseChoice(op, text); err != nil {
					err = r.errorf(e.value, "%w", err)
				}
			}
		case "min_size", "max_size", "size_below":
			err = r.bound(e, &out.size, r.size)
		case "min_total", "max_total", "total_below":
			err = r.bound(e, &out.total, r.size)
		case "min_share", "max_share", "share_below":
			err = r.bound(e, &out.share, r.size)
		case "min_ranks", "max_ranks", "ranks_below":
			err = r.bound(e, &out.ranks, r.count)
		case "power_of_two":
			out.powerOfTwo, err = r.condition(e)
		case "varying":
			out.varying, err = r.condition(e)
		default:
			err = r.errorf(e.at, "unknown key %q in a rule%s (known: %s)",
				e.key, suggest.Phrase(e.key, ruleKeys), strings.Join(ruleKeys, ", "))
		}
		if err != nil {
			return out, err
		}
	}
	if out.use.algorithm == nil {
		return out, r.errorf(node, "the rule names no algorithm; add use: %s or another one", Algorithms(op)[0].Name)
	}
	for _, b := range []bounds{out.size, out.total, out.share, out.ranks} {
		if b.end != 0 && b.end <= b.from {
			return out, r.errorf(node, "the rule can never hold: its smallest value %d is above its largest %d", b.from, b.end-1)
		}
	}
	return out, nil
}

// bound puts the value of an entry into a range: the begin (min_), the last value (max_), or the
// first one outside (_below).
func (r *mappingReader) bound(e entry, b *bounds, read func(entry) (int64, error)) error {
	v, err := read(e)
	if err != nil {
		return err
	}
	switch {
	case strings.HasPrefix(e.key, "min_"):
		b.from = v
		return nil
	case b.end != 0:
		return r.errorf(e.at, "%s: the rule has a largest value already", e.key)
	case strings.HasPrefix(e.key, "max_"):
		if v == math.MaxInt64 {
			return nil // no bound
		}
		v++
	case v == 0:
		return r.errorf(e.value, "%s: nothing is below 0", e.key)
	}
	b.end = v
	return nil
}

func (r *mappingReader) size(e entry) (int64, error) {
	text, err := r.text(e)
	if err != nil {
		return 0, err
	}
	size, err := unit.ParseSize(text)
	if err != nil {
		return 0, r.errorf(e.value, "%s: %w", e.key, err)
	}
	if size < 0 {
		return 0, r.errorf(e.value, "%s: %s is negative", e.key, size)
	}
	return int64(size), nil
}

func (r *mappingReader) count(e entry) (int64, error) {
	text, err := r.text(e)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, r.errorf(e.value, "%s: %q is not a number of ranks", e.key, text)
	}
	return n, nil
}

func (r *mappingReader) condition(e entry) (condition, error) {
	if v, ok := e.value.(*ast.BoolNode); ok {
		if v.Value {
			return yes, nil
		}
		return no, nil
	}
	return either, r.errorf(e.at, "%s: write true or false", e.key)
}
