package schedule

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// readStep reads the example files of four ranks, after change has had them.
func readStep(t *testing.T, memory int64, change func(rank int, data []byte) []byte) (*Graph, []string, error) {
	t.Helper()
	names := []string{"step.0.et", "step.1.et", "step.2.et", "step.3.et"}
	return readChakraRanks(names, func(name string) (io.ReadCloser, error) {
		data, err := os.ReadFile(filepath.Join("../../testdata/chakra", name))
		if change != nil {
			data = change(slices.Index(names, name), data)
		}
		return io.NopCloser(bytes.NewReader(data)), err
	}, memory)
}

// TestChakra holds the graph of the example files against what they say.
func TestChakra(t *testing.T) {
	g, warnings, err := readStep(t, 0, nil)
	if err != nil || len(warnings) > 0 {
		t.Fatal(warnings, err)
	}
	type op struct {
		kind Kind
		size int64
		peer int32
		tag  uint32
		cpu  uint8
		name string
	}
	want := []op{ // of rank 2
		{Calc, 10e6, 0, 0, 0, "aten::mm"}, {Calc, 180e6, 0, 0, 1, "gemm_fwd"}, {Calc, 5e6, 0, 0, 0, "c10d::allgather_"},
		{Collective, 0, 0, 0, 2, "ncclAllGather"}, {Calc, 200e6, 0, 0, 1, "gemm_bwd"}, {Collective, 0, 0, 0, 2, "ncclAllReduce"},
		{Send, 4096, 3, 3, 2, "send_metrics"}, {Recv, 4096, 1, 3, 2, "receive_metrics"}, {Calc, 40e6, 0, 0, 1, "sgd"},
	}
	var got []op
	var calls []Call
	for _, o := range g.RankOps(2) {
		if o.Kind == Collective {
			calls = append(calls, g.calls[o.Size])
			o.Size = 0
		}
		if o.Kind == Send && !o.IsBuffered() {
			t.Error("a send may wait for its receive")
		}
		got = append(got, op{o.Kind, o.Size, o.Peer, o.Tag, o.CPU, g.Origins()[o.Origin].Path[0]})
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("rank 2 does\n%v, want\n%v", got, want)
	}
	group := calls[0].Group
	wantCalls := []Call{{Op: Allgather, Group: group, Size: 1 << 16, Tag: calls[0].Tag}, {Op: Allreduce, Size: 1 << 22, Tag: calls[1].Tag}}
	if members := g.Groups()[group]; !slices.Equal(members.Ranks, []int32{2, 3}) || !reflect.DeepEqual(calls, wantCalls) {
		t.Errorf("collectives %+v in a group of %v, want %+v", calls, members.Ranks, wantCalls)
	}
	for i, want := range map[int]Dependent{0: NewDependent(1, false), 1: NewDependent(3, false), 5: NewDependent(8, false)} {
		first, dependents := g.Links(g.FirstBlock(2))
		if of := dependents[first[i]:first[i+1]]; len(of) == 0 || of[0] != want {
			t.Errorf("on operation %d wait %v, want %v first", i, of, want)
		}
	}
}

// TestChakraCut cuts one file at each byte: a graph, in which no rank waits for a collective that another one does not have.
func TestChakraCut(t *testing.T) {
	whole, _, err := readStep(t, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	for size := 20; size < 900; size += 7 {
		cut := false
		g, warnings, err := readStep(t, 0, func(rank int, data []byte) []byte {
			if rank == 1 && size < len(data) {
				cut = true
				return data[:size]
			}
			return data
		})
		if err != nil && strings.Contains(err.Error(), "all ranks take part in these") {
			continue // between two nodes, where nothing shows that more have been there
		}
		if err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		type instance struct {
			group int32
			tag   uint32
		}
		members := map[instance]int{}
		for _, call := range g.calls {
			members[instance{call.Group, call.Tag}]++
		}
		for call, n := range members {
			if group := g.Groups()[call.group]; n != group.Len() {
				t.Errorf("%d bytes: %d ranks are in a collective of %d", size, n, group.Len())
			}
		}
		if cut && len(warnings) > 0 && strings.Contains(warnings[0], "early") && !strings.Contains(warnings[0], "step.1.et") {
			t.Errorf("%d bytes: the warning %q does not name the file", size, warnings[0])
		}
		if !cut && (len(warnings) > 0 || g.NumOps() != whole.NumOps()) {
			t.Errorf("%d bytes: %d operations, %v", size, g.NumOps(), warnings)
		}
	}
}

// TestChakraSizes gives the ranks of a collective different sizes.
func TestChakraSizes(t *testing.T) {
	old := binary.AppendUvarint([]byte("comm_size\x68"), 1<<16)
	resize := func(rank int, data []byte) []byte {
		if rank != 1 {
			return data
		}
		return bytes.Replace(data, old, binary.AppendUvarint([]byte("comm_size\x68"), 1<<17), 1)
	}
	g, _, err := readStep(t, 0, resize)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(g.calls, func(c Call) bool { return c.Op == Allgather && c.Sizes != nil })
	if i < 0 || !slices.Equal(g.calls[i].Sizes, []int64{1 << 16, 1 << 17}) {
		t.Errorf("the uneven all-gather is not there: %+v", g.calls)
	}
}

func TestChakraErrors(t *testing.T) {
	swap := func(old, with string) func(int, []byte) []byte {
		return func(rank int, data []byte) []byte {
			if rank != 1 {
				return data
			}
			if !bytes.Contains(data, []byte(old)) {
				t.Fatalf("the file has no %q", old)
			}
			return bytes.Replace(data, []byte(old), []byte(with), 1)
		}
	}
	reduce := func(size uint64) string { return string(binary.AppendUvarint([]byte("comm_size\x68"), size)) }
	for _, c := range []struct {
		name   string
		change func(int, []byte) []byte
		memory int64
		want   string
	}{
		{"a rank without a file", swap("comm_dst\x38\x02", "comm_dst\x38\x09"), 0,
			`node 7, "send_metrics": sends to rank 9, which has no file`},
		{"no destination", swap("comm_dst", "comm_dxt"), 0, "sends to a rank that is not named"},
		{"a negative source", swap("comm_src\x38\x00", "comm_src\x78\x01"), 0, "receives from rank -1"},
		{"another size", swap(reduce(1<<22), reduce(1<<21)), 0,
			"node 6 is allreduce of 2097152 bytes, but the same collective in step.0.et, node 6, is allreduce of 4194304 bytes"},
		{"another operation", swap("comm_type\x48\x00", "comm_type\x48\x09"), 0, "is barrier"},
		{"a collective that is not there", swap("comm_type\x48\x00", "comm_typx\x48\x00"), 0,
			"step.1.et: no collective without a process group, but step.0.et has 1"},
		{"a dependency on itself", swap("\x2a\x01\x01", "\x2a\x01\x02"), 0, "node 2 depends on itself"},
		{"too large", nil, 1000, "half of the free memory"},
	} {
		_, _, err := readStep(t, c.memory, c.change)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "step.") {
			t.Errorf("%s: %v, want ... %s", c.name, err, c.want)
		}
	}
}

func TestChakraFiles(t *testing.T) {
	for _, c := range []struct {
		base  string
		among []string
		want  []string
		err   string
	}{
		{"a.0.et", []string{"a.0.et", "a.1.et", "b.0.et", "a.0.et.gz", "a.txt"}, []string{"a.0.et", "a.1.et"}, ""},
		{"a.10.et", []string{"a.0.et", "a.1.et", "a.10.et", "a.2.et", "a.3.et", "a.4.et", "a.5.et", "a.6.et", "a.7.et", "a.8.et", "a.9.et"},
			[]string{"a.0.et", "a.1.et", "a.2.et", "a.3.et", "a.4.et", "a.5.et", "a.6.et", "a.7.et", "a.8.et", "a.9.et", "a.10.et"}, ""},
		{"a.0.et", []string{"a.0.et", "a.2.et"}, nil, "the file of rank 1, a.1.et, is missing"},
		{"a.0.et", []string{"a.0.et", "a.4000000000.et"}, nil, "the file of rank 1, a.1.et, is missing"},
		{"a.0.et", []string{"a.0.et", "a.00.et"}, nil, `"00" is not the number of a rank`},
		{"trace.et", []string{"trace.et"}, []string{"trace.et"}, ""},
	} {
		got, err := chakraFiles(c.base, c.among)
		if !slices.Equal(got, c.want) || c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s among %v: %v, %v; want %v, %s", c.base, c.among, got, err, c.want, c.err)
		}
	}
}
