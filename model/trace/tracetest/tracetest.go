// Package tracetest has runs that are written as text, for tests of what is made of them.
package tracetest

import (
	"testing"
	"testing/fstest"

	"slackline/model/timeline"
	"slackline/model/trace"
)

// LateSender is a run of 40 us: rank 0 solves for 28 us and sends, rank 1 solves for 8 us and waits for the message from 10 to 30 us.
const LateSender = `slackline trace 1
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
`

// Open opens a run.
func Open(tb testing.TB, text string) *trace.Trace {
	tb.Helper()
	t, err := trace.Open(fstest.MapFS{"run.txt": {Data: []byte(text)}}, "run.txt", trace.Options{})
	if err != nil {
		tb.Fatalf("%v in\n%s", err, text)
	}
	return t
}

// Timeline reads a run.
func Timeline(tb testing.TB, text string) *timeline.Timeline {
	tb.Helper()
	tl, err := trace.ToTimeline(Open(tb, text), trace.TimelineOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	return tl
}
