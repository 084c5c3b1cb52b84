package trace

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"testing"

	"slackline/model/timeline"
)

// stencilTrace is a trace as programs leave it: iterations of computation, a halo exchange with
// non-blocking messages and a reduction, with times in nanoseconds that vary.
func stencilTrace(ranks, iterations int) *Trace {
	d := Definitions{Ranks: ranks, Stacks: []Stack{{}}, Comms: []timeline.Comm{{Name: "MPI_COMM_WORLD"}}}
	for _, name := range []string{"main", "compute", "MPI_Irecv", "MPI_Isend", "MPI_Waitall", "MPI_Allreduce"} {
		d.Regions = append(d.Regions, timeline.RegionNamed(name))
	}
	d.Resolution = 1e9
	var all [][]Event
	for r := range ranks {
		d.Comms[0].Members = append(d.Comms[0].Members, int32(r))
		state := uint64(r + 1)
		now := int64(0)
		var list []Event
		add := func(e Event, mean int64) {
			state = state*6364136223846793005 + 1442695040888963407
			now += (mean + int64(state>>40)%(mean/2+1)) * 1000
			e.Time = now
			list = append(list, e)
		}
		add(Event{Kind: Enter, Region: 0}, 1)
		for i := range iterations {
			add(Event{Kind: Enter, Region: 1}, 60)
			add(Event{Kind: Leave, Region: 1}, 20000)
			for k := range uint64(4) {
				add(Event{Kind: Enter, Region: 2}, 60)
				add(Event{Kind: IrecvPost, Request: uint64(i)*8 + k}, 100)
				add(Event{Kind: Leave, Region: 2}, 100)
			}
			for k := range uint64(4) {
				add(Event{Kind: Enter, Region: 3}, 60)
				add(Event{Kind: Isend, Peer: int32((r + int(k) + 1) % ranks), Tag: int32(k), Size: 8192, Request: uint64(i)*8 + k + 4}, 100)
				add(Event{Kind: Leave, Region: 3}, 300)
			}
			add(Event{Kind: Enter, Region: 4}, 60)
			for k := range uint64(4) {
				add(Event{Kind: IrecvDone, Peer: int32((r + ranks - int(k)%ranks - 1) % ranks), Tag: int32(k), Size: 8192, Request: uint64(i)*8 + k},
					1000)
				add(Event{Kind: IsendDone, Request: uint64(i)*8 + k + 4}, 10)
			}
			add(Event{Kind: Leave, Region: 4}, 20)
			add(Event{Kind: Enter, Region: 5}, 60)
			add(Event{Kind: CollectiveBegin}, 20)
			add(Event{Kind: CollectiveEnd, Op: timeline.OpAllreduce, Root: NoRoot, Sent: 8, Received: 8}, 5000)
			add(Event{Kind: Leave, Region: 5}, 20)
		}
		add(Event{Kind: Leave, Region: 0}, 1)
		d.Locations = append(d.Locations, Location{ID: uint64(r), Rank: r, Name: "master", Events: uint64(len(list))})
		all = append(all, list)
	}
	return newMemory(d, all)
}

// benchmarkRead reads all events of a trace in a format, one location after the other.
func benchmarkRead(b *testing.B, format string) {
	tr := stencilTrace(4, 12000)
	path := write(b, tr, format)
	size := int64(0)
	err := fs.WalkDir(os.DirFS(path), ".", func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			info, e := entry.Info()
			size, err = size+info.Size(), e
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	total, sum := 0, int64(0)
	buffer := make([]Event, batch)
	for b.Loop() {
		total = 0
		got := mustOpen(b, path)
		for i := range got.Locations {
			r, err := got.Open(i)
			if err != nil {
				b.Fatal(err)
			}
			for {
				n, err := r.Read(buffer)
				total += n
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					b.Fatal(err)
				}
				sum += buffer[n-1].Time
			}
			r.Close()
		}
	}
	if sum == 0 {
		b.Fatal("nothing was read")
	}
	b.ReportMetric(float64(total)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(size)*float64(b.N)/b.Elapsed().Seconds()/1e6, "MB/s")
	b.ReportMetric(float64(size)/float64(total), "bytes/event")
}

// benchmarkWrite writes a trace in a format.
func benchmarkWrite(b *testing.B, format string) {
	tr := stencilTrace(4, 3000)
	total := uint64(0)
	for i := range tr.Locations {
		total += tr.Locations[i].Events
	}
	path := b.TempDir() + "/run"
	for b.Loop() {
		if _, err := Write(path, tr, format, WriteOptions{Force: true, Threads: 1}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(total)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

func BenchmarkReadSLT(b *testing.B)   { benchmarkRead(b, "slt") }
func BenchmarkWriteSLT(b *testing.B)  { benchmarkWrite(b, "slt") }
func BenchmarkReadOTF2(b *testing.B)  { benchmarkRead(b, "otf2") }
func BenchmarkWriteOTF2(b *testing.B) { benchmarkWrite(b, "otf2") }
