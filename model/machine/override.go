package machine

import (
	"fmt"
	"slices"
	"strings"

	"slackline/model/unit"
)

// Override replaces parameters in every class; those that are nil stay as they are. A replaced
// o or G has one piece.
type Override struct {
	Latency  *unit.Duration // L
	Overhead *unit.Duration // o
	Gap      *unit.Duration // g
	PerByte  *unit.PerByte  // G
	CPUByte  *unit.PerByte  // O
	Eager    *unit.Size     // S
}

// IsZero reports whether nothing is replaced.
func (o Override) IsZero() bool { return o == Override{} }

// Apply returns a copy of the machine with the parameters replaced. The copy shares nothing that
// the caller may change, except placement list and topology.
func (o Override) Apply(m *Machine) *Machine {
	changed := *m
	for c := range changed.Classes {
		p := &changed.Classes[c]
		p.Overhead, p.PerByte = slices.Clone(p.Overhead), slices.Clone(p.PerByte)
		o.apply(p)
	}
	return &changed
}

// Machine returns a machine with one class from the parameters alone. O is 0 and S has no limit
// unless they are given; L, o, g and G must be.
func (o Override) Machine(name string) (*Machine, error) {
	var missing []string
	for _, p := range []struct {
		flag  string
		given bool
	}{
		{"-L", o.Latency != nil}, {"-o", o.Overhead != nil}, {"-g", o.Gap != nil}, {"-G", o.PerByte != nil},
	} {
		if !p.given {
			missing = append(missing, p.flag)
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("without a machine, %s must be given too", strings.Join(missing, ", "))
	}
	p := Params{Eager: NoLimit}
	o.apply(&p)
	return FromParams(name, p), nil
}

func (o Override) apply(p *Params) {
	if o.Latency != nil {
		p.Latency = *o.Latency
	}
	if o.Overhead != nil {
		p.Overhead = One(*o.Overhead)
	}
	if o.Gap != nil {
		p.Gap = *o.Gap
	}
	if o.PerByte != nil {
		p.PerByte = One(*o.PerByte)
	}
	if o.CPUByte != nil {
		p.CPUByte = *o.CPUByte
	}
	if o.Eager != nil {
		p.Eager = int64(*o.Eager)
	}
}
