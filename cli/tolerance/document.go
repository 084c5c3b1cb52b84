package tolerance

import (
	"fmt"
	"strings"

	"slackline/analyze/tolerance"
	"slackline/cli/document"
	"slackline/cli/env"
	"slackline/internal/provenance"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// oneDocument has the answers about one run.
type oneDocument struct {
	answers
	Curve   []curvePoint            `json:"curve,omitempty"`
	ByWire  document.Members[int64] `json:"lambda_L_by_wire,omitempty"`
	ByClass document.Members[int64] `json:"lambda_L_by_class,omitempty"`
	Pairs   []part                  `json:"pair_tolerance,omitempty"`
	Wires   []part                  `json:"wires,omitempty"`
	*criticalPath
	*slacks
	WhatIfs   []whatIfAnswer `json:"what_if,omitempty"`
	Placement *placement     `json:"placement,omitempty"`
	Solver    *solverAnswer  `json:"solver,omitempty"`

	Input      string             `json:"input"`
	Ranks      int                `json:"ranks"`
	Ops        int                `json:"ops"`
	Messages   int                `json:"messages"`
	Model      string             `json:"model"`
	Parameter  string             `json:"parameter,omitempty"` // if it is not L
	Vary       []string           `json:"vary,omitempty"`
	Topology   string             `json:"topology,omitempty"`
	Mapping    string             `json:"mapping,omitempty"`
	Provenance *provenance.Record `json:"provenance"`
}

// mappingsDocument compares mappings of collectives.
type mappingsDocument struct {
	Mappings   []mappingAnswers   `json:"mappings"`
	Input      string             `json:"input"`
	Ranks      int                `json:"ranks"`
	Model      string             `json:"model"`
	Provenance *provenance.Record `json:"provenance"`
}

type mappingAnswers struct {
	Mapping  string `json:"mapping"`
	Ops      int    `json:"ops"`
	Messages int    `json:"messages"`
	answers
	Curve []curvePoint `json:"curve,omitempty"`
}

// spreadDocument is the distribution of the answers about several runs.
type spreadDocument struct {
	*answers                                // without noise; missing for several inputs
	Uncertainty document.Members[quantiles] `json:"uncertainty"` // by answer, e.g. T_ns, L_ns_1 for 1 %
	Samples     []document.Members[any]     `json:"samples"`     // what they are about, then the answers as above
	Ranks       int                         `json:"ranks"`
	Model       string                      `json:"model"`
	Input       string                      `json:"input,omitempty"`
	Noise       string                      `json:"noise,omitempty"`
	Provenance  *provenance.Record          `json:"provenance"`
}

type quantiles struct {
	Min          number `json:"min"`
	Q05          number `json:"q05"`
	Q25          number `json:"q25"`
	Median       number `json:"median"`
	Q75          number `json:"q75"`
	Q95          number `json:"q95"`
	Max          number `json:"max"`
	WithoutNoise number `json:"without_noise,omitzero"`
	Within       *bool  `json:"within,omitempty"` // the answer without noise lies between q05 and q95
}

// gridDocument is T over L and G.
type gridDocument struct {
	Latencies  []unit.Duration    `json:"L_ns"`
	Rows       []gridRow          `json:"map"`
	Input      string             `json:"input"`
	Ranks      int                `json:"ranks"`
	Model      string             `json:"model"`
	Provenance *provenance.Record `json:"provenance"`
}

type gridRow struct {
	PerByte unit.PerByte    `json:"G_ns"`
	Times   []unit.Duration `json:"T_map_ns"`     // by latency
	Slopes  []int64         `json:"lambda_L_map"` // by latency
	answers
}

// number is an exact number in JSON; "null": there is none, every value qualifies, or no value does.
type number string

// MarshalJSON returns the number as it is.
func (n number) MarshalJSON() ([]byte, error) { return []byte(n), nil }

// JSONTypes are the types that it may have.
func (number) JSONTypes() []string { return []string{"number", "null"} }

// value is a value of the parameter that is varied; the other two are missing.
type value struct {
	L number `json:"L_ns,omitzero"`
	G number `json:"G_ns,omitzero"`
	O number `json:"o_ns,omitzero"`
}

func newValue(p tolerance.Parameter, l tolerance.Largest) value {
	n := largestNumber(p, l)
	return map[tolerance.Parameter]value{tolerance.L: {L: n}, tolerance.G: {G: n}, tolerance.O: {O: n}}[p]
}

// answers are the members that all answers have.
type answers struct {
	T unit.Duration `json:"T_ns"`
	lambda
	Share       number        `json:"rho_L"`
	Tolerance   []percentage  `json:"tolerance"`
	Slope       *int64        `json:"slope,omitempty"` // unless all latencies are varied
	SlopeLeft   *int64        `json:"slope_left,omitempty"`
	Limit       *limit        `json:"limit,omitempty"`
	Breakpoints *[]breakpoint `json:"breakpoints,omitempty"` // in the range that was asked for
	Valid       [2]number     `json:"valid_range_ns"`
}

type lambda struct {
	L     int64 `json:"lambda_L"`
	LLeft int64 `json:"lambda_L_left"`
	Bytes int64 `json:"lambda_G_bytes"`
	O     int64 `json:"lambda_o"`
}

type percentage struct {
	Percent tolerance.Percent `json:"percent"`
	value
}

type limit struct {
	T unit.Duration `json:"T_ns"`
	value
	Infeasible bool `json:"infeasible,omitempty"`
}

type breakpoint struct {
	value
	Before int64 `json:"slope_before"`
	After  int64 `json:"slope_after"`
}

// curvePoint is a point of T as a function of the parameter.
type curvePoint struct {
	value
	T      unit.Duration `json:"T_ns"`
	Before int64         `json:"slope_before"`
	After  int64         `json:"slope_after"`
}

// criticalPath is the critical path: its profile, its operations, its pairs of ranks, and how it is split.
type criticalPath struct {
	Profile struct {
		profile
		CalcByRank []tolerance.RankTime `json:"calc_by_rank"`
		Path       []tolerance.Visit    `json:"path"`
	} `json:"profile"`
	Path   []tolerance.Visit `json:"path"`
	Pairs  []tolerance.Pair  `json:"pairs"` // with latencies on the path
	ByRank []rankProfile     `json:"profile_by_rank"`
	ByCall []callProfile     `json:"profile_by_call"`
}

type profile struct {
	Calc      unit.Duration `json:"calc_ns"`
	Overhead  unit.Duration `json:"overhead_ns"`
	Latency   unit.Duration `json:"latency_ns"`
	Bandwidth unit.Duration `json:"bandwidth_ns"`
	Gap       unit.Duration `json:"gap_ns"`
	Switch    unit.Duration `json:"switch_ns"`
}

type rankProfile struct {
	Rank int `json:"rank"`
	profile
}

type callProfile struct {
	origin
	profile
}

// origin names a call path.
type origin struct {
	Path string `json:"call_path"`
	Call string `json:"call"`
}

// slacks are the slacks by rank and operation, and their summary by call path.
type slacks struct {
	Ops      [][]unit.Duration  `json:"slack_ns"`
	Messages [][]*unit.Duration `json:"message_slack_ns"` // null: the operation is not a receive
	ByCall   []callSlack        `json:"slack_by_call"`
}

type callSlack struct {
	origin
	Kind string `json:"kind"`
	tolerance.SlackSummary
}

// part is a pair of ranks or a wire: how often it is on the critical path, and what it alone tolerates.
type part struct {
	A         *int         `json:"a,omitempty"` // the ranks of a pair
	B         *int         `json:"b,omitempty"`
	Wire      string       `json:"wire,omitempty"` // its ends
	Kind      string       `json:"kind,omitempty"`
	Lambda    int64        `json:"lambda_L"` // on the canonical path
	Slope     int64        `json:"slope"`    // of T, if the latency of this part alone grows
	Tolerance []percentage `json:"tolerance"`

	largest []tolerance.Largest // by percentage
}

type placement struct {
	Cores int `json:"cores"`
	*tolerance.Placement
}

func percentages(p tolerance.Parameter, percents percents, largest []tolerance.Largest) []percentage {
	list := make([]percentage, len(largest))
	for i, l := range largest {
		list[i] = percentage{percents[i], newValue(p, l)}
	}
	return list
}

// answersOf are the members of JSON that all answers have.
func (r *run) answersOf(a *tolerance.Answers) answers {
	p := a.Question.Variable.Parameter
	x := answers{
		T: a.T, lambda: lambda(a.Lambda), Share: millionths(a.Share()), Tolerance: percentages(p, r.ask.percents, a.Tolerance),
		Valid: [2]number{valueOf{p, a.ValidFrom}.number(), largestNumber(p, a.ValidTo)},
	}
	if p != tolerance.L || len(r.ask.vary) > 0 {
		x.Slope, x.SlopeLeft = &a.Given.Right, &a.Given.Left
	}
	if a.Limit != nil {
		x.Limit = &limit{*a.Question.Limit, newValue(p, *a.Limit), a.Limit.Infeasible}
	}
	if r.ask.span != "" {
		points := make([]breakpoint, len(a.Breakpoints))
		for i, b := range a.Breakpoints {
			points[i] = breakpoint{newValue(p, tolerance.Largest{X: b.X.Whole}), b.Before, b.After}
		}
		x.Breakpoints = &points
	}
	return x
}

// JSON is the result for programs.
func (t *report) JSON(*env.Env) (any, error) {
	r := t.run
	d := &oneDocument{
		answers: r.answersOf(t.answers), WhatIfs: t.whatIfs, Solver: t.solved,
		Input: t.input.Name, Ranks: t.schedule.Ranks(), Ops: t.answers.Size.Ops, Messages: t.answers.Size.Messages, Model: "loggps",
		Vary: r.ask.vary,
	}
	if r.ask.span != "" {
		d.Curve = curvePoints(t.answers)
	}
	switch w := t.set.wiring; {
	case w != nil && len(r.ask.vary) == 0:
		for i, n := range w.LambdaByWireClass(t.answers.Path) {
			d.ByWire = append(d.ByWire, document.Member[int64]{Name: w.Topology.WireClasses()[i], Value: n})
		}
	case w == nil && (r.machine.Name != "" || t.placement != nil):
		for _, c := range t.usedClasses() {
			d.ByClass = append(d.ByClass, document.Member[int64]{Name: c.String(), Value: t.answers.Path.LByClass[c]})
		}
	}
	if r.wiring.wires > 0 {
		d.Wires = t.parts
	} else {
		d.Pairs = t.parts
	}
	if r.where.critical {
		d.criticalPath = t.criticalPath()
	}
	if t.slack != nil {
		d.slacks = t.slacks()
	}
	if t.placement != nil {
		d.Placement = &placement{r.place.cores, t.placement}
	}
	if p := r.ask.variable(); p != tolerance.L {
		d.Parameter = p.String()
	}
	if r.topology != nil {
		d.Topology = r.topology.String()
	}
	used := r.usedMapping(t.input)
	d.Mapping = strings.Join(used, "")
	var err error
	d.Provenance, err = r.provenance(used...)
	return d, err
}

func (t *report) criticalPath() *criticalPath {
	path := t.answers.Path
	c := &criticalPath{Path: path.Path}
	c.Profile.profile, c.Profile.CalcByRank, c.Profile.Path = profile(path.Profile), path.CalcByRank, path.Path
	for _, p := range path.Pairs {
		if p.L > 0 {
			c.Pairs = append(c.Pairs, p)
		}
	}
	for _, r := range path.ByRank {
		c.ByRank = append(c.ByRank, rankProfile{r.Rank, profile(r.Profile)})
	}
	for _, o := range path.ByOrigin {
		c.ByCall = append(c.ByCall, callProfile{t.origin(o.Origin), profile(o.Profile)})
	}
	return c
}

func (t *report) origin(i uint32) origin {
	origins := t.schedule.Origins()
	if int(i) >= len(origins) {
		return origin{}
	}
	return origin{strings.Join(origins[i].Path, "/"), origins[i].Call}
}

func (t *report) slacks() *slacks {
	g := t.slack.Graph
	s := &slacks{}
	for rank := range g.Ranks() {
		from, to := g.FirstOp(rank), g.FirstOp(rank+1)
		s.Ops = append(s.Ops, t.slack.Ops[from:to])
		messages := make([]*unit.Duration, to-from)
		for i, op := range g.RankOps(rank) {
			if op.Kind == schedule.Recv {
				messages[i] = &t.slack.Messages[from+i]
			}
		}
		s.Messages = append(s.Messages, messages)
	}
	for _, x := range t.slack.Summary() {
		s.ByCall = append(s.ByCall, callSlack{t.origin(x.Origin), x.Kind.String(), x})
	}
	return s
}

// valueOf is a value of a parameter: nanoseconds, as a number or in words.
type valueOf struct {
	parameter tolerance.Parameter
	v         int64
}

// keyOf is the name of values of a parameter in JSON and CSV.
func keyOf(p tolerance.Parameter) string { return p.String() + "_ns" }

// number is the exact number of nanoseconds, or nanoseconds per byte.
func (v valueOf) number() number {
	if v.parameter == tolerance.G {
		return number(strings.TrimSuffix(unit.PerByte(v.v).String(), "ns"))
	}
	return number(unit.Duration(v.v).NS())
}

// short is the value for people.
func (v valueOf) short() string {
	if v.parameter == tolerance.G {
		return unit.PerByte(v.v).String() + "/B"
	}
	return unit.Duration(v.v).Short()
}

// exact is the value for people, with all digits.
func (v valueOf) exact() string {
	if v.parameter == tolerance.G {
		return v.short()
	}
	return unit.Duration(v.v).String()
}

// largestNumber is the number of an answer.
func largestNumber(p tolerance.Parameter, l tolerance.Largest) number {
	if l.Unbounded || l.Infeasible {
		return "null"
	}
	return valueOf{p, l.X}.number()
}

// cell is the value of a cell in CSV.
func (n number) cell() any {
	if n == "null" {
		return nil
	}
	return n
}

// millionths prints a number of millionths.
func millionths(n int64) number {
	return number(strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%d.%06d", n/1_000_000, n%1_000_000), "0"), "."))
}
