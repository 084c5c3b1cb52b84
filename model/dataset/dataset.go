// Package dataset holds measurements: for each call path and metric, values at
// points in the space of parameters, with all repetitions; and it reads and
// writes them in the formats of the tools that make them.
//
// A dataset says what was measured and nothing about what it means: no value is
// aggregated, rounded or judged here. Readers take bytes, never files; a
// directory comes as an fs.FS. What a reader leaves out it says in Warnings.
package dataset

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"slackline/model/missing"
)

// Dataset is a set of measurements over the same parameters.
type Dataset struct {
	Parameters []string
	Series     []*Series // in the order of the input
	Warnings   []string

	named   []string // parameters that only the name of the file has
	index   map[seriesKey]*Series
	missing map[seriesKey]int // values that were left out
	blanks  map[seriesKey][]blank
	read    float64 // ranks that the values of a run are means over; 0: as many as p
	untold  int     // warnings beyond the limit
}

// Series are the measurements of one metric of one call path.
type Series struct {
	CallPath string  `json:"callpath"` // as the input writes it: names joined by "->" or "/"
	Metric   string  `json:"metric"`
	Unit     string  `json:"unit,omitempty"` // of the values, e.g. s or B; empty: not known, or the metric says it
	Points   []Point `json:"points"`         // in the order of the input

	// Runs are the runs that the values are of, one of each kind, if something is missing of any or it was simulated; else there are none.
	Runs []missing.Run `json:"runs,omitempty"`

	index map[string]int // of points, by place
	mixed string         // the units of values that have two; empty: they have not
}

// Point is a place in the space of parameters with what was measured there.
type Point struct {
	At     []float64 `json:"at"`     // by parameter
	Values []float64 `json:"values"` // the repetitions, in the order of the input
}

type seriesKey struct{ path, metric string }

// Limits of what is read: beyond, the input is a mistake.
const (
	MaxParameters = 8
	maxNameBytes  = 4096
	maxWarnings   = 100
)

// The names that Extra-P gives to what has none.
const (
	RootPath      = "<root>"
	DefaultMetric = "<default>"
)

// New returns an empty dataset over parameters.
func New(parameters ...string) *Dataset { return &Dataset{Parameters: parameters} }

// Get returns the series of a call path and metric, which is added if there is none.
func (d *Dataset) Get(path, metric string) *Series {
	key := seriesKey{path, metric}
	if s := d.index[key]; s != nil {
		return s
	}
	if len(d.index) != len(d.Series) || d.index == nil {
		d.index = map[seriesKey]*Series{}
		for _, s := range d.Series {
			d.index[seriesKey{s.CallPath, s.Metric}] = s
		}
		if s := d.index[key]; s != nil {
			return s
		}
	}
	s := &Series{CallPath: path, Metric: metric}
	d.index[key] = s
	d.Series = append(d.Series, s)
	return s
}

// Add adds repetitions at a place; those of an equal place are joined.
func (s *Series) Add(at []float64, values ...float64) {
	key := placeKey(at)
	i, ok := s.index[key]
	if !ok && len(s.index) != len(s.Points) {
		s.index = map[string]int{}
		for n, p := range s.Points {
			s.index[placeKey(p.At)] = n
		}
		i, ok = s.index[key]
	}
	if ok {
		s.Points[i].Values = append(s.Points[i].Values, values...)
		return
	}
	if s.index == nil {
		s.index = map[string]int{}
	}
	s.index[key] = len(s.Points)
	s.Points = append(s.Points, Point{append([]float64{}, at...), slices.Clone(values)})
}

func placeKey(at []float64) string {
	b := make([]byte, 0, 8*len(at))
	for _, v := range at {
		b = appendBits(b, v)
	}
	return string(b)
}

// Name returns what messages call the series.
func (s *Series) Name() string {
	if s.Metric == "" || s.Metric == DefaultMetric {
		return s.CallPath
	}
	return s.CallPath + " " + s.Metric
}

// last returns the last name of a call path, whose names are joined by "->".
func last(path string) string {
	if i := strings.LastIndex(path, "->"); i >= 0 {
		return path[i+2:]
	}
	return path
}

// Find returns the first series that FindAll finds, nil if there is none.
func (d *Dataset) Find(function, metric string) *Series {
	if all := d.FindAll(function, metric); len(all) > 0 {
		return all[0]
	}
	return nil
}

// FindAll returns, for each call path that is function, or whose last name it is, the first series whose metric is
// the one given; an empty metric is any. "/" and "->" both separate the names of a call path. A whole call path
// comes before those that only end so.
func (d *Dataset) FindAll(function, metric string) []*Series {
	var whole, ends []*Series
	seen := map[string]bool{}
	for _, s := range d.Series {
		if metric != "" && s.Metric != metric || seen[s.CallPath] {
			continue
		}
		switch {
		case SamePath(s.CallPath, function):
			whole = append(whole, s)
		case last(s.CallPath) == function:
			ends = append(ends, s)
		default:
			continue
		}
		seen[s.CallPath] = true
	}
	return append(whole, ends...)
}

// SamePath reports whether two call paths have the same names; "/" and "->" both separate them.
func SamePath(a, b string) bool {
	return a == b || strings.ReplaceAll(a, "/", "->") == strings.ReplaceAll(b, "/", "->")
}

// Functions returns the last names of all call paths, each once, in their order.
func (d *Dataset) Functions() []string {
	var names []string
	seen := map[string]bool{}
	for _, s := range d.Series {
		if name := last(s.CallPath); !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names
}

// takeRuns notes the runs of another series whose values are going to be added.
func (s *Series) takeRuns(other *Series) {
	if len(s.Runs) > 0 || len(other.Runs) > 0 {
		s.Runs = missing.Join(s.AllRuns(), other.AllRuns()...)
	}
}

// AllRuns are the runs of the values, one of each kind.
func (s *Series) AllRuns() []missing.Run {
	if len(s.Runs) == 0 && len(s.Points) > 0 {
		return []missing.Run{{}} // a whole one
	}
	return s.Runs
}

// Doubt says why the values cannot be compared with each other, because something is missing of the runs, or they are of different
// machines; empty: they can.
func (s *Series) Doubt() string { return missing.Doubt(s.Runs, s.Kind()) }

// Kind is what the values are, of those of runs.
func (s *Series) Kind() missing.Kind {
	switch s.Metric {
	case RunTime:
		return missing.RunTime
	case "waiting", "delay":
		return missing.Wait
	}
	return missing.Time
}

// Of notes which run all values are of.
func (d *Dataset) Of(run missing.Run) {
	if run.IsWhole() && run.Machine == "" {
		return
	}
	for _, s := range d.Series {
		s.Runs = []missing.Run{run}
	}
}

// takeUnit notes the unit of values that are going to be added: if others are
// there that have another one or none, none is known. CheckUnits refuses two.
func (s *Series) takeUnit(unit string) {
	if len(s.Points) > 0 && s.Unit != unit {
		if s.Unit != "" && unit != "" {
			s.mixed = fmt.Sprintf("in %s and in %s", s.Unit, unit)
		}
		unit = ""
	}
	s.Unit = unit
}

// CheckUnits returns an error if a series has values in two units: as repetitions or points of one law they would mean nothing.
func (d *Dataset) CheckUnits() error {
	for _, s := range d.Series {
		if err := s.checkUnits(); err != nil {
			return err
		}
	}
	return nil
}

func (s *Series) checkUnits() error {
	if s.mixed == "" {
		return nil
	}
	return fmt.Errorf("%s has values %s; give all of them in one unit", s.Name(), s.mixed)
}

// Merge adds the measurements of another dataset. A parameter that only one of
// them has is missing in the measurements of the other (see Settle).
func (d *Dataset) Merge(other *Dataset) {
	for _, name := range other.Parameters {
		d.parameter(name)
	}
	places := make([]int, len(d.Parameters))
	for i, name := range d.Parameters {
		places[i] = slices.Index(other.Parameters, name)
	}
	for _, s := range other.Series {
		mine := d.Get(s.CallPath, s.Metric)
		mine.takeUnit(s.Unit)
		mine.takeRuns(s)
		for _, p := range s.Points {
			at := make([]float64, len(places))
			for i, place := range places {
				if at[i] = math.NaN(); place >= 0 {
					at[i] = p.At[place]
				}
			}
			mine.Add(at, p.Values...)
		}
	}
	d.takeBlanks(other)
	for _, w := range other.Warnings {
		d.warnf("%s", w)
	}
}

// parameter returns the place of a parameter, which is added if there is none:
// with a value that is missing everywhere.
func (d *Dataset) parameter(name string) int {
	if i := slices.Index(d.Parameters, name); i >= 0 {
		return i
	}
	d.Parameters = append(slices.Clone(d.Parameters), name)
	for _, s := range d.Series {
		s.index = nil
		for i := range s.Points {
			s.Points[i].At = append(slices.Clone(s.Points[i].At), math.NaN())
		}
	}
	return len(d.Parameters) - 1
}

// Put adds repetitions whose place is given by the names of parameters.
func (d *Dataset) Put(path, metric string, names []string, at []float64, v ...float64) {
	places := make([]int, len(names))
	for i, name := range names {
		places[i] = d.parameter(name)
	}
	full := make([]float64, len(d.Parameters))
	for i := range full {
		full[i] = math.NaN()
	}
	for i, place := range places {
		full[place] = at[i]
	}
	d.addPresent(path, metric, full, v)
}

// Select keeps the measurements at one value of a parameter, and those that do
// not have it, and removes the parameter.
func (d *Dataset) Select(name string, value float64) error {
	place := slices.Index(d.Parameters, name)
	if place < 0 {
		return fmt.Errorf("the data have no parameter %s, only %s", name, list(d.Parameters))
	}
	there := map[float64]bool{}
	for _, s := range d.Series {
		s.index = nil
		s.Points = slices.DeleteFunc(s.Points, func(p Point) bool {
			x := p.At[place]
			there[x] = true
			return x != value && !math.IsNaN(x)
		})
	}
	if !there[value] {
		return fmt.Errorf("nothing was measured at %s = %s", name, decimal(value))
	}
	d.selectBlanks(name, value)
	d.DropParameter(place)
	d.dropEmpty()
	return nil
}

// Keep removes the series that are not wanted.
func (d *Dataset) Keep(wanted func(*Series) bool) {
	d.Series = slices.DeleteFunc(d.Series, func(s *Series) bool { return !wanted(s) })
	d.index = nil
}

// dropEmpty removes series without points.
func (d *Dataset) dropEmpty() {
	d.Keep(func(s *Series) bool { return len(s.Points) > 0 })
}

// Settle removes the measurements for which a parameter is missing, and says so.
// It is an error if nothing is left, or if a series has two units.
func (d *Dataset) Settle() error {
	if err := d.CheckUnits(); err != nil {
		return err
	}
	for _, s := range d.Series {
		before := len(s.Points)
		missing := ""
		s.Points = slices.DeleteFunc(s.Points, func(p Point) bool {
			for i, x := range p.At {
				if math.IsNaN(x) {
					missing = d.Parameters[i]
					return true
				}
			}
			return false
		})
		s.index = nil
		if missing == "" {
			continue
		}
		if len(s.Points) == 0 {
			d.warnf("%s has no value of the parameter %s and is left out; fix %s with --where to compare it with the others", s.Name(), missing,
				missing)
		} else {
			d.warnf("%s: points without a value of the parameter %s are left out: %d", s.Name(), missing, before-len(s.Points))
		}
	}
	d.dropEmpty()
	if len(d.Series) == 0 {
		return fmt.Errorf("no measurement has a value of each parameter (%s); give inputs of the same parameters, or fix some "+
			"with --where NAME=VALUE", list(d.Parameters))
	}
	return nil
}

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// SetParameter gives all measurements a value of a parameter that they do not have.
// The parameter becomes the first.
func (d *Dataset) SetParameter(name string, value float64) error {
	if slices.Contains(d.Parameters, name) {
		return fmt.Errorf("the data already have the parameter %s", name)
	}
	if len(d.Parameters) == MaxParameters {
		return fmt.Errorf("the data have %d parameters already, which is the most", MaxParameters)
	}
	d.Parameters = append([]string{name}, d.Parameters...)
	d.setBlanks(name, value)
	for _, s := range d.Series {
		s.index = nil
		for i := range s.Points {
			s.Points[i].At = append([]float64{value}, s.Points[i].At...)
		}
	}
	return nil
}

// DropParameter removes a parameter by its place; places that become equal are joined.
func (d *Dataset) DropParameter(i int) {
	d.Parameters = slices.Delete(slices.Clone(d.Parameters), i, i+1)
	for _, s := range d.Series {
		points := s.Points
		s.Points, s.index = nil, nil
		for _, p := range points {
			s.Add(slices.Delete(slices.Clone(p.At), i, i+1), p.Values...)
		}
	}
}

// DropConstant removes the parameters that have the same value at all points, also those without a measurement, as
// far as one stays that varies, and returns their names.
func (d *Dataset) DropConstant() []string { return d.dropConstant(d.Parameters) }

// DropNamed is DropConstant for those that only the name of the file has, if there is just one file: they say which file it is.
func (d *Dataset) DropNamed() []string { return d.dropConstant(d.named) }

func (d *Dataset) dropConstant(names []string) []string {
	var dropped []string
	for i := len(d.Parameters) - 1; i >= 0; i-- {
		if len(d.Parameters) > 1 && slices.Contains(names, d.Parameters[i]) && !d.varies(i) {
			dropped = append(dropped, d.Parameters[i])
			d.DropParameter(i)
		}
	}
	slices.Reverse(dropped)
	return dropped
}

func (d *Dataset) varies(i int) bool {
	first, known := 0.0, false
	for _, s := range d.Series {
		for _, p := range s.Points {
			if known && p.At[i] != first {
				return true
			}
			first, known = p.At[i], true
		}
	}
	for _, list := range d.blanks {
		if slices.ContainsFunc(list, func(b blank) bool { x, ok := b[d.Parameters[i]]; return ok && known && x != first }) {
			return true
		}
	}
	return false
}

// Measurements returns the number of values.
func (d *Dataset) Measurements() int {
	n := 0
	for _, s := range d.Series {
		for _, p := range s.Points {
			n += len(p.Values)
		}
	}
	return n
}

// warnf notes something that was left out or is doubtful; each is reported once.
func (d *Dataset) warnf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	switch {
	case slices.Contains(d.Warnings, text):
	case len(d.Warnings) < maxWarnings:
		d.Warnings = append(d.Warnings, text)
	default: // the rest is of the same kind
		d.untold++
		d.Warnings = append(d.Warnings[:maxWarnings], fmt.Sprintf("and %d more warnings of this kind", d.untold))
	}
}

// appendBits appends a number such that equal numbers give equal bytes.
func appendBits(b []byte, v float64) []byte {
	if v == 0 {
		v = 0 // -0 is 0
	}
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
}
