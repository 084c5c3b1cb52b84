package simulate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slackline/model/noise"
	"slackline/model/pattern"
	"slackline/model/schedule"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// callText lists the calls of a rank with their times in ns.
func callText(t *timeline.Timeline, rank int) string {
	var out []string
	l := &t.Locations[rank]
	for i := range l.Calls.Len() {
		out = append(out, fmt.Sprintf("%s %d %d", t.PathName(l.Calls.Path[i]),
			l.Calls.Enter[i]/unit.Nanosecond, l.Calls.Leave[i]/unit.Nanosecond))
	}
	return strings.Join(out, "\n")
}

func expectCalls(t *testing.T, got *timeline.Timeline, rank int, want string) {
	t.Helper()
	var lines []string
	for line := range strings.Lines(want) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	if got, want := callText(got, rank), strings.Join(lines, "\n"); got != want {
		t.Errorf("rank %d:\n%s\nwant:\n%s", rank, got, want)
	}
}

func readGoal(t *testing.T, text string) *schedule.Graph {
	t.Helper()
	g, err := schedule.Read("test.goal", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// checkCallsOf returns what is wrong with the calls of a run: every moment up to the finish of a rank is
// in one of them, they are inside of each other, everything found its partner, and what noise took is
// there.
func checkCallsOf(r *Result) error {
	t := r.Calls
	p := &t.Problems
	odd := func(note string) bool { return !strings.Contains(note, "messages larger than what was received") } // by the schedule
	if p.UnmatchedSends+p.UnmatchedReceives+p.IncompleteCollectives+p.PendingRequests+p.Violations+p.EarlyCollectives+p.Unbalanced > 0 ||
		slices.ContainsFunc(p.Notes, odd) {
		return fmt.Errorf("problems: %+v", *p)
	}
	for rank := range t.Locations {
		l := &t.Locations[rank]
		c := &l.Calls
		top, lost := unit.Duration(0), unit.Duration(0)
		now := unit.Duration(0)
		for i := range int32(c.Len()) {
			if c.Enter[i] > c.Leave[i] {
				return fmt.Errorf("rank %d: call %d ends before it begins", rank, i)
			}
			for k := i + 1; k < c.Skip[i]; k++ {
				if c.Enter[k] < c.Enter[i] || c.Leave[k] > c.Leave[i] {
					return fmt.Errorf("rank %d: call %d is not inside of call %d", rank, k, i)
				}
			}
			path := &t.Paths[c.Path[i]]
			if path.Depth == 1 {
				if c.Enter[i] != now {
					return fmt.Errorf("rank %d: nothing from %s to %s\n%s", rank, now, c.Enter[i], callText(t, rank))
				}
				top += c.Leave[i] - c.Enter[i]
				now = c.Leave[i]
			}
			if t.Regions[path.Region].Paradigm == timeline.Noise {
				lost += c.Leave[i] - c.Enter[i]
			}
		}
		if top != r.Finish[rank] {
			return fmt.Errorf("rank %d: calls take %s, but it finishes at %s\n%s", rank, top, r.Finish[rank], callText(t, rank))
		}
		if r.Ranks != nil && lost != r.Ranks[rank].Noise {
			return fmt.Errorf("rank %d: noise took %s, want %s\n%s", rank, lost, r.Ranks[rank].Noise, callText(t, rank))
		}
	}
	return nil
}

// A program in the manner of figure 3 of the paper on wait states: A computes f and g, B waits for
// it, C waits for B.
func TestCallsOfLateSenders(t *testing.T) {
	build := schedule.NewBuilder(3)
	origins := []schedule.Origin{{}, {Path: []string{"main", "f"}}, {Path: []string{"main", "g"}},
		{Path: []string{"main"}, Call: "MPI_Send"}, {Path: []string{"main"}, Call: "MPI_Recv"}}
	build.SetOrigins(origins)
	add := func(rank int, op schedule.Op) {
		var b schedule.Block
		b.Add(op)
		build.Add(rank, &b)
	}
	calc := func(ns int64, origin uint32) schedule.Op {
		return schedule.Op{Kind: schedule.Calc, Size: ns * 1000, Origin: origin}
	}
	add(0, calc(3000, 1))
	add(0, calc(9000, 2))
	add(0, schedule.Op{Kind: schedule.Send, Peer: 1, Size: 1, Origin: 3})
	add(1, calc(4000, 1))
	add(1, schedule.Op{Kind: schedule.Recv, Peer: 0, Origin: 4})
	add(1, calc(1000, 2))
	add(1, schedule.Op{Kind: schedule.Send, Peer: 2, Size: 1, Origin: 3})
	add(2, calc(2000, 1))
	add(2, schedule.Op{Kind: schedule.Recv, Peer: schedule.AnySource, Tag: schedule.AnyTag, Origin: 4})
	r, err := Run(t.Context(), build.Graph(), vectorDefaults().machine, Options{Calls: true, Breakdown: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := checkCallsOf(r); err != nil {
		t.Error(err)
	}
	expectCalls(t, r.Calls, 0, `
		main 0 13500
		main/f 0 3000
		main/g 3000 12000
		main/MPI_Send 12000 13500`)
	expectCalls(t, r.Calls, 1, `
		main 0 20000
		main/f 0 4000
		main/MPI_Recv 4000 17500
		main/g 17500 18500
		main/MPI_Send 18500 20000`)
	expectCalls(t, r.Calls, 2, `
		main 0 24000
		main/f 0 2000
		main/MPI_Recv 2000 24000`)
	if len(r.Calls.Messages) != 2 || !r.Calls.Simulated {
		t.Errorf("%d messages, want 2", len(r.Calls.Messages))
	}
}

// Requests without names: a call begins, another one waits where something requires it, or at the end
// of the block.
func TestCallsOfRequests(t *testing.T) {
	g := readGoal(t, `num_ranks 2
rank 0 {
  r: recv 8b from 1
  s: send 8b to 1
  s irequires r
  c: calc 9000
  c irequires s
  d: calc 100
  d requires c
  d requires r
}
rank 1 {
  c: calc 50000
  s: send 8b to 0
  s requires c
  r: recv 8b from 0
  r requires s
}`)
	r, err := Run(t.Context(), g, vectorDefaults().machine, Options{Calls: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := checkCallsOf(r); err != nil {
		t.Error(err)
	}
	expectCalls(t, r.Calls, 0, `
		MPI_Irecv 0 0
		MPI_Isend 0 1500
		compute 1500 10500
		MPI_Wait 10500 55542
		compute 55542 55642
		MPI_Wait 55642 55642`)
	expectCalls(t, r.Calls, 1, `
		compute 0 50000
		MPI_Send 50000 51500
		MPI_Recv 51500 53042`)
	for i, m := range r.Calls.Messages {
		if m.Post == m.Recv != (m.To == 1) || m.Send == m.SendDone != (m.From == 1) {
			t.Errorf("message %d: %+v", i, m)
		}
	}
}

// What a replayed run says with computations of length 0, and what noise takes.
func TestCallsOfReplay(t *testing.T) {
	build := schedule.NewBuilder(2)
	build.SetOrigins([]schedule.Origin{{}, {Path: []string{"main", "f"}},
		{Path: []string{"main"}, Call: "MPI_Irecv"}, {Path: []string{"main"}, Call: "MPI_Isend"}, {Path: []string{"main"}, Call: "MPI_Waitall"},
		{Path: []string{"main"}, Call: "MPI_Iallreduce"}, {Path: []string{"main"}, Call: "MPI_File_write"},
		{Path: []string{"main"}, Call: "MPI_Finalize"}})
	var b schedule.Block
	for rank := range 2 {
		b.Reset()
		b.Add(schedule.Op{Kind: schedule.Recv, Peer: int32(1 - rank), Origin: 2})
		b.Add(schedule.Op{Kind: schedule.Send, Peer: int32(1 - rank), Size: 1, Origin: 3})
		b.Ops[b.Call(schedule.Call{Op: schedule.Allreduce, Size: 8, Tag: 1})].Origin = 5
		b.Add(schedule.Op{Kind: schedule.Calc, Size: 20_000_000, Origin: 1})
		b.Add(schedule.Op{Kind: schedule.Calc, Origin: 4})
		b.RequireStart(1, 0)
		b.RequireStart(2, 1)
		b.RequireStart(3, 2)
		for _, on := range []int{0, 1, 2, 3} {
			b.Require(4, on)
		}
		b.Link()
		build.Add(rank, &b)
		for _, op := range []schedule.Op{
			{Kind: schedule.Calc, Size: 5_000_000 * int64(1+2*rank), Origin: 6},
			{Kind: schedule.Calc, Origin: 7},
		} {
			b.Reset()
			b.Add(op)
			build.Add(rank, &b)
		}
	}
	in, err := noise.NewInjection(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := in.Delay(0, 10_000_000, 7_000_000); err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), build.Graph(), vectorDefaults().machine, Options{Calls: true, Breakdown: true, Noise: in})
	if err != nil {
		t.Fatal(err)
	}
	expectCalls(t, r.Calls, 0, `
		main 0 41042
		main/MPI_Irecv 0 0
		main/MPI_Isend 0 1500
		main/MPI_Iallreduce 1500 3000
		main/f 3000 30000
		main/f/[noise] 23000 30000
		main/MPI_Waitall 30000 33042
		main/MPI_File_write 33042 38042
		main/MPI_Finalize 38042 41042`)
	if len(r.Calls.Messages) != 2 || len(r.Calls.Collectives) != 1 {
		t.Errorf("%d messages and %d collectives", len(r.Calls.Messages), len(r.Calls.Collectives))
	}
	c := &r.Calls.Locations[0].Calls
	m := &r.Calls.Members[0]
	if enter := c.Enter[m.Issue]; enter != 1500*unit.Nanosecond || c.Enter[m.Complete] != 30*unit.Microsecond {
		t.Errorf("the collective is issued at %s and completed in a call at %s", enter, c.Enter[m.Complete])
	}
}

// Calls of random programs, with and without noise, by both engines.
func TestCallsOfRandomPrograms(t *testing.T) {
	count := 1500
	if testing.Short() {
		count = 300
	}
	random := rand.New(rand.NewPCG(5, 8))
	compared := 0
	for range count {
		c := randomCase(random, caseKind(random.IntN(int(numCaseKinds))))
		in, err := c.noise.injection()
		if err != nil {
			t.Fatal(err)
		}
		o := Options{Noise: in, Calls: true, Breakdown: true, Threads: 3}
		r, err := runWith(context.Background(), c.graph(), c.machine, o, engineEvent)
		if err != nil {
			continue
		}
		if err := checkCallsOf(r); err != nil {
			t.Fatalf("%v\n%s", err, &c)
		}
		if n := int64(len(r.Calls.Messages)); n != r.Messages {
			t.Fatalf("%d messages, want %d\n%s", n, r.Messages, &c)
		}
		window, err := runWith(context.Background(), c.graph(), c.machine, o, engineWindow)
		if errors.Is(err, errNotApplicable) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		compared++
		if diff := cmp.Diff(r.Calls.Locations, window.Calls.Locations); diff != "" {
			t.Fatalf("calls of event and window engine:\n%s\n%s", diff, &c)
		}
	}
	if compared < count/10 {
		t.Errorf("only %d cases compared", compared)
	}
}

// Calls of all patterns: the collectives are instances, their messages are not shown.
func TestCallsOfPatterns(t *testing.T) {
	trace, err := noise.NewDetours(int64(100*unit.Microsecond), []noise.Detour{{Start: 0, Length: int64(10 * unit.Microsecond)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range pattern.List() {
		t.Run(info.Name, func(t *testing.T) {
			p, err := pattern.New(info.Name, pattern.Params{Ranks: 12, Iterations: 2})
			if err != nil {
				t.Fatal(err)
			}
			m := vectorDefaults().machine
			for _, o := range []Options{{}, {Breakdown: true}, {Model: LogGPS}} {
				o.Calls = true
				if o.Breakdown {
					if o.Noise, err = noise.NewInjection(trace, make([]int64, 12)); err != nil {
						t.Fatal(err)
					}
				}
				r, err := Run(t.Context(), p, m, o)
				if err != nil {
					t.Fatal(err)
				}
				if err := checkCallsOf(r); err != nil {
					t.Fatal(err)
				}
				if int64(len(r.Calls.Messages)) > r.Messages {
					t.Errorf("%d messages of %d", len(r.Calls.Messages), r.Messages)
				}
				if info.Kind == pattern.Collective && (len(r.Calls.Collectives) == 0 || len(r.Calls.Messages) > 0) {
					t.Errorf("%d collectives and %d messages", len(r.Calls.Collectives), len(r.Calls.Messages))
				}
			}
		})
	}
}

func TestCallsThatAreRefused(t *testing.T) {
	g := readGoal(t, "num_ranks 1\nrank 0 {\ncalc 5 cpu 1\n}")
	for _, model := range []Model{LogGOPS, LogGPS} {
		_, err := Run(t.Context(), g, vectorDefaults().machine, Options{Calls: true, Model: model})
		if want := "2 CPUs per rank"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want it to contain %q", model, err, want)
		}
	}
}

// BenchmarkCalls records the calls of an application.
func BenchmarkCalls(b *testing.B) {
	for _, ranks := range []int{256, 4096} {
		b.Run(fmt.Sprintf("pattern=pop/ranks=%d", ranks), func(b *testing.B) {
			p, err := pattern.New("pop", pattern.Params{Ranks: ranks, Iterations: 2})
			if err != nil {
				b.Fatal(err)
			}
			calls, messages := 0, int64(0)
			for b.Loop() {
				r, err := Run(b.Context(), p, vectorDefaults().machine, Options{Calls: true})
				if err != nil {
					b.Fatal(err)
				}
				messages += r.Messages
				for i := range r.Calls.Locations {
					calls += r.Calls.Locations[i].Calls.Len()
				}
			}
			b.ReportMetric(float64(calls)/b.Elapsed().Seconds(), "calls/s")
			b.ReportMetric(float64(messages)/b.Elapsed().Seconds(), "messages/s")
		})
	}
}
