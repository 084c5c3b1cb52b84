package profile

import (
	"slices"
	"strings"

	"slackline/model/unit"
)

// Counter is what a metric counted, in all ranks together.
type Counter struct {
	Name   string `json:"name"`
	Unit   string `json:"unit,omitempty"`
	Useful int64  `json:"useful"` // in computation
	Total  int64  `json:"total"`  // in all calls
}

// Counts are what was counted in a run, and how its useful computation comes about: its time is instructions / IPC / frequency.
type Counts struct {
	Useful       unit.Sum  `json:"useful_s"`                      // of all threads together
	Instructions int64     `json:"useful_instructions,omitempty"` // 0: not counted
	Cycles       int64     `json:"useful_cycles,omitempty"`       // 0: not counted
	IPC          float64   `json:"ipc,omitempty"`                 // instructions per cycle
	Frequency    float64   `json:"frequency_hz,omitempty"`        // cycles per second of computation
	Counters     []Counter `json:"counters"`
}

// The names of metrics that POP factors need, without their case: those of PAPI, of perf, and of slackline's recorder.
var (
	instructionNames = []string{"papi_tot_ins", "instructions", "perf::instructions", "perf_count_hw_instructions"}
	cycleNames       = []string{"papi_tot_cyc", "cycles", "cpu-cycles", "perf::cycles", "perf::cpu-cycles", "perf_count_hw_cpu_cycles"}
)

// count adds to a metric of an entry; all is how many metrics there are.
func (e *Entry) count(all, metric int, value int64) {
	if e.Counts == nil {
		e.Counts = make([]int64, all)
	}
	e.Counts[metric] += value
}

// addCounts counts the metrics of a location.
func (c *counters) addCounts(p *Profile, location int32) {
	all := len(p.Timeline.Metrics)
	for i := range p.Timeline.Locations[location].Counts {
		grew := &p.Timeline.Locations[location].Counts[i]
		if path := p.Paths.Of[grew.Path]; path != 0 && int(grew.Metric) < all && !p.Paths.Unrecorded(path) {
			c.at(path).count(all, int(grew.Metric), int64(grew.Value))
		}
	}
}

// Counts returns what was counted in the run; nil: nothing was.
func (p *Profile) Counts(waiting []WaitTime) *Counts {
	metrics := p.Timeline.Metrics
	if len(metrics) == 0 {
		return nil
	}
	c := &Counts{Counters: make([]Counter, len(metrics))}
	for i, m := range metrics {
		c.Counters[i] = Counter{Name: m.Name, Unit: m.Unit}
	}
	for i := range p.ByPath {
		e := &p.ByPath[i]
		useful := p.kindOf(e.Path) == Computation
		if useful {
			c.Useful.AddSum(e.Exclusive)
		}
		for m, v := range e.Counts {
			if c.Counters[m].Total += v; useful {
				c.Counters[m].Useful += v
			}
		}
	}
	for _, w := range waiting {
		if p.kindUnder(w) == Computation {
			c.Useful = c.Useful.Minus(w.Time)
		}
	}
	c.Instructions, c.Cycles = c.named(instructionNames), c.named(cycleNames)
	if c.Instructions > 0 && c.Cycles > 0 {
		c.IPC = float64(c.Instructions) / float64(c.Cycles)
	}
	if c.Cycles > 0 && c.Useful.Sign() > 0 {
		c.Frequency = float64(c.Cycles) / (c.Useful.Float() / float64(unit.Second))
	}
	return c
}

// named returns the useful count of the metric with one of the names; 0: there is none.
func (c *Counts) named(names []string) int64 {
	for _, x := range c.Counters {
		if slices.Contains(names, strings.ToLower(x.Name)) {
			return x.Useful
		}
	}
	return 0
}

// countsOf are the counts of an entry by the names of the metrics; nil: there are none.
func (p *Profile) countsOf(e *Entry) map[string]int64 {
	if e.Counts == nil {
		return nil
	}
	named := map[string]int64{}
	for m, v := range e.Counts {
		named[p.Timeline.Metrics[m].Name] += v
	}
	return named
}
