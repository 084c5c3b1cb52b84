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
		t := &hypothesisTerms{leads: groups[h.group].of(f.Parameters), form: groups[h.group].form}
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

// leadTerm returns the place of the leading term among terms.
func (f *Fit) leadTerm(factors [][]Term) int {
	leading := f.Form.leading(f.Leads)
	return max(0, slices.IndexFunc(factors, func(t []Term) bool { return slices.Equal(t, leading) }))
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
		return outcome{0, [maxColumns]float64{c.reps[0][0]}}
	}
	c.aggregate(m.aggregate())
	if m.options.Method == Paper {
		return m.refitPaper(f, c)
	}
	hyps, groups := f.design.list()
	f.design.fit(&w.workspace, c)
	if _, ok := w.weigh(hyps, len(groups), c, !m.options.noPruning); !ok {
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
	out := outcome{0, [maxColumns]float64{again.Model.constant()}}
	if again.Form == Single {
		out.choice = int32(slices.Index(f.candidates, again.Leads[0]) + 1)
		out.coefficient[1] = again.Model.Terms[again.leadTerm(again.Model.factors())].Coefficient
	}
	return out
}
