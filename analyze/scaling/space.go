package scaling

import (
	"cmp"
	"slices"
)

// Space describes how the search space around an expectation is built. The zero value
// is what the paper does by default.
type Space struct {
	Upper    *Term // terms above are left out; nil: the square of the expectation
	Halvings int   // how often the ticks between 0, i and 2i are halved; 0 means 2
	Lower    []Rat // exponents of the next lower class; empty: 1, and those around the expectation's own
	Add      []Term
	Only     []Term // replaces everything else
}

// The names of search spaces. SpaceAround is the zero value.
const (
	SpaceAround = "expectation"
	SpacePaper  = "paper"
)

// SpaceNames lists the names of search spaces, the default first.
func SpaceNames() []string { return []string{SpaceAround, SpacePaper} }

// NamedSpace returns the search space of a name, one of SpaceNames.
func NamedSpace(name string) Space {
	if name == SpacePaper {
		return paperSpace()
	}
	return Space{}
}

// isZero reports whether nothing was given.
func (s Space) isZero() bool {
	return s.Upper == nil && s.Halvings == 0 && len(s.Lower)+len(s.Add)+len(s.Only) == 0
}

// Around returns the candidates that an expectation suggests, in ascending order:
// like the ticks of a ruler, exponents of its class between 0 and twice its own,
// the smaller ticks being products with terms of the next lower class.
func (s Space) Around(expected Term) []Term {
	if len(s.Only) > 0 {
		return ascending(append(slices.Clone(s.Only), expected))
	}
	e := expected
	if e == (Term{}) {
		e = Term{Log: newRat(1, 1)}
	}
	class := e.class()
	upper := e.Mul(e)
	if s.Upper != nil {
		upper = *s.Upper
	}
	lowest, highest := Term{}, upper
	if highest.growth() < 0 {
		lowest, highest = highest, lowest
	}
	list := append([]Term{expected, upper}, s.Add...)
	add := func(t Term) {
		if t.cmp(lowest) >= 0 && t.cmp(highest) <= 0 {
			list = append(list, t)
		}
	}
	for _, tick := range s.ticks(e.in(class)) {
		t := power(class, tick)
		add(t)
		if class > F1 {
			for _, j := range s.lower(e.in(class - 1)) {
				add(t.Mul(power(class-1, j)))
			}
		}
	}
	return ascending(list)
}

// ticks returns 0, i, 2i and the means between neighbors.
func (s Space) ticks(i Rat) []Rat {
	two := newRat(2, 1)
	ticks := []Rat{{}, i, i.mul(two)}
	if s.Upper != nil { // beyond 2i in the same steps
		for n := int64(3); n <= 2*maxTicks; n++ {
			ticks = append(ticks, i.mul(newRat(n, 1)))
			if power(s.Upper.class(), ticks[n]).cmp(*s.Upper) > 0 {
				break
			}
		}
	}
	halvings := cmp.Or(s.Halvings, 2)
	for range min(halvings, maxHalvings) {
		var finer []Rat
		for n, t := range ticks {
			if n > 0 {
				finer = append(finer, ticks[n-1].add(t).mul(newRat(1, 2)))
			}
			finer = append(finer, t)
		}
		ticks = finer
	}
	return ticks
}

// Bounds of what users may ask of a search space.
const (
	maxHalvings = 4
	maxTicks    = 8
)

// lower returns the exponents of the next lower class. j is that of the expectation.
func (s Space) lower(j Rat) []Rat {
	if len(s.Lower) > 0 {
		return s.Lower
	}
	one := newRat(1, 1)
	list := []Rat{one}
	if j != (Rat{}) && j != one {
		list = append(list, j.sub(one), j, j.add(one))
	}
	return list
}

// ascending sorts terms and leaves out those that are there already.
func ascending(list []Term) []Term {
	slices.SortFunc(list, Term.cmp)
	return slices.Compact(list)
}
