package trace_test

import (
	"fmt"
	"testing/fstest"

	"slackline/model/trace"
)

// A trace is opened in any format, and becomes a timeline: calls, and messages with both ends.
func Example() {
	files := fstest.MapFS{"run.txt": {Data: []byte(`slackline trace 1
unit us
rank 0
0 main {
  0..30  compute
  30..32 MPI_Send: send to 1 size 8
} 40
rank 1
0 main {
  0..10  compute
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
	m := tl.Messages[0]
	fmt.Println(t.Format, tl.Ranks, "ranks, until", tl.End)
	fmt.Println(m.Size, "bytes, sent at", m.Sent, "received at", m.Received)
	// Output:
	// trace-text 2 ranks, until 40us
	// 8 bytes, sent at 30us received at 33us
}
