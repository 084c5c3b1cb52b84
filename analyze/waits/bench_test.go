package waits

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"slackline/internal/cluster"
	"slackline/internal/memory"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// haloRun is a two-dimensional halo exchange with an allreduce at the end of every iteration: rows x rows
// ranks with different amounts of work. It returns the run and its number of events.
func haloRun(rows, iterations int) (*timeline.Timeline, int) {
	b, events := haloBuilder(rows, iterations)
	return b.Finish(runtime.GOMAXPROCS(0)), events
}

// worldBuilder begins a run whose communicator has all ranks.
func worldBuilder(ranks int) (b *timeline.Builder, region func(name string, p timeline.Paradigm) timeline.RegionID) {
	b = timeline.NewBuilder(ranks)
	world := timeline.Comm{Members: make([]int32, ranks)}
	for i := range world.Members {
		world.Members[i] = int32(i)
	}
	b.Comm(world)
	return b, func(name string, p timeline.Paradigm) timeline.RegionID {
		return b.Region(timeline.Region{Name: name, Paradigm: p})
	}
}

func haloBuilder(rows, iterations int) (*timeline.Builder, int) {
	ranks := rows * rows
	b, region := worldBuilder(ranks)
	main, step := region("main", timeline.User), region("step", timeline.User)
	inner, outer := region("inner", timeline.User), region("outer", timeline.User)
	irecv, isend := region("MPI_Irecv", timeline.MPI), region("MPI_Isend", timeline.MPI)
	waitall, allreduce := region("MPI_Waitall", timeline.MPI), region("MPI_Allreduce", timeline.MPI)
	locations := make([]*timeline.LocationBuilder, ranks)
	now := make([]unit.Duration, ranks)
	for r := range ranks {
		locations[r] = b.Location(r, 0, fmt.Sprint("rank ", r), "")
		locations[r].Enter(0, main)
	}
	peers := func(r int) [4]int32 {
		x, y := r%rows, r/rows
		at := func(x, y int) int32 { return int32((x+rows)%rows + (y+rows)%rows*rows) }
		return [4]int32{at(x-1, y), at(x+1, y), at(x, y-1), at(x, y+1)}
	}
	random := uint64(1)
	work := func(most uint64) unit.Duration {
		random = random*6364136223846793005 + 1442695040888963407
		return unit.Duration(random >> 33 % most)
	}
	sent := make([]unit.Duration, ranks)
	events := 0
	for range iterations {
		for r, l := range locations { // receives, work, sends
			t := now[r]
			l.Enter(t, step)
			for i := range 4 {
				l.Enter(t+1, irecv)
				l.Post(t+1, uint64(i))
				t += 500
				l.Leave(t)
			}
			l.Enter(t, inner)
			t += 1_000_000 + work(200_000)
			l.Leave(t)
			sent[r] = t
			for i, p := range peers(r) {
				l.Enter(t, isend)
				l.Isend(t, p, 0, int32(i), 1000, uint64(4+i))
				t += 500
				l.Leave(t)
			}
			l.Enter(t, outer)
			t += 100_000 + work(100_000)
			l.Leave(t)
			now[r] = t
		}
		last := unit.Duration(0)
		for r, l := range locations { // completion
			t := now[r]
			l.Enter(t, waitall)
			for _, p := range peers(r) {
				t = max(t, sent[p]+1000)
			}
			for i, p := range peers(r) {
				l.IrecvDone(t, p, 0, int32(i^1), 1000, uint64(i))
				l.IsendDone(t, uint64(4+i))
			}
			l.Leave(t)
			now[r] = t
			last = max(last, t)
		}
		for r, l := range locations {
			l.Enter(now[r], allreduce)
			now[r] = last + 2000 + work(1000)
			l.Collective(now[r], timeline.OpAllreduce, 0, -1, 8, 8, nil)
			l.Leave(now[r])
			l.Leave(now[r])
		}
		events += ranks * (2*(1+4+1+4+1+1+1) + 4 + 4 + 8 + 1)
	}
	for r, l := range locations {
		l.Leave(now[r])
	}
	return b, events
}

// sweepRun is a wavefront over rows x rows ranks with blocking calls: nearly every receive waits.
func sweepRun(rows, sweeps int) (*timeline.Timeline, int) {
	b, events := sweepBuilder(rows, sweeps)
	return b.Finish(runtime.GOMAXPROCS(0)), events
}

func sweepBuilder(rows, sweeps int) (*timeline.Builder, int) {
	ranks := rows * rows
	b, region := worldBuilder(ranks)
	main, octant := region("main", timeline.User), region("octant", timeline.User)
	recv, send := region("MPI_Recv", timeline.MPI), region("MPI_Send", timeline.MPI)
	locations := make([]*timeline.LocationBuilder, ranks)
	now := make([]unit.Duration, ranks)
	for r := range ranks {
		locations[r] = b.Location(r, 0, "", "")
		locations[r].Enter(0, main)
	}
	random, events := uint64(1), 0
	sent := make([][2]unit.Duration, ranks) // to the east and to the south
	for k := range sweeps {
		for i := range ranks {
			x, y := i%rows, i/rows
			forward := k%2 == 0
			r, east, south := i, i+1, i+rows
			if !forward { // from the other corner
				r, east, south = ranks-1-i, ranks-2-i, ranks-1-i-rows
			}
			l, t := locations[r], now[r]
			receive := func(from, direction int) {
				l.Enter(t, recv)
				t = max(t, sent[from][direction]) + 800
				l.Recv(t, int32(from), 0, 0, 100)
				l.Leave(t)
				events += 3
			}
			if x > 0 {
				receive(2*r-east, 0)
			}
			if y > 0 {
				receive(2*r-south, 1)
			}
			random = random*6364136223846793005 + 1442695040888963407
			l.Enter(t, octant)
			t += 100_000 + unit.Duration(random>>33%30_000)
			l.Leave(t)
			events += 2
			for direction, to := range []int{east, south} {
				if direction == 0 && x == rows-1 || direction == 1 && y == rows-1 {
					continue
				}
				l.Enter(t, send)
				l.Send(t, int32(to), 0, 0, 100)
				sent[r][direction] = t
				t += 700
				l.Leave(t)
				events += 3
			}
			now[r] = t
		}
	}
	for r, l := range locations {
		l.Leave(now[r])
	}
	return b, events
}

// BenchmarkAnalyze analyses synthetic runs of 1024 ranks. Rates are per second of CPU time of the process, so that
// they mean something on a busy machine.
func BenchmarkAnalyze(b *testing.B) {
	for _, kind := range []struct {
		name string
		run  func() (*timeline.Timeline, int)
	}{
		{"halo", func() (*timeline.Timeline, int) { return haloRun(32, 60) }},
		{"sweep", func() (*timeline.Timeline, int) { return sweepRun(32, 200) }},
	} {
		for _, o := range []Options{{Threads: 1}, {Threads: 2}, {Threads: 1, Forward: true}} {
			b.Run(fmt.Sprintf("run=%s/ranks=1024/threads=%d/forward=%v", kind.name, o.Threads, o.Forward), func(b *testing.B) {
				tl, events := kind.run()
				runtime.GC()
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				cpu := memory.CPU()
				var r *Result
				for b.Loop() {
					r, _ = Analyze(context.Background(), tl, o)
				}
				used := (memory.CPU() - cpu).Seconds()
				runtime.ReadMemStats(&after)
				all := float64(events) * float64(b.N)
				b.ReportMetric(all/used, "events/cpu-s")
				b.ReportMetric(all/b.Elapsed().Seconds(), "events/s")
				b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/all, "allocated-B/event")
				b.ReportMetric(float64(r.States)/float64(events), "waits/event")
			})
		}
	}
}

// BenchmarkTogether analyses the same runs with several processes, which are goroutines here with one thread each. The rate
// per second of CPU time of all of them shows what sharing costs: it would be the same if that were free.
func BenchmarkTogether(b *testing.B) {
	const rows = 32
	for _, kind := range []struct {
		name  string
		build func() (*timeline.Builder, int)
	}{
		{"halo", func() (*timeline.Builder, int) { return haloBuilder(rows, 60) }},
		{"sweep", func() (*timeline.Builder, int) { return sweepBuilder(rows, 200) }},
	} {
		for _, size := range []int{1, 2, 4, 8} {
			b.Run(fmt.Sprintf("run=%s/ranks=1024/processes=%d", kind.name, size), func(b *testing.B) {
				_, events := kind.build()
				used, rounds := 0.0, 0
				var traffic cluster.Traffic
				for b.Loop() {
					b.StopTimer()
					builders := make([]*timeline.Builder, size)
					for p := range builders {
						builders[p], _ = kind.build()
					}
					runtime.GC()
					b.StartTimer()
					cpu := memory.CPU()
					for _, err := range together(size, func(g cluster.Group) error {
						tl, err := builders[g.Rank()].FinishPart(context.Background(), g, ranksOf(rows*rows, size), 1)
						if err != nil {
							return err
						}
						r, err := Analyze(context.Background(), tl, Options{Threads: 1})
						if err == nil && g.Rank() == 0 {
							rounds, traffic = r.Rounds(), g.Traffic()
						}
						return err
					}) {
						if err != nil {
							b.Fatal(err)
						}
					}
					used += (memory.CPU() - cpu).Seconds()
				}
				all := float64(events) * float64(b.N)
				b.ReportMetric(all/used, "events/cpu-s")
				b.ReportMetric(float64(rounds), "rounds")
				b.ReportMetric(float64(traffic.Exchanges), "exchanges")
				b.ReportMetric(float64(traffic.Sent*int64(size))/float64(events), "B-sent/event")
			})
		}
	}
}
