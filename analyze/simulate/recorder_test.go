package simulate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slackline/internal/needed"
	"slackline/model/noise"
	"slackline/model/schedule"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// timeOf returns the time of a point. positions are those of the steps in the noise.
func timeOf(c *Causes, p Point, in *noise.Injection, positions []int64) unit.Duration {
	if p.Edge == FromRunStart {
		return 0
	}
	s := c.Step(int(p.Step))
	switch p.Edge {
	case FromStart:
		return s.Start
	case FromEnd:
		return s.End
	case FromGap:
		cost := c.Cost(s)
		return s.Start + unit.Duration(cost.Gap+cost.Bytes)
	}
	cost := c.Cost(s)
	hint := int32(0)
	left := int64(s.Start) + cost.Overhead
	switch {
	case positions != nil:
		left = in.Advance(int(s.Rank), int64(s.Start), cost.Overhead, &positions[p.Step], &hint)
	case in != nil:
		left = in.Finish(int(s.Rank), int64(s.Start), cost.Overhead, &hint)
	}
	return unit.Duration(left + cost.Latency)
}

// checkCauses returns what is wrong with the causes of a run: each step must begin exactly at the
// time of its cause, and each finish time must be that of its point.
func checkCauses(r *Result, in *noise.Injection) error {
	c := r.Causes
	if int64(c.Len()) != r.Ops {
		return fmt.Errorf("%d steps for %d operations", c.Len(), r.Ops)
	}
	positions := c.Positions(in)
	busy := make(map[[2]int]unit.Duration) // by rank and CPU
	for i := range c.Len() {
		s := c.Step(i)
		if s.Edge != FromRunStart && int(s.Cause) >= i {
			return fmt.Errorf("step %d %+v: the cause comes later", i, *s)
		}
		if at := timeOf(c, s.Because(), in, slices.Clone(positions)); at != s.Start {
			return fmt.Errorf("step %d %+v: the time of its cause is %d", i, *s, at)
		}
		place := [2]int{int(s.Rank), int(s.CPU)}
		if s.Start < busy[place] {
			return fmt.Errorf("step %d %+v: the CPU is busy until %d", i, *s, busy[place])
		}
		busy[place] = s.End
		if s.Kind == timeline.Receive && c.Step(int(s.Of)).Kind != timeline.Send {
			return fmt.Errorf("step %d %+v: step %d is no send", i, *s, s.Of)
		}
	}
	for rank, p := range c.Finish {
		if at := timeOf(c, p, in, slices.Clone(positions)); at != r.Finish[rank] {
			return fmt.Errorf("finish of rank %d = %d, want %d", rank, at, r.Finish[rank])
		}
	}
	return nil
}

// Every step of a random program begins when its cause says, to the picosecond.
func TestCausesAreExact(t *testing.T) {
	count := 1200
	if testing.Short() {
		count = 200
	}
	random := rand.New(rand.NewPCG(11, 5))
	ran := make(map[caseKind]int)
	edges := make(map[Edge]int)
	for range count {
		kind := caseKind(random.IntN(int(numCaseKinds)))
		c := randomCase(random, kind)
		in, err := c.noise.injection()
		if err != nil {
			t.Fatal(err)
		}
		plain, plainErr := Run(context.Background(), c.graph(), c.machine, Options{Noise: in})
		r, err := Run(context.Background(), c.graph(), c.machine, Options{Noise: in, Causes: true, Detail: true})
		if (err == nil) != (plainErr == nil) {
			t.Fatalf("with causes: %v, without: %v\n%s", err, plainErr, &c)
		}
		if err != nil {
			continue
		}
		ran[kind]++
		if !slices.Equal(r.Finish, plain.Finish) {
			t.Fatalf("finish = %v, want %v\n%s", r.Finish, plain.Finish, &c)
		}
		if err := checkCauses(r, in); err != nil {
			t.Fatalf("%v\n%s", err, &c)
		}
		for i := range r.Causes.Len() {
			edges[r.Causes.Step(i).Edge]++
		}
	}
	for kind := range numCaseKinds {
		if ran[kind] == 0 {
			t.Errorf("no case of the kind %v ended", kind)
		}
	}
	for edge := FromRunStart; edge <= FromMessage; edge++ {
		if edges[edge] == 0 {
			t.Errorf("no step began by edge %d", edge)
		}
	}
}

// The causes of a large message, worked by hand: the sender goes on when its receiver posts.
func TestCausesOfRelease(t *testing.T) {
	build := schedule.NewBuilder(2)
	var b schedule.Block
	b.Add(schedule.Op{Kind: schedule.Send, Peer: 1, Size: 70000})
	build.Add(0, &b)
	b.Reset()
	b.Add(schedule.Op{Kind: schedule.Calc, Size: 7000})
	build.Add(0, &b)
	b.Reset()
	b.Add(schedule.Op{Kind: schedule.Calc, Size: 500000000})
	build.Add(1, &b)
	b.Reset()
	b.Add(schedule.Op{Kind: schedule.Recv, Peer: 0})
	build.Add(1, &b)
	m := vectorDefaults()
	r, err := Run(context.Background(), build.Graph(), m.machine, Options{Causes: true})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range r.Causes.Len() {
		s := r.Causes.Step(i)
		got = append(got, fmt.Sprintf("%d: rank %d kind %d %d..%d because %v", i, s.Rank, s.Kind, s.Start, s.End, s.Because()))
	}
	want := []string{
		"0: rank 0 kind 1 0..1500000 because {0 0}",
		"1: rank 1 kind 0 0..500000000 because {0 0}",
		"2: rank 1 kind 2 500000000..921494000 because {1 2}",
		"3: rank 0 kind 0 500000000..500007000 because {2 1}",
	}
	if !slices.Equal(got, want) {
		t.Errorf("steps:\n%q, want\n%q", got, want)
	}
}

// Both engines record the same timeline, and causes that are exact.
func TestRecordsOfBothEngines(t *testing.T) {
	needed.Full(t, "long runs")
	random := rand.New(rand.NewPCG(7, 1))
	compared := 0
	for range 600 {
		c := randomCase(random, caseKind(random.IntN(int(kindBroken))))
		in, err := c.noise.injection()
		if err != nil {
			t.Fatal(err)
		}
		o := Options{Noise: in, Causes: true, Detail: true, Threads: 4}
		event, err := runWith(context.Background(), c.graph(), c.machine, o, engineEvent)
		if err != nil {
			continue
		}
		window, err := runWith(context.Background(), c.graph(), c.machine, o, engineWindow)
		if errors.Is(err, errNotApplicable) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		compared++
		if diff := cmp.Diff(event.Detail, window.Detail); diff != "" {
			t.Fatalf("timelines of event and window engine:\n%s\n%s", diff, &c)
		}
		for _, r := range []*Result{event, window} {
			if err := checkCauses(r, in); err != nil {
				t.Fatalf("%s: %v\n%s", r.Engine, err, &c)
			}
		}
	}
	if compared < 100 {
		t.Errorf("only %d cases compared", compared)
	}
}
