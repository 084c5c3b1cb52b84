package whatif_test

import (
	"context"
	"fmt"

	"slackline/analyze/whatif"
	"slackline/model/machine"
	"slackline/model/noise"
	"slackline/model/pattern"
	"slackline/model/schedule"
)

// Twenty replicas of a barrier under noise, at two process counts.
func ExampleSeries_Run() {
	m, err := machine.Named("chic")
	if err != nil {
		fmt.Println(err)
		return
	}
	profile, err := noise.Find("1000Hz:100us")
	if err != nil {
		fmt.Println(err)
		return
	}
	series := whatif.Series{
		Counts: []int{16, 256},
		Program: func(ranks int) (schedule.Program, error) {
			return pattern.New("dissemination", pattern.Params{Ranks: ranks, Size: 1})
		},
		Machine:  m,
		Noise:    whatif.Noise{Profile: profile, Seed: 1},
		Replicas: 20,
	}
	points, err := series.Run(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range points {
		d := p.Distribution()
		fmt.Printf("%d ranks: %v without noise, median slowdown %.2f\n", d.Ranks, d.Noiseless, d.Slowdown.Median)
	}
	// Output:
	// 16 ranks: 27.48us without noise, median slowdown 3.58
	// 256 ranks: 54.96us without noise, median slowdown 6.29
}

// Half of the computation of a call path, on all ranks.
func ExampleApply() {
	p, err := pattern.New("sweep3d", pattern.Params{Ranks: 4, Iterations: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	change, err := whatif.ParseChange("sweep3d=-50%")
	if err != nil {
		panic(err)
	}
	_, changed, err := whatif.Apply(p, []whatif.Change{change})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(changed[0].Before, "to", changed[0].After, "on", changed[0].Ranks, "ranks")
	// Output:
	// 84.878346271s to 42.4391731355s on 4 ranks
}
