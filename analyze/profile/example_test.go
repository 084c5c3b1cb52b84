package profile_test

import (
	"fmt"
	"testing/fstest"

	"slackline/analyze/profile"
	"slackline/model/trace"
)

// Time by call path, and the load balance of a run in which rank 0 computes three times as long as rank 1.
func ExampleNew() {
	files := fstest.MapFS{"run.txt": {Data: []byte(`slackline trace 1
unit us
rank 0
0..30  solve
30..40 MPI_Barrier: barrier
rank 1
0..10  solve
10..40 MPI_Barrier: barrier
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
	p, err := profile.New(tl, profile.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range p.ByPath {
		fmt.Println(p.Paths.Names[e.Path], e.Visits, "visits", e.Exclusive)
	}
	e := p.Efficiency(0, nil)
	fmt.Printf("parallel efficiency %.2f, load balance %.2f\n", e.Parallel, e.LoadBalance)
	// Output:
	// MPI_Barrier 2 visits 40us
	// solve 2 visits 40us
	// parallel efficiency 0.50, load balance 0.67
}
