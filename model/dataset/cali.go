package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Caliper's own files (.cali), lines of key=value in which "=" separates the entries of a list:
//
//	__rec=node,id=12,attr=10,data=276,parent=3     properties 276 of an attribute of type 3 (string)
//	__rec=node,id=13,attr=8,data=region,parent=12  its name: region
//	__rec=node,id=14,attr=13,data=main             the region main
//	__rec=ctx,ref=14,attr=20,data=0.5              in it, 0.5 of attribute 20
//	__rec=globals,attr=30,data=8
//
// Nested attributes (property 256) make the call path. Records with the same path are repetitions, such as those of ranks.

var caliFormat = Format{Name: "cali", Info: "Caliper file (.cali)", Lines: true, PlaceInName: true, Sniff: sniffCali, Read: readCali}

func sniffCali(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(head, " \t\n"), []byte("__rec="))
}

// The attributes that describe attributes.
const (
	caliName       = 8
	caliProperties = 10
	caliNested     = 256
)

// caliNumbers are the types of numbers: int, uint and double.
var caliNumbers = []int{1, 2, 5}

// caliKeys are the fields of records.
var caliKeys = []string{"__rec", "id", "attr", "data", "parent", "ref"}

type caliNode struct {
	attr, parent int
	data         string
	nested       bool   // of an attribute's name: it makes the call path
	number       bool   // of an attribute's name: its values are numbers
	path         string // of the nested values from the root to here
}

type caliReader struct {
	d     *Dataset
	nodes map[int]*caliNode
	ranks float64
	odd   leftOut // values
}

func readCali(name string, data []byte) (*Dataset, error) {
	r := &caliReader{d: New(), nodes: map[int]*caliNode{}}
	var records []map[string][]string // values need the globals, which come last
	err := eachLine(name, data, func(_ int, line string) error {
		if strings.TrimSpace(line) == "" {
			return nil
		}
		fields, twice := caliFields(line)
		if twice != "" {
			return fmt.Errorf("has the field %q twice; are these two records?", twice)
		}
		for key := range fields {
			if !slices.Contains(caliKeys, key) {
				return fmt.Errorf("unknown field %q; a record has %s", key, strings.Join(caliKeys, ", "))
			}
		}
		switch first(fields["__rec"]) {
		case "node":
			return r.node(fields)
		case "ctx":
			records = append(records, fields)
			return r.fits(fields)
		case "globals":
			if err := r.fits(fields); err != nil {
				return err
			}
			return r.globals(fields)
		default:
			return errors.New("is not a record of nodes, ctx or globals")
		}
	})
	if err != nil {
		return nil, err
	}
	for i, fields := range records {
		r.values(i+1, fields)
	}
	r.odd.warn(r.d, "%s: values that are not numbers are left out", name)
	return r.d, nil
}

// fits refuses a record whose values and attributes are not as many, or that refers to what is not there or is no attribute.
func (r *caliReader) fits(fields map[string][]string) error {
	if a, v := len(fields["attr"]), len(fields["data"]); a != v {
		return fmt.Errorf("has %d attributes (attr) and %d values (data)", a, v)
	}
	for _, text := range fields["ref"] {
		if id, err := strconv.Atoi(text); err != nil || r.nodes[id] == nil {
			return fmt.Errorf("refers to node %q, which is not defined before", text)
		}
	}
	for _, text := range fields["attr"] {
		if id, err := strconv.Atoi(text); err != nil || r.nodes[id] == nil || r.nodes[id].attr != caliName {
			return fmt.Errorf("node %q is not an attribute that is defined before", text)
		}
	}
	return nil
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// caliFields takes a line apart; a backslash keeps the letter after it. A key that is there twice is returned apart.
func caliFields(text string) (fields map[string][]string, twice string) {
	fields = map[string][]string{}
	var list []string
	var b strings.Builder
	end := func() {
		if _, there := fields[list[0]]; there {
			twice = list[0]
		}
		fields[list[0]] = list[1:]
		list = nil
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
		case c == '=', c == ',':
			list = append(list, b.String())
			b.Reset()
			if c == ',' {
				end()
			}
		default:
			b.WriteByte(c)
		}
	}
	list = append(list, b.String())
	end()
	return fields, twice
}

func (r *caliReader) node(fields map[string][]string) error {
	id, err := strconv.Atoi(first(fields["id"]))
	if err != nil || r.nodes[id] != nil {
		return fmt.Errorf("a node needs an id of its own, got %q", first(fields["id"]))
	}
	attr, err := strconv.Atoi(first(fields["attr"]))
	if err != nil {
		return fmt.Errorf("node %d has no attribute", id)
	}
	n := &caliNode{attr: attr, parent: -1, data: first(fields["data"])}
	if text := first(fields["parent"]); text != "" {
		if n.parent, err = strconv.Atoi(text); err != nil {
			return fmt.Errorf("node %d: the parent %q is not a number", id, text)
		}
	}
	parent := r.nodes[n.parent] // nil: none, or one of the types that are built in
	if parent != nil {
		n.path = parent.path
	}
	if attr == caliName {
		kind := n.parent
		if parent != nil && parent.attr == caliProperties {
			properties, _ := strconv.Atoi(parent.data)
			n.nested = properties&caliNested != 0
			kind = parent.parent
		}
		n.number = slices.Contains(caliNumbers, kind)
	}
	if a := r.nodes[attr]; a != nil && a.nested {
		if n.path != "" {
			n.path += "->"
		}
		if n.path += n.data; len(n.path) > maxNameBytes {
			return fmt.Errorf("the call path of node %d has more than %d bytes", id, maxNameBytes)
		}
	}
	r.nodes[id] = n
	return nil
}

// pairs are the immediate values of a record, which fits, by their attributes.
func (r *caliReader) pairs(fields map[string][]string, each func(attribute *caliNode, value string)) {
	for i, text := range fields["attr"] {
		id, _ := strconv.Atoi(text)
		each(r.nodes[id], fields["data"][i])
	}
}

func (r *caliReader) globals(fields map[string][]string) (err error) {
	r.pairs(fields, func(a *caliNode, value string) {
		if a.data == "mpi.world.size" {
			r.ranks, err = caliperRanks(value)
		}
	})
	return err
}

// values takes a record that gives values, the number-th one.
func (r *caliReader) values(number int, fields map[string][]string) {
	path := RootPath
	for _, text := range fields["ref"] {
		if id, err := strconv.Atoi(text); err == nil && r.nodes[id] != nil && r.nodes[id].path != "" {
			path = r.nodes[id].path
		}
	}
	var names []string
	var at []float64
	if r.ranks > 0 {
		names, at = []string{"p"}, []float64{r.ranks}
	}
	r.pairs(fields, func(a *caliNode, value string) {
		x, err := parseFinite(value)
		switch metric := a.data; {
		case metric == "" || caliperLocation(metric):
		case err == nil:
			r.d.Put(path, metric, names, at, x)
		case a.number:
			r.odd.add(fmt.Sprintf("%s in the record ctx %d", metric, number))
		}
	})
}
