package scaling

import "slices"

// hypothesisTerms are the terms of a hypothesis, without coefficients.
type hypothesisTerms struct {
	leads   []Term // by parameter
	form    Form
	factors [][]Term // of each term, by parameter
}

// hypothesis returns the terms of the hypothesis with a place among all.
func (f *Fit) hypothesis(place int32) *hypothesisTerms {
	switch {
	case f.design != nil:
		hyps, groups := f.design.list()
		h := &hyps[place]
		t := &hypothesisTerms{leads: groups[h.group].leads[:len(f.Parameters)], form: groups[h.group].form}
		_, terms := f.design.columnsOf(h)
		for i := range terms {
			t.factors = append(t.factors, terms[i].Factors)
		}
		return t
	case place == 0:
		constant := make([]Term, len(f.Parameters))
		return &hypothesisTerms{constant, Constant, [][]Term{constant}}
	}
	lead := []Term{f.candidates[place-1]}
	return &hypothesisTerms{lead, Single, [][]Term{{{}}, lead}}
}

// leadTerm returns the place of the leading term among terms: that of all leads,
// or, in a sum, that of the first parameter.
func (f *Fit) leadTerm(factors [][]Term) int {
	return max(0, slices.IndexFunc(factors, func(t []Term) bool {
		if f.Form == Sum {
			return t[0] == f.Leads[0]
		}
		return slices.Equal(t, f.Leads)
	}))
}

// refit finds the model of a resample by the search that found the model of the
// fit.
func (m *Modeler) refit(f *Fit, w *resampleSpace) outcome {
	c := &w.sample
	c.equal = true
	if c.checkValues() != nil {
		return outcome{choice: failedResample}
	}
	if c.equal {
		return outcome{0, [3]float64{c.reps[0][0]}}
	}
	c.aggregate(m.aggregate())
	if m.options.Method == Paper {
		return m.refitPaper(f, c)
	}
	hyps, groups := f.design.list()
	f.design.fit(&w.workspace, c)
	if _, _, ok := w.weigh(hyps, len(groups), c, !m.options.noPruning); !ok {
		return outcome{choice: failedResample}
	}
	_, chosen := w.choose(hyps)
	out := outcome{choice: int32(chosen)}
	phi, terms := f.design.columnsOf(&hyps[chosen])
	top := slices.Max(c.value)
	for k, u := range solveColumns(phi, c.value, top) {
		out.coefficient[k] = terms[k].Coefficient * u * top
	}
	return out
}

// refitPaper is refit by the method of the paper.
func (m *Modeler) refitPaper(f *Fit, c *sample) outcome {
	again := &Fit{Parameters: f.Parameters, Leads: make([]Term, len(f.Parameters)), sample: c}
	if again.choosePaper(f.candidates) != nil {
		return outcome{choice: failedResample}
	}
	out := outcome{0, [3]float64{again.Model.constant()}}
	if again.Form == Single {
		out.choice = int32(slices.Index(f.candidates, again.Leads[0]) + 1)
		out.coefficient[1] = again.Model.Terms[again.leadTerm(again.Model.factors())].Coefficient
	}
	return out
}
