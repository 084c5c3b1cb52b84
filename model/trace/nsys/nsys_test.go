package nsys

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slackline/model/timeline"
	"slackline/model/trace/kineto"
	"slackline/model/trace/sqlite"
	"slackline/model/unit"
)

// table is a table of an export: its columns, and rows of integers, texts and nil.
type table struct {
	columns string
	rows    [][]any
}

const pageSize = 4096

// short is a number below 16384 as SQLite writes it.
func short(n int) []byte {
	if n < 128 {
		return []byte{byte(n)}
	}
	return []byte{byte(n>>7) | 0x80, byte(n & 0x7f)}
}

// leaf is a page of a table with all its rows.
func leaf(head int, rows [][]any) []byte {
	page := make([]byte, pageSize)
	page[head] = 13
	binary.BigEndian.PutUint16(page[head+3:], uint16(len(rows)))
	end := pageSize
	for i, row := range rows {
		var kinds, data []byte
		for _, v := range row {
			switch v := v.(type) {
			case nil:
				kinds = append(kinds, 0)
			case int:
				kinds, data = append(kinds, 6), binary.BigEndian.AppendUint64(data, uint64(v))
			case string:
				kinds, data = append(kinds, short(13+2*len(v))...), append(data, v...)
			}
		}
		record := slices.Concat(short(len(kinds)+1), kinds, data)
		cell := slices.Concat(short(len(record)), short(i+1), record)
		end -= len(cell)
		copy(page[end:], cell)
		binary.BigEndian.PutUint16(page[head+8+2*i:], uint16(end))
	}
	return page
}

// export is a database of tables, each in a page of its own, in the order of their names.
func export(tables map[string]table) []byte {
	var schema [][]any
	var pages []byte
	for _, name := range []string{kernels, copies, memsets, calls, syncs, events, ranges, strs, started, "META_DATA"} {
		if t, ok := tables[name]; ok {
			schema = append(schema, []any{"table", name, name, len(schema) + 2, "CREATE TABLE " + name + " (" + t.columns + ")"})
			pages = append(pages, leaf(0, t.rows)...)
		}
	}
	first := leaf(100, schema)
	copy(first, sqlite.Magic)
	binary.BigEndian.PutUint16(first[16:], pageSize)
	binary.BigEndian.PutUint32(first[56:], 1)
	return append(first, pages...)
}

// with is the export with some tables replaced, or left out if they have no columns.
func with(tables, other map[string]table) map[string]table {
	all := map[string]table{}
	for _, list := range []map[string]table{tables, other} {
		for name, t := range list {
			if all[name] = t; t.columns == "" {
				delete(all, name)
			}
		}
	}
	return all
}

// id is a global id of a thread of a process; 1 is the machine.
func id(process, thread int) int { return 1<<48 | process<<24 | thread }

const (
	kernelColumns = "globalPid, deviceId, streamId, start, end, correlationId, demangledName, shortName"
	callColumns   = "globalTid, start, end, nameId, correlationId"
)

// small is an export of two processes: 9 with a kernel, and 8 with one that begins at the same time.
var small = map[string]table{
	strs: {"id INTEGER PRIMARY KEY, value TEXT", [][]any{{nil, "cudaLaunchKernel_v7000"}, {nil, "gemm"},
		{nil, "aten::mm, op_id = 17, seq = 3"}}},
	kernels: {kernelColumns, [][]any{
		{id(9, 0), 0, 7, 1200, 1500, 5, 2, 2},
		{id(8, 0), 0, 7, 1200, 1300, 5, 2, 2},
	}},
	calls: {callColumns, [][]any{
		{id(9, 9), 1100, 1150, 1, 5},
		{id(8, 8), 1010, 1020, 1, 5},
		{id(7, 7), 1000, 1900, 1, 6}, // of a process without kernels
		{id(7, 7), nil, 1900, 1, 6},  // without a start
	}},
	ranges: {"globalTid, start, end, eventType, textId, text", [][]any{
		{id(9, 9), 1050, 1160, 59, 3, nil},
		{id(9, 9), 1060, 1170, 60, nil, "not nested"},
		{id(9, 9), 1070, nil, 59, nil, "never ended"},
		{id(8, 8), 1005, 1025, 59, nil, "step"},
	}},
}

func read(data []byte) (*kineto.Profile, error) {
	return Read([]File{fileOf("x.sqlite", data)}, nil)
}

func fileOf(show string, data []byte) File {
	return File{bytes.NewReader(data), int64(len(data)), show}
}

// inWords is a profile as text: calls, activities, collectives and references, with times in ns.
func inWords(t *testing.T, p *kineto.Profile) string {
	t.Helper()
	tl, warnings, err := p.Timeline(1)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, w := range slices.Concat(p.Warnings, warnings) {
		fmt.Fprintf(&b, "warning %s\n", w)
	}
	path := func(p timeline.PathID) string { return strings.Join(tl.PathNames(p), "/") }
	for i := range tl.Locations {
		l := &tl.Locations[i]
		for k, enter := range l.Calls.Enter {
			fmt.Fprintf(&b, "%d %d-%d %s\n", l.Rank, enter/1000, l.Calls.Leave[k]/1000, path(l.Calls.Path[k]))
		}
	}
	for i := range tl.Devices.Streams {
		s := &tl.Devices.Streams[i]
		for k := range s.Begin {
			fmt.Fprintf(&b, "%d[%s] %d-%d %s: %s\n", s.Rank, s.Name, s.Begin[k]/1000, s.End[k]/1000, s.Kind[k], path(s.Path[k]))
		}
	}
	for _, c := range tl.Devices.Collectives {
		fmt.Fprintf(&b, "collective %s\n", c.Op)
	}
	for _, r := range tl.Devices.References {
		fmt.Fprintf(&b, "reference %+v\n", r)
	}
	return b.String()
}

// The parts of small as text.
const (
	hosts = "0 5-300 host\n0 5-25 host/step\n0 10-20 host/step/cudaLaunchKernel\n" +
		"1 50-500 host\n1 50-160 host/aten::mm\n1 100-150 host/aten::mm/cudaLaunchKernel\n"
	streams = "0[0:7] 200-300 compute kernel: host/step/cudaLaunchKernel/gemm\n" +
		"1[0:7] 200-500 compute kernel: host/aten::mm/cudaLaunchKernel/gemm\n"
)

func TestRead(t *testing.T) {
	const plain = "globalPid, deviceId, streamId, start, end, correlationId"
	nccl := [][]any{{nil, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"}, {nil, "ncclDevKernel_SendRecv()"},
		{nil, "cuLaunch"}}
	for _, tc := range []struct {
		name   string
		change map[string]table
		want   string
	}{
		{"times, names and ranks", nil, hosts + streams},
		{"tables of other versions", map[string]table{"META_DATA": {"name", [][]any{{"secret host"}}}}, hosts + streams},
		{"no ranges", map[string]table{ranges: {}}, "0 10-300 host\n0 10-20 host/cudaLaunchKernel\n1 100-500 host\n" +
			"1 100-150 host/cudaLaunchKernel\n0[0:7] 200-300 compute kernel: host/cudaLaunchKernel/gemm\n" +
			"1[0:7] 200-500 compute kernel: host/cudaLaunchKernel/gemm\n"},
		{"no column of texts", map[string]table{ranges: {"globalTid, start, end, eventType, textId", [][]any{{id(9, 9), 1050, 1160, 59, 2}}}},
			"0 10-300 host\n0 10-20 host/cudaLaunchKernel\n1 50-500 host\n1 50-160 host/gemm\n1 100-150 host/gemm/cudaLaunchKernel\n" +
				"0[0:7] 200-300 compute kernel: host/cudaLaunchKernel/gemm\n1[0:7] 200-500 compute kernel: host/gemm/cudaLaunchKernel/gemm\n"},
		{"columns in another order, and no correlation",
			map[string]table{kernels: {"end, start, streamId, deviceId, globalPid, shortName", [][]any{{1500, 1200, 8, 1, id(9, 0), 2}}},
				ranges: {}}, "0 100-500 host\n0 100-150 host/cudaLaunchKernel\n0[1:8] 200-500 compute kernel: gemm\n"},
		{"copies and memsets", map[string]table{
			copies: {plain + ", copyKind", [][]any{{id(9, 0), 0, 7, 1600, 1610, 0, 1}, {id(9, 0), 0, 7, 1620, 1630, 0, 2},
				{id(9, 0), 0, 7, 1640, 1650, 0, 77}, {id(6, 0), 0, 7, 1640, 1650, 0, 1}}},
			memsets: {plain, [][]any{{id(8, 0), 0, 9, 1700, 1710, 0}}},
		}, strings.NewReplacer("0 5-300", "0 5-710", "1 50-500", "1 50-650").Replace(hosts) + strings.Replace(streams, "\n",
			"\n0[0:9] 700-710 memset: Memset\n", 1) + "1[0:7] 600-610 copy: Memcpy HtoD\n1[0:7] 620-630 copy: Memcpy DtoH\n" +
			"1[0:7] 640-650 copy: Memcpy\n"},
		{"collectives", map[string]table{strs: {small[strs].columns, nccl}, ranges: {},
			calls: {callColumns, [][]any{{id(9, 9), 1000, 1010, 3, 1}, {id(9, 9), 1020, 1030, 3, 2},
				{id(8, 8), 1000, 1010, 3, 1}, {id(8, 8), 1020, 1030, 3, 2}}},
			kernels: {kernelColumns, [][]any{
				{id(9, 0), 0, 7, 1200, 1500, 1, 1, 1}, {id(8, 0), 0, 7, 1100, 1500, 1, 1, 1},
				{id(9, 0), 0, 7, 1600, 1700, 2, nil, 2}, {id(8, 0), 0, 7, 1600, 1700, 2, nil, 2},
			}}},
			"0 0-700 host\n0 0-10 host/cuLaunch\n0 20-30 host/cuLaunch\n1 0-700 host\n1 0-10 host/cuLaunch\n1 20-30 host/cuLaunch\n" +
				"0[0:7] 100-500 communication kernel: host/cuLaunch/" + nccl[0][1].(string) + "\n" +
				"0[0:7] 600-700 communication kernel: host/cuLaunch/ncclDevKernel_SendRecv()\n" +
				"1[0:7] 200-500 communication kernel: host/cuLaunch/" + nccl[0][1].(string) + "\n" +
				"1[0:7] 600-700 communication kernel: host/cuLaunch/ncclDevKernel_SendRecv()\n" +
				"collective allreduce\ncollective alltoall\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, err := read(export(with(small, tc.change)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, inWords(t, p)); diff != "" {
				t.Errorf("profile (-want +got):\n%s", diff)
			}
		})
	}
}

// A call waits for a stream, for a device, or for the work before an event; the event is found by its number, not by its handle.
func TestSynchronization(t *testing.T) {
	for _, tc := range []struct {
		name string
		kind int
		sync any // the number of the event
		want string
	}{
		{"event", 1, 4, "Stream:-1 Device:-1 Event:1 Recorded:180ns"},
		{"event of another process", 1, 3, "Stream:-1 Device:-1 Event:-1 Recorded:300ns"},
		{"stream", 3, nil, "Stream:1 Device:-1 Event:-1 Recorded:300ns"},
		{"device", 4, nil, "Stream:-1 Device:0 Event:-1 Recorded:300ns"},
		{"of a kind that is not known", 9, nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, err := read(export(with(small, map[string]table{
				strs: {small[strs].columns, append(slices.Clone(small[strs].rows), []any{nil, "cudaEventSynchronize"},
					[]any{nil, "cudaEventRecord"})},
				calls: {callColumns, append(slices.Clone(small[calls].rows), []any{id(9, 9), 1180, 1190, 5, 20},
					[]any{id(9, 9), 1300, 1510, 4, 21})},
				events: {"globalPid, eventSyncId, streamId, correlationId", [][]any{{id(8, 0), 3, 7, 20}, {id(9, 0), 4, 7, 20}}},
				syncs: {"globalPid, syncType, deviceId, streamId, correlationId, eventSyncId", [][]any{
					{id(9, 0), tc.kind, 0, 7, 21, tc.sync}, {id(7, 0), tc.kind, 0, 7, 21, tc.sync}}},
			})))
			if err != nil {
				t.Fatal(err)
			}
			_, got, _ := strings.Cut(inWords(t, p), "reference {Location:1 Call:4 ")
			if got = strings.TrimSuffix(got, "}\n"); got != tc.want {
				t.Errorf("reference %q, want %q", got, tc.want)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	utf16 := export(small)
	utf16[59] = 2
	for _, tc := range []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "x.sqlite: the file is not a database of SQLite"},
		{"not a database", bytes.Repeat([]byte("SQLite format 2\x00"), 10), "not a database of SQLite"},
		{"UTF-16", utf16, "its text is UTF-16"},
		{"another database", export(map[string]table{"META_DATA": {"name", nil}}), "no table of kernels or calls"},
		{"no kernels", export(with(small, map[string]table{kernels: {}})), "no process of it has kernels"},
		{"kernels without processes", export(with(small, map[string]table{kernels: {"start, end", [][]any{{1, 2}}}})),
			"no process of it has kernels"},
		{"cut after the tables", export(small)[:pageSize], "no process of it has kernels"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := read(tc.data); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

// What is damaged is reported once; what can be read is there, and its ranks are incomplete.
func TestDamage(t *testing.T) {
	for name, want := range map[string]string{
		kernels: "table CUPTI_ACTIVITY_KIND_KERNEL: page 2: it is not one of a table",
		calls:   "table CUPTI_ACTIVITY_KIND_RUNTIME: page 3: it is not one of a table",
		ranges:  "table NVTX_EVENTS: page 4: it is not one of a table",
		strs:    "table StringIds: page 5: it is not one of a table",
	} {
		data := export(small)
		page := int(want[strings.Index(want, "page ")+5] - '0')
		data[(page-1)*pageSize] = 2
		p, err := read(data)
		if name == kernels {
			if err == nil || strings.Count(err.Error(), want) != 1 {
				t.Errorf("%s: error %v, want %q once", name, err, want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := []string{"x.sqlite: " + want + "; what comes before it is read"}; !slices.Equal(p.Warnings, got) {
			t.Errorf("%s: warnings %q, want %q", name, p.Warnings, got)
		} else if tl, _, err := p.Timeline(1); err != nil || tl.Missing().Ranks != tl.Ranks {
			t.Errorf("%s: %v; %d of %d ranks are incomplete", name, err, tl.Missing().Ranks, tl.Ranks)
		}
	}
}

// Nodes are joined by the wall clocks of their sessions, and processes of the same number on two nodes are two ranks.
func TestNodes(t *testing.T) {
	at := func(epoch int) []byte {
		return export(with(small, map[string]table{started: {"utcEpochNs", [][]any{{epoch}}}}))
	}
	alone, err := read(export(small))
	if err != nil {
		t.Fatal(err)
	}
	begins := func(p *kineto.Profile) (list []unit.Duration) {
		tl, _, err := p.Timeline(1)
		if err != nil {
			t.Fatal(err)
		}
		for i := range tl.Devices.Streams {
			list = append(list, tl.Devices.Streams[i].Begin[0])
		}
		return list
	}
	const epoch = 1_700_000_000_000_000_000
	one := begins(alone)
	later := []unit.Duration{one[0] + 250*unit.Nanosecond, one[1] + 250*unit.Nanosecond}
	damaged := export(small)
	damaged[pageSize] = 2 // kernels, which say what processes there are
	for name, c := range map[string]struct {
		second   []byte
		want     []unit.Duration
		warnings int
		lost     int // nodes
	}{
		"clocks":    {at(epoch + 250), append(slices.Clone(one), later...), 0, 0},
		"no clock":  {export(small), append(slices.Clone(one), one...), 1, 0},
		"no export": {export(map[string]table{strs: small[strs]}), one, 1, 1},
		"damaged":   {damaged, one, 2, 1},
	} {
		p, err := Read([]File{fileOf("a.sqlite", at(epoch)), fileOf("b.sqlite", c.second)}, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		if got := begins(p); !slices.Equal(got, c.want) || len(p.Warnings) != c.warnings || p.Lost != c.lost {
			t.Errorf("%s: kernels begin at %v, want %v; warnings %q; %d lost, want %d", name, got, c.want, p.Warnings, p.Lost, c.lost)
		}
	}
}

func TestInterrupt(t *testing.T) {
	stop := errors.New("stop")
	if _, err := Read([]File{fileOf("x", export(small))}, func() error { return stop }); !errors.Is(err, stop) {
		t.Errorf("error %v, want %v", err, stop)
	}
}

func TestSniff(t *testing.T) {
	if !Sniff(export(small)) || Sniff([]byte("SQLite format 3")) {
		t.Error("a database is not recognized by its mark, or something else is")
	}
}
