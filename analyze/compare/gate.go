package compare

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"slackline/internal/suggest"
	"slackline/model/missing"
)

// A gate passes only on what it compared. A condition on a number that neither side has, on a call path that one side does
// not have, or between a run of which something is missing and a whole one, is inconclusive; one that no number can ever meet is an error.

// Condition is a change that makes a comparison fail.
type Condition struct {
	text     string
	metric   string
	path     string
	anyPath  bool
	below    bool
	relative bool
	limit    float64
}

var conditionForm = regexp.MustCompile(`^([a-z_]+)(?:@(.*?))?\s*([<>])\s*([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)\s*(%|ps|ns|us|ms|s)$`)

var conditionUnits = map[string]float64{"%": 1e-2, "ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}

// ParseCondition reads a condition such as run_time>5% or waiting@main/solve>10ms.
func ParseCondition(text string) (*Condition, error) {
	f := conditionForm.FindStringSubmatch(strings.TrimSpace(text))
	if f == nil {
		return nil, fmt.Errorf("%q is not METRIC[@CALLPATH]>CHANGE with a percentage or a time, e.g. 'run_time>5%%' or 'waiting@main/solve>10ms'",
			text)
	}
	if strings.Contains(f[0][:strings.IndexAny(f[0], "<>")], "@") && strings.TrimSpace(f[2]) == "" { // such as waiting@$SOLVER>5%
		return nil, fmt.Errorf("%q: there is no call path after @; give one, or for the whole run leave out the @", text)
	}
	limit, err := strconv.ParseFloat(f[4], 64)
	if err != nil {
		return nil, fmt.Errorf("%q: %q is not a number", text, f[4])
	}
	c := &Condition{
		text: text, metric: f[1], path: f[2], anyPath: f[2] == "*",
		below: f[3] == "<", relative: f[5] == "%", limit: limit * conditionUnits[f[5]],
	}
	return c, c.check()
}

// check refuses a condition that can never be met.
func (c *Condition) check() error {
	switch known := metrics(); {
	case !slices.Contains(known, c.metric) && !strings.HasPrefix(c.metric, Time+"_"): // of another scheme of measure collectives
		return fmt.Errorf("%q: there is no metric %s%s; the metrics are %s", c.text, c.metric, suggest.Phrase(c.metric, known),
			strings.Join(known, ", "))
	case ofWhole(c.metric) && c.path != "":
		return fmt.Errorf("%q: %s is that of the whole run; for a call path give %s@%s", c.text, c.metric, Time, c.path)
	case unitOf(c.metric) != "" && !c.relative:
		return fmt.Errorf("%q: %s is not a time; give a percentage, e.g. %s>5%%", c.text, c.metric, c.metric)
	case !ofWhole(c.metric) && c.metric != Waiting && c.path == "":
		return fmt.Errorf("%q: %s is measured by call path; give %s@CALLPATH, or %s@* for any", c.text, c.metric, c.metric, c.metric)
	case c.relative && c.below && c.limit <= -1:
		return fmt.Errorf("%q: nothing can shrink by more than 100 %%; give e.g. %s<-10%%", c.text, c.metric)
	}
	return nil
}

// The outcomes of a condition.
const (
	Passed       = "passed"
	Failed       = "failed"
	Inconclusive = "inconclusive" // there are too few repetitions to tell, or there was nothing to compare
)

// Verdict is the outcome of a condition.
type Verdict struct {
	Condition string   `json:"condition"`
	Verdict   string   `json:"verdict"`
	Because   []string `json:"because,omitempty"`
	Warning   string   `json:"-"`
}

// Judge holds the changes against a condition.
func (r *Result) Judge(c *Condition) Verdict {
	if why := r.doubt(c); why != "" {
		return notCompared(c, why)
	}
	if why := r.absent(c); why != "" {
		return notCompared(c, why)
	}
	v := Verdict{Condition: c.text, Verdict: Passed}
	known := false
	for i := range r.Changes {
		x := &r.Changes[i]
		if x.Metric != c.metric || !c.anyPath && x.Path != c.path || c.anyPath && x.Path == "" {
			continue
		}
		known = true
		met := c.met(x)
		switch {
		case met && (x.Significant || c.asksForChange()):
			if v.Verdict == Inconclusive { // the reasons of that are none of this
				v.Because = nil
			}
			v.Verdict = Failed
		case v.Verdict == Passed && (met && x.inconclusive || !met && c.asksForChange() && !x.Significant):
			v.Verdict = Inconclusive
		default:
			continue
		}
		v.Because = append(v.Because, fmt.Sprintf("%s%s: %s", x.Metric, at(x.Path), x))
	}
	if v.Verdict == Inconclusive {
		v.Warning = "too few repetitions to tell a change from chance" + r.single() + "; four of each are enough for an alpha of 0.05"
	}
	if why := r.lacks(c, known); why != "" && v.Verdict == Passed {
		return notCompared(c, why)
	}
	return v
}

// notCompared is the verdict of a condition for which nothing was compared.
func notCompared(c *Condition, why string) Verdict {
	return Verdict{Condition: c.text, Verdict: Inconclusive, Because: []string{why}, Warning: why + ": nothing was compared"}
}

// asksForChange reports whether numbers that stay as they are meet a condition, such as run_time>-5%: it passes only on a change that
// is more than chance.
func (c *Condition) asksForChange() bool {
	return c.below && c.limit > 0 || !c.below && c.limit < 0
}

// met reports whether a change is one that the condition is about.
func (c *Condition) met(x *Change) bool {
	value := x.Difference
	switch {
	case c.relative && x.Relative == nil:
		return !c.below // from nothing: more than any limit
	case c.relative:
		value = *x.Relative
	}
	beyond := value - c.limit
	if c.below {
		beyond = -beyond
	}
	return beyond > rounding*math.Abs(c.limit)
}

// rounding is how far the difference of two times, or their ratio, may be from what it would be exactly: 20 us to 21 us is 5 %, not more.
const rounding = 1e-9

// doubt gives the reason why the runs cannot be compared at all, whatever their numbers: a change of them is none of the program.
func (r *Result) doubt(c *Condition) string {
	for i, runs := range r.sides {
		if slices.ContainsFunc(runs, func(run Run) bool {
			v, has := run.Values[Number{Metric: RunTime}]
			return has && !(v > 0)
		}) {
			return fmt.Sprintf("a run of %s took no time", sideName(i))
		}
	}
	if why := r.Mixed(c.metric); why != "" {
		return why
	}
	var runs []missing.Run
	for i, side := range r.sides {
		for _, run := range side {
			parts := run.Missing
			parts.Whole = false // what follows knows whether the start and the end of MPI are in the runs
			runs = append(runs, missing.Run{Name: "a run of " + sideName(i), Parts: parts})
		}
	}
	of := missing.Time
	switch {
	case c.metric == RunTime:
		of = missing.RunTime
	case kindOf(c.metric)&(Waits|Delays) != 0:
		of = missing.Wait
	}
	if why := missing.Doubt(runs, of); why != "" {
		return why
	}
	kept, left := r.sideWith(Run.KeepsStart), r.sideWith(func(r Run) bool { return r.left })
	if kept != "" && left != "" && c.metric != RunTime {
		return fmt.Sprintf("the start and the end of MPI are in a run of %s, and left out of one of %s (--whole keeps them in both)", kept, left)
	}
	return ""
}

// Mixed says that the runs measured a metric in two ways; empty: they did not.
func (r *Result) Mixed(metric string) string {
	first, of := "", 0
	for i, side := range r.sides {
		for _, run := range side {
			switch how := run.How[metric]; {
			case first == "":
				first, of = how, i
			case how != "" && how != first:
				return fmt.Sprintf("%s was measured by %s in %s, and by %s in %s", metric, first, sideName(of), how, sideName(i))
			}
		}
	}
	return ""
}

// lacks gives the reason why a condition that no change meets decides nothing; known: there is a number that it is about.
func (r *Result) lacks(c *Condition, known bool) string {
	// What neither mentions is 0 in both, if they measured such numbers, and if the call path is there.
	kind, everything := kindOf(c.metric), slices.Concat(r.sides[0], r.sides[1])
	if covered := kind != 0 && allCover(everything, kind); !known && (!covered || c.asksForChange()) {
		return fmt.Sprintf("not both sides have %s%s%s", c.metric, at(c.path), suggest.Phrase(c.path, pathsOf(everything)))
	}
	if c.path == "" {
		return ""
	}
	a, b := pathsOf(r.sides[0]), pathsOf(r.sides[1])
	if c.anyPath {
		if i := slices.IndexFunc(r.left, func(n Number) bool { return n.Metric == c.metric && n.Path != "" }); i >= 0 {
			return fmt.Sprintf("only one side has %s%s", c.metric, at(r.left[i].Path))
		}
		if r.listsPaths(0) && r.listsPaths(1) && !slices.ContainsFunc(a, func(path string) bool { return slices.Contains(b, path) }) {
			return "the sides have no call path in common"
		}
	}
	for i, paths := range [][]string{a, b} {
		if !c.anyPath && !slices.Contains(paths, c.path) && !known {
			return noPath(i, c.path, paths)
		}
	}
	// A wait may be 0 everywhere, and the time of a call path: all of it is in what it calls. A run whose times are all 0 was not measured.
	for i := range r.sides {
		if c.anyPath && kind&(Waits|Delays) == 0 && !r.above(i, c.metric) {
			return fmt.Sprintf("%s is 0 in all call paths of %s", c.metric, sideName(i))
		}
	}
	return ""
}

// absent gives the reason why a condition on one call path decides nothing, whatever changed: a side is without it, as after a function got
// another name.
func (r *Result) absent(c *Condition) string {
	for i, runs := range r.sides {
		if paths := pathsOf(runs); c.path != "" && !c.anyPath && r.listsPaths(i) && !slices.Contains(paths, c.path) {
			return noPath(i, c.path, paths)
		}
	}
	return ""
}

func noPath(side int, path string, paths []string) string {
	return fmt.Sprintf("%s has no call path %s%s", sideName(side), path, suggest.Phrase(path, paths))
}

// listsPaths reports whether the runs of a side have all of their call paths. Results of waits of older versions have those of waits and
// delays alone.
func (r *Result) listsPaths(side int) bool { return allCover(r.sides[side], Times) }

// OnlyIn are the call paths of one side that the other one does not have, if both have all of theirs.
func (r *Result) OnlyIn(side int) []string {
	if !r.listsPaths(0) || !r.listsPaths(1) {
		return nil
	}
	others := pathsOf(r.sides[1-side])
	return slices.DeleteFunc(pathsOf(r.sides[side]), func(path string) bool {
		_, known := slices.BinarySearch(others, path)
		return known
	})
}

// above reports whether a metric is above 0 in a call path of a side.
func (r *Result) above(side int, metric string) bool {
	return slices.ContainsFunc(r.sides[side], func(run Run) bool {
		for n, v := range run.Values {
			if v > 0 && n.Metric == metric && n.Path != "" {
				return true
			}
		}
		return false
	})
}

// single says which side is a single run, whose numbers may be anywhere in their spread.
func (r *Result) single() string {
	for i, runs := range r.sides {
		if len(runs) == 1 {
			return fmt.Sprintf(" (%s is one run)", sideName(i))
		}
	}
	return ""
}

// sideWith names a side that has a run of which something holds; empty: neither.
func (r *Result) sideWith(holds func(Run) bool) string {
	for i, runs := range r.sides {
		if slices.ContainsFunc(runs, holds) {
			return sideName(i)
		}
	}
	return ""
}

func sideName(i int) string { return string(rune('A' + i)) }

// allCover reports whether all runs have measured numbers of a kind.
func allCover(runs []Run, kind Kinds) bool {
	return !slices.ContainsFunc(runs, func(r Run) bool { return r.Kinds&kind == 0 })
}

// pathsOf are the call paths of runs, sorted.
func pathsOf(runs []Run) []string {
	var list []string
	for _, r := range runs {
		for n := range r.Values {
			if n.Path != "" {
				list = append(list, n.Path)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func at(path string) string {
	if path == "" {
		return ""
	}
	return " in " + path
}
