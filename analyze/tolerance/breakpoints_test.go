package tolerance

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slackline/model/schedule"
)

// TestBreakpointsEffort finds the breakpoints of larger schedules in all ways, which must agree. The
// one that evaluates the whole graph at each crossing is taken as right.
func TestBreakpointsEffort(t *testing.T) {
	never := int64(1) << 40
	efforts := []effort{
		usualEffort,
		{samples: 1000, part: 1 << 30, table: never, halves: never},        // many samples
		{samples: 2, part: 1, table: never, halves: never},                 // tables for long intervals
		{samples: 2, part: 1, table: never, halves: 0},                     // tables that meet
		{samples: 2, part: 1, table: 0, small: 0, halves: never, edges: 0}, // cut to the end
		{samples: 2, part: 1, table: 4, small: 16, halves: 0, edges: 10},
		{samples: 30, part: 4, table: 0, small: 0, halves: never, edges: 1 << 30}, // one by one
	}
	for _, tc := range []struct {
		name  string
		graph *schedule.Graph
	}{
		{"ring", ringGraph(8, 60)},
		{"halo", haloGraph(4, 40)},
		{"random", randomGraph(8, 4000)},
	} {
		for parameter, to := range []int64{100_000_000, 100_000_000, 5_000_000} { // L, G, o
			t.Run(fmt.Sprintf("%s/%v", tc.name, Parameter(parameter)), func(t *testing.T) {
				s, err := Prepare(tc.graph, nil, 0)
				if err != nil {
					t.Fatal(err)
				}
				g, err := s.Build(network(t, s, benchParams()), Variable{Parameter: Parameter(parameter)})
				if err != nil {
					t.Fatal(err)
				}
				want := newFinder(g)
				want.whole(0, to)
				if len(want.found) == 0 {
					t.Error("no breakpoints")
				}
				for _, e := range efforts {
					f := newFinder(g)
					f.effort = e
					f.sample(0, to)
					f.join()
					if diff := cmp.Diff(want.found, f.found); diff != "" {
						t.Fatalf("%+v (-want +got):\n%s", e, diff)
					}
				}
			})
		}
	}
}
