package collective_test

import (
	"fmt"

	"slackline/model/collective"
	"slackline/model/pattern"
	"slackline/model/schedule"
)

// A mapping selects the algorithm by operation, size and number of ranks.
func ExampleMapping_Choose() {
	mapping, err := collective.NamedMapping("mpich")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, size := range []int64{8, 1 << 20} {
		instance, err := mapping.Choose(&schedule.Call{Op: schedule.Allreduce, Size: size}, 64)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(size, "bytes:", instance.Algorithm.Name)
	}
	// Output:
	// 8 bytes: recursive-doubling
	// 1048576 bytes: rabenseifner
}

// Expand turns the collectives of a program into messages: a binomial broadcast from rank 0.
func ExampleExpand() {
	p, err := pattern.New("bcast", pattern.Params{Ranks: 4, Size: 8, Algorithm: "binomial"})
	if err != nil {
		fmt.Println(err)
		return
	}
	g := schedule.Materialize(collective.Expand(p, collective.DefaultMapping(), 0))
	for rank := range g.Ranks() {
		for _, op := range g.RankOps(rank) {
			fmt.Println("rank", rank, op.Kind, op.Peer)
		}
	}
	// Output:
	// rank 0 send 2
	// rank 0 send 1
	// rank 1 recv 0
	// rank 2 recv 0
	// rank 2 send 3
	// rank 3 recv 2
}
