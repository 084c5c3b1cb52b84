package explore

import (
	"context"
	"math"
	"slices"

	"slackline/analyze/compare"
	"slackline/analyze/waits"
	"slackline/internal/stat"
	"slackline/model/unit"
)

const (
	compareAlpha = 0.05 // probability of chance below which a change counts, as in slackline compare
	mostChanges  = 100  // that are listed
)

// answerCompare compares runs with others as slackline compare does.
func (s *Server) answerCompare(ctx context.Context, q *query) (any, error) {
	a := &Comparison{Alpha: compareAlpha, Changes: []Change{}}
	var sides [2][]compare.Run
	for i, name := range []string{"before", "after"} {
		chosen := q.ranks(name, len(s.inputs))
		if chosen == nil {
			q.refuse(name, "give runs, such as %s=0,1", name)
		}
		if q.err != nil {
			return nil, q.err
		}
		for k, on := range chosen {
			if !on {
				continue
			}
			v := s.inputs[k].view.Load()
			if v == nil {
				return nil, notReady("this run is not open yet")
			}
			f, err := v.analyzed(ctx)
			if err != nil {
				return nil, err
			}
			sides[i] = append(sides[i], f.numbers())
		}
	}
	a.Before, a.After = len(sides[0]), len(sides[1])
	r := compare.Compare(sides[0], sides[1], compareAlpha)
	r.Changes = slices.DeleteFunc(r.Changes, func(c compare.Change) bool { return c.Unit != "" }) // the list is one of times
	a.Left, a.More = r.Left(), max(0, len(r.Changes)-mostChanges)
	for a.Least = 2; stat.SmallestRankSum(a.Least, a.Least) >= compareAlpha; {
		a.Least++
	}
	a.Conclusive = min(a.Before, a.After) > 1 && stat.SmallestRankSum(a.Before, a.After) < compareAlpha
	for i := range r.Changes[:len(r.Changes)-a.More] {
		c := &r.Changes[i]
		a.Changes = append(a.Changes, Change{
			Metric: c.Metric, Title: changeTitle(c.Metric), CallPath: c.Path, Before: picoseconds(c.A), After: picoseconds(c.B),
			P: c.P, Significant: c.Significant && a.Conclusive,
		})
	}
	return a, nil
}

// changeTitle names a metric of a comparison.
func changeTitle(metric string) string {
	switch metric {
	case compare.RunTime:
		return "Run time"
	case compare.Time:
		return "Time without what it calls"
	case compare.UsefulTime:
		return "Useful computation"
	case compare.Waiting:
		return "Waiting"
	case compare.Delay:
		return "Waiting that it causes"
	}
	return waits.ByName(metric).Info().Title
}

func picoseconds(s float64) int64 { return int64(math.Round(s * float64(unit.Second))) }
