package scaling

import "math"

// Form is how the terms of several parameters are joined.
type Form int

// The forms. With one parameter a model is constant or single. The last three are of three parameters: one of them
// is added to the product of the others.
const (
	Constant Form = iota
	Single
	Product
	Sum
	FirstAlone
	SecondAlone
	ThirdAlone
)

// String returns the word of the form in outputs.
func (f Form) String() string {
	return [...]string{"constant", "single", "product", "sum", "1+2*3", "2+1*3", "3+1*2"}[f]
}

// MarshalText returns the name.
func (f Form) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// alone returns the parameter that is added to the product of the others; -1 if there is none.
func (f Form) alone() int {
	if f < FirstAlone {
		return -1
	}
	return int(f - FirstAlone)
}

// leading returns the factors of the leading term: those of all leads, or, in a form that adds, of what the first
// parameter with influence belongs to.
func (f Form) leading(leads []Term) []Term {
	first := 0
	for first < len(leads)-1 && leads[first] == (Term{}) {
		first++
	}
	factors := make([]Term, len(leads))
	for i, lead := range leads {
		if f == Sum && i != first || f.alone() >= 0 && (i == f.alone()) != (first == f.alone()) {
			continue
		}
		factors[i] = lead
	}
	return factors
}

// columnMask is a column of a shape: the product of the leads of the parameters whose bits are set, the first
// parameter being 1; 0 is the constant.
type columnMask uint8

// shape is a form of so many parameters with its hypotheses. Plain ones have the leading terms alone, with a constant
// or without; extended ones have a further column.
type shape struct {
	form            Form
	plain, extended [][]columnMask
	share, each     [2]float64 // of the prior, plain and extended: logarithms of the share of all, and of how many they are
}

// shapes are the shapes by number of parameters that have influence.
var shapes = [maxParameters + 1][]shape{
	{{form: Constant, plain: [][]columnMask{{0}}}},
	{newShape(Single, nil, 1)},
	{
		newShape(Product, []columnMask{1, 2}, 3),
		newShape(Sum, nil, 1, 2),
	},
	{
		newShape(Product, []columnMask{1, 2, 4, 3, 5, 6}, 7),
		newShape(Sum, nil, 1, 2, 4),
		newShape(FirstAlone, []columnMask{2, 4}, 1, 6),
		newShape(SecondAlone, []columnMask{1, 4}, 2, 5),
		newShape(ThirdAlone, []columnMask{1, 2}, 4, 3),
	},
}

// newShape returns a shape with its leading columns, and the columns of which an extended hypothesis has one.
func newShape(form Form, further []columnMask, leading ...columnMask) shape {
	with := func(constant bool, more ...columnMask) []columnMask {
		var list []columnMask
		if constant {
			list = append(list, 0)
		}
		return append(append(list, leading...), more...)
	}
	s := shape{form: form, plain: [][]columnMask{with(false), with(true)}}
	for _, constant := range []bool{false, true} {
		for _, m := range further {
			s.extended = append(s.extended, with(constant, m))
		}
	}
	if s.each[0] = math.Log(float64(len(s.plain))); len(further) > 0 {
		s.share = [2]float64{math.Log(plainShare), math.Log(extendedShare)}
		s.each[1] = math.Log(float64(len(s.extended)))
	}
	return s
}

// hypotheses is how many hypotheses the shape has.
func (s *shape) hypotheses() int { return len(s.plain) + len(s.extended) }

// priors returns the logarithms of the priors of a plain and of an extended hypothesis, for leads of an oddity.
func (s *shape) priors(oddity int) (plain, extended float64) {
	odd := -oddityWeight * float64(oddity)
	return odd + s.share[0] - s.each[0], odd + s.share[1] - s.each[1]
}
