package tolerance

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"slackline/analyze/tolerance"
	"slackline/cli/phrase"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// member is a member of a JSON object whose members keep their order.
type member struct {
	key   string
	value any
}

// object is a JSON object whose members keep their order.
type object []member

// MarshalJSON writes the members one after the other.
func (o object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, "%q:", m.key)
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b = append(b, value...)
	}
	return append(b, '}'), nil
}

// writeMembers writes an object with one line for each member, since some of them are long lists.
func (o object) writeMembers(w io.Writer) error {
	for i, m := range o {
		value, err := json.Marshal(m.value)
		if err != nil {
			return err
		}
		separator := ",\n"
		if i == 0 {
			separator = "{\n"
		}
		if _, err := fmt.Fprintf(w, "%s  %q: %s", separator, m.key, value); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, "\n}\n")
	return err
}

// valueOf is a value of a parameter: nanoseconds, as a number or in words.
type valueOf struct {
	parameter tolerance.Parameter
	v         int64
}

// key is the name of values of a parameter in JSON and CSV.
func keyOf(p tolerance.Parameter) string { return p.String() + "_ns" }

// number is the exact number of nanoseconds, or nanoseconds per byte.
func (v valueOf) number() json.Number {
	if v.parameter == tolerance.G {
		return phrase.Number(strings.TrimSuffix(unit.PerByte(v.v).String(), "ns"))
	}
	return phrase.Number(unit.Duration(v.v).NS())
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

// largestNumber is the number of an answer; nil where there is none.
func largestNumber(p tolerance.Parameter, l tolerance.Largest) any {
	if l.Unbounded || l.Infeasible {
		return nil
	}
	return valueOf{p, l.X}.number()
}

// millionths prints a number of millionths.
func millionths(n int64) json.Number {
	return phrase.Number(strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%d.%06d", n/1_000_000, n%1_000_000), "0"), "."))
}

// toleranceMembers are the tolerances by percentage.
func toleranceMembers(p tolerance.Parameter, percents percents, answers []tolerance.Largest) []object {
	list := make([]object, len(answers))
	for i, l := range answers {
		list[i] = object{{"percent", percents[i]}, {keyOf(p), largestNumber(p, l)}}
	}
	return list
}

// answerMembers are the members of JSON that all answers have.
func (r *toleranceRun) answerMembers(a *tolerance.Answers) object {
	p := a.Question.Variable.Parameter
	o := object{
		{"T_ns", unit.Nanoseconds(a.T)}, {"lambda_L", a.Lambda.L}, {"lambda_L_left", a.Lambda.LLeft},
		{"lambda_G_bytes", a.Lambda.Bytes}, {"lambda_o", a.Lambda.O}, {"rho_L", millionths(a.Share())},
		{"tolerance", toleranceMembers(p, r.ask.percents, a.Tolerance)},
	}
	if p != tolerance.L || len(r.ask.vary) > 0 {
		o = append(o, member{"slope", a.Given.Right}, member{"slope_left", a.Given.Left})
	}
	if a.Limit != nil {
		limit := object{{"T_ns", unit.Nanoseconds(*a.Question.Limit)}, {keyOf(p), largestNumber(p, *a.Limit)}}
		if a.Limit.Infeasible {
			limit = append(limit, member{"infeasible", true})
		}
		o = append(o, member{"limit", limit})
	}
	if r.ask.span != "" {
		points := make([]object, len(a.Breakpoints))
		for i, b := range a.Breakpoints {
			points[i] = object{{keyOf(p), valueOf{p, b.X.Whole}.number()}, {"slope_before", b.Before}, {"slope_after", b.After}}
		}
		o = append(o, member{"breakpoints", points})
	}
	return append(o, member{"valid_range_ns", []any{valueOf{p, a.ValidFrom}.number(), largestNumber(p, a.ValidTo)}})
}

func (t *toleranceReport) writeJSON(w io.Writer) error {
	o := t.run.answerMembers(t.answers)
	if t.run.ask.span != "" {
		o = append(o, member{"curve", curveMembers(t.answers)})
	}
	o = append(o, t.latencyMembers()...)
	if t.run.where.critical {
		o = append(o, t.pathMembers()...)
	}
	if t.slack != nil {
		o = append(o, t.slackMembers()...)
	}
	if len(t.whatIfs) > 0 {
		o = append(o, member{"what_if", whatIfMembers(t.whatIfs)})
	}
	if t.placement != nil {
		o = append(o, member{"placement", placementMembers(t.run.place.cores, t.placement)})
	}
	if t.solved != nil {
		o = append(o, member{"solver", t.solved.members()})
	}
	o = append(o, t.headMembers()...)
	return append(o, member{"provenance", t.record}).writeMembers(w)
}

// headMembers say what was evaluated.
func (t *toleranceReport) headMembers() object {
	o := object{
		{"input", t.input.Name}, {"ranks", t.schedule.Graph().Ranks()}, {"ops", t.schedule.Graph().NumOps()},
		{"messages", t.schedule.Messages()}, {"model", "loggps"},
	}
	if p := t.run.ask.variable(); p != tolerance.L {
		o = append(o, member{"parameter", p.String()})
	}
	if len(t.run.ask.vary) > 0 {
		o = append(o, member{"vary", t.run.ask.vary})
	}
	if t.run.topology != nil {
		o = append(o, member{"topology", t.run.topology.String()})
	}
	if used := t.run.usedMapping(t.input); used != nil {
		o = append(o, member{"mapping", used[0]})
	}
	return o
}

// latencyMembers say in which parts of the network the latencies are.
func (t *toleranceReport) latencyMembers() object {
	var o object
	switch {
	case t.set.wiring != nil && len(t.run.ask.vary) == 0:
		var classes object
		for i, n := range t.set.wiring.LambdaByWireClass(t.answers.Path) {
			classes = append(classes, member{t.set.wiring.Topology.WireClasses()[i], n})
		}
		o = append(o, member{"lambda_L_by_wire", classes})
	case t.set.wiring == nil && (t.run.machine.Name != "" || t.placement != nil):
		var classes object
		for _, c := range t.usedClasses() {
			classes = append(classes, member{c.String(), t.answers.Path.LByClass[c]})
		}
		o = append(o, member{"lambda_L_by_class", classes})
	}
	if len(t.parts) == 0 {
		return o
	}
	key, list := "pair_tolerance", make([]object, len(t.parts))
	for i, p := range t.parts {
		head := object{{"a", p.a}, {"b", p.b}}
		if p.kind != "" {
			key, head = "wires", object{{"wire", p.name}, {"kind", p.kind}}
		}
		list[i] = append(head, member{"lambda_L", p.lambda}, member{"slope", p.Slope},
			member{"tolerance", toleranceMembers(tolerance.L, t.run.ask.percents, p.Tolerance)})
	}
	return append(o, member{key, list})
}

func profileMembers(p tolerance.Profile) object {
	return object{
		{"calc_ns", unit.Nanoseconds(p.Calc)}, {"overhead_ns", unit.Nanoseconds(p.Overhead)},
		{"latency_ns", unit.Nanoseconds(p.Latency)}, {"bandwidth_ns", unit.Nanoseconds(p.Bandwidth)},
		{"gap_ns", unit.Nanoseconds(p.Gap)}, {"switch_ns", unit.Nanoseconds(p.Switch)},
	}
}

// pathMembers are the critical path: its profile, its operations, its pairs of ranks, and how it is
// split.
func (t *toleranceReport) pathMembers() object {
	path := t.answers.Path
	byRank := make([]object, len(path.CalcByRank))
	for i, r := range path.CalcByRank {
		byRank[i] = object{{"rank", r.Rank}, {"ns", unit.Nanoseconds(r.Time)}}
	}
	visits := make([]visitJSON, len(path.Path))
	for i, v := range path.Path {
		visits[i] = visitJSON(v)
	}
	pairs := []object{}
	for _, p := range path.Pairs {
		if p.L > 0 {
			pairs = append(pairs, object{{"a", p.A}, {"b", p.B}, {"lambda_L", p.L}})
		}
	}
	ranks := make([]object, len(path.ByRank))
	for i, r := range path.ByRank {
		ranks[i] = append(object{{"rank", r.Rank}}, profileMembers(r.Profile)...)
	}
	calls := make([]object, len(path.ByOrigin))
	for i, o := range path.ByOrigin {
		calls[i] = append(t.originMembers(o.Origin), profileMembers(o.Profile)...)
	}
	return object{
		{"profile", append(profileMembers(path.Profile), member{"calc_by_rank", byRank}, member{"path", visits})},
		{"path", visits}, {"pairs", pairs}, {"profile_by_rank", ranks}, {"profile_by_call", calls},
	}
}

// visitJSON is an operation on the critical path.
type visitJSON struct {
	Rank int `json:"rank"`
	Op   int `json:"op"`
}

// originMembers name a call path.
func (t *toleranceReport) originMembers(origin uint32) object {
	origins := t.schedule.Graph().Origins()
	if int(origin) >= len(origins) {
		return object{{"call_path", ""}, {"call", ""}}
	}
	return object{{"call_path", strings.Join(origins[origin].Path, "/")}, {"call", origins[origin].Call}}
}

// slackMembers are the slacks, by rank and operation, and their summary by call path.
func (t *toleranceReport) slackMembers() object {
	g := t.schedule.Graph()
	ops := make([]unit.NanosecondList, g.Ranks())
	messages := make([]json.RawMessage, g.Ranks())
	for rank := range ops {
		from, to := g.FirstOp(rank), g.FirstOp(rank+1)
		ops[rank] = unit.NanosecondList(t.slack.Ops[from:to])
		b := []byte{'['}
		for i, op := range g.RankOps(rank) {
			if i > 0 {
				b = append(b, ',')
			}
			if op.Kind == schedule.Recv {
				b = t.slack.Messages[from+i].AppendNS(b)
			} else {
				b = append(b, "null"...)
			}
		}
		messages[rank] = append(b, ']')
	}
	summary := t.slack.Summary(t.schedule)
	calls := make([]object, len(summary))
	for i, s := range summary {
		calls[i] = append(t.originMembers(s.Origin), member{"kind", s.Kind.String()}, member{"ops", s.Ops}, member{"critical", s.Critical},
			member{"smallest_ns", unit.Nanoseconds(s.Smallest)}, member{"median_ns", unit.Nanoseconds(s.Median)},
			member{"largest_ns", unit.Nanoseconds(s.Largest)})
	}
	return object{{"slack_ns", ops}, {"message_slack_ns", messages}, {"slack_by_call", calls}}
}

func whatIfMembers(answers []whatIfAnswer) []object {
	list := make([]object, len(answers))
	for i, a := range answers {
		list[i] = object{
			{"call_path", a.path}, {"percent", phrase.Number("-" + a.less.Number())},
			{"work_ns", unit.Nanoseconds(a.Work)}, {"T_ns", unit.Nanoseconds(a.T)},
		}
	}
	return list
}
