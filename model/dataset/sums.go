package dataset

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
)

// resultSums is what results of waits and profile hold twice.
type resultSums struct {
	Waits []struct {
		Metric  string  `json:"metric"`
		Rank    *int    `json:"rank"`
		Path    string  `json:"callpath"`
		Stream  string  `json:"stream"`
		Seconds float64 `json:"seconds"`
	} `json:"waits"`
	Delays []struct {
		Rank  *int    `json:"rank"`
		Path  string  `json:"callpath"`
		Short float64 `json:"short_s"`
		Long  float64 `json:"long_s"`
	} `json:"delays"`
	Totals struct {
		Delay    *float64           `json:"delay_s"`
		ByMetric map[string]float64 `json:"by_metric"` // nil: the result is none of waits, or of an older version
		Forward  bool               `json:"forward"`
	} `json:"totals"`
	Composition []struct {
		Kind    string  `json:"kind"`
		Name    string  `json:"name"`
		Seconds float64 `json:"seconds"`
	} `json:"composition"`
	CallPaths []struct {
		Exclusive float64 `json:"exclusive_s"`
	} `json:"callpaths"`
}

// CheckSums returns an error if a result of waits or profile in JSON has a wait or delay twice, or not all that its sums are of: records
// were lost or added.
func CheckSums(data []byte) error {
	var r resultSums
	if err := json.Unmarshal(data, &r); err != nil {
		return err
	}
	if err := r.once(); err != nil {
		return err
	}
	byMetric, delays := map[string]float64{}, 0.0
	for _, w := range r.Waits {
		byMetric[w.Metric] += w.Seconds
	}
	for _, x := range r.Delays {
		delays += x.Short + x.Long
	}
	if r.Totals.ByMetric != nil {
		for metric := range r.Totals.ByMetric {
			byMetric[metric] += 0 // it may have no waits
		}
		for _, metric := range slices.Sorted(maps.Keys(byMetric)) {
			if got, want := byMetric[metric], r.Totals.ByMetric[metric]; !sameSum(got, want) {
				return fmt.Errorf("the waits of %s are %.12g s together, but totals.by_metric says %.12g s: is the file damaged?", metric, got, want)
			}
		}
	}
	if want := r.Totals.Delay; want != nil && !r.Totals.Forward && !sameSum(delays, *want) {
		return fmt.Errorf("the delays are %.12g s together, but totals.delay_s says %.12g s: is the file damaged?", delays, *want)
	}
	return r.composed()
}

// once returns an error if a record of a rank is there twice.
func (r *resultSums) once() error {
	type place struct {
		metric, path, stream string
		rank                 int
	}
	seen := map[place]int{}
	check := func(what string, i int, rank *int, metric, path, stream string) error {
		if rank == nil {
			return nil
		}
		at := place{metric, path, stream, *rank}
		if first, twice := seen[at]; twice {
			return fmt.Errorf("%s %d and %d (from 1) both are those of %s in %s on rank %d: is the file damaged?", what, first, i+1, metric, path,
				*rank)
		}
		seen[at] = i + 1
		return nil
	}
	for i, w := range r.Waits {
		if err := check("waits", i, w.Rank, w.Metric, w.Path, w.Stream); err != nil {
			return err
		}
	}
	for i, x := range r.Delays {
		if err := check("delays", i, x.Rank, "delay", x.Path, ""); err != nil {
			return err
		}
	}
	return nil
}

// composed returns an error if the call paths of a profile do not take the time that the run consists of, without that in no call, or its
// waits not their part of it.
func (r *resultSums) composed() error {
	if len(r.Composition) == 0 || r.CallPaths == nil {
		return nil
	}
	waits := map[string]float64{}
	for _, w := range r.Waits {
		if w.Stream == "" { // streams are no threads
			waits[w.Metric] += w.Seconds
		}
	}
	want, got := 0.0, 0.0
	for _, p := range r.Composition {
		if p.Kind == "waiting" && r.Waits != nil && !sameSum(waits[p.Name], p.Seconds) {
			return fmt.Errorf("the waits of %s are %.12g s together, but the composition says %.12g s: is the file damaged?", p.Name, waits[p.Name],
				p.Seconds)
		}
		if p.Kind != "outside" && p.Kind != "not_recorded" && p.Name != "omp_idle" {
			want += p.Seconds
		}
	}
	for _, p := range r.CallPaths {
		got += p.Exclusive
	}
	if !sameSum(got, want) {
		return fmt.Errorf("the call paths take %.12g s together, but the composition says %.12g s: is the file damaged?", got, want)
	}
	return nil
}

// sameSum reports whether two sums of the same times agree but for rounding.
func sameSum(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b), 1e-3) }
