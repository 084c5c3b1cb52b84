package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"slackline/analyze/compare"
	"slackline/cli/env"
	"slackline/cli/input"
	"slackline/cli/measure"
)

// readLaunches reads a result of measure collectives in JSON as runs, one for each launch, with the medians of the points in seconds.
func readLaunches(report *report, word string) (runs []compare.Run, err error) {
	b, err := measure.ReadCollectivesBaseline(word)
	if err != nil {
		return nil, err
	}
	record, err := input.RecordFile(word, "result")
	if err != nil {
		return nil, err
	}
	report.records = append(report.records, record)
	library := library{word: word}
	for _, p := range b.Points {
		how, way := p.Scheme.Own(), string(p.Scheme)
		for _, s := range b.Schemes {
			if s.Scheme == p.Scheme {
				how, library.name = cmp.Or(s.Reduction, how), cmp.Or(s.Version, s.MPI)
				if s.Loop > 1 {
					way += fmt.Sprintf(" in loops of %d", s.Loop)
				}
			}
		}
		key := compare.Number{Metric: "time", Path: fmt.Sprintf("%s p=%d size=%d", p.Operation, p.Ranks, p.Size)}
		if p.Scheme != b.Points[0].Scheme {
			key.Metric += "_" + strings.ReplaceAll(string(p.Scheme), "-", "_")
		}
		for k, ns := range p.Reductions[how].LaunchMedians {
			for len(runs) <= k {
				runs = append(runs, compare.NewRun(0))
				runs[k].How = map[string]string{}
			}
			runs[k].Values[key] = ns * 1e-9
			runs[k].How[key.Metric] = fmt.Sprintf("%s (%s)", way, how)
		}
	}
	if len(runs) == 0 {
		return nil, fmt.Errorf("%s: no point of this measurement counts", word)
	}
	report.libraries = append(report.libraries, library)
	return runs, nil
}

// library is the MPI library that a measurement was made with.
type library struct{ word, name string }

// warnOfWays warns of what was measured in two ways, and of two MPI libraries: what changed may be due to that.
func warnOfWays(a *env.Env, r *report) {
	var metrics []string
	for _, c := range r.Changes {
		if !slices.Contains(metrics, c.Metric) {
			metrics = append(metrics, c.Metric)
		}
	}
	slices.Sort(metrics)
	for _, metric := range metrics {
		if why := r.Mixed(metric); why != "" {
			a.Warn("%s: these are different things", why)
		}
	}
	for _, l := range r.libraries {
		if first := r.libraries[0]; l.name != first.name && l.name != "" && first.name != "" {
			a.Warn("the MPI library is %s in %s and %s in %s: changes may be due to that", first.name, first.word, l.name, l.word)
			return
		}
	}
}
