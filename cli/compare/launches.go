package compare

import (
	"fmt"
	"strings"

	"slackline/analyze/compare"
	"slackline/cli/measure"
)

// readLaunches reads a result of measure collectives in JSON as runs, one for each launch, with the medians of the points in seconds.
func readLaunches(word string) (runs []compare.Run, err error) {
	b, err := measure.ReadCollectivesBaseline(word)
	if err != nil {
		return nil, err
	}
	for _, p := range b.Points {
		how := p.Scheme.Own()
		key := compare.Number{Metric: "time", Path: fmt.Sprintf("%s p=%d size=%d", p.Operation, p.Ranks, p.Size)}
		if p.Scheme != b.Points[0].Scheme {
			key.Metric += "_" + strings.ReplaceAll(string(p.Scheme), "-", "_")
		}
		for k, ns := range p.Reductions[how].LaunchMedians {
			for len(runs) <= k {
				runs = append(runs, compare.NewRun(0))
			}
			runs[k].Values[key] = ns * 1e-9
		}
	}
	if len(runs) == 0 {
		return nil, fmt.Errorf("%s: no point of this measurement counts", word)
	}
	return runs, nil
}
