package nccl

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// line is a record of a rank of a communicator, with a kernel for each pair of times, in us after the beginning.
func line(comm string, rank, ranks int, what string, times ...int) string {
	var kernels []string
	for i := 0; i+1 < len(times); i += 2 {
		kernels = append(kernels, fmt.Sprintf(`{"channel_id": %d, "kernel_start_ts": %d, "kernel_stop_ts": %d}`, i/2, base+times[i], base+times[i+1]))
	}
	return fmt.Sprintf(`{"header": {"id": %q, "rank": %d, "n_ranks": %d}, %s, "event_trace_ts": {"kernel_events": [%s]}}}`+"\n", comm, rank, ranks,
		strings.TrimSuffix(what, "}"), strings.Join(kernels, ", "))
}

func coll(name string, number int) string {
	return fmt.Sprintf(`"coll_perf": {"coll": %q, "coll_sn": %d, "coll_msg_size_bytes": 4096}`, name, number)
}

func p2p(name string, number, peer int) string {
	return fmt.Sprintf(`"p2p_perf": {"p2p": %q, "p2p_sn": %d, "p2p_peer": %d, "p2p_msg_size_bytes": 512}`, name, number, peer)
}

// logs are files, named so that their order is not that of the processes unless they are given so.
func logs(texts ...string) (fsys fstest.MapFS, names []string) {
	fsys = fstest.MapFS{}
	for i, text := range texts {
		name := fmt.Sprintf("host-%c.log", 'a'+i)
		fsys["job/"+name] = &fstest.MapFile{Data: []byte(text)}
		names = append(names, name)
	}
	return fsys, names
}

// TestInspectorTimes: an operation runs as long as its slowest channel; the ranks are those of the communicator of all, not those of the
// order of the files.
func TestInspectorTimes(t *testing.T) {
	fsys, names := logs(
		line("w", 1, 2, coll("AllReduce", 1), 14, 20, 12, 30, 40, 50)+line("w", 1, 2, p2p("Recv", 3, 0), 60, 75),
		line("w", 0, 2, coll("AllReduce", 1), 10, 30)+line("w", 0, 2, p2p("Send", 3, 1), 61, 62, 62, 75))
	p, err := ReadInspector(fsys, "job", names, shown, nil)
	tl := timelineOf(t, p, err)
	for rank, want := range [][]string{{"0:0 AllReduce 0-20us", "0:0 Send 52us-65us"}, {"0:0 AllReduce 2us-20us", "0:0 Recv 50us-65us"}} {
		if diff := cmp.Diff(want, spans(tl, rank)); diff != "" {
			t.Errorf("rank %d (-want +got):\n%s", rank, diff)
		}
	}
	d := tl.Devices
	if len(d.Collectives) != 1 || len(d.Messages) != 1 || len(p.Warnings) != 0 {
		t.Fatalf("%d collectives, %d messages, warnings %q, want 1, 1, none", len(d.Collectives), len(d.Messages), p.Warnings)
	}
	if m := d.Messages[0]; d.Streams[m.From].Rank != 0 || d.Streams[m.To].Rank != 1 || m.Size != 512 {
		t.Errorf("message %+v, want one of 512 bytes from rank 0 to rank 1", m)
	}
	if m := d.Members[d.Collectives[0].First]; m.Sent != 4096 || m.Received != 4096 {
		t.Errorf("member %+v, want 4096 bytes", m)
	}
}

// TestInspectorNumbers: numbers count the operations of one name, so equal numbers of different names do not belong together.
func TestInspectorNumbers(t *testing.T) {
	fsys, names := logs(
		line("w", 0, 2, coll("AllReduce", 1), 10, 20)+line("w", 0, 2, coll("AllGather", 1), 30, 40),
		line("w", 1, 2, coll("AllGather", 1), 32, 40)+line("w", 1, 2, coll("AllReduce", 1), 15, 20)+line("w", 1, 2, coll("AllGather", 2), 50, 60))
	p, err := ReadInspector(fsys, "job", names, shown, nil)
	if n := len(timelineOf(t, p, err).Devices.Collectives); n != 2 {
		t.Errorf("%d collectives, want 2", n)
	}
}

// TestInspectorCommunicators: a message of a communicator of some ranks has its peer as rank in that communicator; so has the list of its
// ranks, from which those that left no log are missing.
func TestInspectorCommunicators(t *testing.T) {
	world := func(rank int) string { return line("w", rank, 3, coll("AllReduce", 1), 10+rank, 20) }
	fsys, names := logs(world(0), // not in the other communicator
		world(1)+line("some", 2, 3, p2p("Send", 1, 1), 30, 44), world(2)+line("some", 1, 3, p2p("Recv", 1, 2), 40, 44)+
			line("some", 1, 3, p2p("Send", 5, 0), 50, 51)) // to a rank without a log
	p, err := ReadInspector(fsys, "job", names, shown, nil)
	d := timelineOf(t, p, err).Devices
	if len(d.Messages) != 1 || d.Streams[d.Messages[0].From].Rank != 1 || d.Streams[d.Messages[0].To].Rank != 2 {
		t.Errorf("messages %+v, want one from rank 1 to rank 2", d.Messages)
	}
	want := []string{"communicator some has 3 ranks, but there are logs of 2 only: what others wait for may be missing",
		"1 sends and receives are left out, because their other end has no record with times of kernels"}
	if diff := cmp.Diff(want, p.Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

// TestInspectorIncomplete: a rank without a log, or without a record, may be the one that others wait for.
func TestInspectorIncomplete(t *testing.T) {
	whole := func(rank int) string {
		return line("w", rank, 3, coll("AllReduce", 1), 10+rank, 20) + line("w", rank, 3, coll("AllReduce", 2), 30+rank, 40)
	}
	few, part := "communicator w has 3 ranks, but there are logs of 2 only", "1 collective recorded on some ranks only"
	for _, tc := range []struct {
		logs []string
		want string
	}{
		{[]string{whole(0), whole(1), whole(2)}, ""}, {[]string{whole(0), whole(2)}, few},
		{[]string{whole(0), whole(1), line("w", 2, 3, coll("AllReduce", 1), 12, 20)}, part},
		{[]string{whole(0), whole(1), whole(2) + line("w", 2, 3, coll("AllReduce", 2), 32, 40)}, "1 collective recorded twice in a log"},
	} {
		fsys, names := logs(tc.logs...)
		p, err := ReadInspector(fsys, "job", names, shown, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(p.Warnings, "\n"); !strings.HasPrefix(got, tc.want) || got != "" && tc.want == "" {
			t.Errorf("warnings %q, want %q", got, tc.want)
		}
	}
}

// TestInspectorPairs: a send without its receive, or with another number, is left out, as is one to itself.
func TestInspectorPairs(t *testing.T) {
	fsys, names := logs(
		line("w", 0, 2, p2p("Send", 1, 1), 10, 20)+line("w", 0, 2, p2p("Send", 2, 1), 30, 40)+line("w", 0, 2, p2p("Send", 3, 0), 50, 60),
		line("w", 1, 2, p2p("Recv", 1, 0), 12, 20)+line("w", 1, 2, p2p("Recv", 3, 0), 70, 80)+line("w", 1, 2, p2p("Send", 1, 0), 90, 91))
	p, err := ReadInspector(fsys, "job", names, shown, nil)
	tl := timelineOf(t, p, err)
	if n := len(tl.Devices.Messages); n != 1 {
		t.Errorf("%d messages, want 1", n)
	}
	if len(p.Warnings) != 1 || !strings.HasPrefix(p.Warnings[0], "4 sends and receives are left out") {
		t.Errorf("warnings %q, want one of 4", p.Warnings)
	}
	if diff := cmp.Diff([]string{"0:0 Send 0-10us"}, spans(tl, 0)); diff != "" {
		t.Errorf("rank 0 (-want +got):\n%s", diff)
	}
}

func TestInspectorLeavesOut(t *testing.T) {
	sum := coll("AllReduce", 1)
	for _, tc := range []struct {
		name, record string
		kept         int
	}{
		{"whole", line("w", 0, 1, sum, 1, 2), 1},
		{"no operation", `{"header": {"id": "w", "rank": 0, "n_ranks": 1}}` + "\n", 0},
		{"no ranks", line("w", 0, 0, sum, 1, 2), 0},
		{"rank beyond the last", line("w", 1, 1, sum, 1, 2), 0},
		{"negative rank", line("w", -1, 1, sum, 1, 2), 0},
		{"most ranks", line("w", 0, maxRanks, sum, 1, 2), 1},
		{"too many ranks", line("w", 0, maxRanks+1, sum, 1, 2), 0},
		{"no kernel", line("w", 0, 1, sum), 0},
		{"a kernel that ends before it begins", line("w", 0, 1, sum, 2, 1), 0},
		{"a kernel of no length", line("w", 0, 1, sum, 2, 2), 1},
		{"a kernel that did not begin", line("w", 0, 1, sum, -base, 2), 0},
		{"a kernel that did not begin beside one", line("w", 0, 1, sum, -base, 2, 1, 2), 1},
		{"no name", line("w", 0, 1, coll("", 1), 1, 2), 0},
		{"an empty line", " \t\n", 0},
	} {
		fsys, names := logs(tc.record)
		files, err := read(fsys, "job", names, shown, nil, parseInspector)
		lost := int64(1 - tc.kept)
		if tc.name == "an empty line" {
			lost = 0
		}
		if err != nil || len(files[0].ops) != tc.kept || files[0].lost != lost {
			t.Errorf("%s: %+v, %v, want %d operations, %d lost", tc.name, files, err, tc.kept, lost)
		}
	}
}

// TestInspectorDamage: the place of damage is that of its line, whatever the lines before it end with.
func TestInspectorDamage(t *testing.T) {
	whole := line("w", 0, 1, coll("AllReduce", 1), 1, 2)
	for name, first := range map[string]string{
		"lf": whole, "crlf": strings.TrimSuffix(whole, "\n") + "\r\n", "empty lines": "\r\n\n" + whole,
	} {
		fsys, names := logs(first + `{"header": {"id`)
		p, err := ReadInspector(fsys, "job", names, shown, nil)
		want := fmt.Sprintf("job/host-a.log: byte %d: not a record of NCCL Inspector: it is truncated or damaged; what is before it is read: "+
			"1 operations of rank 0", len(first))
		if err != nil || len(p.Warnings) != 1 || p.Warnings[0] != want {
			t.Errorf("%s: %+v, %v, want %q", name, p, err, want)
		}
	}
	fsys, names := logs(whole + strings.Repeat("x", maxLine+1))
	p, err := ReadInspector(fsys, "job", names, shown, nil)
	if want := fmt.Sprintf("byte %d: a line is longer than 16 MiB", len(whole)); err != nil || !strings.Contains(p.Warnings[0], want) {
		t.Errorf("a long line: %v, %v, want %q", p, err, want)
	}
	fsys, names = logs(whole + strings.Replace(whole, `"kernel_stop_ts"`, `"kernel_start_ts": 5, "kernel_stop_ts"`, 1))
	p, err = ReadInspector(fsys, "job", names, shown, nil)
	if want := fmt.Sprintf("byte %d: not a record of NCCL Inspector: the key \"kernel_start_ts\" is there twice in one object; what is before",
		len(whole)); err != nil || len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], want) {
		t.Errorf("a key twice: %+v, %v, want %q", p, err, want)
	}
	fsys, names = logs(line("w", 0, 2, coll("AllReduce", 1), 1, 2),
		strings.Replace(line("w", 1, 2, coll("AllReduce", 1), 1, 2), "4096", "8192", 1))
	p, err = ReadInspector(fsys, "job", names, shown, nil)
	const want = "1 collective with another size than on other ranks (coll_msg_size_bytes)"
	if err != nil || len(p.Warnings) != 1 || p.Warnings[0] != want {
		t.Errorf("other sizes: %+v, %v, want %q", p, err, want)
	}
	fsys, names = logs(whole, line("w", 0, 1, coll("AllReduce", 2)))
	p, err = ReadInspector(fsys, "job", names, shown, nil)
	if err != nil || len(p.Warnings) != 2 || p.Warnings[0] != "1 records have no times of kernels and are left out" ||
		p.Warnings[1] != "job/host-b.log: there is no call and no kernel of rank 1 in it; the file is left out" {
		t.Errorf("a record without times: %+v, %v", p, err)
	}
	one, two := line("w", 0, 1, coll("AllReduce", 1), 1, 11, 3, 13), line("w", 0, 1, coll("AllReduce", 1), 3, 13, 1, 11)
	for _, record := range []string{one, two} { // in any order of the channels
		fsys, names = logs(record)
		files, err := read(fsys, "job", names, shown, nil, parseInspector)
		if err != nil || files[0].ops[0].begin != 1000*(base+1) {
			t.Errorf("channels of the same length: %+v, %v", files[0].ops, err)
		}
	}
	fsys, names = logs(line("w", 0, 1, coll("AllReduce", 1), -base, 2, 1, 2))
	p, err = ReadInspector(fsys, "job", names, shown, nil)
	if err != nil || len(p.Warnings) != 1 || p.Warnings[0] != "1 channels of records have no valid times and are left out" {
		t.Errorf("a channel without times: %+v, %v", p, err)
	}
	fsys, names = logs(line("w", 0, 1, coll("AllReduce", 2)))
	if _, err = ReadInspector(fsys, "job", names, shown, nil); err == nil ||
		err.Error() != "job/host-a.log: no record has times of kernels; set NCCL_INSPECTOR_DUMP_VERBOSE=1 while the program runs" {
		t.Errorf("no record with times: %v", err)
	}
}

func TestSniffInspector(t *testing.T) {
	for text, want := range map[string]bool{
		" \n" + `{"header": {}, "coll_perf": {}}`: true,
		`{"header": {}, "p2p_perf": {}}`:          true,
		`{"header": {}}` + "\n" + `"coll_perf"`:   false, // of the first record
		`{"coll_perf": {}}`:                       false,
		`[{"header": {}, "coll_perf": {}}]`:       false,
	} {
		if got := SniffInspector([]byte(text)); got != want {
			t.Errorf("SniffInspector(%s) = %v", text, got)
		}
	}
	if diff := cmp.Diff([]string{"a.log", "b.jsonl"}, InspectorNames([]string{"a.log", "b.jsonl", "c.json", "log"})); diff != "" {
		t.Errorf("names of logs (-want +got):\n%s", diff)
	}
}
