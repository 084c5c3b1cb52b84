package simulate

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"slackline/internal/needed"
	"slackline/model/collective"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// engineVariant is one way to run a program.
type engineVariant struct {
	name    string
	force   engineChoice
	threads int
	// processes: how many share the run; 0: one, without a group.
	processes int
}

// engineVariants returns every engine with one thread, and those with threads with the given
// numbers as well.
func engineVariants(threads ...int) []engineVariant {
	variants := []engineVariant{
		{"auto", engineAuto, 1, 0},
		{"event", engineEvent, 1, 0},
		{"window", engineWindow, 1, 0},
		{"lean", engineLean, 1, 0},
	}
	for _, n := range threads {
		variants = append(variants,
			engineVariant{"window", engineWindow, n, 0},
			engineVariant{"lean", engineLean, n, 0})
	}
	return variants
}

func (v engineVariant) String() string {
	return fmt.Sprintf("%s/threads=%d/processes=%d", v.name, v.threads, v.processes)
}

// hangs is how long a test program may take: far longer than it ever does, also at the lowest priority beside other tests.
const hangs = 10 * time.Minute

var (
	errPanic = errors.New("panic")
	errHangs = errors.New("the run does not end")
	errHung  = errors.New("an earlier run did not end and still takes time")
	hung     atomic.Bool
)

// run runs a program. A panic and a run without end become errors.
func (v engineVariant) run(p schedule.Program, m *testMachine, o Options) (*Result, error) {
	if hung.Load() {
		return nil, errHung
	}
	in, err := m.noise.injection()
	if err != nil {
		return nil, err
	}
	o.Noise, o.Threads = in, v.threads
	if v.processes == 0 { // processes share the options
		o.pace = newRestless()
	}
	type outcome struct {
		result *Result
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		defer func() {
			if x := recover(); x != nil {
				done <- outcome{nil, fmt.Errorf("%w: %v\n%s", errPanic, x, debug.Stack())}
			}
		}()
		run := runWith
		if v.processes > 0 {
			run = runTogether(v.processes)
		}
		result, err := run(context.Background(), p, m.machine, o, v.force)
		done <- outcome{result, err}
	}()
	select {
	case got := <-done:
		return got.result, got.err
	case <-time.After(hangs):
		hung.Store(true)
		return nil, errHangs
	}
}

// differs compares a run with what the oracle says, and returns what is wrong, or nothing. Expanded
// is the program with messages in the place of collectives.
func (v engineVariant) differs(p schedule.Program, expanded *schedule.Graph, m *testMachine, o Options, want []int64,
	wantErr error) string {
	result, err := v.run(p, m, o)
	switch {
	case errors.Is(err, errNotApplicable):
		return ""
	case errors.Is(err, errPanic), errors.Is(err, errHangs), errors.Is(err, errHung):
		return err.Error()
	case (err == nil) != (wantErr == nil):
		return fmt.Sprintf("error = %v, want %v (finish %v)", err, wantErr, want)
	case err != nil:
		return ""
	}
	var got []int64
	for _, t := range result.Finish {
		got = append(got, int64(t))
	}
	if !slices.Equal(got, want) {
		return fmt.Sprintf("finish = %v, want %v", got, want)
	}
	if latest := slices.Max(want); int64(result.Makespan) != latest {
		return fmt.Sprintf("makespan = %d, want %d", result.Makespan, latest)
	}
	if v.force != engineAuto && v.force != engineEvent && result.Engine == "event" {
		return "the core could not finish the program, but the event engine could"
	}
	if ops := int64(expanded.NumOps()); result.Ops != ops {
		return fmt.Sprintf("ops = %d, want %d", result.Ops, ops)
	}
	if messages := countSends(expanded); result.Messages != messages {
		return fmt.Sprintf("messages = %d, want %d", result.Messages, messages)
	}
	if q := result.Queues; q.Expected+q.Unexpected != result.Messages {
		return fmt.Sprintf("expected %d and unexpected %d messages do not add up to %d", q.Expected, q.Unexpected, result.Messages)
	}
	return ""
}

func countSends(p *schedule.Graph) int64 {
	n := int64(0)
	for rank := range p.Ranks() {
		for _, op := range p.RankOps(rank) {
			if op.Kind == schedule.Send {
				n++
			}
		}
	}
	return n
}

func TestEnginesMeetVectors(t *testing.T) {
	for _, v := range append(loadVectors(t), loadClassVectors(t)...) {
		for _, e := range engineVariants(2, 3, 8) {
			if diff := e.differs(v.program, v.program, &v.testMachine, Options{}, v.want, nil); diff != "" {
				t.Fatalf("%s: %v: %s", v.name, e, diff)
			}
		}
	}
}

func TestEnginesRefuseErrors(t *testing.T) {
	m := vectorDefaults()
	for name, p := range loadErrors(t) {
		for _, e := range engineVariants(2, 3, 8) {
			got, err := e.run(p, &m, Options{})
			if errors.Is(err, errNotApplicable) {
				continue
			}
			if err == nil || errors.Is(err, errPanic) || hung.Load() {
				t.Fatalf("%s: %v: %v, %v, want an error", name, e, got, err)
			}
		}
	}
}

func TestEnginesNoisyDissemination(t *testing.T) {
	needed.Full(t, "long runs")
	for _, tc := range noisyDissemination {
		p, m := dissemination(tc.ranks), noisyMachine(tc.ranks, tc.detour)
		for _, e := range engineVariants(2) {
			if tc.ranks > 1024 && e.force != engineAuto && e.name != "lean" {
				continue // takes too long
			}
			result, err := e.run(p, &m, Options{})
			if errors.Is(err, errNotApplicable) {
				continue
			}
			if err != nil {
				t.Fatalf("%v: %v", e, err)
			}
			sum := int64(0)
			for _, x := range result.Finish {
				sum += int64(x)
			}
			latest, earliest := int64(slices.Max(result.Finish)), int64(slices.Min(result.Finish))
			at := slices.Index(result.Finish, slices.Max(result.Finish))
			if latest != tc.latest*1000 || at != tc.latestRank || earliest != tc.earliest*1000 || sum != tc.sum*1000 {
				t.Errorf("%v: latest %d at %d, earliest %d, sum %d; want %+v", e, latest, at, earliest, sum, tc)
			}
		}
	}
}

// agreement tries engines on a case and returns the first that differs from the oracle, with what is
// wrong.
func agreement(c *testCase, variants []engineVariant, o Options) (engineVariant, string) {
	p := c.graph()
	want, wantErr := runReference(p, &c.testMachine)
	for _, e := range variants {
		if diff := e.differs(p, p, &c.testMachine, o, want, wantErr); diff != "" {
			return e, diff
		}
	}
	return engineVariant{}, ""
}

// checkAgreement fails with a small case if an engine differs from the oracle.
func checkAgreement(t *testing.T, c testCase, variants []engineVariant, o Options) {
	t.Helper()
	e, diff := agreement(&c, variants, o)
	if diff == "" {
		return
	}
	if hung.Load() {
		t.Fatalf("%v: %s\n%s", e, diff, c.String())
	}
	small := shrink(c, func(c *testCase) bool {
		_, diff := agreement(c, []engineVariant{e}, o)
		return diff != ""
	})
	_, smallDiff := agreement(&small, []engineVariant{e}, o)
	if smallDiff == "" { // it fails only now and then
		small, smallDiff = c, diff
	}
	t.Fatalf("%v: %s\n%s", e, smallDiff, small.String())
}

// For long runs: go test -run TestEnginesAgree -cases 20000 -first 300
var (
	agreeCases = flag.Int("cases", 150, "random programs of each kind for TestEnginesAgree; make test-long has more")
	agreeFirst = flag.Int("first", 0, "seed of the first of them")
)

// cases is how many random programs of each kind there are; with the race detector, and under -short, few.
func cases() int {
	if testing.Short() {
		return min(*agreeCases, 10)
	}
	return *agreeCases
}

func TestEnginesAgree(t *testing.T) {
	for kind := range numCaseKinds {
		t.Run(kind.String(), func(t *testing.T) {
			cases := cases()
			switch kind {
			case kindWide:
				cases = (cases + 9) / 10
			case kindRendezvous: // what goes wrong there is rare
				cases *= 4
			}
			for i := *agreeFirst; i < *agreeFirst+cases; i++ {
				r := rand.New(rand.NewPCG(uint64(kind), uint64(i)))
				o := Options{Breakdown: i%3 == 1}
				checkAgreement(t, randomCase(r, kind), engineVariants([]int{2, 3, 8}[i%3]), o)
			}
		})
	}
}

func TestEnginesAgreeRapid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapidCase(t, caseKind(rapid.IntRange(0, int(kindCollectives)).Draw(t, "kind")))
		if e, diff := agreement(&c, engineVariants(3), Options{}); diff != "" {
			t.Fatalf("%v: %s\n%s", e, diff, c.String())
		}
	})
}

// Symbolic collectives are expanded while they run; the oracle gets the messages.
func TestEnginesAgreeOnCalls(t *testing.T) {
	for i := range cases() {
		r := rand.New(rand.NewPCG(uint64(numCaseKinds), uint64(*agreeFirst+i)))
		p := drawCalls(r.IntN)
		m := drawMachine(r.IntN, kindCollectives, p.Ranks(), 1000)
		m.machine.Gamma = unit.PerByte(r.IntN(4) * 500_000)
		expansion := collective.Expand(p, nil, m.machine.Gamma)
		expanded := schedule.Materialize(expansion)
		if err := expansion.Err(); err != nil {
			t.Fatal(err)
		}
		want, wantErr := runReference(expanded, &m)
		for _, e := range engineVariants([]int{2, 3, 8}[i%3]) {
			if diff := e.differs(p, expanded, &m, Options{}, want, wantErr); diff != "" {
				t.Fatalf("case %d: %v: %s\n%v", *agreeFirst+i, e, diff, m.String())
			}
		}
	}
}

// drawCalls draws a program of collectives and calcs.
func drawCalls(d draw) *schedule.Graph {
	ranks := d.between(1, 12)
	var calls []schedule.Call
	for range d.between(1, 4) {
		// The neighborhood collectives need a topology; they are tested with their package.
		op := schedule.Operation(d(int(schedule.NeighborAllgather)))
		calls = append(calls, schedule.Call{Op: op, Root: int32(d(ranks)), Size: int64(d(40))})
	}
	build := schedule.NewBuilder(ranks)
	var b schedule.Block
	for rank := range ranks {
		for _, call := range calls {
			b.Reset()
			b.Calc(int64(d(21)) * 1000)
			build.Add(rank, &b)
			b.Reset()
			b.Call(call)
			build.Add(rank, &b)
		}
	}
	return build.Graph()
}
