package scaling

// Rank is how well a model matches an expectation.
type Rank int

// The ranks, from the worst: the model grows faster than the upper limit, slower
// than the lower one, lies within both, or is what was expected.
const (
	NoMatch Rank = iota
	Better
	Approximate
	Total
)

// String returns the word of the rank in outputs.
func (r Rank) String() string { return [...]string{"none", "better", "approximate", "total"}[r] }

// MarshalText returns the word.
func (r Rank) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// DefaultLimit returns the deviation that an expectation allows if nothing else
// is given: the exponent of its leading class, halved; for the constant that of
// log x, since otherwise noise would decide.
func DefaultLimit(expected Term) Term {
	if expected == (Term{}) {
		expected = Term{Log: newRat(1, 1)}
	}
	c := expected.class()
	return power(c, expected.in(c).mul(newRat(1, 2)).abs())
}

// RankOf returns the rank of a lead term against an expectation with a limit,
// which must not decrease. What lies on a limit is within it.
func RankOf(lead, expected, limit Term) Rank {
	switch {
	case lead == expected:
		return Total
	case lead.cmp(expected.Mul(limit)) > 0:
		return NoMatch
	case lead.cmp(expected.Div(limit)) < 0:
		return Better
	}
	return Approximate
}

// Divergence returns how the distance between model and expectation grows.
func Divergence(lead, expected Term) Term { return lead.Div(expected) }
