package scaling

import (
	"fmt"
	"slices"
	"strings"

	"slackline/internal/phrase"
	"slackline/model/dataset"
)

// places are the points of some series, by the parameters that were planned if there are any, in their order.
func (j *judge) places(list ...*dataset.Series) []string {
	var all []string
	seen := map[string]bool{}
	for _, s := range list {
		for _, p := range s.Points {
			if name := j.place(p.At); len(p.Values) > 0 && !seen[name] {
				seen[name] = true
				all = append(all, name)
			}
		}
	}
	return all
}

func (j *judge) place(at []float64) string {
	var values []string
	for i, name := range j.data.Parameters {
		if planned := j.modeler.options.Planned; planned == nil || slices.Contains(planned, name) {
			values = append(values, fmt.Sprintf("%s = %g", name, at[i]))
		}
	}
	return strings.Join(values, ", ")
}

// measured wants values of a series wherever it was measured: if there is none, the program may have failed there, and a series that must
// be there does not pass.
func (j *judge) measured(o *Outcome, s *dataset.Series, optional bool) {
	blanks := j.data.Blanks(s)
	if len(blanks) == 0 || optional || o.Verdict != Pass {
		return
	}
	text := fmt.Sprintf("%s has no value at %s", s.Name(), j.place(blanks[len(blanks)-1]))
	if n := len(blanks) - 1; n > 0 {
		text += fmt.Sprintf(" and %s more", phrase.Plural(n, "point"))
	}
	o.Verdict, o.Reason = Inconclusive, join(o.Reason, text)
}

// everywhere notes that a series lacks points that others of the data have. That may be on purpose, as with benchmarks that have sizes of
// their own. What was planned is there on purpose: a series that must be there does not pass without it.
func (j *judge) everywhere(o *Outcome, s *dataset.Series, optional bool) {
	if j.all == nil {
		j.all = j.places(j.data.Series...)
	}
	has := j.places(s)
	n := len(j.all) - len(has)
	if n == 0 {
		return
	}
	first := slices.IndexFunc(j.all, func(name string) bool { return !slices.Contains(has, name) })
	text := fmt.Sprintf("%s was not measured at %d of the %s of the data, the first is %s", s.Name(), n, phrase.Plural(len(j.all), "point"),
		j.all[first])
	if j.modeler.options.Planned != nil && !optional && o.Verdict == Pass {
		o.Verdict, o.Reason = Inconclusive, join(o.Reason, text)
	} else {
		o.Notes = append(o.Notes, text)
	}
}
