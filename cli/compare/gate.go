package compare

import (
	"fmt"
	"slices"
	"strings"

	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/profile"
	"slackline/internal/suggest"
)

// check refuses a condition that can never be met.
func (c *condition) check() error {
	switch known := profile.ConditionMetrics(); {
	case !slices.Contains(known, c.metric) && !strings.HasPrefix(c.metric, profile.MetricTime+"_"): // of another scheme of measure collectives
		return exit.Usagef("--fail-if: %q: there is no metric %s%s; the metrics are %s", c.text, c.metric, suggest.Phrase(c.metric, known), strings.Join(known, ", "))
	case c.metric == profile.MetricRunTime && c.path != "":
		return exit.Usagef("--fail-if: %q: %s is that of the whole run; for a call path give %s@%s", c.text, profile.MetricRunTime, profile.MetricTime, c.path)
	case c.metric != profile.MetricRunTime && c.metric != profile.MetricWaiting && c.path == "":
		return exit.Usagef("--fail-if: %q: %s is measured by call path; give %s@CALLPATH, or %s@* for any", c.text, c.metric, c.metric, c.metric)
	case c.relative && c.below && c.limit <= -1:
		return exit.Usagef("--fail-if: %q: nothing can shrink by more than 100 %%; give e.g. %s<-10%%", c.text, c.metric)
	}
	return nil
}

// judge holds the changes against the conditions.
func (r *compareReport) judge(a *env.Env, conditions []condition, sides [2][]profile.Measured) {
	for i := range conditions {
		c := &conditions[i]
		v := conditionVerdict{Condition: c.text, Verdict: conditionPassed}
		known := false
		for i := range r.changes {
			x := &r.changes[i]
			if x.Metric != c.metric || !c.anyPath && x.Path != c.path || c.anyPath && x.Path == "" {
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
			v.Because = append(v.Because, fmt.Sprintf("%s%s: %s", x.Metric, at(x.Path), x.describe()))
		}
		if v.Verdict == conditionUnsure {
			a.Warn("%s: too few repetitions to tell a change from chance; four of each are enough", c.text)
		}
		if why := c.vain(known, sides); why != "" && v.Verdict == conditionPassed {
			v.Verdict, v.Because = conditionUnsure, append(v.Because, why)
			a.Warn("--fail-if %s: %s: nothing was compared", c.text, why)
		}
		r.verdicts = append(r.verdicts, v)
	}
}

// vain says why a condition that no change meets has nothing to say; known: there is a number that it is about.
func (c *condition) vain(known bool, sides [2][]profile.Measured) string {
	for i, runs := range sides {
		if slices.ContainsFunc(runs, func(m profile.Measured) bool {
			v, has := m.Values[profile.Measurement{Metric: profile.MetricRunTime, Path: ""}]
			return has && !(v > 0)
		}) {
			return fmt.Sprintf("a run of %s took no time", sideName(i))
		}
	}
	// What neither mentions is 0 in both, if they measured such numbers, and if the call path is there.
	covered := profile.KindOf(c.metric) != 0
	for _, m := range slices.Concat(sides[0], sides[1]) {
		covered = covered && m.Kinds&profile.KindOf(c.metric) != 0
	}
	if !known && !covered {
		return fmt.Sprintf("not both sides have %s%s%s", c.metric, at(c.path), suggest.Phrase(c.path, pathsOf(slices.Concat(sides[0], sides[1]))))
	}
	if c.path == "" {
		return ""
	}
	// Results of waits have the call paths of waits and delays alone: one without them is not mentioned.
	all := [2]bool{allCover(sides[0], profile.TimeKind), allCover(sides[1], profile.TimeKind)}
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

func allCover(runs []profile.Measured, kind profile.KindsMeasured) bool {
	return !slices.ContainsFunc(runs, func(m profile.Measured) bool { return m.Kinds&kind == 0 })
}

// pathsOf are the call paths of runs, sorted.
func pathsOf(runs []profile.Measured) []string {
	var list []string
	for _, m := range runs {
		for k := range m.Values {
			if k.Path != "" {
				list = append(list, k.Path)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
