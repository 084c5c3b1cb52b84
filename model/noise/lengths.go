package noise

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"slackline/model/unit"
)

// Lengths is a distribution of the lengths of detours: Fixed, Uniform, Exponential, Pareto or
// Empirical.
type Lengths interface {
	// String returns the distribution as written in a specification.
	String() string
	// Mean is the mean length in picoseconds.
	Mean() float64

	// quantile is for p in [0, 1). Products in it are converted to float64, so that no compiler
	// fuses them with a sum and traces are equal on all processors.
	quantile(p float64) int64
	longest() int64 // 0: not bounded
	check() error
}

// Fixed is one length for all detours, in picoseconds.
type Fixed int64

// Uniform are lengths between two bounds, all equally likely.
type Uniform struct{ Min, Max int64 }

// Exponential are lengths with the density exp(-x/Mean)/Mean.
type Exponential struct{ MeanLength int64 }

// Pareto are lengths of at least Scale, of which the share (Scale/x)^Shape is longer than x, cut at
// Max: longer ones do not occur, and the others share their probability. Without a bound the rare
// longest detours of a heavy tail would have no mean, and a trace of finite length could not hold
// them.
type Pareto struct {
	Scale, Max int64
	Shape      float64
}

// ParetoCut is the longest detour of a Pareto distribution for which no other bound is given, in
// multiples of its scale.
const ParetoCut = 1000

// Empirical are measured lengths, each equally likely.
type Empirical []int64

func (l Fixed) String() string           { return unit.Duration(l).String() }
func (l Fixed) Mean() float64            { return float64(l) }
func (l Fixed) quantile(_ float64) int64 { return int64(l) }
func (l Fixed) longest() int64           { return int64(l) }
func (l Fixed) check() error             { return checkLength(int64(l)) }
func (l Uniform) Mean() float64          { return float64(l.Min)/2 + float64(l.Max)/2 }
func (l Uniform) longest() int64         { return l.Max }
func (l Exponential) Mean() float64      { return float64(l.MeanLength) }
func (l Exponential) longest() int64     { return 0 }
func (l Exponential) check() error       { return checkLength(l.MeanLength) }
func (l Pareto) longest() int64          { return l.Max }
func (l Empirical) longest() int64       { return slices.Max(l) }
func (l Uniform) String() string         { return "uniform:" + durations(l.Min, l.Max) }
func (l Exponential) String() string     { return "exp:" + durations(l.MeanLength) }
func (l Empirical) String() string       { return "list:" + durations(l...) }
func (l Uniform) quantile(p float64) int64 {
	return wholeNS(float64(l.Min) + float64(p*float64(l.Max-l.Min)))
}

// String returns the distribution as written in a specification.
func (l Pareto) String() string {
	text := "pareto:" + durations(l.Scale) + ":" + strconv.FormatFloat(l.Shape, 'g', -1, 64)
	if l.Max != ParetoCut*l.Scale {
		text += ":" + durations(l.Max)
	}
	return text
}

func (l Exponential) quantile(p float64) int64 {
	return wholeNS(-math.Log1p(-p) * float64(l.MeanLength))
}

func (l Pareto) quantile(p float64) int64 {
	below := 1 - math.Pow(float64(l.Scale)/float64(l.Max), l.Shape) // share of what is not cut
	x := float64(l.Scale) * math.Pow(1-float64(p*below), -1/l.Shape)
	return wholeNS(min(x, float64(l.Max)))
}

func (l Empirical) quantile(p float64) int64 {
	return l[min(int(p*float64(len(l))), len(l)-1)]
}

// Mean is the mean length in picoseconds.
func (l Pareto) Mean() float64 {
	a, lo, hi := l.Shape, float64(l.Scale), float64(l.Max)
	if lo == hi {
		return lo
	}
	below := 1 - math.Pow(lo/hi, a)
	if math.Abs(a-1) < 1e-9 { // the other formula is 0/0 here
		return lo * math.Log(hi/lo) / below
	}
	return a / (a - 1) * (lo - hi*math.Pow(lo/hi, a)) / below
}

// Mean is the mean length in picoseconds.
func (l Empirical) Mean() float64 {
	sum := 0.0
	for _, x := range l {
		sum += float64(x)
	}
	return sum / float64(len(l))
}

func (l Uniform) check() error {
	if l.Min > l.Max {
		return errors.New("the shortest length is longer than the longest")
	}
	return errors.Join(checkLength(l.Min), checkLength(l.Max))
}

func (l Pareto) check() error {
	switch {
	case l.Scale <= 0:
		return errors.New("the scale of a Pareto distribution must be above 0")
	case l.Max < l.Scale:
		return errors.New("the bound of a Pareto distribution must not be below its scale")
	case !(l.Shape > 0 && l.Shape <= 100):
		return errors.New("the shape of a Pareto distribution must be above 0 and at most 100")
	}
	return checkLength(l.Max)
}

func (l Empirical) check() error {
	if len(l) == 0 {
		return errors.New("the list of lengths is empty")
	}
	for _, x := range l {
		if err := checkLength(x); err != nil {
			return err
		}
	}
	return nil
}

// maxSpan is the longest time that a description may name (53 days): sums of two of them still fit.
const maxSpan = math.MaxInt64 / 2

func checkLength(x int64) error {
	if x < 0 || x > maxSpan {
		return fmt.Errorf("a length of %d ps is out of range", x)
	}
	return nil
}

// wholeNS rounds picoseconds half up to whole nanoseconds, which every format can hold.
func wholeNS(ps float64) int64 {
	return int64(math.Floor(ps/1000+0.5)) * 1000
}

func durations(list ...int64) string {
	words := make([]string, len(list))
	for i, x := range list {
		words[i] = unit.Duration(x).String()
	}
	return strings.Join(words, ":")
}
