package collective

import (
	"fmt"
	"slices"
	"strings"

	"slackline/internal/suggest"
	"slackline/model/schedule"
)

// registry lists all algorithms: by operation, the usual one first.
var registry = []*Algorithm{
	&barrierDissemination,
	&barrierRecursiveDoubling,
	&barrierBinomial,
	&barrierLinear,

	&bcastBinomial,
	&bcastKnomial,
	&bcastBinary,
	&bcastBinaryPipelined,
	&bcastChain,
	&bcastScatterAllgather,
	&bcastScatterRecursiveDoubling,
	&bcastLinear,
	&bcastNCCLRing,

	&reduceBinomial,
	&reduceKnomial,
	&reduceBinary,
	&reduceBinaryPipelined,
	&reduceChain,
	&reduceRabenseifner,
	&reduceLinear,
	&reduceNCCLRing,

	&allreduceDissemination,
	&allreduceRecursiveDoubling,
	&allreduceRabenseifner,
	&allreduceRing,
	&allreduceReduceBcast,
	&allreduceNCCL,
	&allreduceNCCLRing,
	&allreduceNCCLTree,

	&gatherBinomial,
	&gatherLinear,

	&scatterBinomial,
	&scatterLinear,

	&allgatherBruck,
	&allgatherRecursiveDoubling,
	&allgatherRing,
	&allgatherNeighborExchange,
	&allgatherDissemination,
	&allgatherNCCLRing,

	&alltoallBruck,
	&alltoallPairwise,
	&alltoallLinear,
	&alltoallDissemination,

	&reduceScatterRecursiveHalving,
	&reduceScatterPairwise,
	&reduceScatterRing,
	&reduceScatterByReduce,
	&reduceScatterNCCLRing,

	&scanRecursiveDoubling,
	&scanLinear,

	&exscanRecursiveDoubling,
	&exscanLinear,

	&neighborAllgatherLinear,
	&neighborAlltoallLinear,
}

// All returns all algorithms, by operation.
func All() []*Algorithm { return slices.Clone(registry) }

// Algorithms returns the algorithms of an operation.
func Algorithms(op schedule.Operation) []*Algorithm {
	var list []*Algorithm
	for _, a := range registry {
		if a.Op == op {
			list = append(list, a)
		}
	}
	return list
}

// lookup returns the algorithm of an operation with the given name.
func lookup(op schedule.Operation, name string) (*Algorithm, error) {
	for _, a := range registry {
		if a.Op == op && a.Name == name {
			return a, nil
		}
	}
	var names []string
	for _, a := range Algorithms(op) {
		names = append(names, a.Name)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("there is no collective operation %s", op)
	}
	return nil, fmt.Errorf("%s has no algorithm %q%s (known: %s)",
		op, name, suggest.Phrase(name, names), strings.Join(names, ", "))
}

// lookupOperation returns the operation with the given name, e.g. "allreduce".
func lookupOperation(name string) (schedule.Operation, error) {
	var names []string
	for _, op := range schedule.Operations() {
		if op.String() == name {
			return op, nil
		}
		names = append(names, op.String())
	}
	return 0, fmt.Errorf("there is no collective operation %q%s (known: %s)",
		name, suggest.Phrase(name, names), strings.Join(names, ", "))
}
