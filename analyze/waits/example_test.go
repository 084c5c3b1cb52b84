package waits_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"slackline/analyze/waits"
	"slackline/model/trace"
)

// Rank 0 computes longer than rank 1, which waits in its receive.
func ExampleAnalyze() {
	files := fstest.MapFS{"run.txt": {Data: []byte(`slackline trace 1
unit us
rank 0
0 main {
  0..2   MPI_Barrier: barrier
  2..30  solve
  30..32 MPI_Send: send to 1 size 8
} 40
rank 1
0 main {
  0..2   MPI_Barrier: barrier
  2..10  solve
  10..33 MPI_Recv: recv from 0 size 8
} 40
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
	r, err := waits.Analyze(context.Background(), tl, waits.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, w := range r.Waits {
		fmt.Println("rank", w.Rank, "waits", w.Amount, "in", r.Paths.Names[w.Path], w.Metric)
	}
	for _, d := range r.Delays {
		fmt.Println("rank", d.Rank, "costs", d.Sum(), "by", r.Paths.Names[d.Path])
	}
	// Output:
	// rank 1 waits 20us in main/MPI_Recv late_sender
	// rank 0 costs 20us by main/solve
}
