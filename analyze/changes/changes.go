package changes

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"slackline/analyze/scaling"
	"slackline/internal/parallel"
	"slackline/model/dataset"
	"slackline/model/history"
)

// Options describe what counts as a change. The zero value of Level means 1 %, as does that of Smallest, but for exact
// values, of which then all changes count.
type Options struct {
	Level        float64  // probability of a change in a series without one
	Smallest     float64  // relative difference between levels below which a change is left out
	LargerBetter []string // metrics whose growth is good, besides those whose names or units say so
	Threads      int
}

// Result are the series of a history with their changes.
type Result struct {
	Commits []history.Commit
	Series  []*Series // in the order of their first measurements
	Missing []Missing // in the order of their first measurements
}

// Missing is what commits before the last one have, and that one has not: nothing of it was compared. Of several such points it is the
// one that was measured last.
type Missing struct {
	*Series // without values
	Change
}

// Series is what one metric of one call path was at the commits.
type Series struct {
	CallPath   string
	Metric     string
	Unit       string
	Parameters []string
	Points     [][]float64 // in the space of the parameters; a value is the geometric mean over them

	At       []int // places in Result.Commits, ascending
	Values   []float64
	Law      string // of the values after the last change, such as O(log p); empty: too few points
	Changes  []Change
	Suspects []Change // values at the end are far off, from a place on; more measurements would decide

	whole float64 // run time of the program at the last commit, if the values are parts of it; 0: they are not
}

// Change is a change of a series after one commit and not later than another one.
type Change struct {
	Kind          string
	Before, After int     // places in Result.Commits
	From, To      float64 // levels; of noise: relative scatter; of a law that changed with the same level: exponents
	P             float64 // probability without a change; 0: exact values differ
	Worse         bool
	LawFrom       string // empty: not known
	LawTo         string
	FormulaFrom   string
	FormulaTo     string

	place  int  // in the values: first one after the change
	faster bool // the law after the change grows faster
	lost   int  // points that the last commit lacks
	points int  // points that some commit has
}

// Ratio is the level after the change over that before it; it is not finite if that is 0.
func (c *Change) Ratio() float64 { return c.To / c.From }

// Size describes how large a change is.
func (c *Change) Size() string {
	switch ratio := c.Ratio(); {
	case c.lost < c.points:
		return fmt.Sprintf("%d of %d points", c.lost, c.points)
	case c.Kind == KindAppeared, c.Kind == KindVanished, c.Kind == KindMissing:
		return c.Kind
	case math.IsNaN(ratio) || math.IsInf(ratio, 0):
		return "-"
	case ratio >= 2:
		return fmt.Sprintf("%.3g x", ratio)
	default:
		return fmt.Sprintf("%+.3g %%", 100*(ratio-1))
	}
}

// Range names the commits among which a change is, as git does.
func (r *Result) Range(c *Change) string {
	return r.Commits[c.Before].Short() + ".." + r.Commits[c.After].Short()
}

// After reports whether a change is after commits that were accepted. Of a drift that began at one of these, the values of the other
// commits must have changed the same way, looked at for themselves.
func (r *Result) After(s *Series, c *Change, accepted map[string]bool, o Options) bool {
	switch {
	case accepted[r.Commits[c.After].ID]:
		return false
	case c.Kind != KindDrift || !accepted[r.Commits[c.Before].ID]:
		return true
	}
	var values []float64
	for i, at := range s.At {
		if at >= c.Before && at <= c.After && !accepted[r.Commits[at].ID] {
			values = append(values, s.Values[i])
		}
	}
	return slices.ContainsFunc(segments(values, cmp.Or(o.Level, 0.01)), func(f split) bool {
		ratio := median(values[f.at:]) / median(values[:f.at])
		return !f.scale && (ratio > 1) == (c.Ratio() > 1) && math.Abs(ratio-1) >= cmp.Or(o.Smallest, 0.01)
	})
}

// Find finds the changes of all series.
func Find(ctx context.Context, all []*history.State, o Options) (*Result, error) {
	o.Level = cmp.Or(o.Level, 0.01)
	r := &Result{}
	states := make([]*state, len(all))
	for i, s := range all {
		r.Commits = append(r.Commits, s.Commit)
		states[i] = indexed(s)
	}
	for _, c := range collect(states) {
		if s := c.series(states); s != nil {
			r.Series = append(r.Series, s)
		}
		if m := c.missing(states); m != nil {
			r.Missing = append(r.Missing, *m)
		}
	}
	parallel.Each(len(r.Series), max(o.Threads, 1), func(i int) {
		if ctx.Err() == nil {
			r.Series[i].find(states, o)
		}
	})
	return r, ctx.Err()
}

// find finds the changes of a series.
func (s *Series) find(states []*state, o Options) {
	slopes := s.slopes(states)
	level := o.Level / float64(1+len(slopes))
	switch {
	case s.come(level, o):
	case exact(s.Metric, s.Unit, s.Values):
		s.exactChanges(o.Smallest)
	default:
		smallest := cmp.Or(o.Smallest, 0.01)
		s.levels(level, smallest)
		s.suspect(o.Level, smallest) // of a last value only the level is tested, no slope
	}
	for _, list := range slopes {
		s.laws(list, level)
	}
	slices.SortStableFunc(s.Changes, func(a, b Change) int { return cmp.Compare(a.place, b.place) })
	s.nameLaws(states)
	for i := range s.Changes {
		s.judge(&s.Changes[i], o)
	}
	for i := range s.Suspects {
		c := &s.Suspects[i]
		s.judge(c, o)
		c.Worse = c.Worse || c.Kind == KindVanished // it was not measured, or it should be large
	}
}

// judge decides whether a change is for the worse.
func (s *Series) judge(c *Change, o Options) {
	grows := c.To > c.From
	switch c.Kind {
	case KindNoise:
		c.Worse = grows
		return
	case KindModel:
		grows = c.faster
	}
	c.Worse = grows != (dataset.LargerIsBetter(s.Metric, s.Unit) || slices.Contains(o.LargerBetter, s.Metric))
}

// change is one between two values in a row.
func (s *Series) change(kind string, place int, from, to, p float64) Change {
	return Change{Kind: kind, Before: s.At[place-1], After: s.At[place], From: from, To: to, P: p, place: place}
}

// levels finds changed levels, drifts and changed noise; changes of the level that are too small are left out, and what
// is left is described by the values between them.
func (s *Series) levels(level, smallest float64) {
	found := segments(s.Values, level)
	for {
		s.Changes = s.Changes[:0]
		smallestAt, least := -1, math.Inf(1)
		for i, f := range found {
			from, to := 0, len(s.Values)
			if i > 0 {
				from = found[i-1].at
			}
			if i+1 < len(found) {
				to = found[i+1].at
			}
			before, after := s.Values[from:f.at], s.Values[f.at:to]
			var c Change
			size := 0.0 // of the change, relative to what is tolerated
			switch {
			case f.scale:
				c = s.change(KindNoise, f.at, scatter(before), scatter(after), f.p)
				size = math.Abs(math.Log(c.Ratio())) / math.Log(1.25)
			case f.drift:
				quarter := max((f.last-f.first+1)/4, 1)
				c = s.change(KindDrift, f.at, median(s.Values[f.first:f.first+quarter]), median(s.Values[f.last+1-quarter:f.last+1]), f.p)
				c.Before, c.After = s.At[f.first], s.At[f.last]
				size = math.Abs(c.Ratio()-1) / smallest
			default:
				c = s.change(KindLevel, f.at, median(before), median(after), f.p)
				size = math.Abs(c.Ratio()-1) / smallest
			}
			if size < least {
				smallestAt, least = i, size
			}
			s.Changes = append(s.Changes, c)
		}
		if !(least < 1-rounding) {
			s.Changes = slices.DeleteFunc(s.Changes, func(c Change) bool { return c.Kind != KindNoise && !s.matters(c.To-c.From) })
			return
		}
		found = slices.Delete(found, smallestAt, smallestAt+1)
	}
}

// rounding is how far the size of a change may be from what it would be exactly: 100 to 115 is 15 %, not less.
const rounding = 1e-9

// leastShare is the share of the run time that a part of it must change by.
const leastShare = 0.001

// matters reports whether a difference is not too small a part of the run time.
func (s *Series) matters(difference float64) bool { return math.Abs(difference) >= leastShare*s.whole }

// come notes that a metric of runs that was always 0 appeared, or that it is 0 from some commit on: if so few orders of
// the values would look like this that it is not by chance; otherwise the last value is suspect if it would be worse. So
// is a benchmark that takes no time: it may have failed.
func (s *Series) come(level float64, o Options) bool {
	n := len(s.Values)
	duration := s.whole == 0 && dataset.IsDuration(s.Metric, s.Unit)
	isZero := func(v float64) bool { return v == 0 || v < 0 && duration }
	first := slices.IndexFunc(s.Values, func(v float64) bool { return isZero(v) != isZero(s.Values[0]) })
	if first < 0 || slices.ContainsFunc(s.Values[first:], func(v float64) bool { return isZero(v) == isZero(s.Values[0]) }) {
		return false // never 0, always 0, or now and then
	}
	kind := KindAppeared
	if !isZero(s.Values[0]) {
		kind = KindVanished
	}
	c := s.change(kind, first, median(s.Values[:first]), median(s.Values[first:]), math.Exp(-logChoose(n, first)))
	s.judge(&c, o)
	switch {
	case !s.matters(c.To - c.From):
	case c.P <= level:
		s.Changes = []Change{c}
	case n-first <= shortest && c.Worse && first >= 3, kind == KindVanished && duration:
		s.Suspects = []Change{c}
	}
	return true
}

// logChoose is the logarithm of the number of ways to choose k of n.
func logChoose(n, k int) float64 {
	of := func(n int) float64 { v, _ := math.Lgamma(float64(n + 1)); return v }
	return of(n) - of(k) - of(n-k)
}

// laws notes changes of the slope by which a series grows with a parameter.
func (s *Series) laws(slopes []float64, level float64) {
	for _, f := range segments(slopes, level) {
		near := slices.IndexFunc(s.Changes, func(c Change) bool { return c.Kind != KindNoise && c.place >= f.at-2 && c.place <= f.at+2 })
		if f.scale || near >= 0 {
			continue
		}
		c := s.change(KindModel, f.at, median(slopes[:f.at]), median(slopes[f.at:]), f.p)
		c.faster = c.To > c.From
		if math.Abs(c.To-c.From) >= 0.05 { // below, nothing that anybody measures is another law
			s.Changes = append(s.Changes, c)
		}
	}
}

// nameLaws finds the laws before and after each change, and that of today.
func (s *Series) nameLaws(states []*state) {
	if len(s.Points) < scaling.MinPoints {
		return
	}
	from := 0
	for i := range s.Changes {
		c := &s.Changes[i]
		to := len(s.Values)
		if i+1 < len(s.Changes) {
			to = s.Changes[i+1].place
		}
		c.LawFrom, c.FormulaFrom = s.law(states, from, c.place)
		c.LawTo, c.FormulaTo = s.law(states, c.place, to)
		if c.Kind == KindLevel && c.LawFrom != "" && c.LawTo != "" && c.LawFrom != c.LawTo {
			faster, slower := s.broken(states, from, c.place, to)
			if c.faster = faster; faster || slower {
				c.Kind = KindModel
			}
		}
		from = c.place
	}
	s.Law, _ = s.law(states, from, len(s.Values))
}

// pooled are the measurements of some commits as those of one.
func (s *Series) pooled(states []*state, from, to int) *dataset.Dataset {
	d := dataset.New(s.Parameters...)
	series := d.Get(s.CallPath, s.Metric)
	for _, at := range s.At[from:to] {
		for _, p := range measured(states[at], s) {
			series.Add(p.At, p.Values...)
		}
	}
	return d
}

// law is the law of the measurements of some commits; empty: there is none.
func (s *Series) law(states []*state, from, to int) (law, formula string) {
	b, err := scaling.NewBaseline(s.pooled(states, from, to), scaling.Options{})
	if err != nil {
		return "", ""
	}
	return b.Models[0].Expect, b.Models[0].Formula
}

// broken reports whether the values after a change grow faster than the law before it, and whether those before it grow
// faster than the law after it, by the weight of the evidence.
func (s *Series) broken(states []*state, from, place, to int) (faster, slower bool) {
	beyond := func(a, b *dataset.Dataset) bool {
		base, err := scaling.NewBaseline(a, scaling.Options{})
		if err != nil {
			return false
		}
		now, err := scaling.CompareBaseline(base, b, scaling.Options{}, math.Inf(1))
		return err == nil && now.Rows[0].Law == scaling.Fail
	}
	before, after := s.pooled(states, from, place), s.pooled(states, place, to)
	return beyond(before, after), beyond(after, before)
}
