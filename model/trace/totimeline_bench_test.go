package trace

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"

	"slackline/internal/memory"
	"slackline/model/timeline"
	"slackline/model/trace/streams"
	"slackline/model/unit"
)

// haloTrace is a loop with a halo exchange on a ring and a reduction, of about so many events per rank: two of three
// begin or end a call.
func haloTrace(ranks, events int, samples bool) *Trace {
	const main, compute, irecv, isend, waitall, allreduce = 0, 1, 2, 3, 4, 5
	regions := []string{"main", "compute", "MPI_Irecv", "MPI_Isend", "MPI_Waitall", "MPI_Allreduce"}
	var stacks []Stack
	var fromMain uint32
	if samples {
		stacks, fromMain = []Stack{{0, main}, {1, compute}}, 1
	}
	random := rand.New(rand.NewPCG(1, 1))
	all := make([][]Event, ranks)
	for r := range ranks {
		now := int64(0)
		list := make([]Event, 0, events+64)
		add := func(e Event) {
			now += 1000 + random.Int64N(1000)
			e.Time = now
			list = append(list, e)
		}
		if !samples {
			add(Event{Kind: Enter, Region: main})
		}
		for step := uint64(0); len(list) < events; step += 4 {
			if samples && step%64 == 0 {
				add(Event{Kind: Sample, Stack: 2})
			} else if !samples {
				add(Event{Kind: Enter, Region: compute})
				add(Event{Kind: Leave, Region: compute})
			}
			for k := range uint64(2) {
				add(Event{Kind: Enter, Region: irecv, Stack: fromMain})
				add(Event{Kind: IrecvPost, Request: step + k})
				add(Event{Kind: Leave, Region: irecv})
			}
			for k := range int32(2) {
				add(Event{Kind: Enter, Region: isend, Stack: fromMain})
				add(Event{Kind: Isend, Peer: (int32(r) + 1 + k*int32(ranks-2)) % int32(ranks), Tag: k, Size: 800, Request: step + 2 + uint64(k)})
				add(Event{Kind: Leave, Region: isend})
			}
			add(Event{Kind: Enter, Region: waitall, Stack: fromMain})
			for k := range int32(2) {
				add(Event{Kind: IrecvDone, Peer: (int32(r) + 1 + (1-k)*int32(ranks-2)) % int32(ranks), Tag: k, Size: 800, Request: step + uint64(k)})
				add(Event{Kind: IsendDone, Request: step + 2 + uint64(k)})
			}
			add(Event{Kind: Leave, Region: waitall})
			add(Event{Kind: Enter, Region: allreduce, Stack: fromMain})
			add(Event{Kind: CollectiveEnd, Op: 11, Root: NoRoot, Sent: 8, Received: 8})
			add(Event{Kind: Leave, Region: allreduce})
		}
		if !samples {
			add(Event{Kind: Leave, Region: main})
		}
		all[r] = list
	}
	return memoryTrace(regions, stacks, all...)
}

func BenchmarkToTimeline(b *testing.B) {
	const ranks, events = 8, 1 << 18
	for _, samples := range []bool{false, true} {
		for _, pings := range []bool{false, true} {
			b.Run(fmt.Sprintf("samples=%v/pings=%v", samples, pings), func(b *testing.B) {
				tr := haloTrace(ranks, events, samples)
				total := 0
				for r := range tr.Locations {
					total += int(tr.Locations[r].Events)
					if pings && r > 0 {
						tr.Locations[r].RoundTrips = []RoundTrip{{0, 0, 500, 1000}, {0, 1e9, 1e9 + 500, 1e9 + 1000}}
					}
				}
				b.ReportAllocs()
				for b.Loop() {
					tl, err := ToTimeline(tr, TimelineOptions{Threads: 1, Clock: ClockOffsets})
					if err != nil || len(tl.Messages) == 0 || tl.Problems.UnmatchedSends > 4*ranks {
						b.Fatal(err, len(tl.Messages), tl.Problems.UnmatchedSends)
					}
				}
				b.ReportMetric(float64(total)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
			})
		}
	}
}

// held is the memory that the heap has taken from the system and not given back: after work, its peak.
func held() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapSys - m.HeapReleased)
}

// heldAtLeast is held after what is not needed was given back.
func heldAtLeast() int64 {
	debug.FreeOSMemory()
	return held()
}

// BenchmarkOTF2Streams reads an archive with streams as Score-P writes them up to the timeline: kernels and the calls that launched them.
func BenchmarkOTF2Streams(b *testing.B) {
	const ranks, kernels = 4, 100_000
	builder := timeline.NewBuilder(ranks)
	builder.Region(timeline.RegionNamed("main"))
	builder.Region(timeline.RegionNamed("cuLaunchKernel"))
	const step = unit.Microsecond
	for r := range ranks {
		l := builder.Location(r, 0, "master", "")
		l.Enter(0, 0)
		for i := range unit.Duration(kernels) {
			l.Enter(3*i*step+step, 1)
			l.Leave(3*i*step + 2*step)
		}
		l.Leave(3 * kernels * step)
	}
	tl := builder.Finish(1)
	d := timeline.NewDeviceBuilder(tl)
	for r := range ranks {
		for s := range 2 {
			stream := d.Stream(r, 0, int64(s), fmt.Sprintf("CUDA[0:%d]", s))
			for i := s; i < kernels; i += 2 {
				at := unit.Duration(3*i)*step + 2*step
				stream.Add(at, at+step, d.Region([]string{"gemm", "add", "norm"}[i%3]), timeline.ComputeKernel,
					timeline.Launch{Thread: int32(r), Call: int32(i + 1)})
			}
		}
	}
	d.Finish(nil)
	dir := b.TempDir()
	if _, err := Write(filepath.Join(dir, "run.otf2"), FromTimeline(tl), "otf2", WriteOptions{}); err != nil {
		b.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "run", streams.Name)); err != nil {
		b.Fatal(err)
	}
	const events = 4 * ranks * kernels // starts and ends of calls and of kernels
	before, peak := heldAtLeast(), int64(0)
	passes, cpu := 0, memory.CPU()
	b.ReportAllocs()
	for b.Loop() {
		tr, err := Open(os.DirFS(dir), "run.otf2", Options{})
		if err != nil {
			b.Fatal(err)
		}
		got, err := ToTimeline(tr, TimelineOptions{Threads: 1})
		if err != nil || len(got.Devices.Streams) != 2*ranks || !got.Devices.Streams[0].Launch[kernels/4].Known() {
			b.Fatal(err)
		}
		if passes++; passes == 1 {
			peak = held() - before
		}
	}
	b.ReportMetric(float64(passes*events)/(memory.CPU()-cpu).Seconds()/1e6, "Mevents/cpu-s")
	b.ReportMetric(float64(peak)/events, "B/event")
}
