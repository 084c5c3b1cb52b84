package advise

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"slackline/model/machine"
	"slackline/model/unit"
)

var latencyKind = networkKind("latency", "L", "the latency of the network", "A lower latency: another interconnect, fewer switches "+
	"between the nodes, ranks that talk to each other on one node.",
	func(p *machine.Params, f float64) { p.Latency = divided(p.Latency, f) })

var bandwidthKind = networkKind("bandwidth", "G", "the time per byte of the network", "More bandwidth: another interconnect, several "+
	"rails, fewer or smaller data (compression, single precision).",
	func(p *machine.Params, f float64) { p.PerByte = dividedPieces(p.PerByte, f) })

var overheadKind = networkKind("overhead", "o, g and O", "the CPU time of messages", "A leaner MPI library or protocol, offload to the "+
	"network card, fewer messages.",
	func(p *machine.Params, f float64) {
		p.Overhead, p.Gap, p.CPUByte = dividedPieces(p.Overhead, f), divided(p.Gap, f), divided(p.CPUByte, f)
	})

// networkKind is a part of the network that is faster by a factor, in all classes of links.
func networkKind(name, letters, what, advice string, scale func(p *machine.Params, factor float64)) kind {
	return kind{
		Info: Info{
			Name: name, Short: "a faster network: " + what,
			Meaning: fmt.Sprintf("%s (%s of the machine) is divided by a factor, in all classes of links; the rest stays as it is.", capital(what),
				letters),
			Advice: advice,
			Form:   name + ":FACTOR such as " + name + ":2",
		},
		upgrade: true,
		propose: func(s *study) []candidate {
			return []candidate{{Change{Kind: name, Value: "2"}, s.idealGain}}
		},
		apply: func(_ context.Context, x *Scenario, c Change) error {
			factor, err := strconv.ParseFloat(c.Value, 64)
			if err != nil || !(factor > 0) || math.IsInf(factor, 0) {
				return c.badValue()
			}
			x.Machine = withParams(x.Machine, func(p *machine.Params) { scale(p, factor) })
			return nil
		},
		sentence: func(_ *study, c Change) string {
			return fmt.Sprintf("A network with %s divided by %s", what, c.Value)
		},
	}
}

// withParams is a copy of a machine with the parameters of all classes changed.
func withParams(m *machine.Machine, change func(p *machine.Params)) *machine.Machine {
	n := *m
	for i := range n.Classes {
		change(&n.Classes[i])
	}
	n.Name += ", changed"
	return &n
}

func divided[T unit.Duration | unit.PerByte](v T, factor float64) T {
	return T(math.Round(float64(v) / factor))
}

func dividedPieces[T unit.Duration | unit.PerByte](pieces machine.Pieces[T], factor float64) machine.Pieces[T] {
	list := make(machine.Pieces[T], len(pieces))
	for i, p := range pieces {
		list[i] = machine.Piece[T]{From: p.From, Value: divided(p.Value, factor)}
	}
	return list
}
