package scaling

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"slackline/model/dataset"
)

// Options describe how models are found. The zero value is the default.
type Options struct {
	Method    Method
	Aggregate Aggregate
	Further   []Term // candidates beside the common ones (one parameter)
	Only      []Term // candidates of method Paper in place of the common ones
	Space     Space  // of expectations that have none of their own
	TwoSided  bool   // O is judged like Theta: better than the lower limit is a failure too

	noPruning bool // for the test that pruning changes nothing
	selected  int  // candidates of each of three parameters; 0: selectedTerms
}

// Fit is a model of a series and everything that a reader should know before
// believing it.
type Fit struct {
	CallPath, Metric string
	Unit             string // of the values; empty: not known
	Parameters       []string

	Model Model
	Leads []Term // by parameter
	Form  Form

	Confidence float64 // weight of the lead among all; NaN if the method has none
	AdjustedR2 float64 // NaN for constants
	SMAPE      float64 // per cent
	Noise      Noise
	Variance   float64 // of the relative distance between model and aggregate

	Doubt string // why no conclusion may be drawn; empty: one may

	Groups []Weighted // by lead, those with a weight above minGroup, in the order of the candidates

	At     [][]float64 // the points, ascending
	Values []float64   // the aggregates there

	sample     *sample
	candidates []Term     // of method Paper
	design     design     // that has the weights; nil if only the model counts
	heavy      []weighted // hypotheses with a weight above minWeight
}

// weighted is a hypothesis of a design with its weight.
type weighted struct {
	hypothesis
	weight float64
}

// Weighted is the weight of a lead.
type Weighted struct {
	Leads  []Term  `json:"-"`
	Form   Form    `json:"form"`
	Weight float64 `json:"weight"`
}

// Candidate is a fitted hypothesis.
type Candidate struct {
	Model  Model
	Weight float64
}

// hypotheses returns the hypotheses with a weight above 1e-6, fitted.
func (f *Fit) hypotheses() []Candidate {
	if f.design == nil {
		return []Candidate{{f.Model, 1}}
	}
	list := make([]Candidate, len(f.heavy))
	for i, h := range f.heavy {
		list[i] = Candidate{f.solved(f.design, &h.hypothesis), h.weight}
	}
	return list
}

// From these weights on hypotheses and groups are kept. There are thousands of groups with several parameters, and what lies beyond a
// limit is the sum of all of them: those left out must not add up to anything that shows.
const (
	minWeight = 1e-6
	minGroup  = 1e-9
)

// Modeler finds models for series over the same parameters. What series with the
// same points have in common is computed once. It may be used by several
// goroutines at the same time.
type Modeler struct {
	parameters []string
	options    Options

	mu      sync.Mutex
	designs map[string]design
	spaces  sync.Pool // of *workspace
}

// design is what all numbers of parameters have in common.
type design interface {
	fit(ws *workspace, c *sample)
	list() ([]hypothesis, []group)
	columnsOf(h *hypothesis) (phi [][]float64, terms []ModelTerm)
	kept() design   // what a fit keeps of it: its list may be made anew
	listed() design // with its list at hand
}

func (d *design1) list() ([]hypothesis, []group) { return d.hyps, d.groups }
func (d *design1) kept() design                  { return d }
func (d *design1) listed() design                { return d }

// maxParameters is how many parameters a model can have.
const maxParameters = 3

var errNoParameter = errors.New("the data have no parameter; give its value for each input, e.g. --set p=64")

// newModeler returns a modeler for data over parameters.
func newModeler(parameters []string, o Options) (*Modeler, error) {
	switch n := len(parameters); {
	case n == 0:
		return nil, errNoParameter
	case n > maxParameters:
		return nil, fmt.Errorf("the data have %d parameters; models have at most %d: fix the others with --where NAME=VALUE", n, maxParameters)
	case n > 1 && o.Method == Paper:
		return nil, fmt.Errorf("the method of the paper models one parameter, the data have %d; use the method evidence", n)
	}
	return &Modeler{parameters: parameters, options: o, designs: map[string]design{},
		spaces: sync.Pool{New: func() any { return new(workspace) }}}, nil
}

// fit finds the model of a series. The error wraps ErrUnusable.
func (m *Modeler) fit(s *dataset.Series) (*Fit, error) { return m.fitWith(s, nil) }

// aggregate is how repetitions become one number.
func (m *Modeler) aggregate() Aggregate {
	if m.options.Aggregate == Auto && m.options.Method == Paper {
		return FirstQuartile
	}
	return m.options.Aggregate
}

// fitWith is Fit with further candidates for this series alone.
func (m *Modeler) fitWith(s *dataset.Series, further []Term) (*Fit, error) {
	c, err := newSample(s, len(m.parameters), m.aggregate())
	if err != nil {
		return nil, err
	}
	return m.fitSample(s, c, further)
}

// fitSample is Fit of measurements that are checked and aggregated.
func (m *Modeler) fitSample(s *dataset.Series, c *sample, further []Term) (*Fit, error) {
	f := &Fit{
		CallPath: s.CallPath, Metric: s.Metric, Unit: s.Unit, Parameters: m.parameters,
		Leads: make([]Term, len(m.parameters)), Noise: c.noise, Doubt: c.doubt(m.parameters),
		At: c.at, Values: c.value, sample: c,
	}
	var err error
	switch {
	case c.equal:
		f.setConstant()
	case m.options.Method == Paper:
		f.candidates = m.paperCandidates(c, further)
		err = f.choosePaper(f.candidates)
	default:
		err = m.chooseEvidence(f, append(append([]Term{}, m.options.Further...), further...))
	}
	if err != nil {
		return nil, err
	}
	if !f.Model.finite(c) {
		return nil, unusable("its coefficients are too large or too small for numbers of this machine; measure in other units")
	}
	f.AdjustedR2, f.SMAPE = f.Model.adjustedR2(c), f.Model.smape(c)
	return f, nil
}

// setConstant is the answer for values that are all the same.
func (f *Fit) setConstant() {
	f.Model = newModel(f.Parameters, []ModelTerm{{f.Values[0], make([]Term, len(f.Parameters))}})
	f.Confidence, f.Variance = 1, tinyVariance
	f.Groups = []Weighted{{f.Leads, Constant, 1}}
}

// design returns what a series has in common with all others that have the same points.
func (m *Modeler) design(c *sample, further []Term) design {
	if len(m.parameters) == 3 { // its candidates are those of the series
		return newGrid(c.at, m.selectTerms(c))
	}
	key := fmt.Appendf(nil, "%v|", further)
	for _, p := range c.at {
		for _, x := range p {
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(x))
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if d := m.designs[string(key)]; d != nil {
		return d
	}
	if len(m.designs) > 256 { // series that all have points of their own
		clear(m.designs)
	}
	var d design
	if len(m.parameters) == 1 {
		d = newDesign1(firsts(c.at), further)
	} else {
		d = newGrid(c.at, [][]Term{severalCandidates, severalCandidates})
	}
	m.designs[string(key)] = d
	return d
}

func firsts(at [][]float64) []float64 {
	x := make([]float64, len(at))
	for i, p := range at {
		x[i] = p[0]
	}
	return x
}

// chooseEvidence fits all hypotheses and lets the evidence decide.
func (m *Modeler) chooseEvidence(f *Fit, further []Term) error {
	c := f.sample
	d := m.design(c, further)
	hyps, groups := d.list()
	ws := m.spaces.Get().(*workspace)
	defer m.spaces.Put(ws)
	d.fit(ws, c)
	v, ok := ws.weigh(hyps, len(groups), c, !m.options.noPruning)
	if !ok {
		return unusable("no hypothesis fits %d points with positive coefficients; measure at more", len(c.value))
	}
	f.Variance, f.design = v, d.kept()
	f.Groups, f.heavy = make([]Weighted, 0, 64), make([]weighted, 0, 128)
	for g, w := range ws.weight {
		if w > minGroup {
			f.Groups = append(f.Groups, Weighted{groups[g].of(f.Parameters), groups[g].form, w})
		}
	}
	for _, i := range ws.candidates {
		if w := ws.score[i]; w > minWeight {
			f.heavy = append(f.heavy, weighted{hyps[i], w})
		}
	}
	lead, chosen := ws.choose(hyps)
	if chosen < 0 {
		return unusable("the numbers are too far apart to compare hypotheses")
	}
	f.Confidence, f.Form = min(ws.weight[lead], 1), groups[lead].form
	f.Leads = groups[lead].of(f.Parameters)
	f.Model = f.solved(d, &hyps[chosen])
	return nil
}

// solved returns a hypothesis with its coefficients.
func (f *Fit) solved(d design, h *hypothesis) Model {
	phi, terms := d.columnsOf(h)
	top := slices.Max(f.Values)
	for i, u := range solveColumns(phi, f.Values, top) {
		terms[i].Coefficient *= u * top
	}
	return newModel(f.Parameters, terms)
}

// solveColumns returns the shares of the columns of a hypothesis in the relative fit.
func solveColumns(phi [][]float64, values []float64, top float64) []float64 {
	var g [maxColumns][maxColumns]float64
	var b [maxColumns]float64
	for n, a := range values {
		w := top / a
		for i := range phi {
			b[i] += phi[i][n] * w
			for j := range phi {
				g[i][j] += phi[i][n] * phi[j][n] * w * w
			}
		}
	}
	u := make([]float64, len(phi))
	for i := range phi { // elimination, then substitution
		for j := i + 1; j < len(phi); j++ {
			l := g[j][i] / g[i][i]
			b[j] -= l * b[i]
			for k := i; k < len(phi); k++ {
				g[j][k] -= l * g[i][k]
			}
		}
	}
	for i := len(phi) - 1; i >= 0; i-- {
		u[i] = b[i]
		for j := i + 1; j < len(phi); j++ {
			u[i] -= g[i][j] * u[j]
		}
		u[i] /= g[i][i]
	}
	return u
}

// OtherLeads returns the heaviest leads beside the chosen one, at most so many.
func (f *Fit) OtherLeads(most int) []Weighted {
	list := slices.DeleteFunc(slices.Clone(f.Groups), func(g Weighted) bool {
		return g.Form == f.Form && slices.Equal(g.Leads, f.Leads) || g.Weight < 0.01
	})
	slices.SortStableFunc(list, func(a, b Weighted) int { return cmp.Compare(b.Weight, a.Weight) })
	return list[:min(len(list), most)]
}

// Largest returns the largest measured value of each parameter.
func (f *Fit) Largest() []float64 { return f.sample.largest() }

// Repeated reports whether some point has several repetitions.
func (f *Fit) Repeated() bool { return f.Noise.Kind != noiseUnknown }
