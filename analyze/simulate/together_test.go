package simulate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime/debug"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"slackline/internal/cluster"
	"slackline/internal/needed"
	"slackline/model/machine"
	"slackline/model/schedule"
)

// runTogether returns a function like runWith that lets goroutines stand for processes, each with its
// part of the program. All must come to the same end; the result is that of process 0.
func runTogether(processes int) func(context.Context, schedule.Program, *machine.Machine, Options, engineChoice) (*Result, error) {
	return func(ctx context.Context, p schedule.Program, m *machine.Machine, o Options, choice engineChoice) (*Result, error) {
		results, errs := make([]*Result, processes), make([]error, processes)
		var wg sync.WaitGroup
		for i, member := range cluster.Local(processes) {
			wg.Go(func() {
				defer func() {
					if x := recover(); x != nil {
						errs[i] = fmt.Errorf("%w: %v\n%s", errPanic, x, debug.Stack())
						member.Break()
					}
				}()
				mine := p
				if g, ok := p.(*schedule.Graph); ok && o.aloneBecause() == "" && processes > 1 {
					has, err := RanksOf(m, g.Ranks(), i, processes)
					if err != nil {
						errs[i] = err
						member.Break()
						return
					}
					mine = schedule.Part(g, has)
				}
				o := o
				o.Group, o.pace = member, newRestless()
				results[i], errs[i] = runWith(ctx, mine, m, o, choice)
			})
		}
		wg.Wait()
		for i, err := range errs {
			if errors.Is(err, errPanic) {
				return nil, err
			}
			if (err == nil) != (errs[0] == nil) || err != nil && err.Error() != errs[0].Error() {
				return nil, fmt.Errorf("%w: process %d ends with %v, process 0 with %v", errPanic, i, err, errs[0])
			}
			if err == nil && i > 0 {
				if results[i].Finish != nil || results[i].Makespan != results[0].Makespan || results[i].Queues != results[0].Queues {
					return nil, fmt.Errorf("%w: process %d has %+v, process 0 %+v", errPanic, i, results[i], results[0])
				}
			}
		}
		return results[0], errs[0]
	}
}

// togetherVariants returns every engine on several processes.
func togetherVariants(threads int, processes ...int) []engineVariant {
	var variants []engineVariant
	for _, n := range processes {
		variants = append(variants,
			engineVariant{"auto", engineAuto, 1, n},
			engineVariant{"event", engineEvent, 1, n},
			engineVariant{"window", engineWindow, threads, n},
			engineVariant{"lean", engineLean, threads, n})
	}
	return variants
}

// sameAsAlone compares a run on several processes with the run on one and returns what differs.
func (v engineVariant) sameAsAlone(p schedule.Program, m *testMachine, o Options) string {
	got, err := v.run(p, m, o)
	v.processes = 0
	want, wantErr := v.run(p, m, o)
	switch {
	case (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error():
		return fmt.Sprintf("error = %v, want %v", err, wantErr)
	case err != nil:
		return ""
	}
	a, b := *got, *want
	a.Together, a.Threads, b.Threads = nil, 0, 0
	if !reflect.DeepEqual(a, b) {
		return fmt.Sprintf("result = %+v, want %+v", a, b)
	}
	return ""
}

func TestProcessesMeetVectors(t *testing.T) {
	needed.Full(t, "long runs")
	for _, v := range append(loadVectors(t), loadClassVectors(t)...) {
		for _, e := range togetherVariants(2, 1, 2, 3, 4, 8) {
			if diff := e.differs(v.program, v.program, &v.testMachine, Options{}, v.want, nil); diff != "" {
				t.Fatalf("%s: %v: %s", v.name, e, diff)
			}
			if diff := e.sameAsAlone(v.program, &v.testMachine, Options{Breakdown: true}); diff != "" {
				t.Fatalf("%s: %v: %s", v.name, e, diff)
			}
		}
	}
}

func TestProcessesRefuseErrors(t *testing.T) {
	m := vectorDefaults()
	for name, p := range loadErrors(t) {
		for _, e := range togetherVariants(2, 2, 3, 8) {
			if diff := e.sameAsAlone(p, &m, Options{}); diff != "" {
				t.Errorf("%s: %v: %s", name, e, diff)
			}
		}
	}
}

func TestProcessesAgree(t *testing.T) {
	needed.Full(t, "long runs")
	for kind := range numCaseKinds {
		t.Run(kind.String(), func(t *testing.T) {
			cases := cases() / 3
			switch kind {
			case kindWide:
				cases = (cases + 9) / 10
			case kindRendezvous:
				cases *= 4
			}
			for i := *agreeFirst; i < *agreeFirst+cases; i++ {
				r := rand.New(rand.NewPCG(uint64(kind), uint64(i)))
				o := Options{Breakdown: i%3 == 1}
				c := randomCase(r, kind)
				variants := togetherVariants(1+i%3, []int{2, 3, 4, 8}[i%4])
				checkAgreement(t, c, variants, o)
				p := c.graph()
				for _, e := range variants {
					if diff := e.sameAsAlone(p, &c.testMachine, o); diff != "" {
						t.Fatalf("case %d: %v: %s\n%s", i, e, diff, c.String())
					}
				}
			}
		})
	}
}

func TestProcessesAgreeRapid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapidCase(t, caseKind(rapid.IntRange(0, int(numCaseKinds)-1).Draw(t, "kind")))
		n := rapid.IntRange(2, 5).Draw(t, "processes")
		if e, diff := agreement(&c, togetherVariants(2, n), Options{}); diff != "" {
			t.Fatalf("%v: %s\n%s", e, diff, c.String())
		}
	})
}

// Graphs as a whole and in parts, of which the ranks before and after it have no blocks.
func TestProcessesRunParts(t *testing.T) {
	needed.Full(t, "long runs")
	g, m := dissemination(8192), noisyMachine(8192, 100_000)
	for _, e := range togetherVariants(2, 2, 3) {
		if e.force != engineEvent && e.force != engineWindow {
			if diff := e.sameAsAlone(g, &m, Options{}); diff != "" {
				t.Fatalf("%v: %.300s", e, diff)
			}
		}
	}
}
