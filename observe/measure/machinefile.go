package measure

import (
	"errors"
	"math"

	"slackline/model/machine"
	"slackline/model/unit"
)

// ClassNetwork is what was measured of a class of pairs.
type ClassNetwork struct {
	Class   Class
	Network *Network
}

// MachineOf makes a machine of what was measured, for simulations. hosts are those of the ranks. A class
// without measurement takes the parameters of the next farther one that has some, or else of the next nearer.
func MachineOf(name, note string, list []ClassNetwork, hosts []string, o *NetworkOptions) (*machine.Machine, error) {
	m := &machine.Machine{Name: name, Note: note, RanksPerNode: 1}
	var have [machine.NumClasses]bool
	for i := range list {
		for c := range machine.Class(machine.NumClasses) {
			if c.String() == list[i].Class.Name {
				m.Classes[c], have[c] = paramsOf(list[i].Network, o), true
			}
		}
	}
	if !have[machine.Node] && !have[machine.Switch] && !have[machine.Far] {
		return nil, errors.New("nothing was measured that a machine could be made of")
	}
	known := have
	for c := machine.NumClasses - 2; c >= 0; c-- {
		if !known[c] && known[c+1] {
			m.Classes[c], known[c] = m.Classes[c+1], true
		}
	}
	for c := 1; c < machine.NumClasses; c++ {
		if !known[c] {
			m.Classes[c], known[c] = m.Classes[c-1], true
		}
	}
	if have[machine.Node] && (have[machine.Switch] || have[machine.Far]) {
		m.RanksPerNode = countOf(hosts, func(h *string) bool { return *h == hosts[0] })
	}
	if have[machine.Switch] && have[machine.Far] {
		m.NodesPerSwitch = 1
		seen := map[string]bool{hosts[0]: true}
		for _, c := range list {
			for _, p := range c.Class.Pairs {
				if h := hosts[p[1]]; c.Class.Name == machine.Switch.String() && !seen[h] {
					seen[h] = true
					m.NodesPerSwitch++
				}
			}
		}
	}
	return m, nil
}

// paramsOf are the parameters of a link: the model has one o for both sides, so it takes their mean, by
// protocol as G.
func paramsOf(n *Network, o *NetworkOptions) machine.Params {
	p := machine.Params{Latency: picoseconds(n.L.Value), Gap: picoseconds(n.Gap.Value), Eager: int64(n.Eager)}
	if n.Eager >= o.MaxEager {
		p.Eager = machine.NoLimit
	}
	for i, q := range n.Protocols {
		from := int64(q.From)
		switch {
		case i == 0:
			from = 0
		case n.Eager >= n.Protocols[i-1].To && n.Eager < q.From:
			from = int64(n.Eager) + 1 // between two measured sizes; S is known exactly
		}
		overhead := (q.Send.Value + q.Receive.Value) / 2
		if i == 0 {
			overhead = (n.Send.Value + n.Receive.Value) / 2
		}
		p.Overhead = append(p.Overhead, machine.Piece[unit.Duration]{From: from, Value: picoseconds(overhead)})
		p.PerByte = append(p.PerByte, machine.Piece[unit.PerByte]{From: from, Value: unit.PerByte(math.Round(max(q.PerByte.Value, 0) * 1e6))})
	}
	return p
}

// picoseconds rounds ns; what is less than 0 is 0.
func picoseconds(ns float64) unit.Duration {
	return unit.Duration(math.Round(max(ns, 0) * float64(unit.Nanosecond)))
}
