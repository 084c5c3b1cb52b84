package kineto

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"slackline/model/timeline"
)

// call and kernel are events of a file, times in us.
func call(pid, tid int, name string, from, to float64, args string) string {
	return fmt.Sprintf(`{"ph": "X", "cat": "cpu_op", "name": %q, "pid": %d, "tid": %d, "ts": %v, "dur": %v, "args": {%s}}`, name, pid, tid, from,
		to-from, args)
}

func kernel(name string, device, stream int, from, to float64, correlation int, args string) string {
	return fmt.Sprintf(`{"ph": "X", "cat": "kernel", "name": %q, "pid": %d, "tid": %d, "ts": %v, "dur": %v, "args": {"device": %d, "stream": %d, `+
		`"correlation": %d%s}}`, name, device, stream, from, to-from, device, stream, correlation, args)
}

// file is a file of a rank with events.
func file(rank, world int, events ...string) string {
	return fmt.Sprintf(`{"schemaVersion": 1, "baseTimeNanoseconds": 1000, "distributedInfo": {"rank": %d, "world_size": %d}, "traceEvents": [%s]}`,
		rank, world, strings.Join(events, ",\n"))
}

// readAll reads files as those of a trace; a.json, b.json and so on.
func readAll(t *testing.T, files ...string) *Profile {
	t.Helper()
	fsys := fstest.MapFS{}
	var names []string
	for i, text := range files {
		name := fmt.Sprintf("%c.json", 'a'+i)
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
		names = append(names, name)
	}
	p, err := Read(fsys, ".", names, func(name string) string { return name }, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// described is a timeline in words: calls with their paths, activities, collectives and messages.
func described(t *testing.T, p *Profile, threads int) (lines []string) {
	t.Helper()
	tl, warnings, err := p.Timeline(threads)
	if err != nil {
		t.Fatal(err)
	}
	tl.Shift(-tl.Start, 1)
	var pathName func(p timeline.PathID) string
	pathName = func(p timeline.PathID) string {
		if p == 0 {
			return ""
		}
		return pathName(tl.Paths[p].Parent) + "/" + tl.Regions[tl.Paths[p].Region].Name
	}
	for _, l := range tl.Locations {
		for i, path := range l.Calls.Path {
			lines = append(lines, fmt.Sprintf("%d %s: %s %v-%v", l.Rank, l.Name, pathName(path), l.Calls.Enter[i], l.Calls.Leave[i]))
		}
	}
	if d := tl.Devices; d != nil {
		act := func(stream, i int32) string {
			s := &d.Streams[stream]
			return fmt.Sprintf("%d %s: %s %v-%v", s.Rank, s.Name, pathName(s.Path[i]), s.Begin[i], s.End[i])
		}
		for s := range d.Streams {
			for i := range d.Streams[s].Len() {
				lines = append(lines, fmt.Sprint(act(int32(s), int32(i)), " ", d.Streams[s].Kind[i]))
			}
		}
		for _, c := range d.Collectives {
			text := fmt.Sprint(c.Op, " root ", c.Root, " of")
			for _, m := range d.Members[c.First:][:len(d.Comms[c.Comm].Members)] {
				text += fmt.Sprint(" [", act(m.Location, m.Issue), " ", m.Sent, " ", m.Received, "]")
			}
			lines = append(lines, text)
		}
		for _, m := range d.Messages {
			lines = append(lines, fmt.Sprint("message of ", m.Size, " from ", act(m.From, m.Send), " to ", act(m.To, m.Recv)))
		}
		for _, r := range d.References {
			lines = append(lines, fmt.Sprintf("call %d of %d: stream %d, device %d, event %d at %v", r.Call, r.Location, r.Stream, r.Device, r.Event,
				r.Recorded))
		}
	}
	return append(lines, warnings...)
}

func wantLines(t *testing.T, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestNesting: calls are nested by containment and cut where the call around them ends.
func TestNesting(t *testing.T) {
	wantLines(t, described(t, readAll(t, file(0, 1,
		call(7, 7, "inner", 12, 14, ""), // written before what is around it
		call(7, 7, "outer", 10, 20, ""),
		call(7, 7, "same start", 10, 11, ""),
		call(7, 7, "too long", 18, 25, ""),
		call(7, 7, "touches", 20, 22, ""),
		call(7, 7, "ProfilerStep#12", 30, 31, ""),
		call(7, 9, "other", 5, 40, ""),
	)), 1),
		"0 master: /host 0-35us",
		"0 master: /host/outer 5us-15us",
		"0 master: /host/outer/same start 5us-6us",
		"0 master: /host/outer/inner 7us-9us",
		"0 master: /host/outer/too long 13us-15us",
		"0 master: /host/touches 15us-17us",
		"0 master: /host/ProfilerStep 25us-26us",
		"0 thread 9: /other 0-35us",
		"a.json: 1 call of rank 0 went on after the end of the call around; these parts, together 5us, are left out",
	)
}

// TestMaster: the thread whose id is that of its process, else the one that begins first.
func TestMaster(t *testing.T) {
	for _, tc := range []struct {
		name   string
		events []string
		want   string // what the master does
	}{
		{"by id", []string{call(7, 3, "a", 1, 2, ""), call(7, 7, "b", 5, 6, "")}, "b"},
		{"by start", []string{call(7, 4, "a", 3, 9, ""), call(7, 3, "b", 1, 2, "")}, "b"},
		{"by id of the thread", []string{call(7, 4, "a", 1, 9, ""), call(7, 3, "b", 1, 2, "")}, "b"},
		{"first of two processes", []string{call(7, 7, "a", 5, 9, ""), call(8, 8, "b", 1, 2, "")}, "b"},
		{"0 is no process", []string{call(0, 0, "a", 5, 9, ""), call(0, 3, "b", 1, 2, "")}, "b"},
	} {
		lines := described(t, readAll(t, file(0, 1, tc.events...)), 1)
		if !slices.ContainsFunc(lines, func(s string) bool { return strings.HasPrefix(s, "0 master: /host/"+tc.want+" ") }) {
			t.Errorf("%s: %q, want a master that does %s", tc.name, lines, tc.want)
		}
	}
}

// training are two ranks with an all-reduce, a message and a batch of messages; sgd waits for an event.
func training(rank int) []string {
	late := 10 * float64(rank)
	comm := func(name, more string) string {
		return fmt.Sprintf(`"Collective name": %q, "In msg nelems": 256, "Out msg nelems": 256, "Group size": 2, "dtype": "Float", `+
			`"Process Group Name": "0", "Process Group Ranks": "[0, 1]"%s`, name, more)
	}
	other := 1 - rank
	first, second := "send", "recv"
	if rank == 1 {
		first, second = second, first
	}
	peer := fmt.Sprintf(`, "Src Rank": %d, "Dst Rank": %d`, other, other)
	return []string{
		call(7, 7, "prepare", 1, 20+late, ""),
		call(7, 7, "launch", 21+late, 23+late, `"correlation": 1`),
		call(7, 7, "record_param_comms", 30+late, 40+late, comm("allreduce", "")),
		call(7, 7, "launchComm", 31+late, 33+late, `"correlation": 2`),
		call(7, 7, "record_param_comms", 51+late, 52+late, comm(first, peer)),
		call(7, 7, "record_param_comms", 53+late, 54+late, comm(second, peer)),
		call(7, 7, "nccl:coalesced", 55+late, 60+late, ""),
		call(7, 7, "launchComm", 56+late, 58+late, `"correlation": 3`),
		call(7, 7, "wait", 70, 71, `"correlation": 5`),
		call(7, 7, "launch", 72+late, 73+late, `"correlation": 4`),
		kernel("gemm", 0, 7, 25+late, 35+late, 1, ""),
		kernel("ncclDevKernel_AllReduce", 0, 20, 36+late, 60, 2, ""),
		kernel("ncclDevKernel_SendRecv", 0, 20, 61+late, 80+late, 3, ""),
		kernel("sgd", 0, 7, 82+late, 90+late, 4, ""),
		`{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "pid": 0, "tid": 9, "ts": 2, "dur": 3, "args": {"device": 0, "stream": 9}}`,
		`{"ph": "X", "cat": "gpu_memset", "name": "Memset (Device)", "pid": 0, "tid": 9, "ts": 6, "dur": 1, "args": {"device": 0, "stream": 9}}`,
		`{"ph": "X", "cat": "cuda_sync", "name": "x", "ts": 70, "dur": 1, "args": {"cuda_sync_kind": "Stream Wait Event", "stream": 7, "device": 0, ` +
			`"correlation": 5, "wait_on_stream": 20, "wait_on_cuda_event_record_corr_id": 3}}`,
	}
}

func TestTraining(t *testing.T) {
	got := described(t, readAll(t, file(0, 2, training(0)...), file(1, 2, training(1)...)), 1)
	at := slices.IndexFunc(got, func(s string) bool { return strings.HasPrefix(s, "0 0:7") })
	wantLines(t, got[at:],
		"0 0:7: /host/launch/gemm 24us-34us compute kernel",
		"0 0:7: /host/launch/sgd 81us-89us compute kernel",
		"0 0:9: /Memcpy HtoD 1us-4us copy",
		"0 0:9: /Memset 5us-6us memset",
		"0 0:20: /host/record_param_comms/launchComm/ncclDevKernel_AllReduce 35us-59us communication kernel",
		"0 0:20: /host/nccl:coalesced/launchComm/ncclDevKernel_SendRecv 60us-79us communication kernel",
		"1 0:7: /host/launch/gemm 34us-44us compute kernel",
		"1 0:7: /host/launch/sgd 91us-99us compute kernel",
		"1 0:9: /Memcpy HtoD 1us-4us copy",
		"1 0:9: /Memset 5us-6us memset",
		"1 0:20: /host/record_param_comms/launchComm/ncclDevKernel_AllReduce 45us-59us communication kernel",
		"1 0:20: /host/nccl:coalesced/launchComm/ncclDevKernel_SendRecv 70us-89us communication kernel",
		"allreduce root -1 of [0 0:20: /host/record_param_comms/launchComm/ncclDevKernel_AllReduce 35us-59us 1024 1024] "+
			"[1 0:20: /host/record_param_comms/launchComm/ncclDevKernel_AllReduce 45us-59us 1024 1024]",
		"message of 1024 from 1 0:20: /host/nccl:coalesced/launchComm/ncclDevKernel_SendRecv 70us-89us to "+
			"0 0:20: /host/nccl:coalesced/launchComm/ncclDevKernel_SendRecv 60us-79us",
		"message of 1024 from 0 0:20: /host/nccl:coalesced/launchComm/ncclDevKernel_SendRecv 60us-79us to "+
			"1 0:20: /host/nccl:coalesced/launchComm/ncclDevKernel_SendRecv 70us-89us",
		"call 9 of 0: stream 0, device -1, event 2 at 55us",
		"call 9 of 1: stream 3, device -1, event 5 at 65us",
	)
}

// TestOrderOfEvents: neither the order of events and files nor threads, nor asking twice change a timeline.
func TestOrderOfEvents(t *testing.T) {
	files := []string{file(0, 2, training(0)...), file(1, 2, training(1)...)}
	want := described(t, readAll(t, files...), 1)
	rnd := rand.New(rand.NewPCG(5, 6))
	for n := range 50 {
		for rank := range files {
			events := training(rank)
			// what a correlation belongs to is the first call with it; there is one
			rnd.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
			files[rank] = file(rank, 2, events...)
		}
		if n%2 == 1 {
			slices.Reverse(files)
		}
		p := readAll(t, files...)
		for range 2 {
			if diff := cmp.Diff(want, described(t, p, 1+n%3)); diff != "" {
				t.Fatalf("shuffle %d (-want +got):\n%s", n, diff)
			}
		}
		if n%2 == 1 {
			slices.Reverse(files)
		}
	}
}

// TestTimelineTwice: calls that are cut where the one around them ends keep their order when a timeline is made again.
func TestTimelineTwice(t *testing.T) {
	p := readAll(t, file(0, 1, call(7, 7, "short", 5, 15, ""), call(7, 7, "long", 5, 20, ""), call(7, 7, "around", 0, 10, "")))
	want := []string{
		"0 master: /host 0-20us", "0 master: /host/around 0-10us", "0 master: /host/around/long 5us-10us",
		"0 master: /host/around/long/short 5us-10us",
		"a.json: 2 calls of rank 0 went on after the end of the call around; these parts, together 15us, are left out",
	}
	wantLines(t, described(t, p, 1), want...)
	wantLines(t, described(t, p, 1), want...)
}

// TestBaseTimes: times count from the first event of all ranks, whatever the files count from.
func TestBaseTimes(t *testing.T) {
	text := func(rank int, base string, at float64) string {
		return fmt.Sprintf(`{"schemaVersion": 1, "baseTimeNanoseconds": %s, "distributedInfo": {"rank": %d}, "traceEvents": [%s]}`, base, rank,
			call(7, 7, "f", at, at+1, ""))
	}
	wantLines(t, described(t, readAll(t, text(0, "5000", 10), text(1, "8000", 4)), 1), // 15 and 12 us
		"0 master: /host 3us-4us", "0 master: /host/f 3us-4us", "1 master: /host 0-1us", "1 master: /host/f 0-1us")
	p := readAll(t, text(0, "0", 10), text(1, "1790000000000000000", 4))
	if _, _, err := p.Timeline(1); err == nil ||
		err.Error() != "b.json: its times are more than 26 days after those of other ranks; is it of another run?" {
		t.Errorf("two runs: %v", err)
	}
}

// TestFarAway: a file without events is left out, and one far from the others named, whatever its first event is.
func TestFarAway(t *testing.T) {
	near, far := call(7, 7, "f", 1, 2, ""), call(7, 7, "f", 9e7, 9e7+1, "")
	p := readAll(t, file(0, 3, near), file(1, 3), file(2, 3, near))
	if want := "b.json: there is no call and no kernel of rank 1 in it; the file is left out"; len(p.Warnings) != 1 || p.Warnings[0] != want {
		t.Errorf("a file without events: %q", p.Warnings)
	}
	wantLines(t, described(t, p, 1), "0 master: /host 0-1us", "0 master: /host/f 0-1us", "2 master: /host 0-1us", "2 master: /host/f 0-1us")
	_, warnings, err := readAll(t, file(0, 2, far, near), file(1, 2, far)).Timeline(1)
	const want = "b.json: its events begin 89 s after those of another rank: is it of another run, or its clock wrong?"
	if err != nil || len(warnings) != 1 || warnings[0] != want {
		t.Errorf("a rank that begins late: %q, %v", warnings, err)
	}
}

// TestRanks: what a file says, else the number in its name, else its place; of two files with the same rank the first counts.
func TestRanks(t *testing.T) {
	event := call(7, 7, "f", 1, 2, "")
	bare := `{"schemaVersion": 1, "traceEvents": [` + event + `]}`
	for _, tc := range []struct {
		files map[string]string
		want  []int
		warns int
	}{
		{map[string]string{"rank3.json": bare, "worker_5.json": bare}, []int{3, 5}, 0},
		{map[string]string{"rank3.json": file(1, 2, event), "x.json": file(0, 2, event)}, []int{0, 1}, 0},
		{map[string]string{"a.json": bare, "b.json": bare}, []int{0, 1}, 0},
		{map[string]string{"rank2.json": bare, "rank02.json": bare}, []int{2}, 1},
		{map[string]string{"rank4194304.json": bare, "rank4194303.json": bare}, []int{1, 4194303}, 0},
		{map[string]string{"a.json": file(-1, 2, event), "b.json": file(4194304, 2, event)}, []int{0, 1}, 0},
	} {
		fsys := fstest.MapFS{}
		var names []string
		for name, text := range tc.files {
			fsys[name] = &fstest.MapFile{Data: []byte(text)}
			names = append(names, name)
		}
		slices.Sort(names)
		p, err := Read(fsys, ".", names, func(name string) string { return name }, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, f := range p.files {
			got = append(got, f.rank)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" || len(p.Warnings) != tc.warns || p.Ranks != tc.want[len(tc.want)-1]+1 {
			t.Errorf("%v: %d ranks, warnings %q; (-want +got):\n%s", names, p.Ranks, p.Warnings, diff)
		}
	}
}

// TestMovedClock: a rank whose clock is wrong is moved with all of its times, those of its ends of messages too.
func TestMovedClock(t *testing.T) {
	files := func(wrong float64) *Profile {
		var list []string
		for rank := range 2 {
			comm := func(name, more string) string {
				return fmt.Sprintf(`, "Collective name": %q, "In msg nelems": 8, "Out msg nelems": 8, "Process Group Ranks": "[0, 1]"%s`, name, more)
			}
			by := float64(rank) * wrong
			name := []string{"send", "recv"}[rank]
			list = append(list, file(rank, 2, call(7, 7, "launch", 1+by, 2+by, `"correlation": 1`), call(7, 7, "launch", 41+by, 42+by, `"correlation": 2`),
				kernel("ncclDevKernel_AllReduce", 0, 7, 10+by, 30+by, 1, comm("allreduce", "")),
				kernel("ncclDevKernel_SendRecv", 0, 7, 50+by, 60+by, 2, comm(name, fmt.Sprintf(`, "Src Rank": %d, "Dst Rank": %d`, 1-rank, 1-rank)))))
		}
		return readAll(t, list...)
	}
	want, _, err := files(0).Timeline(1)
	if err != nil {
		t.Fatal(err)
	}
	got, warnings, err := files(5000).Timeline(1)
	if err != nil || len(warnings) != 1 || !strings.HasSuffix(warnings[0], "its times are moved by -5ms") {
		t.Fatalf("%q, %v, want a clock that is moved by -5 ms", warnings, err)
	}
	if len(want.Devices.Messages) != 1 {
		t.Fatalf("messages %+v, want 1", want.Devices.Messages)
	}
	if diff := cmp.Diff(want.Devices.Messages, got.Devices.Messages); diff != "" {
		t.Errorf("messages (-right +moved clock):\n%s", diff)
	}
	if want.Start != got.Start || want.End != got.End {
		t.Errorf("from %v to %v, want %v to %v", got.Start, got.End, want.Start, want.End)
	}
}
