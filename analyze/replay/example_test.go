package replay_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"slackline/analyze/replay"
	"slackline/analyze/simulate"
	"slackline/model/machine"
	"slackline/model/trace"
)

// A recorded run of two ranks becomes a schedule, is extrapolated to 64 ranks and simulated on another machine.
func ExampleNew() {
	files := fstest.MapFS{"run.txt": {Data: []byte(`slackline trace 1
unit us
rank 0
0..30  solve
30..40 MPI_Allreduce: allreduce sent 8 received 8
rank 1
0..10  solve
10..40 MPI_Allreduce: allreduce sent 8 received 8
`)}}
	t, err := trace.Open(files, "run.txt", trace.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	tl, err := trace.ToTimeline(t, trace.TimelineOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := replay.New(tl, replay.Options{Ranks: 64})
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := machine.Named("chic")
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := simulate.Run(context.Background(), p, m, simulate.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Ranks(), "ranks,", r.Messages, "messages,", r.Makespan)
	// Output:
	// 64 ranks, 384 messages, 71.2725us
}
