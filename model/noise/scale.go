package noise

import (
	"fmt"
	"math"
	"slices"
)

// Scaled returns the profile with detours length times as long and rate times as frequent: what an
// operator gains by making a daemon faster, or by waking it less often. Lengths are rounded half up to
// whole nanoseconds. Lengths and times between detours keep their distributions; of a trace the starts
// move apart. The name of the result says what was done.
func (p *Profile) Scaled(length, rate float64) (*Profile, error) {
	for _, f := range []float64{length, rate} {
		if !(f > 0) || math.IsInf(f, 0) {
			return nil, fmt.Errorf("noise: a factor of %g; it must be above 0", f)
		}
	}
	scaled := &Profile{Name: p.Name, Note: p.Note, Parts: slices.Clone(p.Parts)}
	if length != 1 {
		scaled.Name += fmt.Sprintf(", lengths x %.4g", length)
	}
	if rate != 1 {
		scaled.Name += fmt.Sprintf(", rate x %.4g", rate)
	}
	for i := range scaled.Parts {
		part := &scaled.Parts[i]
		if part.Label == "" {
			part.Label = p.Parts[i].label() // sources keep their names
		}
		if part.Kind == KindTrace {
			part.Trace = part.Trace.scaled(length, rate)
			continue
		}
		part.Length = scaledLengths(part.Length, length)
		part.Every = scaledTime(part.Every, 1/rate)
		part.Phase = min(scaledTime(part.Phase, 1/rate), part.Every-1)
	}
	if err := scaled.Check(); err != nil {
		return nil, err
	}
	return scaled, nil
}

func (t *Trace) scaled(length, rate float64) *Trace {
	if t == nil {
		return nil
	}
	s := *t
	s.Period = max(scaledTime(t.Period, 1/rate), 1)
	s.List = slices.Clone(t.List)
	for i := range s.List {
		d := &s.List[i]
		d.Start = min(scaledTime(d.Start, 1/rate), s.Period-1)
		d.Length = scaledTime(d.Length, length)
	}
	return &s
}

func scaledLengths(l Lengths, f float64) Lengths {
	switch l := l.(type) {
	case Fixed:
		return Fixed(scaledTime(int64(l), f))
	case Uniform:
		return Uniform{scaledTime(l.Min, f), scaledTime(l.Max, f)}
	case Exponential:
		return Exponential{scaledTime(l.MeanLength, f)}
	case Pareto:
		return Pareto{Scale: max(scaledTime(l.Scale, f), 1000), Max: max(scaledTime(l.Max, f), 1000), Shape: l.Shape}
	case Empirical:
		s := make(Empirical, len(l))
		for i, x := range l {
			s[i] = scaledTime(x, f)
		}
		return s
	}
	return l
}

// scaledTime multiplies a time and rounds it to whole nanoseconds, unless the factor is 1. What is
// too long becomes just too long for Check.
func scaledTime(ps int64, f float64) int64 {
	if f == 1 {
		return ps
	}
	x := float64(ps) * f
	if x > maxSpan {
		return math.MaxInt64
	}
	return wholeNS(x)
}
