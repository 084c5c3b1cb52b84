package scaling

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"strings"

	"slackline/internal/jsonkeys"
	"slackline/internal/stat"
	"slackline/model/dataset"
	"slackline/model/missing"
)

// Baseline are the models of a day, kept to be expected later: regression mode.
type Baseline struct {
	Version    int             `json:"slackline_baseline"`
	Parameters []string        `json:"parameters"`
	Models     []BaselineModel `json:"models"`
}

// BaselineModel is a model with the points it was made from.
type BaselineModel struct {
	Function string      `json:"function"`
	Metric   string      `json:"metric"`
	Expect   string      `json:"expect"`
	Unit     string      `json:"unit,omitempty"` // of the values; empty: not known
	Formula  string      `json:"formula"`
	Error    float64     `json:"relative_error"` // of an aggregate
	Points   [][]float64 `json:"points"`
	Values   []float64   `json:"values"`
	Run      missing.Run `json:"missing,omitzero"` // what is missing of the runs, all of them the same
	Sum      string      `json:"crc32c,omitempty"` // of the rest; none: the model was edited
}

// run names the run of the baseline for messages.
func (m *BaselineModel) run() missing.Run {
	r := m.Run
	r.Name = "the baseline"
	return r
}

// sum is the checksum of a model with parameters.
func (m BaselineModel) sum(parameters []string) (string, error) {
	m.Sum = ""
	text, err := json.Marshal([]any{parameters, m})
	return fmt.Sprintf("%08x", crc32.Checksum(text, crc32.MakeTable(crc32.Castagnoli))), err
}

const baselineVersion = 1

// NewBaseline makes a baseline of all series that can be modeled.
func NewBaseline(d *dataset.Dataset, o Options) (*Baseline, error) {
	list, err := Models(d, o, 1)
	if err != nil {
		return nil, err
	}
	b := &Baseline{Version: baselineVersion, Parameters: d.Parameters}
	for _, m := range list {
		if m.Err != nil || m.Fit.Doubt != "" || m.Series.Doubt() != "" {
			continue
		}
		f := m.Fit
		model := BaselineModel{
			Function: f.CallPath, Metric: f.Metric, Expect: f.Landau(), Unit: m.Series.Unit,
			Formula: f.Model.String(), Error: f.pointError(), Points: f.At, Values: f.Values,
		}
		if len(m.Series.Runs) > 0 {
			model.Run = m.Series.Runs[0]
		}
		b.Models = append(b.Models, model)
	}
	if len(b.Models) == 0 {
		return nil, fmt.Errorf("nothing can be modeled with at least %d points: there is nothing to store as a baseline", MinPoints)
	}
	return b, nil
}

// Keep adds models of an earlier baseline over the same parameters, which may be in another order.
func (b *Baseline) Keep(old *Baseline, models []BaselineModel) error {
	order, err := old.order(b.Parameters)
	if err != nil {
		return err
	}
	for _, m := range models {
		points := m.Points
		m.Points = nil
		for _, at := range points {
			m.Points = append(m.Points, inOrder(at, order))
		}
		b.Models = append(b.Models, m)
	}
	return nil
}

// inOrder is a point of a baseline in the order of the data.
func inOrder(at []float64, order []int) []float64 {
	place := make([]float64, len(order))
	for k, from := range order {
		place[k] = at[from]
	}
	return place
}

// pointError is the relative standard error of an aggregate.
func (f *Fit) pointError() float64 { return math.Sqrt(max(f.sample.v, tinyVariance)) }

// Write writes the baseline as JSON, a model on a line.
func (b *Baseline) Write(w io.Writer) error {
	names, err := json.Marshal(b.Parameters)
	if err != nil {
		return err
	}
	text := fmt.Appendf(nil, "{\"slackline_baseline\":%d,\"parameters\":%s,\"models\":[", b.Version, names)
	for i, m := range b.Models {
		if m.Sum, err = m.sum(b.Parameters); err != nil {
			return err
		}
		line, err := json.Marshal(m)
		if err != nil {
			return err
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(text, '\n'), line...)
	}
	_, err = w.Write(append(text, "\n]}\n"...))
	return err
}

// ParseBaseline reads what Write has written.
func ParseBaseline(name string, data []byte) (*Baseline, error) {
	var b Baseline
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields() // a misspelled key would lose what comes after it
	if err := d.Decode(&b); err != nil {
		return nil, fmt.Errorf("%s: is not a baseline: %w", name, err)
	}
	if err := jsonkeys.Check(data, nil); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("%s: is not a baseline: something follows its end", name)
	}
	if b.Version < 1 || b.Version > baselineVersion {
		return nil, fmt.Errorf("%s: is not a baseline of version 1 to %d; write one with check --baseline and a new file", name, baselineVersion)
	}
	seen := map[[2]string]bool{}
	for _, m := range b.Models {
		if key := [2]string{m.Function, m.Metric}; seen[key] {
			return nil, fmt.Errorf("%s: %s: the model of %s is there twice", name, m.Function, m.Metric)
		} else {
			seen[key] = true
		}
		if sum, err := m.sum(b.Parameters); m.Sum != "" && (err != nil || m.Sum != sum) {
			return nil, fmt.Errorf("%s: %s: the model of %s is not what was written: its crc32c is not %s; restore the file, or, if the model "+
				"was edited on purpose, remove its \"crc32c\"", name, m.Function, m.Metric, m.Sum)
		}
		if _, err := ParseExpression(m.Expect); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", name, m.Function, err)
		}
		if len(m.Points) != len(m.Values) || !(m.Error >= 0) {
			return nil, fmt.Errorf("%s: %s: %d points with %d values and error %g", name, m.Function, len(m.Points), len(m.Values), m.Error)
		}
		for _, at := range m.Points {
			if len(at) != len(b.Parameters) {
				return nil, fmt.Errorf("%s: %s: a point has %d coordinates, but there are %d parameters", name, m.Function, len(at), len(b.Parameters))
			}
		}
	}
	return &b, nil
}

// Comparison is how a dataset compares with a baseline.
type Comparison struct {
	Rows    []*BaselineCheck
	Verdict Verdict  // inconclusive if there was nothing to compare
	New     []string // names of what was measured, but is not in the baseline
}

// BaselineCheck compares one function with its baseline: its law, as an
// expectation, and its level at the points that both have.
type BaselineCheck struct {
	Check             // of the law
	Law       Verdict // of that alone
	Before    string  // formula of the baseline
	Ratio     float64 // geometric mean of now over then at the common points; NaN: there are none
	Low, High float64 // its 90 % interval
	Common    int     // points
}

// z90 bounds the middle 90 % of a normal distribution.
const z90 = 1.6449

// CompareBaseline holds a dataset against a baseline. It is slower if the whole
// 90 % interval of the ratio lies above 1 + tolerance, inconclusive if only the
// ratio itself does, or if they have no point in common. Of a metric that is
// better if it is larger the inverse of the ratio counts. A single point that is far off, or that the data lack, is inconclusive, too.
func CompareBaseline(b *Baseline, d *dataset.Dataset, o Options, tolerance float64) (*Comparison, error) {
	order, err := b.order(d.Parameters)
	if err != nil {
		return nil, err
	}
	m, err := newModeler(d.Parameters, o)
	if err != nil {
		return nil, err
	}
	j := &judge{modeler: m, data: d}
	r := &Comparison{}
	if len(b.Models) == 0 {
		r.Verdict = Inconclusive
	}
	known := map[[2]string]bool{}
	for i := range b.Models {
		model := &b.Models[i]
		known[[2]string{model.Function, model.Metric}] = true
		expression, err := ParseExpression(model.Expect)
		if err != nil {
			return nil, err
		}
		entry := Entry{Metric: model.Metric, Optional: true}
		x := &Expectation{Entry: entry, Function: model.Function, Expect: expression, floorKnown: true}
		there := d.Find(model.Function, model.Metric)
		if there != nil {
			x.larger = dataset.LargerIsBetter(there.Metric, there.Unit)
		}
		c, err := j.check(x)
		if err != nil {
			return nil, err
		}
		row := &BaselineCheck{Check: *c, Law: c.Verdict, Before: model.Formula, Ratio: math.NaN(), Low: math.NaN(), High: math.NaN()}
		if there == nil || !dataset.SamePath(there.CallPath, model.Function) {
			row.Verdict, row.Reason = Inconclusive, "is in the baseline, but no longer in the data"
		} else if there.Unit != model.Unit {
			row.Verdict = Inconclusive
			row.Reason = fmt.Sprintf("is in %s, but in %s in the baseline: it cannot be compared", cmp.Or(there.Unit, "no unit"),
				cmp.Or(model.Unit, "no unit"))
		} else if why := missing.Doubt(append([]missing.Run{model.run()}, there.AllRuns()...), there.Kind()); why != "" {
			row.Verdict, row.Reason = Inconclusive, why
		} else if c.Fit != nil {
			row.level(model, order, tolerance)
		}
		r.Rows = append(r.Rows, row)
		r.Verdict = max(r.Verdict, row.Verdict)
	}
	for _, s := range d.Series {
		if !known[[2]string{s.CallPath, s.Metric}] {
			r.New = append(r.New, s.Name())
		}
	}
	return r, nil
}

// order returns where each parameter of the data is in the points of the baseline.
func (b *Baseline) order(parameters []string) ([]int, error) {
	var order []int
	for _, name := range parameters {
		if i := slices.Index(b.Parameters, name); i >= 0 {
			order = append(order, i)
		}
	}
	if len(order) != len(b.Parameters) || len(order) != len(parameters) {
		return nil, fmt.Errorf("the baseline has the parameters %s, the data %s; give data of the same parameters, or store a new baseline "+
			"with --update-baseline",
			strings.Join(b.Parameters, ", "), strings.Join(parameters, ", "))
	}
	return order, nil
}

// level compares the values at common points. order is that of the parameters in the points of the baseline.
func (c *BaselineCheck) level(model *BaselineModel, order []int, tolerance float64) {
	byPlace := map[string]float64{}
	var placed [][]float64
	for i, at := range model.Points {
		place := inOrder(at, order)
		byPlace[fmt.Sprint(place)] = model.Values[i]
		placed = append(placed, place)
	}
	sum, squares, uneven := 0.0, 0.0, 0
	var logs []float64 // of the ratios at the common points, in their order
	var places []int
	for i, at := range c.Fit.At {
		old, common := byPlace[fmt.Sprint(at)]
		delete(byPlace, fmt.Sprint(at))
		now := c.Fit.Values[i]
		switch {
		case !common:
		case old == now: // also 0 then and now
			c.Common++
			logs, places = append(logs, 0), append(places, i)
		case old > 0 && now > 0:
			x := math.Log(now / old)
			sum += x
			squares += x * x
			c.Common++
			logs, places = append(logs, x), append(places, i)
		default:
			uneven++
		}
	}
	if c.Common == 0 || uneven > 0 {
		if c.Verdict == Pass {
			c.Verdict, c.Reason = Inconclusive, "has no point in common with the baseline: only the growth was compared"
			if uneven > 0 {
				c.Reason = fmt.Sprintf("no ratio can be given at %d of the points in common with the baseline: one of the values is not above 0",
					uneven)
			}
		}
		if c.Common == 0 {
			return
		}
	}
	n := float64(c.Common)
	mean := sum / n
	// The error that the repetitions promise, or the scatter of the points if that is larger.
	e := math.Hypot(model.Error, c.Fit.pointError()) / math.Sqrt(n)
	if c.Common > 2 {
		e = max(e, math.Sqrt(max(squares/n-mean*mean, 0)/(n-1)))
	}
	c.Ratio, c.Low, c.High = math.Exp(mean), math.Exp(mean-z90*e), math.Exp(mean+z90*e)
	ratio, least := c.Ratio, c.Low
	if c.Expectation.larger {
		ratio, least = 1/c.Ratio, 1/c.High
	}
	slower := fmt.Sprintf("%.3g times the baseline (90 %%: %.3g..%.3g)", c.Ratio, c.Low, c.High)
	switch {
	case least > 1+tolerance:
		c.Verdict, c.Reason = Fail, join(c.Reason, slower)
	case ratio > 1+tolerance && c.Verdict == Pass:
		c.Verdict, c.Reason = Inconclusive, slower
	case c.Verdict == Pass:
		if i := worstPoint(logs, math.Hypot(model.Error, c.Fit.pointError()), tolerance, c.Expectation.larger); i >= 0 {
			c.Verdict = Inconclusive
			c.Reason = fmt.Sprintf("%.3g times the baseline at %s; measure that again", math.Exp(logs[i]), c.point(c.Fit.At[places[i]]))
		} else if n := len(byPlace); n > 0 {
			first := slices.IndexFunc(placed, func(at []float64) bool { _, left := byPlace[fmt.Sprint(at)]; return left })
			c.Verdict = Inconclusive
			c.Reason = fmt.Sprintf("was not measured at %d of the %d points of the baseline, the first is %s", n, len(placed),
				c.point(placed[first]))
		}
	}
}

// point names a point by its parameters.
func (c *BaselineCheck) point(at []float64) string {
	var list []string
	for k, name := range c.Fit.Parameters {
		list = append(list, fmt.Sprintf("%s = %g", name, at[k]))
	}
	return strings.Join(list, ", ")
}

// farOff is how many standard errors a single point must be off to count, beside all others that are as before.
const farOff = 6

// worstPoint returns the place of the logarithm of a ratio that is worst, if it exceeds the tolerance by far more than the error of a point
// and the scatter of all, which does not depend on a few; else -1.
func worstPoint(logs []float64, e, tolerance float64, larger bool) int {
	_, scatter := stat.Deviation(logs)
	worst, place := 0.0, -1
	for i, x := range logs {
		if larger {
			x = -x
		}
		if x > worst {
			worst, place = x, i
		}
	}
	if worst <= math.Log1p(tolerance)+farOff*max(e, scatter) {
		return -1
	}
	return place
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}
