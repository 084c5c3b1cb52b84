package dataset

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Google Benchmark JSON. Parts of a name after / are parameters: plain numbers
// n, n2 and so on, name:1024 and threads:8 by their names. Times become seconds.
// Of a benchmark without iterations (ReportAggregatesOnly) the mean counts, or else the median.

var googleFormat = Format{Name: "google", Info: "Google Benchmark JSON", PlaceInName: true, Sniff: sniffGoogle, Read: decoded(readGoogle)}

func sniffGoogle(head []byte) bool { return isObject(head) && hasKey(head, "benchmarks") }

type googleFile struct {
	Benchmarks []googleEntry `json:"benchmarks"`
}

type googleEntry struct {
	Name      string   `json:"name"`
	RunName   string   `json:"run_name"`
	RunType   string   `json:"run_type"`
	Aggregate string   `json:"aggregate_name"`
	Runs      int      `json:"repetitions"`
	Index     int      `json:"repetition_index"`
	RealTime  *float64 `json:"real_time"`
	CPUTime   *float64 `json:"cpu_time"`
	Unit      string   `json:"time_unit"`
	Failed    bool     `json:"error_occurred"`
}

func (b *googleEntry) run() string { return cmp.Or(b.RunName, b.Name) }

func (b *googleEntry) isAggregate() bool { return b.RunType == "aggregate" }

// aggregates returns which aggregate counts for each benchmark without iterations; empty: it has neither mean nor median.
func (f *googleFile) aggregates() map[string]string {
	counts, iterates := map[string]string{}, map[string]bool{}
	for i := range f.Benchmarks {
		switch b := &f.Benchmarks[i]; {
		case !b.isAggregate():
			iterates[b.run()] = true
		case b.Aggregate == "BigO" || b.Aggregate == "RMS": // of a law over several benchmarks
		case b.Aggregate == "mean" || b.Aggregate == "median" && counts[b.run()] == "":
			counts[b.run()] = b.Aggregate
		default:
			counts[b.run()] += ""
		}
	}
	maps.DeleteFunc(counts, func(run, _ string) bool { return iterates[run] })
	return counts
}

var secondsPer = map[string]float64{"": 1e-9, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}

func readGoogle(name string, file *googleFile) (*Dataset, error) {
	d := New()
	var lacking, twice, lost leftOut
	type repetition struct {
		run   string
		index int
	}
	seen := map[repetition]bool{}
	found, announced := map[string]int{}, map[string]int{}
	aggregates := file.aggregates()
	var single, without leftOut
	for _, run := range slices.Sorted(maps.Keys(aggregates)) {
		if of := aggregates[run]; of == "" {
			without.add(run)
		} else {
			single.add(fmt.Sprintf("the %s of %s", of, run))
		}
	}
	for i := range file.Benchmarks {
		b := &file.Benchmarks[i]
		run := b.run()
		if b.isAggregate() && (aggregates[run] == "" || b.Aggregate != aggregates[run]) {
			continue
		}
		if b.Runs > 0 && !b.isAggregate() {
			found[run]++
			announced[run] = b.Runs
			if seen[repetition{run, b.Index}] {
				twice.add(fmt.Sprintf("entry %d, %s", i+1, run))
			}
			seen[repetition{run, b.Index}] = true
		}
		if b.Failed {
			d.warnf("%s failed and is left out", run)
			continue
		}
		factor, ok := secondsPer[b.Unit]
		if !ok {
			return nil, fmt.Errorf("%s: %s has the time unit %q; known are ns, us, ms and s", name, run, b.Unit)
		}
		path, names, at := googleName(run)
		if len(names) == 0 {
			d.warnf("%s has no parameter in its name, such as /1024, and is left out", run)
			continue
		}
		if b.RealTime == nil || b.CPUTime == nil {
			lacking.add(fmt.Sprintf("entry %d, %s", i+1, run))
		}
		if b.RealTime != nil {
			d.Put(path, "real_time", names, at, *b.RealTime*factor)
		}
		if b.CPUTime != nil {
			d.Put(path, "cpu_time", names, at, *b.CPUTime*factor)
		}
		if len(d.Parameters) > MaxParameters {
			return nil, fmt.Errorf("%s: the benchmarks have more than %d parameters", name, MaxParameters)
		}
	}
	for _, s := range d.Series {
		s.Unit = "s"
	}
	for _, run := range slices.Sorted(maps.Keys(announced)) {
		if found[run] < announced[run] {
			lost.add(fmt.Sprintf("%s with %d of %d", run, found[run], announced[run]))
		}
	}
	single.warn(d, "%s: benchmarks without iterations, of which one aggregate counts", name)
	without.warn(d, "%s: benchmarks with neither iterations nor a mean or median are left out", name)
	twice.warn(d, "%s: repetitions (repetition_index) that were there before", name)
	lost.warn(d, "%s: benchmarks with fewer entries than repetitions", name)
	lacking.warn(d, "%s: entries without real_time or cpu_time, which are left out there", name)
	return d, nil
}

// googleName takes the name of a run apart.
func googleName(run string) (path string, names []string, at []float64) {
	parts := strings.Split(run, "/")
	rest := parts[:1:1]
	plain := 0
	for _, part := range parts[1:] {
		key, value, named := strings.Cut(part, ":")
		switch key {
		case "real_time", "process_time", "manual_time", "iterations", "repeats", "min_time", "min_warmup_time":
			continue
		}
		if !named {
			value = part
		}
		x, err := parseFinite(value)
		if err != nil {
			rest = append(rest, part)
			continue
		}
		if !named {
			plain++
			if key = "n"; plain > 1 {
				key = fmt.Sprintf("n%d", plain)
			}
		}
		if key == "" || slices.Contains(names, key) {
			rest = append(rest, part)
			continue
		}
		names, at = append(names, key), append(at, x)
	}
	return strings.Join(rest, "->"), names, at
}
