package trace

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// inspectorLine is a record: a kernel of a communicator from when to when, in us.
func inspectorLine(rank int, perf string, start, stop int64) string {
	const zero = 1794807350000000
	return fmt.Sprintf(`{"header":{"id":"0xab","comm_name":"unknown","rank":%d,"n_ranks":2,"nnodes":1},"metadata":{"pid":1},%s,`+
		`"event_trace_ts":{"kernel_events":[{"channel_id":0,"kernel_start_ts":%d,"kernel_stop_ts":%d},{"channel_id":1,"kernel_start_ts":%d,"kernel_stop_ts":%d}]}}}`+
		"\n", rank, strings.TrimSuffix(perf, "}"), zero+start, zero+start+2, zero+start, zero+stop)
}

const allReduce = `"coll_perf":{"coll":"AllReduce","coll_sn":%d,"coll_msg_size_bytes":65536}`

// inspectorLogs are those of two ranks whose files are not in the order of the ranks: rank 1 comes 30 us late, then rank 0 sends to it.
func inspectorLogs() fstest.MapFS {
	one := inspectorLine(1, fmt.Sprintf(allReduce, 7), 40, 60) +
		inspectorLine(1, `"p2p_perf":{"p2p":"Recv","p2p_sn":3,"p2p_peer":0,"p2p_msg_size_bytes":8192}`, 70, 95) +
		`{"header":{"id":"0xab","rank":1,"n_ranks":2},"coll_perf":{"coll":"AllReduce","coll_sn":8}}` + "\n"
	zero := inspectorLine(0, fmt.Sprintf(allReduce, 6), 1, 5) + inspectorLine(0, fmt.Sprintf(allReduce, 7), 10, 60) +
		inspectorLine(0, `"p2p_perf":{"p2p":"Send","p2p_sn":3,"p2p_peer":1,"p2p_msg_size_bytes":8192}`, 80, 95)
	return fstest.MapFS{"run/a-pid1.log": {Data: []byte(one)}, "run/a-pid2.log": {Data: []byte(zero)}, "run/x.log": {Data: []byte("x\n")}}
}

func TestInspector(t *testing.T) {
	tr, err := Open(inspectorLogs(), "run", Options{})
	if err != nil || tr.Format != "inspector" || tr.Ranks != 2 || len(tr.Warnings) != 2 || !strings.Contains(tr.Warnings[0], "1 records") {
		t.Fatalf("%+v, %v", tr, err)
	}
	tl, err := ToTimeline(tr, TimelineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	d := tl.Devices
	if len(d.Streams) != 2 || len(d.Collectives) != 1 || len(d.Messages) != 1 {
		t.Fatalf("%d streams, %d collectives, %d messages, want 2, 1, 1", len(d.Streams), len(d.Collectives), len(d.Messages))
	}
	members := d.Members[d.Collectives[0].First:][:2]
	begin := func(m timeline.Member) unit.Duration { return d.Streams[m.Location].Begin[m.Issue] }
	if late := begin(members[1]) - begin(members[0]); late != 30*unit.Microsecond {
		t.Errorf("rank 1 is %v late, want 30us", late)
	}
	if m := d.Messages[0]; d.Streams[m.From].Rank != 0 || m.Size != 8192 {
		t.Errorf("message %+v", m)
	}
	single := inspectorLogs()
	zero := single["run/a-pid2.log"] // a message of which only this end has times
	zero.Data = append(zero.Data, inspectorLine(0, `"p2p_perf":{"p2p":"Send","p2p_sn":9,"p2p_peer":1,"p2p_msg_size_bytes":8}`, 300, 310)...)
	tr, err = Open(single, "run", Options{})
	if err != nil || len(tr.Warnings) != 3 || !strings.HasPrefix(tr.Warnings[2], "1 sends and receives are left out") {
		t.Errorf("a message with one end: %v, %v", tr.Warnings, err)
	}
	bare := fstest.MapFS{"a.log": {Data: []byte(`{"header":{"id":"1","rank":0,"n_ranks":1},"coll_perf":{"coll":"AllReduce"}}` + "\n")}}
	if _, err := Open(bare, "a.log", Options{}); err == nil || !strings.Contains(err.Error(), "NCCL_INSPECTOR_DUMP_VERBOSE=1") {
		t.Errorf("a log without times: %v", err)
	}
}

// flightDump is a dump with an entry for each collective: when it was enqueued, in us, and its state.
func flightDump(entries ...string) []byte {
	return []byte(`{"version": "2.10", "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1, 2]"}}, "entries": [` +
		strings.Join(entries, ", ") + `], "pg_status": {"0": {"last_enqueued_collective": "2"}}}`)
}

func flightEntry(name string, number, created int, state string) string {
	lasted := "null"
	if state == "completed" {
		lasted = "0"
	}
	return fmt.Sprintf(`{"process_group": ["0", "default_pg"], "collective_seq_id": %d, "p2p_seq_id": 0, "is_p2p": false, `+
		`"profiling_name": "nccl:%s", "time_created_ns": 17948073297%05d000, "state": "%s", "input_sizes": [[4]], "duration_ms": %s}`,
		number, name, created, state, lasted)
}

// flightDumps are those of three ranks: rank 2 comes 50 us late to the first collective, and never to the second one.
func flightDumps() fstest.MapFS {
	fsys := fstest.MapFS{}
	for rank := range 3 {
		list := []string{flightEntry("all_reduce", 1, 100+25*rank, "completed")}
		if rank < 2 {
			list = append(list, flightEntry("barrier", 2, 300, "scheduled"))
		}
		fsys[fmt.Sprintf("run/nccl_trace_rank_%d", rank)] = &fstest.MapFile{Data: flightDump(list...)}
	}
	return fsys
}

func TestFlight(t *testing.T) {
	tr, err := Open(flightDumps(), "run", Options{})
	if err != nil || tr.Format != "flight" || tr.Ranks != 3 {
		t.Fatalf("%+v, %v", tr, err)
	}
	const want = `group "0": rank 2 has not come to barrier number 2, in which ranks 0, 1 are`
	if len(tr.Warnings) != 1 || tr.Warnings[0] != want {
		t.Errorf("warnings %q, want %q", tr.Warnings, want)
	}
	tl, err := ToTimeline(tr, TimelineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	d := tl.Devices
	if len(d.Streams) != 3 || len(d.Collectives) != 1 || d.Streams[0].End[0]-d.Streams[0].Begin[0] != 50*unit.Microsecond {
		t.Errorf("streams %+v, collectives %+v", d.Streams, d.Collectives)
	}
	double := flightDumps()
	double["run/nccl_trace_rank_1"].Data = append(double["run/nccl_trace_rank_1"].Data, flightDump()...)
	const follows = "something follows the end of the dump"
	if tr, err = Open(double, "run", Options{}); err != nil || !strings.Contains(strings.Join(tr.Warnings, ""), follows) {
		t.Errorf("two dumps in a file: %+v, %v", tr, err)
	}
	pickle := fstest.MapFS{"nccl_trace_rank_0": {Data: []byte("\x80\x02}q\x00X\x07\x00\x00\x00entriesX\x11collective_seq_id")}}
	if _, err := Open(pickle, "nccl_trace_rank_0", Options{}); err == nil || !strings.Contains(err.Error(), "pickle") {
		t.Errorf("a pickle: %v", err)
	}
	if _, err := OpenDumps(pickle, "nccl_trace_rank_0", Options{}); err == nil || !strings.Contains(err.Error(), "is a pickle") {
		t.Errorf("dumps that are a pickle: %v", err)
	}
}

// A copy of a rank's file is not another rank; files that say they are of two runs are refused.
func TestCopiesAndMixedRuns(t *testing.T) {
	read := func(files map[string]string) (*Trace, error) {
		fsys := fstest.MapFS{}
		for name, text := range files {
			fsys[name] = &fstest.MapFile{Data: []byte(text)}
		}
		return Open(fsys, ".", Options{})
	}
	file := func(info, time string) string {
		return `{"schemaVersion": 1, ` + info + ` "baseTimeNanoseconds": 1790857026000000000, "traceEvents": [{"ph": "X", "cat": "cpu_op", ` +
			`"name": "f", "pid": 1, "tid": 1, "ts": ` + time + `, "dur": 2}]}`
	}
	of := func(world string) string { return `"distributedInfo": {"world_size": ` + world + `},` }
	tr, err := read(map[string]string{"rank0.json": file("", "1"), "rank1.json": file("", "1"), "rank2.json": file("", "2")})
	if err != nil || len(tr.Warnings) == 0 || tr.Warnings[0] != "rank1.json is left out: it is a copy of rank0.json" {
		t.Errorf("a copy: %v, %v", tr, err)
	}
	if tr, err = read(map[string]string{"rank0.json": file(of("2"), "1"), "rank1.json": file(of("4"), "2")}); err == nil ||
		!strings.Contains(err.Error(), "rank1.json: it is of a run of 4 ranks, but rank0.json of one of 2") {
		t.Errorf("two runs: %v, %v", tr, err)
	}
	tr, err = read(map[string]string{"rank0.json": file(of("2"), "1"), "rank1.json": file(of("2"), "3600000001")})
	if err != nil || len(tr.Notes) == 0 || !strings.Contains(tr.Notes[0], "rank1.json: its events begin 3600 s after those of another rank") {
		t.Errorf("an hour later: %+v, %v", tr, err)
	}
}

// TestDumpsCut cuts a file at every place: what is whole is read, and the cut is reported.
func TestDumpsCut(t *testing.T) {
	logs, dumps := inspectorLogs()["run/a-pid2.log"].Data, flightDumps()["run/nccl_trace_rank_0"].Data
	for name, data := range map[string][]byte{"a-pid2.log": logs, "rank_0.json": dumps} {
		read := 0
		for n := range data {
			tr, err := Open(fstest.MapFS{name: {Data: data[:n]}}, name, Options{})
			if err != nil {
				continue // nothing is there yet
			}
			read++
			if end := strings.TrimSuffix(string(data[:n]), "\n"); len(tr.Warnings) == 0 && !strings.HasSuffix(end, "}}}") {
				t.Fatalf("%s cut at %d: no warning", name, n)
			}
			if _, err := ToTimeline(tr, TimelineOptions{}); err != nil {
				t.Fatalf("%s cut at %d: %v", name, n, err)
			}
		}
		if read == 0 {
			t.Errorf("%s: nothing is read of what is cut", name)
		}
	}
}

// FuzzDumps reads anything as logs of Inspector and dumps of Flight Recorder.
func FuzzDumps(f *testing.F) {
	for _, fsys := range []fstest.MapFS{inspectorLogs(), flightDumps()} {
		for _, file := range fsys {
			f.Add(file.Data)
		}
	}
	f.Add([]byte(`{"header":{"id":"` + strings.Repeat("x", 300) + `","rank":0,"n_ranks":4194304},"coll_perf":{"coll":"\u001b","event_trace_ts":{"kernel_events":[{"kernel_start_ts":1,"kernel_stop_ts":4611686018427387904}]}}}`))
	f.Add(flightDump(`{"process_group": [{}], "collective_seq_id": -9, "profiling_name": "nccl:send 9->99", "time_created_ns": 1, "is_p2p": true}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, names := range [][2]string{{"r/a.log", "r/b.log"}, {"r/rank0.json", "r/rank1.json"}} {
			tr, err := Open(fstest.MapFS{names[0]: {Data: data}, names[1]: {Data: data}}, "r", Options{})
			if err != nil || tr.Format != "inspector" && tr.Format != "flight" {
				continue
			}
			if tl, err := ToTimeline(tr, TimelineOptions{}); err == nil && tl.Ranks != tr.Ranks {
				t.Errorf("%d ranks, then %d", tr.Ranks, tl.Ranks)
			}
		}
	})
}

// What is named like a file of the trace belongs to it, also if nothing can be read from it.
func TestLeftOutFiles(t *testing.T) {
	for want, data := range map[string]string{
		"run/a-pid3.log is left out: it is empty":                                 "",
		"run/a-pid3.log is left out: its first bytes are not those of the others": `adr":{"id":"0xab"}}` + "\n",
	} {
		files := inspectorLogs()
		files["run/a-pid3.log"] = &fstest.MapFile{Data: []byte(data)}
		tr, err := Open(files, "run", Options{})
		if err != nil || len(tr.Warnings) == 0 || tr.Warnings[0] != want {
			t.Fatalf("warnings %q, %v, want %q first", tr.Warnings, err, want)
		}
		if tl, err := ToTimeline(tr, TimelineOptions{}); err != nil || tl.Missing().Files != 1 {
			t.Errorf("%v, %+v, want a file that is missing", err, tl.Missing())
		}
	}
}
