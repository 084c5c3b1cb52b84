package advise

import (
	"context"
	"fmt"
	"strconv"

	"slackline/model/machine"
	"slackline/model/unit"
)

var threadsKind = kind{
	Info: Info{
		Name:  "threads",
		Short: "threads instead of processes",
		Meaning: "Each n neighboring ranks become the threads of one process: messages between them cost nothing, and those to other " +
			"processes what they did (of three classes of pairs, node, switch and far, one is lost: far then stands for switch). Computation " +
			"stays as it is on each, and collectives still have all ranks, so this is what a good hybrid version reaches at most.",
		Advice: "Run fewer processes with several threads each (MPI with OpenMP), one process per NUMA domain or socket; MPI_THREAD_FUNNELED " +
			"is enough if the master thread communicates.",
		Form: "threads:NUMBER such as threads:4",
	},
	assumes: always("the computation can be shared by threads, and nothing else is lost"),
	propose: func(s *study) []candidate {
		var list []candidate
		for n := 2; n <= 8 && n < s.ranks(); n *= 2 {
			if s.ranks()%n == 0 {
				list = append(list, candidate{Change{Kind: "threads", Value: strconv.Itoa(n)}, s.idealGain})
			}
		}
		return list
	},
	apply: func(_ context.Context, x *Scenario, c Change) error {
		n, err := strconv.Atoi(c.Value)
		if err != nil || n < 1 {
			return c.badValue()
		}
		m := *x.Machine
		m.Name += ", changed"
		// A process is a node now, and what was a node or a switch with several of them is a switch.
		inNode, inSwitch := m.RanksPerNode, m.RanksPerNode*m.NodesPerSwitch
		m.RanksPerNode, m.NodesPerSwitch = n, 0
		switch {
		case len(m.Placement.Nodes) > 0: // nodes of any sizes
		case inNode > n && inNode%n == 0:
			m.NodesPerSwitch, m.Classes[machine.Switch] = inNode/n, m.Classes[machine.Node]
		case inSwitch%n == 0:
			m.NodesPerSwitch = inSwitch / n
		}
		m.Placement = machine.Placement{}
		m.Classes[machine.Node] = machine.Params{Overhead: machine.One(unit.Duration(0)), PerByte: machine.One(unit.PerByte(0)),
			Eager: machine.NoLimit}
		x.Machine = &m
		return nil
	},
	sentence: func(s *study, c Change) string {
		return fmt.Sprintf("Run with %s threads per process instead of %d processes with one each: without the messages between them, the run",
			c.Value, s.ranks())
	},
}
