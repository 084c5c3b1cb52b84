package cli

import (
	"fmt"
	"slices"
	"strings"

	"slackline/analyze/waits"
	"slackline/internal/suggest"
)

// A gate passes only on what it compared. A condition on a number that neither side has, on a call path that one side does
// not have, or on a run in which nothing was recorded is inconclusive; one that no number can ever meet is wrong usage.

// kindsMeasured are the kinds of numbers that a run has, a bit for each.
type kindsMeasured int

const (
	timeKind kindsMeasured = 1 << iota
	waitKind
	delayKind
)

// The metrics that are not those of wait states.
const (
	metricRunTime = "run_time"
	metricTime    = "time"
	metricWaiting = "waiting"
	metricDelay   = "delay"
)

// kindOf is the kind of a metric; 0: the run as a whole, or a point that a measurement has or has not.
func kindOf(metric string) kindsMeasured {
	switch metric {
	case metricTime:
		return timeKind
	case metricDelay:
		return delayKind
	case metricRunTime:
		return 0
	}
	if slices.Contains(conditionMetrics(), metric) {
		return waitKind
	}
	return 0
}

// conditionMetrics are the metrics that conditions may name.
func conditionMetrics() []string {
	list := []string{metricRunTime, metricTime, metricWaiting, metricDelay}
	for _, m := range waits.Metrics() {
		list = append(list, m.String())
	}
	return list
}

// check refuses a condition that can never be met.
func (c *condition) check() error {
	switch known := conditionMetrics(); {
	case !slices.Contains(known, c.metric) && !strings.HasPrefix(c.metric, metricTime+"_"): // of another scheme of measure collectives
		return usagef("--fail-if: %q: there is no metric %s%s; the metrics are %s", c.text, c.metric, suggest.Phrase(c.metric, known), strings.Join(known, ", "))
	case c.metric == metricRunTime && c.path != "":
		return usagef("--fail-if: %q: %s is that of the whole run; for a call path give %s@%s", c.text, metricRunTime, metricTime, c.path)
	case c.metric != metricRunTime && c.metric != metricWaiting && c.path == "":
		return usagef("--fail-if: %q: %s is measured by call path; give %s@CALLPATH, or %s@* for any", c.text, c.metric, c.metric, c.metric)
	case c.relative && c.below && c.limit <= -1:
		return usagef("--fail-if: %q: nothing can shrink by more than 100 %%; give e.g. %s<-10%%", c.text, c.metric)
	}
	return nil
}

// judge holds the changes against the conditions.
func (r *compareReport) judge(a *app, conditions []condition, sides [2][]measured) {
	for i := range conditions {
		c := &conditions[i]
		v := conditionVerdict{Condition: c.text, Verdict: conditionPassed}
		known := false
		for i := range r.changes {
			x := &r.changes[i]
			if x.metric != c.metric || !c.anyPath && x.path != c.path || c.anyPath && x.path == "" {
				continue
			}
			known = true
			switch {
			case !c.meets(x):
				continue
			case x.significant:
				v.Verdict = conditionFailed
			case x.inconclusive && v.Verdict == conditionPassed:
				v.Verdict = conditionUnsure
			default:
				continue
			}
			v.Because = append(v.Because, fmt.Sprintf("%s%s: %s", x.metric, at(x.path), x.describe()))
		}
		if v.Verdict == conditionUnsure {
			a.warn("%s: too few repetitions to tell a change from chance; four of each are enough", c.text)
		}
		if why := c.vain(known, sides); why != "" && v.Verdict == conditionPassed {
			v.Verdict, v.Because = conditionUnsure, append(v.Because, why)
			a.warn("--fail-if %s: %s: nothing was compared", c.text, why)
		}
		r.verdicts = append(r.verdicts, v)
	}
}

// vain says why a condition that no change meets has nothing to say; known: there is a number that it is about.
func (c *condition) vain(known bool, sides [2][]measured) string {
	for i, runs := range sides {
		if slices.ContainsFunc(runs, func(m measured) bool {
			v, has := m.values[measurement{metricRunTime, ""}]
			return has && !(v > 0)
		}) {
			return fmt.Sprintf("a run of %s took no time", sideName(i))
		}
	}
	// What neither mentions is 0 in both, if they measured such numbers, and if the call path is there.
	covered := kindOf(c.metric) != 0
	for _, m := range slices.Concat(sides[0], sides[1]) {
		covered = covered && m.kinds&kindOf(c.metric) != 0
	}
	if !known && !covered {
		return fmt.Sprintf("not both sides have %s%s%s", c.metric, at(c.path), suggest.Phrase(c.path, pathsOf(slices.Concat(sides[0], sides[1]))))
	}
	if c.path == "" {
		return ""
	}
	// Results of waits have the call paths of waits and delays alone: one without them is not mentioned.
	all := [2]bool{allCover(sides[0], timeKind), allCover(sides[1], timeKind)}
	a, b := pathsOf(sides[0]), pathsOf(sides[1])
	if c.anyPath {
		if all[0] && all[1] && !slices.ContainsFunc(a, func(path string) bool { return slices.Contains(b, path) }) {
			return "the sides have no call path in common"
		}
		return ""
	}
	for i, paths := range [][]string{a, b} {
		if !slices.Contains(paths, c.path) && (!known || all[i]) {
			return fmt.Sprintf("%s has no call path %s%s", sideName(i), c.path, suggest.Phrase(c.path, paths))
		}
	}
	return ""
}

func sideName(i int) string { return string(rune('A' + i)) }

func allCover(runs []measured, kind kindsMeasured) bool {
	return !slices.ContainsFunc(runs, func(m measured) bool { return m.kinds&kind == 0 })
}

// pathsOf are the call paths of runs, sorted.
func pathsOf(runs []measured) []string {
	var list []string
	for _, m := range runs {
		for k := range m.values {
			if k.path != "" {
				list = append(list, k.path)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
