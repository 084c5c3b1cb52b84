package simulate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"slackline/model/machine"
	"slackline/model/noise"
	"slackline/model/pattern"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// application is a program of docs/performance.md, "Engines by threads".
type application struct {
	name              string
	ranks, iterations int
	noisy             bool
	compute           unit.Duration // 0: as the pattern has it
	jitter            float64
}

func (a application) String() string {
	s := fmt.Sprintf("pattern=%s/ranks=%d/noise=%t", a.name, a.ranks, a.noisy)
	if a.compute > 0 {
		s += fmt.Sprintf("/compute=%v/jitter=%v", a.compute, a.jitter)
	}
	return s
}

// applications returns those of the table, each with a number of iterations that takes a second or so.
func applications() (list []application) {
	for _, p := range []struct {
		name       string
		iterations [3]int
	}{
		{"pop", [...]int{4, 1, 1}}, {"amg", [...]int{2, 1, 1}}, {"sweep3d", [...]int{2, 1, 1}},
		{"skeleton", [...]int{40, 10, 10}}, {"dissemination", [...]int{40, 20, 20}},
	} {
		for i, ranks := range []int{1024, 8192, 16384} {
			a := application{name: p.name, ranks: ranks, iterations: p.iterations[i]}
			list = append(list, a)
			a.noisy = true
			list = append(list, a)
		}
	}
	return list
}

// problem returns the program, and the noise of chic with an offset of its own on each rank.
func (a application) problem(b testing.TB) (schedule.Program, *machine.Machine, *noise.Injection) {
	b.Helper()
	params := pattern.Params{Ranks: a.ranks, Iterations: a.iterations, Compute: a.compute, Jitter: a.jitter}
	p, err := pattern.New(a.name, params)
	if err != nil {
		b.Fatal(err)
	}
	m, err := machine.Named("chic")
	if err != nil {
		b.Fatal(err)
	}
	if !a.noisy {
		return p, m, nil
	}
	profile, err := noise.Named("chic")
	if err != nil {
		b.Fatal(err)
	}
	trace, err := profile.Detours(1)
	if err != nil {
		b.Fatal(err)
	}
	r, offsets := rand.New(rand.NewPCG(1, 2)), make([]int64, a.ranks)
	for i := range offsets {
		offsets[i] = r.Int64N(trace.Period())
	}
	in, err := noise.NewInjection(trace, offsets)
	if err != nil {
		b.Fatal(err)
	}
	return p, m, in
}

// BenchmarkThreads has the applications on one and two threads.
func BenchmarkThreads(b *testing.B) {
	for _, a := range applications() {
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%v/threads=%d", a, threads), func(b *testing.B) {
				p, m, in := a.problem(b)
				for b.Loop() {
					if _, err := Run(context.Background(), p, m, Options{Threads: threads, Noise: in}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// barrierVisits is how long a barrier of the threads takes, in visits to hosts: the model of
// BenchmarkWindows. Two threads take as long as two visits, 16 as long as five.
func barrierVisits(threads int) float64 {
	sum := 0.0
	for n := threads; n > 1; n /= 2 {
		sum++
	}
	return sum + 1
}

// BenchmarkWindows counts how the work of every window is spread over the threads, and reports what the
// threads gain if each window takes as long as that of the thread that has most to do, and the
// barrier: visits/window, and gain by number of threads. The counts do not depend on the machine. amg also has
// the finer grain that it had before it took that of the noise paper.
func BenchmarkWindows(b *testing.B) {
	fine := application{name: "amg", ranks: 8192, iterations: 1, noisy: true, compute: 13600 * unit.Microsecond, jitter: 0.21}
	finer := fine
	finer.ranks, finer.iterations = 16384, 10
	for _, a := range append(applications(), fine, finer) {
		b.Run(a.String(), func(b *testing.B) {
			p, m, in := a.problem(b)
			for b.Loop() {
				for _, threads := range []int{2, 4, 8, 16} {
					s := windowShares{window: start}
					s.run(b, p, m, Options{Threads: threads, Noise: in, pace: always(alone)})
					b.ReportMetric(float64(s.visits)/s.windows, "visits/window")
					b.ReportMetric(float64(s.visits)/(s.longest+s.windows*barrierVisits(threads)), fmt.Sprintf("gain-%d", threads))
				}
			}
		})
	}
}

// always goes on in one way from the first round.
type always way

func (a always) next(int, int64, int64) (way, int) { return way(a), math.MaxInt }

// BenchmarkWays has what one thread needs for the hosts of several, against a run with one thread.
func BenchmarkWays(b *testing.B) {
	a := application{name: "sweep3d", ranks: 256, iterations: 1}
	for _, w := range []struct {
		name    string
		threads int
		way     way
	}{{"one thread", 1, alone}, {"alone", 2, alone}, {"merged", 2, merged}} {
		b.Run("way="+w.name, func(b *testing.B) {
			p, m, in := a.problem(b)
			for b.Loop() {
				if _, err := Run(context.Background(), p, m, Options{Threads: w.threads, Noise: in, pace: always(w.way)}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// windowShares sums up the visits of the windows of a run.
type windowShares struct {
	mu               sync.Mutex
	window, most     int64 // of the present window: the visits of the core that has most
	visits           int64 // of all cores
	windows, longest float64
}

func (s *windowShares) add(window, visits int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if window != s.window {
		s.longest += float64(s.most)
		s.windows++
		s.window, s.most = window, 0
	}
	s.most = max(s.most, visits)
	s.visits += visits
}

// sharingCore is a core whose visits are summed up.
type sharingCore struct {
	*lean
	shares *windowShares
}

func (c sharingCore) runWindow() {
	before := c.visits
	c.lean.runWindow()
	c.shares.add(c.calendar.window, c.visits-before)
}

func (s *windowShares) run(b *testing.B, p schedule.Program, m *machine.Machine, o Options) {
	b.Helper()
	r, err := newRun(p, m, o)
	if err != nil {
		b.Fatal(err)
	}
	var cores []windowCore
	for _, l := range newLeanShards(r.problem, o.Threads, nil, nil, nil) {
		cores = append(cores, sharingCore{l, s})
	}
	if err := r.runWindows(context.Background(), cores, nil); err != nil {
		b.Fatal(err)
	}
	s.add(never, 0)
}
