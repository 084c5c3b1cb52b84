package collective

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"slackline/internal/yamlfile"
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

var mappingRules = yamlfile.Rules{
	Thing:     "mapping",
	MaxBytes:  64 << 10,
	MaxKeys:   4000,
	Long:      "leave out what the base says already",
	Deep:      "a mapping file has lists of rules only",
	Empty:     "the mapping is empty; write e.g. allreduce: [{use: ring}]",
	Second:    "a second document; a mapping file has one",
	PlainKeys: true,
	LinesOnly: true,
}

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
	if len(data) > mappingRules.MaxBytes {
		return nil, fmt.Errorf("%s: a mapping of %d bytes; at most %d are read", name, len(data), mappingRules.MaxBytes)
	}
	r := mappingReader{yamlfile.New(name, &mappingRules), &Mapping{Name: name, rules: map[schedule.Operation][]rule{}}}
	if root, ok := r.Parse(data); ok {
		r.read(root)
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return r.m, nil
}

// mappingReader turns a YAML file into a mapping.
type mappingReader struct {
	*yamlfile.Document
	m *Mapping
}

func (r *mappingReader) read(root yamlfile.Node) {
	if root.Kind() != yamlfile.Mapping {
		root.Errorf("this must be a mapping of operations to rules, such as allreduce: [{use: ring}]")
		return
	}
	for _, e := range root.Mapping("", &mappingKeys) {
		switch e.Key {
		case "name":
			r.m.Name = word(e)
		case "info":
			r.m.Info = word(e)
		case "base":
			r.m.base, _ = parsed(e, "base: ", NamedMapping)
		default:
			r.operation(e)
		}
	}
}

// mappingKeys are the keys of a file; the operations are among them.
var mappingKeys = func() yamlfile.Keys {
	names := []string{"name", "info", "base"}
	for _, op := range schedule.Operations() {
		names = append(names, op.String())
	}
	return yamlfile.Keys{Names: names}
}()

func (r *mappingReader) operation(e yamlfile.Entry) {
	op, err := lookupOperation(e.Key)
	if err != nil {
		e.Errorf("%v", err)
		return
	}
	list, _ := e.Value.List()
	if len(list) == 0 {
		e.Errorf("%s needs a list of rules, such as [{max_size: 2KiB, use: %s}]", op, Algorithms(op)[0].Name)
	}
	for _, node := range list {
		r.m.rules[op] = append(r.m.rules[op], r.rule(op, node))
	}
}

var ruleKeys = yamlfile.Keys{Names: []string{
	"use", "min_size", "max_size", "size_below", "min_total", "max_total", "total_below",
	"min_share", "max_share", "share_below", "min_ranks", "max_ranks", "ranks_below", "power_of_two", "varying",
}}

func (r *mappingReader) rule(op schedule.Operation, node yamlfile.Node) (out rule) {
	if node.Kind() != yamlfile.Mapping {
		node.Errorf("this must be a rule, such as {max_size: 2KiB, use: %s}", Algorithms(op)[0].Name)
		return out
	}
	mistakes := len(r.Errors)
	for _, e := range node.Mapping("a rule", &ruleKeys) {
		switch e.Key {
		case "use":
			out.use, _ = parsed(e, "", func(text string) (choice, error) { return parseChoice(op, text) })
		case "min_size", "max_size", "size_below":
			bound(e, &out.size, readSize)
		case "min_total", "max_total", "total_below":
			bound(e, &out.total, readSize)
		case "min_share", "max_share", "share_below":
			bound(e, &out.share, readSize)
		case "min_ranks", "max_ranks", "ranks_below":
			bound(e, &out.ranks, readCount)
		case "power_of_two":
			out.powerOfTwo = readCondition(e)
		case "varying":
			out.varying = readCondition(e)
		}
	}
	if len(r.Errors) > mistakes {
		return out
	}
	if out.use.algorithm == nil {
		node.Errorf("the rule names no algorithm; add use: %s or another one", Algorithms(op)[0].Name)
	}
	for _, b := range []bounds{out.size, out.total, out.share, out.ranks} {
		if b.end != 0 && b.end <= b.from {
			node.Errorf("the rule can never hold: its smallest value %d is above its largest %d", b.from, b.end-1)
		}
	}
	return out
}

// bound puts the value of an entry into a range: the start (min_), the last value (max_), or the
// first one outside (_below).
func bound(e yamlfile.Entry, b *bounds, parse func(string) (int64, error)) {
	v, ok := parsed(e, e.Key+": ", parse)
	switch {
	case !ok:
	case strings.HasPrefix(e.Key, "min_"):
		b.from = v
	case b.end != 0:
		e.Errorf("%s: the rule has a largest value already", e.Key)
	case strings.HasPrefix(e.Key, "max_"):
		if v != math.MaxInt64 { // else there is no bound
			b.end = v + 1
		}
	case v == 0:
		e.Value.Errorf("%s: nothing is below 0", e.Key)
	default:
		b.end = v
	}
}

// word returns the value of an entry as text; without one it is empty.
func word(e yamlfile.Entry) string {
	text, _ := e.Value.Scalar()
	if text == "" {
		e.Errorf("%s needs a value", e.Key)
	}
	return text
}

// parsed reads the value of an entry, and notes a mistake in it after the prefix.
func parsed[T any](e yamlfile.Entry, prefix string, parse func(string) (T, error)) (v T, ok bool) {
	text := word(e)
	if text == "" {
		return v, false
	}
	v, err := parse(text)
	if err != nil {
		e.Value.Errorf("%s%v", prefix, err)
	}
	return v, err == nil
}

func readSize(text string) (int64, error) {
	size, err := unit.ParseSize(text)
	return int64(size), err
}

func readCount(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q is not a number of ranks", text)
	}
	return n, nil
}

func readCondition(e yamlfile.Entry) condition {
	switch value, ok := e.Value.Bool(); {
	case !ok:
		e.Errorf("%s: write true or false", e.Key)
		return either
	case value:
		return yes
	}
	return no
}
