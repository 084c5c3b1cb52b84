package machine

import (
	"slices"

	"slackline/model/unit"
)

// Equal reports whether all parameters are equal.
func (p *Params) Equal(q *Params) bool {
	return p.Latency == q.Latency && p.Gap == q.Gap && p.CPUByte == q.CPUByte && p.Eager == q.Eager &&
		slices.Equal(p.Overhead, q.Overhead) && slices.Equal(p.PerByte, q.PerByte)
}

// One returns a value that is the same for all sizes.
func One[T unit.Duration | unit.PerByte](value T) Pieces[T] {
	return Pieces[T]{{Value: value}}
}

// FromParams returns a machine on which the same parameters hold for all pairs: one rank per
// node, one NIC per rank.
func FromParams(name string, p Params) *Machine {
	m := &Machine{Name: name, RanksPerNode: 1}
	for c := range m.Classes {
		m.Classes[c] = p
	}
	return m
}
