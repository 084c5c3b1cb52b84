package measure

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"slackline/internal/suggest"
	"slackline/model/unit"
)

// Operation is a collective or one-sided operation that can be measured.
type Operation struct {
	Name    string        // as MPI writes it, or that of an artificial one
	Kind    string        // BlockingOperations and the words after it; empty: artificial
	Sized   bool          // it moves data
	Reduces bool          // numbers of 8 bytes
	Work    time.Duration // of an artificial one: rank r of P takes Work (1 + r/P)
	number  int
}

// Overlaps reports whether the program can compute while the operation goes on.
func (o *Operation) Overlaps() bool {
	return o.Kind == NonblockingOperations || o.Kind == PersistentOperations
}

// blockingNames are the operations in the order of their numbers in the job.
var blockingNames = []string{
	"MPI_Barrier", "MPI_Bcast", "MPI_Reduce", "MPI_Allreduce", "MPI_Gather", "MPI_Gatherv", "MPI_Scatter", "MPI_Scatterv", "MPI_Allgather",
	"MPI_Allgatherv", "MPI_Alltoall", "MPI_Alltoallv", "MPI_Alltoallw", "MPI_Reduce_scatter", "MPI_Reduce_scatter_block", "MPI_Scan",
	"MPI_Exscan",
	"MPI_Neighbor_allgather", "MPI_Neighbor_allgatherv", "MPI_Neighbor_alltoall", "MPI_Neighbor_alltoallv", "MPI_Neighbor_alltoallw",
}

// The numbers in the job of what is not in blockingNames.
const (
	nonblockingNumber = 32
	treeNumber        = 64
	spinNumber        = 65
	sleepNumber       = 66
	persistentNumber  = 96
	oneSidedNumber    = 128
)

// TreeBroadcast is a broadcast of plain messages along a binary tree: if it scales badly, the platform does.
const TreeBroadcast = "bcast_binary_tree"

// One-sided operations are named after what they do and what completes it, and numbered in that order.
var (
	oneSidedNames = []string{"MPI_Put", "MPI_Get", "MPI_Accumulate"}
	oneSidedWays  = []string{"fence", "complete", "unlock", "flush"}
)

// emptyFence is a fence that has nothing to complete.
const emptyFence = "MPI_Win_fence"

// The words for many operations.
const (
	AllOperations         = "all"
	BlockingOperations    = "blocking"
	NonblockingOperations = "nonblocking"
	PersistentOperations  = "persistent"
	OneSidedOperations    = "onesided"
	UsualOperations       = "usual"
)

var operationWords = []string{UsualOperations, AllOperations, BlockingOperations, NonblockingOperations, PersistentOperations,
	OneSidedOperations}

// usualNames are those that most programs call, and the litmus test.
var usualNames = []string{
	"MPI_Barrier", "MPI_Bcast", "MPI_Reduce", "MPI_Allreduce", "MPI_Gather", "MPI_Scatter", "MPI_Allgather", "MPI_Alltoall",
	"MPI_Reduce_scatter", "MPI_Scan", "MPI_Iallreduce", TreeBroadcast,
}

var allOperations = listOperations()

func listOperations() []Operation {
	var list, later, persistent []Operation
	for i, name := range blockingNames {
		o := Operation{Name: name, Kind: BlockingOperations, Sized: name != "MPI_Barrier", number: i}
		o.Reduces = strings.Contains(strings.ToLower(name), "reduce") || strings.HasSuffix(strings.ToLower(name), "scan")
		list = append(list, o)
		plain := strings.TrimPrefix(name, "MPI_")
		o.Name, o.Kind, o.number = "MPI_I"+strings.ToLower(plain[:1])+plain[1:], NonblockingOperations, nonblockingNumber+i
		later = append(later, o)
		o.Name, o.Kind, o.number = name+"_init", PersistentOperations, persistentNumber+i
		persistent = append(persistent, o)
	}
	list = append(slices.Concat(list, later, persistent), Operation{Name: TreeBroadcast, Kind: BlockingOperations, Sized: true,
		number: treeNumber})
	number := oneSidedNumber
	for _, name := range oneSidedNames {
		for _, way := range oneSidedWays {
			list = append(list, Operation{Name: name + "+" + way, Kind: OneSidedOperations, Sized: true, Reduces: name == "MPI_Accumulate",
				number: number})
			number++
		}
	}
	return append(list, Operation{Name: emptyFence, Kind: OneSidedOperations, number: number})
}

// OperationNames are the names that ParseOperations takes.
func OperationNames() []string {
	names := slices.Clone(operationWords)
	for _, o := range allOperations {
		names = append(names, o.Name)
	}
	return names
}

// ParseOperations reads names of operations, with or without MPI_, words for many of them, and artificial ones
// such as spin:200us and sleep:1ms. Each is taken once.
func ParseOperations(names []string) ([]Operation, error) {
	var list []Operation
	for _, name := range names {
		some, err := parseOperation(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		for _, o := range some {
			if !slices.Contains(list, o) {
				list = append(list, o)
			}
		}
	}
	return list, nil
}

func parseOperation(name string) ([]Operation, error) {
	if kind, length, ok := strings.Cut(name, ":"); ok {
		return artificial(name, kind, length)
	}
	var list []Operation
	for _, o := range allOperations {
		var wanted bool
		switch name {
		case AllOperations:
			wanted = true
		case UsualOperations:
			wanted = slices.Contains(usualNames, o.Name)
		default:
			wanted = name == o.Kind || strings.EqualFold(name, o.Name) || strings.EqualFold("MPI_"+name, o.Name)
		}
		if wanted {
			list = append(list, o)
		}
	}
	if len(list) == 0 {
		known := OperationNames()
		for _, o := range allOperations {
			known = append(known, strings.ToLower(strings.TrimPrefix(o.Name, "MPI_")))
		}
		return nil, fmt.Errorf("%q is not an operation that can be measured%s", name, suggest.Phrase(name, known))
	}
	return list, nil
}

const mostWork = time.Second

func artificial(name, kind, length string) ([]Operation, error) {
	number := map[string]int{"spin": spinNumber, "sleep": sleepNumber}[kind]
	if number == 0 {
		return nil, fmt.Errorf("%q is not an artificial operation; write spin:200us or sleep:200us", name)
	}
	d, err := unit.ParseDuration(length)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	work := time.Duration(d / unit.Nanosecond)
	if work < time.Microsecond || work > mostWork {
		return nil, fmt.Errorf("%s: an artificial operation takes 1us to %s", name, mostWork)
	}
	return []Operation{{Name: name, Work: work, number: number}}, nil
}

// True is what an artificial operation takes by a reduction over so many ranks.
func (o *Operation) True(r Reduction, ranks int) (time.Duration, bool) {
	if o.Work == 0 {
		return 0, false
	}
	longest := o.Work + o.Work*time.Duration(ranks-1)/time.Duration(ranks)
	switch r {
	case ByRoot, ByMin:
		return o.Work, true
	case ByMean:
		return (o.Work + longest) / 2, true
	}
	return longest, true
}
