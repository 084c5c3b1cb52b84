package dataset

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"slackline/internal/plain"
	"slackline/model/missing"
)

// Runs of a parallel program: what each call path took and did. The parameter is p, the number of
// ranks. Values are means over the ranks, so that the law of a rank's work does not hide in that of
// their number; see Options.SumLocations for the sums.

// RunPath is what a run did in a call path itself, without what that called, summed over all ranks.
type RunPath struct {
	Name     string             // names joined by "/"; empty: in no call
	Measured map[string]float64 // by metric, see RunMetrics
}

// RunMetrics are the metrics of a run, in their order: seconds in the call path, seconds of them spent
// waiting, seconds that others waited because of it, how often it was entered, messages sent, bytes
// sent in messages and moved by collectives.
var RunMetrics = []string{"time", "waiting", "delay", "visits", "messages", "bytes"}

// RunTime is the metric of the run as a whole, in seconds from its start to its end, without the start and the end of MPI.
const RunTime = "run_time"

// runUnits are the units of the metrics of a run.
var runUnits = map[string]string{RunTime: "s", "time": "s", "waiting": "s", "delay": "s", "bytes": "B"}

// FromRun makes a dataset of one run, of which so many ranks were read.
func FromRun(ranks, read int, seconds float64, paths []RunPath) *Dataset {
	d := New("p")
	d.read = float64(read)
	at := []float64{float64(ranks)}
	add := func(path, metric string, v float64) {
		s := d.Get(path, metric)
		s.Unit = runUnits[metric]
		s.Add(at, v)
	}
	add(RootPath, RunTime, seconds)
	for _, metric := range RunMetrics {
		for _, p := range paths {
			if v, ok := p.Measured[metric]; ok {
				add(runPathName(p.Name), metric, v/d.read)
			}
		}
	}
	return d
}

func runPathName(name string) string {
	if name == "" {
		return RootPath
	}
	return strings.ReplaceAll(name, "/", "->")
}

// SumRanks turns means over ranks into sums. The dataset must be of runs; one without p has sums.
func (d *Dataset) SumRanks() {
	ranks := slices.Index(d.Parameters, "p")
	for _, s := range d.Series {
		if s.Metric == RunTime || ranks < 0 {
			continue
		}
		for _, p := range s.Points {
			for i := range p.Values {
				p.Values[i] *= cmp.Or(d.read, p.At[ranks])
			}
		}
	}
}

// IsRuns reports whether a format, by its Info, holds runs.
func IsRuns(info string) bool {
	return slices.ContainsFunc(formats, func(f Format) bool { return f.OfRuns && f.Info == info })
}

// runInfo is what results of profile and waits say of their run.
type runInfo struct {
	Ranks int `json:"ranks"`
	Read  int `json:"ranks_read"` // 0: all
	missing.Reported
}

// ofRun makes a dataset of a result of profile or waits.
func ofRun(name string, r *runInfo, circles int, paths []RunPath) (*Dataset, error) {
	if r.Ranks < 1 || r.Read < 0 || r.Read > r.Ranks {
		return nil, fmt.Errorf("%s: does not say how many ranks the run had; write it with --format json", name)
	}
	if err := r.Complete(circles); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	// The start and the end of MPI are no part of the run time of a dataset.
	d := FromRun(r.Ranks, cmp.Or(r.Read, r.Ranks), *r.Time-r.Kept(), paths)
	d.Of(missing.Run{Name: name, Parts: r.Parts})
	return d, nil
}

// The JSON of slackline profile.

var profileFormat = Format{Name: "profile", Info: "result of slackline profile", PlaceInName: true, OfRuns: true, Sniff: sniffProfile,
	Read: decodedRun(readProfile)}

func sniffProfile(head []byte) bool {
	return isObject(head) && hasKey(head, "run") && hasKey(head, "composition")
}

type profileFile struct {
	Run       runInfo `json:"run"`
	CallPaths []struct {
		Name            string   `json:"callpath"`
		Visits          *float64 `json:"visits"` // none: they were not counted
		Exclusive       *float64 `json:"exclusive_s"`
		Sent            float64  `json:"messages_sent"`
		SentBytes       float64  `json:"bytes_sent"`
		CollectiveBytes float64  `json:"collective_bytes"`
	} `json:"callpaths"`
}

func readProfile(name string, file *profileFile) (*Dataset, error) {
	var paths []RunPath
	places := map[string]int{}
	for i, c := range file.CallPaths {
		if err := listed(places, name, c.Name, i); err != nil {
			return nil, err
		}
		if c.Exclusive == nil || c.Name == "" {
			return nil, fmt.Errorf("%s: call path %d (from 1), %s, has no exclusive_s or no callpath", name, i+1, c.Name)
		}
		values := map[string]float64{"time": *c.Exclusive, "messages": c.Sent, "bytes": c.SentBytes + c.CollectiveBytes}
		if c.Visits != nil {
			values["visits"] = *c.Visits
		}
		paths = append(paths, RunPath{c.Name, values})
	}
	return ofRun(name, &file.Run, 0, paths)
}

// listed notes the entry of a call path in callpaths, and refuses a second one: results have one for each, the sum over all ranks.
func listed(entries map[string]int, file, path string, entry int) error {
	if before, twice := entries[path]; twice {
		return fmt.Errorf("%s: the call path %s is in callpaths twice (entries %d and %d, from 1): write the result again", file,
			plain.Name(path), before+1, entry+1)
	}
	entries[path] = entry
	return nil
}

// The JSON of slackline waits.

var waitsFormat = Format{Name: "waits", Info: "result of slackline waits", PlaceInName: true, OfRuns: true, Sniff: sniffWaits,
	Read: decodedRun(readWaits)}

func sniffWaits(head []byte) bool {
	rest := strings.TrimLeft(strings.TrimPrefix(strings.TrimLeft(string(head[:min(len(head), 256)]), " \t\n"), "{"), " \t\n")
	return isObject(head) && strings.HasPrefix(rest, `"waits"`)
}

type waitsFile struct {
	Run   runInfo `json:"run"`
	Waits []struct {
		Metric  string   `json:"metric"`
		PartOf  string   `json:"part_of"`
		Name    string   `json:"callpath"`
		Seconds *float64 `json:"seconds"`
	} `json:"waits"`
	Totals struct {
		Cyclic  int  `json:"cyclic"`
		Forward bool `json:"forward"` // delays are not known
	} `json:"totals"`
	CallPaths []struct {
		Name string `json:"callpath"`
	} `json:"callpaths"` // all of them; none in results of older versions
	Delays []struct {
		Name  string   `json:"callpath"`
		Short *float64 `json:"short_s"`
		Long  *float64 `json:"long_s"`
	} `json:"delays"`
}

// parts finds the sub-states of a result, which are parts of other wait states and do not count twice. Those of older results have the
// names of the others with something added, e.g. late_sender_wrong_order.
func (f *waitsFile) parts() map[string]bool {
	names := map[string]bool{}
	for _, w := range f.Waits {
		names[w.Metric] = true
	}
	parts := map[string]bool{}
	for _, w := range f.Waits {
		if w.PartOf != "" {
			parts[w.Metric] = true
		}
	}
	for name := range names {
		for i := range name {
			if name[i] == '_' && names[name[:i]] {
				parts[name] = true
			}
		}
	}
	return parts
}

func readWaits(name string, file *waitsFile) (*Dataset, error) {
	var paths []RunPath
	places := map[string]int{}
	add := func(path, metric string, v float64) {
		i, ok := places[path]
		if !ok {
			i = len(paths)
			places[path] = i
			paths = append(paths, RunPath{path, map[string]float64{}})
		}
		paths[i].Measured[metric] += v
	}
	parts := file.parts()
	for i, w := range file.Waits {
		if w.Seconds == nil || w.Metric == "" || w.Name == "" {
			return nil, fmt.Errorf("%s: wait %d (from 1), in %s, has no seconds, metric or callpath", name, i+1, w.Name)
		}
		if !parts[w.Metric] {
			add(w.Name, "waiting", *w.Seconds)
		}
	}
	for i, w := range file.Delays {
		if w.Short == nil || w.Long == nil || w.Name == "" {
			return nil, fmt.Errorf("%s: delay %d (from 1), in %s, has no short_s, long_s or callpath", name, i+1, w.Name)
		}
		add(w.Name, "delay", *w.Short+*w.Long)
	}
	entries := map[string]int{}
	for i, c := range file.CallPaths { // what is not mentioned is 0
		if err := listed(entries, name, c.Name, i); err != nil {
			return nil, err
		}
		if c.Name == "" {
			return nil, fmt.Errorf("%s: call path %d (from 1) has no callpath", name, i+1)
		}
		if add(c.Name, "waiting", 0); !file.Totals.Forward {
			add(c.Name, "delay", 0)
		}
	}
	return ofRun(name, &file.Run, file.Totals.Cyclic, paths)
}
