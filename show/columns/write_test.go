package columns

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"slackline/analyze/waits"
	"slackline/internal/columnfile"
	"slackline/internal/spill"
	"slackline/model/timeline"
	"slackline/model/trace"
	"slackline/model/unit"
)

// tablesOf writes the tables of a trace, with the run in a space if there is one, and returns the number of its events.
func tablesOf(tb testing.TB, path, dir string, f columnfile.Format, space *spill.Space) (events uint64, err error) {
	tb.Helper()
	tr, err := trace.Open(os.DirFS(filepath.Dir(path)), filepath.Base(path), trace.Options{})
	if err != nil {
		return 0, err
	}
	for i := range tr.Locations {
		events += tr.Locations[i].Events
	}
	tl, err := trace.ToTimeline(tr, trace.TimelineOptions{Space: space})
	if tr.Close != nil {
		err = errors.Join(err, tr.Close())
	}
	if err != nil {
		return 0, err
	}
	result, err := waits.Analyze(tb.Context(), tl, waits.Options{Threads: 2})
	if err != nil {
		return 0, err
	}
	_, err = WriteDir(tb.Context(), dir, f, true, NewRun(result))
	return events, err
}

// Tables of a run whose lists are in a file are the same, byte for byte.
func TestTablesOfASpace(t *testing.T) {
	for i, path := range traces(t) {
		if testing.Short() && i%8 != 0 {
			continue
		}
		dir := t.TempDir()
		space, err := spill.New(dir, 1)
		if err != nil {
			t.Fatal(err)
		}
		if space != nil {
			space.Smallest = 1
		}
		f := columnfile.Formats()[i%len(columnfile.Formats())]
		if _, err := tablesOf(t, path, filepath.Join(dir, "heap"), f, nil); err != nil {
			t.Fatal(path, err)
		}
		if _, err := tablesOf(t, path, filepath.Join(dir, "space"), f, space); err != nil {
			t.Fatal(path, err)
		}
		if err := errors.Join(space.Err(), space.Close()); err != nil {
			t.Fatal(err)
		}
		for _, table := range Tables {
			heap, err1 := os.ReadFile(filepath.Join(dir, "heap", table.Name+"."+string(f)))
			got, err2 := os.ReadFile(filepath.Join(dir, "space", table.Name+"."+string(f)))
			if err := errors.Join(err1, err2); err != nil || !bytes.Equal(heap, got) {
				t.Errorf("%s: table %s is another one in a space (%v)", path, table.Name, err)
			}
		}
	}
}

// ringTrace writes the trace of a ring of ranks that exchange messages and reduce, and returns its name.
func ringTrace(b *testing.B, ranks, iterations int) string {
	builder := timeline.NewBuilder(ranks)
	names := []string{"main", "compute", "MPI_Irecv", "MPI_Isend", "MPI_Waitall", "MPI_Allreduce"}
	for _, name := range names {
		builder.Region(timeline.RegionNamed(name))
	}
	world := timeline.Comm{Name: "MPI_COMM_WORLD"}
	for r := range ranks {
		world.Members = append(world.Members, int32(r))
	}
	builder.Comm(world)
	const main, compute, irecv, isend, waitall, allreduce = 0, 1, 2, 3, 4, 5
	for r := range ranks {
		l := builder.Location(r, 0, fmt.Sprint("rank ", r), "")
		l.SetClockError(0)
		now := unit.Duration(0)
		step := func() unit.Duration { now += unit.Microsecond; return now }
		left, right := int32((r+ranks-1)%ranks), int32((r+1)%ranks)
		l.Enter(now, main)
		for i := range iterations {
			l.Enter(step(), compute)
			now += unit.Duration((r*7919+i*104729)%1000) * unit.Nanosecond
			l.Leave(step())
			l.Enter(step(), irecv)
			l.Post(step(), 1)
			l.Leave(step())
			l.Enter(step(), isend)
			l.Isend(step(), right, 0, 0, 800, 2)
			l.Leave(step())
			l.Enter(step(), waitall)
			now = unit.Duration(i+1) * 100 * unit.Microsecond
			l.IrecvDone(step(), left, 0, 0, 800, 1)
			l.IsendDone(step(), 2)
			l.Leave(step())
			l.Enter(step(), allreduce)
			now += 5 * unit.Microsecond
			l.Collective(step(), timeline.OpAllreduce, 0, -1, 8, 8, nil)
			l.Leave(step())
		}
		l.Leave(step())
	}
	name := filepath.Join(b.TempDir(), "ring.slt")
	if _, err := trace.Write(name, trace.FromTimeline(builder.Finish(2)), "slt", trace.WriteOptions{}); err != nil {
		b.Fatal(err)
	}
	return name
}

// BenchmarkWriteDir reads a trace, analyzes it and writes its tables, with the lists of the run on the heap and in a file.
func BenchmarkWriteDir(b *testing.B) {
	path := ringTrace(b, 64, 2000)
	for _, test := range []struct {
		format columnfile.Format
		where  string
	}{{columnfile.Parquet, "heap"}, {columnfile.Parquet, "file"}, {columnfile.Arrow, "file"}} {
		b.Run(fmt.Sprintf("format=%s/lists=%s", test.format, test.where), func(b *testing.B) {
			b.ReportAllocs()
			total := uint64(0)
			for b.Loop() {
				var space *spill.Space
				var err error
				if test.where == "file" {
					if space, err = spill.New(b.TempDir(), 64<<20); err != nil {
						b.Fatal(err)
					}
				}
				events, err := tablesOf(b, path, filepath.Join(b.TempDir(), "tables"), test.format, space)
				if err := errors.Join(err, space.Err(), space.Close()); err != nil {
					b.Fatal(err)
				}
				total += events
			}
			b.ReportMetric(float64(total)/b.Elapsed().Seconds(), "events/s")
		})
	}
}
