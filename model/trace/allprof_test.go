package trace

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"slackline/model/timeline"
	"slackline/model/trace/damage"
)

const allprofDir = "../../testdata/liballprof"

// records returns the events of a location without calls, in a short form.
func records(t *testing.T, tr *Trace, i int) []string {
	t.Helper()
	events, err := eventsOf(tr, i)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	name := ""
	for _, e := range events {
		switch e.Kind {
		case Enter:
			name = tr.Regions[e.Region].Name
			continue
		case Leave, CollectiveBegin:
			continue
		}
		w := &textWriter{d: &tr.Definitions}
		for k := range tr.Comms {
			w.comms = append(w.comms, fmt.Sprint(k))
		}
		w.record(&e)
		list = append(list, fmt.Sprintf("%s %s@%s", name, w.b, appendTime(nil, e.Time)))
	}
	return list
}

// rankFiles makes files of ranks out of lines. INIT and FINALIZE stand for usual ones, W for MPI_COMM_WORLD.
func rankFiles(texts ...string) fstest.MapFS {
	files := fstest.MapFS{}
	for rank, text := range texts {
		text = strings.ReplaceAll(text, "INIT", "MPI_Init:-:1:2:1000")
		text = strings.ReplaceAll(text, "FINALIZE", "MPI_Finalize:9000:-")
		text = strings.ReplaceAll(text, ":W:", fmt.Sprintf(":7,%d,%d:", rank, len(texts)))
		files[fmt.Sprintf("pmpi-trace-rank-%d.txt", rank)] = &fstest.MapFile{Data: []byte(text + "\n")}
	}
	return files
}

func TestAllprofSample(t *testing.T) {
	tr := mustOpen(t, allprofDir+"/p2p-0.txt")
	if tr.Format != "liballprof" || tr.Ranks != 2 || tr.Locations[1].Host != "node1.example" || len(tr.Comms) != 1 {
		t.Errorf("trace = %+v", tr.Definitions)
	}
	// The clock of rank 1 starts 3 us later and is 12 us behind, 15 us at the end.
	want := []ClockOffset{{0, 15e6, 0}, {1199e6, 18e6, 0}}
	if got := tr.Locations[1].Offsets; !slices.Equal(got, want) {
		t.Errorf("offsets = %v, want %v", got, want)
	}
	if got, want := records(t, tr, 0), []string{
		"MPI_Irecv post 5000@154000",
		"MPI_Isend send to 1 size 800 tag 7 request 5008@157000",
		"MPI_Waitall recv from 1 size 800 tag 7 request 5000@672000",
		"MPI_Waitall sent 5008@672000",
		"MPI_Send send to 1 size 36000 tag 3@732000",
		"MPI_Sendrecv send to 1 size 16 tag 1@774000",
		"MPI_Sendrecv recv from 1 size 16 tag 1@782000",
		"MPI_Isend send to 1 size 1 tag 9 request 5100@787000",
		"MPI_Wait sent 5100@870000",
		"MPI_Bcast bcast root 0 sent 24@887000",
		"MPI_Allreduce allreduce sent 16 received 16@1152000",
		"MPI_Alltoallv alltoallv sent 30 received 20 counts 10,20,10,10@1202000",
		"MPI_Barrier barrier@1212000",
	}; !slices.Equal(got, want) {
		t.Errorf("rank 0 has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	got := records(t, tr, 1)
	if want := "MPI_Recv recv from 0 size 64 tag 9@837000"; !slices.Contains(got, want) {
		t.Errorf("rank 1 has\n%s\nwant among them %s", strings.Join(got, "\n"), want)
	}
	for i := range tr.Locations {
		if events, _ := eventsOf(tr, i); tr.Locations[i].Events != uint64(len(events)) {
			t.Errorf("location %d: %d events are announced, but there are %d", i, tr.Locations[i].Events, len(events))
		}
	}
}

// The old header, times with a fraction, names with leading zeros, files that are all the same.
func TestAllprofOldFiles(t *testing.T) {
	text := "# collprof 0.9 output file\n# Sun Oct 26 12:33:51 2008\n# host: box\n# Init clockdiff: 0.000000\n\n" +
		"MPI_Init:-:1:2:1.0\nMPI_Bcast:3.25:5648928:12:13,1,1:0:5641280,0,2:4.000001\n# Finalize clockdiff: 0.000000\nMPI_Finalize:13.0:-\n"
	other := strings.ReplaceAll(text, ",0,2:", ",1,2:")
	files := fstest.MapFS{"trace_bcast-00.dat": {Data: []byte(text)}, "trace_bcast-01.dat": {Data: []byte(other)}, "trace_bcast-02.txt": {}}
	tr, err := Open(files, "trace_bcast-00.dat", Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	if tr.Ranks != 2 || tr.Locations[1].Host != "box" {
		t.Errorf("definitions = %+v", tr.Definitions)
	}
	if got, want := records(t, tr, 1), []string{"MPI_Bcast bcast root 0 received 12@3000.001"}; !slices.Equal(got, want) {
		t.Errorf("records = %q, want %q", got, want)
	}
}

// Requests of 4 bytes are found out; some of them are null.
func TestAllprofRequestSize(t *testing.T) {
	text := `INIT
MPI_Irecv:1100:1:1:13,1,1:0:1:W:500:1101
MPI_Irecv:1110:1:2:13,1,1:0:1:W:504:1111
MPI_Irecv:1120:1:3:13,1,1:0:1:W:512:1121
MPI_Waitall:1200:4:500:0:1201
MPI_Irecv:1300:1:4:13,1,1:0:1:W:500:1301
MPI_Irecv:1310:1:5:13,1,1:0:1:W:508:1311
MPI_Waitall:1400:2:500:0:1401
FINALIZE`
	completed := func(o Options) (sizes []int64) {
		tr, err := Open(rankFiles(text), "pmpi-trace-rank-0.txt", o)
		if err != nil {
			t.Fatal(err)
		}
		events, _ := eventsOf(tr, 0)
		for _, e := range events {
			if e.Kind == IrecvDone {
				sizes = append(sizes, e.Size)
			}
		}
		return sizes
	}
	if got, want := completed(Options{}), []int64{1, 2, 3, 4, 5}; !slices.Equal(got, want) {
		t.Errorf("completed = %v, want %v", got, want)
	}
	if got, want := completed(Options{RequestSize: 8}), []int64{1, 4, 5}; !slices.Equal(got, want) {
		t.Errorf("with 8 bytes completed = %v, want %v", got, want)
	}
	if got, want := completed(Options{RequestSize: 4}), []int64{1, 2, 3, 4}; !slices.Equal(got, want) {
		t.Errorf("with 4 bytes completed = %v, want %v", got, want)
	}
}

// What tests complete, persistent requests, cancelled ones, messages to nobody.
func TestAllprofRequests(t *testing.T) {
	tr, err := Open(rankFiles(`INIT
MPI_Isend:1100:1:1:13,1,1:0:1:W:500:1101
MPI_Test:1110:500:1:2:1111
MPI_Test:1120:500:1:2:1121
MPI_Isend:1200:1:1:13,1,1:-2:1:W:600:1201
MPI_Isend:1210:1:2:13,1,1:0:1:W:500:1211
MPI_Waitany:1220:1:500:1:2:1221
MPI_Wait:1230:500:1:1231
MPI_Send_init:1300:1:3:13,1,1:0:1:W:700:1301
MPI_Start:1310:700:1311
MPI_Wait:1320:700:1:1321
MPI_Startall:1330:1:700:1331
MPI_Waitall:1340:1:700:1:1341
MPI_Irecv:1400:1:1:13,1,1:0:1:W:800:1401
MPI_Cancel:1410:800:1411
MPI_Send:1500:1:1:13,1,1:-1:1:W:1501
MPI_Iallreduce:1600:1:2:4:10,8,8:3:W:900:1601
MPI_Wait:1610:900:1:1611
MPI_Something_new:1700:1,2:3:1701
FINALIZE`), "pmpi-trace-rank-0.txt", Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := records(t, tr, 0), []string{
		"MPI_Isend send to 0 size 1 tag 1 request 500@100000", "MPI_Test sent 500@121000",
		"MPI_Isend send to 0 size 2 tag 1 request 500@210000", "MPI_Wait sent 500@231000",
		"MPI_Start send to 0 size 3 tag 1 request 700@310000", "MPI_Wait sent 700@321000",
		"MPI_Startall send to 0 size 3 tag 1 request 700@330000", "MPI_Waitall sent 700@341000",
		"MPI_Irecv post 800@400000", "MPI_Cancel cancel 800@411000",
		"MPI_Iallreduce issue 900@600000", "MPI_Wait allreduce sent 32 received 32 request 900@611000",
	}; !slices.Equal(got, want) {
		t.Errorf("records\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Communicators follow from splits and dups; one that comes from nowhere is left out.
func TestAllprofComms(t *testing.T) {
	line := func(rank, color, key, own int) string {
		return fmt.Sprintf(`INIT
MPI_Comm_split:1100:W:%d:%d:55:1101
MPI_Comm_dup:1110:W:56:1111
MPI_Barrier:1200:%d,%d,2:1201
MPI_Allreduce:1210:1:2:4:10,8,8:3:99,%d,4:1211
MPI_Send:1220:1:1:13,1,1:0:1:123,0,3:1221
MPI_Barrier:1230:8,0,1:1231
FINALIZE`, color, key, 40+rank, own, rank)
	}
	files := rankFiles(line(0, 0, 5, 1), line(1, 1, 0, 0), line(2, 0, 1, 0), line(3, 1, 0, 1))
	tr, err := Open(files, "pmpi-trace-rank-0.txt", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(tr.Warnings) != 4 || !strings.Contains(tr.Warnings[0], "pmpi-trace-rank-0.txt:6: the members of communicator 123") {
		t.Errorf("warnings = %q", tr.Warnings)
	}
	members := func(rank int, kind Kind, op timeline.Op) []int32 {
		events, _ := eventsOf(tr, rank)
		for _, e := range events {
			if e.Kind == kind && e.Op == op && e.Comm != 0 {
				return tr.Comms[e.Comm].Members
			}
		}
		return nil
	}
	for rank, want := range [][]int32{{2, 0}, {1, 3}, {2, 0}, {1, 3}} {
		if got := members(rank, CollectiveEnd, timeline.OpBarrier); !slices.Equal(got, want) {
			t.Errorf("rank %d: the barrier has members %v, want %v", rank, got, want)
		}
		if got := members(rank, CollectiveEnd, timeline.OpAllreduce); !slices.Equal(got, []int32{0, 1, 2, 3}) {
			t.Errorf("rank %d: the allreduce has members %v", rank, got)
		}
		if got, want := records(t, tr, rank)[2], "MPI_Send other@220000"; got != want {
			t.Errorf("rank %d: %q, want %q", rank, got, want)
		}
	}
}

// A receive from any source gets what was sent first, unless an earlier receive takes that.
func TestAllprofWildcards(t *testing.T) {
	tr, err := Open(rankFiles(`INIT
MPI_Recv:1100:1:9:13,1,1:-1:-1:W:0:1500
MPI_Recv:1510:1:9:13,1,1:1:4:W:0:1520
MPI_Irecv:1530:1:9:13,1,1:-1:4:W:500:1531
MPI_Wait:1540:500:0:1541
MPI_Recv:1550:1:9:13,1,1:-1:77:W:0:1560
FINALIZE`, `INIT
MPI_Send:1300:1:1:13,1,1:0:4:W:1301
MPI_Send:1310:1:1:13,1,1:0:4:W:1311
FINALIZE`, `INIT
MPI_Send:1200:1:1:13,1,1:0:3:W:1201
FINALIZE`), "pmpi-trace-rank-0.txt", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(tr.Warnings) != 1 || !strings.Contains(tr.Warnings[0], "for 1 receives from any source") {
		t.Errorf("warnings = %q", tr.Warnings)
	}
	if got, want := records(t, tr, 0), []string{
		"MPI_Recv recv from 2 size 9 tag 3@500000", "MPI_Recv recv from 1 size 9 tag 4@520000",
		"MPI_Irecv post 500@530000", "MPI_Wait recv from 1 size 9 tag 4 request 500@541000", "MPI_Recv other@560000",
	}; !slices.Equal(got, want) {
		t.Errorf("records\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// The tracer prints microseconds where it says seconds.
func TestAllprofClockUnit(t *testing.T) {
	header := "# clockdiff: %f s (relative to rank 0)\n"
	files := rankFiles(fmt.Sprintf(header, 0.0)+"INIT\nFINALIZE", fmt.Sprintf(header, 12.5)+"INIT\nFINALIZE")
	tr, err := Open(files, "pmpi-trace-rank-0.txt", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(tr.Warnings) != 1 || !strings.Contains(tr.Warnings[0], "taken as microseconds") || tr.Locations[1].Offsets[0].Offset != 12_500_000 {
		t.Errorf("offsets %v, warnings %q", tr.Locations[1].Offsets, tr.Warnings)
	}
}

func TestAllprofDamaged(t *testing.T) {
	files := rankFiles("INIT\nMPI_Barrier:1100:W:1101\nFINALIZE", "INIT\nMPI_Barrier:1100:W:1101\nFINALIZE",
		"INIT\nMPI_Barrier:1100:W:1101\nFINALIZE")
	want := make([][]Event, 3)
	whole, err := Open(files, ".", Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		want[i], _ = eventsOf(whole, i)
	}
	const name = "pmpi-trace-rank-1.txt"
	data := files[name].Data
	for cut := range len(data) - 2 {
		if strings.HasSuffix(string(data[:cut]), "9000:") {
			continue // an end of no digits is an end
		}
		fsys := damaged(files, name, data[:cut])
		prefix := want
		if cut > 20 && cut < 50 { // another number is still a number
			prefix = nil
		}
		checkPrefix(t, fmt.Sprintf("cut at %d", cut), fsys, ".", prefix)
	}
	delete(files, name)
	checkPrefix(t, "a missing rank", files, ".", want)
	tr, err := Open(files, ".", Options{})
	if err != nil || tr.Ranks != 3 || !tr.Locations[1].Missing {
		t.Errorf("with a missing rank: %+v, %v", tr, err)
	}
	if _, err := tr.Open(1); !errors.Is(err, damage.Err) {
		t.Errorf("the missing rank: %v", err)
	}
	bad := rankFiles("INIT\nMPI_Barrier:1100:W:1101\nnonsense\nFINALIZE")
	tr, err = Open(bad, ".", Options{})
	if err != nil || len(tr.Warnings) != 1 || !strings.Contains(tr.Warnings[0], "rank-0.txt:3: the line begins with \"nonsense\"") {
		t.Fatalf("warnings %q, error %v", tr.Warnings, err)
	}
	if events, err := eventsOf(tr, 0); len(events) != 6 || !errors.Is(err, damage.Err) || !strings.Contains(err.Error(), "rank-0.txt:3:") {
		t.Errorf("%d events, error %v", len(events), err)
	}
}

// Lines that are missing at the start of a file are noticed.
func TestAllprofLostStart(t *testing.T) {
	const diff = "# clockdiff: 0.000000 s\n"
	for text, want := range map[string]string{
		diff + "MPI_Barrier:1100:W:1101\nFINALIZE": "rank-1.txt: there is no MPI_Init",
		"INIT\nMPI_Barrier:1100:W:1101\nFINALIZE":  "rank-1.txt: only some ranks name the difference of their clock",
	} {
		tr, err := Open(rankFiles(diff+"INIT\nMPI_Barrier:1100:W:1101\nFINALIZE", text), ".", Options{})
		if err != nil || len(tr.Warnings) != 1 || !strings.Contains(tr.Warnings[0], want) {
			t.Errorf("%s: %+v, %v; want a warning with %q", text, tr.Warnings, err, want)
		}
	}
}

// The file of one rank in place of another one's is noticed by the ranks that its calls name.
func TestAllprofOtherRank(t *testing.T) {
	const text = "INIT\nMPI_Barrier:1100:7,0,2:1101\nFINALIZE"
	tr, err := Open(rankFiles(text, text), ".", Options{})
	want := "pmpi-trace-rank-1.txt: its calls name rank 0 of 2, not 1: is it the file of another rank?"
	if err != nil || len(tr.Warnings) != 1 || tr.Warnings[0] != want {
		t.Errorf("warnings %q, %v; want %q", tr.Warnings, err, want)
	}
}

// A long list of counts is read.
func TestAllprofLongLine(t *testing.T) {
	counts := strings.TrimSuffix(strings.Repeat("8,", 200_000), ",")
	tr, err := Open(rankFiles("INIT\nMPI_Reduce_scatter:1100:2:3:4:"+counts+":13,1,1:3:W:1101\nFINALIZE"), ".", Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	events, err := eventsOf(tr, 0)
	if err != nil || len(events) != 8 {
		t.Fatalf("%d events, error %v", len(events), err)
	}
	if e := events[4]; e.Kind != CollectiveEnd || e.Sent != 1_600_000 || e.Received != 8 || len(e.Counts) != 200_000 {
		t.Errorf("sent %d, received %d, %d counts", e.Sent, e.Received, len(e.Counts))
	}
}

func FuzzAllprof(f *testing.F) {
	for _, text := range []string{
		"INIT\nMPI_Irecv:1100:1:9:13,1,1:-1:-1:W:8:1500\nMPI_Test:1600:8:1:1:1601\nFINALIZE",
		"# clockdiff: 0.5 s\nINIT\nMPI_Comm_split:1100:W:0:0:55:1101\nMPI_Barrier:1200:9,1,2:1201\n" +
			"MPI_Alltoallv:1300:1:2:1,2:3:0,1:13,1,1:4:5:1,2:6:0,1:13,1,1:W:1301\nFINALIZE",
	} {
		f.Add(rankFiles(text, text)["pmpi-trace-rank-1.txt"].Data)
	}
	other := rankFiles("INIT\nMPI_Send:1100:1:1:13,1,1:1:1:W:1101\nMPI_Comm_split:1100:W:0:0:55:1101\nFINALIZE", "")
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzzOpen(t, damaged(other, "pmpi-trace-rank-1.txt", data), ".", "slt")
	})
}
