package nccl

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"slackline/model/timeline"
	"slackline/model/trace/kineto"
	"slackline/model/unit"
)

const us = unit.Microsecond

// base is when the small traces begin, in us since 1970.
const base = 1_794_807_350_000_000

// collective and transfer are entries of a dump, enqueued so many us after the beginning; lasted is a duration in ms, or empty.
func collective(group, name string, number, at int, state, lasted string) string {
	if state == done && lasted == "" {
		lasted = `, "duration_ms": 0`
	}
	return fmt.Sprintf(`{"process_group": [%q, "x"], "collective_seq_id": %d, "p2p_seq_id": 0, "is_p2p": false, "profiling_name": "nccl:%s", `+
		`"time_created_ns": %d000, "state": %q%s}`, group, number, name, base+at, state, lasted)
}

func transfer(group, name string, number, at int) string {
	return fmt.Sprintf(`{"process_group": [%q, "x"], "collective_seq_id": 9, "p2p_seq_id": %d, "is_p2p": true, "profiling_name": "nccl:%s", `+
		`"time_created_ns": %d000, "state": "scheduled"}`, group, number, name, base+at)
}

// dump is a dump of a process in groups with these ranks.
func dump(groups string, entries ...string) string {
	return `{"version": "2.10", "pg_config": ` + groups + `, "pg_status": {}, "entries": [` + strings.Join(entries, ", ") + `]}`
}

const (
	allOfThree = `{"0": {"name": "0", "ranks": "[0, 1, 2]"}}`
	done       = "completed"
	enqueued   = "scheduled"
)

// dumps are the files of ranks, as they are named by PyTorch.
func dumps(texts ...string) (fsys fstest.MapFS, names []string) {
	fsys = fstest.MapFS{}
	for rank, text := range texts {
		if text == "" {
			continue // it left none
		}
		name := fmt.Sprintf("nccl_trace_rank_%d", rank)
		fsys["job/"+name] = &fstest.MapFile{Data: []byte(text)}
		names = append(names, name)
	}
	return fsys, names
}

func shown(name string) string { return "job/" + name }

// timelineOf is the timeline of a profile, all of its ranks.
func timelineOf(t *testing.T, p *kineto.Profile, err error) *timeline.Timeline {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	tl, warnings, err := p.Timeline(1)
	if err != nil || len(warnings) > 0 {
		t.Fatal(warnings, err)
	}
	return tl
}

// spans lists what ran on the streams of a rank.
func spans(tl *timeline.Timeline, rank int) (list []string) {
	for i := range tl.Devices.Streams {
		s := &tl.Devices.Streams[i]
		for k := range s.Len() {
			if s.Rank == rank {
				list = append(list, fmt.Sprintf("%s %s %v-%v", s.Name, tl.Regions[tl.Paths[s.Path[k]].Region].Name, s.Begin[k], s.End[k]))
			}
		}
	}
	return list
}

// TestFlightTimes: an operation begins when it was enqueued; it ends when the last rank has enqueued it, or after the measured time.
func TestFlightTimes(t *testing.T) {
	groups := `{"7": {"ranks": [0, 1]}}`
	fsys, names := dumps(
		dump(groups, collective("7", "all_reduce", 1, 10, done, ""), collective("7", "all_reduce", 2, 50, done, `, "duration_ms": 0.030`),
			transfer("7", "send 0->1", 4, 100), transfer("7", "recv 0<-1", 4, 200)),
		dump(groups, collective("7", "all_reduce", 1, 25, done, ""), collective("7", "all_reduce", 2, 40, done, `, "duration_ms": 0.005`),
			transfer("7", "recv 1<-0", 4, 90), transfer("7", "send 1->0", 4, 120)))
	p, err := ReadFlight(fsys, "job", names, shown, nil)
	tl := timelineOf(t, p, err)
	for rank, want := range [][]string{
		{"0:0 all_reduce 0-15us", "0:0 all_reduce 40us-70us", "0:0 send 90us-90us", "0:0 recv 190us-190us"},
		{"0:0 all_reduce 15us-15us", "0:0 all_reduce 30us-40us", "0:0 recv 80us-90us", "0:0 send 110us-190us"},
	} {
		if diff := cmp.Diff(want, spans(tl, rank)); diff != "" {
			t.Errorf("rank %d (-want +got):\n%s", rank, diff)
		}
	}
	d := tl.Devices
	if len(d.Collectives) != 2 || len(d.Messages) != 2 {
		t.Fatalf("%d collectives and %d messages, want 2 and 2", len(d.Collectives), len(d.Messages))
	}
	if m := d.Messages[1]; d.Streams[m.From].Rank != 0 || d.Streams[m.To].Rank != 1 || m.Sent != 90*us || m.Received != 90*us {
		t.Errorf("message %+v, want one from rank 0 to rank 1 that is sent and received at 90us", m)
	}
	if len(p.Warnings) > 0 {
		t.Errorf("warnings %q of messages, which are never completed in a dump", p.Warnings)
	}
}

// TestFlightGroups: the operations of groups are on streams of their own, numbered as the groups of the file are.
func TestFlightGroups(t *testing.T) {
	fsys, names := dumps(
		dump(`{"0": {"ranks": "[0, 1, 2]"}, "5": {"ranks": "[0, 2]"}}`, collective("5", "all_reduce", 1, 0, done, ""),
			collective("0", "all_gather", 1, 8, done, "")),
		dump(allOfThree, collective("0", "all_gather", 1, 9, done, "")),
		dump(`{"0": {"ranks": "[0, 1, 2]"}, "5": {"ranks": "[0, 2]"}}`, collective("5", "all_reduce", 1, 3, done, ""),
			collective("0", "all_gather", 1, 12, done, "")))
	p, err := ReadFlight(fsys, "job", names, shown, nil)
	tl := timelineOf(t, p, err)
	for rank, want := range [][]string{
		{"0:0 all_gather 8us-12us", "0:1 all_reduce 0-3us"}, {"0:0 all_gather 9us-12us"}, {"0:0 all_gather 12us-12us", "0:1 all_reduce 3us-3us"},
	} {
		if diff := cmp.Diff(want, spans(tl, rank)); diff != "" {
			t.Errorf("rank %d (-want +got):\n%s", rank, diff)
		}
	}
	var sizes []int
	for _, c := range tl.Devices.Comms {
		sizes = append(sizes, len(c.Members))
	}
	if diff := cmp.Diff([]int{3, 2}, sizes); diff != "" || len(tl.Devices.Collectives) != 2 {
		t.Errorf("%d collectives, want 2; sizes of groups (-want +got):\n%s", len(tl.Devices.Collectives), diff)
	}
}

// TestFlightWarns: what a job that stands still waits for is a warning of its trace.
func TestFlightWarns(t *testing.T) {
	fsys, names := dumps(dump(allOfThree, collective("0", "barrier", 1, 1, enqueued, "")), dump(allOfThree))
	p, err := ReadFlight(fsys, "job", names, shown, nil)
	want := []string{`group "0": rank 1 has not come to barrier number 1, in which rank 0 is; there is no complete dump of rank 2`,
		"job/nccl_trace_rank_1: there is no call and no kernel of rank 1 in it; the file is left out"}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, p.Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

// TestFlightLeavesOut: entries that say nothing of an operation, or nothing that can be, are not operations.
func TestFlightLeavesOut(t *testing.T) {
	entry := func(group, name, created, more string) string {
		return fmt.Sprintf(`{"process_group": %s, "collective_seq_id": 1, "profiling_name": %q, "time_created_ns": %s, "state": "completed"%s}`,
			group, name, created, more)
	}
	for _, tc := range []struct {
		name, entry string
		kept        int
	}{
		{"whole", entry(`["0", "x"]`, "nccl:all_reduce", "17", ""), 1},
		{"a group that is a number", entry(`[0, "x"]`, "all_reduce", "17", ""), 1},
		{"no group", entry(`[]`, "nccl:all_reduce", "17", ""), 0},
		{"no time", entry(`["0"]`, "nccl:all_reduce", "0", ""), 0},
		{"the first time", entry(`["0"]`, "nccl:all_reduce", "1", ""), 1},
		{"a time that cannot be", entry(`["0"]`, "nccl:all_reduce", "4611686018427387903", ""), 0},
		{"a batch", entry(`["0"]`, "nccl:coalesced", "17", ""), 0},
		{"negative duration", entry(`["0"]`, "nccl:all_reduce", "17", `, "duration_ms": -1`), 0},
		{"no duration", entry(`["0"]`, "nccl:all_reduce", "17", `, "duration_ms": 0`), 1},
		{"too long a duration", entry(`["0"]`, "nccl:all_reduce", "17", `, "duration_ms": 2e12`), 0},
		{"a message without ranks", entry(`["0"]`, "nccl:send", "17", `, "is_p2p": true`), 0},
		{"a message", entry(`["0"]`, "nccl:send 0->1", "17", `, "is_p2p": true`), 1},
		{"a message of a rank that cannot be", entry(`["0"]`, "nccl:send 0->12345678", "17", `, "is_p2p": true`), 0},
	} {
		fsys, names := dumps(dump(`{}`, tc.entry))
		lost := int64(1 - tc.kept)
		if tc.name == "a batch" {
			lost = 0 // its parts are kept
		}
		files, err := readFlight(fsys, "job", names, shown, nil)
		if err != nil || len(files[0].ops) != tc.kept || files[0].lost != lost {
			t.Errorf("%s: %+v, %v, want %d operations", tc.name, files, err, tc.kept)
		}
	}
}

func TestFlightRanks(t *testing.T) {
	for _, tc := range []struct {
		ranks string
		want  []int
	}{
		{`"[0, 1, 2]"`, []int{0, 1, 2}}, {`[3, 5]`, []int{3, 5}}, {`"[]"`, nil}, {`"[0, 1, ...]"`, nil}, {`"[-1]"`, nil}, {`"[4194304]"`, nil},
		{`"[4194303]"`, []int{4194303}}, {`null`, nil},
	} {
		fsys, names := dumps(dump(`{"g": {"ranks": `+tc.ranks+`}}`, collective("g", "barrier", 1, 1, done, "")))
		files, err := readFlight(fsys, "job", names, shown, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, files[0].groups[0].ranks); diff != "" || len(files[0].groups) != 1 {
			t.Errorf("ranks %s (-want +got):\n%s", tc.ranks, diff)
		}
	}
}

func TestFlightDamage(t *testing.T) {
	entry := collective("0", "barrier", 1, 1, done, "")
	for _, tc := range []struct{ text, want string }{
		{``, "job/rank_0: byte 0: the file ends in the middle: it is truncated"},
		{`[]`, `job/rank_0: byte 1: expected "{", got "["`},
		{`{"entries": {}}`, `job/rank_0: byte 13: expected "[", got "{"`},
		{`{"entries": [7]}`, "job/rank_0: byte 14: unexpected number"},
		{`{"entries": [{"state": 7}]}`, "job/rank_0: byte 25: unexpected number for state"},
		{`{"pg_config": 3}`, "job/rank_0: byte 15: unexpected number"},
		{`{"version": `, "job/rank_0: byte 11: the file ends in the middle: it is truncated"},
		{`{"entries": []`, "job/rank_0: byte 14: the file ends in the middle: it is truncated"},
		{`{"entries": [` + entry + "], \n" + `"entries": []}`, `job/rank_0: line 2: the key "entries" is there twice in one object`},
		{`{"entries": [` + strings.Replace(entry, "{", `{"state": "x", `, 1) + "]}", `job/rank_0: line 1: the key "state" is there twice in one object`},
	} {
		_, err := ReadFlight(fstest.MapFS{"rank_0": {Data: []byte(tc.text)}}, ".", []string{"rank_0"}, shown, nil)
		if err == nil || err.Error() != tc.want {
			t.Errorf("%s: %v, want %s", tc.text, err, tc.want)
		}
	}
	cut := `{"entries": [` + entry + `, {"process_group": [`
	p, err := ReadFlight(fstest.MapFS{"rank_0": {Data: []byte(cut)}}, ".", []string{"rank_0"}, shown, nil)
	const want = "it is truncated; what is before it is read: 1 operations of rank 0"
	if err != nil || len(p.Warnings) == 0 || !strings.HasSuffix(p.Warnings[0], want) {
		t.Errorf("a dump that was cut: %+v, %v", p, err)
	}
	far := strings.Replace(entry, "time_created_ns\": 1", "time_created_ns\": ", 1) // a tenth of the time
	if far == entry {
		t.Fatalf("no time that begins with 1 in %s", entry)
	}
	fsys, names := dumps(dump(allOfThree, entry), dump(allOfThree, far))
	if _, err = ReadFlight(fsys, "job", names, shown, nil); err == nil || !strings.HasPrefix(err.Error(),
		"job/nccl_trace_rank_0: an operation is ") || !strings.Contains(err.Error(), "days after one of job/nccl_trace_rank_1; are the files") {
		t.Errorf("a time that is far away: %v", err)
	}
	stop := errors.New("interrupted")
	if _, err := ReadMissing(fstest.MapFS{}, ".", []string{"rank_0"}, shown, func() error { return stop }); err != stop {
		t.Errorf("interrupted: %v", err)
	}
	if _, err := ReadMissing(fstest.MapFS{}, ".", []string{"rank_0"}, shown, nil); err == nil ||
		err.Error() != "job/rank_0: file does not exist" {
		t.Errorf("no file: %v", err)
	}
}

func TestSniffFlight(t *testing.T) {
	for text, want := range map[string]bool{
		`{"entries": [{"collective_seq_id": 1`:             true,
		" \n\t" + `{"pg_config": {}, "pg_status": {}`:      true,
		`{"pg_config": {}`:                                 false,
		`{"pg_status": {}`:                                 false,
		`["collective_seq_id"]`:                            false,
		"\x80\x02}X\x11collective_seq_id":                  true,
		"\x80\x05}X\x11collective_seq_id":                  true,
		"\x80\x06}X\x11collective_seq_id":                  false,
		"\x80\x01}X\x11collective_seq_id":                  false,
		"\x80\x02":                                         false,
		`{"traceEvents": [], "baseTimeNanoseconds": "one"`: false,
	} {
		if got := SniffFlight([]byte(text)); got != want {
			t.Errorf("SniffFlight(%q) = %v", text, got)
		}
	}
	names := []string{"a.json", "nccl_trace_rank_3", "RANK 12", "rank", "notes.txt", "rank____4"}
	if diff := cmp.Diff([]string{"a.json", "nccl_trace_rank_3", "RANK 12"}, FlightNames(names)); diff != "" {
		t.Errorf("names of dumps (-want +got):\n%s", diff)
	}
}

// TestSetRanks: numbers in names count if all files have one and no two the same; else the order of the names.
func TestSetRanks(t *testing.T) {
	for _, tc := range []struct {
		names []string
		want  map[string]int
	}{
		{[]string{"rank10", "rank2"}, map[string]int{"rank2": 2, "rank10": 10}},
		{[]string{"rank10", "rank2", "x.json"}, map[string]int{"rank10": 0, "rank2": 1, "x.json": 2}},
		{[]string{"a-rank1", "b-rank1"}, map[string]int{"a-rank1": 0, "b-rank1": 1}},
	} {
		fsys := fstest.MapFS{}
		for _, name := range tc.names {
			fsys[name] = &fstest.MapFile{Data: []byte(dump(`{}`, collective("0", "barrier", 1, 1, done, "")))}
		}
		files, err := readFlight(fsys, ".", tc.names, shown, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, last := map[string]int{}, -1
		for _, f := range files {
			got[f.name] = f.rank
			if f.rank <= last {
				t.Errorf("%v: rank %d after rank %d", tc.names, f.rank, last)
			}
			last = f.rank
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("ranks (-want +got):\n%s", diff)
		}
	}
}

// TestFlightContradictions: what cannot be is reported.
func TestFlightContradictions(t *testing.T) {
	whole := dump(allOfThree, collective("0", "all_reduce", 1, 10, done, ""))
	numbered := func(numbers ...int) string {
		var list []string
		for i, n := range numbers {
			list = append(list, strings.Replace(collective("0", "all_reduce", i+1, i+10, done, ""), "{", fmt.Sprintf(`{"record_id": %d, `, n), 1))
		}
		return dump(allOfThree, list...)
	}
	back := strings.Replace(numbered(7, 8, 9), `"collective_seq_id": 2`, `"collective_seq_id": 20`, 1)
	for other, want := range map[string]string{
		whole:          "",
		numbered(7):    "",
		back:           "in 1 places the numbers of the collectives of a group (collective_seq_id) go back",
		numbered(7, 9): "in 1 places the numbers of entries (record_id) do not follow",
		numbered(7, 7): "in 1 places the numbers of entries (record_id) do not follow",
		strings.Replace(whole, "[0, 1, 2]", "[2]", 1):                        `group "0": the dumps name different ranks`,
		strings.Replace(whole, "process_group", "process_grup", 1):           "1 entries have no group",
		strings.Replace(whole, "nccl:all_reduce", "nccl:all_gather", 1):      "1 entries are of another operation than that of the same number",
		strings.Replace(whole, "profiling_name", "profiling_nome", 1):        "1 entries have no group",
		strings.Replace(whole, `["0", "x"]`, `["7", "x"]`, 1):                "1 entries are of a group that their dump does not list (pg_config)",
		strings.Replace(whole, `, "duration_ms": 0`, "", 1):                  "1 completed entries have no duration (duration_ms) and count as 0",
		strings.Replace(whole, `"duration_ms": 0`, `"duration_ms": 1e13`, 1): "1 entries have no group, no peer, or a time that is not possible",
	} {
		fsys, names := dumps(whole, whole, other)
		p, err := ReadFlight(fsys, "job", names, shown, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(p.Warnings, "\n"); !strings.Contains(got, want) || got != "" && want == "" {
			t.Errorf("%s: warnings %q, want %q", other, got, want)
		}
	}
}
