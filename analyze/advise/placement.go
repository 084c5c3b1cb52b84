package advise

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"slackline/model/machine"
	"slackline/model/schedule"
)

var placementKind = kind{
	Info: Info{
		Name:  "placement",
		Short: "other places for the ranks",
		Meaning: "The ranks are on other nodes: in blocks, cyclically, or as a list says, node by rank. The list that is tried puts ranks that " +
			"exchange most bytes on one node. It needs a machine with several ranks per node.",
		Advice: "Change the mapping of ranks to nodes (mpirun --map-by, --rankfile, srun --distribution), or reorder the communicator " +
			"(MPI_Cart_create with reorder, MPI_Dist_graph_create).",
		Form: "placement:blocks, placement:cyclic or placement:NODE,NODE,...",
	},
	propose: func(s *study) []candidate {
		m := s.base.Machine
		layout, err := m.Layout(s.ranks())
		if err != nil {
			return nil
		}
		if _, uniform := layout.Uniform(); uniform && !m.SharedNIC {
			return nil
		}
		values := []string{"blocks", "cyclic"}
		if s.ranks() <= maxListed {
			values = append(values, joined(grouped(s.graph, layout)))
		}
		var list []candidate
		for _, v := range values {
			list = append(list, candidate{Change{Kind: "placement", Value: v}, s.idealGain})
		}
		return list
	},
	apply: func(_ context.Context, x *Scenario, c Change) error {
		m := *x.Machine
		m.Name += ", changed"
		switch c.Value {
		case "blocks", "cyclic":
			m.Placement = machine.Placement{Cyclic: c.Value == "cyclic"}
		default:
			var nodes []int32
			for _, word := range strings.Split(c.Value, ",") {
				n, err := strconv.ParseInt(word, 10, 32)
				if err != nil || n < 0 {
					return c.badValue()
				}
				nodes = append(nodes, int32(n))
			}
			if len(nodes) != x.Program.Ranks() {
				return fmt.Errorf("placement: %d nodes are given for %d ranks", len(nodes), x.Program.Ranks())
			}
			m.Placement = machine.Placement{Nodes: nodes}
		}
		x.Machine = &m
		return nil
	},
	sentence: func(s *study, c Change) string {
		how := map[string]string{"blocks": "in blocks (rank 0, 1, ... on the first node)", "cyclic": "cyclically (rank 0, 1, ... " +
			"on different nodes)"}[c.Value]
		if how == "" {
			how = "so that those that exchange most are on one node (" + c.Value + ")"
		}
		return fmt.Sprintf("Place the ranks %s: the run", how)
	},
}

// maxListed is the largest number of ranks for which a placement is listed.
const maxListed = 256

func joined(nodes []int32) string {
	words := make([]string, len(nodes))
	for i, n := range nodes {
		words[i] = strconv.Itoa(int(n))
	}
	return strings.Join(words, ",")
}

// grouped fills one node after the other, each time with the rank that exchanges most bytes with those that are there.
func grouped(g *schedule.Graph, layout *machine.Layout) []int32 {
	ranks := g.Ranks()
	bytes := make([][]int64, ranks)
	for r := range bytes {
		bytes[r] = make([]int64, ranks)
	}
	ops := g.Ops()
	for r := range ranks {
		for i := g.FirstOp(r); i < g.FirstOp(r+1); i++ {
			if op := &ops[i]; op.Kind == schedule.Send && op.Peer >= 0 {
				bytes[r][op.Peer] += op.Size + 1
				bytes[op.Peer][r] += op.Size + 1
			}
		}
	}
	room := make([]int, layout.Nodes())
	for r := range ranks {
		room[layout.Node(r)]++
	}
	nodes := make([]int32, ranks)
	placed := make([]bool, ranks)
	for node, n := range room {
		ties := make([]int64, ranks) // bytes with the ranks on the node
		for range n {
			best := -1
			for r := range ranks {
				if !placed[r] && (best < 0 || ties[r] > ties[best]) {
					best = r
				}
			}
			placed[best], nodes[best] = true, int32(node)
			for r := range ranks {
				ties[r] += bytes[best][r]
			}
		}
	}
	return slices.Clip(nodes)
}
