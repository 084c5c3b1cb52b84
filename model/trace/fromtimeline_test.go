package trace

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// A timeline that becomes a trace and a timeline again is the same. The makings of communicators inside of one group are records that no
// timeline keeps: where there are some, the numbers of the others differ.
func TestFromTimeline(t *testing.T) {
	cases, err := filepath.Glob(casesDir + "/*")
	if err != nil || len(cases) != 20 {
		t.Fatalf("%d cases, error %v", len(cases), err)
	}
	wider, err := filepath.Glob(widerCasesDir + "/*/trace.txt")
	if err != nil || len(wider) < 30 {
		t.Fatalf("%d wider cases, error %v", len(wider), err)
	}
	numbers := cmp.Options{
		cmpopts.IgnoreFields(timeline.Member{}, "Seq"), cmpopts.IgnoreFields(timeline.EpochCall{}, "Seq"),
		cmpopts.IgnoreFields(timeline.Message{}, "SendDoneSeq", "RecvSeq"),
	}
	for i, file := range append(cases, wider...) {
		options := cmp.Options{cmpopts.EquateEmpty(), cmpopts.IgnoreFields(timeline.Location{}, "ClockError")}
		name := filepath.Base(file)
		if i >= len(cases) {
			options, name = append(options, numbers), filepath.Base(filepath.Dir(file))
		}
		t.Run(name, func(t *testing.T) {
			want := toTimeline(t, mustOpen(t, file), TimelineOptions{Strict: true})
			want.Metrics = nil // simulated runs count nothing
			for i := range want.Locations {
				want.Locations[i].Counts = nil
			}
			want.Simulated = true
			tr := FromTimeline(want)
			for i := range tr.Locations {
				if events, _ := eventsOf(tr, i); uint64(len(events)) != tr.Locations[i].Events {
					t.Errorf("location %d has %d events, but announces %d", i, len(events), tr.Locations[i].Events)
				}
			}
			got := toTimeline(t, tr, TimelineOptions{Strict: true})
			if diff := cmp.Diff(want, got, options); diff != "" {
				t.Errorf("the timeline differs (-want +got):\n%s", diff)
			}
			compare(t, mustOpen(t, write(t, tr, "slt")), tr)
		})
	}
}

// objectRun is a random run with all that ranks share beside messages: collectives with roots and sizes by peer, windows with all kinds
// of epochs, a file, an intercommunicator; each rank makes one call for each step.
type objectRun struct {
	*timeline.Builder
	ranks                      []*timeline.LocationBuilder
	calls                      map[string]timeline.RegionID
	world, inter, window, file int32
	now                        unit.Duration
	random                     *rand.Rand
}

func newObjectRun(seed uint64, ranks int) *objectRun {
	r := &objectRun{Builder: timeline.NewBuilder(ranks), random: rand.New(rand.NewPCG(seed, 6))}
	main := r.Region(timeline.Region{Name: "main"})
	r.calls = map[string]timeline.RegionID{}
	for _, name := range []string{
		"MPI_Win_create", "MPI_Win_fence", "MPI_Win_free", "MPI_Win_post", "MPI_Win_start", "MPI_Win_complete", "MPI_Win_wait",
		"MPI_Win_lock", "MPI_Win_lock_all", "MPI_Win_unlock", "MPI_Win_unlock_all", "MPI_Win_flush", "MPI_Win_flush_local",
		"MPI_Win_flush_all", "MPI_Put", "MPI_Get", "MPI_File_open", "MPI_File_iwrite_all", "MPI_Wait", "MPI_File_close", "MPI_Bcast",
	} {
		r.calls[name] = r.Region(timeline.RegionNamed(name))
	}
	var members []int32
	for rank := range int32(ranks) {
		members = append(members, rank)
	}
	r.world = r.Comm(timeline.Comm{Name: "MPI_COMM_WORLD", Members: members})
	r.inter = r.Comm(timeline.Comm{Name: "inter", Members: members[:1], Remote: members[1:]})
	r.window = r.Window(timeline.Object{Name: "halo", Comm: r.world})
	r.file = r.File(timeline.Object{Name: "out file", Comm: r.world})
	for rank := range ranks {
		l := r.Location(rank, 0, fmt.Sprint("rank ", rank), "node")
		l.Enter(0, main)
		r.ranks = append(r.ranks, l)
	}
	return r
}

// each lets every rank make a call in which it does something; the calls of all overlap.
func (r *objectRun) each(call string, do func(rank int, l *timeline.LocationBuilder, at unit.Duration)) {
	for rank, l := range r.ranks {
		enter := r.now + unit.Duration(r.random.IntN(10))
		l.Enter(enter, r.calls[call])
		do(rank, l, enter+10)
		l.Leave(enter + 20)
	}
	r.now += 40
}

// one lets one rank make a call for each record of a window.
func (r *objectRun) one(rank int, records ...timeline.WindowRecord) {
	for _, record := range records {
		record.Window = r.window
		l := r.ranks[rank]
		l.Enter(r.now, r.calls[callOf(&record)])
		l.OneSided(r.now+3, record)
		l.Leave(r.now + 7)
		r.now += 10
	}
}

// callOf is the call that makes a record.
func callOf(r *timeline.WindowRecord) string {
	name := map[timeline.WindowAction]string{
		timeline.WinPost: "MPI_Win_post", timeline.WinStart: "MPI_Win_start", timeline.WinComplete: "MPI_Win_complete",
		timeline.WinWait: "MPI_Win_wait", timeline.WinLock: "MPI_Win_lock", timeline.WinUnlock: "MPI_Win_unlock",
		timeline.WinFlush: "MPI_Win_flush", timeline.WinAccess: "MPI_Get",
	}[r.Kind]
	switch {
	case r.Sent > 0:
		name = "MPI_Put"
	case r.Kind == timeline.WinFlush && r.Flag:
		name += "_local"
	case r.Target == timeline.AllTargets:
		name += "_all"
	}
	return name
}

func (r *objectRun) step(number uint64) {
	n := int32(len(r.ranks))
	origin, target := r.random.IntN(int(n)), r.random.Int32N(n)
	bytes := r.random.Int64N(1000)
	move := timeline.WindowRecord{Kind: timeline.WinAccess, Target: target, Sent: bytes + 1}
	if r.random.IntN(2) == 0 {
		move.Sent, move.Received = 0, bytes+1
	}
	switch r.random.IntN(7) {
	case 0:
		r.each("MPI_Win_fence", func(_ int, l *timeline.LocationBuilder, at unit.Duration) {
			l.WinCollective(at, timeline.OpBarrier, r.window)
		})
	case 1:
		exclusive, local := r.random.IntN(2) == 0, r.random.IntN(2) == 0
		r.one(origin, timeline.WindowRecord{Kind: timeline.WinLock, Target: target, Flag: exclusive}, move,
			timeline.WindowRecord{Kind: timeline.WinFlush, Target: target, Flag: local},
			timeline.WindowRecord{Kind: timeline.WinUnlock, Target: target})
	case 2:
		r.one(origin, timeline.WindowRecord{Kind: timeline.WinLock, Target: timeline.AllTargets}, move,
			timeline.WindowRecord{Kind: timeline.WinFlush, Target: timeline.AllTargets},
			timeline.WindowRecord{Kind: timeline.WinUnlock, Target: timeline.AllTargets})
	case 3:
		r.one(int(target), timeline.WindowRecord{Kind: timeline.WinPost, Group: []int32{int32(origin)}})
		r.one(origin, timeline.WindowRecord{Kind: timeline.WinStart, Group: []int32{target}}, move,
			timeline.WindowRecord{Kind: timeline.WinComplete})
		r.one(int(target), timeline.WindowRecord{Kind: timeline.WinWait})
	case 4:
		r.each("MPI_File_iwrite_all", func(_ int, l *timeline.LocationBuilder, at unit.Duration) { l.FileBegin(at, r.file, number, bytes) })
		r.each("MPI_Wait", func(_ int, l *timeline.LocationBuilder, at unit.Duration) { l.FileEnd(at, r.file, number) })
	case 5:
		r.each("MPI_Bcast", func(_ int, l *timeline.LocationBuilder, at unit.Duration) {
			l.Collective(at, timeline.OpBcast, r.world, target, bytes, bytes, nil)
		})
	case 6: // a broadcast of rank 0 to the other group
		r.each("MPI_Bcast", func(rank int, l *timeline.LocationBuilder, at unit.Duration) {
			root := int32(0)
			if rank == 0 {
				root = timeline.RootSelf
			}
			l.Collective(at, timeline.OpBcast, r.inter, root, bytes, bytes, nil)
		})
	}
}

func (r *objectRun) finish() *timeline.Timeline {
	for _, l := range r.ranks {
		l.Leave(r.now + 50)
	}
	r.SetSimulated()
	return r.Finish(1)
}

// TestObjectsInEveryFormat: windows, files and intercommunicators are the same in a timeline that was written and read again, in each
// format that keeps them.
func TestObjectsInEveryFormat(t *testing.T) {
	for seed := range uint64(12) {
		r := newObjectRun(seed, 2+int(seed)%2)
		r.each("MPI_Win_create", func(_ int, l *timeline.LocationBuilder, at unit.Duration) {
			l.WinCollective(at, timeline.OpCreateHandle, r.window)
		})
		r.each("MPI_File_open", func(_ int, l *timeline.LocationBuilder, at unit.Duration) { l.FileOpen(at, r.file) })
		for number := range uint64(10) {
			r.step(number + 1)
		}
		r.each("MPI_File_close", func(_ int, l *timeline.LocationBuilder, at unit.Duration) { l.FileClose(at, r.file) })
		r.each("MPI_Win_free", func(_ int, l *timeline.LocationBuilder, at unit.Duration) {
			l.WinCollective(at, timeline.OpDestroyHandle, r.window)
		})
		want := r.finish()
		if p := &want.Problems; p.IncompleteCollectives > 0 || len(p.Notes) > 0 {
			t.Fatalf("seed %d: the run has problems: %+v", seed, p)
		}
		numbers := cmp.Options{cmpopts.EquateEmpty(), cmpopts.IgnoreFields(timeline.Member{}, "Seq"),
			cmpopts.IgnoreFields(timeline.EpochCall{}, "Seq"), cmpopts.IgnoreFields(timeline.Location{}, "ClockError")}
		for _, format := range []string{"slt", "trace-text", "otf2"} {
			var tr *Trace
			if format == "trace-text" {
				var err error
				if tr, err = parse(print(t, FromTimeline(want))); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			} else {
				path := filepath.Join(t.TempDir(), "run")
				if _, err := Write(path, FromTimeline(want), format, WriteOptions{}); err != nil {
					t.Fatalf("seed %d, %s: %v", seed, format, err)
				}
				tr = mustOpen(t, path)
			}
			options := numbers
			if format == "otf2" { // every operation has a record of its completion there, which reads as one of a flush
				options = append(options[:len(options):len(options)], cmpopts.IgnoreFields(timeline.Epochs{}, "Records"))
			}
			got := toTimeline(t, tr, TimelineOptions{Strict: true})
			for name, pair := range map[string][2]any{
				"collectives": {want.Collectives, got.Collectives}, "members": {want.Members, got.Members}, "epochs": {want.Epochs, got.Epochs},
				"windows": {want.Windows, got.Windows}, "files": {want.Files, got.Files}, "communicators": {want.Comms, got.Comms},
				"problems": {want.Problems, got.Problems}, "locations": {want.Locations, got.Locations},
			} {
				if diff := cmp.Diff(pair[0], pair[1], options); diff != "" {
					t.Errorf("seed %d, %s: %s (-want +got):\n%s", seed, format, name, diff)
				}
			}
		}
	}
}

// Kernels have regions after that of the time when recording was off, and times without a CPU have one of their own. A trace of such a run
// has neither of those two, and can be read.
func TestRegionsOfTimelinesOnly(t *testing.T) {
	tr, err := parse(`slackline trace 1
rank 0
0..2 f
@2 recording off
@5 recording on
5..9 f
`)
	if err != nil {
		t.Fatal(err)
	}
	run := write(t, tr, "slt")
	want := toTimeline(t, mustOpen(t, run), TimelineOptions{})
	more := *want
	f := slices.IndexFunc(want.Regions, func(r timeline.Region) bool { return r.Name == "f" })
	off := slices.Index(want.Regions, timeline.NotRecorded)
	if f < 0 || off < f {
		t.Fatalf("regions %v", want.Regions)
	}
	kernel := want.Regions[f]
	lack := timeline.Region{Name: timeline.NoCPUName, Paradigm: timeline.NoCPU}
	more.Regions = append(slices.Concat(want.Regions[:f], want.Regions[f+1:]), lack, kernel)
	more.Paths = slices.Clone(want.Paths)
	for i := range more.Paths {
		switch more.Paths[i].Region {
		case timeline.RegionID(f):
			more.Paths[i].Region = timeline.RegionID(len(more.Regions) - 1)
		case timeline.RegionID(off):
			more.Paths[i].Region = timeline.RegionID(off - 1)
		}
	}
	for _, format := range []string{"slt", "trace-text"} {
		got := toTimeline(t, mustOpen(t, write(t, FromTimeline(&more), format)), TimelineOptions{})
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(timeline.Location{}, "ClockError")); diff != "" {
			t.Errorf("%s: the timeline differs (-want +got):\n%s", format, diff)
		}
	}
}
