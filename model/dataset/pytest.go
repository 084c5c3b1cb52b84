package dataset

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// pytest-benchmark JSON (--benchmark-json, --benchmark-autosave). Numbers among the params of a test are parameters; others stay
// in its name. A test has all its rounds with --benchmark-save-data, else their mean.

var pytestFormat = Format{Name: "pytest", Info: "pytest-benchmark JSON", PlaceInName: true, Sniff: sniffPytest, Read: decoded(readPytest)}

func sniffPytest(head []byte) bool {
	return isObject(head) && hasKey(head, "machine_info") && (hasKey(head, "commit_info") || hasKey(head, "benchmarks"))
}

type pytestFile struct {
	Benchmarks []struct {
		Name   string                     `json:"name"`
		Full   string                     `json:"fullname"`
		Params map[string]json.RawMessage `json:"params"`
		Stats  *struct {
			Mean   *float64 `json:"mean"`
			Rounds *float64 `json:"rounds"`
			Data   *values  `json:"data"`
		} `json:"stats"`
	} `json:"benchmarks"`
}

func readPytest(name string, file *pytestFile) (*Dataset, error) {
	d := New()
	var lacking, odd, twice leftOut
	seen := map[string]bool{}
	for i, b := range file.Benchmarks {
		full := cmp.Or(b.Full, b.Name)
		where := fmt.Sprintf("entry %d, %s", i+1, full)
		if seen[full] {
			twice.add(where)
		}
		seen[full] = true
		if b.Stats == nil || b.Stats.Mean == nil && (b.Stats.Data == nil || len(*b.Stats.Data) == 0) {
			lacking.add(where)
			continue
		}
		path, names, at := pytestName(full, b.Params)
		var v []float64
		if b.Stats.Data != nil {
			v = *b.Stats.Data
		}
		if len(v) == 0 {
			v = []float64{*b.Stats.Mean}
			if b.Stats.Data != nil {
				odd.add(where)
			}
		} else if b.Stats.Rounds != nil && *b.Stats.Rounds != float64(len(v)) || b.Stats.Mean != nil && !isMean(*b.Stats.Mean, v) {
			odd.add(where)
		}
		d.Put(path, "time", names, at, v...)
		if len(d.Parameters) > MaxParameters {
			return nil, fmt.Errorf("%s: the tests have more than %d parameters; run fewer tests at once, e.g. with -k", name, MaxParameters)
		}
	}
	for _, s := range d.Series {
		s.Unit = "s"
	}
	lacking.warn(d, "%s: tests without a mean or data are left out", name)
	twice.warn(d, "%s: tests that were there before", name)
	odd.warn(d, "%s: tests whose number of rounds or mean is not that of their data (are they damaged?)", name)
	return d, nil
}

// isMean reports whether a mean is that of values, as far as it was rounded.
func isMean(mean float64, values []float64) bool {
	sum := 0.0
	for _, v := range values {
		sum += v / float64(len(values))
	}
	return math.IsNaN(sum) || math.Abs(mean-sum) <= 1e-6*math.Abs(sum)
}

// pytestName is the name of a test with those of its params that are not numbers, and the numbers.
func pytestName(full string, params map[string]json.RawMessage) (path string, names []string, at []float64) {
	path, _, _ = strings.Cut(full, "[")
	path = strings.ReplaceAll(path, "::", "->")
	for _, key := range slices.Sorted(maps.Keys(params)) {
		raw := string(bytes.Trim(params[key], `"`))
		if x, err := parseFinite(raw); err == nil && key != "" && params[key][0] != '"' {
			names, at = append(names, key), append(at, x)
		} else {
			path += "->" + key + "=" + raw
		}
	}
	return path, names, at
}
