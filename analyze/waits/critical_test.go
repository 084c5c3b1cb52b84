package waits

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slackline/model/timeline"
	"slackline/model/unit"
)

func TestCriticalPathOfFigure3(t *testing.T) {
	r := analyze(t, figure3(), 1)
	c := r.CriticalPath()
	var got []string
	for _, s := range c.Segments {
		got = append(got, fmt.Sprintf("%d %v..%v %s", s.Location, s.From, s.To, s.Metric))
	}
	for _, s := range c.Shares {
		got = append(got, fmt.Sprintf("rank %d %s %v", s.Rank, r.Paths.Names[s.Path], s.Time))
	}
	for _, p := range c.Paths {
		got = append(got, fmt.Sprintf("%s %v average %v imbalance %v", r.Paths.Names[p.Path], p.Time, p.Average, p.Imbalance))
	}
	want := []string{
		"0 0..6s none", "1 6s..8s late_sender",
		"rank 0 main/MPI_Send 1s", "rank 0 main/f 2s", "rank 0 main/g 3s", "rank 1 main/MPI_Recv 1s", "rank 1 main/MPI_Send 1s",
		"main/MPI_Recv 1s average 1.333333333333s imbalance 0",
		"main/MPI_Send 2s average 1.333333333333s imbalance 666.666666667ms",
		"main/f 2s average 1.666666666666s imbalance 333.333333334ms",
		"main/g 3s average 1.333333333333s imbalance 1.666666666667s",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("critical path (-want +got):\n%s", diff)
	}
}

// TestCriticalPathBeforeARankBegins has the path of a part of a run that ends before the first rank begins.
func TestCriticalPathBeforeARankBegins(t *testing.T) {
	b := timeline.NewBuilder(2)
	main := b.Region(timeline.Region{Name: "main"})
	for rank, from := range []unit.Duration{50, 0} {
		l := b.Location(rank, 0, "", "")
		l.Enter(from, main)
		l.Leave(100)
	}
	tl := b.Finish(1)
	for _, end := range []unit.Duration{40, 50} {
		if c := analyze(t, tl.Window(0, end, 1), 1).CriticalPath(); c.Length != end || c.Missing != 0 {
			t.Errorf("until %v: the critical path takes %v, without %v before it", end, c.Length, c.Missing)
		}
	}
}

// TestCriticalPathIsTheRunTime checks that the segments follow each other without gaps from the first
// event of a rank to the last event of the run.
func TestCriticalPathIsTheRunTime(t *testing.T) {
	for seed := range runs() {
		r := analyze(t, sharedBuilder(seed).Finish(1), 1)
		c := r.CriticalPath()
		sum := c.Missing
		if len(c.Segments) > 0 {
			s := c.Segments[0] // after a wait state, the clocks are wrong: the path would go on before its location began
			if s.Metric == None && s.From > r.Timeline.Locations[r.a.masters[s.Rank]].First || c.Segments[len(c.Segments)-1].To != r.Timeline.End {
				t.Fatalf("seed %d: the path goes from %v to %v, want from where a rank begins to the end", seed, s.From,
					c.Segments[len(c.Segments)-1].To)
			}
		}
		for i, s := range c.Segments {
			if s.To <= s.From || i > 0 && s.From != c.Segments[i-1].To {
				t.Fatalf("seed %d: segment %d is %v..%v", seed, i, s.From, s.To)
			}
			sum += s.To - s.From
		}
		var shares unit.Duration
		for _, s := range c.Shares {
			shares += s.Time
		}
		if sum != r.Timeline.End-r.Timeline.Start || shares != c.Length || c.Length > sum-c.Missing || seed%2 == 0 && c.Length < sum-c.Missing {
			t.Fatalf("seed %d: critical path of %v with shares of %v, want the run time %v", seed, sum, shares, r.Timeline.End-r.Timeline.Start)
		}
	}
}
