package machine

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"slackline/internal/stat"
)

// MaxRanks is the largest number of ranks that a Layout takes.
const MaxRanks = math.MaxInt32

// Layout is a machine with ranks on it.
//
// Node, Class and Host are called for every message: they allocate nothing and, but for listed
// placements, compute the place from the rank.
type Layout struct {
	Machine *Machine
	Ranks   int

	rule      placeRule
	shift     uint8   // byShift: ranks per node is 1 << shift
	divisor   uint32  // byQuotient: ranks per node; byRemainder: number of nodes
	nodes     []int32 // byList: node by rank
	hosts     []int32 // byList with a shared NIC: host by rank
	numNodes  int     // largest node used + 1
	numHosts  int
	perSwitch uint32 // 0: no class Switch

	joins   [NumClasses]bool // classes that join two different ranks
	apart   bool             // ranks are on more than one node
	uniform bool
	only    Class // if uniform: a class that occurs
}

// placeRule defines how a node follows from a rank.
type placeRule uint8

const (
	byShift     placeRule = iota // block, a power of two ranks per node
	byQuotient                   // block
	byRemainder                  // cyclic
	byList                       // listed
)

// Layout places ranks on the machine. A listed placement must list exactly this many ranks.
func (m *Machine) Layout(ranks int) (*Layout, error) {
	if ranks < 1 || ranks > MaxRanks {
		return nil, fmt.Errorf("%d ranks cannot be placed; give a number from 1 to %d", ranks, MaxRanks)
	}
	if m.NodesPerSwitch < 0 || m.RanksPerNode < 0 {
		return nil, fmt.Errorf("machine %q has negative ranks per node or nodes per switch", m.Name)
	}
	l := &Layout{Machine: m, Ranks: ranks, perSwitch: clampUint32(m.NodesPerSwitch)}
	var err error
	if m.Placement.Nodes != nil {
		err = l.placeByList()
	} else {
		l.placeByRule()
	}
	if err != nil {
		return nil, err
	}
	l.findUniform()
	return l, nil
}

// placeByRule sets up block and cyclic placement. Both use all nodes from 0 on.
func (l *Layout) placeByRule() {
	perNode := max(l.Machine.RanksPerNode, 1)
	l.numNodes = (l.Ranks-1)/perNode + 1
	switch {
	case l.Machine.Placement.Cyclic:
		l.rule, l.divisor = byRemainder, uint32(l.numNodes)
	case perNode&(perNode-1) == 0:
		l.rule, l.shift = byShift, uint8(bits.TrailingZeros(uint(perNode)))
	default:
		l.rule, l.divisor = byQuotient, clampUint32(perNode)
	}
	l.numHosts = l.Ranks
	if l.Machine.SharedNIC {
		l.numHosts = l.numNodes
	}
	l.apart = l.numNodes > 1
	l.joins[Node] = l.Ranks > l.numNodes
	l.joins[Switch] = l.apart && l.perSwitch > 1
	l.joins[Far] = l.apart && (l.perSwitch == 0 || l.numNodes > int(l.perSwitch))
}

// placeByList sets up a listed placement, whose nodes may have gaps.
func (l *Layout) placeByList() error {
	list := l.Machine.Placement.Nodes
	if len(list) != l.Ranks {
		return fmt.Errorf("the placement of machine %q lists %d ranks, but there are %d; list one node for each rank, or use "+
			"placement: block or cyclic",
			l.Machine.Name, len(list), l.Ranks)
	}
	if i := slices.IndexFunc(list, func(n int32) bool { return n < 0 }); i >= 0 {
		return fmt.Errorf("the placement of machine %q puts rank %d on node %d; node numbers begin at 0", l.Machine.Name, i, list[i])
	}
	l.rule, l.nodes = byList, list
	used := slices.Compact(stat.Sorted(list))
	l.numNodes = int(used[len(used)-1]) + 1
	l.numHosts = l.Ranks
	if l.Machine.SharedNIC {
		l.numHosts = len(used)
		l.hosts = make([]int32, len(list))
		for rank, node := range list {
			host, _ := slices.BinarySearch(used, node)
			l.hosts[rank] = int32(host)
		}
	}
	l.apart = len(used) > 1
	l.joins[Node] = l.Ranks > len(used)
	for i := 1; i < len(used); i++ {
		l.joins[l.classOfNodes(int(used[i-1]), int(used[i]))] = true
	}
	return nil
}

// findUniform compares the parameters of all classes that occur. Class Node always does, since
// a rank may send to itself.
func (l *Layout) findUniform() {
	l.only, l.uniform = Node, true
	for _, c := range [...]Class{Switch, Far} {
		if l.joins[c] {
			l.uniform = l.uniform && l.Machine.Classes[c].Equal(&l.Machine.Classes[l.only])
			l.only = c
		}
	}
}

// Uniform reports whether the same parameters hold for all pairs of ranks, also for a rank and
// itself, and names a class that has them.
func (l *Layout) Uniform() (Class, bool) { return l.only, l.uniform }

// Nodes is the number of nodes, counted up to the largest one used.
func (l *Layout) Nodes() int { return l.numNodes }

// Node returns the node of a rank.
func (l *Layout) Node(rank int) int {
	switch l.rule {
	case byShift:
		return rank >> (l.shift & 63)
	case byQuotient:
		return int(uint32(rank) / l.divisor)
	case byRemainder:
		return int(uint32(rank) % l.divisor)
	}
	return int(l.nodes[rank])
}

// Hosts is the number of hosts. A host is what owns NICs: a rank, or a node if its ranks share
// them. Nodes without ranks are not hosts, so this is never more than the number of ranks.
func (l *Layout) Hosts() int { return l.numHosts }

// Host returns the host of a rank, from 0 to Hosts()-1. Hosts are in the order of their nodes.
func (l *Layout) Host(rank int) int {
	if !l.Machine.SharedNIC {
		return rank
	}
	if l.hosts != nil {
		return int(l.hosts[rank])
	}
	return l.Node(rank)
}

// Class returns the class of the pair of ranks.
func (l *Layout) Class(a, b int) Class {
	return l.classOfNodes(l.Node(a), l.Node(b))
}

func (l *Layout) classOfNodes(a, b int) Class {
	if a == b {
		return Node
	}
	if l.perSwitch != 0 && uint32(a)/l.perSwitch == uint32(b)/l.perSwitch {
		return Switch
	}
	return Far
}

// Params returns the parameters of the pair of ranks.
func (l *Layout) Params(a, b int) *Params { return &l.Machine.Classes[l.Class(a, b)] }

// Occurs reports whether messages of the class can occur: class Node always can, since a rank
// may send to itself.
func (l *Layout) Occurs(c Class) bool { return c == Node || l.joins[c] }

// Window is the time within which hosts cannot affect each other by eager messages: the
// smallest o + L over all pieces of the classes that join two hosts. It is math.MaxInt64 if
// there is only one host.
func (l *Layout) Window() int64 {
	window := int64(math.MaxInt64)
	for c := range l.joins {
		if !l.joins[c] || Class(c) == Node && l.Machine.SharedNIC {
			continue
		}
		p := &l.Machine.Classes[c]
		for _, piece := range p.Overhead {
			// The difference cannot overflow: both are at least 0.
			if int64(p.Latency) < window-int64(piece.Value) {
				window = int64(p.Latency) + int64(piece.Value)
			}
		}
	}
	return window
}

// clampUint32 cuts numbers that exceed every number of ranks or nodes.
func clampUint32(n int) uint32 { return uint32(min(n, math.MaxInt32)) }
