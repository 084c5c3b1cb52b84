package dataset

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Run reports of ReFrame (--report-file). A test case with a performance gives a value of each of its variables: under perfvalues,
// [value, reference, lower, upper, unit] by system:partition:variable, or under perfvars of older versions. The parameter p is
// the number of tasks; numbers after % in the name of a test are parameters, other words stay in it. If a report has several partitions or
// environments, they stand in front of the call paths as ReFrame writes them: cluster:gpu+gnu->Solve, or what there are several of alone.

var reframeFormat = Format{Name: "reframe", Info: "ReFrame run report", PlaceInName: true, Sniff: sniffReFrame, Read: decoded(readReFrame)}

func sniffReFrame(head []byte) bool { return isObject(head) && hasKey(head, "session_info") }

type reframeFile struct {
	Runs []struct {
		Count *float64      `json:"num_cases"`
		Cases []reframeCase `json:"testcases"`
	} `json:"runs"`
}

type reframeCase struct {
	Name    string                       `json:"name"`
	Display string                       `json:"display_name"`
	System  string                       `json:"system"`    // before version 4 with the partition
	Part    string                       `json:"partition"` // none before version 4
	Environ string                       `json:"environ"`
	Older   string                       `json:"environment"` // before version 4
	Result  string                       `json:"result"`
	Tasks   float64                      `json:"num_tasks"`
	Values  map[string][]json.RawMessage `json:"perfvalues"`
	Vars    []struct {
		Name  string   `json:"name"`
		Unit  string   `json:"unit"`
		Value *float64 `json:"value"`
	} `json:"perfvars"`
}

// place is the partition of a value, by its key where that has it, and the environment; empty: not known.
func (c *reframeCase) place(key string) (partition, environment string) {
	if i := strings.LastIndexByte(key, ':'); i > 0 {
		partition = key[:i]
	} else if partition = c.System; c.Part != "" {
		partition += ":" + c.Part
	}
	return partition, cmp.Or(c.Environ, c.Older)
}

// reframePlaces are what there is in a report.
type reframePlaces struct{ partitions, environments map[string]bool }

func (f *reframeFile) places() reframePlaces {
	p := reframePlaces{map[string]bool{}, map[string]bool{}}
	add := func(partition, environment string) { p.partitions[partition], p.environments[environment] = true, true }
	for _, run := range f.Runs {
		for i := range run.Cases {
			c := &run.Cases[i]
			for key := range c.Values {
				add(c.place(key))
			}
			if len(c.Values) == 0 {
				add(c.place(""))
			}
		}
	}
	delete(p.partitions, "")
	delete(p.environments, "")
	return p
}

// path puts in front of a call path what there are several of.
func (p *reframePlaces) path(c *reframeCase, key, path string) string {
	partition, environment := c.place(key)
	var front []string
	if len(p.partitions) > 1 && partition != "" {
		front = append(front, partition)
	}
	if len(p.environments) > 1 && environment != "" {
		front = append(front, environment)
	}
	if len(front) == 0 {
		return path
	}
	return strings.Join(front, "+") + "->" + path
}

func readReFrame(name string, file *reframeFile) (*Dataset, error) {
	d := New()
	var failed, bad, short leftOut
	places := file.places()
	for _, run := range file.Runs {
		if run.Count != nil && *run.Count != float64(len(run.Cases)) {
			d.warnf("%s: a run announces %g test cases (num_cases), and has %d: some are lost or twice", name, *run.Count, len(run.Cases))
		}
		for i := range run.Cases {
			c := &run.Cases[i]
			path, names, at := reframeName(c)
			if path == "" {
				return nil, fmt.Errorf("%s: test case %d of a run has no name", name, i+1)
			}
			if c.Result != "" && c.Result != "success" && c.Result != "pass" {
				failed.add(path)
				continue
			}
			add := func(key, metric, unit string, v float64) {
				path := places.path(c, key, path)
				d.Get(path, metric).takeUnit(unit)
				d.Put(path, metric, names, at, v)
			}
			for _, key := range slices.Sorted(maps.Keys(c.Values)) {
				list := c.Values[key]
				var v *float64
				unit := ""
				if len(list) == 0 || json.Unmarshal(list[0], &v) != nil || v == nil {
					bad.add(path + " " + key)
					continue
				}
				if len(list) < 5 || json.Unmarshal(list[4], &unit) != nil {
					short.add(path + " " + key)
				}
				add(key, key[strings.LastIndexByte(key, ':')+1:], unit, *v)
			}
			for _, v := range c.Vars {
				if len(c.Values) == 0 && v.Value != nil {
					add("", v.Name, v.Unit, *v.Value)
				}
			}
			if len(d.Parameters) > MaxParameters {
				return nil, fmt.Errorf("%s: the tests have more than %d parameters; report fewer of them", name, MaxParameters)
			}
		}
	}
	failed.warn(d, "%s: test cases that failed are left out", name)
	short.warn(d, "%s: performance values that are not [value, reference, lower, upper, unit] (are they damaged?)", name)
	bad.warn(d, "%s: performance values that are not numbers are left out", name)
	return d, nil
}

// reframeName takes the name of a test case apart.
func reframeName(c *reframeCase) (path string, names []string, at []float64) {
	words := strings.Fields(c.Display)
	if len(words) == 0 {
		words = []string{c.Name}
	}
	path = words[0]
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(strings.TrimPrefix(word, "%"), "=")
		if x, err := parseFinite(value); err == nil && key != "" && key != "p" && !slices.Contains(names, key) {
			names, at = append(names, key), append(at, x)
			continue
		}
		path += "->" + strings.TrimPrefix(word, "%")
	}
	if c.Tasks > 0 {
		names, at = append(names, "p"), append(at, c.Tasks)
	}
	return path, names, at
}
