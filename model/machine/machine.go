// Package machine describes the machines on which a schedule is simulated: LogGOPS parameters by
// class of link, where the ranks are placed, and who shares a NIC. It reads machine files and
// holds the embedded machines.
//
// A Machine is independent of the number of ranks; Layout places ranks on it. The package knows
// nothing of schedules and simulates nothing.
package machine

import (
	"math"

	"slackline/model/unit"
)

// Machine is a description as written in a machine file, with defaults filled in.
type Machine struct {
	Name string
	Note string

	// Classes are the parameters of the three classes of pairs, by Class.
	Classes [NumClasses]Params

	Gamma          unit.PerByte // CPU time per reduced byte
	RanksPerNode   int          // at least 1
	NodesPerSwitch int          // 0: no class Switch
	SharedNIC      bool         // nic: node
	Placement      Placement
	Noise          string // name or file of a noise profile; empty: none
	Topology       map[string]string
	NCCL           NCCL
}

// Class is a class of pairs of ranks.
type Class uint8

// The classes of pairs.
const (
	Node       Class = iota // both ranks on one node, also a rank and itself
	Switch                  // on different nodes of one switch
	Far                     // all other pairs
	NumClasses = 3
)

// Placement defines how ranks are put on nodes.
type Placement struct {
	Cyclic bool
	Nodes  []int32 // node by rank, if listed; RanksPerNode is then not used
}

// Params are the LogGOPS parameters of a class.
type Params struct {
	Latency  unit.Duration         // L
	Gap      unit.Duration         // g
	Overhead Pieces[unit.Duration] // o
	PerByte  Pieces[unit.PerByte]  // G
	CPUByte  unit.PerByte          // O
	Eager    int64                 // S: larger messages rendezvous; NoLimit: none do
}

// NoLimit is the S of a class in which all messages are eager.
const NoLimit = int64(math.MaxInt64)

// Pieces is a value that depends on the size of the message: the value of the last piece whose
// From is not larger holds. There is at least one piece, the first has From 0, and they ascend.
type Pieces[T unit.Duration | unit.PerByte] []Piece[T]

// Piece is one piece of Pieces.
type Piece[T unit.Duration | unit.PerByte] struct {
	From  int64
	Value T
}

// At returns the value for messages of the given size.
func (p Pieces[T]) At(size int64) T {
	v := p[0].Value
	for _, q := range p[1:] {
		if q.From > size {
			break
		}
		v = q.Value
	}
	return v
}

// Cost is what one message of some size costs, by rule R1: times in picoseconds.
type Cost struct {
	Overhead   int64 // o(s)
	Latency    int64 // L
	Gap        int64 // g
	Bytes      int64 // max(s-1, 0) * G(s)
	CPUBytes   int64 // max(s-1, 0) * O
	Rendezvous bool  // s > S
	Overflow   bool  // Bytes or CPUBytes does not fit into 63 bits
}

// Cost returns the cost of a message of size bytes.
func (p *Params) Cost(size int64) Cost {
	b := max(size-1, 0)
	bytes, ok1 := p.PerByte.At(size).Times(b)
	cpu, ok2 := p.CPUByte.Times(b)
	return Cost{
		Overhead:   int64(p.Overhead.At(size)),
		Latency:    int64(p.Latency),
		Gap:        int64(p.Gap),
		Bytes:      int64(bytes),
		CPUBytes:   int64(cpu),
		Rendezvous: size > p.Eager,
		Overflow:   !ok1 || !ok2,
	}
}

// String returns the name of the class as written in machine files.
func (c Class) String() string {
	switch c {
	case Node:
		return "node"
	case Switch:
		return "switch"
	}
	return "far"
}
