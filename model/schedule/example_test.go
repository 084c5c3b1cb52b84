package schedule_test

import (
	"fmt"
	"os"

	"slackline/model/schedule"
)

// A GOAL file is read, checked and its messages are matched.
func ExampleRead() {
	g, err := schedule.Read("ping.goal", []byte(`
num_ranks 2
rank 0 {
	a: calc 1000
	b: send 8b to 1
	b requires a
}
rank 1 {
	recv 8b from 0
}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := schedule.Match(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g.Ranks(), "ranks,", g.NumOps(), "operations,", m.Messages, "message")
	// Output: 2 ranks, 3 operations, 1 message
}

// Programs can be composed: here a schedule is repeated and written as GOAL.
func ExampleRepeat() {
	g, err := schedule.Read("tick.goal", []byte("num_ranks 1\nrank 0 {\ncalc 5\n}\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := schedule.Repeat(g, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := schedule.WriteGOAL(os.Stdout, schedule.Materialize(schedule.Blocks(p))); err != nil {
		fmt.Println(err)
	}
	// Output:
	// num_ranks 1
	//
	// rank 0 {
	// l0: calc 5
	// l1: calc 5
	// l1 requires l0
	// }
}
