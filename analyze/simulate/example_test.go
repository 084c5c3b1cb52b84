package simulate_test

import (
	"context"
	"fmt"

	"slackline/analyze/simulate"
	"slackline/model/machine"
	"slackline/model/pattern"
)

// A binomial broadcast to eight ranks: the finish time of each.
func ExampleRun() {
	p, err := pattern.New("bcast", pattern.Params{Ranks: 8, Size: 1, Algorithm: "binomial"})
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := machine.Named("chic")
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := simulate.Run(context.Background(), p, m, simulate.Options{Breakdown: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("makespan", r.Makespan, "with", r.Messages, "messages")
	fmt.Println("rank 7 finishes at", r.Finish[7], "and waits for", r.Ranks[7].Waiting)
	// Output:
	// makespan 20.61us with 7 messages
	// rank 7 finishes at 20.61us and waits for 19.84us
}
