package compare

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"slackline/internal/stat"
	"slackline/model/unit"
)

// Change is how a number differs between two sides.
type Change struct {
	Number
	A           float64  `json:"a_s"` // medians
	B           float64  `json:"b_s"`
	Difference  float64  `json:"difference_s"`
	Relative    *float64 `json:"relative"`    // in parts of A; nil: A is 0 or nearly so, and B is not
	P           *float64 `json:"p,omitempty"` // probability of chance; nil: there is one run of each
	Significant bool     `json:"significant"`
	Unit        string   `json:"unit,omitempty"` // of A, B and the difference: 1 or Hz; without one they are seconds

	inconclusive bool // too few repetitions for any verdict
}

// newChange compares the values of a number in repeated runs, or in one run of each side, which tells nothing of chance.
func newChange(n Number, x, y []float64, repeated bool, alpha float64) Change {
	c := Change{Number: n, Unit: unitOf(n.Metric), A: stat.Quantile(stat.Sorted(x), 0.5), B: stat.Quantile(stat.Sorted(y), 0.5)}
	c.Difference = c.B - c.A
	relative := 0.0
	switch {
	case c.A != 0:
		if relative = c.B/c.A - 1; !math.IsInf(relative, 0) { // A is nearly 0
			c.Relative = &relative
		}
	case c.B == 0:
		c.Relative = &relative
	}
	if !repeated {
		c.Significant = c.A != c.B
		return c
	}
	p := stat.RankSum(x, y)
	c.P, c.Significant, c.inconclusive = &p, p < alpha, stat.SmallestRankSum(len(x), len(y)) >= alpha
	return c
}

// String describes the change for people.
func (c *Change) String() string {
	text := fmt.Sprintf("%s to %s (new", c.Show(c.A), c.Show(c.B))
	if c.Relative != nil {
		text = fmt.Sprintf("%s to %s (%+.1f %%", c.Show(c.A), c.Show(c.B), 100**c.Relative)
	}
	if c.P != nil {
		text += fmt.Sprintf(", p = %.3f", *c.P)
	}
	return text + ")"
}

// Show prints a value of the number for people.
func (c *Change) Show(v float64) string {
	switch c.Unit {
	case "":
		return Seconds(v)
	case "Hz":
		return fmt.Sprintf("%.4g GHz", v/1e9)
	}
	return fmt.Sprintf("%.4g", v)
}

// Seconds prints a time for people.
func Seconds(s float64) string {
	ps := s * float64(unit.Second)
	if math.Abs(ps) >= math.MaxInt64 {
		return fmt.Sprintf("%.4gs", s)
	}
	return unit.Duration(math.Round(ps)).Short()
}

// Result is a comparison of two sides, each of one run or of repetitions.
type Result struct {
	Changes []Change // the largest first; before them those of the whole run
	left    []Number // that only one side has
	sides   [2][]Run
}

// Compare compares all numbers of the runs. A change is significant if its probability by chance is below alpha.
func Compare(before, after []Run, alpha float64) *Result {
	before, after = alike(before, after)
	r := &Result{Changes: []Change{}, sides: [2][]Run{before, after}}
	all := map[Number]bool{}
	for _, run := range slices.Concat(before, after) {
		for n := range run.Values {
			all[n] = true
		}
	}
	for n := range all {
		x, y := valuesOf(before, n), valuesOf(after, n)
		if len(x) == 0 || len(y) == 0 {
			r.left = append(r.left, n)
			continue
		}
		r.Changes = append(r.Changes, newChange(n, x, y, len(before) > 1 || len(after) > 1, alpha))
	}
	slices.SortFunc(r.left, func(x, y Number) int { return cmp.Or(cmp.Compare(x.Metric, y.Metric), cmp.Compare(x.Path, y.Path)) })
	slices.SortFunc(r.Changes, func(x, y Change) int {
		if (x.Path == "") != (y.Path == "") {
			return cmp.Compare(x.Path, y.Path)
		}
		if x.Unit != y.Unit { // counts after times
			return cmp.Compare(x.Unit, y.Unit)
		}
		return cmp.Or(cmp.Compare(math.Abs(y.Difference), math.Abs(x.Difference)), cmp.Compare(x.Metric, y.Metric), cmp.Compare(x.Path, y.Path))
	})
	return r
}

// alike leaves the start and the end of MPI out of the run times if some run is without them: what is left out of one must be of all.
func alike(before, after []Run) (a, b []Run) {
	left := func(r Run) bool { return r.left }
	if !slices.ContainsFunc(before, left) && !slices.ContainsFunc(after, left) {
		return before, after
	}
	without := func(runs []Run) (list []Run) {
		for _, r := range runs {
			r.Values = maps.Clone(r.Values)
			if t, known := r.Values[Number{Metric: RunTime}]; known {
				r.Values[Number{Metric: RunTime}] = t - r.kept
			}
			list = append(list, r)
		}
		return list
	}
	return without(before), without(after)
}

// Left is how many numbers only one side has.
func (r *Result) Left() int { return len(r.left) }

// Runs are the numbers of runs of the sides.
func (r *Result) Runs() [2]int { return [2]int{len(r.sides[0]), len(r.sides[1])} }

// valuesOf are the values of a number in runs.
func valuesOf(runs []Run, n Number) []float64 {
	var values []float64
	for _, r := range runs {
		if v, known := r.Values[n]; known || r.Kinds&kindOf(n.Metric) != 0 {
			values = append(values, v)
		}
	}
	return values
}
