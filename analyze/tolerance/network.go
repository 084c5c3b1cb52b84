package tolerance

import (
	"slackline/model/machine"
	"slackline/model/unit"
)

// Network describes what messages cost: the parameters of the class of each pair of ranks, and
// optionally a table of latencies in their place.
type Network struct {
	// Layout is a machine with the ranks of the schedule on it. L, o, g, G and S of the class of
	// the pair hold for each message; O has no influence. Where g is larger than 0, the next send
	// of the same rank and nic starts at least g + bG after this one.
	Layout *machine.Layout
	// Table gives each pair of ranks a latency of its own; nil: L of the pair's class.
	Table *Table
	// NoGap leaves g out of the model, whatever g of the classes is.
	NoGap bool
}

// Table gives each pair of ranks its own latency: units*L + constant takes the place of every L of
// a message, those of request and grant included. A topology has wires as units and its switches as
// constant; messages inside a node have no unit.
type Table struct {
	L  unit.Duration // the given value of the variable
	Of func(from, to int) (units int64, constant unit.Duration)
}

// Parameter is a parameter of the model.
type Parameter uint8

// The parameters that a Graph can be a function of.
const (
	L Parameter = iota // latency, in picoseconds
	G                  // time per byte, in femtoseconds per byte
	O                  // overhead o, in picoseconds
)

// String returns the name of the parameter.
func (p Parameter) String() string { return [...]string{"L", "G", "o"}[p] }

// Variable is what T is a function of: one parameter of some classes. All values of the parameter
// move together: the variable is the value of the reference, and all others (of other classes, of
// other pieces) keep their distance to it. On a machine with one class and one piece it is the
// parameter itself.
//
// The reference is the class far if it occurs, else switch, else node, of those that are varied,
// with its piece for the smallest messages. With a Table the variable is Table.L.
type Variable struct {
	Parameter Parameter
	Classes   []machine.Class // empty: all; otherwise the other classes stay as they are
}
