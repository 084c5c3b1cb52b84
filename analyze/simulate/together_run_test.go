package simulate_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"slackline/analyze/simulate"
	"slackline/internal/cluster"
	"slackline/internal/needed"
	"slackline/model/machine"
	"slackline/model/pattern"
	"slackline/model/schedule"
)

// together runs a program on goroutines that stand for processes and returns what each of them got.
// A process that fails breaks the group, as in an MPI job.
func together(ctx context.Context, processes int, p schedule.Program, m *machine.Machine,
	o simulate.Options) ([]*simulate.Result, []error) {
	results, errs := make([]*simulate.Result, processes), make([]error, processes)
	var wg sync.WaitGroup
	for i, member := range cluster.Local(processes) {
		wg.Go(func() {
			o := o
			o.Group = member
			if results[i], errs[i] = simulate.Run(ctx, p, m, o); errs[i] != nil {
				member.Break()
			}
		})
	}
	wg.Wait()
	return results, errs
}

func newProgram(t testing.TB, name string, p pattern.Params) schedule.Program {
	t.Helper()
	program, err := pattern.New(name, p)
	if err != nil {
		t.Fatal(err)
	}
	return program
}

func namedMachine(t testing.TB, name string) *machine.Machine {
	t.Helper()
	m, err := machine.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Dissemination without noise goes through its windows with one exchange each, and its messages are so
// alike that they hardly take bytes.
func TestTogetherCountsWhatCrosses(t *testing.T) {
	const ranks, processes = 4096, 4
	p, m := newProgram(t, "dissemination", pattern.Params{Ranks: ranks, Size: 1}), namedMachine(t, "cnl")
	alone, err := simulate.Run(context.Background(), p, m, simulate.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	results, errs := together(context.Background(), processes, p, m, simulate.Options{Threads: 1})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	r, got := results[0], results[0].Together
	if !slices.Equal(r.Finish, alone.Finish) || r.Queues != alone.Queues || alone.Together != nil {
		t.Errorf("result %+v, want %+v", r, alone)
	}
	// In step k each process sends min(2^k, 1024) messages to others.
	crossed := int64(processes * (1023 + 2*1024))
	if got.Processes != processes || got.Crossed != crossed {
		t.Errorf("%d messages crossed between %d processes, want %d", got.Crossed, got.Processes, crossed)
	}
	if most := int64(2 * 12); got.Rounds < 12 || got.Rounds > most {
		t.Errorf("%d rounds for 12 steps", got.Rounds)
	}
	if beside := got.Exchanges - got.Rounds; beside > 5 {
		t.Errorf("%d exchanges beside those of the rounds", beside)
	}
	if got.Bytes > 1000*processes {
		t.Errorf("%d bytes for %d messages that are alike", got.Bytes, got.Crossed)
	}
}

// The more processes, the less memory each of them needs: all together hardly more than one.
func TestTogetherSharesMemory(t *testing.T) {
	needed.Full(t, "long runs")
	const ranks = 1 << 16
	p, m := newProgram(t, "dissemination", pattern.Params{Ranks: ranks, Size: 1}), namedMachine(t, "cnl")
	allocated := func(processes int) uint64 {
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, errs := together(context.Background(), processes, p, m, simulate.Options{Threads: 1}); errors.Join(errs...) != nil {
			t.Fatal(errs)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	one := allocated(1)
	for _, processes := range []int{2, 4, 8} {
		if all := allocated(processes); all > one+one/2 {
			t.Errorf("%d processes allocate %d bytes together, one alone %d", processes, all, one)
		}
	}
}

// What one process alone does (traces, the static model) has the same result, and says why.
func TestTogetherAlone(t *testing.T) {
	p, m := newProgram(t, "halo2d", pattern.Params{Ranks: 12, Size: 100}), namedMachine(t, "chic")
	for name, o := range map[string]simulate.Options{
		"static": {Model: simulate.LogGPS}, "detail": {Detail: true}, "causes": {Causes: true},
	} {
		alone, err := simulate.Run(context.Background(), p, m, o)
		if err != nil {
			t.Fatal(err)
		}
		results, errs := together(context.Background(), 3, p, m, o)
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		r := results[0]
		if !slices.Equal(r.Finish, alone.Finish) || (r.Detail == nil) != (alone.Detail == nil) || r.Together.Note == "" {
			t.Errorf("%s: %+v, want %+v", name, r, alone)
		}
		if results[1].Finish != nil || results[2].Together == nil {
			t.Errorf("%s: other processes have %+v and %+v", name, results[1], results[2])
		}
	}
	bad := simulate.Options{Detail: true, Model: "x"}
	if _, errs := together(context.Background(), 2, p, m, bad); errs[0] == nil || !simulate.OnAllProcesses(errs[1]) &&
		!errors.Is(errs[1], cluster.ErrBroken) {
		t.Errorf("errors %v", errs)
	}
}

// Processes that were given different things notice it.
func TestTogetherNoticesOthers(t *testing.T) {
	m := namedMachine(t, "chic")
	members := cluster.Local(2)
	var wg sync.WaitGroup
	for i, member := range members {
		p := newProgram(t, "dissemination", pattern.Params{Ranks: 16 + i, Size: 1})
		wg.Go(func() {
			if _, err := simulate.Run(context.Background(), p, m, simulate.Options{Group: member}); err == nil {
				t.Errorf("process %d does not notice", i)
				member.Break()
			}
		})
	}
	wg.Wait()
}

// An interrupt and a process that goes away end all.
func TestTogetherEnds(t *testing.T) {
	m := namedMachine(t, "cnl")
	p := newProgram(t, "dissemination", pattern.Params{Ranks: 1 << 12, Size: 1, Iterations: 1_000_000})
	t.Run("interrupt", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(20*time.Millisecond, cancel)
		_, errs := together(ctx, 3, p, m, simulate.Options{Threads: 2})
		for i, err := range errs {
			if !errors.Is(err, context.Canceled) && !errors.Is(err, cluster.ErrBroken) {
				t.Errorf("process %d ends with %v", i, err)
			}
		}
	})
	t.Run("gone", func(t *testing.T) {
		members := cluster.Local(3)
		var wg sync.WaitGroup
		for i, member := range members[:2] {
			wg.Go(func() {
				_, err := simulate.Run(context.Background(), p, m, simulate.Options{Threads: 1, Group: member})
				if !errors.Is(err, cluster.ErrBroken) {
					t.Errorf("process %d ends with %v", i, err)
				}
			})
		}
		time.AfterFunc(20*time.Millisecond, members[2].Break)
		wg.Wait()
	})
}

// BenchmarkTogether is one run on goroutines that stand for processes of one thread each; the real
// thing is BenchmarkSimulateJob in cli.
func BenchmarkTogether(b *testing.B) {
	m := namedMachine(b, "cnl")
	for _, ranks := range []int{65536, 1048576} {
		p := newProgram(b, "dissemination", pattern.Params{Ranks: ranks, Size: 1})
		for _, processes := range []int{1, 2, 4} {
			b.Run(fmt.Sprintf("ranks=%d/processes=%d", ranks, processes), func(b *testing.B) {
				messages := int64(0)
				var last *simulate.Together
				for b.Loop() {
					results, errs := together(context.Background(), processes, p, m, simulate.Options{Threads: 1})
					if err := errors.Join(errs...); err != nil {
						b.Fatal(err)
					}
					messages += results[0].Messages
					last = results[0].Together
				}
				b.ReportMetric(float64(messages)/b.Elapsed().Seconds()/1e6, "Mmsg/s")
				if last != nil {
					b.ReportMetric(float64(last.Bytes)/float64(last.Crossed), "B/crossed")
					b.ReportMetric(float64(last.Exchanges), "exchanges")
				}
			})
		}
	}
}
