package tolerance_test

import (
	"fmt"

	"slackline/analyze/tolerance"
	"slackline/model/machine"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// The worked example of the LLAMP paper: T = max(L + 1.115 us, 1.5 us), so the slope changes at L = 0.385 us.
func ExampleSchedule_Ask() {
	g, err := schedule.Read("example.goal", []byte(`num_ranks 2
rank 0 {
	a: calc 100
	b: send 4b to 1
	c: calc 1000
	b requires a
	c requires b
}
rank 1 {
	a: calc 500
	b: recv 4b from 0
	c: calc 1000
	b requires a
	c requires b
}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := tolerance.Prepare(g, nil, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	m := machine.FromParams("example", machine.Params{
		Latency: 500 * unit.Nanosecond, Overhead: machine.One(unit.Duration(0)),
		PerByte: machine.One(unit.PerByte(5_000_000)), Eager: machine.NoLimit,
	})
	layout, err := m.Layout(2)
	if err != nil {
		fmt.Println(err)
		return
	}
	limit := 2 * unit.Microsecond
	answers, err := s.Ask(tolerance.Network{Layout: layout}, tolerance.Question{
		Limit: &limit, Range: &[2]int64{0, int64(unit.Microsecond)},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("T =", answers.T, "with", answers.Lambda.L, "latency on the critical path")
	fmt.Println("the slope changes at L =", unit.Duration(answers.Breakpoints[0].X.Whole))
	fmt.Println("T is at most 2us up to L =", unit.Duration(answers.Limit.X))
	// Output:
	// T = 1.615us with 1 latency on the critical path
	// the slope changes at L = 385ns
	// T is at most 2us up to L = 885ns
}
