package scaling

import (
	"fmt"
	"slices"
	"strings"

	"slackline/internal/phrase"
	"slackline/model/dataset"
)

// places are the points of some series, in their order, also those without a value.
func (j *judge) places(list ...*dataset.Series) []string {
	var all []string
	seen := map[string]bool{}
	add := func(at []float64) {
		if name := j.place(at); !seen[name] {
			seen[name] = true
			all = append(all, name)
		}
	}
	for _, s := range list {
		for _, p := range s.Points {
			if len(p.Values) > 0 {
				add(p.At)
			}
		}
		for _, at := range j.data.Blanks(s) {
			add(at)
		}
	}
	return all
}

func (j *judge) place(at []float64) string {
	var values []string
	for i, name := range j.data.Parameters {
		values = append(values, fmt.Sprintf("%s = %g", name, at[i]))
	}
	return strings.Join(values, ", ")
}

// measured wants values of a series wherever it was measured: if there is none, the program may have failed there, and a series that must
// be there does not pass.
func (j *judge) measured(o *Outcome, s *dataset.Series, optional bool) {
	blanks := j.data.Blanks(s)
	if len(blanks) == 0 {
		return
	}
	text := fmt.Sprintf("%s has no value at %s", s.Name(), j.place(blanks[len(blanks)-1]))
	if n := len(blanks) - 1; n > 0 {
		text += fmt.Sprintf(" and %s more", phrase.Plural(n, "point"))
	}
	if !optional && o.Verdict == Pass {
		o.Verdict, o.Reason = Inconclusive, join(o.Reason, text)
	} else {
		o.Notes = append(o.Notes, text)
	}
}

// everywhere notes that a series lacks points that others of the data have: on purpose, as with benchmarks that have sizes of their own.
func (j *judge) everywhere(o *Outcome, s *dataset.Series) {
	if j.all == nil {
		j.all = j.places(j.data.Series...)
	}
	has := j.places(s)
	n := len(j.all) - len(has)
	if n == 0 {
		return
	}
	first := slices.IndexFunc(j.all, func(name string) bool { return !slices.Contains(has, name) })
	o.Notes = append(o.Notes, fmt.Sprintf("%s was not measured at %d of the %s of the data, the first is %s", s.Name(), n,
		phrase.Plural(len(j.all), "point"), j.all[first]))
}
