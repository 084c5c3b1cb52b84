package waits

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"slackline/internal/cluster"
	"slackline/internal/needed"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// ranksOf says where the ranks of each process begin. Shares differ, and may be empty.
func ranksOf(ranks, size int) []int {
	bounds := make([]int, size+1)
	for p := range size {
		_, bounds[p+1] = cluster.Share(ranks, p, size)
	}
	return bounds
}

// together lets so many processes work and returns their errors.
func together(size int, work func(g cluster.Group) error) []error {
	groups := cluster.Local(size)
	errs := make([]error, size)
	var all sync.WaitGroup
	for p, g := range groups {
		all.Go(func() {
			if errs[p] = work(g); errs[p] != nil {
				g.Break()
			}
		})
	}
	all.Wait()
	return errs
}

// parts lets several processes make a timeline together.
func parts(t *testing.T, build func() *timeline.Builder, size, ranks int) []*timeline.Timeline {
	t.Helper()
	list := make([]*timeline.Timeline, size)
	for p, err := range together(size, func(g cluster.Group) error {
		tl, err := build().FinishPart(context.Background(), g, ranksOf(ranks, size), 1)
		list[g.Rank()] = tl
		return err
	}) {
		if err != nil {
			t.Fatalf("process %d: %v", p, err)
		}
	}
	return list
}

// own returns the number of a call in the whole run that a part has.
func own(t *testing.T, list []*timeline.Timeline, at int, location, call int32) int32 {
	t.Helper()
	if call < 0 || list[at].Part.Here(location) {
		return call
	}
	owner := list[list[at].Part.Owner(list[at].Locations[location].Rank)]
	number, ok := owner.Part.OwnCall(at, location, call)
	if !ok {
		t.Fatalf("process %d has call %d of location %d, which its owner does not know", at, call, location)
	}
	return number
}

// checkParts compares what several processes hold with what one would hold.
func checkParts(t *testing.T, name string, whole *timeline.Timeline, list []*timeline.Timeline) {
	t.Helper()
	same := func(what string, want, got any) {
		t.Helper()
		if reflect.DeepEqual(want, got) { // which is fast
			return
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s: %s (-one +several):\n%s", name, what, diff)
		}
	}
	messages := []timeline.Message{}
	for p, part := range list {
		same("paths", whole.Paths, part.Paths)
		same("bounds", fmt.Sprint(whole.Start, whole.End), fmt.Sprint(part.Start, part.End))
		same("problems", whole.Problems, part.Problems)
		for i := range whole.Locations {
			l, w := part.Locations[i], whole.Locations[i]
			here := part.Part.Here(int32(i))
			if here {
				same("location", w, l)
				continue
			}
			c := l.Calls
			l.Calls, w.Calls, l.Polls, w.Polls, w.Alone, w.Sampled, w.NoCPU = timeline.Calls{}, timeline.Calls{}, nil, nil, nil, nil, nil
			same("location elsewhere", w, l)
			numbers := make([]int32, c.Len())
			for k := range numbers {
				numbers[k] = own(t, list, p, int32(i), int32(k))
			}
			for k, n := range numbers {
				of := &whole.Locations[i]
				same("call elsewhere", []any{of.Calls.Enter[n], of.Calls.Leave[n], of.Calls.Path[n], of.Polled(n)},
					[]any{c.Enter[k], c.Leave[k], c.Path[k], part.Locations[i].Polled(int32(k))})
				for j, m := range numbers {
					same("precedence", of.Calls.Precedes(n, m), c.Precedes(int32(k), int32(j)))
				}
			}
		}
		for _, m := range part.Messages {
			if !part.Part.Here(m.To) {
				continue
			}
			m.Send, m.SendDone = own(t, list, p, m.From, m.Send), own(t, list, p, m.Completer(), m.SendDone)
			messages = append(messages, m)
		}
	}
	same("messages", whole.Messages, messages)
	for p, part := range list {
		checkSubset(t, name, whole, list, p, part)
	}
}

// checkSubset checks the messages from a part and its collectives.
func checkSubset(t *testing.T, name string, whole *timeline.Timeline, list []*timeline.Timeline, p int, part *timeline.Timeline) {
	t.Helper()
	describe := func(at int, tl *timeline.Timeline) (sent, collectives []string) {
		number := func(location, call int32) int32 {
			if tl == whole {
				return call
			}
			return own(t, list, at, location, call)
		}
		for _, m := range tl.Messages {
			if part.Part.Here(m.From) && !part.Part.Here(m.To) {
				m.Post, m.Recv = number(m.Poster(), m.Post), number(m.To, m.Recv)
				sent = append(sent, fmt.Sprint(m))
			}
		}
		for _, c := range tl.Collectives {
			members, here := "", false
			for _, m := range tl.Members[c.First:][:len(tl.Comms[c.Comm].Members)] {
				here = here || part.Part.Here(m.Location)
				m.Issue, m.Complete, m.Counts = number(m.Issuer(), m.Issue), number(m.Location, m.Complete), 0
				members += fmt.Sprint(m)
			}
			if here {
				collectives = append(collectives, fmt.Sprint(c.Op, c.Comm, c.Root, members))
			}
		}
		return sent, collectives
	}
	wantSent, wantCollectives := describe(0, whole)
	gotSent, gotCollectives := describe(p, part)
	if diff := cmp.Diff(wantSent, gotSent); diff != "" {
		t.Fatalf("%s: messages that process %d sends (-one +several):\n%s", name, p, diff)
	}
	if diff := cmp.Diff(wantCollectives, gotCollectives); diff != "" {
		t.Fatalf("%s: collectives of process %d (-one +several):\n%s", name, p, diff)
	}
}

func TestPartsAreTheWhole(t *testing.T) {
	needed.Full(t, "long runs")
	for seed := range runs() / 16 {
		whole := sharedBuilder(seed).Finish(1)
		for _, size := range []int{2, 3, 5, 8} {
			list := parts(t, func() *timeline.Builder { return sharedBuilder(seed) }, size, whole.Ranks)
			for i := range list {
				list[i].Counts = nil
			}
			checkParts(t, fmt.Sprintf("seed %d, %d processes", seed, size), whole, list)
		}
	}
}

// everything is all that a result says, with the critical path and explanations of the largest waits.
func everything(r *Result, c *CriticalPath, e []*Explanation) map[string]any {
	return map[string]any{
		"waits": r.Waits, "delays": r.Delays, "totals": r.Totals, "completions": r.Completions, "unanalyzed": r.Unanalyzed, "threads": r.Threads,
		"states": r.States, "cyclic": r.Cyclic, "by thread": r.ThreadWaits(), "critical path": c, "explanations": e,
	}
}

// difference is what two results differ in; empty: nothing.
func difference(want, got map[string]any) string {
	if reflect.DeepEqual(want, got) { // which is fast
		return ""
	}
	return cmp.Diff(want, got, cmpopts.EquateEmpty())
}

// emptyIsNil makes lists without elements equal, so that most results are compared the fast way.
func emptyIsNil[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

// asked are the waits that are explained.
func asked(r *Result) []*Wait {
	var list []*Wait
	for i := range r.Waits {
		if i%3 == 0 && len(list) < 5 {
			list = append(list, &r.Waits[i])
		}
	}
	return list
}

// answer analyses a run, or a part of it, and asks all questions.
func answer(ctx context.Context, tl *timeline.Timeline, threads int) (map[string]any, error) {
	r, err := Analyze(ctx, tl, Options{Threads: threads})
	if err != nil {
		return nil, err
	}
	critical, err := r.FindCriticalPath(ctx)
	if err != nil {
		return nil, err
	}
	var waits []*Wait
	if tl.Part == nil || tl.Part.Group.Rank() == 0 {
		waits = asked(r)
	}
	explanations, err := r.FindExplanations(ctx, waits)
	if err != nil {
		return nil, err
	}
	all := everything(r, critical, explanations)
	p := r.Profile()
	if err := p.Gather(ctx, 50); err != nil {
		return nil, err
	}
	iterations, err := p.FindIterations(ctx, func(add func(rank int, at, amount unit.Duration)) {
		r.EachState(func(s *State) {
			if s.Thread == 0 {
				add(s.Rank, s.At, s.Amount)
			}
		})
	})
	if err != nil {
		return nil, err
	}
	all["entries"], all["by path"], all["composition"] = p.Entries, p.ByPath, p.Composition(r.WaitTimes())
	all["efficiency"] = p.Efficiency(0, r.WaitTimes())
	all["matrix"], all["sizes"], all["collectives"] = emptyIsNil(p.Matrix()), p.Sizes(), emptyIsNil(p.Collectives(50))
	if iterations != nil {
		all["iterations"] = fmt.Sprint(iterations.Path, iterations.Covers, iterations.List)
	}
	return all, nil
}

// cutter cuts something out of a run; nil: it stays whole.
type cutter func(ctx context.Context, tl *timeline.Timeline) (*timeline.Timeline, error)

// cutterOf chooses what of a random run is looked at.
func cutterOf(seed uint64) cutter {
	switch seed % 4 {
	case 0:
		return func(ctx context.Context, tl *timeline.Timeline) (*timeline.Timeline, error) {
			return tl.CoreTogether(ctx, 1, seed%8 == 0)
		}
	case 1:
		return func(ctx context.Context, tl *timeline.Timeline) (*timeline.Timeline, error) {
			part := (tl.End - tl.Start) / 8 / 1000 * 1000 // where calls begin and end
			return tl.WindowTogether(ctx, tl.Start+part, tl.End-2*part, 1)
		}
	}
	return nil
}

func (c cutter) cut(ctx context.Context, tl *timeline.Timeline) (*timeline.Timeline, error) {
	if c == nil {
		return tl, nil
	}
	return c(ctx, tl)
}

// answerTogether lets several processes analyze a run and returns what the first one says.
func answerTogether(t *testing.T, name string, build func() *timeline.Builder, cut cutter, ranks, size, threads int) map[string]any {
	t.Helper()
	var got map[string]any
	for p, err := range together(size, func(g cluster.Group) error {
		tl, err := build().FinishPart(context.Background(), g, ranksOf(ranks, size), threads)
		if err != nil {
			return err
		}
		if tl, err = cut.cut(context.Background(), tl); err != nil {
			return err
		}
		said, err := answer(context.Background(), tl, threads)
		if g.Rank() == 0 {
			got = said
		}
		return err
	}) {
		if err != nil {
			t.Fatalf("%s: process %d: %v", name, p, err)
		}
	}
	return got
}

func TestProcessesDoNotMatter(t *testing.T) {
	needed.Full(t, "long runs")
	cyclic := 0
	for seed := range runs() / 6 {
		cut := cutterOf(seed / 2)
		whole, err := cut.cut(context.Background(), sharedBuilder(seed).Finish(1))
		if err != nil {
			t.Fatal(err)
		}
		want, err := answer(context.Background(), whole, 1)
		if err != nil {
			t.Fatal(err)
		}
		if want["cyclic"] != 0 {
			cyclic++
		}
		for _, size := range []int{2, 3, 5, 8} {
			name := fmt.Sprintf("seed %d, %d processes", seed, size)
			got := answerTogether(t, name, func() *timeline.Builder { return sharedBuilder(seed) }, cut, whole.Ranks, size, 1+int(seed%3))
			if diff := difference(want, got); diff != "" {
				t.Fatalf("%s (-one +several):\n%s", name, diff)
			}
		}
	}
	if cyclic == 0 && !testing.Short() {
		t.Error("no run has circles")
	}
}

// TestIterationsOfParts checks a run that has some, and the number of exchanges.
func TestIterationsOfParts(t *testing.T) {
	needed.Full(t, "long runs")
	for _, kind := range []struct {
		name  string
		build func() *timeline.Builder
	}{
		{"halo", func() *timeline.Builder { b, _ := haloBuilder(4, 12); return b }},
		{"sweep", func() *timeline.Builder { b, _ := sweepBuilder(4, 12); return b }},
	} {
		want, err := answer(context.Background(), kind.build().Finish(1), 2)
		if err != nil {
			t.Fatal(err)
		}
		if kind.name == "halo" && want["iterations"] == nil {
			t.Error("no iterations were found")
		}
		for _, size := range []int{2, 3, 4, 8} {
			got := answerTogether(t, kind.name, kind.build, nil, 16, size, 2)
			if diff := difference(want, got); diff != "" {
				t.Fatalf("%s, %d processes (-one +several):\n%s", kind.name, size, diff)
			}
		}
	}
}
